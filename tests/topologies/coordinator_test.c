// The coordinator: members are tools of the entry's model; what they are told, what
// comes back, and what is kept out of the conversation.
#include "support/check.h"
#include "support/written_team.h"

#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

#define HEAD                                                                           \
    "agents:\n"                                                                        \
    "  team: {type: coordinator, members: [boss, ann, bert]}\n"                        \
    "  boss: {model: driven/test}\n"

static const char plain[] =
    HEAD "  ann: {model: driven/test, description: Looks things up}\n"
         "  bert: {model: driven/test, description: Writes}\n";

static void check_answer(const char *text)
{
    team_case_check_answer(&t, "boss", text);
}

// --- What each is shown ---

static void test_coordinator__members_are_tools_with_their_descriptions(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"what is 7?\"}", "say Seven is a number.");
    DRIVEN("ann", "say a number");
    team_case_run(&t, "hi");
    check_answer("Seven is a number.");
    CHECK_TEXT(driven_tools("boss", 0), "ann, bert");
    CHECK_TEXT(driven_tools("ann", 0), "");
    CHECK_TEXT(driven_request("ann", 0), "user: what is 7?\n");
    CHECK_CONTAINS(driven_request("boss", 1), ": a number\n");
    CHECK_INT(driven_count("bert"), 0);
    written_team_check_agents(&t, "team root completed final\n"
                                  "  boss boss#1 completed final\n"
                                  "    ann ann#1 completed final\n");
    team_case_close(&t);
}

// The main conversation holds what was asked and answered, and nothing a member wrote.
static void test_coordinator__nothing_of_a_member_is_in_the_conversation(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "say Let me see.\ncall ann {\"request\":\"7?\"}", "say It is odd.",
           "say Still odd.");
    DRIVEN("ann", "call nosuch {}", "say odd");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .session = "s"));
    written_team_check_said(&t, "user: hi\nboss: Let me see.[ann]\ntool ann: odd\n"
                                "boss: It is odd.\n");
    for (size_t i = 0; i < t.recorder.n_events; i++)
        if (t.recorder.events[i].is_main)
            CHECK(strcmp(t.recorder.events[i].agent, "ann") != 0);
    team_case_run_with(&t, CADRE_RUN(.input = "and now?", .session = "s"));
    CHECK_LACKS(driven_request("boss", 2), "nosuch");
    check_answer("Still odd.");
    team_case_close(&t);
}

static void add_calculator(void)
{
    team_case_open(&t);
    team_case_add_adder(&t, &adds);
    atomic_store(&adds.n_runs, 0);
    cadre_team_add_topology(
        t.team, "coordinator",
        CADRE_TOPOLOGY(.name = "team", .members = CADRE_NAMES("boss", "ann")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "boss", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "ann", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
}

// Else it would ask for the same again and again.
static void test_coordinator__a_member_sees_the_results_of_its_own_tools(void)
{
    add_calculator();
    DRIVEN("boss", "call ann {\"request\":\"3 and 4?\"}", "say Seven.");
    DRIVEN("ann", "say I add.\ncall add {\"a\":3,\"b\":4}",
           "call add {\"a\":7,\"b\":1}", "say 7, then 8");
    team_case_run(&t, "hi");
    check_answer("Seven.");
    CHECK_INT(atomic_load(&adds.n_runs), 2);
    CHECK_INT(driven_count("ann"), 3);
    const char *last = driven_request("ann", 2);
    const char *first_result = strstr(last, ": 7\n");
    CHECK(strncmp(last, "user: 3 and 4?\nassistant: I add.\ncall ", 38) == 0);
    CHECK(first_result != NULL && strstr(first_result, ": 8\n") != NULL);
    team_case_close(&t);
}

// Of a member that worked in turns only the last answer counts.
static void test_coordinator__the_result_is_the_final_answer_once(void)
{
    add_calculator();
    DRIVEN("boss", "call ann {\"request\":\"3 and 4?\"}", "say Seven.");
    DRIVEN("ann", "say DRAFT\ncall add {\"a\":3,\"b\":4}", "say final word");
    team_case_run(&t, "hi");
    check_answer("Seven.");
    CHECK_CONTAINS(driven_request("boss", 1), ": final word\n");
    CHECK_LACKS(driven_request("boss", 1), "DRAFT");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "ann: add ok 7\nboss: ann ok final word\n");
    team_case_close(&t);
}

// --- Several, and again ---

// The first to be called is the last to answer.
static void test_coordinator__results_come_in_the_order_of_the_calls(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}\ncall bert {\"request\":\"b\"}",
           "say Both.");
    DRIVEN("ann", "gate\nsay from ann");
    DRIVEN("bert", "say from bert");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    if (written_team_read_until(&t, CADRE_EVENT_FRAME_END, "bert", 1))
        CHECK(driven_await_held(1));
    driven_release();
    team_case_finish(&t);
    check_answer("Both.");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "boss: bert ok from bert\nboss: ann ok from ann\n");
    const char *ann = strstr(driven_request("boss", 1), ": from ann\n");
    CHECK(ann != NULL && strstr(ann, ": from bert\n") != NULL);
    written_team_check_said(&t, "user: hi\nboss: [ann][bert]\ntool bert: from bert\n"
                                "tool ann: from ann\nboss: Both.\n");
    team_case_close(&t);
}

// All are under way before any of them goes on, so the turn takes what the slowest
// does.
static void test_coordinator__members_of_a_turn_work_at_the_same_time(void)
{
    if (!written_team_open_fake(&t, plain))
        return;
    DRIVEN("boss",
           "call ann {\"request\":\"a\"}\ncall bert {\"request\":\"b\"}\n"
           "call ann {\"request\":\"c\"}",
           "say All.");
    DRIVEN("ann", "gate\nsay from ann", "gate\nsay from ann");
    DRIVEN("bert", "gate\nsay from bert");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(3));
    cdr_clock_advance(t.clock, 5000);
    driven_release();
    team_case_finish(&t);
    check_answer("All.");
    CHECK_INT(t.result->duration_ms, 5000);
    team_case_close(&t);
}

static void test_coordinator__a_member_asked_again_starts_afresh(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"first\"}",
           "call ann {\"request\":\"second\"}", "say Done.");
    DRIVEN("ann", "say one", "say two");
    team_case_run(&t, "hi");
    check_answer("Done.");
    CHECK_TEXT(driven_request("ann", 1), "user: second\n");
    const char *one = strstr(driven_request("boss", 2), ": one\n");
    CHECK(one != NULL && strstr(one, ": two\n") != NULL);
    written_team_check_agents(&t, "team root completed final\n"
                                  "  boss boss#1 completed final\n"
                                  "    ann ann#1 completed final\n"
                                  "    ann ann#1 completed final\n");
    team_case_close(&t);
}

static void test_coordinator__a_member_may_be_asked_twice_in_one_turn(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"left\"}\ncall ann {\"request\":\"right\"}",
           "say Done.");
    DRIVEN("ann", "say one", "say other");
    team_case_run(&t, "hi");
    check_answer("Done.");
    const char *first = driven_request("ann", 0);
    const char *second = driven_request("ann", 1);
    bool left_first = strcmp(first, "user: left\n") == 0;
    CHECK_TEXT(first, left_first ? "user: left\n" : "user: right\n");
    CHECK_TEXT(second, left_first ? "user: right\n" : "user: left\n");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 2);
    team_case_close(&t);
}

// --- Failing ---

static void test_coordinator__a_failed_member_is_a_result_beside_the_others(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}\ncall bert {\"request\":\"b\"}",
           "call ann {\"request\":\"again\"}", "say Made the best of it.");
    DRIVEN("ann", "fail auth key refused", "say better");
    DRIVEN("bert", "say from bert");
    team_case_run(&t, "hi");
    check_answer("Made the best of it.");
    const char *request = driven_request("boss", 1);
    CHECK_CONTAINS(request, "agent 'ann': model 'driven/test': key refused");
    CHECK_CONTAINS(request, ": from bert\n");
    CHECK_CONTAINS(driven_request("boss", 2), ": better\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "boss: ann tool_error ");
    team_case_close(&t);
}

static void test_coordinator__a_failed_entry_fails_it(void)
{
    if (!written_team_open(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}", "fail auth key refused");
    DRIVEN("ann", "say one");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.result->error.agent, "boss");
    written_team_check_agents(&t, "team root failed error\n"
                                  "  boss boss#1 failed error\n"
                                  "    ann ann#1 completed final\n");
    team_case_close(&t);
}

static void test_coordinator__a_member_has_its_own_time(void)
{
    if (!written_team_open_fake(&t, HEAD "  ann: {model: driven/test, timeout: 10s}\n"
                                         "  bert: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}\ncall bert {\"request\":\"b\"}",
           "say Without ann.");
    DRIVEN("ann", "hold");
    DRIVEN("bert", "say from bert");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(written_team_read_until(&t, CADRE_EVENT_FRAME_END, "bert", 1));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 10000);
    team_case_finish(&t);
    check_answer("Without ann.");
    CHECK_CONTAINS(driven_request("boss", 1), ": from bert\n");
    CHECK_CONTAINS(driven_request("boss", 1), "10");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "ann: timeout timeout ");
    team_case_close(&t);
}

// A member works longer than tools may: its time is its own, not 60 s.
static void test_coordinator__no_tools_time_ends_a_member(void)
{
    if (!written_team_open_fake(&t, plain))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}", "say Done.");
    DRIVEN("ann", "gate\nsay slow but sure");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cdr_clock_advance(t.clock, 3600000);
    driven_release();
    team_case_finish(&t);
    check_answer("Done.");
    CHECK_CONTAINS(driven_request("boss", 1), ": slow but sure\n");
    team_case_close(&t);
}

static void test_coordinator__a_member_with_retry_is_tried_again(void)
{
    if (!written_team_open(&t,
                           HEAD "  ann: {model: driven/test, retry: {attempts: 2}}\n"
                                "  bert: {model: driven/test}\n"))
        return;
    DRIVEN("boss", "call ann {\"request\":\"a\"}", "say Done.");
    DRIVEN("ann", "fail auth key refused", "say second try");
    team_case_run(&t, "hi");
    check_answer("Done.");
    CHECK_CONTAINS(driven_request("boss", 1), ": second try\n");
    CHECK_LACKS(driven_request("boss", 1), "refused");
    written_team_check_agents(&t, "team root completed final\n"
                                  "  boss boss#1 completed final\n"
                                  "    ann ann#1 failed error\n"
                                  "    ann ann#1~2 completed final\n");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_coordinator__members_are_tools_with_their_descriptions),
    CHECK_TEST(test_coordinator__nothing_of_a_member_is_in_the_conversation),
    CHECK_TEST(test_coordinator__a_member_sees_the_results_of_its_own_tools),
    CHECK_TEST(test_coordinator__the_result_is_the_final_answer_once),
    CHECK_TEST(test_coordinator__results_come_in_the_order_of_the_calls),
    CHECK_TEST(test_coordinator__members_of_a_turn_work_at_the_same_time),
    CHECK_TEST(test_coordinator__a_member_asked_again_starts_afresh),
    CHECK_TEST(test_coordinator__a_member_may_be_asked_twice_in_one_turn),
    CHECK_TEST(test_coordinator__a_failed_member_is_a_result_beside_the_others),
    CHECK_TEST(test_coordinator__a_failed_entry_fails_it),
    CHECK_TEST(test_coordinator__a_member_has_its_own_time),
    CHECK_TEST(test_coordinator__no_tools_time_ends_a_member),
    CHECK_TEST(test_coordinator__a_member_with_retry_is_tried_again),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/coordinator", tests);
}
