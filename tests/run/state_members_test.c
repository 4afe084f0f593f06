// The state of a run among members: along transfers, from tools, and of answers that
// are kept.
#include "support/check.h"
#include "support/state_case.h"

#include "cadre/ext/tool.h"

static team_case t;

typedef cadre_status (*work)(cadre_frame *frame, cadre_error *err);

static cadre_status run_work(void *ctx, cadre_frame *frame, cadre_error *err)
{
    return (*(work *)ctx)(frame, err);
}

static work alice_work, bob_work;

static void check_runs(void)
{
    team_case_run(&t, "Go.");
    CHECK_OK(t.status, &t.err);
}

static const cadre_agent *member(cadre_frame *frame, const char *name)
{
    const cadre_agent *found = cadre_frame_find(frame, name);
    CHECK(found != NULL);
    return found;
}

// --- Transfers ---

static cadre_status set_by_tool(void *ctx, cadre_frame *frame, const json_t *arguments,
                                cadre_error *err)
{
    const char *key;
    json_t *value;
    (void)ctx;
    json_object_foreach(json_object_get(arguments, "set"), key, value)
    {
        cadre_status status = cadre_frame_set_state(frame, key, value, err);
        if (status != CADRE_OK)
            return status;
    }
    if (json_is_true(json_object_get(arguments, "fail")))
        return cadre_fail(err, CADRE_EFAILED, "as asked");
    if (json_is_true(json_object_get(arguments, "to_bob")))
        return cadre_frame_request_transfer(frame, "bob", "go on", err);
    return cadre_frame_set_output(frame, state_seen(frame), err);
}

static void open_desk(void)
{
    team_case_open(&t);
    cadre_team_add_state(
        t.team, CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_tool(
        t.team,
        CADRE_TOOL(.name = "put", .run = set_by_tool,
                   .parameters =
                       "{\"type\":\"object\",\"properties\":{\"set\":{\"type\":"
                       "\"object\"},\"fail\":{\"type\":\"boolean\"},\"to_bob\":{"
                       "\"type\":\"boolean\"}}}"));
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk", .output_key = "answer",
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team,
                       CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                 .tools = CADRE_NAMES("put"), .output_key = "alices",
                                 .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_llm(
        t.team,
        CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL, .tools = CADRE_NAMES("put"),
                  .output_key = "bobs", .handoffs = CADRE_NAMES("alice"),
                  .instructions = "Notes: {{state.notes}}; {{state.none}}"
                                  "{{ state.x }}{{{{state.x}}."));
}

static void test_state_members__goes_along_with_a_transfer(void)
{
    open_desk();
    DRIVEN("alice", "call put {\"set\":{\"notes\":\"by alice\",\"x\":\"X\"}}",
           "call put {\"set\":{\"notes\":\"more\"}}\nto bob help");
    DRIVEN("bob", "call put {\"set\":{\"notes\":\"by bob\"}}", "say done");
    check_runs();
    CHECK_TEXT(driven_system("bob", 0),
               "Notes: [\"by alice\",\"more\"]; X{{state.x}}.");
    CHECK_TEXT(driven_system("bob", 1),
               "Notes: [\"by alice\",\"more\",\"by bob\"]; X{{state.x}}.");
    // Each row has what that frame added; who called takes it all.
    state_check_delta(&t, "alice#1", "{\"notes\":[\"by alice\",\"more\"],\"x\":\"X\"}");
    state_check_delta(&t, "transfer", "{\"notes\":[\"by bob\"],\"bobs\":\"done\"}");
    state_check_delta(&t, "root",
                      "{\"notes\":[\"by alice\",\"more\",\"by bob\"],"
                      "\"x\":\"X\",\"bobs\":\"done\",\"answer\":\"done\"}");
    team_case_close(&t);
}

static cadre_status transfer_then_set(cadre_frame *frame, cadre_error *err)
{
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_OK(state_put(frame, "a", "1", err), err);
    CHECK_OK(
        cadre_frame_transfer(frame, CADRE_CALL(.agent = member(frame, "bob")), err),
        err);
    CHECK_STATUS(state_put(frame, "a", "2", &own), CADRE_EINVAL, &own);
    CHECK_TEXT(own.text, "'alice' was handed over to 'bob' already; set state key 'a' "
                         "before");
    return CADRE_OK;
}

static cadre_status look_after_transfer(cadre_frame *frame, cadre_error *err)
{
    CHECK_TEXT(state_seen(frame), "{\"a\":1}");
    return state_put(frame, "b", "2", err);
}

static void test_state_members__is_not_set_by_who_has_handed_over(void)
{
    team_case_open(&t);
    alice_work = transfer_then_set;
    bob_work = look_after_transfer;
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "alice", .run = run_work,
                                                   .ctx = &alice_work,
                                                   .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "bob", .run = run_work, .ctx = &bob_work));
    check_runs();
    state_check_delta(&t, "root", "{\"a\":1,\"b\":2}");
    team_case_close(&t);
}

// --- Tools and steps ---

// Each sees what was there when the round began; the later call wins.
static void test_state_members__tools_are_taken_in_call_order(void)
{
    open_desk();
    DRIVEN("alice",
           "call put {\"set\":{\"notes\":1,\"x\":1}}\n"
           "call put {\"set\":{\"notes\":2,\"x\":2}}\n"
           "call put {\"set\":{\"notes\":3,\"x\":3},\"fail\":true}",
           "say done");
    check_runs();
    state_check_delta(&t, "1/0", "{\"notes\":[1],\"x\":1}");
    state_check_delta(&t, "1/2", "");
    state_check_delta(&t, "alice#1", "{\"notes\":[1,2],\"x\":2,\"alices\":\"done\"}");
    CHECK_CONTAINS(driven_request("alice", 1), ": {\"notes\":[2],\"x\":2}");
    team_case_close(&t);
}

static void test_state_members__a_tool_that_hands_over_counts_too(void)
{
    open_desk();
    DRIVEN("alice", "call put {\"set\":{\"notes\":1},\"to_bob\":true}");
    DRIVEN("bob", "say done");
    check_runs();
    state_check_delta(&t, "1/0", "{\"notes\":[1]}");
    state_check_delta(&t, "root",
                      "{\"notes\":[1],\"bobs\":\"done\",\"answer\":\"done\"}");
    team_case_close(&t);
}

// --- output_key ---

static void run_counter(const char *says)
{
    team_case_open(&t);
    cadre_team_add_state(t.team,
                         CADRE_STATE_KEY(.key = "count", .reducer = CADRE_REDUCE_SUM));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "counter", .model = DRIVEN_MODEL,
                                         .output_key = "count"));
    DRIVEN("counter", says);
    team_case_run(&t, "Go.");
}

static void test_state_members__an_answer_is_read_where_a_number_is_wanted(void)
{
    run_counter("say 42");
    CHECK_OK(t.status, &t.err);
    state_check_delta(&t, "root", "{\"count\":42}");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_STATE_DELTA),
               "counter: count 42\n");
    team_case_close(&t);
    run_counter("say many");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "agent 'counter': state key 'count' (sum): expected a "
                           "number, got \"many\"");
    state_check_delta(&t, "root", "");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_state_members__goes_along_with_a_transfer),
    CHECK_TEST(test_state_members__is_not_set_by_who_has_handed_over),
    CHECK_TEST(test_state_members__tools_are_taken_in_call_order),
    CHECK_TEST(test_state_members__a_tool_that_hands_over_counts_too),
    CHECK_TEST(test_state_members__an_answer_is_read_where_a_number_is_wanted),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/state_members", tests);
}
