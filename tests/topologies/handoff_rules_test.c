// What stops handing over: the standard controller, and time.
#include "support/check.h"
#include "support/team_case.h"

#include <string.h>

static team_case t;
static adder adds;

static void open_desk(const char *options)
{
    team_case_open(&t);
    team_case_add_desk(&t, options, &adds);
}

static void check_answer(const char *agent, const char *text)
{
    team_case_check_answer(&t, agent, text);
}

static void check_transfers(const char *expected)
{
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), expected);
}

// --- Controllers ---

static void test_transfers__model_reads_a_refusal_and_answers_itself(void)
{
    open_desk("{\"max_handoffs\": 1}");
    DRIVEN("alice", "to bob one");
    DRIVEN("bob", "to alice two", "say mine");
    team_case_run(&t, "hi");
    check_answer("bob", "mine");
    check_transfers("alice: alice bob done\nbob: bob alice refused\n");
    CHECK_CONTAINS(
        driven_request("bob", 1),
        "Not handed over to alice: the limit of 1 handoffs (max_handoffs) is "
        "reached.");
    team_case_close(&t);
}

static void test_transfers__second_hit_stops_with_the_path_and_reason(void)
{
    open_desk("{\"max_handoffs\": 2}");
    DRIVEN("alice", "to bob 1", "to bob 3", "to carol 4");
    DRIVEN("bob", "to alice 2");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_HANDOFFS);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_CONTAINS(t.err.text, "max_handoffs");
    CHECK_CONTAINS(t.err.text, "desk -> alice -> bob -> alice");
    CHECK_TEXT(t.result->error.agent, "alice");
    CHECK_TEXT(t.result->text, "");
    team_case_close(&t);
}

static void test_transfers__after_a_stop_nothing_of_the_turn_is_done(void)
{
    open_desk("{\"repeat\": 1, \"max_handoffs\": \"unlimited\"}");
    DRIVEN("alice", "to bob", "to bob\nto carol");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LOOP);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LOOP);
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), "done");
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "Handed over");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 3);
    team_case_close(&t);
}

static void test_transfers__refuses_the_third_time_of_the_same_message(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to bob same", "to bob same", "to bob same", "say stuck");
    DRIVEN("bob", "to alice a", "to alice b", "to alice c");
    team_case_run(&t, "hi");
    check_answer("alice", "stuck");
    CHECK_CONTAINS(driven_request("alice", 3),
                   "'alice' asked 3 times for 'bob' with the same message (repeat)");
    team_case_close(&t);
}

static void add_pair(const char *options)
{
    team_case_open(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .options = options,
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL,
                                         .handoffs = CADRE_NAMES("alice")));
}

static void test_transfers__lets_two_members_talk_as_long_as_they_get_on(void)
{
    add_pair(NULL);
    DRIVEN("alice", "to bob 1", "to bob 3", "to bob 5", "to bob 7", "to bob 9",
           "say settled");
    DRIVEN("bob", "to alice 2", "to alice 4", "to alice 6", "to alice 8",
           "to alice 10");
    team_case_run(&t, "hi");
    check_answer("alice", "settled");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TRANSFER), 10);
    team_case_close(&t);
}

static void test_transfers__stops_two_of_three_who_play_ping_pong(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to bob 1", "to bob 3", "to bob 5", "to bob 7", "to bob 9");
    DRIVEN("bob", "to alice 2", "to alice 4", "to alice 6", "to alice 8", "say mine");
    team_case_run(&t, "hi");
    // The eighth is the first that is judged by a full window.
    check_answer("bob", "mine");
    CHECK_CONTAINS(driven_request("bob", 4),
                   "the last 8 handoffs went to only 2 agents (window)");
    CHECK_INT(driven_count("alice"), 4);
    team_case_close(&t);
}

static void test_transfers__unlimited_turns_off_one_rule_only(void)
{
    add_pair("{\"repeat\": \"unlimited\", \"max_handoffs\": 5}");
    DRIVEN("alice", "to bob", "to bob", "to bob", "say end");
    DRIVEN("bob", "to alice", "to alice", "to alice", "say over");
    team_case_run(&t, "hi");
    check_answer("bob", "over");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TRANSFER), 6);
    CHECK_CONTAINS(driven_request("bob", 3), "max_handoffs");
    team_case_close(&t);
}

// --- Time ---

static void test_transfers__each_node_has_its_own_time(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    (void)err;
    team_case_open_fake(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .options = "{\"node_timeout\": \"10s\"}",
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", "gate\nto bob");
    DRIVEN("bob", "gate\nsay in time");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_advance(t.clock, 9000);
    driven_release();
    team_case_finish(&t);
    check_answer("bob", "in time");
    team_case_close(&t);
}

static void run_late_node(const char *alice, const char *bob)
{
    team_case_open_fake(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .options = "{\"node_timeout\": \"10s\"}",
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", alice);
    DRIVEN("bob", bob);
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_TIMEOUT);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_TIMEOUT);
}

static void test_transfers__a_late_entry_or_target_times_out(void)
{
    run_late_node("hold", "say never");
    CHECK_TEXT(t.result->error.agent, "alice");
    team_case_close(&t);
    run_late_node("to bob", "hold");
    CHECK_TEXT(t.result->error.agent, "bob");
    team_case_close(&t);
}

static void test_transfers__time_of_who_handed_over_does_not_bind_the_target(void)
{
    team_case_open_fake(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .options = "{\"node_timeout\": \"10s\"}",
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(
        t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL, .timeout_ms = 60000));
    DRIVEN("alice", "gate\nto bob");
    DRIVEN("bob", "hold");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_advance(t.clock, 9000);
    driven_release();
    CHECK(driven_await_held(2));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 9000); // 18 s of alice's 10, 9 of bob's 10
    CHECK(!recorder_count(&t.recorder, CADRE_EVENT_STREAM_END));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 1000);
    team_case_finish(&t);
    CHECK_TEXT(t.result->error.agent, "bob");
    CHECK_INT(t.result->duration_ms, 19000);
    team_case_close(&t);
}

static void test_transfers__members_limit_is_the_runs_stop_reason(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice")));
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .max_turns = 2, .tools = CADRE_NAMES("add")));
    DRIVEN("alice", "always\nsay so far\ncall add {\"a\":1,\"b\":1}");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_TURNS);
    CHECK_TEXT(t.result->text, "so far");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_transfers__model_reads_a_refusal_and_answers_itself),
    CHECK_TEST(test_transfers__second_hit_stops_with_the_path_and_reason),
    CHECK_TEST(test_transfers__after_a_stop_nothing_of_the_turn_is_done),
    CHECK_TEST(test_transfers__refuses_the_third_time_of_the_same_message),
    CHECK_TEST(test_transfers__lets_two_members_talk_as_long_as_they_get_on),
    CHECK_TEST(test_transfers__stops_two_of_three_who_play_ping_pong),
    CHECK_TEST(test_transfers__unlimited_turns_off_one_rule_only),
    CHECK_TEST(test_transfers__each_node_has_its_own_time),
    CHECK_TEST(test_transfers__a_late_entry_or_target_times_out),
    CHECK_TEST(test_transfers__time_of_who_handed_over_does_not_bind_the_target),
    CHECK_TEST(test_transfers__members_limit_is_the_runs_stop_reason),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/handoff_rules", tests);
}
