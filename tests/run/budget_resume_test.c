// Budgets over several lives of a run: what is recorded stays used up.
#include "cadre/ext/model.h"

#include "support/ask_case.h"
#include "support/check.h"
#include "support/mortal_store.h"
#include "support/team_case.h"

#include <stdio.h>
#include <string.h>

static team_case t;
static char trace[64];

// --- A tool that ends the process when it runs for the nth time ---

typedef struct deadly {
    int n_runs, dies_at;
    int64_t takes_ms;
} deadly;

static cadre_status act(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    deadly *d = ctx;
    (void)arguments;
    if (++d->n_runs == d->dies_at)
        mortal_store_die();
    else if (d->takes_ms > 0)
        cdr_clock_advance(t.clock, d->takes_ms);
    return cadre_frame_set_output(frame, "acted", err);
}

static void add_clerk(deadly *d)
{
    mortal_store_wrap(t.runtime);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "clerk", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("act")));
    cadre_team_add_tool(
        t.team, CADRE_TOOL(.name = "act", .run = act, .ctx = d, .replay_safe = true));
}

// The life that is cut.
static void run_cut(const cadre_run_config *config)
{
    t.run = team_case_start(&t, config);
    CHECK_INT(cadre_run_wait(t.run, NULL, NULL), CADRE_ESTORE);
    (void)snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t.run));
    cadre_run_free(t.run);
    t.run = NULL;
    mortal_store_cut((store_cut){0});
}

static void resume(const cadre_run_config *config)
{
    cadre_error_clear(&t.err);
    CHECK_OK(cadre_run_resume(t.team, trace, config, &t.run, &t.err), &t.err);
    team_case_finish(&t);
}

static int64_t tokens_used(void)
{
    return t.result->usage.input_tokens + t.result->usage.output_tokens;
}

// --- Tokens ---

static void check_cut_tool(int64_t max_tokens, const cadre_run_config *later,
                           cadre_stop_reason reason, int64_t n_used)
{
    deadly d = {.dies_at = 1};
    team_case_open(&t);
    add_clerk(&d);
    DRIVEN("clerk", "call act\nusage 90 10", "say Done.\nusage 90 10");
    run_cut(CADRE_RUN(.input = "Go.", .budget = {.max_tokens = max_tokens}));
    resume(later);
    CHECK_INT(t.result->stop_reason, reason);
    CHECK_INT(tokens_used(), n_used);
    team_case_close(&t);
}

static void test_budget_resume__what_was_used_stays_used(void)
{
    const cadre_run_config *same = CADRE_RUN(.input = NULL);
    check_cut_tool(1000, same, CADRE_STOP_FINAL, 200);
    check_cut_tool(150, same, CADRE_STOP_FINAL, 200);
    check_cut_tool(101, same, CADRE_STOP_BUDGET, 100);
    // Given anew it counts, as limits do.
    check_cut_tool(101, CADRE_RUN(.budget = {.max_tokens = 500}), CADRE_STOP_FINAL,
                   200);
    check_cut_tool(1000, CADRE_RUN(.budget = {.max_tokens = 101}), CADRE_STOP_BUDGET,
                   100);
}

// Those of a member that was cut count for it, and for who is above.
static void check_cut_member(int64_t of_member, int64_t of_desk, const char *text,
                             const char *place)
{
    deadly d = {.dies_at = 1};
    team_case_open(&t);
    add_clerk(&d);
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("first", "inner"),
                                           .budget = {.max_tokens = of_desk}));
    cadre_team_add_topology(t.team, "chain",
                            CADRE_TOPOLOGY(.name = "inner",
                                           .members = CADRE_NAMES("clerk"),
                                           .budget = {.max_tokens = of_member}));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "first", .model = DRIVEN_MODEL));
    cadre_team_set_root(t.team, "desk");
    DRIVEN("first", "say First.\nusage 50 0");
    DRIVEN("clerk", "call act\nusage 90 10", "say Done.\nusage 90 10");
    run_cut(CADRE_RUN(.input = "Go."));
    resume(NULL);
    CHECK_INT(tokens_used(), place == NULL ? 250 : 150);
    CHECK_TEXT(t.result->text, text);
    if (place != NULL)
        CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END), place);
    team_case_close(&t);
}

static void test_budget_resume__each_budget_has_what_is_below_it(void)
{
    check_cut_member(1000, 1000, "Done.", NULL);
    check_cut_member(101, 1000, "",
                     "agents.inner.budget.max_tokens of 101 is used up: 100 ");
    check_cut_member(1000, 151, "First.",
                     "agents.desk.budget.max_tokens of 151 is used up: 150 ");
}

// --- A call that was cut ---

static int n_answers;

static cadre_status answer_later(const void *state, cadre_frame *frame,
                                 const cadre_request *request, cadre_sink *sink,
                                 cadre_error *err)
{
    const cadre_usage usage = {.input_tokens = 7, .output_tokens = 1};
    (void)state;
    (void)frame;
    (void)request;
    if (++n_answers <= 2) {
        mortal_store_die();
        return cadre_fail(err, CADRE_EFAILED, "unheard");
    }
    cadre_sink_text(sink, "Done.", 5);
    cadre_sink_usage(sink, &usage);
    cadre_sink_finish(sink, CADRE_FINISH_STOP);
    return CADRE_OK;
}

static const cadre_model_ops deadly_model = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "deadly",
    .summary = "ends the process",
    .answer = answer_later,
};

// Its input is paid for each time: a message of 12 bytes, which are 7 tokens.
static void test_budget_resume__a_cut_call_pays_its_input(void)
{
    team_case_open(&t);
    mortal_store_wrap(t.runtime);
    CHECK_OK(cadre_runtime_register_model(t.runtime, &deadly_model, &t.err), &t.err);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "clerk", .model = "deadly/m"));
    n_answers = 0;
    run_cut(CADRE_RUN(.input = "123456789012", .budget = {.max_tokens = 1000}));
    CHECK_OK(cadre_run_resume(t.team, trace, NULL, &t.run, &t.err), &t.err);
    CHECK_INT(cadre_run_wait(t.run, NULL, NULL), CADRE_ESTORE);
    cadre_run_free(t.run);
    t.run = NULL;
    mortal_store_cut((store_cut){0});
    resume(NULL);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(n_answers, 3);
    CHECK_INT(t.result->usage.input_tokens, 7 + 7 + 7);
    CHECK_INT(t.result->usage.output_tokens, 1);
    team_case_close(&t);
}

// --- Time ---

// 3 s before the cut, and 3 s after it; what lies between is nobody's.
static void check_time(int64_t max_ms, cadre_stop_reason reason)
{
    deadly d = {.dies_at = 2, .takes_ms = 3000};
    team_case_open_fake(&t);
    add_clerk(&d);
    DRIVEN("clerk", "call act {\"n\":1}", "call act {\"n\":2}", "say Done.");
    run_cut(CADRE_RUN(.input = "Go.", .budget = {.max_time_ms = max_ms}));
    cdr_clock_advance(t.clock, 100000);
    resume(NULL);
    CHECK_INT(d.n_runs, 3);
    CHECK_INT(t.result->stop_reason, reason);
    CHECK_INT(t.result->duration_ms, 6000); // of the one that was cut nothing is known
    team_case_close(&t);
}

static void test_budget_resume__time_at_work_is_counted_over_all_lives(void)
{
    check_time(7000, CADRE_STOP_FINAL);
    check_time(5000, CADRE_STOP_BUDGET);
}

// While a run is parked no time goes by, nor does it for who asked.
static void test_budget_resume__waiting_for_a_person_takes_no_time(void)
{
    team_case_open_fake(&ask_team);
    cadre_team_add_function(ask_team.team,
                            CADRE_FUNCTION(.name = "clerk", .run = ask_case_colour,
                                           .budget = {.max_time_ms = 5000}));
    if (ask_case_park()) {
        cdr_clock_advance(ask_team.clock, 100000);
        ask_case_answer(NULL, "red");
        ask_case_resume();
        team_case_check_answer(&ask_team, "clerk", "colour? red");
    }
    team_case_close(&ask_team);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget_resume__what_was_used_stays_used),
        CHECK_TEST(test_budget_resume__each_budget_has_what_is_below_it),
        CHECK_TEST(test_budget_resume__a_cut_call_pays_its_input),
        CHECK_TEST(test_budget_resume__time_at_work_is_counted_over_all_lives),
        CHECK_TEST(test_budget_resume__waiting_for_a_person_takes_no_time),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/budget_resume", tests);
}
