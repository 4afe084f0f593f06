// Handing over: what is accepted, what is refused, and what everybody reads of it.
#include "support/check.h"
#include "support/folder.h"
#include "support/team_case.h"

#include "base/pool.h"
#include "team/runtime.h"

#include <stdio.h>
#include <stdlib.h>

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

static void test_handoff__gives_the_message_to_the_target_as_a_user_turn(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to bob order 1042");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: order 1042\n");
    check_transfers("alice: alice bob done\n");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent desk root completed final\n"
                       "  agent alice alice#1 completed final\n"
                       "    model driven/test 1 completed final\n"
                       "    tool transfer_to_agent 1/0 completed final\n"
                       "    agent bob transfer completed final\n"
                       "      model driven/test 1 completed final\n");
    free(frames);
    team_case_close(&t);
}

static void test_handoff__adds_nothing_without_a_message(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to bob");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\n");
    team_case_close(&t);
}

static void test_handoff__accepts_names_in_other_case_and_in_quotes(void)
{
    static const char *const names[] = {"BOB", "\\\"Bob\\\"", "'bob'", "` bob `"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char reply[120];
        snprintf(reply, sizeof reply, "call transfer_to_agent {\"agent\":\"%s\"}",
                 names[i]);
        open_desk(NULL);
        DRIVEN("alice", reply);
        DRIVEN("bob", "say done");
        team_case_run(&t, "hi");
        check_answer("bob", "done");
        team_case_close(&t);
    }
}

static void test_handoff__understands_the_targets_name_called_as_a_tool(void)
{
    open_desk(NULL);
    DRIVEN("alice", "call bob {\"request\":\"order 7\"}");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: order 7\n");
    team_case_close(&t);
}

static void test_handoff__answers_a_transfer_to_oneself_and_goes_on(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to alice", "say me then");
    team_case_run(&t, "hi");
    check_answer("alice", "me then");
    check_transfers("alice: alice alice self\n");
    CHECK_CONTAINS(driven_request("alice", 1), "You are 'alice' already");
    CHECK_CONTAINS(driven_request("alice", 1), "bob, carol");
    team_case_close(&t);
}

static void test_handoff__lists_the_names_for_an_unknown_target_and_goes_on(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to accounting", "to bob");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_CONTAINS(driven_request("alice", 1),
                   "There is no agent 'accounting' to hand over to from here. Agents: "
                   "bob, carol.");
    CHECK_INT(driven_count("alice"), 2);
    check_transfers("alice: alice accounting unknown\nalice: alice bob done\n");
    team_case_close(&t);
}

static void test_handoff__refuses_a_member_without_an_edge_as_unknown(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to carol");
    DRIVEN("carol", "to bob", "say carol");
    team_case_run(&t, "hi");
    check_answer("carol", "carol");
    CHECK_CONTAINS(driven_request("carol", 1), "Agents: alice.");
    team_case_close(&t);
}

static void test_handoff__first_valid_transfer_of_a_turn_wins(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to nobody\nto bob first\nto carol second");
    DRIVEN("bob", "to carol", "say never");
    DRIVEN("carol", "say done");
    team_case_run(&t, "hi");
    check_answer("carol", "done");
    check_transfers("alice: alice nobody unknown\nalice: alice bob done\n"
                    "alice: alice carol superseded\nbob: bob carol done\n");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 4);
    CHECK_CONTAINS(
        recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
        "Not handed over to carol: this turn was handed over to bob already.");
    CHECK_LACKS(driven_request("bob", 0), "second");
    team_case_close(&t);
}

static void check_tool_beside(const char *reply)
{
    open_desk(NULL);
    DRIVEN("alice", reply);
    DRIVEN("bob", "say 7 it is");
    team_case_run(&t, "3 and 4?");
    check_answer("bob", "7 it is");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    CHECK_TEXT(driven_request("bob", 0),
               "user: 3 and 4?\nuser: [alice] add({\"a\":3,\"b\":4}) -> 7\n");
    team_case_close(&t);
}

static void test_handoff__runs_the_turns_tools_in_either_order(void)
{
    check_tool_beside("to bob\ncall add {\"a\":3,\"b\":4}");
    check_tool_beside("call add {\"a\":3,\"b\":4}\nto bob");
}

static void test_handoff__shows_a_line_for_each_other_tool(void)
{
    open_desk(NULL);
    DRIVEN("alice",
           "call add {\"a\":1,\"b\":1}\nto bob see\ncall add {\"a\":2,\"b\":2}");
    DRIVEN("bob", "to carol");
    DRIVEN("carol", "say ok");
    team_case_run(&t, "hi");
    CHECK_INT(atomic_load(&adds.n_runs), 2);
    CHECK_TEXT(driven_request("bob", 0), "user: hi\n"
                                         "user: [alice] add({\"a\":1,\"b\":1}) -> 2\n"
                                         "[alice] add({\"a\":2,\"b\":2}) -> 4\n"
                                         "user: see\n");
    // Others do not see it.
    CHECK_TEXT(driven_request("carol", 0), "user: hi\n");
    team_case_close(&t);
}

static void test_handoff__shows_what_was_said_when_handing_over(void)
{
    open_desk(NULL);
    DRIVEN("alice", "say I will connect you.\nto bob");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0),
               "user: hi\nuser: [alice]: I will connect you.\n");
    team_case_close(&t);
}

// --- Sessions, history, returns ---

static void test_handoff__next_user_turn_starts_at_the_last_speaker(void)
{
    open_desk(NULL);
    DRIVEN("alice", "to bob");
    DRIVEN("bob", "say one", "say two");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    check_answer("bob", "one");
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("bob", "two");
    CHECK_INT(driven_count("alice"), 1);
    CHECK_TEXT(driven_request("bob", 1), "user: first\nassistant: one\nuser: second\n");
    team_case_close(&t);
}

static void test_handoff__not_sticky_starts_at_the_entry_again(void)
{
    open_desk("{\"sticky\": false}");
    DRIVEN("alice", "to bob", "say back");
    DRIVEN("bob", "say one");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("alice", "back");
    team_case_close(&t);
}

static void test_handoff__return_to_source_gives_the_last_word_back(void)
{
    open_desk("{\"return_to_source\": true}");
    DRIVEN("alice", "to bob", "say summed up");
    DRIVEN("bob", "to carol", "say bob again");
    DRIVEN("carol", "say from carol");
    team_case_run(&t, "hi");
    check_answer("alice", "summed up");
    CHECK_CONTAINS(driven_request("bob", 1), "user: [carol]: from carol\n");
    CHECK_CONTAINS(driven_request("alice", 1), "user: [bob]: bob again\n");
    team_case_close(&t);
}

static void write_desk_file(test_folder *folder, const char *history,
                            char path[FOLDER_PATH_SIZE])
{
    char text[600];
    snprintf(text, sizeof text,
             "version: 1\nname: team\nagents:\n"
             "  desk: {type: handoff, entry: alice, members: [alice, bob]}\n"
             "  alice: {model: driven/test, handoffs: [{to: bob, history: %s}]}\n"
             "  bob: {model: driven/test, handoffs: [alice]}\n",
             history);
    folder_make(folder);
    folder_write(folder, "team.yaml", text, path);
}

static void check_edge_history(const char *history, const char *expected)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    write_desk_file(&folder, history, path);
    team_case_open(&t);
    cadre_team_free(t.team);
    t.team = NULL;
    CHECK_OK(cadre_team_load(t.runtime, path, &t.team, &t.err), &t.err);
    DRIVEN("alice", "say hello", "to bob order 7");
    DRIVEN("bob", "say done");
    team_case_run_with(&t, CADRE_RUN(.input = "first", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "second", .session = "s"));
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0), expected);
    folder_remove(&folder);
    team_case_close(&t);
}

static void test_handoff__target_sees_what_the_edge_says(void)
{
    check_edge_history("all", "user: first\nuser: [alice]: hello\nuser: second\n"
                              "user: order 7\n");
    check_edge_history("own", "user: first\nuser: second\nuser: order 7\n");
    check_edge_history("last", "user: second\nuser: order 7\n");
    check_edge_history("none", "user: order 7\n");
}

// --- Length ---

typedef struct relay {
    int left;
    uintptr_t stack_low, stack_high; // where its frames stood
} relay;

static cadre_status pass_on(void *ctx, cadre_frame *frame, cadre_error *err)
{
    relay *self = ctx;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (self->stack_low == 0 || here < self->stack_low)
        self->stack_low = here;
    if (here > self->stack_high)
        self->stack_high = here;
    if (self->left-- == 0)
        return cadre_frame_set_output(frame, "arrived", err);
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_targets(frame).items[0]), err);
}

static void test_handoff__ten_thousand_transfers_on_one_stack(void)
{
    relay self = {.left = 10000};
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob"),
                       .options = "{\"max_handoffs\": \"unlimited\", \"window\": "
                                  "\"unlimited\", \"repeat\": \"unlimited\"}"));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "alice", .run = pass_on,
                                                   .ctx = &self,
                                                   .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "bob", .run = pass_on, .ctx = &self,
                                           .handoffs = CADRE_NAMES("alice")));
    if (team_case_start(&t, CADRE_RUN(.input = "go")) == NULL)
        return;
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    check_answer("alice", "arrived");
    CHECK_INT(self.stack_high - self.stack_low, 0);
    CHECK_INT(cdr_pool_thread_count(t.runtime->pool), 1);
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, &t.err), &t.err);
    CHECK_INT(n, 10002);
    CHECK_INT(frames[n - 1].depth, 10001);
    team_case_close(&t);
}

// --- From C ---

static cadre_status hand_over_twice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    json_t *order = json_pack("{s:i}", "order", 7);
    const cadre_agent *bob = cadre_frame_find(frame, "bob");
    cadre_status status =
        cadre_frame_transfer(frame, CADRE_CALL(.agent = bob, .json = order), err);
    json_decref(order);
    if (status != CADRE_OK)
        return status;
    cadre_error refused = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_frame_transfer(frame, CADRE_CALL(.agent = bob), &refused),
                 CADRE_EREFUSED, &refused);
    CHECK_STATUS(cadre_frame_transfer(
                     frame, CADRE_CALL(.agent = cadre_frame_agent(frame)), NULL),
                 CADRE_EREFUSED, NULL);
    return CADRE_OK;
}

static void test_handoff__c_agent_hands_over_once_with_json(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "alice", .run = hand_over_twice));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: {\"order\":7}\n");
    team_case_close(&t);
}

// alice hands over to the team "back", whose entry bob may hand over to carol.
static void open_nested(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "back")));
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "back", .members = CADRE_NAMES("bob", "carol")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "carol", .model = DRIVEN_MODEL,
                                         .history = CADRE_HISTORY_NONE));
}

static void test_handoff__a_team_is_a_target_and_its_members_read_the_message(void)
{
    open_nested();
    DRIVEN("alice", "to back order 7");
    DRIVEN("bob", "to alice", "to carol");
    DRIVEN("carol", "say done");
    team_case_run(&t, "hi");
    check_answer("carol", "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: order 7\n");
    // A team answers; it cannot hand over out of itself.
    CHECK_CONTAINS(driven_request("bob", 1), "There is no agent 'alice'");
    CHECK_TEXT(driven_tools("carol", 0), "");
    CHECK_TEXT(driven_request("carol", 0), "user: order 7\n");
    check_transfers("alice: alice back done\nbob: bob alice unknown\n"
                    "bob: bob carol done\n");
    team_case_close(&t);
}

static void test_handoff__next_user_turn_starts_in_the_team_that_spoke(void)
{
    open_nested();
    DRIVEN("alice", "to back order 7");
    DRIVEN("bob", "say one", "say two");
    team_case_run_with(&t, CADRE_RUN(.input = "u1", .session = "s"));
    check_answer("bob", "one");
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    check_answer("bob", "two");
    CHECK_INT(driven_count("alice"), 1);
    CHECK_TEXT(driven_request("bob", 1),
               "user: u1\nuser: order 7\nassistant: one\nuser: u2\n");
    team_case_close(&t);
}

static cadre_status route(void *ctx, cadre_frame *frame, const json_t *arguments,
                          cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_request_transfer(frame, "bob", "routed", err);
    if (status == CADRE_OK && json_object_get(arguments, "fails") != NULL)
        return cadre_fail(err, CADRE_EIO, "route is down");
    return status;
}

static void test_handoff__any_tool_may_ask_for_it_and_a_failed_one_does_not(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "route", .description = "Routes",
                                           .run = route,
                                           .parameters = "{\"type\":\"object\"}"));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("route")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", "call route {\"fails\":1}", "call route");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("bob", "done");
    CHECK_CONTAINS(driven_request("alice", 1), "tool call00001: route is down\n");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: routed\n");
    team_case_close(&t);
}

static cadre_status ask_desk_twice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_agent *desk = cadre_frame_find(frame, "desk");
    cadre_outcome out;
    for (int i = 0; i < 2; i++) {
        cadre_status status = cadre_frame_call(
            frame, CADRE_CALL(.agent = desk, .input = "x", .key = "desk"), &out, err);
        if (status != CADRE_OK)
            return status;
        CHECK_TEXT(out.text, "done");
        CHECK_TEXT(out.agent, "bob");
    }
    return cadre_frame_set_output(frame, out.text, err);
}

static void test_handoff__a_record_has_the_last_ones_answer(void)
{
    team_case_open(&t);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = ask_desk_twice,
                                           .members = CADRE_NAMES("desk")));
    cadre_team_set_root(t.team, "lead");
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", "to bob");
    DRIVEN("bob", "say done");
    team_case_run(&t, "hi");
    check_answer("lead", "done");
    CHECK_INT(driven_count("bob"), 1);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_handoff__gives_the_message_to_the_target_as_a_user_turn),
    CHECK_TEST(test_handoff__adds_nothing_without_a_message),
    CHECK_TEST(test_handoff__accepts_names_in_other_case_and_in_quotes),
    CHECK_TEST(test_handoff__understands_the_targets_name_called_as_a_tool),
    CHECK_TEST(test_handoff__answers_a_transfer_to_oneself_and_goes_on),
    CHECK_TEST(test_handoff__lists_the_names_for_an_unknown_target_and_goes_on),
    CHECK_TEST(test_handoff__refuses_a_member_without_an_edge_as_unknown),
    CHECK_TEST(test_handoff__first_valid_transfer_of_a_turn_wins),
    CHECK_TEST(test_handoff__runs_the_turns_tools_in_either_order),
    CHECK_TEST(test_handoff__shows_a_line_for_each_other_tool),
    CHECK_TEST(test_handoff__shows_what_was_said_when_handing_over),
    CHECK_TEST(test_handoff__next_user_turn_starts_at_the_last_speaker),
    CHECK_TEST(test_handoff__not_sticky_starts_at_the_entry_again),
    CHECK_TEST(test_handoff__return_to_source_gives_the_last_word_back),
    CHECK_TEST(test_handoff__target_sees_what_the_edge_says),
    CHECK_TEST(test_handoff__ten_thousand_transfers_on_one_stack),
    CHECK_TEST(test_handoff__c_agent_hands_over_once_with_json),
    CHECK_TEST(test_handoff__a_team_is_a_target_and_its_members_read_the_message),
    CHECK_TEST(test_handoff__next_user_turn_starts_in_the_team_that_spoke),
    CHECK_TEST(test_handoff__any_tool_may_ask_for_it_and_a_failed_one_does_not),
    CHECK_TEST(test_handoff__a_record_has_the_last_ones_answer),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/handoff", tests);
}
