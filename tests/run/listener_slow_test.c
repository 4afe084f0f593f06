// Listeners that take their time, and runs that nobody reads: memory stays bounded, and
// nobody else is held up.
#include "support/http_server.h"
#include "support/listen_case.h"

#include "base/buf.h"
#include "tree/tree.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

// --- Slow ones ---

static gate in_listener = GATE_INIT;

// Reads the run to its end on a thread of its own.
static struct {
    pthread_t thread;
    const char *awaits;    // an agent
    gate has_ended;        // passed when that has
    atomic_size_t n_shown; // bytes of text
} reader = {.has_ended = GATE_INIT};

static void *read_run(void *arg)
{
    const cadre_event *event = NULL;
    while (cadre_run_next(arg, &event, NULL) == CADRE_OK) {
        if (event->type == CADRE_EVENT_TEXT_DELTA)
            atomic_fetch_add(&reader.n_shown, event->u.delta.len);
        if (event->type == CADRE_EVENT_FRAME_END &&
            strcmp(event->agent, reader.awaits) == 0)
            gate_pass(&reader.has_ended);
    }
    return NULL;
}

static void start_reading(const char *awaits)
{
    reader.awaits = awaits;
    gate_reset(&reader.has_ended);
    gate_open(&reader.has_ended);
    atomic_store(&reader.n_shown, 0);
    CHECK_INT(pthread_create(&reader.thread, NULL, read_run, t.run), 0);
}

static void finish_reading(void)
{
    pthread_join(reader.thread, NULL);
    CHECK_OK(cadre_run_wait(t.run, &t.result, &t.err), &t.err);
    CHECK_OK(listened.status, &listened.err);
}

static bool stand_at_start(const cadre_event *event)
{
    if (event->type == CADRE_EVENT_MESSAGE_START)
        gate_pass(&in_listener);
    return true;
}

enum {
    N_PIECES = 400,
    PIECE = 4096
};

static atomic_int n_emitted;

static cadre_status emit_much(void *ctx, cadre_frame *frame, cadre_error *err)
{
    char *piece = cadre_frame_alloc(frame, PIECE);
    (void)ctx;
    memset(piece, '.', PIECE);
    for (int i = 0; i < N_PIECES; i++) {
        cadre_frame_emit(frame, piece, PIECE);
        atomic_fetch_add(&n_emitted, 1);
    }
    return cadre_frame_set_output(frame, "much", err);
}

// The queue that the lead listens by, once something of that callee was told to it.
static cdr_queue *hearing_queue(const char *key)
{
    cadre_frame *root = listen_frame->tree->root;
    cdr_mutex_lock(&root->tree->mu);
    const cadre_frame *child = cdr_frame_child_locked(root, key);
    cdr_queue *queue = &child->ear->hearing->queue;
    cdr_mutex_unlock(&root->tree->mu);
    return queue;
}

static bool is_somebody_waiting(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    bool is = queue->n_blocked > 0 || queue->paused != NULL;
    cdr_mutex_unlock(&queue->mu);
    return is;
}

static void await_somebody_waiting(cdr_queue *queue)
{
    while (!is_somebody_waiting(queue))
        sched_yield();
}

// A queue that is full, and what was taken out of it for the listener at once.
static void check_held_up(void)
{
    CHECK(atomic_load(&n_emitted) <= 2 * (int)(CDR_QUEUE_LIMIT / PIECE) + 4);
}

// While it stands still the one is held up, and the other goes on to its end.
static void test_listener__that_is_slow_holds_up_its_callee_and_no_more(void)
{
    batch_case_open(&t, listen_lead);
    batch_case_add(&t, "much", emit_much, NULL);
    gate_reset(&in_listener);
    gate_reset(&batch_quick);
    atomic_store(&n_emitted, 0);
    listen_set(LISTEN_BATCH, CADRE_ALL, "much", "quick");
    listen_at = stand_at_start;
    if (batch_case_start(&t)) {
        start_reading("quick");
        CHECK(gate_await(&in_listener, 1));
        await_somebody_waiting(hearing_queue("b1/1"));
        gate_open(&batch_quick);
        CHECK(gate_await(&reader.has_ended, 1));
        check_held_up();
        gate_open(&in_listener);
        finish_reading();
        CHECK_TEXT(listened.texts[0], "much: much");
        CHECK(strlen(listen_text()) > (size_t)N_PIECES * PIECE);
    }
    listen_close(&t);
}

static cadre_status progress_much(void *ctx, cadre_frame *frame,
                                  const json_t *arguments, cadre_error *err)
{
    (void)arguments;
    return emit_much(ctx, frame, err);
}

static bool stand_at_call(const cadre_event *event)
{
    if (event->type == CADRE_EVENT_TOOL_CALL)
        gate_pass(&in_listener);
    return true;
}

static void test_listener__that_is_slow_holds_up_a_tools_progress(void)
{
    batch_case_open(&t, listen_lead);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "work", .run = progress_much));
    batch_case_add_llm(&t, "worker", DRIVEN_MODEL);
    DRIVEN("worker", "call work {}", "say done");
    gate_reset(&in_listener);
    atomic_store(&n_emitted, 0);
    listen_set(LISTEN_CALL, CADRE_ALL, "worker", NULL);
    listen_at = stand_at_call;
    if (batch_case_start(&t)) {
        start_reading("worker");
        CHECK(gate_await(&in_listener, 1));
        await_somebody_waiting(hearing_queue("worker#1"));
        check_held_up();
        gate_open(&in_listener);
        finish_reading();
        CHECK(strlen(listen_text()) > (size_t)N_PIECES * PIECE);
    }
    listen_close(&t);
}

// --- A transfer that is paused ---

enum {
    N_CHUNKS = 3000 // of a kilobyte each
};

static char *long_stream(size_t *len)
{
    static const char end[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}"
        "\n\ndata: [DONE]\n\n";
    cdr_buf text = CDR_BUF_INIT;
    for (int i = 0; i < N_CHUNKS; i++)
        cdr_buf_printf(&text,
                       "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                       "\"%01000d\"}}]}\n\n",
                       i);
    cdr_buf_append_text(&text, end);
    *len = text.len;
    return cdr_buf_take(&text);
}

// The long answer for the one, a short one for the other.
static int choose(void *ctx, const http_request *request)
{
    (void)ctx;
    return strstr(request->body, "short") == NULL ? 0 : 1;
}

static cadre_status ask_short(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&batch_quick);
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "brief"), .input = "short"),
        NULL, err);
}

static void test_listener__that_is_slow_pauses_the_transfer_and_no_other(void)
{
    size_t len = 0;
    char *stream = long_stream(&len);
    static const char brief[] =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},"
        "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    const http_server_config config = {.choose = choose};
    http_server *server = http_server_start(&config);
    http_server_add_stream(server, stream, len, "16384");
    http_server_add_stream(server, brief, sizeof brief - 1, NULL);
    batch_case_open(&t, listen_lead);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "wire", .model = "openai/m",
                                             .base_url = http_server_url(server),
                                             .api_key_env = ""));
    batch_case_add_llm(&t, "online", "wire");
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "brief", .model = "wire"));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "other", .run = ask_short,
                                                   .members = CADRE_NAMES("brief")));
    batch_case_add_name("other");
    gate_reset(&batch_quick);
    gate_reset(&in_listener);
    listen_set(LISTEN_BATCH, CADRE_ALL, "online", "other");
    listen_at = stand_at_start;
    if (batch_case_start(&t)) {
        start_reading("brief");
        CHECK(gate_await(&in_listener, 1));
        await_somebody_waiting(hearing_queue("b1/1"));
        gate_open(&batch_quick);
        CHECK(gate_await(&reader.has_ended, 1));
        // Beyond the queue there is one read of the network.
        CHECK(atomic_load(&reader.n_shown) < 4 * CDR_QUEUE_LIMIT);
        CHECK(is_somebody_waiting(hearing_queue("b1/1")));
        gate_open(&in_listener);
        finish_reading();
        CHECK_TEXT(listened.texts[1], "brief: ok");
        const char *last = strstr(listen_text(), "message_end assistant 000");
        CHECK(last != NULL && strlen(last) > (size_t)N_CHUNKS * 1000);
    }
    listen_close(&t);
    http_server_stop(server);
    free(stream);
}

// --- A consumer that does not read ---

static gate has_heard = GATE_INIT;

static bool note_text(const cadre_event *event)
{
    if (event->type == CADRE_EVENT_TEXT_DELTA)
        gate_pass(&has_heard);
    return true;
}

// The run's queue is full; who listens hears what there was, and nothing hangs.
static void check_unread(bool must_cancel, cadre_wait wait)
{
    batch_case_open(&t, listen_lead);
    batch_case_add(&t, "much", emit_much, NULL);
    gate_reset(&has_heard);
    gate_open(&has_heard);
    atomic_store(&n_emitted, 0);
    listen_set(LISTEN_BATCH, wait, "much", "sleeper");
    if (wait == CADRE_ALL)
        listened.names[1] = "quick";
    listen_at = note_text;
    if (batch_case_start(&t)) {
        CHECK(gate_await(&has_heard, 1));
        await_somebody_waiting(&listen_frame->tree->queue);
        CHECK(atomic_load(&n_emitted) <= 2 * (int)(CDR_QUEUE_LIMIT / PIECE) + 2);
        if (must_cancel)
            cadre_run_cancel(t.run, "enough");
        team_case_finish(&t);
        CHECK_STATUS(t.status, must_cancel ? CADRE_EABORTED : CADRE_OK, &t.err);
        if (!must_cancel)
            CHECK_TEXT(listened.texts[0], "much: much");
    }
    listen_close(&t);
}

static void test_listener__works_while_nobody_reads_the_run(void)
{
    check_unread(false, CADRE_ALL);
    check_unread(false, CADRE_ANY);
    check_unread(true, CADRE_ALL);
    check_unread(true, CADRE_RACE);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_listener__that_is_slow_holds_up_its_callee_and_no_more),
    CHECK_TEST(test_listener__that_is_slow_holds_up_a_tools_progress),
    CHECK_TEST(test_listener__that_is_slow_pauses_the_transfer_and_no_other),
    CHECK_TEST(test_listener__works_while_nobody_reads_the_run),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/listener_slow", tests);
}
