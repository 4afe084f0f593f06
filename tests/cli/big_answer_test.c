// Answers of unusual size and shape: two mebibytes of text, a thousand tool calls at
// once, arguments nested without end, bytes that are no text. What can be used is used,
// the rest goes back to the model as the result of its call.
#include "support/online.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES ((size_t)2 * 1024 * 1024)
#define MOST_CALLS 128 // of one answer
#define FINISH_CALLS ONLINE_FINISH("tool_calls") ONLINE_DONE

static void add_stream(http_server *server, const cdr_buf *body, const char *chunks)
{
    CHECK(!body->failed);
    http_server_add_stream(server, body->data, body->len, chunks);
}

static void add_answer(http_server *server, const char *body)
{
    http_server_add_stream(server, body, strlen(body), NULL);
}

// The nth message of the request as the server got it. Borrowed from `body`, which
// the caller frees.
static const json_t *message_at(http_server *server, int request, size_t nth,
                                json_t **body)
{
    const http_request *found = http_server_request(server, request);

    *body = found ? json_loads(found->body, 0, NULL) : NULL;
    return json_array_get(json_object_get(*body, "messages"), nth);
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// Writes a call of `echo` as one delta.
static void write_call(cdr_buf *body, int index, const char *arguments)
{
    cdr_buf_printf(body,
                   "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{"
                   "\"index\":%d,\"id\":\"call_%d\",\"type\":\"function\","
                   "\"function\":{\"name\":\"echo\",\"arguments\":\"%s\"}}]}}]}\n\n",
                   index, index, arguments);
}

static void test_big_answer__two_mebibytes_of_text_come_out_whole(void)
{
    http_server *server = http_server_start(NULL);
    char *expected = malloc(TEXT_BYTES + 2);
    cdr_buf body = CDR_BUF_INIT;
    online_result ran;

    if (!CHECK(expected != NULL))
        return;
    for (size_t i = 0; i < TEXT_BYTES; i++)
        expected[i] = (char)('a' + (i / 64 + i) % 26);
    for (size_t i = 0; i < TEXT_BYTES; i += 4096)
        cdr_buf_printf(&body, ONLINE_TEXT("%.4096s"), expected + i);
    cdr_buf_append_text(&body, ONLINE_FINISH("stop") ONLINE_DONE);
    add_stream(server, &body, "1000 7 65536");
    memcpy(expected + TEXT_BYTES, "\n", 2);
    const online_config config = {0};
    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_BYTES(ran.program.out, ran.program.out_len, expected, TEXT_BYTES + 1);
    }
    online_result_fini(&ran);
    cdr_buf_fini(&body);
    free(expected);
    http_server_stop(server);
}

static void add_calls(http_server *server, int n_calls)
{
    cdr_buf body = CDR_BUF_INIT;

    for (int i = 0; i < n_calls; i++)
        write_call(&body, i, "{}");
    cdr_buf_append_text(&body, FINISH_CALLS);
    add_stream(server, &body, NULL);
    cdr_buf_fini(&body);
}

// Every call has its result, in the order of the calls.
static void check_results(http_server *server, size_t n_calls)
{
    json_t *body = NULL;

    message_at(server, 1, 0, &body);
    const json_t *messages = json_object_get(body, "messages");
    if (CHECK_INT(json_array_size(messages), 3 + n_calls)) {
        for (size_t i = 0; i < n_calls; i++) {
            const json_t *result = json_array_get(messages, 3 + i);
            char id[32];
            (void)snprintf(id, sizeof(id), "call_%zu", i);
            CHECK_TEXT(text_of(result, "role"), "tool");
            CHECK_TEXT(text_of(result, "tool_call_id"), id);
            CHECK_TEXT(text_of(result, "content"), "{}");
        }
    }
    json_decref(body);
}

static void test_big_answer__every_call_of_a_full_turn_gets_its_result(void)
{
    http_server *server = http_server_start(NULL);
    online_result ran;

    add_calls(server, MOST_CALLS);
    add_answer(server, ONLINE_ANSWER("It came."));
    if (ONLINE_RUN(&ran, server, "--json")) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.output, "It came.");
        CHECK_INT(ran.n_tool_calls, MOST_CALLS);
        check_results(server, MOST_CALLS);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_big_answer__a_thousand_calls_at_once_are_no_answer(void)
{
    http_server *server = http_server_start(NULL);
    online_result ran;

    add_calls(server, 1000);
    if (ONLINE_RUN(&ran, server, "--json")) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(ran.status, "failed");
        CHECK_TEXT(ran.error_class, "bad_response");
        CHECK_TEXT(
            ran.message,
            "agent 'solo': model 'near': the answer has more than 128 tool calls");
        CHECK_INT(ran.n_tool_calls, 0);
        CHECK_INT(http_server_request_count(server), 1);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

// One call with these arguments; gives what the model is told of it.
static void check_refused_arguments(const char *arguments, const char *part)
{
    http_server *server = http_server_start(NULL);
    cdr_buf body = CDR_BUF_INIT;
    online_result ran;
    json_t *request = NULL;

    write_call(&body, 0, arguments);
    cdr_buf_append_text(&body, FINISH_CALLS);
    add_stream(server, &body, NULL);
    add_answer(server, ONLINE_ANSWER("It came."));
    if (ONLINE_RUN(&ran, server, "--json")) {
        const json_t *result = message_at(server, 1, 3, &request);
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.output, "It came.");
        CHECK_TEXT(text_of(result, "tool_call_id"), "call_0");
        CHECK_CONTAINS(text_of(result, "content"), part);
    }
    json_decref(request);
    online_result_fini(&ran);
    cdr_buf_fini(&body);
    http_server_stop(server);
}

static void test_big_answer__arguments_that_cannot_be_read_go_back_to_the_model(void)
{
    enum {
        DEPTH = 50000
    };
    char *deep = malloc(2 * DEPTH + 32);

    if (!CHECK(deep != NULL))
        return;
    memset(deep, '[', DEPTH);
    memset(deep + DEPTH, ']', DEPTH);
    deep[2 * (size_t)DEPTH] = '\0';
    check_refused_arguments(deep, "nested deeper than 128");
    free(deep);
    check_refused_arguments("{\\\"order\\\": ", "bad JSON at 1:10");
    check_refused_arguments("[1]", "object");
}

static void test_big_answer__bytes_that_are_no_text_become_replacement_characters(void)
{
    http_server *server = http_server_start(NULL);
    online_result ran;

    add_answer(server, ONLINE_ANSWER("It \xff came \xe2\x82."));
    if (ONLINE_RUN(&ran, server, "--json")) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.output, "It \xef\xbf\xbd came \xef\xbf\xbd.");
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_big_answer__two_mebibytes_of_text_come_out_whole),
        CHECK_TEST(test_big_answer__every_call_of_a_full_turn_gets_its_result),
        CHECK_TEST(test_big_answer__a_thousand_calls_at_once_are_no_answer),
        CHECK_TEST(test_big_answer__arguments_that_cannot_be_read_go_back_to_the_model),
        CHECK_TEST(
            test_big_answer__bytes_that_are_no_text_become_replacement_characters),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/big_answer", tests);
}
