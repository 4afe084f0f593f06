// The chain: the members answer one after the other; only a failure that nobody has
// dealt with ends it.
#include "support/check.h"
#include "support/written_team.h"

#include <stdio.h>

static team_case t;

#define AGENTS                                                                         \
    "  a: {model: driven/test}\n"                                                      \
    "  b: {model: driven/test}\n"                                                      \
    "  c: {model: driven/test}\n"

static const char plain[] = "agents:\n"
                            "  line: {type: chain, members: [a, b, c]}\n" AGENTS;

// --- Order ---

static void test_chain__members_answer_in_order_and_the_last_one_counts(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "say two");
    DRIVEN("c", "say three");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "three");
    CHECK_TEXT(driven_request("a", 0), "user: hi\n");
    CHECK_TEXT(driven_request("b", 0), "user: hi\nuser: [a]: one\n");
    CHECK_TEXT(driven_request("c", 0), "user: hi\nuser: [a]: one\nuser: [b]: two\n");
    written_team_check_said(&t, "user: hi\na: one\nb: two\nc: three\n");
    written_team_check_agents(&t, "line root completed final\n"
                                  "  a 1 completed final\n"
                                  "  b 2 completed final\n"
                                  "  c 3 completed final\n");
    team_case_close(&t);
}

static void test_chain__the_entry_is_first_and_the_others_keep_their_order(void)
{
    if (!written_team_open(
            &t, "agents:\n"
                "  line: {type: chain, entry: b, members: [a, b, c]}\n" AGENTS))
        return;
    DRIVEN("a", "say two");
    DRIVEN("b", "say one");
    DRIVEN("c", "say three");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "three");
    written_team_check_said(&t, "user: hi\nb: one\na: two\nc: three\n");
    team_case_close(&t);
}

static void test_chain__a_member_may_stand_twice(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [a, b, a]}\n" AGENTS))
        return;
    DRIVEN("a", "say draft", "say better");
    DRIVEN("b", "say hm");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "a", "better");
    CHECK_TEXT(driven_request("a", 1), "user: hi\nassistant: draft\nuser: [b]: hm\n");
    team_case_close(&t);
}

// Each turn of a session begins at its first member again.
static void test_chain__the_next_turn_begins_at_the_first(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    DRIVEN("c", "say c1", "say c2");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    team_case_check_answer(&t, "c", "c2");
    CHECK_TEXT(driven_request("a", 1),
               "user: first\nassistant: a1\nuser: [b]: b1\nuser: [c]: c1\n"
               "user: second\n");
    team_case_close(&t);
}

// --- What members see ---

static void check_history(const char *history, const char *b, const char *c)
{
    char text[400];
    snprintf(text, sizeof text,
             "agents:\n"
             "  line: {type: chain, members: [a, b, c], chain: {history: %s}}\n" AGENTS,
             history);
    if (!written_team_open(&t, text))
        return;
    DRIVEN("a", "say a1", "say a2");
    DRIVEN("b", "say b1", "say b2");
    DRIVEN("c", "say c1", "say c2");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    team_case_check_answer(&t, "c", "c2");
    CHECK_TEXT(driven_request("b", 1), b);
    CHECK_TEXT(driven_request("c", 1), c);
    team_case_close(&t);
}

static void test_chain__history_says_what_each_member_sees(void)
{
    check_history("last", "user: second\nuser: [a]: a2\n",
                  "user: second\nuser: [a]: a2\nuser: [b]: b2\n");
    check_history("own", "user: first\nassistant: b1\nuser: second\n",
                  "user: first\nassistant: c1\nuser: second\n");
    check_history("all",
                  "user: first\nuser: [a]: a1\nassistant: b1\nuser: [c]: c1\n"
                  "user: second\nuser: [a]: a2\n",
                  "user: first\nuser: [a]: a1\nuser: [b]: b1\nassistant: c1\n"
                  "user: second\nuser: [a]: a2\nuser: [b]: b2\n");
}

// --- What does not stop it ---

static void add_calculator(void)
{
    static adder adds;
    team_case_open(&t);
    team_case_add_adder(&t, &adds);
    cadre_team_add_topology(
        t.team, "chain",
        CADRE_TOPOLOGY(.name = "line", .members = CADRE_NAMES("a", "b")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "a", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "b", .model = DRIVEN_MODEL));
}

// Wrong calls and failed attempts are dealt with by the member itself.
static void test_chain__goes_on_after_what_a_member_got_over(void)
{
    add_calculator();
    DRIVEN("a", "call add {\"a\":\"three\"}", "call nosuch {}", "fail server down",
           "say I give up.");
    DRIVEN("b", "say I know.");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "b", "I know.");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "a: add invalid_arguments ");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "a: nosuch unknown_tool ");
    // Nobody else is shown it.
    CHECK_TEXT(driven_request("b", 0), "user: hi\nuser: [a]: I give up.\n");
    team_case_close(&t);
}

static void test_chain__goes_on_after_a_refused_transfer_of_a_member(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [desk, c]}\n"
                               "  desk: {type: swarm, members: [a, b], transfer: "
                               "{max_handoffs: 1}}\n" AGENTS))
        return;
    DRIVEN("a", "to b");
    DRIVEN("b", "to a", "to nobody", "say mine then");
    DRIVEN("c", "say thanks");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "thanks");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER),
               "a: a b done\nb: b a refused\nb: b nobody unknown\n");
    CHECK_TEXT(driven_request("c", 0), "user: hi\nuser: [b]: mine then\n");
    team_case_close(&t);
}

// An answer that a limit ended is an answer.
static void test_chain__goes_on_after_a_limit_with_an_answer(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [loop, c]}\n"
                               "  loop: {type: cycle, members: [a, b], cycle: "
                               "{max_iterations: 1}}\n" AGENTS))
        return;
    DRIVEN("a", "say a1");
    DRIVEN("b", "say b1");
    DRIVEN("c", "say c1");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "c1");
    team_case_close(&t);
}

static void test_chain__goes_on_when_a_member_has_nothing_to_say(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [loop, c]}\n"
                               "  loop: {type: cycle, members: [a]}\n" AGENTS))
        return;
    DRIVEN("a", "call escalate {}");
    DRIVEN("c", "say c1");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "c1");
    CHECK_TEXT(driven_request("c", 0), "user: hi\n");
    team_case_close(&t);
}

// --- What does ---

static void test_chain__a_failure_ends_it_where_it_is(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "fail auth key refused");
    DRIVEN("c", "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(t.result->error.agent, "b");
    CHECK_CONTAINS(t.err.text, "agent 'b': model 'driven/test': key refused");
    CHECK_INT(driven_count("c"), 0);
    written_team_check_agents(&t, "line root failed error\n"
                                  "  a 1 completed final\n"
                                  "  b 2 failed error\n");
    team_case_close(&t);
}

static void test_chain__a_team_that_is_stopped_ends_it(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [desk, c]}\n"
                               "  desk: {type: swarm, members: [a, b], transfer: "
                               "{max_handoffs: 1}}\n" AGENTS))
        return;
    DRIVEN("a", "to b");
    DRIVEN("b", "to a", "to a");
    DRIVEN("c", "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_CONTAINS(t.err.text, "line -> desk -> a -> b");
    CHECK_INT(driven_count("c"), 0);
    team_case_close(&t);
}

static void test_chain__a_steps_time_ends_it(void)
{
    if (!written_team_open_fake(&t, "agents:\n"
                                    "  line: {type: chain, members: [a, b, c]}\n"
                                    "  a: {model: driven/test}\n"
                                    "  b: {model: driven/test, timeout: 10s}\n"
                                    "  c: {model: driven/test}\n"))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "hold");
    DRIVEN("c", "say never");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_ERROR); // the time was the member's
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_TIMEOUT);
    CHECK_TEXT(t.result->error.agent, "b");
    CHECK_INT(driven_count("c"), 0);
    written_team_check_agents(&t, "line root failed error\n"
                                  "  a 1 completed final\n"
                                  "  b 2 timeout timeout\n");
    team_case_close(&t);
}

static void test_chain__a_step_that_is_tried_again_does_not_end_it(void)
{
    if (!written_team_open_fake(
            &t, "agents:\n"
                "  line: {type: chain, members: [a, b, c]}\n"
                "  a: {model: driven/test}\n"
                "  b: {model: driven/test, timeout: 10s, retry: {attempts: 3}}\n"
                "  c: {model: driven/test}\n"))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "hold", "fail auth key refused", "say two");
    DRIVEN("c", "say three");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    team_case_check_answer(&t, "c", "three");
    CHECK_TEXT(driven_request("b", 2), "user: hi\nuser: [a]: one\n");
    written_team_check_agents(&t, "line root completed final\n"
                                  "  a 1 completed final\n"
                                  "  b 2 timeout timeout\n"
                                  "  b 2~2 failed error\n"
                                  "  b 2~3 completed final\n"
                                  "  c 3 completed final\n");
    team_case_close(&t);
}

static void test_chain__its_own_time_ends_it_in_mid_step(void)
{
    if (!written_team_open_fake(&t, "agents:\n"
                                    "  line: {type: chain, members: [a, b], timeout: "
                                    "10s}\n" AGENTS))
        return;
    DRIVEN("a", "gate\nsay one");
    DRIVEN("b", "hold");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_advance(t.clock, 6000);
    driven_release();
    CHECK(driven_await_held(2));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 4000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_ETIMEOUT, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_TIMEOUT);
    CHECK_INT(t.result->duration_ms, 10000);
    team_case_close(&t);
}

// --- Nesting ---

static void test_chain__nests(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [pair, c]}\n"
                               "  pair: {type: chain, members: [a, b]}\n" AGENTS))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "say two");
    DRIVEN("c", "say three");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "c", "three");
    written_team_check_said(&t, "user: hi\na: one\nb: two\nc: three\n");
    written_team_check_agents(&t, "line root completed final\n"
                                  "  pair 1 completed final\n"
                                  "    a 1 completed final\n"
                                  "    b 2 completed final\n"
                                  "  c 2 completed final\n");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_chain__members_answer_in_order_and_the_last_one_counts),
    CHECK_TEST(test_chain__the_entry_is_first_and_the_others_keep_their_order),
    CHECK_TEST(test_chain__a_member_may_stand_twice),
    CHECK_TEST(test_chain__the_next_turn_begins_at_the_first),
    CHECK_TEST(test_chain__history_says_what_each_member_sees),
    CHECK_TEST(test_chain__goes_on_after_what_a_member_got_over),
    CHECK_TEST(test_chain__goes_on_after_a_refused_transfer_of_a_member),
    CHECK_TEST(test_chain__goes_on_after_a_limit_with_an_answer),
    CHECK_TEST(test_chain__goes_on_when_a_member_has_nothing_to_say),
    CHECK_TEST(test_chain__a_failure_ends_it_where_it_is),
    CHECK_TEST(test_chain__a_team_that_is_stopped_ends_it),
    CHECK_TEST(test_chain__a_steps_time_ends_it),
    CHECK_TEST(test_chain__a_step_that_is_tried_again_does_not_end_it),
    CHECK_TEST(test_chain__its_own_time_ends_it_in_mid_step),
    CHECK_TEST(test_chain__nests),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/chain", tests);
}
