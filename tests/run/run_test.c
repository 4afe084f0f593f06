// A whole run from outside: how it ends, whatever stops it, and what its consumer
// holds.
#include "support/check.h"
#include "support/team_case.h"

#include "base/pool.h"
#include "run/run.h"
#include "team/runtime.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

// --- A store that fails ---

// The store of the runtime, but its nth commit fails, and all after it.
typedef struct failing_store {
    const cadre_store_ops *ops;
    void *state;
    atomic_int left; // commits that work
} failing_store;

static failing_store failing;

static cadre_status failing_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    (void)state;
    if (atomic_fetch_sub(&failing.left, 1) <= 0)
        return cadre_fail(err, CADRE_ESTORE, "disk full");
    return failing.ops->commit(failing.state, commit, err);
}

static cadre_status failing_read(void *state, const cadre_query *query,
                                 const cadre_store_reader *reader, cadre_error *err)
{
    (void)state;
    return failing.ops->read(failing.state, query, reader, err);
}

static cadre_status failing_lease(void *state, const cadre_lease *wanted,
                                  int64_t *epoch, cadre_error *err)
{
    (void)state;
    return failing.ops->lease(failing.state, wanted, epoch, err);
}

static void failing_fini(void *state)
{
    (void)state;
    failing.ops->fini(failing.state);
    free(failing.state);
}

static const cadre_store_ops failing_ops = {
    .struct_size = sizeof(cadre_store_ops),
    .type = "failing",
    .summary = "fails",
    .fini = failing_fini,
    .commit = failing_commit,
    .lease = failing_lease,
    .read = failing_read,
};

static void fail_after(int n_commits)
{
    failing.ops = t.runtime->store_ops;
    failing.state = t.runtime->store;
    atomic_init(&failing.left, n_commits);
    t.runtime->store_ops = &failing_ops;
    t.runtime->store = NULL;
}

static adder adds;

// A run of six commits: a turn with a tool, and an answer.
static int run_with_commits(int n_commits)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}", "say done");
    fail_after(n_commits);
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return 0;
    const cadre_event *event = NULL;
    while (cadre_run_next(t.run, &event, NULL) == CADRE_OK)
        recorder_add(&t.recorder, event);
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    return n_commits - atomic_load(&failing.left);
}

static void test_run__a_lost_store_is_never_a_success(void)
{
    int n = run_with_commits(1000);
    CHECK_OK(t.status, &t.err);
    recorder_check(&t.recorder);
    team_case_close(&t);
    CHECK(n >= 3);
    for (int i = 0; i < n; i++) {
        run_with_commits(i);
        CHECK_STATUS(t.status, CADRE_ESTORE, &t.err);
        CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
        CHECK_INT(t.result->error.error_class, CADRE_CLASS_STORE);
        CHECK_CONTAINS(t.err.text, "disk full");
        CHECK_TEXT(t.result->text, "");
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_STREAM_START), 1);
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_STREAM_END), 1);
        CHECK(t.recorder.events[0].type == CADRE_EVENT_STREAM_START);
        const recorded_event *last = &t.recorder.events[t.recorder.n_events - 1];
        CHECK(last->type == CADRE_EVENT_STREAM_END);
        CHECK_INT(last->seq, 0); // it is not stored, so it has none
        team_case_close(&t);
    }
}

static void test_run__no_tool_runs_for_an_answer_that_was_not_stored(void)
{
    run_with_commits(1);
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_CALL), 0);
    team_case_close(&t);
}

// --- Aborts ---

static cadre_status sleep_in_tool(void *ctx, cadre_frame *frame,
                                  const json_t *arguments, cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_frame_emit(frame, "asleep", 6);
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

static cadre_status poll_in_tool(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    struct pollfd fd = {cadre_frame_cancel_fd(frame), POLLIN, 0};
    cadre_frame_emit(frame, "polls", 5);
    while (poll(&fd, 1, -1) < 0)
        continue;
    CHECK(cadre_frame_is_stopped(frame));
    return cadre_frame_sleep(frame, 0, err);
}

static cadre_status sleep_or_join(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_agent *model = cadre_frame_find(frame, "model");
    const cadre_agent *tools = cadre_frame_find(frame, "tools");
    if (strcmp(cadre_frame_input(frame), "sleep") == 0) {
        cadre_frame_emit(frame, "sleeps", 6);
        return cadre_frame_sleep(frame, INT64_MAX, err);
    }
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_agent(frame), .input = "sleep"),
        CADRE_CALL(.agent = model, .input = "x"),
        CADRE_CALL(.agent = tools, .input = "x")};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 3), NULL,
                             err);
}

// Strands blocked in a sleep, a join, a model call and two tools.
static bool start_blocked(int64_t timeout_ms)
{
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = sleep_or_join,
                                           .members = CADRE_NAMES("model", "tools")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "model", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "tools", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("sleep", "poll")));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "sleep", .description = "Sleeps",
                                           .run = sleep_in_tool));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "poll", .description = "Polls",
                                           .run = poll_in_tool));
    DRIVEN("model", "hold");
    DRIVEN("tools", "call sleep\ncall poll");
    if (team_case_start(&t, CADRE_RUN(.input = "go", .timeout_ms = timeout_ms)) == NULL)
        return false;
    size_t n_seen = 0;
    const cadre_event *event = NULL;
    while (n_seen < 3 && cadre_run_next(t.run, &event, NULL) == CADRE_OK) {
        recorder_add(&t.recorder, event);
        n_seen += event->type == CADRE_EVENT_TOOL_PROGRESS ||
                  event->type == CADRE_EVENT_TEXT_DELTA;
    }
    return driven_await_held(1);
}

static void test_run__an_abort_wakes_whatever_blocks(void)
{
    team_case_open(&t);
    if (CHECK(start_blocked(0))) {
        cadre_run_cancel(t.run, "the user left");
        cadre_run_cancel(t.run, "again");
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
        CHECK_TEXT(t.err.text, "aborted: the user left");
        CHECK_INT(t.result->status, CADRE_FRAME_ABORTED);
        CHECK_INT(t.result->stop_reason, CADRE_STOP_ABORTED);
        CHECK_INT(t.result->error.error_class, CADRE_CLASS_ABORTED);
        CHECK(t.result->stop_ms >= 0);
        char *frames = team_case_frames(&t);
        CHECK_LACKS(frames, "running");
        CHECK_LACKS(frames, "pending");
        CHECK_CONTAINS(frames, "tool sleep 1/0 aborted aborted\n");
        CHECK_CONTAINS(frames, "tool poll 1/1 aborted aborted\n");
        free(frames);
    }
    team_case_close(&t);
}

static void test_run__freed_in_mid_work_leaves_nothing(void)
{
    team_case_open(&t);
    CHECK(start_blocked(0));
    team_case_close(&t);
}

static void test_run__freed_at_once_leaves_nothing(void)
{
    for (int i = 0; i < 50; i++) {
        team_case_open(&t);
        cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL));
        DRIVEN("solo", "hold");
        team_case_start(&t, CADRE_RUN(.input = "hi"));
        team_case_close(&t);
    }
}

static void test_run__abort_between_transfer_and_slow_tool(void)
{
    team_case_open(&t);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("sleep")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "sleep", .description = "Sleeps",
                                           .run = sleep_in_tool));
    DRIVEN("alice", "to bob\ncall sleep");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    const cadre_event *event = NULL;
    do {
        CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL);
        recorder_add(&t.recorder, event);
    } while (event->type != CADRE_EVENT_TOOL_PROGRESS);
    cadre_run_cancel(t.run, NULL);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(driven_count("bob"), 0);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TRANSFER), 0);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "alice: sleep aborted aborted\n"
               "alice: transfer_to_agent aborted Not done: the turn was stopped.\n");
    team_case_close(&t);
}

// --- Time ---

static void test_run__its_time_ends_what_blocks(void)
{
    team_case_open_fake(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL));
    DRIVEN("solo", "hold");
    if (team_case_start(&t, CADRE_RUN(.input = "hi", .timeout_ms = 700)) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 700);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_ETIMEOUT, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_TIMEOUT);
    CHECK_TEXT(t.err.text, "agent 'solo': its time of 700ms is up (timeout)");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_STREAM_END),
               "solo: timeout timeout timeout: agent 'solo': its time of 700ms is up "
               "(timeout)\n");
    team_case_close(&t);
}

// --- Consumers ---

static cadre_status talk(void *ctx, cadre_frame *frame, cadre_error *err)
{
    static const char line[] = "a line of about forty bytes, not merged ";
    (void)ctx;
    if (strcmp(cadre_frame_input(frame), "short") == 0)
        return cadre_frame_set_output(frame, "short", err);
    for (int i = 0; i < 5000; i++) {
        if (cadre_frame_is_stopped(frame))
            return cadre_frame_sleep(frame, 0, err);
        cadre_frame_emit(frame, line, sizeof line - 1);
    }
    return cadre_frame_set_output(frame, "long", err);
}

static void open_talker(void)
{
    team_case_open(&t);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "talker", .run = talk));
}

static void test_run__who_stops_reading_holds_up_nobody_else(void)
{
    enum {
        OTHERS = 100
    };
    open_talker();
    cadre_run *others[OTHERS];
    cadre_error err = CADRE_ERROR_INIT;
    if (team_case_start(&t, CADRE_RUN(.input = "long")) == NULL)
        return;
    for (int i = 0; i < OTHERS; i++)
        CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "short"), &others[i], &err),
                 &err);
    for (int i = 0; i < OTHERS; i++) {
        const cadre_result *result = NULL;
        CHECK_OK(cadre_run_wait(others[i], &result, &err), &err);
        CHECK_TEXT(result->text, "short");
        cadre_run_free(others[i]);
    }
    // What the unread one has made waits within its bound.
    cdr_mutex_lock(&t.run->tree->queue.mu);
    CHECK(t.run->tree->queue.bytes < CDR_QUEUE_LIMIT + 4096);
    cdr_mutex_unlock(&t.run->tree->queue.mu);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    size_t n_bytes = 0;
    for (size_t i = 0; i < t.recorder.n_events; i++)
        if (t.recorder.events[i].type == CADRE_EVENT_TEXT_DELTA)
            n_bytes += strlen(t.recorder.events[i].says);
    CHECK_INT(n_bytes, 5000 * 40);
    team_case_close(&t);
}

static void test_run__an_unread_run_can_be_cancelled_and_waited_for(void)
{
    open_talker();
    if (team_case_start(&t, CADRE_RUN(.input = "long")) != NULL) {
        cadre_run_cancel(t.run, NULL);
        team_case_finish(&t);
        CHECK(t.status == CADRE_EABORTED || t.status == CADRE_OK);
    }
    if (team_case_start(&t, CADRE_RUN(.input = "long")) != NULL) {
        t.status = cadre_run_wait(t.run, &t.result, &t.err);
        CHECK_OK(t.status, &t.err);
        CHECK_OK(cadre_run_wait(t.run, &t.result, &t.err), &t.err); // twice is once
        const cadre_event *event = NULL;
        CHECK_STATUS(cadre_run_next(t.run, &event, &t.err), CADRE_DONE, NULL);
    }
    team_case_close(&t);
}

static void test_run__freed_unread_or_half_read_leaves_nothing(void)
{
    open_talker();
    const cadre_event *event = NULL;
    if (team_case_start(&t, CADRE_RUN(.input = "long")) != NULL)
        CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL);
    team_case_start(&t, CADRE_RUN(.input = "long"));
    team_case_run(&t, "short");
    CHECK_OK(t.status, &t.err);
    team_case_close(&t);
}

// --- Sessions ---

static void test_run__a_session_has_one_run_at_a_time(void)
{
    const cadre_event *event = NULL;
    cadre_run *second = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_result *result = NULL;
    team_case_open(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    DRIVEN("alice", "gate\nsay one", "say two");
    cadre_run *first = team_case_start(&t, CADRE_RUN(.input = "a", .session = "s"));
    if (!CHECK(first != NULL) || !CHECK(driven_await_held(1)))
        return;
    CHECK_STATUS(
        cadre_run_start(t.team, CADRE_RUN(.input = "b", .session = "s"), &second, &err),
        CADRE_EBUSY, &err);
    CHECK_CONTAINS(err.text, "session 's'");
    driven_release();
    while (cadre_run_next(first, &event, NULL) == CADRE_OK &&
           event->type != CADRE_EVENT_STREAM_END)
        continue;
    // Whoever was told of the end may go on at once.
    cadre_error_clear(&err);
    if (CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "b", .session = "s"),
                                 &second, &err),
                 &err)) {
        CHECK_OK(cadre_run_wait(second, &result, &err), &err);
        CHECK_TEXT(result->text, "two");
        CHECK_TEXT(driven_request("alice", 1), "user: a\nassistant: one\nuser: b\n");
        cadre_run_free(second);
    }
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_run__a_lost_store_is_never_a_success),
    CHECK_TEST(test_run__no_tool_runs_for_an_answer_that_was_not_stored),
    CHECK_TEST(test_run__an_abort_wakes_whatever_blocks),
    CHECK_TEST(test_run__freed_in_mid_work_leaves_nothing),
    CHECK_TEST(test_run__freed_at_once_leaves_nothing),
    CHECK_TEST(test_run__abort_between_transfer_and_slow_tool),
    CHECK_TEST(test_run__its_time_ends_what_blocks),
    CHECK_TEST(test_run__who_stops_reading_holds_up_nobody_else),
    CHECK_TEST(test_run__an_unread_run_can_be_cancelled_and_waited_for),
    CHECK_TEST(test_run__freed_unread_or_half_read_leaves_nothing),
    CHECK_TEST(test_run__a_session_has_one_run_at_a_time),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/run", tests);
}
