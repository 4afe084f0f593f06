// Parallel: all get the same and work at once; what becomes of their answers, of those
// that fail, and of those that come too late.
#include "support/check.h"
#include "support/written_team.h"

#include <stdio.h>
#include <string.h>

static team_case t;

#define AGENTS                                                                         \
    "  a: {model: driven/test}\n"                                                      \
    "  b: {model: driven/test}\n"                                                      \
    "  c: {model: driven/test}\n"

// `options` in the block.
static bool open_parallel(const char *options)
{
    char text[600];
    snprintf(text, sizeof text,
             "agents:\n"
             "  both: {type: parallel, members: [a, b], parallel: {%s}}\n" AGENTS,
             options);
    return written_team_open(&t, text);
}

static void check_output(const char *text)
{
    team_case_check_answer(&t, "both", text);
}

// --- What they get, and give ---

static void test_parallel__all_get_the_same_and_answer_under_headings(void)
{
    if (!open_parallel(""))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "say two");
    team_case_run(&t, "hi");
    check_output("## a\none\n\n## b\ntwo");
    CHECK_TEXT(driven_request("a", 0), "user: hi\n");
    CHECK_TEXT(driven_request("b", 0), "user: hi\n");
    written_team_check_agents(&t, "both root completed final\n"
                                  "  a b1/1 completed final\n"
                                  "  b b1/2 completed final\n");
    team_case_close(&t);
}

// The one that stands first in the file ends last.
static void test_parallel__order_is_that_of_the_file_whoever_is_faster(void)
{
    if (!open_parallel(""))
        return;
    DRIVEN("a", "gate\nsay slow");
    DRIVEN("b", "say quick");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "b", 1));
    driven_release();
    team_case_finish(&t);
    check_output("## a\nslow\n\n## b\nquick");
    team_case_close(&t);
}

static void test_parallel__takes_as_long_as_the_slowest(void)
{
    if (!written_team_open_fake(&t,
                                "agents:\n"
                                "  both: {type: parallel, members: [a, b]}\n" AGENTS))
        return;
    DRIVEN("a", "gate\nsay one");
    DRIVEN("b", "gate\nsay two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(2)); // both are under way
    cdr_clock_advance(t.clock, 7000);
    driven_release();
    team_case_finish(&t);
    check_output("## a\none\n\n## b\ntwo");
    CHECK_INT(t.result->duration_ms, 7000);
    team_case_close(&t);
}

static void test_parallel__a_text_of_ones_own_has_the_answers_where_it_says(void)
{
    if (!open_parallel(
            "output: \"{{outputs.b}} before {{outputs.a}}, {{outputs.b}}.\""))
        return;
    DRIVEN("a", "say one");
    DRIVEN("b", "say two {{outputs.a}}"); // what a model says is no template
    team_case_run(&t, "hi");
    check_output("two {{outputs.a}} before one, two {{outputs.a}}.");
    team_case_close(&t);
}

// --- The conversation ---

static void test_parallel__nothing_of_the_forks_is_in_the_conversation(void)
{
    if (!open_parallel("output: \"{{outputs.a}}+{{outputs.b}}\""))
        return;
    DRIVEN("a", "say one", "say three");
    DRIVEN("b", "call nosuch {}", "say two", "say four");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    written_team_check_said(&t, "user: first\nboth: one+two\n");
    for (size_t i = 0; i < t.recorder.n_events; i++)
        if (t.recorder.events[i].is_main)
            CHECK_TEXT(t.recorder.events[i].agent, "both");
    // The next turn sees the first one, as it was answered.
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_output("three+four");
    CHECK_TEXT(driven_request("a", 1),
               "user: first\nuser: [both]: one+two\nuser: second\n");
    CHECK_TEXT(driven_request("b", 2),
               "user: first\nuser: [both]: one+two\nuser: second\n");
    written_team_check_said(&t, "user: first\nboth: one+two\nuser: second\n"
                                "both: three+four\n");
    team_case_close(&t);
}

static void test_parallel__in_a_chain_the_next_reads_what_became_of_it(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  line: {type: chain, members: [c, both, d]}\n"
                               "  both: {type: parallel, members: [a, b]}\n" AGENTS
                               "  d: {model: driven/test}\n"))
        return;
    DRIVEN("c", "say plan");
    DRIVEN("a", "say one");
    DRIVEN("b", "say two");
    DRIVEN("d", "say sum");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "d", "sum");
    CHECK_TEXT(driven_request("a", 0), "user: hi\nuser: [c]: plan\n");
    CHECK_TEXT(driven_request("b", 0), "user: hi\nuser: [c]: plan\n");
    CHECK_TEXT(driven_request("d", 0), "user: hi\nuser: [c]: plan\n"
                                       "user: [both]: ## a\none\n\n## b\ntwo\n");
    team_case_close(&t);
}

static void test_parallel__members_may_be_teams(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  both: {type: parallel, members: [desk, pair]}\n"
                               "  desk: {type: handoff, members: [a, b]}\n"
                               "  pair: {type: parallel, members: [c, d]}\n" AGENTS
                               "  d: {model: driven/test}\n"))
        return;
    DRIVEN("a", "to b");
    DRIVEN("b", "say from b");
    DRIVEN("c", "say from c");
    DRIVEN("d", "say from d");
    team_case_run(&t, "hi");
    check_output("## desk\nfrom b\n\n## pair\n## c\nfrom c\n\n## d\nfrom d");
    team_case_close(&t);
}

static void test_parallel__a_member_may_stand_twice(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  both: {type: parallel, members: [a, a]}\n"
                               "  a: {model: driven/test}\n"))
        return;
    DRIVEN("a", "say x", "say x");
    team_case_run(&t, "hi");
    check_output("## a\nx\n\n## a\nx");
    written_team_check_agents(&t, "both root completed final\n"
                                  "  a b1/1 completed final\n"
                                  "  a b1/2 completed final\n");
    team_case_close(&t);
}

// --- Failing ---

static void test_parallel__a_failure_fails_it_when_all_have_ended(void)
{
    if (!open_parallel(""))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "gate\nsay two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "a", 1));
    driven_release();
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_CONTAINS(t.err.text, "agent 'a': model 'driven/test': key refused");
    written_team_check_agents(&t, "both root failed error\n"
                                  "  a b1/1 failed error\n"
                                  "  b b1/2 completed final\n");
    team_case_close(&t);
}

static void test_parallel__a_failure_may_be_reported_in_its_place(void)
{
    if (!open_parallel("on_failure: report"))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "say two");
    team_case_run(&t, "hi");
    check_output("## a\nfailed: agent 'a': model 'driven/test': key refused\n\n"
                 "## b\ntwo");
    team_case_close(&t);
    if (!open_parallel("on_failure: report, output: \"{{outputs.b}} ({{outputs.a}})\""))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "say two");
    team_case_run(&t, "hi");
    check_output("two (failed: agent 'a': model 'driven/test': key refused)");
    team_case_close(&t);
}

static void test_parallel__fails_when_all_fail_whatever_is_reported(void)
{
    if (!open_parallel("on_failure: report"))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "fail auth no key");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "agent 'a': model 'driven/test': key refused");
    CHECK_TEXT(t.result->text, "");
    written_team_check_agents(&t, "both root failed error\n"
                                  "  a b1/1 failed error\n"
                                  "  b b1/2 failed error\n");
    team_case_close(&t);
}

static void test_parallel__a_late_member_is_a_failed_one(void)
{
    if (!written_team_open_fake(
            &t, "agents:\n"
                "  both: {type: parallel, members: [a, b], parallel: {on_failure: "
                "report}}\n"
                "  a: {model: driven/test, timeout: 10s}\n"
                "  b: {model: driven/test}\n"))
        return;
    DRIVEN("a", "hold");
    DRIVEN("b", "say two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "b", 1));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    check_output("## a\nfailed: agent 'a': its time of 10s is up (timeout)\n\n"
                 "## b\ntwo");
    team_case_close(&t);
}

static void test_parallel__its_own_time_stops_all_of_it(void)
{
    if (!written_team_open_fake(
            &t, "agents:\n"
                "  both: {type: parallel, members: [a, b], "
                "timeout: 10s, parallel: {on_failure: report}}\n" AGENTS))
        return;
    DRIVEN("a", "hold");
    DRIVEN("b", "say two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "b", 1));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_ETIMEOUT, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_TIMEOUT);
    team_case_close(&t);
}

// --- The first one ---

static void test_parallel__any_takes_the_first_success_and_stops_the_rest(void)
{
    if (!written_team_open(&t, "agents:\n"
                               "  both: {type: parallel, members: [a, b, c], parallel: "
                               "{wait: any}}\n" AGENTS))
        return;
    DRIVEN("a", "hold");
    DRIVEN("b", "fail auth key refused");
    DRIVEN("c", "gate\nsay three");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "b", 1));
    CHECK(driven_await_held(2));
    driven_release();
    team_case_finish(&t);
    check_output("three");
    written_team_check_agents(&t, "both root completed final\n"
                                  "  a b1/1 aborted aborted\n"
                                  "  b b1/2 failed error\n"
                                  "  c b1/3 completed final\n");
    written_team_check_said(&t, "user: hi\nboth: three\n");
    team_case_close(&t);
}

static void test_parallel__any_fails_when_none_succeeds(void)
{
    if (!open_parallel("wait: any"))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "fail auth no key");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "key refused");
    CHECK_CONTAINS(t.err.text, "no key");
    team_case_close(&t);
}

static void test_parallel__race_takes_the_first_to_end(void)
{
    if (!open_parallel("wait: race"))
        return;
    DRIVEN("a", "hold");
    DRIVEN("b", "say two");
    team_case_run(&t, "hi");
    check_output("two");
    written_team_check_agents(&t, "both root completed final\n"
                                  "  a b1/1 aborted aborted\n"
                                  "  b b1/2 completed final\n");
    team_case_close(&t);
}

static void test_parallel__race_is_lost_by_a_failure_that_comes_first(void)
{
    if (!open_parallel("wait: race, on_failure: report"))
        return;
    DRIVEN("a", "fail auth key refused");
    DRIVEN("b", "hold");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_CONTAINS(t.err.text, "agent 'a': model 'driven/test': key refused");
    written_team_check_agents(&t, "both root failed error\n"
                                  "  a b1/1 failed error\n"
                                  "  b b1/2 aborted aborted\n");
    team_case_close(&t);
}

// --- State ---

#define WRITERS                                                                        \
    "agents:\n"                                                                        \
    "  both: {type: parallel, members: [a, b]}\n"                                      \
    "  a: {model: driven/test, output_key: result}\n"                                  \
    "  b: {model: driven/test, output_key: result}\n"

static void test_parallel__one_key_of_two_is_a_mistake_without_a_reducer(void)
{
    written_team_check_problems(
        WRITERS,
        "2:3: agent 'both': 'a' and 'b' may run at the same time and both have "
        "output_key 'result'; give the key a reducer (state: {result: {reducer: "
        "append}}), or each of them another key\n");
    written_team_check_problems(
        "agents:\n"
        "  both: {type: parallel, members: [a, a]}\n"
        "  a: {model: driven/test, output_key: result}\n",
        "2:3: agent 'both': 'a' may run several times at once and has output_key "
        "'result'; give the key a reducer (state: {result: {reducer: append}})\n");
}

// In the order of the file, though the second one is done first.
static void test_parallel__one_key_of_two_is_merged_in_the_files_order(void)
{
    if (!written_team_open(&t, "state: {result: {reducer: append}}\n" WRITERS))
        return;
    DRIVEN("a", "gate\nsay one");
    DRIVEN("b", "say two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "b", 1));
    driven_release();
    team_case_finish(&t);
    check_output("## a\none\n\n## b\ntwo");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_STATE_DELTA), "one");
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, &t.err), &t.err);
    CHECK_CONTAINS(frames[0].delta, "[\"one\",\"two\"]");
    team_case_close(&t);
}

// --- What sealing refuses ---

static void check_problem(const char *options, const char *problem)
{
    char text[600];
    snprintf(text, sizeof text,
             "agents:\n"
             "  both: {type: parallel, members: [a, b],\n"
             "    parallel: {%s}}\n"
             "  a: {model: driven/test}\n"
             "  b: {model: driven/test}\n",
             options);
    written_team_check_problems(text, problem);
}

static void test_parallel__tells_what_is_wrong_with_its_text(void)
{
    check_problem("output: \"{{outputs.d}} and so on\"",
                  "3:24: agents.both.parallel.output: '{{outputs.d}}' is no place for "
                  "the answer of a member; write {{outputs.NAME}} with a member's "
                  "name\n");
    check_problem("output: \"{{outputs.a}\"",
                  "3:24: agents.both.parallel.output: '{{outputs.a}' is no place for "
                  "the answer of a member; write {{outputs.NAME}} with a member's "
                  "name\n");
    written_team_check_problems(
        "agents:\n"
        "  both: {type: parallel, members: [a, a],\n"
        "    parallel: {output: \"{{outputs.a}}\"}}\n"
        "  a: {model: driven/test}\n",
        "3:24: agents.both.parallel.output: a member stands here twice, so a template "
        "cannot tell its answers apart\n");
}

static void test_parallel__tells_words_it_does_not_know(void)
{
    check_problem("wait: first",
                  "3:22: agents.both.parallel.wait: expected one of: all, any, race; "
                  "got \"first\"\n");
    check_problem("on_failure: ignore",
                  "3:28: agents.both.parallel.on_failure: expected one of: fail, "
                  "report; got \"ignore\"\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_parallel__all_get_the_same_and_answer_under_headings),
    CHECK_TEST(test_parallel__order_is_that_of_the_file_whoever_is_faster),
    CHECK_TEST(test_parallel__takes_as_long_as_the_slowest),
    CHECK_TEST(test_parallel__a_text_of_ones_own_has_the_answers_where_it_says),
    CHECK_TEST(test_parallel__nothing_of_the_forks_is_in_the_conversation),
    CHECK_TEST(test_parallel__in_a_chain_the_next_reads_what_became_of_it),
    CHECK_TEST(test_parallel__members_may_be_teams),
    CHECK_TEST(test_parallel__a_member_may_stand_twice),
    CHECK_TEST(test_parallel__a_failure_fails_it_when_all_have_ended),
    CHECK_TEST(test_parallel__a_failure_may_be_reported_in_its_place),
    CHECK_TEST(test_parallel__fails_when_all_fail_whatever_is_reported),
    CHECK_TEST(test_parallel__a_late_member_is_a_failed_one),
    CHECK_TEST(test_parallel__its_own_time_stops_all_of_it),
    CHECK_TEST(test_parallel__any_takes_the_first_success_and_stops_the_rest),
    CHECK_TEST(test_parallel__any_fails_when_none_succeeds),
    CHECK_TEST(test_parallel__race_takes_the_first_to_end),
    CHECK_TEST(test_parallel__race_is_lost_by_a_failure_that_comes_first),
    CHECK_TEST(test_parallel__one_key_of_two_is_a_mistake_without_a_reducer),
    CHECK_TEST(test_parallel__one_key_of_two_is_merged_in_the_files_order),
    CHECK_TEST(test_parallel__tells_what_is_wrong_with_its_text),
    CHECK_TEST(test_parallel__tells_words_it_does_not_know),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/parallel", tests);
}
