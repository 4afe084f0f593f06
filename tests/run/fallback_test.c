// Loop fallback: who answers when an agent's loop came to no end, what it is told, and
// where it may go from there.
#include "support/check.h"
#include "support/folder.h"
#include "support/recorded.h"
#include "support/team_case.h"

#include "team/team.h"

#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

static void add_agent(cadre_llm llm)
{
    llm.struct_size = sizeof llm;
    if (llm.model == NULL)
        llm.model = DRIVEN_MODEL;
    cadre_team_add_llm(t.team, &llm);
}

static void open_case(void)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
}

// A root "solo" with the adder that falls back to "expert".
static void open_solo(cadre_llm llm)
{
    const cadre_names tools = CADRE_NAMES("add");
    open_case();
    llm.name = "solo";
    llm.tools = tools;
    llm.loop_fallback = "expert";
    add_agent(llm);
    add_agent((cadre_llm){.name = "expert", .instructions = "You know."});
    cadre_team_set_root(t.team, "solo");
}

static void check_answered_by(const char *agent, const char *text)
{
    team_case_check_answer(&t, agent, text);
}

static void check_transfers(const char *expected)
{
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), expected);
}

// --- What it is for ---

static void test_fallback__answers_after_max_turns_with_all_rounds_as_one_message(void)
{
    open_solo((cadre_llm){.max_turns = 2});
    DRIVEN("solo", "say let me see\ncall add {\"a\":1,\"b\":2}\ncall add {\"a\":3}",
           "call add {\"a\":3,\"b\":4}");
    DRIVEN("expert", "say it is 7");
    team_case_run(&t, "3 and 4?");
    check_answered_by("expert", "it is 7");
    CHECK_INT(driven_count("solo"), 2);
    CHECK_TEXT(
        driven_request("expert", 0),
        "user: solo came to no end with this conversation. Answer in its place.\n"
        "\n[user]: 3 and 4?\n"
        "\n[solo]: let me see\n"
        "\n[solo] add({\"a\":1,\"b\":2}) -> 3\n"
        "\n[solo] add({\"a\":3}) -> missing property 'b'\n"
        "\n[solo] add({\"a\":3,\"b\":4}) -> 7\n");
    CHECK_TEXT(driven_system("expert", 0), "You know.");
    check_transfers("solo: solo expert done\n");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent solo root completed final\n"
                       "  model driven/test 1 completed final\n"
                       "  tool add 1/0 completed final\n"
                       "  tool add 1/1 failed error\n"
                       "  model driven/test 2 completed final\n"
                       "  tool add 2/0 completed final\n"
                       "  agent expert transfer completed final\n"
                       "    model driven/test 1 completed final\n");
    free(frames);
    team_case_close(&t);
}

static void test_fallback__answers_after_max_bad_calls(void)
{
    open_solo((cadre_llm){.max_bad_calls = 2});
    DRIVEN("solo", "always\nsay hm\ncall nothing");
    DRIVEN("expert", "say mine");
    team_case_run(&t, "hi");
    check_answered_by("expert", "mine");
    CHECK_INT(driven_count("solo"), 2);
    team_case_close(&t);
}

static void test_fallback__answers_when_the_guard_has_blocked_enough(void)
{
    open_solo((cadre_llm){.max_bad_calls = 1});
    DRIVEN("solo", "always\ncall add {\"a\":1,\"b\":1}");
    DRIVEN("expert", "say two");
    team_case_run(&t, "hi");
    check_answered_by("expert", "two");
    CHECK_INT(atomic_load(&adds.n_runs), 4);
    CHECK_CONTAINS(driven_request("expert", 0),
                   "-> Not done: this call was made 4 times");
    team_case_close(&t);
}

static void test_fallback__answers_when_a_model_call_failed_for_good(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}", "fail auth no such key");
    DRIVEN("expert", "say two");
    team_case_run(&t, "hi");
    check_answered_by("expert", "two");
    CHECK_TEXT(
        driven_request("expert", 0),
        "user: solo came to no end with this conversation. Answer in its place.\n"
        "\n[user]: hi\n"
        "\n[solo] add({\"a\":1,\"b\":1}) -> 2\n");
    CHECK_INT(t.result->usage.model_calls, 3);
    team_case_close(&t);
}

static void test_fallback__says_in_the_event_why(void)
{
    const cadre_event *event = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    int n_transfers = 0;
    open_solo((cadre_llm){.max_turns = 1});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}");
    DRIVEN("expert", "say two");
    cadre_run *run = team_case_start(&t, CADRE_RUN(.input = "hi"));
    while (run != NULL && cadre_run_next(run, &event, &err) == CADRE_OK) {
        if (event->type != CADRE_EVENT_TRANSFER)
            continue;
        n_transfers++;
        CHECK_TEXT(event->agent, "solo");
        CHECK_TEXT(event->u.transfer.to, "expert");
        CHECK_TEXT(event->u.transfer.message, "");
        CHECK_TEXT(event->u.transfer.decision, "done");
        CHECK_TEXT(event->u.transfer.reason,
                   "agent 'solo': no answer after 1 turns (max_turns)");
    }
    CHECK_INT(n_transfers, 1);
    team_case_close(&t);
}

// --- When it does not answer ---

static void test_fallback__leaves_an_answer_alone(void)
{
    open_solo((cadre_llm){.max_turns = 2});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}", "say half an ans\ncut");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "half an ans");
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_INT(driven_count("expert"), 0);
    team_case_close(&t);
}

static void test_fallback__does_not_go_round_the_limits_of_the_run(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "always\ncall add {\"a\":1,\"b\":1}");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_model_calls = 2}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "max_model_calls of 2");
    CHECK_INT(driven_count("expert"), 0);
    team_case_close(&t);
}

static void test_fallback__does_not_hide_a_script_that_does_not_fit(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    cadre_runtime *runtime = NULL;
    if (!folder_make(&folder))
        return;
    folder_write(&folder, "script.yaml",
                 "agents:\n  solo: []\n  expert: [{text: mine}]\n", path);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "openai/m",
                                       .loop_fallback = "expert"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "expert", .model = "openai/m"));
    if (CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "hi"), &run, &err), &err)) {
        CHECK_STATUS(cadre_run_wait(run, &result, &err), CADRE_EFAILED, &err);
        CHECK_CONTAINS(err.text, "the script has no steps for agent 'solo'");
    }
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static void test_fallback__that_fails_is_the_failure(void)
{
    open_solo((cadre_llm){.max_turns = 1});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}");
    DRIVEN("expert", "fail auth no such key");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.result->error.agent, "expert");
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "agent solo root failed error\n");
    CHECK_CONTAINS(frames, "  agent expert transfer failed error\n");
    free(frames);
    team_case_close(&t);
}

static void test_fallback__may_have_a_fallback(void)
{
    open_solo((cadre_llm){.max_turns = 1});
    add_agent((cadre_llm){.name = "guru"});
    t.team->agents[1]->fallback_ref.name = "guru";
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}");
    DRIVEN("expert", "fail auth no such key");
    DRIVEN("guru", "say om");
    team_case_run(&t, "hi");
    check_answered_by("guru", "om");
    check_transfers("solo: solo expert done\nexpert: expert guru done\n");
    CHECK_CONTAINS(driven_request("guru", 0),
                   "user: expert came to no end with this conversation. Answer in its "
                   "place.\n\n[solo]: solo came to no end");
    team_case_close(&t);
}

// --- Within a scope ---

// A desk of alice, bob and carol; alice hands over to bob, bob to alice; `fallback` is
// alice's.
static void open_desk(const char *fallback, const char *options)
{
    const cadre_names to_bob = CADRE_NAMES("bob"), to_alice = CADRE_NAMES("alice");
    open_case();
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob", "carol"),
                       .options = options));
    add_agent((cadre_llm){.name = "alice",
                          .handoffs = to_bob,
                          .max_bad_calls = 1,
                          .loop_fallback = fallback});
    add_agent((cadre_llm){.name = "bob", .handoffs = to_alice});
    add_agent((cadre_llm){.name = "carol", .handoffs = to_bob});
    add_agent((cadre_llm){.name = "guru"});
}

static void test_fallback__needs_no_edge_and_a_member_goes_on_handing_over(void)
{
    open_desk("carol", NULL);
    DRIVEN("alice", "call nothing");
    DRIVEN("carol", "to bob please");
    DRIVEN("bob", "say bob speaks");
    team_case_run(&t, "hi");
    check_answered_by("bob", "bob speaks");
    CHECK_TEXT(driven_tools("carol", 0), "transfer_to_agent");
    check_transfers("alice: alice carol done\ncarol: carol bob done\n");
    team_case_close(&t);
}

static void test_fallback__outside_the_scope_cannot_hand_over(void)
{
    open_desk("guru", NULL);
    DRIVEN("alice", "call nothing");
    DRIVEN("guru", "to bob please", "call bob", "say om");
    team_case_run(&t, "hi");
    check_answered_by("guru", "om");
    CHECK_TEXT(driven_tools("guru", 0), "");
    CHECK_CONTAINS(driven_request("guru", 1), "There is no tool 'transfer_to_agent'.");
    team_case_close(&t);
}

static void test_fallback__is_not_counted_as_a_handover(void)
{
    open_desk("carol", "{\"max_handoffs\": 1}");
    DRIVEN("alice", "call nothing");
    DRIVEN("carol", "to bob please");
    DRIVEN("bob", "say bob speaks");
    team_case_run(&t, "hi");
    check_answered_by("bob", "bob speaks");
    team_case_close(&t);
}

static void test_fallback__returns_to_who_handed_over_to_the_agent(void)
{
    const cadre_names to_bob = CADRE_NAMES("bob"), to_alice = CADRE_NAMES("alice");
    open_case();
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob", "carol"),
                       .options = "{\"return_to_source\": true}"));
    add_agent((cadre_llm){.name = "alice", .handoffs = to_bob});
    add_agent((cadre_llm){.name = "bob",
                          .handoffs = to_alice,
                          .max_bad_calls = 1,
                          .loop_fallback = "carol"});
    add_agent((cadre_llm){.name = "carol"});
    DRIVEN("alice", "to bob please", "say alice again");
    DRIVEN("bob", "call nothing");
    DRIVEN("carol", "say carol speaks");
    team_case_run(&t, "hi");
    check_answered_by("alice", "alice again");
    CHECK_INT(driven_count("bob"), 1);
    CHECK_INT(driven_count("carol"), 1);
    team_case_close(&t);
}

static void test_fallback__is_told_what_others_said_to_the_agent(void)
{
    open_case();
    const cadre_names to_bob = CADRE_NAMES("bob"), add = CADRE_NAMES("add");
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk",
                       .members = CADRE_NAMES("alice", "bob", "carol")));
    add_agent((cadre_llm){.name = "alice", .handoffs = to_bob, .tools = add});
    add_agent((cadre_llm){.name = "bob", .max_bad_calls = 1, .loop_fallback = "carol"});
    add_agent((cadre_llm){.name = "carol"});
    DRIVEN("alice", "say bob knows\ncall add {\"a\":1,\"b\":1}\nto bob please");
    DRIVEN("bob", "call nothing");
    DRIVEN("carol", "say fine");
    team_case_run(&t, "hi");
    check_answered_by("carol", "fine");
    CHECK_TEXT(driven_request("carol", 0),
               "user: bob came to no end with this conversation. Answer in its place.\n"
               "\n[user]: hi\n"
               "\n[alice]: bob knows\n"
               "\n[alice] add({\"a\":1,\"b\":1}) -> 2\n"
               "\n[alice]: please\n"
               "\n[bob] nothing({}) -> There is no tool 'nothing'. Tools: none.\n");
    team_case_close(&t);
}

// --- Without one ---

// Calls its first member, then its second with what the first gave.
static cadre_status chain(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_outcome first;
    (void)ctx;
    cadre_status status =
        cadre_frame_delegate(frame, CADRE_CALL(.agent = members.items[0]), &first, err);
    if (status != CADRE_OK)
        return status;
    const char *input =
        cadre_frame_printf(frame, "%s said: %s", first.agent, first.text);
    status = cadre_frame_call(
        frame, CADRE_CALL(.agent = members.items[1], .input = input), &first, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, first.text, err) : status;
}

static void test_fallback__answers_in_the_place_of_a_member(void)
{
    open_case();
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "chain", .run = chain,
                                           .members = CADRE_NAMES("one", "two")));
    add_agent((cadre_llm){.name = "one", .max_bad_calls = 1, .loop_fallback = "guru"});
    add_agent((cadre_llm){.name = "two", .max_bad_calls = 1, .loop_fallback = "guru"});
    add_agent((cadre_llm){.name = "guru"});
    cadre_team_set_root(t.team, "chain");
    DRIVEN("one", "call nothing");
    DRIVEN("two", "call nothing");
    DRIVEN("guru", "say om", "say om om");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "om om");
    CHECK_CONTAINS(driven_request("guru", 1), "[chain]: guru said: om\n");
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "  agent one one#1 completed final\n");
    CHECK_CONTAINS(frames, "    agent guru transfer completed final\n");
    CHECK_CONTAINS(frames, "  agent two two#1 completed final\n");
    free(frames);
    team_case_close(&t);
}

static void test_fallback__may_be_a_team(void)
{
    open_case();
    add_agent((cadre_llm){.name = "solo", .max_bad_calls = 1, .loop_fallback = "desk"});
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob"});
    DRIVEN("solo", "call nothing");
    DRIVEN("alice", "to bob please");
    DRIVEN("bob", "say bob speaks");
    team_case_run(&t, "hi");
    check_answered_by("bob", "bob speaks");
    CHECK_CONTAINS(driven_request("alice", 0), "solo came to no end");
    team_case_close(&t);
}

// --- Mistakes ---

static void check_refused(const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(t.team, &n);
    CHECK_INT(n, 1);
    CHECK_TEXT(n > 0 ? problems[0] : "", expected);
    team_case_close(&t);
}

static void test_fallback__to_an_unknown_agent_is_a_mistake(void)
{
    team_case_open(&t);
    add_agent((cadre_llm){.name = "solo", .loop_fallback = "exper"});
    add_agent((cadre_llm){.name = "expert"});
    check_refused("agent 'solo': loop_fallback: unknown agent 'exper'; did you mean "
                  "'expert'? (agents: solo, expert)");
}

static void test_fallback__to_itself_is_a_mistake(void)
{
    team_case_open(&t);
    add_agent((cadre_llm){.name = "solo", .loop_fallback = "solo"});
    check_refused("agent 'solo': loop_fallback: an agent cannot fall back to itself");
}

static void test_fallback__in_a_circle_is_a_mistake(void)
{
    team_case_open(&t);
    add_agent((cadre_llm){.name = "a", .loop_fallback = "b"});
    add_agent((cadre_llm){.name = "b", .loop_fallback = "c"});
    add_agent((cadre_llm){.name = "c", .loop_fallback = "b"});
    check_refused("agent 'b': by members and loop_fallback it leads back to itself: "
                  "b -> c -> b");
}

static void test_fallback__to_a_team_it_is_in_is_a_mistake(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob", .loop_fallback = "desk"});
    check_refused("agent 'desk': by members and loop_fallback it leads back to itself: "
                  "desk -> bob -> desk");
}

static void test_fallback__of_a_topology_is_a_mistake_and_no_root_of_the_team(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    size_t n = 0;
    team_case_open(&t);
    if (!folder_make(&folder))
        return;
    folder_write(&folder, "team.yaml",
                 "agents:\n"
                 "  desk: {type: handoff, members: [solo], loop_fallback: solo}\n"
                 "  solo: {model: openai/m}\n",
                 path);
    CHECK_STATUS(cadre_team_load(t.runtime, path, &team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    CHECK_INT(n, 1);
    CHECK_CONTAINS(
        n > 0 ? problems[0] : "",
        "team.yaml:2:57: agents.desk.loop_fallback: a handoff has no loop of "
        "its own, its members do; leave it out");
    cadre_team_free(team);
    folder_write(&folder, "team.yaml",
                 "agents:\n"
                 "  solo: {model: openai/m, loop_fallback: desk}\n"
                 "  desk: {type: handoff, members: [alice]}\n"
                 "  alice: {model: openai/m}\n",
                 path);
    cadre_error_clear(&err);
    CHECK_OK(cadre_team_load(t.runtime, path, &team, &err), &err);
    CHECK_TEXT(cadre_agent_get_info(cadre_team_root(team))->name, "solo");
    cadre_team_notes(team, &n);
    CHECK_INT(n, 0);
    cadre_team_free(team);
    folder_remove(&folder);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_fallback__answers_after_max_turns_with_all_rounds_as_one_message),
    CHECK_TEST(test_fallback__answers_after_max_bad_calls),
    CHECK_TEST(test_fallback__answers_when_the_guard_has_blocked_enough),
    CHECK_TEST(test_fallback__answers_when_a_model_call_failed_for_good),
    CHECK_TEST(test_fallback__says_in_the_event_why),
    CHECK_TEST(test_fallback__leaves_an_answer_alone),
    CHECK_TEST(test_fallback__does_not_go_round_the_limits_of_the_run),
    CHECK_TEST(test_fallback__does_not_hide_a_script_that_does_not_fit),
    CHECK_TEST(test_fallback__that_fails_is_the_failure),
    CHECK_TEST(test_fallback__may_have_a_fallback),
    CHECK_TEST(test_fallback__needs_no_edge_and_a_member_goes_on_handing_over),
    CHECK_TEST(test_fallback__outside_the_scope_cannot_hand_over),
    CHECK_TEST(test_fallback__is_not_counted_as_a_handover),
    CHECK_TEST(test_fallback__returns_to_who_handed_over_to_the_agent),
    CHECK_TEST(test_fallback__is_told_what_others_said_to_the_agent),
    CHECK_TEST(test_fallback__answers_in_the_place_of_a_member),
    CHECK_TEST(test_fallback__may_be_a_team),
    CHECK_TEST(test_fallback__to_an_unknown_agent_is_a_mistake),
    CHECK_TEST(test_fallback__to_itself_is_a_mistake),
    CHECK_TEST(test_fallback__in_a_circle_is_a_mistake),
    CHECK_TEST(test_fallback__to_a_team_it_is_in_is_a_mistake),
    CHECK_TEST(test_fallback__of_a_topology_is_a_mistake_and_no_root_of_the_team),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/fallback", tests);
}
