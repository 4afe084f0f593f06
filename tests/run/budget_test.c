// Budgets: what stops a run, where, and what it says.
#include "support/scripted_case.h"

#include <stdio.h>
#include <string.h>

#define MODELS                                                                         \
    "models:\n"                                                                        \
    "  fast: {model: openai/fast, price: {input: 1, output: 10}, max_tokens: 100,"     \
    "         retry: {attempts: 3, backoff: 1ms}}\n"                                   \
    "  bare: {model: openai/bare, max_tokens: 100}\n"

// Of 100 tokens each; the budget holds what two of them and a bit use.
#define STEP(text) "{text: " text ", usage: {input_tokens: 90, output_tokens: 10}}"

static scripted_case c;

static bool run(const char *team, const char *script, const cadre_run_config *config)
{
    if (!scripted_case_open(&c, team, script))
        return false;
    scripted_case_run(&c, config);
    return true;
}

static int64_t tokens(const cadre_usage *usage)
{
    return usage->input_tokens + usage->output_tokens;
}

static const char chain[] =
    MODELS "root: desk\n"
           "budget: {max_tokens: 230}\n"
           "agents:\n"
           "  desk: {type: chain, members: [first, second, third, fourth]}\n"
           "  first: {model: fast}\n"
           "  second: {model: fast}\n"
           "  third: {model: fast}\n"
           "  fourth: {model: fast}\n";

static const char chain_script[] =
    "strict: false\n"
    "agents:\n"
    "  first: [" STEP("One.") "]\n"
                              "  second: [" STEP(
                                  "Two.") "]\n"
                                          "  third: [" STEP(
                                              "Three.") "]\n"
                                                        "  fourth: [" STEP(
                                                            "Four.") "]\n";

// The third goes over it; the fourth is not made, and the chain has the last answer.
static void test_budget__is_exceeded_by_one_call_at_most(void)
{
    if (!run(chain, chain_script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_TEXT(c.result->text, "Three.");
    CHECK_INT(c.result->error.error_class, CADRE_CLASS_BUDGET);
    CHECK_CONTAINS(c.result->error.message,
                   "budget.max_tokens of 230 is used up: 300 ");
    CHECK_INT(tokens(&c.result->usage), 300);
    const cadre_frame_info *fourth = scripted_case_frame(&c, "agent", "fourth", 0);
    CHECK_INT(fourth->status, CADRE_FRAME_FAILED);
    CHECK_INT(fourth->stop_reason, CADRE_STOP_BUDGET);
    CHECK_INT(fourth->error.error_class, CADRE_CLASS_BUDGET);
    CHECK_CONTAINS(fourth->error.message,
                   "agent 'fourth': budget.max_tokens of 230 is used up: 300 are used, "
                   "and the next call takes ");
    scripted_case_close(&c);
}

static void test_budget__without_an_answer_the_run_fails(void)
{
    static const char team[] = MODELS "budget: {max_tokens: 50}\n"
                                      "agents:\n"
                                      "  desk: {model: fast, tools: [look]}\n"
                                      "tools:\n"
                                      "  look: {type: command, argv: ['true']}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  desk:\n"
        "    - {tool_calls: [{name: look, arguments: {}}],"
        "       usage: {input_tokens: 90, output_tokens: 10}}\n"
        "    - {text: Done.}\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_STATUS(c.status, CADRE_EFAILED, &c.err);
    CHECK_INT(c.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_INT(c.result->error.error_class, CADRE_CLASS_BUDGET);
    CHECK(!c.result->error.retryable);
    CHECK_CONTAINS(c.result->error.message, "budget.max_tokens of 50 is used up: 100 ");
    CHECK_INT(c.result->usage.model_calls, 1);
    scripted_case_close(&c);
}

// Neither is one that does not fit: the correction has no room, or no time.
static void test_budget__a_draft_is_no_answer(void)
{
    static const char *const budgets[] = {"max_tokens: 50", "max_time: 20ms"};
    static const char script[] =
        "agents: {desk: [{text: Dear me, usage: {input_tokens: 90, output_tokens: 10}},"
        "                {text: '{}', delay: 5s}]}\n";
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        char team[300];
        (void)snprintf(team, sizeof team,
                       MODELS "budget: {%s}\n"
                              "agents:\n"
                              "  desk: {model: fast, output_schema: {type: object}}\n",
                       budgets[i]);
        if (!run(team, script, CADRE_RUN(.input = "Go.")))
            return;
        CHECK_STATUS(c.status, CADRE_EFAILED, &c.err);
        CHECK_INT(c.result->status, CADRE_FRAME_FAILED);
        CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
        CHECK_INT(c.result->error.error_class, CADRE_CLASS_BUDGET);
        CHECK_TEXT(c.result->text, "");
        scripted_case_close(&c);
    }
}

#define X50 "0123456789012345678901234567890123456789012345678 "
#define X400 X50 X50 X50 X50 X50 X50 X50 X50

// The long result was left out when the third call is made: what the server has told of
// the second one says nothing of it.
static void test_budget__counts_what_a_limit_leaves_of_the_history(void)
{
    static const char team[] =
        MODELS "budget: {max_tokens: 1500}\n"
               "agents:\n"
               "  desk: {model: bare, tools: [look], max_history_tokens: 560}\n"
               "tools:\n"
               "  look: {type: command, argv: [cat], parameters: {type: object}}\n";
    static const char script[] =
        "agents:\n"
        "  desk:\n"
        "    - {tool_calls: [{name: look}], usage: {input_tokens: 20, output_tokens: "
        "9}}\n"
        "    - {tool_calls: [{name: look}, {name: look}, {name: look}, {name: look}],"
        "       usage: {input_tokens: 1000, output_tokens: 9}}\n"
        "    - {text: Done., usage: {input_tokens: 90, output_tokens: 9}}\n"
        "tools:\n"
        "  look:\n"
        "    - {result: " X400 X400 X400 X400 X400 "}\n"
        "    - {result: one}\n"
        "    - {result: two}\n"
        "    - {result: three}\n"
        "    - {result: four}\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "Done.");
    CHECK_INT(tokens(&c.result->usage), 1137);
    scripted_case_close(&c);
}

static void test_budget__money_is_counted_by_price(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "budget: {max_cost: 0.00038}\n" // two calls of 190 millionths
               "agents:\n"
               "  desk: {type: chain, members: [first, second, third, fourth]}\n"
               "  first: {model: fast}\n"
               "  second: {model: fast}\n"
               "  third: {model: fast}\n"
               "  fourth: {model: fast}\n";
    if (!run(team, chain_script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.cost_usd_micros, 380);
    CHECK_TEXT(c.result->text, "Two.");
    CHECK_CONTAINS(
        scripted_case_frame(&c, "agent", "third", 0)->error.message,
        "budget.max_cost of $0.00038 is used up: $0.00038 is used, and the next call "
        "costs $");
    scripted_case_close(&c);
}

static void test_budget__narrows_with_the_run(void)
{
    if (!run(chain, chain_script,
             CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 100})))
        return;
    CHECK_INT(tokens(&c.result->usage), 100);
    CHECK_CONTAINS(scripted_case_frame(&c, "agent", "second", 0)->error.message,
                   "the run's budget.max_tokens of 100 is used up");
    scripted_case_run(&c, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 5000}));
    CHECK_INT(tokens(&c.result->usage), 300);
    scripted_case_close(&c);
}

// An agent's own stops that agent; who called it goes on, and starts a new one with the
// next call.
static void test_budget__of_an_agent_is_one_for_each_frame_of_it(void)
{
    static const char team[] =
        MODELS "root: lead\n"
               "agents:\n"
               "  lead: {type: coordinator, entry: boss, members: [boss, writer]}\n"
               "  boss: {model: fast}\n"
               "  writer: {model: fast, description: Writes, tools: [look],"
               "           budget: {max_tokens: 100}}\n"
               "tools:\n"
               "  look: {type: command, argv: ['true'], replay: safe}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  boss:\n"
        "    - {tool_calls: [{name: writer, arguments: {request: a}}],"
        "       usage: {input_tokens: 500}}\n"
        "    - {tool_calls: [{name: writer, arguments: {request: b}}],"
        "       usage: {input_tokens: 500}}\n"
        "    - {text: Done., usage: {input_tokens: 500}}\n"
        "  writer:\n"
        "    - {tool_calls: [{name: look, arguments: {}}], usage: {input_tokens: "
        "100}}\n"
        "    - {text: Written., usage: {input_tokens: 100}}\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "Done.");
    CHECK_INT(c.result->stop_reason, CADRE_STOP_FINAL);
    CHECK_INT(c.result->usage.input_tokens, 1500 + 100 + 100);
    const cadre_frame_info *writer = scripted_case_frame(&c, "agent", "writer", 0);
    CHECK_INT(writer->stop_reason, CADRE_STOP_BUDGET);
    CHECK_CONTAINS(writer->error.message,
                   "agent 'writer': agents.writer.budget.max_tokens of 100 is used up: "
                   "100 are used, and the next call takes ");
    CHECK_INT(scripted_case_frame(&c, "agent", "writer", 1)->status,
              CADRE_FRAME_COMPLETED);
    scripted_case_close(&c);
}

// What a member uses counts in the budgets around it.
static void test_budget__of_a_member_is_paid_by_those_around(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "agents:\n"
               "  desk: {type: chain, members: [pair, last]}\n"
               "  pair: {type: chain, members: [first, second, third],"
               "         budget: {max_tokens: 150}}\n"
               "  first: {model: fast, budget: {max_tokens: 1000}}\n"
               "  second: {model: fast, budget: {max_tokens: 1000}}\n"
               "  third: {model: fast, budget: {max_tokens: 1000}}\n"
               "  last: {model: fast}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  first: [" STEP("One.") "]\n"
                                  "  second: [" STEP(
                                      "Two.") "]\n"
                                              "  third: [" STEP(
                                                  "Three.") "]\n"
                                                            "  last: [" STEP(
                                                                "Last.") "]\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "Last.");
    CHECK_INT(c.result->stop_reason, CADRE_STOP_FINAL);
    CHECK_INT(tokens(&c.result->usage), 300);
    const cadre_frame_info *pair = scripted_case_frame(&c, "agent", "pair", 0);
    CHECK_INT(pair->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(pair->stop_reason, CADRE_STOP_BUDGET);
    CHECK_TEXT(pair->output, "Two.");
    CHECK_CONTAINS(pair->error.message, "agents.pair.budget.max_tokens of 150 is ");
    CHECK_CONTAINS(scripted_case_frame(&c, "agent", "third", 0)->error.message,
                   "agents.pair.budget.max_tokens of 150 is used up");
    scripted_case_close(&c);
}

// Who ends well all the same says that not all was done.
static void test_budget__shows_where_it_was_survived(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "budget: {max_tokens: 100}\n"
               "agents:\n"
               "  desk: {type: parallel, members: [first, second],"
               "         parallel: {on_failure: report}}\n"
               "  first: {model: fast}\n"
               "  second: {model: fast}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  first: [" STEP("One.") "]\n"
                                  "  second: [" STEP("Two.") "]\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.model_calls, 1);
    CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_CONTAINS(c.result->text, "failed: agent '");
    CHECK_CONTAINS(c.result->error.message,
                   "budget.max_tokens of 100 is used up: 100 ");
    scripted_case_close(&c);
}

// Whom an agent hands over to works for the one who called it.
static void test_budget__of_an_agent_ends_where_it_hands_over(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "agents:\n"
               "  desk: {type: handoff, entry: first, members: [first, second]}\n"
               "  first: {model: fast, description: A, budget: {max_tokens: 50}}\n"
               "  second: {model: fast, description: B}\n";
    static const char script[] =
        "agents:\n"
        "  first: [{handoff: {to: second}, usage: {input_tokens: 100}}]\n"
        "  second: [" STEP("Two.") "]\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_TEXT(c.result->text, "Two.");
    CHECK_INT(c.result->stop_reason, CADRE_STOP_FINAL);
    scripted_case_close(&c);
}

// Attempts that failed are paid, those that were refused are not; each is checked.
static void test_budget__is_checked_before_each_attempt(void)
{
    static const char team[] = MODELS "budget: {max_tokens: 130}\n"
                                      "agents:\n  first: {model: fast}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  first:\n"
        "    - {error: {status: 500}, usage: {input_tokens: 70}}\n"
        "    - {error: {status: 500}, usage: {input_tokens: 70}}\n"
        "    - {text: One.}\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_STATUS(c.status, CADRE_EFAILED, &c.err);
    CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_INT(c.result->usage.input_tokens, 140);
    CHECK_CONTAINS(c.err.text, "agent 'first': budget.max_tokens of 130 is used up: "
                               "140 are used, and the next call takes 3 or more");
    CHECK_INT(scripted_case_frame(&c, "model", "fast", 0)->attempts, 2);
    scripted_case_close(&c);
}

static void test_budget__another_attempt_of_an_agent_is_not_made(void)
{
    static const char team[] =
        MODELS "root: desk\n"
               "budget: {max_tokens: 100}\n"
               "agents:\n"
               "  desk: {type: chain, members: [first, second]}\n"
               "  first: {model: fast}\n"
               "  second: {model: fast, retry: {attempts: 3}}\n";
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  first: [" STEP("One.") "]\n"
                                  "  second: [" STEP("Two.") "]\n";
    if (!run(team, script, CADRE_RUN(.input = "Go.")))
        return;
    CHECK_INT(c.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK(scripted_case_frame(&c, "agent", "second", 0) != NULL);
    CHECK(scripted_case_frame(&c, "agent", "second", 1) == NULL);
    scripted_case_close(&c);
}

// A server that tells nothing: 4 bytes are a token, and a message takes 4 more.
static void test_budget__what_nobody_told_is_charged_by_its_length(void)
{
    static const char team[] =
        MODELS "budget: {max_tokens: 1000}\n"
               "agents:\n"
               "  first: {model: fast, instructions: '12345678'}\n";
    static const char script[] = "agents:\n  first: [{text: '123456789'}]\n";
    if (!run(team, script, CADRE_RUN(.input = "1234")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.input_tokens, 2 + 4 + 1);
    CHECK_INT(c.result->usage.output_tokens, 3);
    CHECK_INT(c.result->usage.cost_usd_micros, 7 + 30);
    scripted_case_close(&c);
}

static void test_budget__what_a_server_refused_costs_nothing(void)
{
    static const char team[] = MODELS "budget: {max_tokens: 1000}\n"
                                      "agents:\n  first: {model: fast}\n";
    static const char script[] = "agents:\n"
                                 "  first:\n"
                                 "    - {error: {status: 429}}\n"
                                 "    - {error: {status: 500}}\n"
                                 "    - {text: One., usage: {input_tokens: 30}}\n";
    if (!run(team, script, CADRE_RUN(.input = "12345678")))
        return;
    CHECK_OK(c.status, &c.err);
    CHECK_INT(c.result->usage.input_tokens, 6 + 30);
    scripted_case_close(&c);
}

static cadre_status call_twice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome first, second;
    const cadre_agent *worker = cadre_frame_find(frame, "worker");
    (void)ctx;
    const cadre_budget dear = {.max_cost_usd_micros = 1000000};
    CHECK_STATUS(cadre_frame_call(
                     frame, CADRE_CALL(.agent = worker, .input = "a", .budget = dear),
                     &first, err),
                 CADRE_EFAILED, err);
    CHECK_INT(first.error_class, CADRE_CLASS_CONFIG);
    CHECK_TEXT(first.error, "agent 'worker': model 'openai/m' has no price, and a "
                            "budget has a max_cost: give it one (price)");
    cadre_error_clear(err);
    const cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = worker, .input = "a", .budget = {.max_tokens = 50}),
        &first, err);
    cadre_error_clear(err);
    CHECK_INT(status, CADRE_EFAILED);
    CHECK_INT(first.stop_reason, CADRE_STOP_BUDGET);
    CHECK_INT(first.error_class, CADRE_CLASS_BUDGET);
    CHECK_CONTAINS(first.error, "the call's budget.max_tokens of 50 is used up: 90 ");
    CHECK_OK(cadre_frame_call(frame, CADRE_CALL(.agent = worker, .input = "b"), &second,
                              err),
             err);
    return cadre_frame_set_output(frame, second.text, err);
}

static void test_budget__of_a_call_in_c(void)
{
    static const char script[] =
        "strict: false\n"
        "agents:\n"
        "  worker:\n"
        "    - {tool_calls: [{name: gone, arguments: {}}], usage: {input_tokens: 90}}\n"
        "    - {text: Done., usage: {input_tokens: 90}}\n";
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    cadre_runtime *runtime = NULL;
    cadre_run *ran = NULL;
    const cadre_result *result = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK(folder_make(&folder)) ||
        !CHECK(folder_write(&folder, "script.yaml", script, path)))
        return;
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.script = path), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "office");
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "lead", .run = call_twice,
                                                 .members = CADRE_NAMES("worker")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "worker", .model = "openai/m"));
    cadre_team_set_root(team, "lead");
    if (CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "Go."), &ran, &err), &err)) {
        CHECK_OK(cadre_run_wait(ran, &result, &err), &err);
        CHECK_TEXT(result->text, "Done.");
    }
    cadre_run_free(ran);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static void test_budget__a_negative_one_is_refused(void)
{
    if (!scripted_case_open(&c, chain, chain_script))
        return;
    scripted_case_run(&c, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = -1}));
    CHECK_STATUS(c.status, CADRE_EINVAL, &c.err);
    CHECK_TEXT(c.err.text, "cadre_run_config.budget.max_tokens is -1; it must be at "
                           "least 1, or 0 for none");
    scripted_case_close(&c);
}

static void test_budget__of_money_needs_prices_before_the_run(void)
{
    static const char team[] = MODELS "agents:\n  first: {model: bare}\n";
    static const char script[] = "agents:\n  first: [{text: One.}]\n";
    const cadre_budget dear = {.max_cost_usd_micros = 5};
    if (!run(team, script, CADRE_RUN(.input = "Go.", .budget = dear)))
        return;
    CHECK_STATUS(c.status, CADRE_ECONFIG, &c.err);
    CHECK_TEXT(c.err.text, "model 'bare' has no price, and the run's budget has a "
                           "max_cost: give it one (price)");
    scripted_case_close(&c);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget__is_exceeded_by_one_call_at_most),
        CHECK_TEST(test_budget__without_an_answer_the_run_fails),
        CHECK_TEST(test_budget__a_draft_is_no_answer),
        CHECK_TEST(test_budget__counts_what_a_limit_leaves_of_the_history),
        CHECK_TEST(test_budget__money_is_counted_by_price),
        CHECK_TEST(test_budget__narrows_with_the_run),
        CHECK_TEST(test_budget__of_an_agent_is_one_for_each_frame_of_it),
        CHECK_TEST(test_budget__of_a_member_is_paid_by_those_around),
        CHECK_TEST(test_budget__shows_where_it_was_survived),
        CHECK_TEST(test_budget__of_an_agent_ends_where_it_hands_over),
        CHECK_TEST(test_budget__is_checked_before_each_attempt),
        CHECK_TEST(test_budget__another_attempt_of_an_agent_is_not_made),
        CHECK_TEST(test_budget__what_nobody_told_is_charged_by_its_length),
        CHECK_TEST(test_budget__what_a_server_refused_costs_nothing),
        CHECK_TEST(test_budget__of_a_call_in_c),
        CHECK_TEST(test_budget__a_negative_one_is_refused),
        CHECK_TEST(test_budget__of_money_needs_prices_before_the_run),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/budget", tests);
}
