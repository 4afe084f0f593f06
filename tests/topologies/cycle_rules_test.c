// The cycle's `until` in all its forms, its order, and what sealing refuses.
#include "support/check.h"
#include "support/written_team.h"

#include "cadre/predicate.h"

#include <stdio.h>
#include <string.h>

static team_case t;

#define AGENTS                                                                         \
    "  a: {model: driven/test}\n"                                                      \
    "  b: {model: driven/test}\n"

static bool open_until(const char *until)
{
    char text[600];
    snprintf(text, sizeof text,
             "agents:\n"
             "  loop: {type: cycle, members: [a, b], output_key: last,\n"
             "    cycle: {max_iterations: 5, until: %s}}\n"
             "  a: {model: driven/test, output_key: first}\n"
             "  b: {model: driven/test}\n",
             until);
    return written_team_open(&t, text);
}

// Three rounds would be "a1 b1", "a2 b2", "a3 b3"; `n` of them are made.
static void check_rounds(const char *until, const char *input, size_t n)
{
    char last[16];
    snprintf(last, sizeof last, "b%zu", n);
    if (!open_until(until))
        return;
    DRIVEN("a", "say a1", "say a2 SOLVED", "say a3");
    DRIVEN("b", "say b1", "say b2", "say b3");
    team_case_run(&t, input);
    team_case_check_answer(&t, "b", last);
    CHECK_INT(driven_count("a"), n);
    CHECK_INT(driven_count("b"), n);
    team_case_close(&t);
}

static void test_cycle__until_is_a_condition_on_what_was_said(void)
{
    check_rounds("'last_response == \"b2\"'", "hi", 2);
    check_rounds("'output == \"b3\"'", "hi", 3);
    check_rounds("'iteration >= 3'", "hi", 3);
    check_rounds("'contains(outputs.a, \"SOLVED\")'", "hi", 2);
    check_rounds("'contains(state.first, \"SOLVED\")'", "hi", 2);
    check_rounds("'contains(input, \"quick\")'", "be quick", 1);
    check_rounds("'outputs.a ~= nil and outputs.b ~= nil'", "hi", 1);
}

static void test_cycle__until_may_be_a_short_form(void)
{
    check_rounds("{equals: b2}", "hi", 2);
    check_rounds("{matches: '^b[3-9]$'}", "hi", 3);
    check_rounds("{ends: ['1', '2']}", "hi", 1);
}

// It is asked after a round, not within: who is after the goal still answers.
static void test_cycle__until_is_asked_when_a_round_is_over(void)
{
    check_rounds("'contains(outputs.a, \"a2\")'", "hi", 2);
}

static void test_cycle__until_that_never_holds_leaves_it_to_the_limit(void)
{
    if (!open_until("{contains: SOLVED}"))
        return;
    DRIVEN("a", "always\nsay a");
    DRIVEN("b", "always\nsay b");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
    CHECK_TEXT(t.result->text, "b");
    CHECK_INT(driven_count("b"), 5);
    team_case_close(&t);
}

static void test_cycle__until_that_fails_fails_it(void)
{
    if (!open_until("'iteration > state.most'"))
        return;
    DRIVEN("a", "say a1");
    DRIVEN("b", "say b1");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_HOOK);
    CHECK_TEXT(t.result->error.agent, "loop");
    CHECK_CONTAINS(t.err.text, "agent 'loop': until: ");
    CHECK_CONTAINS(t.err.text, "most");
    CHECK_INT(driven_count("a"), 1);
    team_case_close(&t);
}

// Who has the tool all the same may end it earlier.
static void test_cycle__until_and_escalate_may_stand_together(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [a, b], cycle: {until: "
                               "{contains: SOLVED}}}\n"
                               "  a: {model: driven/test, tools: [done]}\n"
                               "  b: {model: driven/test}\n"
                               "tools: {done: {type: escalate}}\n"))
        return;
    DRIVEN("a", "say a1", "say a2\ncall escalate {\"reason\":\"hopeless\"}");
    DRIVEN("b", "say b1");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "a2");
    team_case_close(&t);
}

static void test_cycle__may_have_no_limit(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [a], cycle: {until: "
                               "'iteration == 50', max_iterations: unlimited}}\n"
                               "  a: {model: driven/test}\n"))
        return;
    DRIVEN("a", "always\nsay a");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "a");
    CHECK_INT(driven_count("a"), 50);
    team_case_close(&t);
}

// --- From C ---

static json_t *is_solved(void *ctx, const cadre_predicate_values *values,
                         cadre_error *err)
{
    int *n_asked = ctx;
    (void)err;
    ++*n_asked;
    CHECK_TEXT(values->input, "hi");
    CHECK_INT(values->iteration, *n_asked);
    CHECK_TEXT(values->output, values->last_response);
    CHECK(json_is_object(values->state));
    CHECK_TEXT(json_string_value(json_object_get(values->outputs, "b")),
               values->last_response);
    return json_boolean(strcmp(values->last_response, "b2") == 0);
}

static json_t *fail_to_decide(void *ctx, const cadre_predicate_values *values,
                              cadre_error *err)
{
    (void)ctx;
    (void)values;
    cadre_fail(err, CADRE_EFAILED, "no decision today");
    return NULL;
}

static json_t *give_a_text(void *ctx, const cadre_predicate_values *values,
                           cadre_error *err)
{
    (void)ctx;
    (void)values;
    (void)err;
    return json_string("yes");
}

static int n_asked;

static void open_predicate(cadre_predicate_run run)
{
    n_asked = 0;
    team_case_open(&t);
    cadre_team_add_predicate(t.team, "solved", run, &n_asked);
    cadre_team_add_topology(
        t.team, "cycle",
        CADRE_TOPOLOGY(.name = "loop", .members = CADRE_NAMES("a", "b"),
                       .options = "{\"until\": {\"call\": \"solved\"}}"));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "a", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "b", .model = DRIVEN_MODEL));
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    team_case_run(&t, "hi");
}

static void test_cycle__until_may_be_a_function_of_the_program(void)
{
    open_predicate(is_solved);
    team_case_check_answer(&t, "b", "b2");
    CHECK_INT(n_asked, 2);
    team_case_close(&t);
}

static void test_cycle__a_predicate_that_fails_or_decides_nothing_fails_it(void)
{
    open_predicate(fail_to_decide);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "agent 'loop': until: ");
    CHECK_CONTAINS(t.err.text, "no decision today");
    team_case_close(&t);
    open_predicate(give_a_text);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "agent 'loop': until: a condition must give");
    team_case_close(&t);
}

static cadre_status escalate_third(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_message *const *messages = NULL;
    size_t n = 0;
    (void)ctx;
    cadre_status status = cadre_frame_messages(frame, &messages, &n, err);
    if (status != CADRE_OK)
        return status;
    status = cadre_frame_set_output(frame, cadre_frame_printf(frame, "%zu", n), err);
    return status == CADRE_OK && n >= 3 ? CADRE_ESCALATED : status;
}

// A function escalates by what it returns; no tool is lent beside it.
static void test_cycle__a_function_escalates_by_its_status(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "cycle", CADRE_TOPOLOGY(.name = "loop", .members = CADRE_NAMES("f")));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "f", .run = escalate_third));
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "f", "3");
    written_team_check_agents(&t, "loop root completed final\n"
                                  "  f 1.1 completed final\n"
                                  "  f 2.1 completed final\n"
                                  "  f 3.1 completed escalated\n");
    team_case_close(&t);
}

// --- Order ---

static void test_cycle__the_entry_begins_each_round(void)
{
    if (!written_team_open(&t,
                           "agents:\n"
                           "  loop: {type: cycle, entry: b, members: [a, b], cycle: "
                           "{max_iterations: 2}}\n" AGENTS))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    team_case_run(&t, "hi");
    written_team_check_said(&t, "user: hi\nb: b1\na: a1\nb: b2\na: a2\n");
    // The last of a round is lent the tool.
    CHECK_TEXT(driven_tools("a", 0), "escalate");
    CHECK_TEXT(driven_tools("b", 0), "");
    team_case_close(&t);
}

static void test_cycle__a_member_may_stand_twice(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [a, b, a], cycle: "
                               "{max_iterations: 1}}\n" AGENTS))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    written_team_check_said(&t, "user: hi\na: a1\nb: b1\na: a2\n");
    team_case_close(&t);
}

// --- What sealing tells ---

static void test_cycle__tells_what_is_wrong_with_until(void)
{
    written_team_check_problems(
        "agents:\n"
        "  loop: {type: cycle, members: [a, b],\n"
        "    cycle: {until: 'last_respone == 1'}}\n" AGENTS,
        "3:20: agents.loop.cycle.until: line 1: unknown name 'last_respone'; did you "
        "mean 'last_response'? (known: input, last_response, output, state, outputs, "
        "iteration, contains, starts, ends, matches, size)\n");
    written_team_check_problems(
        "agents:\n"
        "  loop: {type: cycle, members: [a, b],\n"
        "    cycle: {until: {call: solved}}}\n" AGENTS,
        "3:20: agents.loop.cycle.until: unknown predicate 'solved'; predicates are "
        "functions of a C program, added with cadre_team_add_predicate\n");
}

// Who would be lent the tool has no use for it.
static void test_cycle__notes_that_only_the_limit_ends_it(void)
{
    written_team_check_notes(
        "agents:\n"
        "  loop: {type: cycle, members: [a, pair]}\n"
        "  pair: {type: chain, members: [b]}\n" AGENTS,
        "2:3: note: agent 'loop': only max_iterations ends it: no member has a tool of "
        "type escalate, and the last one, which would be lent it, asks no model; add "
        "one, or write until\n");
    written_team_check_notes("agents:\n"
                             "  loop: {type: cycle, members: [pair, a]}\n"
                             "  pair: {type: chain, members: [b]}\n" AGENTS,
                             "");
}

// Two teams on each level that have both of the next: 2 to the 30th ways down.
static void test_cycle__looks_at_each_agent_below_once(void)
{
    char text[6000] = "agents:\n"
                      "  loop: {type: cycle, members: [a0, b0]}\n";
    size_t len = strlen(text);
    for (int i = 0; i < 30; i++)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "  a%d: {type: chain, members: [a%d, b%d]}\n"
                                "  b%d: {type: chain, members: [a%d, b%d]}\n",
                                i, i + 1, i + 1, i, i + 1, i + 1);
    (void)snprintf(text + len, sizeof text - len,
                   "  a30: {model: driven/test}\n"
                   "  b30: {model: driven/test, tools: [done]}\n"
                   "tools: {done: {type: escalate}}\n");
    written_team_check_notes(text, "");
}

static void test_cycle__refuses_limits_out_of_range(void)
{
    written_team_check_problems(
        "agents:\n"
        "  loop: {type: cycle, members: [a, b],\n"
        "    cycle: {max_iterations: 0}}\n" AGENTS,
        "3:29: agents.loop.cycle.max_iterations: expected an integer from 1 to "
        "1000000, got 0; write 'unlimited' for no limit\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_cycle__until_is_a_condition_on_what_was_said),
    CHECK_TEST(test_cycle__until_may_be_a_short_form),
    CHECK_TEST(test_cycle__until_is_asked_when_a_round_is_over),
    CHECK_TEST(test_cycle__until_that_never_holds_leaves_it_to_the_limit),
    CHECK_TEST(test_cycle__until_that_fails_fails_it),
    CHECK_TEST(test_cycle__until_and_escalate_may_stand_together),
    CHECK_TEST(test_cycle__may_have_no_limit),
    CHECK_TEST(test_cycle__until_may_be_a_function_of_the_program),
    CHECK_TEST(test_cycle__a_predicate_that_fails_or_decides_nothing_fails_it),
    CHECK_TEST(test_cycle__a_function_escalates_by_its_status),
    CHECK_TEST(test_cycle__the_entry_begins_each_round),
    CHECK_TEST(test_cycle__a_member_may_stand_twice),
    CHECK_TEST(test_cycle__tells_what_is_wrong_with_until),
    CHECK_TEST(test_cycle__notes_that_only_the_limit_ends_it),
    CHECK_TEST(test_cycle__looks_at_each_agent_below_once),
    CHECK_TEST(test_cycle__refuses_limits_out_of_range),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/cycle_rules", tests);
}
