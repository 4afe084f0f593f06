// The view: what a model is shown of a conversation, rule by rule.
#include "support/check.h"
#include "support/kept_views.h"
#include "support/team_case.h"

#include "run/view.h"
#include "team/runtime.h"

#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

// --- Histories ---

static cadre_status one_after_the_other(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const char *input = *(const char **)ctx;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "alice")), NULL, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "bob"), .input = input),
        NULL, err);
}

// Two runs of a session in which alice (with a tool) and then bob speak; gives what bob
// is asked in the second.
static void check_second_request(cadre_history history, const char *input,
                                 const char *expected)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .ctx = &input,
                                           .run = one_after_the_other,
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    cadre_team_add_llm(
        t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL, .history = history));
    DRIVEN("alice", "say draft\ncall add {\"a\":1,\"b\":1}", "say a1", "say a2");
    DRIVEN("bob", "say b1", "say b2");
    team_case_run_with(&t, CADRE_RUN(.input = "u1", .session = "s"));
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(driven_request("bob", 1), expected);
    team_case_close(&t);
}

static void test_view__all_has_own_words_and_the_others_final_ones(void)
{
    check_second_request(CADRE_HISTORY_DEFAULT, NULL,
                         "user: u1\nuser: [alice]: a1\nassistant: b1\n"
                         "user: u2\nuser: [alice]: a2\n");
    check_second_request(CADRE_HISTORY_ALL, "now you",
                         "user: u1\nuser: [alice]: a1\nuser: now you\nassistant: b1\n"
                         "user: u2\nuser: [alice]: a2\nuser: now you\n");
}

static void test_view__own_leaves_the_others_out(void)
{
    check_second_request(CADRE_HISTORY_OWN, NULL,
                         "user: u1\nassistant: b1\nuser: u2\n");
}

static void test_view__last_starts_at_the_last_user_turn(void)
{
    check_second_request(CADRE_HISTORY_LAST, "now you",
                         "user: u2\nuser: [alice]: a2\nuser: now you\n");
}

static void test_view__none_is_what_the_frame_was_given(void)
{
    check_second_request(CADRE_HISTORY_NONE, "now you", "user: now you\n");
    // Nothing of its own: then the user's turn was given to it.
    check_second_request(CADRE_HISTORY_NONE, NULL, "user: u2\n");
}

// --- Calls without a result ---

typedef struct cut_store {
    const cadre_store_ops *ops;
    void *state;
    int left;
} cut_store;

static cut_store cut;

static cadre_status cut_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    if (cut.left-- <= 0)
        return cadre_fail(err, CADRE_ESTORE, "cut");
    return cut.ops->commit(state, commit, err);
}

// A run of solo's, in session "s", that loses its store after the first answer.
static void cut_in_mid_turn(void)
{
    static cadre_store_ops ops;
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}\ncall add {\"a\":2,\"b\":2}",
           "say never", "say going on");
    ops = *t.runtime->store_ops;
    cut = (cut_store){t.runtime->store_ops, t.runtime->store, 3};
    ops.commit = cut_commit;
    t.runtime->store_ops = &ops;
    if (team_case_start(&t, CADRE_RUN(.input = "u1", .session = "s")) == NULL)
        return;
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    CHECK_STATUS(t.status, CADRE_ESTORE, &t.err);
    cut.left = 1000;
}

// The second run goes on in the session of the first.
static void test_view__a_call_without_a_result_gets_a_synthetic_one(void)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    cut_in_mid_turn();
    size_t n = driven_count("solo");
    DRIVEN("solo", "say going on");
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(
        driven_request("solo", n),
        "user: u1\nassistant: \ncall call00001 add {\"a\":1,\"b\":1}\n"
        "call call00002 add {\"a\":2,\"b\":2}\n"
        "tool call00001: Interrupted: this call has no result; it may or may not "
        "have run.\n"
        "tool call00002: Interrupted: this call has no result; it may or may not "
        "have run.\n"
        "user: u2\n");
    team_case_close(&t);
}

// --- Forks ---

static cadre_status ask_bob(void *ctx, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err)
{
    (void)arguments;
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_team_find(*(cadre_team **)ctx, "bob")), NULL,
        err);
}

static cadre_status fork_oneself(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_outcome outcome;
    cadre_status status =
        cadre_frame_call(frame,
                         CADRE_CALL(.agent = cadre_frame_agent(frame), .input = "aside",
                                    .history = CADRE_HISTORY_ALL),
                         &outcome, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, outcome.text, err)
                              : status;
}

// Goes on when the fork has been asked.
static cadre_status come_late(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    CHECK(driven_await_held(1));
    return cadre_frame_set_output(frame, "late", err);
}

static void test_view__a_fork_does_not_see_what_comes_after_it(void)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "fork", .description = "Forks",
                                           .run = fork_oneself));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("fork", "late", "add")));
    // The fork asks twice; meanwhile the call beside it gets its result.
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "late", .description = "Comes late",
                                           .run = come_late));
    DRIVEN("solo", "call fork\ncall late", "call add {\"a\":2,\"b\":2}\ngate",
           "say aside done", "say all done");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    const cadre_event *event = NULL;
    do {
        CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL);
        recorder_add(&t.recorder, event);
    } while (event->type != CADRE_EVENT_TOOL_RESULT);
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    const char *first = driven_request("solo", 1);
    CHECK_CONTAINS(first, "tool call00001: Interrupted");
    CHECK_CONTAINS(first, "tool call00002: Interrupted");
    CHECK_CONTAINS(first, "user: aside\n");
    CHECK_BYTES(driven_request("solo", 2), strlen(first), first, strlen(first));
    CHECK_CONTAINS(driven_request("solo", 3), "tool call00001: aside done\n"
                                              "tool call00002: late\n");
    CHECK_LACKS(driven_request("solo", 3), "aside\nassistant");
    team_case_close(&t);
}

static void test_view__a_tools_delegate_speaks_behind_the_results(void)
{
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("ask")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "ask", .description = "Asks bob",
                                           .run = ask_bob, .ctx = &t.team));
    DRIVEN("solo", "call ask", "say done");
    DRIVEN("bob", "say from bob");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "done");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\n");
    CHECK_TEXT(driven_request("solo", 1),
               "user: hi\nassistant: \ncall call00001 ask {}\n"
               "tool call00001: from bob\n"
               "user: [bob]: from bob\n");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent solo root completed final\n"
                       "  model driven/test 1 completed final\n"
                       "  tool ask 1/0 completed final\n"
                       "    agent bob bob#1 completed final\n"
                       "      model driven/test 1 completed final\n"
                       "  model driven/test 2 completed final\n");
    free(frames);
    team_case_close(&t);
}

// --- Views that are kept ---

static cadre_status compare_views(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                  cadre_error *err)
{
    (void)ctx;
    (void)call;
    (void)err;
    kept_views_check(frame);
    return CADRE_OK;
}

static const cadre_hooks comparing = {.struct_size = sizeof comparing,
                                      .before_model = compare_views};

static cadre_status ask_oneself(void *ctx, cadre_frame *frame, const json_t *arguments,
                                cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = cadre_frame_agent(frame)),
                                NULL, err);
}

// It asks twice in the conversation that its caller's other tool brings its result to.
static void test_view__one_that_is_kept_learns_of_results_that_come_late(void)
{
    size_t n_before = kept_views_count();
    team_case_open(&t);
    cadre_team_set_hooks(t.team, &comparing);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_tool(
        t.team,
        CADRE_TOOL(.name = "again", .description = "Asks itself", .run = ask_oneself));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "late", .description = "Comes late",
                                           .run = come_late));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("again", "late", "add")));
    DRIVEN("solo", "call again\ncall late", "call add {\"a\":2,\"b\":2}\ngate",
           "say aside done", "say all done");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    const cadre_event *event = NULL;
    do {
        CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL);
        recorder_add(&t.recorder, event);
    } while (event->type != CADRE_EVENT_TOOL_RESULT);
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_CONTAINS(driven_request("solo", 1), "tool call00002: Interrupted");
    CHECK_CONTAINS(driven_request("solo", 2), "tool call00001: Interrupted");
    CHECK_CONTAINS(driven_request("solo", 2), "tool call00002: late\n");
    kept_views_close();
    CHECK_INT(kept_views_count() - n_before, 8); // each frame's second, four histories
    team_case_close(&t);
}

static void test_view__one_that_is_kept_begins_anew_with_the_users_next_turn(void)
{
    size_t n_before = kept_views_count();
    team_case_open(&t);
    cadre_team_set_hooks(t.team, &comparing);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .history = CADRE_HISTORY_LAST,
                                         .tools = CADRE_NAMES("add")));
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}",
           "say hm\ncall add {\"a\":2,\"b\":2}\ngate", "call add {\"a\":3,\"b\":3}",
           "say two");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    CHECK_OK(
        cadre_trace_send(t.runtime, cadre_run_trace_id(t.run), "And this.", NULL, NULL),
        NULL);
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_CONTAINS(driven_request("solo", 1), "user: hi\n");
    size_t last = driven_count("solo") - 1;
    CHECK_LACKS(driven_request("solo", last), "user: hi\n");
    CHECK_CONTAINS(driven_request("solo", last), "user: And this.\n");
    kept_views_close();
    CHECK_INT(kept_views_count() - n_before, 4 * last);
    team_case_close(&t);
}

static cdr_view_place settled; // of the view that was made last

static cadre_status note_settled(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    cdr_view view = {.n_items = 0};
    (void)ctx;
    (void)call;
    cadre_status status = cdr_view_update(&view, frame, CADRE_HISTORY_ALL, err);
    settled = view.settled;
    cdr_view_fini(&view);
    return status;
}

static const cadre_hooks noting = {.struct_size = sizeof noting,
                                   .before_model = note_settled};

// Else each request would look at all that was said since.
static void test_view__a_call_that_never_gets_a_result_is_settled(void)
{
    team_case_open(&t);
    cadre_team_set_hooks(t.team, &noting);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cut_in_mid_turn();
    CHECK_INT(settled.n_messages, 1); // u1
    DRIVEN("solo", "say going on");
    team_case_run_with(&t, CADRE_RUN(.input = "u2", .session = "s"));
    CHECK_OK(t.status, &t.err);
    CHECK_INT(settled.n_messages, 3); // u1, the calls, u2
    CHECK_INT(settled.n_items, 5);    // and their two synthetic results
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_view__all_has_own_words_and_the_others_final_ones),
    CHECK_TEST(test_view__own_leaves_the_others_out),
    CHECK_TEST(test_view__last_starts_at_the_last_user_turn),
    CHECK_TEST(test_view__none_is_what_the_frame_was_given),
    CHECK_TEST(test_view__a_call_without_a_result_gets_a_synthetic_one),
    CHECK_TEST(test_view__a_fork_does_not_see_what_comes_after_it),
    CHECK_TEST(test_view__a_tools_delegate_speaks_behind_the_results),
    CHECK_TEST(test_view__one_that_is_kept_learns_of_results_that_come_late),
    CHECK_TEST(test_view__one_that_is_kept_begins_anew_with_the_users_next_turn),
    CHECK_TEST(test_view__a_call_that_never_gets_a_result_is_settled),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/view", tests);
}
