// The handed cases of the wire, tests/cases/w*: bytes as servers have sent them, and
// what must come of them, however they are cut.
//
// Each stream is read in one piece, as chunks.txt cuts it, byte by byte, and cut in two
// at every position (sampled where the file is long); then once over HTTP.
#include "net/answer.h"
#include "net/sse.h"

#include "support/case_files.h"
#include "support/check.h"
#include "support/http_server.h"
#include "support/model_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CUTS 2500 // of one file in two

typedef struct reading {
    const cadre_model_ops *ops;
    void *state;
    void *reader;
    cadre_sink sink;
    cadre_error err;
} reading;

// The wire format of a case: of OpenAI chat where it names none.
static const cadre_model_ops *ops_of(const json_t *expected)
{
    const char *named = json_string_value(json_object_get(expected, "provider"));
    if (!named || strcmp(named, "openai-chat") == 0)
        named = "openai";
    return model_ops_find(strcmp(named, "openai-responses") == 0 ? "openai_responses"
                                                                 : named);
}

// Is the class one of the others that pass?
static bool is_accepted(const json_t *expected, const cadre_error *err)
{
    const json_t *names = json_object_get(expected, "accept_classes");
    const char *got = cadre_error_class_name(err->error_class);
    for (size_t i = 0; got && i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), got) == 0)
            return true;
    return false;
}

// What expected.json says of an error. The names of its classes are its own.
static void check_error(const json_t *expected, const cadre_error *err)
{
    const json_t *error = json_object_get(expected, "error");
    const char *class_name = json_string_value(json_object_get(error, "class"));
    const char *part = json_string_value(json_object_get(expected, "message_contains"));
    if (!CHECK(class_name != NULL))
        return;
    if (strcmp(class_name, "bad_content_type") == 0 ||
        strcmp(class_name, "malformed_call") == 0)
        class_name = "bad_response";
    if (strcmp(class_name, "stream_truncated") == 0)
        class_name = "truncated";
    if (!is_accepted(error, err))
        CHECK_TEXT(cadre_error_class_name(err->error_class), class_name);
    CHECK_INT(err->retryable, json_is_true(json_object_get(error, "retryable")));
    if (part)
        CHECK_CONTAINS(err->text, part);
}

static void check_call(const json_t *expected, const cdr_answer_call *call)
{
    const char *id = json_string_value(json_object_get(expected, "id"));
    json_t *arguments = json_loads(cdr_buf_text(&call->arguments), 0, NULL);
    CHECK(call->id.len > 0);
    if (id)
        CHECK_TEXT(cdr_buf_text(&call->id), id);
    CHECK_TEXT(cdr_buf_text(&call->name),
               json_string_value(json_object_get(expected, "name")));
    CHECK(json_equal(arguments, json_object_get(expected, "arguments")));
    json_decref(arguments);
}

static void check_texts(const json_t *expected, const cadre_sink *sink)
{
    const char *text = json_string_value(json_object_get(expected, "text"));
    const char *partial = json_string_value(json_object_get(expected, "partial_text"));
    const char *reasoning = json_string_value(json_object_get(expected, "reasoning"));
    if (text || partial)
        CHECK_TEXT(cdr_buf_text(&sink->text), text ? text : partial);
    if (reasoning)
        CHECK_TEXT(cdr_buf_text(&sink->reasoning), reasoning);
}

static void check_answer(const json_t *expected, const cadre_sink *sink)
{
    const json_t *calls = json_object_get(expected, "tool_calls");
    const json_t *usage = json_object_get(expected, "usage");
    CHECK_TEXT(cadre_finish_name(sink->finish),
               json_string_value(json_object_get(expected, "finish")));
    if (CHECK_INT(sink->n_calls, json_array_size(calls)))
        for (size_t i = 0; i < sink->n_calls; i++)
            check_call(json_array_get(calls, i), &sink->calls[i]);
    if (!usage)
        return;
    CHECK_INT(sink->usage.input_tokens,
              json_integer_value(json_object_get(usage, "input")));
    CHECK_INT(sink->usage.output_tokens,
              json_integer_value(json_object_get(usage, "output")));
}

static void check_outcome(const json_t *expected, const cadre_sink *sink,
                          const cadre_error *err)
{
    const char *outcome = json_string_value(json_object_get(expected, "outcome"));
    check_texts(expected, sink);
    if (outcome && strcmp(outcome, "error") == 0)
        check_error(expected, err);
    else if (CHECK_OK(err->status, err))
        check_answer(expected, sink);
}

static cadre_status on_event(void *ctx, const cadre_sse_event *event, cadre_error *err)
{
    reading *to = ctx;
    return to->ops->event(to->state, to->reader, event, &to->sink, err);
}

// Reads a stream whose pieces have the sizes that `next_size` gives.
static void read_stream(reading *to, const char *data, size_t len,
                        size_t (*next_size)(void *sizes), void *sizes)
{
    cdr_sse sse;
    cdr_sse_init(&sse, 0);
    cdr_answer_clear(&to->sink);
    cadre_error_clear(&to->err);
    memset(to->reader, 0, to->ops->reader_size);
    cadre_status status = CADRE_OK;
    for (size_t at = 0; at < len && status == CADRE_OK && !to->sink.ended;) {
        size_t size = next_size(sizes);
        size = size < len - at ? size : len - at;
        // On the heap, so that reading beyond a piece is noticed.
        char *piece = malloc(size);
        if (!CHECK(piece != NULL))
            break;
        memcpy(piece, data + at, size);
        status = cdr_sse_feed(&sse, piece, size, on_event, to, &to->err);
        free(piece);
        at += size;
    }
    if (status == CADRE_OK)
        status = cdr_sse_end(&sse, on_event, to, &to->err);
    if (status == CADRE_OK)
        cdr_answer_settle(&to->sink, &to->err);
    cdr_sse_fini(&sse);
}

static size_t same_size(void *sizes)
{
    return *(size_t *)sizes;
}

// The first piece has the given size, the other is all the rest.
static size_t two_sizes(void *sizes)
{
    size_t size = *(size_t *)sizes;
    *(size_t *)sizes = SIZE_MAX;
    return size;
}

// "173 2 9": the last size repeats; words end the list.
static size_t listed_size(void *sizes)
{
    char **at = sizes;
    char *end;
    size_t size = strtoul(*at, &end, 10);
    char *after;
    if (strtoul(end, &after, 10) > 0)
        *at = end;
    return size > 0 ? size : 1;
}

static void check_stream(const char *folder, const json_t *expected)
{
    size_t len = 0;
    size_t n_chunks = 0;
    char *data = case_file_read(folder, "stream.sse", &len);
    char *chunks = case_file_read(folder, "chunks.txt", &n_chunks);
    reading to = {.ops = ops_of(expected)};
    if (!data || !CHECK(to.ops != NULL)) {
        free(data);
        free(chunks);
        return;
    }
    to.state = model_open(to.ops, "http://127.0.0.1:1", NULL, &to.err);
    to.reader = malloc(to.ops->reader_size);
    cdr_answer_init(&to.sink);
    size_t size = len;
    read_stream(&to, data, len, same_size, &size);
    check_outcome(expected, &to.sink, &to.err);
    size = 1;
    read_stream(&to, data, len, same_size, &size);
    check_outcome(expected, &to.sink, &to.err);
    if (chunks) {
        char *at = chunks;
        read_stream(&to, data, len, listed_size, &at);
        check_outcome(expected, &to.sink, &to.err);
    }
    size_t step = len < MAX_CUTS ? 1 : len / (MAX_CUTS / 50) + 1;
    for (size_t cut = 1; cut < len; cut += step) {
        size = cut;
        read_stream(&to, data, len, two_sizes, &size);
        check_outcome(expected, &to.sink, &to.err);
    }
    cdr_answer_fini(&to.sink);
    model_close(to.ops, to.state);
    free(to.reader);
    free(chunks);
    free(data);
}

// Calls until an attempt is good or may not be repeated. Returns the attempts made.
static int call_over_http(cdr_network *network, http_server *server,
                          const json_t *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = ops_of(expected);
    void *state = model_open(ops, http_server_url(server), NULL, &err);
    cadre_request request = {.system = "Be brief.", .api_key = "k", .agent = "a"};
    model_call_config config = {.ops = ops, .state = state, .request = &request};
    int wanted = (int)json_integer_value(json_object_get(expected, "attempts"));
    int n_attempts = 0;
    model_call *call = NULL;
    do {
        model_call_free(call);
        cadre_error_clear(&err);
        call = model_call_start(network, &config, &err);
        if (!CHECK(call != NULL))
            break;
        n_attempts++;
        (void)model_call_finish(call, &err);
        CHECK(err.retry_after_ms >= 0 && err.retry_after_ms <= INT64_C(604800000));
        if (n_attempts == 1 && wanted > 1)
            CHECK(err.retryable && err.retry_after_ms < 2000);
    } while (n_attempts < wanted && err.retryable);
    if (call)
        check_outcome(expected, model_call_sink(call), &err);
    model_call_free(call);
    model_close(ops, state);
    return n_attempts;
}

static void check_over_http(const char *folder, const json_t *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    http_server *server = http_server_start(NULL);
    const json_t *attempts = json_object_get(expected, "attempts");
    CHECK(http_server_add_case(server, folder) > 0);
    if (CHECK_OK(cdr_network_open(&network, &err), &err)) {
        int n_attempts = call_over_http(network, server, expected);
        CHECK_INT(n_attempts, attempts ? json_integer_value(attempts) : 1);
    }
    cdr_network_close(network);
    http_server_stop(server);
}

typedef struct case_check {
    void (*check)(const char *folder, const json_t *expected);
    int n_cases;
} case_check;

static void check_case(void *ctx, const char *folder)
{
    case_check *to = ctx;
    const char *name = strrchr(folder, '/');
    if (!name || name[1] != 'w') // other kinds of cases have tests of their own
        return;
    to->n_cases++;
    size_t len = 0;
    char *text = case_file_read(folder, "expected.json", &len);
    json_t *expected = text ? json_loadb(text, len, 0, NULL) : NULL;
    unsigned n_failures = CU_get_number_of_failures();
    if (CHECK(expected != NULL) && CHECK(ops_of(expected) != NULL))
        to->check(folder, expected);
    if (CU_get_number_of_failures() > n_failures)
        (void)printf("\n  in %s\n", folder);
    json_decref(expected);
    free(text);
}

static int for_each_case(void (*check)(const char *folder, const json_t *expected))
{
    case_check to = {.check = check};
    (void)case_files_each(check_case, &to);
    return to.n_cases;
}

static void test_wire__same_bytes_give_the_same_answer_however_cut(void)
{
    CHECK(for_each_case(check_stream) >= 20);
}

static void test_wire__every_case_holds_over_http(void)
{
    CHECK(for_each_case(check_over_http) >= 20);
}

// The request that follows: what some endpoints refuse to go on without.
static void test_wire__reasoning_goes_back_beside_its_calls(void)
{
    static const cadre_tool_call call = {"t1", "look", "{}"};
    static const cadre_message asked = {.text = "hi", .role = CADRE_ROLE_USER};
    static const cadre_message said = {.text = "",
                                       .reasoning = "Think first.",
                                       .tool_calls = &call,
                                       .n_tool_calls = 1,
                                       .role = CADRE_ROLE_ASSISTANT,
                                       .position = 1};
    static const cadre_message result = {
        .text = "seen", .call_id = "t1", .role = CADRE_ROLE_TOOL, .position = 2};
    const cadre_request_item items[] = {
        {.message = &asked, .text = "hi"},
        {.message = &said, .text = ""},
        {.message = &result, .text = "seen"},
    };
    cadre_request request = {.system = "", .items = items, .n_items = 3, .agent = "a"};
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    void *state = model_open(ops, "http://h", NULL, &err);
    cadre_http http;
    cdr_http_init(&http);
    CHECK_OK(model_encode(ops, state, &request, &http, &err), &err);
    CHECK_CONTAINS(cdr_buf_text(&http.body),
                   "{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":"
                   "\"Think first.\",\"tool_calls\":[{\"id\":\"t1\"");
    cdr_http_fini(&http);
    model_close(ops, state);
}

// Five megabytes in pieces of a kilobyte: whoever searched each line from its start at
// every piece would need minutes, and run into the time limit of tests.
static void test_wire__a_long_line_in_small_pieces_is_read_once(void)
{
    size_t n = 5000000;
    static const char start[] =
        "data: "
        "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":"
        "\"t\",\"function\":{\"name\":\"save\",\"arguments\":\"{\\\"b\\\":\\\"";
    static const char end[] = "\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n";
    cdr_buf line = CDR_BUF_INIT;
    cdr_buf_append_text(&line, start);
    if (CHECK(cdr_buf_reserve(&line, n))) {
        memset(line.data + line.len, 'A', n);
        line.len += n;
    }
    cdr_buf_append_text(&line, end);
    reading to = {.ops = model_ops_find("openai")};
    to.state = model_open(to.ops, "http://h", NULL, &to.err);
    to.reader = malloc(to.ops->reader_size);
    cdr_answer_init(&to.sink);
    size_t size = 1024;
    read_stream(&to, line.data, line.len, same_size, &size);
    CHECK_OK(to.err.status, &to.err);
    if (CHECK_INT(to.sink.n_calls, 1))
        CHECK_INT(to.sink.calls[0].arguments.len, n + strlen("{\"b\":\"\"}"));
    cdr_answer_fini(&to.sink);
    model_close(to.ops, to.state);
    free(to.reader);
    cdr_buf_fini(&line);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_wire__same_bytes_give_the_same_answer_however_cut),
    CHECK_TEST(test_wire__every_case_holds_over_http),
    CHECK_TEST(test_wire__reasoning_goes_back_beside_its_calls),
    CHECK_TEST(test_wire__a_long_line_in_small_pieces_is_read_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/wire", tests);
}
