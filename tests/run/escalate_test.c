// Escalating: a member ends the cycle around it, and only that one.
#include "support/kill_matrix.h"
#include "support/lab.h"
#include "support/team_case.h"

#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

// Opens a team of driven agents alice, bob and carol, who may escalate and add.
static void open_all(void)
{
    static const char *const names[] = {"alice", "bob", "carol"};
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "done", .type = "escalate"));
    for (size_t i = 0; i < 3; i++)
        cadre_team_add_llm(t.team, CADRE_LLM(.name = names[i], .model = DRIVEN_MODEL,
                                             .tools = CADRE_NAMES("done", "add")));
}

static void add_topology(const char *type, const char *name, cadre_names members,
                         const char *options)
{
    cadre_team_add_topology(
        t.team, type,
        CADRE_TOPOLOGY(.name = name, .members = members, .options = options));
}

#define ADD_TOPOLOGY(type, name, options, ...)                                         \
    do {                                                                               \
        const cadre_names members_ = CADRE_NAMES(__VA_ARGS__);                         \
        add_topology((type), (name), members_, (options));                             \
    } while (0)

static void run_root(const char *root)
{
    cadre_team_set_root(t.team, root);
    team_case_run(&t, "go");
}

static void check_answer(cadre_stop_reason reason, const char *text)
{
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(t.result->stop_reason, reason);
    CHECK_TEXT(t.result->text, text);
}

static void check_frames(const char *expected)
{
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, expected);
    free(frames);
}

// --- The cycle ---

static void test_escalate__ends_the_cycle_without_another_model_call(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice", "bob");
    DRIVEN("alice", "say draft one", "say draft two");
    DRIVEN("bob", "say go on", "say good\ncall escalate {\"reason\":\"it is good\"}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "good");
    CHECK_INT(driven_count("alice"), 2);
    CHECK_INT(driven_count("bob"), 2);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_ESCALATE), "bob: it is good\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "bob: escalate ok Escalated: bob's work ends here.\n");
    check_frames("agent ring root completed final\n"
                 "  agent alice 1.1 completed final\n"
                 "    model driven/test 1 completed final\n"
                 "  agent bob 1.2 completed final\n"
                 "    model driven/test 1 completed final\n"
                 "  agent alice 2.1 completed final\n"
                 "    model driven/test 1 completed final\n"
                 "  agent bob 2.2 completed escalated\n"
                 "    model driven/test 1 completed final\n"
                 "    tool escalate 1/0 completed escalated\n");
    team_case_close(&t);
}

static void test_escalate__leaves_the_rest_of_the_round_undone(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice", "bob", "carol");
    DRIVEN("alice", "say draft");
    DRIVEN("bob", "say enough\ncall escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "enough");
    CHECK_INT(driven_count("carol"), 0);
    team_case_close(&t);
}

static void test_escalate__without_a_word_leaves_the_answer_of_before(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice", "bob");
    DRIVEN("alice", "say the draft");
    DRIVEN("bob", "call escalate {\"reason\":\"fine\"}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "the draft");
    CHECK_TEXT(t.result->agent, "alice");
    team_case_close(&t);
}

static void test_escalate__at_once_and_without_a_word_leaves_no_answer(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice", "bob");
    DRIVEN("alice", "call escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "");
    CHECK_INT(driven_count("bob"), 0);
    team_case_close(&t);
}

static void test_escalate__ends_the_nearest_cycle_only(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "inner", NULL, "alice", "bob");
    ADD_TOPOLOGY("cycle", "outer", NULL, "inner", "carol");
    DRIVEN("alice", "say a1", "say a2");
    DRIVEN("bob", "say b1\ncall escalate {}", "say b2\ncall escalate {}");
    DRIVEN("carol", "say c1", "say c2\ncall escalate {}");
    run_root("outer");
    check_answer(CADRE_STOP_FINAL, "c2");
    CHECK_INT(driven_count("alice"), 2);
    CHECK_INT(driven_count("bob"), 2);
    CHECK_INT(driven_count("carol"), 2);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "inner: completed final b1\n");
    team_case_close(&t);
}

static void test_escalate__passes_through_a_chain(void)
{
    open_all();
    ADD_TOPOLOGY("chain", "line", NULL, "alice", "bob", "carol");
    ADD_TOPOLOGY("cycle", "ring", NULL, "line");
    DRIVEN("alice", "say a1", "say a2");
    DRIVEN("bob", "say b1", "say b2\ncall escalate {}");
    DRIVEN("carol", "say c1");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "b2");
    CHECK_INT(driven_count("carol"), 1);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "line: completed escalated b2\n");
    team_case_close(&t);
}

static void test_escalate__passes_through_a_handoff_and_its_chain_of_transfers(void)
{
    open_all();
    ADD_TOPOLOGY("handoff", "desk", NULL, "alice", "bob");
    ADD_TOPOLOGY("cycle", "ring", NULL, "desk", "carol");
    DRIVEN("alice", "to bob please");
    DRIVEN("bob", "say it is done\ncall escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "it is done");
    CHECK_TEXT(t.result->agent, "bob");
    CHECK_INT(driven_count("carol"), 0);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
               "bob: completed escalated it is done\n"
               "alice: completed escalated \n"
               "desk: completed escalated it is done\n"
               "ring: completed final it is done\n");
    team_case_close(&t);
}

// --- Who stops it ---

static int n_rounds;

static cadre_status call_alice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out;
    (void)ctx;
    n_rounds++;
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "alice")), &out, err);
    CHECK_OK(status, err);
    CHECK_INT(out.stop_reason, CADRE_STOP_ESCALATED);
    CHECK_INT(out.status, CADRE_FRAME_COMPLETED);
    CHECK_TEXT(out.text, "alone");
    return cadre_frame_set_output(frame, "called", err);
}

static cadre_status batch_alice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[1];
    cadre_wait *wait = ctx;
    size_t winner = 9;
    n_rounds++;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "alice"))};
    CHECK_OK(cadre_frame_batch(frame,
                               CADRE_BATCH(.wait = *wait, .calls = calls, .n_calls = 1,
                                           .winner = &winner),
                               out, err),
             err);
    CHECK_INT(out[0].stop_reason, CADRE_STOP_ESCALATED);
    CHECK_TEXT(out[0].text, "alone");
    CHECK_INT(winner, *wait == CADRE_ALL ? 1 : 0);
    return cadre_frame_set_output(frame, "called", err);
}

static void check_stopped_by(cadre_status (*run)(void *, cadre_frame *, cadre_error *),
                             void *ctx)
{
    open_all();
    n_rounds = 0;
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "caller", .run = run, .ctx = ctx,
                                           .members = CADRE_NAMES("alice")));
    ADD_TOPOLOGY("cycle", "ring", "{\"max_iterations\": 3}", "caller");
    DRIVEN("alice", "always\nsay alone\ncall escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_MAX_ITERATIONS, "called");
    CHECK_INT(n_rounds, 3);
    team_case_close(&t);
}

static void test_escalate__is_stopped_by_a_call(void)
{
    check_stopped_by(call_alice, NULL);
}

static void test_escalate__is_stopped_by_a_batch(void)
{
    for (cadre_wait wait = CADRE_ALL; wait <= CADRE_RACE; wait++)
        check_stopped_by(batch_alice, &wait);
}

// A member that the lead asks as its tool works for that alone.
static void test_escalate__is_stopped_by_a_coordinator(void)
{
    open_all();
    ADD_TOPOLOGY("coordinator", "office", NULL, "alice", "bob");
    ADD_TOPOLOGY("cycle", "ring", NULL, "office", "carol");
    DRIVEN("alice", "call bob {\"request\":\"well?\"}", "say bob said it",
           "say again\ncall escalate {}");
    DRIVEN("bob", "say mine\ncall escalate {}");
    DRIVEN("carol", "say c");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "again");
    CHECK_CONTAINS(driven_request("alice", 1), "mine");
    CHECK_INT(driven_count("carol"), 1);
    team_case_close(&t);
}

static cadre_status delegate_alice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_status *got = ctx;
    *got = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "alice")), NULL, err);
    return *got;
}

static void test_escalate__is_what_a_delegate_returns(void)
{
    cadre_status got = CADRE_OK;
    open_all();
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "caller",
                                                   .run = delegate_alice, .ctx = &got,
                                                   .members = CADRE_NAMES("alice")));
    ADD_TOPOLOGY("cycle", "ring", NULL, "caller", "bob");
    DRIVEN("alice", "say enough\ncall escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "enough");
    CHECK_INT(got, CADRE_ESCALATED);
    CHECK_INT(driven_count("bob"), 0);
    team_case_close(&t);
}

static cadre_status escalate(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_set_output(frame, "from C", err);
    return status == CADRE_OK ? CADRE_ESCALATED : status;
}

static void test_escalate__may_be_returned_by_a_function(void)
{
    open_all();
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "stopper", .run = escalate));
    ADD_TOPOLOGY("cycle", "ring", NULL, "stopper", "bob");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "from C");
    CHECK_INT(driven_count("bob"), 0);
    team_case_close(&t);
}

// --- The turn ---

static void test_escalate__lets_the_other_tools_of_the_turn_run_first(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice", "bob");
    DRIVEN("alice", "say sum\ncall escalate {}\ncall add {\"a\":1,\"b\":2}\n"
                    "call add {\"a\":3,\"b\":4}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "sum");
    CHECK_INT(atomic_load(&adds.n_runs), 2);
    CHECK_INT(driven_count("alice"), 1);
    const char *results = recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT);
    const char *at = strstr(results, "escalate ok");
    CHECK(at != NULL && strstr(at, "add") == NULL); // it was decided last
    CHECK_CONTAINS(results, "alice: add ok 3\n");
    CHECK_CONTAINS(results, "alice: add ok 7\n");
    team_case_close(&t);
}

static void open_ring_of_desk(void)
{
    open_all();
    ADD_TOPOLOGY("handoff", "desk", NULL, "alice", "bob");
    ADD_TOPOLOGY("cycle", "ring", "{\"max_iterations\": 1}", "desk");
}

static void test_escalate__before_a_transfer_wins(void)
{
    open_ring_of_desk();
    DRIVEN("alice", "say mine\ncall escalate {}\nto bob please");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "mine");
    CHECK_INT(driven_count("bob"), 0);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "alice: escalate ok Escalated: alice's work ends here.\n"
               "alice: transfer_to_agent blocked Not handed over to bob: this turn has "
               "escalated already.\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER),
               "alice: alice bob superseded\n");
    team_case_close(&t);
}

static void test_escalate__after_a_transfer_is_superseded(void)
{
    open_ring_of_desk();
    DRIVEN("alice", "to bob please\ncall escalate {}");
    DRIVEN("bob", "say bob's");
    run_root("ring");
    check_answer(CADRE_STOP_MAX_ITERATIONS, "bob's");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_ESCALATE), 0);
    CHECK_TEXT(
        recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
        "alice: transfer_to_agent ok Handed over to bob, who answers from here.\n"
        "alice: escalate blocked Not escalated: this turn was handed over to bob "
        "already.\n");
    team_case_close(&t);
}

static void test_escalate__after_a_refused_transfer_wins(void)
{
    open_ring_of_desk();
    DRIVEN("alice", "to nobody please\nsay mine\ncall escalate {}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "mine");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_ESCALATE), 1);
    team_case_close(&t);
}

static void test_escalate__twice_in_a_turn_is_once(void)
{
    open_all();
    ADD_TOPOLOGY("cycle", "ring", NULL, "alice");
    DRIVEN("alice", "say x\ncall escalate {\"reason\":\"one\"}\n"
                    "call escalate {\"reason\":\"two\"}");
    run_root("ring");
    check_answer(CADRE_STOP_FINAL, "x");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_ESCALATE), "alice: one\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "alice: escalate ok Escalated: alice's work ends here.\n"
               "alice: escalate blocked Not escalated: this turn has escalated "
               "already.\n");
    team_case_close(&t);
}

// --- The root ---

static void test_escalate__by_the_root_completes_the_run(void)
{
    open_all();
    DRIVEN("alice", "say that is all\ncall escalate {\"reason\":\"x\"}");
    run_root("alice");
    check_answer(CADRE_STOP_ESCALATED, "that is all");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_STREAM_END),
               "alice: completed escalated that is all\n");
    team_case_close(&t);
}

static void test_escalate__by_the_root_exits_with_0(void)
{
    lab it;
    if (!lab_make(&it,
                  "version: 1\nname: t\nscript: ./script.yaml\n"
                  "tools:\n  done: {type: escalate}\n"
                  "agents:\n  solo: {model: openai/m, tools: [done]}\n",
                  "agents:\n  solo:\n    - text: That is all.\n"
                  "      tool_calls: [{name: escalate, arguments: {}}]\n"))
        return;
    LAB_CHECK(&it, 0, "That is all.\n", "", "run", "team.yaml", "hi", "--offline");
    lab_remove(&it);
}

// --- Cuts ---

static cadre_team *load(cadre_runtime *runtime, const test_folder *folder,
                        const char *file, const char *script)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (folder_write(folder, "script.yaml", script, path) &&
        folder_write(folder, "team.yaml", file, path))
        CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    return team;
}

static cadre_team *make_rings(cadre_runtime *runtime, const test_folder *folder)
{
    return load(
        runtime, folder,
        "version: 1\nname: t\nscript: ./script.yaml\nroot: outer\n"
        "tools:\n  done: {type: escalate}\n"
        "agents:\n"
        "  outer: {type: cycle, members: [line, judge]}\n"
        "  line: {type: chain, members: [inner, editor]}\n"
        "  inner: {type: cycle, members: [writer, critic]}\n"
        "  writer: {model: openai/m}\n"
        "  critic: {model: openai/m, tools: [done]}\n"
        "  editor: {model: openai/m}\n"
        "  judge: {model: openai/m, tools: [done]}\n",
        "strict: true\nagents:\n"
        "  writer:\n    - {text: one}\n    - {text: two}\n    - {text: three}\n"
        "  critic:\n    - {text: no}\n"
        "    - {tool_calls: [{name: escalate, arguments: {reason: good}}]}\n"
        "    - {tool_calls: [{name: escalate, arguments: {}}]}\n"
        "  editor:\n    - {text: edited}\n    - {text: edited again}\n"
        "  judge:\n    - {text: more}\n"
        "    - {text: enough, tool_calls: [{name: escalate, arguments: {}}]}\n");
}

static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    return load(runtime, folder,
                "version: 1\nname: t\nscript: ./script.yaml\nroot: ring\n"
                "tools:\n  done: {type: escalate}\n"
                "agents:\n"
                "  ring: {type: cycle, members: [desk, never]}\n"
                "  desk: {type: handoff, members: [first, second]}\n"
                "  first: {model: openai/m, handoffs: [second], tools: [done]}\n"
                "  second: {model: openai/m, tools: [done]}\n"
                "  never: {model: openai/m}\n",
                "strict: true\nagents:\n"
                "  first:\n    - tool_calls:\n"
                "        - {name: transfer_to_agent, arguments: {agent: second}}\n"
                "        - {name: escalate, arguments: {}}\n"
                "  second:\n    - text: done\n      tool_calls:\n"
                "        - {name: escalate, arguments: {}}\n"
                "        - {name: transfer_to_agent, arguments: {agent: first}}\n");
}

static void check_rings(const char *type)
{
    kill_matrix_check(make_rings, type);
}

static void test_escalate__goes_on_from_every_commit(void)
{
    lives_each_store(check_rings);
}

static void check_desk(const char *type)
{
    kill_matrix_check(make_desk, type);
}

static void test_escalate__beside_transfers_goes_on_from_every_commit(void)
{
    lives_each_store(check_desk);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_escalate__ends_the_cycle_without_another_model_call),
    CHECK_TEST(test_escalate__leaves_the_rest_of_the_round_undone),
    CHECK_TEST(test_escalate__without_a_word_leaves_the_answer_of_before),
    CHECK_TEST(test_escalate__at_once_and_without_a_word_leaves_no_answer),
    CHECK_TEST(test_escalate__ends_the_nearest_cycle_only),
    CHECK_TEST(test_escalate__passes_through_a_chain),
    CHECK_TEST(test_escalate__passes_through_a_handoff_and_its_chain_of_transfers),
    CHECK_TEST(test_escalate__is_stopped_by_a_call),
    CHECK_TEST(test_escalate__is_stopped_by_a_batch),
    CHECK_TEST(test_escalate__is_stopped_by_a_coordinator),
    CHECK_TEST(test_escalate__is_what_a_delegate_returns),
    CHECK_TEST(test_escalate__may_be_returned_by_a_function),
    CHECK_TEST(test_escalate__lets_the_other_tools_of_the_turn_run_first),
    CHECK_TEST(test_escalate__before_a_transfer_wins),
    CHECK_TEST(test_escalate__after_a_transfer_is_superseded),
    CHECK_TEST(test_escalate__after_a_refused_transfer_wins),
    CHECK_TEST(test_escalate__twice_in_a_turn_is_once),
    CHECK_TEST(test_escalate__by_the_root_completes_the_run),
    CHECK_TEST(test_escalate__by_the_root_exits_with_0),
    CHECK_TEST(test_escalate__goes_on_from_every_commit),
    CHECK_TEST(test_escalate__beside_transfers_goes_on_from_every_commit),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/escalate", tests);
}
