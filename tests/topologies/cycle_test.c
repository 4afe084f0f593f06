// The cycle: round after round, until somebody escalates, a condition holds or the
// rounds are used up.
#include "support/check.h"
#include "support/written_team.h"

#include <stdio.h>

static team_case t;

#define AGENTS                                                                         \
    "  a: {model: driven/test}\n"                                                      \
    "  b: {model: driven/test}\n"

#define TOOL                                                                           \
    "tools:\n"                                                                         \
    "  done: {type: escalate}\n"

static const char plain[] = "agents:\n"
                            "  loop: {type: cycle, members: [a, b]}\n" AGENTS;

// --- Escalating ---

static void test_cycle__members_answer_in_turn_until_one_escalates(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say a1", "say a2", "say a3");
    DRIVEN("b", "say b1", "say b2\ncall escalate {\"reason\":\"good\"}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "b", "b2");
    CHECK_TEXT(driven_request("b", 1),
               "user: hi\nuser: [a]: a1\nassistant: b1\nuser: [a]: a2\n");
    CHECK_INT(driven_count("a"), 2);
    CHECK_INT(driven_count("b"), 2); // no model is asked after it
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_ESCALATE), "b: good\n");
    written_team_check_agents(&t, "loop root completed final\n"
                                  "  a 1.1 completed final\n"
                                  "  b 1.2 completed final\n"
                                  "  a 2.1 completed final\n"
                                  "  b 2.2 completed escalated\n");
    team_case_close(&t);
}

// The members after it do not run.
static void test_cycle__escalation_ends_the_round_at_once(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [a, b]}\n"
                               "  a: {model: driven/test, tools: [done]}\n"
                               "  b: {model: driven/test}\n" TOOL))
        return;
    DRIVEN("a", "say a1", "say a2\ncall escalate {}");
    DRIVEN("b", "say b1", "say never");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "a2");
    CHECK_INT(driven_count("b"), 1);
    team_case_close(&t);
}

static void test_cycle__who_escalates_without_a_word_leaves_the_last_answer(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say a1");
    DRIVEN("b", "call escalate {}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "a1");
    team_case_close(&t);
}

// Only where nobody else has one, and only the last member.
static void test_cycle__the_tool_is_lent_to_the_last_member_alone(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "call escalate {}");
    team_case_run(&t, "hi");
    CHECK_TEXT(driven_tools("a", 0), "");
    CHECK_TEXT(driven_tools("b", 0), "escalate");
    CHECK_TEXT(driven_tools("b", 1), "escalate");
    team_case_close(&t);
}

static void check_not_lent(const char *text)
{
    if (!written_team_open(&t, text))
        return;
    DRIVEN("a", "always\nsay SOLVED");
    DRIVEN("b", "always\nsay b");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK(driven_count("b") > 0);
    CHECK_TEXT(driven_tools("b", 0), "");
    team_case_close(&t);
}

static void test_cycle__the_tool_is_not_lent_where_another_end_is_in_sight(void)
{
    check_not_lent("agents:\n"
                   "  loop: {type: cycle, members: [a, b]}\n"
                   "  a: {model: driven/test, tools: [done]}\n"
                   "  b: {model: driven/test}\n" TOOL);
    check_not_lent("agents:\n"
                   "  loop: {type: cycle, members: [a, b], cycle: {until: {contains: "
                   "SOLVED}, max_iterations: 2}}\n" AGENTS);
    // A member of a member has it.
    check_not_lent("agents:\n"
                   "  loop: {type: cycle, members: [pair, b]}\n"
                   "  pair: {type: chain, members: [a]}\n"
                   "  a: {model: driven/test, tools: [done]}\n"
                   "  b: {model: driven/test}\n" TOOL);
}

// That of an inner cycle ends the inner one, so the outer one still needs its own.
static void test_cycle__the_tool_is_lent_beside_an_inner_cycle(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  outer: {type: cycle, members: [inner, b]}\n"
                               "  inner: {type: cycle, members: [a]}\n" AGENTS))
        return;
    DRIVEN("a", "call escalate {}");
    DRIVEN("b", "say b\ncall escalate {}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "b", "b");
    CHECK_TEXT(driven_tools("b", 0), "escalate");
    team_case_close(&t);
}

// The other tools of the turn run; nothing more of the member does.
static void test_cycle__the_rest_of_the_member_is_cancelled(void)
{
    adder adds;
    team_case_open(&t);
    team_case_add_adder(&t, &adds);
    atomic_store(&adds.n_runs, 0);
    cadre_team_add_topology(
        t.team, "cycle",
        CADRE_TOPOLOGY(.name = "loop", .members = CADRE_NAMES("a", "b")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "a", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "b", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    DRIVEN("a", "say a1");
    DRIVEN("b", "say so far\ncall escalate {}\ncall add {\"a\":1,\"b\":2}",
           "say never asked");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "b", "so far");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    CHECK_INT(driven_count("b"), 1);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "b: add ok 3\n");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 2);
    team_case_close(&t);
}

// A whole team ends with the member that escalates: nobody else of it is asked.
static void check_team_ends(const char *member, const char *key)
{
    char text[600];
    snprintf(text, sizeof text,
             "agents:\n"
             "  loop: {type: cycle, members: [pair, last]}\n"
             "  pair: %s\n"
             "  a: {model: driven/test, tools: [done]}\n"
             "  b: {model: driven/test}\n"
             "  last: {model: driven/test}\n" TOOL,
             member);
    if (!written_team_open(&t, text))
        return;
    DRIVEN("a", "say enough\ncall escalate {}");
    DRIVEN("b", "say never");
    DRIVEN("last", "say never");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "enough");
    CHECK_INT(driven_count("a"), 1);
    CHECK_INT(driven_count("b") + driven_count("last"), 0);
    snprintf(text, sizeof text,
             "loop root completed final\n"
             "  pair 1.1 completed escalated\n"
             "    a %s completed escalated\n",
             key);
    written_team_check_agents(&t, text);
    team_case_close(&t);
}

static void test_cycle__escalation_passes_through_the_teams_between(void)
{
    check_team_ends("{type: chain, members: [a, b]}", "1");
    check_team_ends("{type: handoff, members: [a, b]}", "a#1");
    check_team_ends("{type: swarm, members: [a, b]}", "a#1");
    check_team_ends("{type: coordinator, members: [a, b]}", "a#1");
}

// Not through a call: who asked reads an answer, and the cycle goes on.
static void test_cycle__a_called_member_escalates_for_itself_alone(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [team], cycle: "
                               "{max_iterations: 2}}\n"
                               "  team: {type: coordinator, members: [boss, a]}\n"
                               "  boss: {model: driven/test}\n"
                               "  a: {model: driven/test, tools: [done]}\n" TOOL))
        return;
    DRIVEN("boss", "call a {\"request\":\"x\"}", "say one", "say two");
    DRIVEN("a", "say my part\ncall escalate {}");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "two");
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
    CHECK_CONTAINS(driven_request("boss", 1), ": my part\n");
    team_case_close(&t);
}

static void test_cycle__escalation_ends_the_nearest_cycle_only(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  outer: {type: cycle, members: [inner, last]}\n"
                               "  inner: {type: cycle, members: [a, b]}\n" AGENTS
                               "  last: {model: driven/test}\n"))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1\ncall escalate {}", "say b2\ncall escalate {}");
    DRIVEN("last", "say l1", "say l2\ncall escalate {}");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "last", "l2");
    written_team_check_agents(&t, "outer root completed final\n"
                                  "  inner 1.1 completed final\n"
                                  "    a 1.1 completed final\n"
                                  "    b 1.2 completed escalated\n"
                                  "  last 1.2 completed final\n"
                                  "  inner 2.1 completed final\n"
                                  "    a 1.1 completed final\n"
                                  "    b 1.2 completed escalated\n"
                                  "  last 2.2 completed escalated\n");
    team_case_close(&t);
}

// --- The limit ---

static void test_cycle__the_limit_is_a_reason_of_its_own_with_the_last_answer(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [a, b], cycle: "
                               "{max_iterations: 2}}\n" AGENTS))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
    CHECK_TEXT(t.result->text, "b2");
    CHECK_TEXT(t.result->agent, "b");
    written_team_check_agents(&t, "loop root completed max_iterations\n"
                                  "  a 1.1 completed final\n"
                                  "  b 1.2 completed final\n"
                                  "  a 2.1 completed final\n"
                                  "  b 2.2 completed final\n");
    team_case_close(&t);
}

static void test_cycle__the_limit_is_ten_where_nothing_is_said(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "always\nsay a");
    DRIVEN("b", "always\nsay b");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
    CHECK_INT(driven_count("a"), 10);
    CHECK_INT(driven_count("b"), 10);
    team_case_close(&t);
}

// What is around it has an answer to go on with, and ends as it would have.
static void test_cycle__an_inner_limit_is_not_the_reason_of_what_is_around(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [loop, last]}\n"
                               "  loop: {type: cycle, members: [a, b], cycle: "
                               "{max_iterations: 1}}\n" AGENTS
                               "  last: {model: driven/test}\n"))
        return;
    DRIVEN("a", "say a1");
    DRIVEN("b", "say b1");
    DRIVEN("last", "say summed up");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "last", "summed up");
    written_team_check_agents(&t, "line root completed final\n"
                                  "  loop 1 completed max_iterations\n"
                                  "    a 1.1 completed final\n"
                                  "    b 1.2 completed final\n"
                                  "  last 2 completed final\n");
    team_case_close(&t);
}

// Also where it is the last that the chain does: its answer is the chain's.
static void test_cycle__an_inner_limit_at_the_end_is_not_passed_up(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [loop]}\n"
                               "  loop: {type: cycle, members: [a, b], cycle: "
                               "{max_iterations: 1}}\n" AGENTS))
        return;
    DRIVEN("a", "say a1");
    DRIVEN("b", "say b1");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "b", "b1");
    team_case_close(&t);
}

static void test_cycle__a_limit_without_any_answer_fails(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  loop: {type: cycle, members: [pause], cycle: "
                               "{max_iterations: 3}}\n"
                               "  pause: {type: cycle, members: [a], cycle: "
                               "{max_iterations: 1}}\n"
                               "  a: {model: driven/test}\n"))
        return;
    DRIVEN("a", "always\ncall escalate {}");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
    CHECK_CONTAINS(t.err.text, "agent 'loop': nobody ended the cycle in 3 iterations");
    team_case_close(&t);
}

// --- Failing ---

static void test_cycle__a_members_failure_fails_it(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say a1", "fail auth key refused");
    DRIVEN("b", "say b1", "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(t.result->error.agent, "a");
    CHECK_INT(driven_count("b"), 1);
    written_team_check_agents(&t, "loop root failed error\n"
                                  "  a 1.1 completed final\n"
                                  "  b 1.2 completed final\n"
                                  "  a 2.1 failed error\n");
    team_case_close(&t);
}

// It goes up to the root, and is the run's reason.
static void test_cycle__outside_of_one_an_escalation_ends_the_run(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [a, b]}\n"
                               "  a: {model: driven/test, tools: [done]}\n"
                               "  b: {model: driven/test}\n" TOOL))
        return;
    DRIVEN("a", "say early\ncall escalate {}", "say never");
    DRIVEN("b", "say b");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "early");
    CHECK_INT(t.result->stop_reason, CADRE_STOP_ESCALATED);
    CHECK_INT(driven_count("a"), 1);
    CHECK_INT(driven_count("b"), 0);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_cycle__members_answer_in_turn_until_one_escalates),
    CHECK_TEST(test_cycle__escalation_ends_the_round_at_once),
    CHECK_TEST(test_cycle__who_escalates_without_a_word_leaves_the_last_answer),
    CHECK_TEST(test_cycle__the_tool_is_lent_to_the_last_member_alone),
    CHECK_TEST(test_cycle__the_tool_is_not_lent_where_another_end_is_in_sight),
    CHECK_TEST(test_cycle__the_tool_is_lent_beside_an_inner_cycle),
    CHECK_TEST(test_cycle__the_rest_of_the_member_is_cancelled),
    CHECK_TEST(test_cycle__escalation_passes_through_the_teams_between),
    CHECK_TEST(test_cycle__a_called_member_escalates_for_itself_alone),
    CHECK_TEST(test_cycle__escalation_ends_the_nearest_cycle_only),
    CHECK_TEST(test_cycle__the_limit_is_a_reason_of_its_own_with_the_last_answer),
    CHECK_TEST(test_cycle__the_limit_is_ten_where_nothing_is_said),
    CHECK_TEST(test_cycle__an_inner_limit_is_not_the_reason_of_what_is_around),
    CHECK_TEST(test_cycle__an_inner_limit_at_the_end_is_not_passed_up),
    CHECK_TEST(test_cycle__a_limit_without_any_answer_fails),
    CHECK_TEST(test_cycle__a_members_failure_fails_it),
    CHECK_TEST(test_cycle__outside_of_one_an_escalation_ends_the_run),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/cycle", tests);
}
