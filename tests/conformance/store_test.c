// What every store must keep and give back (ext/store.h); each claim is tried on
// each of them.
#include "support/store_case.h"

#include <stdlib.h>

static void check_id(cadre_id actual, cadre_id expected)
{
    CHECK_INT(actual.prefix, expected.prefix);
    CHECK_INT(actual.counter, expected.counter);
}

static void check_usage(const cadre_usage *actual, const cadre_usage *expected)
{
    CHECK_INT(actual->model_calls, expected->model_calls);
    CHECK_INT(actual->tool_calls, expected->tool_calls);
    CHECK_INT(actual->input_tokens, expected->input_tokens);
    CHECK_INT(actual->output_tokens, expected->output_tokens);
    CHECK_INT(actual->cached_input_tokens, expected->cached_input_tokens);
    CHECK_INT(actual->reasoning_tokens, expected->reasoning_tokens);
    CHECK_INT(actual->cost_usd_micros, expected->cost_usd_micros);
    CHECK_INT(actual->unpriced_calls, expected->unpriced_calls);
}

static void check_frame(const cadre_frame_row *actual, const cadre_frame_row *expected)
{
    check_id(actual->id, expected->id);
    check_id(actual->parent, expected->parent);
    check_id(actual->conversation, expected->conversation);
    CHECK_TEXT(actual->key, expected->key);
    CHECK_TEXT(actual->kind, expected->kind);
    CHECK_TEXT(actual->name, expected->name);
    CHECK_TEXT(actual->referer, expected->referer);
    CHECK_TEXT(actual->input, expected->input);
    CHECK_INT(actual->depth, expected->depth);
    CHECK_INT(actual->status, expected->status);
    CHECK_INT(actual->attempts, expected->attempts);
    CHECK_INT(actual->restarts, expected->restarts);
    CHECK_INT(actual->replay_safe, expected->replay_safe);
    CHECK_TEXT(actual->mark, expected->mark);
    CHECK_TEXT(actual->output, expected->output);
    CHECK_INT(actual->stop_reason, expected->stop_reason);
    CHECK_TEXT(actual->error, expected->error);
    CHECK_INT(actual->error_class, expected->error_class);
    CHECK_INT(actual->error_retryable, expected->error_retryable);
    check_usage(&actual->own, &expected->own);
    check_usage(&actual->usage, &expected->usage);
    CHECK_INT(actual->start_seq, expected->start_seq);
    CHECK_INT(actual->end_seq, expected->end_seq);
    CHECK_INT(actual->created_at, expected->created_at);
    CHECK_INT(actual->completed_at, expected->completed_at);
    CHECK_INT(actual->duration_ms, expected->duration_ms);
}

static void check_message(const cadre_message *actual, const cadre_message *expected)
{
    CHECK_TEXT(actual->agent, expected->agent);
    CHECK_TEXT(actual->to, expected->to);
    CHECK_TEXT(actual->text, expected->text);
    CHECK_TEXT(actual->reasoning, expected->reasoning);
    CHECK_TEXT(actual->call_id, expected->call_id);
    CHECK_TEXT(actual->tool_name, expected->tool_name);
    CHECK_INT(actual->position, expected->position);
    CHECK_INT(actual->seq, expected->seq);
    CHECK_INT(actual->role, expected->role);
    CHECK_INT(actual->code, expected->code);
    CHECK_INT(actual->is_input, expected->is_input);
    CHECK_TEXT(actual->model, expected->model ? expected->model : "");
    CHECK_TEXT(actual->mark, expected->mark ? expected->mark : "");
    CHECK_TEXT(actual->parts, expected->parts ? expected->parts : "");
    CHECK_TEXT(actual->items, expected->items ? expected->items : "");
    if (!CHECK_INT(actual->n_tool_calls, expected->n_tool_calls))
        return;
    for (size_t i = 0; i < actual->n_tool_calls; i++) {
        CHECK_TEXT(actual->tool_calls[i].id, expected->tool_calls[i].id);
        CHECK_TEXT(actual->tool_calls[i].name, expected->tool_calls[i].name);
        CHECK_TEXT(actual->tool_calls[i].arguments, expected->tool_calls[i].arguments);
    }
}

// Rows that a read must give, in order.
typedef struct expected_rows {
    const cadre_frame_row *frames;
    const cadre_message_row *messages;
    size_t n_left;
} expected_rows;

static cadre_status compare_frame(void *ctx, const cadre_frame_row *row,
                                  cadre_error *err)
{
    expected_rows *expected = ctx;
    if (!CHECK(expected->n_left > 0))
        return cadre_fail(err, CADRE_EFAILED, "a frame too many");
    expected->n_left--;
    check_frame(row, expected->frames++);
    return CADRE_OK;
}

static cadre_status compare_message(void *ctx, const cadre_message_row *row,
                                    cadre_error *err)
{
    expected_rows *expected = ctx;
    if (!CHECK(expected->n_left > 0))
        return cadre_fail(err, CADRE_EFAILED, "a message too many");
    expected->n_left--;
    check_id(row->id, expected->messages->id);
    check_id(row->conversation, expected->messages->conversation);
    check_id(row->frame, expected->messages->frame);
    check_message(&row->message, &expected->messages->message);
    CHECK_TEXT(row->request_id, expected->messages->request_id);
    CHECK_TEXT(row->request_hash, expected->messages->request_hash);
    expected->messages++;
    return CADRE_OK;
}

static void check_frames(store_case *s, uint64_t id, const cadre_frame_row *rows,
                         size_t n)
{
    expected_rows expected = {.frames = rows, .n_left = n};
    const cadre_store_reader reader = {.frame = compare_frame, .ctx = &expected};
    cadre_error_clear(&s->err);
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(id)};
    CHECK_OK(s->ops->read(s->state, &query, &reader, &s->err), &s->err);
    CHECK_INT(expected.n_left, 0);
}

static void check_session(store_case *s, const char *name,
                          const cadre_message_row *rows, size_t n)
{
    expected_rows expected = {.messages = rows, .n_left = n};
    const cadre_store_reader reader = {.message = compare_message, .ctx = &expected};
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = name};
    cadre_error_clear(&s->err);
    CHECK_OK(s->ops->read(s->state, &query, &reader, &s->err), &s->err);
    CHECK_INT(expected.n_left, 0);
}

// What was written.

static const cadre_frame_row full_birth = {
    .id = {1ULL << 59, 1ULL << 62},
    .conversation = {77, 100},
    .key = "turn/1",
    .kind = "tool",
    .name = "add",
    .referer = "agent_fork",
    .input = "{\"a\": 1}",
    .depth = 7,
    .status = CADRE_FRAME_PENDING,
    .attempts = 2,
    .restarts = 1,
    .replay_safe = true,
    .mark = "",
    .output = "",
    .error = "",
    .start_seq = INT64_MAX - 1,
    .created_at = 1790000000123,
};

static void test_store__reads_back_every_field_of_a_birth(void)
{
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame = full_birth;
    CHECK_COMMIT(&tested, 1, fact_conversation(100, ""), fact_trace(1), birth);
    check_frames(&tested, 1, &full_birth, 1);
}

static const cadre_usage some_usage = {1, 2, 3000000000, 4, 5, 6, 7, 8};
static const cadre_usage more_usage = {10, 20, INT64_MAX, 40, 50, 60, 70, 80};

// The frame of full_birth after its end.
static cadre_frame_row full_end(cadre_usage own, cadre_usage usage)
{
    cadre_frame_row row = full_birth;
    row.status = CADRE_FRAME_FAILED;
    row.output = "half an answer";
    row.stop_reason = CADRE_STOP_ERROR;
    row.error = "model 'm': 429";
    row.error_class = CADRE_CLASS_RATE_LIMITED;
    row.error_retryable = true;
    row.own = own;
    row.usage = usage;
    row.end_seq = 44;
    row.completed_at = 1790000000999;
    row.duration_ms = 876;
    return row;
}

static void test_store__reads_back_every_field_of_an_end(void)
{
    const cadre_usage none = {0};
    const cadre_usage usages[][2] = {{some_usage, more_usage},
                                     {some_usage, some_usage},
                                     {none, more_usage},
                                     {some_usage, none},
                                     {none, none}};
    for (uint64_t i = 0; i < N_OF(usages); i++) {
        cadre_frame_row expected = full_end(usages[i][0], usages[i][1]);
        expected.id = store_id(1000 + i);
        cadre_fact birth = {.type = CADRE_FACT_FRAME};
        birth.u.frame = full_birth;
        birth.u.frame.id = expected.id;
        birth.u.frame.conversation = expected.conversation = store_id(100 + i);
        cadre_fact ending = {.type = CADRE_FACT_END};
        ending.u.frame = expected;
        CHECK_COMMIT(&tested, i + 1, fact_conversation(100 + i, ""), fact_trace(i + 1),
                     birth, ending);
        check_frames(&tested, i + 1, &expected, 1);
    }
}

static void test_store__end_changes_only_what_is_of_an_end(void)
{
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame = full_birth;
    cadre_fact ending = {.type = CADRE_FACT_END};
    ending.u.frame = (cadre_frame_row){.id = full_birth.id,
                                       .status = CADRE_FRAME_TIMEOUT,
                                       .stop_reason = CADRE_STOP_TIMEOUT};
    CHECK_COMMIT(&tested, 1, fact_conversation(100, ""), fact_trace(1), birth);
    CHECK_COMMIT(&tested, 1, ending);
    cadre_frame_row expected = full_birth;
    expected.status = CADRE_FRAME_TIMEOUT;
    expected.stop_reason = CADRE_STOP_TIMEOUT;
    check_frames(&tested, 1, &expected, 1);
}

static void test_store__end_tells_attempts_unless_0(void)
{
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame = full_birth;
    cadre_fact ending = {.type = CADRE_FACT_END};
    ending.u.frame = full_end(some_usage, more_usage);
    ending.u.frame.attempts = 5;
    CHECK_COMMIT(&tested, 1, fact_conversation(100, ""), fact_trace(1), birth, ending);
    check_frames(&tested, 1, &ending.u.frame, 1);
}

static void test_store__reads_back_every_field_of_a_message(void)
{
    const cadre_tool_call calls[] = {{"call_1", "add", "{\"a\": 1}"}, {"", "x", "{}"}};
    const cadre_message_row rows[] = {
        {.id = {77, 901},
         .conversation = {77, 100},
         .frame = {77, 1},
         .message = {.agent = "",
                     .to = "alice",
                     .text = "hi",
                     .reasoning = "",
                     .call_id = "",
                     .tool_name = "",
                     .position = 0,
                     .seq = 1,
                     .role = CADRE_ROLE_USER,
                     .is_input = true,
                     .parts = "[{\"type\":\"image\"}]"},
         .request_id = "order-1042",
         .request_hash = "9f86d081"},
        {.id = {77, 902},
         .conversation = {77, 100},
         .frame = {77, 1},
         .message = {.agent = "alice",
                     .to = "",
                     .text = "",
                     .reasoning = "must add",
                     .tool_calls = calls,
                     .n_tool_calls = 2,
                     .call_id = "",
                     .tool_name = "",
                     .position = 1,
                     .seq = 2,
                     .role = CADRE_ROLE_ASSISTANT,
                     .model = "openai/gpt-5",
                     .mark = "interrupted",
                     .items = "[{\"place\":0,\"item\":{}}]"},
         .request_id = "",
         .request_hash = ""},
        {.id = {77, 903},
         .conversation = {77, 100},
         .frame = {0, 0},
         .message = {.agent = "alice",
                     .to = "bob",
                     .text = "denied",
                     .reasoning = "",
                     .call_id = "call_1",
                     .tool_name = "add",
                     .position = 2,
                     .seq = INT64_MAX,
                     .role = CADRE_ROLE_TOOL,
                     .code = CADRE_RESULT_BLOCKED},
         .request_id = "",
         .request_hash = ""},
    };
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"));
    for (size_t i = 0; i < N_OF(rows); i++) {
        cadre_fact fact = {.type = CADRE_FACT_MESSAGE};
        fact.u.message = rows[i];
        CHECK_COMMIT(&tested, 1, fact);
    }
    check_session(&tested, "chat", rows, N_OF(rows));
}

static cadre_status note_trace(void *ctx, const cadre_message_row *row,
                               cadre_error *err)
{
    cadre_id *trace = ctx;
    (void)err;
    if (row->request_id[0] != '\0')
        *trace = row->trace;
    return CADRE_OK;
}

// Also when it was posted, and is said by a run of the session later.
static void test_store__tells_whose_request_it_was(void)
{
    for (int is_posted = 0; is_posted < 2; is_posted++) {
        cadre_id trace = {0, 0};
        uint64_t id = is_posted ? 20 : 10;
        const char *name = is_posted ? "posted" : "said";
        const cadre_store_reader reader = {.message = note_trace, .ctx = &trace};
        const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = name};
        cadre_fact said = fact_message(100 + id, id, 0, "x");
        said.u.message.request_id = "r";
        said.u.message.request_hash = "x";
        CHECK_COMMIT(&tested, id, fact_conversation(100 + id, name), fact_trace(id),
                     fact_in(fact_frame(id, 0, "root"), 100 + id));
        if (is_posted) {
            cadre_fact posted = fact_post(901, 100 + id, "x", "r");
            said.u.message.id = posted.u.message.id;
            CHECK_OK(store_post(&tested, &posted, 1), &tested.err);
        }
        CHECK_COMMIT(&tested, id, said);
        CHECK_OK(tested.ops->read(tested.state, &query, &reader, &tested.err),
                 &tested.err);
        check_id(trace, store_id(id));
    }
}

static void test_store__null_texts_are_empty(void)
{
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame.id = store_id(1);
    cadre_fact said = fact_message(100, 1, 0, NULL);
    cadre_fact opened = fact_conversation(101, NULL);
    cadre_fact begun = fact_trace(1);
    begun.u.trace.team = begun.u.trace.options = NULL;
    CHECK_COMMIT(&tested, 1, begun, fact_conversation(100, "chat"), opened, birth, said,
                 fact_end(1, NULL));
    cadre_frame_row expected = {.id = store_id(1),
                                .key = "",
                                .kind = "",
                                .name = "",
                                .referer = "",
                                .input = "",
                                .mark = "",
                                .output = "",
                                .error = "",
                                .status = CADRE_FRAME_COMPLETED,
                                .stop_reason = CADRE_STOP_FINAL};
    check_frames(&tested, 1, &expected, 1);
    cadre_message_row row = said.u.message;
    row.message = (cadre_message){.agent = "",
                                  .to = "",
                                  .text = "",
                                  .reasoning = "",
                                  .call_id = "",
                                  .tool_name = ""};
    row.request_id = row.request_hash = "";
    check_session(&tested, "chat", &row, 1);
}

static void test_store__keeps_any_utf8(void)
{
    static const char text[] = "\x01\t\n\r\"'\\%s;-- \x7f gr\xc3\xbc\xc3\x9f "
                               "\xe4\xbd\xa0\xe5\xa5\xbd \xf0\x9f\xa6\x86 "
                               "\xf4\x8f\xbf\xbf e\xcc\x81";
    cadre_frame_row expected = full_end(some_usage, more_usage);
    expected.key = expected.kind = expected.name = expected.referer = text;
    expected.input = expected.output = expected.error = text;
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame = expected;
    birth.u.frame.status = CADRE_FRAME_PENDING;
    cadre_fact ending = {.type = CADRE_FACT_END};
    ending.u.frame = expected;
    CHECK_COMMIT(&tested, 1, fact_conversation(100, text), fact_trace(1), birth, ending,
                 fact_message(100, 0, 0, text));
    check_frames(&tested, 1, &expected, 1);
    CHECK_CONTAINS(store_session(&tested, text), text);
    CHECK_CONTAINS(tested.seen, "in 100\n");
}

static void test_store__keeps_texts_of_a_mebibyte(void)
{
    const size_t len = (size_t)1024 * 1024;
    char *text = malloc(len + 1);
    if (!CHECK(text != NULL))
        return;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)('a' + i % 23);
    text[len] = '\0';
    cadre_frame_row expected = full_end(some_usage, more_usage);
    expected.input = expected.output = text;
    cadre_fact birth = {.type = CADRE_FACT_FRAME};
    birth.u.frame = expected;
    birth.u.frame.status = CADRE_FRAME_PENDING;
    cadre_fact ending = {.type = CADRE_FACT_END};
    ending.u.frame = expected;
    cadre_fact said = fact_message(100, 0, 0, text);
    said.u.message.message.agent = said.u.message.message.to = "";
    said.u.message.message.reasoning = said.u.message.message.call_id = "";
    said.u.message.message.tool_name = "";
    said.u.message.request_id = said.u.message.request_hash = "";
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "big"), fact_trace(1), birth,
                 ending, said);
    check_frames(&tested, 1, &expected, 1);
    check_session(&tested, "big", &said.u.message, 1);
    free(text);
}

static void test_store__running_counts_attempts(void)
{
    store_start(&tested);
    cadre_fact birth = fact_frame(2, 1, "turn");
    birth.u.frame.status = CADRE_FRAME_PENDING;
    birth.u.frame.start_seq = 5;
    CHECK_COMMIT(&tested, 1, birth);
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 pending\n");
    CHECK_COMMIT(&tested, 1, fact_running(2, 3));
    cadre_frame_row expected[] = {fact_frame(1, 0, "root").u.frame, birth.u.frame};
    for (size_t i = 0; i < N_OF(expected); i++) {
        expected[i].input = expected[i].mark = "";
        expected[i].output = expected[i].error = "";
    }
    expected[1].status = CADRE_FRAME_RUNNING;
    expected[1].attempts = 3;
    check_frames(&tested, 1, expected, N_OF(expected));
    CHECK_COMMIT(&tested, 1, fact_end(2, "done"), fact_running(2, 4));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 completed = done\n");
}

// Order and isolation.

static void test_store__gives_parents_before_children(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(9, 1, "a"));
    CHECK_COMMIT(&tested, 1, fact_frame(5, 9, "a"), fact_frame(7, 1, "b"),
                 fact_frame(3, 5, "a"));
    CHECK_TEXT(store_frames(&tested, 1),
               "1<0 running\n9<1 running\n5<9 running\n7<1 running\n3<5 running\n");
}

static void test_store__gives_messages_by_position(void)
{
    CHECK_COMMIT(&tested, 1, fact_trace(1), fact_conversation(100, "chat"),
                 fact_conversation(101, ""), fact_message(100, 0, 0, "a"),
                 fact_message(101, 0, 0, "other"), fact_message(100, 0, 1, "b"));
    CHECK_COMMIT(&tested, 1, fact_message(101, 0, 1, "other"),
                 fact_message(100, 0, 2, "c"));
    CHECK_TEXT(store_session(&tested, "chat"), "0 a\n1 b\n2 c\nin 100\n");
}

static void test_store__trace_gives_messages_of_its_conversations(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_message(100, 1, 0, "earlier"),
                 fact_end(1, ""));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"),
                 fact_conversation(102, ""), fact_conversation(101, ""),
                 fact_in(fact_frame(3, 2, "a"), 102),
                 fact_in(fact_frame(4, 2, "b"), 101));
    CHECK_COMMIT(&tested, 2, fact_message(101, 4, 0, "c"), fact_message(102, 3, 0, "a"),
                 fact_message(100, 2, 1, "chat"), fact_message(102, 3, 1, "b"),
                 fact_post(900, 100, "waits", NULL));
    CHECK_TEXT(store_read_trace(&tested, 2, &store_messages_only),
               "0 earlier\n1 chat\n0 a\n1 b\n0 c\n-1 waits\n");
}

static void test_store__keeps_traces_apart(void)
{
    store_start(&tested);
    CHECK_COMMIT(&tested, 2, fact_conversation(200, ""), fact_trace(2),
                 fact_in(fact_frame(21, 0, "root"), 200),
                 fact_in(fact_frame(22, 21, "a"), 200));
    CHECK_COMMIT(&tested, 2, fact_mark(21, "request"));
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"));
    CHECK_TEXT(store_frames(&tested, 1), "1<0 running\n2<1 running\n");
    CHECK_TEXT(store_frames(&tested, 2),
               "21<0 running marked request\n22<21 running marked request\n");
    CHECK_VIOLATION(&tested, 2, fact_end(2, "of another trace"));
    CHECK_VIOLATION(&tested, 2, fact_frame(23, 1, "b"));
}

static void test_store__knows_nothing_of_what_was_not_written(void)
{
    CHECK_TEXT(store_frames(&tested, 1), "");
    CHECK_TEXT(store_session(&tested, "chat"), "in 0\n");
    CHECK_TEXT(store_session(&tested, ""), "in 0\n");
    store_start(&tested);
    CHECK_TEXT(store_frames(&tested, 2), "");
    CHECK_TEXT(store_session(&tested, ""), "in 0\n");
}

static cadre_status give_up(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    (void)row;
    int *n_calls = ctx;
    ++*n_calls;
    return cadre_fail(err, CADRE_EFAILED, "enough");
}

static void test_store__returns_what_the_reader_returns(void)
{
    int n_calls = 0;
    const cadre_store_reader reader = {.frame = give_up, .ctx = &n_calls};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    store_start(&tested);
    CHECK_COMMIT(&tested, 1, fact_frame(2, 1, "a"));
    cadre_error_clear(&tested.err);
    CHECK_STATUS(tested.ops->read(tested.state, &query, &reader, &tested.err),
                 CADRE_EFAILED, &tested.err);
    CHECK_INT(n_calls, 1);
}

// Sessions.

static void test_store__session_goes_on_in_later_traces(void)
{
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_message(100, 1, 0, "one"),
                 fact_end(1, ""));
    CHECK_COMMIT(&tested, 2, fact_trace(2), fact_frame(2, 0, "root"),
                 fact_message(100, 2, 1, "two"), fact_end(2, ""));
    CHECK_COMMIT(&tested, 3, fact_trace(3), fact_frame(3, 0, "root"));
    CHECK_VIOLATION(&tested, 3, fact_message(100, 3, 1, "taken"));
    CHECK_COMMIT(&tested, 3, fact_message(100, 3, 2, "three"));
    CHECK_TEXT(store_session(&tested, "chat"), "0 one\n1 two\n2 three\nin 100\n");
    CHECK_TEXT(store_session(&tested, "Chat"), "in 0\n");
}

static void test_store__release_keeps_sessions_and_other_traces(void)
{
    if (!tested.ops->release)
        return;
    for (uint64_t i = 1; i <= 200; i++)
        CHECK_COMMIT(&tested, i, fact_trace(i), fact_conversation(1000 + i, ""),
                     fact_in(fact_frame(i, 0, "root"), 1000 + i),
                     fact_message(1000 + i, i, 0, "x"));
    CHECK_COMMIT(&tested, 1, fact_conversation(100, "chat"),
                 fact_message(100, 1, 0, "one"));
    for (uint64_t i = 1; i <= 200; i++) {
        if (i % 50 != 0)
            tested.ops->release(tested.state, store_id(i));
    }
    tested.ops->release(tested.state, store_id(1)); // again
    CHECK_TEXT(store_session(&tested, "chat"), "0 one\nin 100\n");
    CHECK_TEXT(store_frames(&tested, 50), "50<0 running\n");
    CHECK_TEXT(store_frames(&tested, 200), "200<0 running\n");
    CHECK_COMMIT(&tested, 150, fact_in(fact_frame(300, 150, "a"), 1150),
                 fact_message(100, 150, 1, "two"));
    CHECK_TEXT(store_frames(&tested, 150), "150<0 running\n300<150 running\n");
    CHECK_TEXT(store_session(&tested, "chat"), "0 one\n1 two\nin 100\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_store__reads_back_every_field_of_a_birth),
    CHECK_TEST(test_store__reads_back_every_field_of_an_end),
    CHECK_TEST(test_store__end_changes_only_what_is_of_an_end),
    CHECK_TEST(test_store__end_tells_attempts_unless_0),
    CHECK_TEST(test_store__reads_back_every_field_of_a_message),
    CHECK_TEST(test_store__tells_whose_request_it_was),
    CHECK_TEST(test_store__null_texts_are_empty),
    CHECK_TEST(test_store__keeps_any_utf8),
    CHECK_TEST(test_store__keeps_texts_of_a_mebibyte),
    CHECK_TEST(test_store__running_counts_attempts),
    CHECK_TEST(test_store__gives_parents_before_children),
    CHECK_TEST(test_store__gives_messages_by_position),
    CHECK_TEST(test_store__trace_gives_messages_of_its_conversations),
    CHECK_TEST(test_store__keeps_traces_apart),
    CHECK_TEST(test_store__knows_nothing_of_what_was_not_written),
    CHECK_TEST(test_store__returns_what_the_reader_returns),
    CHECK_TEST(test_store__session_goes_on_in_later_traces),
    CHECK_TEST(test_store__release_keeps_sessions_and_other_traces),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return store_case_main("conformance/store", tests);
}
