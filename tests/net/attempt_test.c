// One attempt of a model call over loopback: answers, failures, cuts, pauses.
#include "net/attempt.h"

#include "support/check.h"
#include "support/http_server.h"
#include "support/model_call.h"

#include <stdio.h>
#include <string.h>

#define KEY "sk-test-0123456789abcdef"
#define CHUNK(content)                                                                 \
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" content               \
    "\"},\"finish_reason\":null}]}\n\n"
#define FINISH                                                                         \
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE "data: [DONE]\n\n"
#define OPEN_STREAM                                                                    \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"

// What a test needs, and how its call ended.
typedef struct fixture {
    http_server *server;
    cdr_network *network;
    const cadre_model_ops *ops;
    void *state;
    model_call *call;
    cadre_status status;
    cadre_error err;
} fixture;

static cadre_request_item question;
static const cadre_message question_message = {.text = "hi", .role = CADRE_ROLE_USER};

static cadre_request request_new(void)
{
    question = (cadre_request_item){
        .message = &question_message, .text = "hi", .rendering = CADRE_AS_OWN};
    return (cadre_request){
        .system = "", .items = &question, .n_items = 1, .api_key = KEY, .agent = "a"};
}

static bool open_fixture(fixture *f, const http_server_config *config)
{
    memset(f, 0, sizeof(*f));
    f->ops = model_ops_find("openai");
    f->server = http_server_start(config);
    CHECK_OK(cdr_network_open(&f->network, &f->err), &f->err);
    f->state = model_open(f->ops, http_server_url(f->server), NULL, &f->err);
    return CHECK(f->ops && f->network && f->state);
}

static void close_fixture(fixture *f)
{
    model_call_free(f->call);
    model_close(f->ops, f->state);
    cdr_network_close(f->network);
    http_server_stop(f->server);
}

static bool start(fixture *f, const model_call_config *settings)
{
    cadre_request request = request_new();
    model_call_config config = settings ? *settings : (model_call_config){0};
    config.ops = f->ops;
    config.state = f->state;
    config.request = &request;
    model_call_free(f->call);
    cadre_error_clear(&f->err);
    f->call = model_call_start(f->network, &config, &f->err);
    return CHECK(f->call != NULL);
}

static void finish(fixture *f)
{
    f->status = model_call_finish(f->call, &f->err);
    CHECK_INT(f->status, f->err.status);
}

static void run(fixture *f)
{
    if (start(f, NULL))
        finish(f);
}

static void check_failure(const fixture *f, cadre_error_class error_class,
                          bool retryable)
{
    CHECK_TEXT(cadre_error_class_name(f->err.error_class),
               cadre_error_class_name(error_class));
    CHECK_INT(f->err.retryable, retryable);
    CHECK_LACKS(f->err.text, KEY);
}

static const char *text_of(const fixture *f)
{
    return cdr_buf_text(&model_call_sink(f->call)->text);
}

static void test_attempt__reads_streams_over_one_connection(void)
{
    static const char body[] = CHUNK("Hel") CHUNK("lo") FINISH DONE;
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    for (int i = 0; i < 3; i++)
        http_server_add_stream(f.server, body, sizeof(body) - 1, i == 1 ? "7" : NULL);
    for (int i = 0; i < 3; i++) {
        run(&f);
        CHECK_OK(f.status, &f.err);
        CHECK_TEXT(text_of(&f), "Hello");
        CHECK_INT(f.err.retry_after_ms, 0);
    }
    CHECK_INT(http_server_connection_count(f.server), 1);
    char value[64];
    const http_request *request = http_server_request(f.server, 0);
    if (CHECK(request != NULL)) {
        CHECK_TEXT(request->method, "POST");
        CHECK_TEXT(request->path, "/chat/completions");
        CHECK_TEXT(http_request_header(request, "authorization", value, sizeof(value)),
                   "Bearer " KEY);
        CHECK_CONTAINS(request->body, "\"content\":\"hi\"");
    }
    close_fixture(&f);
}

static void test_attempt__classes_an_error_status_and_keeps_retry_after(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 429, "Retry-After: 7\r\n", "application/json",
                           "{\"error\":{\"message\":\"slow down\",\"type\":\"rate\"}}");
    http_server_add_answer(f.server, 502, NULL, "text/html",
                           "<html>\r\n<body>Bad\tGateway</body></html>");
    run(&f);
    check_failure(&f, CADRE_CLASS_RATE_LIMITED, true);
    CHECK_TEXT(f.err.text, "HTTP 429 rate_limited: slow down");
    CHECK_INT(f.err.retry_after_ms, 7000);
    run(&f);
    check_failure(&f, CADRE_CLASS_SERVER, true);
    CHECK_TEXT(f.err.text, "HTTP 502 server: <html> <body>Bad Gateway</body></html>");
    close_fixture(&f);
}

#define GEMINI(quota, delay)                                                           \
    "[{\"error\":{\"code\":429,\"message\":\"You exceeded your current quota, please " \
    "check your plan and billing details.\",\"status\":\"RESOURCE_EXHAUSTED\","        \
    "\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.QuotaFailure\","         \
    "\"violations\":[{\"quotaMetric\":\"m\",\"quotaId\":\"" quota "\"}]},"             \
    "{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":" delay    \
    "}]}}]"

static void test_attempt__the_longer_wait_of_head_and_body_counts(void)
{
    static const struct {
        const char *headers, *body;
        int64_t retry_after_ms;
        cadre_error_class error_class;
    } cases[] = {
        {NULL, GEMINI("TokensPerMinute", "\"17s\""), 17000, CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("TokensPerMinute", "\"0.25s\""), 250, CADRE_CLASS_RATE_LIMITED},
        {"Retry-After: 2\r\n", GEMINI("TokensPerMinute", "\"17.5s\""), 17500,
         CADRE_CLASS_RATE_LIMITED},
        {"Retry-After: 20\r\n", GEMINI("TokensPerMinute", "\"17s\""), 20000,
         CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("TokensPerMinute", "\"9999999999s\""), 86400000,
         CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("TokensPerMinute", "\"-3s\""), 0, CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("TokensPerMinute", "\"soon\""), 0, CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("TokensPerMinute", "17"), 0, CADRE_CLASS_RATE_LIMITED},
        {NULL, GEMINI("RequestsPerDay", "\"38s\""), 38000, CADRE_CLASS_QUOTA},
    };
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        http_server_add_answer(f.server, 429, cases[i].headers, "application/json",
                               cases[i].body);
        run(&f);
        check_failure(&f, cases[i].error_class,
                      cases[i].error_class == CADRE_CLASS_RATE_LIMITED);
        if (!CHECK_INT(f.err.retry_after_ms, cases[i].retry_after_ms))
            CHECK_TEXT(cases[i].body, "the one above");
    }
    close_fixture(&f);
}

static void test_attempt__a_gateway_tells_what_the_server_behind_it_said(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(
        f.server, 400, NULL, "application/json",
        "{\"error\":{\"message\":\"Provider returned error\",\"code\":400,"
        "\"metadata\":{\"provider_name\":\"X\",\"raw\":\"{\\\"error\\\":{\\\"message"
        "\\\":\\\"prompt is too long: 9 tokens\\\"}}\"}}}");
    run(&f);
    check_failure(&f, CADRE_CLASS_CONTEXT_LENGTH, false);
    CHECK_TEXT(f.err.text,
               "HTTP 400 context_length: Provider returned error: "
               "{\"error\":{\"message\":\"prompt is too long: 9 tokens\"}}");
    close_fixture(&f);
}

static void test_attempt__a_server_that_refuses_another_is_not_asked_again(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 500, "x-should-retry: false\r\n",
                           "application/json", "{}");
    http_server_add_answer(f.server, 500, "x-should-retry: true\r\n",
                           "application/json", "{}");
    run(&f);
    check_failure(&f, CADRE_CLASS_SERVER, false);
    run(&f);
    check_failure(&f, CADRE_CLASS_SERVER, true);
    close_fixture(&f);
}

static void test_attempt__never_shows_the_key(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 401, NULL, "application/json",
                           "{\"error\":{\"message\":\"Incorrect key: " KEY " and " KEY
                           "\"}}");
    http_server_add_stream(f.server, "data: {\"error\":\"no " KEY "\"}\n\n",
                           strlen("data: {\"error\":\"no " KEY "\"}\n\n"), NULL);
    run(&f);
    check_failure(&f, CADRE_CLASS_AUTH, false);
    CHECK_CONTAINS(f.err.text, "Incorrect key: ****");
    CHECK_LACKS(f.err.text, "sk-test");
    CHECK_CONTAINS(f.err.text, "TEST_KEY");
    run(&f);
    CHECK_CONTAINS(f.err.text, "no ****");
    CHECK_LACKS(f.err.text, "sk-test");
    close_fixture(&f);
}

static void test_attempt__names_where_a_redirect_leads(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 301, "Location: https://other.example/v1\r\n",
                           "text/html", "moved");
    run(&f);
    check_failure(&f, CADRE_CLASS_INVALID_REQUEST, false);
    CHECK_CONTAINS(f.err.text, "https://other.example/v1");
    CHECK_CONTAINS(f.err.text, "base_url");
    close_fixture(&f);
}

// Every kind of redirect ends at the server that was asked: nothing follows it, the
// body is not sent again, and what the location holds of secrets is not shown.
static void test_attempt__follows_no_redirect_to_another_server(void)
{
    static const int statuses[] = {301, 302, 303, 307, 308};
    fixture f;
    if (!open_fixture(&f, &(http_server_config){.repeat_last = true}))
        return;
    http_server *other = http_server_start(&(http_server_config){.repeat_last = true});
    http_server_add_stream(other, CHUNK("stolen") FINISH DONE,
                           strlen(CHUNK("stolen") FINISH DONE), NULL);
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
        char location[256];
        (void)snprintf(location, sizeof location,
                       "Location: http://user:pass-word@%s/v1?key=%s\r\n",
                       http_server_url(other) + strlen("http://"), KEY);
        http_server_add_answer(f.server, statuses[i], location, "text/html", "moved");
        run(&f);
        check_failure(&f, CADRE_CLASS_INVALID_REQUEST, false);
        (void)snprintf(location, sizeof location, "redirects to '%s/v1?...'",
                       http_server_url(other));
        CHECK_CONTAINS(f.err.text, location);
        CHECK_CONTAINS(f.err.text, "base_url");
        CHECK_LACKS(f.err.text, "pass-word");
        CHECK_LACKS(f.err.text, "sk-test");
    }
    CHECK_INT(http_server_connection_count(other), 0);
    CHECK_INT(http_server_request_count(f.server), 5);
    http_server_stop(other);
    close_fixture(&f);
}

// A key may also stand in the address, as some gateways want it.
static void test_attempt__never_shows_the_secrets_of_its_address(void)
{
    fixture f;
    char base[256];
    if (!open_fixture(&f, NULL))
        return;
    (void)snprintf(base, sizeof base, "http://someone:pass-word@%s?key=abcd-efgh",
                   http_server_url(f.server) + strlen("http://"));
    model_close(f.ops, f.state);
    f.state = model_open(f.ops, base, NULL, &f.err);
    http_server_add_answer(f.server, 400, NULL, "application/json",
                           "{\"error\":{\"message\":\"no someone:pass-word, no "
                           "c29tZW9uZTpwYXNzLXdvcmQ=, no ?key=abcd-efgh\"}}");
    run(&f);
    check_failure(&f, CADRE_CLASS_INVALID_REQUEST, false);
    CHECK_CONTAINS(f.err.text, "no someone:*********, no ************************, no "
                               "?key=*********");
    CHECK_CONTAINS(http_server_request(f.server, 0)->path, "key=abcd-efgh");
    close_fixture(&f);
}

static void test_attempt__an_answer_that_repeats_the_key_has_it_covered(void)
{
    fixture f;
    static const char stream[] =
        CHUNK("Your key is sk-test-0123") CHUNK("456789abcdef.") FINISH DONE;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_stream(f.server, stream, strlen(stream), "1");
    run(&f);
    CHECK_OK(f.status, &f.err);
    CHECK_TEXT(cdr_buf_text(&model_call_sink(f.call)->text),
               "Your key is ************************.");
    close_fixture(&f);
}

static void test_attempt__refuses_what_is_neither_stream_nor_json(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 200, NULL, "text/html; charset=utf-8",
                           "<html>\n\x1b[31mSign in</html>");
    http_server_add_answer(f.server, 200, NULL, "text/plain", "");
    run(&f);
    check_failure(&f, CADRE_CLASS_BAD_RESPONSE, false);
    CHECK_CONTAINS(f.err.text, "'text/html; charset=utf-8'");
    CHECK_CONTAINS(f.err.text, "\"<html> [31mSign in</html>\"");
    run(&f);
    check_failure(&f, CADRE_CLASS_BAD_RESPONSE, false);
    CHECK_CONTAINS(f.err.text, "'text/plain'");
    close_fixture(&f);
}

#define WHOLE                                                                          \
    "\n "                                                                              \
    "{\"choices\":[{\"index\":0,\"message\":{\"content\":\"whole\"},\"finish_"         \
    "reason\":"                                                                        \
    "\"stop\"}]}"

static void test_attempt__the_bytes_tell_what_the_type_does_not(void)
{
    static const struct {
        const char *type, *body, *text; // NULL: it is neither
    } rows[] = {
        {"application/json", WHOLE, "whole"},
        {"text/event-stream", WHOLE, "whole"},
        {"text/html", WHOLE, "whole"},
        {"application/json", CHUNK("stream") FINISH, "stream"},
        {"text/plain; charset=utf-8", CHUNK("stream") FINISH, "stream"},
        {"application/octet-stream", ": hi\n\n" CHUNK("stream") FINISH, "stream"},
        {"text/plain", "event: x\n" CHUNK("stream") FINISH, "stream"},
        {"text/plain", "dat", NULL},
        {"text/plain", "database is down", NULL},
        {"text/event-stream", "<!DOCTYPE html><title>Sign in</title>", NULL},
    };
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        http_server_add_answer(f.server, 200, NULL, rows[i].type, rows[i].body);
        run(&f);
        if (rows[i].text) {
            CHECK_OK(f.status, &f.err);
            CHECK_TEXT(text_of(&f), rows[i].text);
        } else {
            check_failure(&f, CADRE_CLASS_BAD_RESPONSE, false);
            CHECK_CONTAINS(f.err.text, rows[i].type);
            CHECK_CONTAINS(f.err.text, rows[i].body);
        }
    }
    close_fixture(&f);
}

static void test_attempt__unpacks_what_nobody_asked_to_be_packed(void)
{
    // CHUNK("packed") with a finish, by gzip.
    static const http_step packed[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Content-Encoding: gzip\r\nConnection: close\r\n\r\n"),
        HTTP_SEND("\x1F\x8B\x08\x00\x00\x00\x00\x00\x02\x03\x0D\xC9\x31\x0A\x80\x30"
                  "\x0C\x05\xD0\xBD\xA7\x90\x3F\x77\x70\xCE\x55\x44\x24\xB4\x91\x06"
                  "\x25\x2D\x36\x83\x50\x7A\x77\x7D\xEB\xCB\xEC\x4C\xCB\x40\x2A\x55"
                  "\x93\x74\xD0\x36\xA0\x96\xE5\x05\xAD\x11\x59\x6E\x67\xD0\xDF\xD5"
                  "\x5C\xCC\x41\x68\x9C\x2E\xC9\x98\x11\xA7\x9A\xF6\x72\x3C\xC2\xBD"
                  "\xDA\x3F\xDD\x6B\xC3\xDC\x67\x08\x1F\x21\x1A\x4E\x35\x55\x00\x00"
                  "\x00"),
        HTTP_CLOSE, HTTP_END};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, packed);
    run(&f);
    CHECK_OK(f.status, &f.err);
    CHECK_TEXT(text_of(&f), "packed");
    close_fixture(&f);
}

static void test_attempt__a_finish_decides_and_not_the_connection(void)
{
    static const http_step before[] = {HTTP_SEND(OPEN_STREAM CHUNK("half")), HTTP_CLOSE,
                                       HTTP_END};
    static const http_step in_event[] = {
        HTTP_SEND(OPEN_STREAM CHUNK("half") "data: {\"choices\":[{\"ind"), HTTP_CLOSE,
        HTTP_END};
    static const http_step reset[] = {HTTP_SEND(OPEN_STREAM CHUNK("all") FINISH),
                                      HTTP_HOLD, HTTP_RESET, HTTP_END};
    static const http_step no_blank_line[] = {
        HTTP_SEND(OPEN_STREAM CHUNK("all") "data: {\"choices\":[{\"finish_reason\":"
                                           "\"stop\"}]}"),
        HTTP_CLOSE, HTTP_END};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, before);
    http_server_add(f.server, in_event);
    http_server_add(f.server, reset);
    http_server_add(f.server, no_blank_line);
    for (int i = 0; i < 2; i++) {
        run(&f);
        check_failure(&f, CADRE_CLASS_TRUNCATED, true);
        CHECK_TEXT(text_of(&f), "half");
    }
    if (start(&f, NULL)) {
        // The finish has been read before the connection breaks.
        CHECK(model_call_await_text(f.call, 3));
        http_server_release(f.server);
        finish(&f);
        CHECK_OK(f.status, &f.err);
    }
    run(&f);
    CHECK_OK(f.status, &f.err);
    CHECK_TEXT(text_of(&f), "all");
    close_fixture(&f);
}

static void test_attempt__a_server_that_stays_open_costs_two_seconds_at_most(void)
{
    static const http_step held[] = {HTTP_SEND(OPEN_STREAM CHUNK("x") FINISH),
                                     HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    // One that gives its reason first has said nothing that could be whole.
    static const http_step early[] = {HTTP_SEND(OPEN_STREAM FINISH), HTTP_HOLD,
                                      HTTP_SEND(CHUNK("y") FINISH), HTTP_CLOSE,
                                      HTTP_END};
    fixture f, g;
    if (!open_fixture(&f, NULL) || !open_fixture(&g, NULL))
        return;
    http_server_add(g.server, early);
    http_server_add(f.server, held);
    if (!start(&g, NULL) || !CHECK(http_server_await_held(g.server, 1)))
        return;
    run(&f);
    CHECK_OK(f.status, &f.err);
    CHECK_TEXT(text_of(&f), "x");
    http_server_release(g.server);
    finish(&g);
    CHECK_OK(g.status, &g.err);
    CHECK_TEXT(text_of(&g), "y");
    close_fixture(&f);
    close_fixture(&g);
}

static void test_attempt__an_error_inside_the_stream_ends_it(void)
{
    static const http_step script[] = {
        HTTP_SEND(OPEN_STREAM CHUNK("Part") "data: {\"error\":{\"message\":\"over\","
                                            "\"code\":\"rate_limit_exceeded\"}}\n\n"),
        HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, script);
    run(&f);
    check_failure(&f, CADRE_CLASS_RATE_LIMITED, true);
    CHECK_TEXT(text_of(&f), "Part");
    close_fixture(&f);
}

static void test_attempt__nobody_there_is_a_connection_error(void)
{
    static const http_server_config refuse = {.mode = HTTP_SERVER_REFUSE};
    static const http_step silent[] = {HTTP_CLOSE, HTTP_END};
    fixture f;
    if (!open_fixture(&f, &refuse))
        return;
    run(&f);
    check_failure(&f, CADRE_CLASS_CONNECTION, true);
    CHECK_CONTAINS(f.err.text, "refused");
    close_fixture(&f);
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, silent);
    run(&f);
    check_failure(&f, CADRE_CLASS_CONNECTION, true);
    close_fixture(&f);
}

static void test_attempt__timeouts_are_told_as_such(void)
{
    static const http_step silent[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    static const http_step stalls[] = {HTTP_SEND(OPEN_STREAM CHUNK("x")), HTTP_HOLD,
                                       HTTP_CLOSE, HTTP_END};
    static const model_call_config total = {.timeout_ms = 50};
    static const model_call_config idle = {.idle_timeout_ms = 50};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, silent);
    http_server_add(f.server, stalls);
    if (start(&f, &total)) {
        finish(&f);
        check_failure(&f, CADRE_CLASS_TIMEOUT, true);
    }
    if (start(&f, &idle)) {
        finish(&f);
        check_failure(&f, CADRE_CLASS_TIMEOUT, true);
        CHECK_TEXT(text_of(&f), "x");
    }
    close_fixture(&f);
}

static void test_attempt__cancel_ends_it_as_aborted(void)
{
    static const http_step held[] = {HTTP_SEND(OPEN_STREAM CHUNK("x")), HTTP_HOLD,
                                     HTTP_CLOSE, HTTP_END};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, held);
    if (start(&f, NULL)) {
        CHECK(model_call_await_text(f.call, 1));
        model_call_cancel(f.call);
        finish(&f);
        CHECK_STATUS(f.status, CADRE_EABORTED, &f.err);
        CHECK(http_server_await_client_close(f.server, 0, NULL));
    }
    close_fixture(&f);
}

static void test_attempt__pauses_while_the_consumer_is_full(void)
{
    static const http_step script[] = {HTTP_SEND(OPEN_STREAM CHUNK("one")), HTTP_HOLD,
                                       HTTP_SEND(CHUNK("two") FINISH DONE), HTTP_CLOSE,
                                       HTTP_END};
    static const model_call_config pausing = {.pauses = true};
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, script);
    if (start(&f, &pausing)) {
        CHECK(model_call_await_full(f.call));
        http_server_release(f.server);
        CHECK(http_server_await_scripts(f.server, 1));
        CHECK_TEXT(text_of(&f), "one"); // sent, but not taken
        model_call_resume(f.call);
        finish(&f);
        CHECK_OK(f.status, &f.err);
        CHECK_TEXT(text_of(&f), "onetwo");
    }
    close_fixture(&f);
}

static void test_attempt__refuses_an_event_beyond_the_limit(void)
{
    static char line[1024 * 1024];
    memset(line, 'x', sizeof(line));
    http_step script[20] = {HTTP_SEND(OPEN_STREAM "data: ")};
    for (size_t i = 1; i < 18; i++)
        script[i] = (http_step){HTTP_STEP_SEND, line, sizeof(line), NULL};
    script[18] = (http_step)HTTP_CLOSE;
    script[19] = (http_step)HTTP_END;
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add(f.server, script);
    run(&f);
    check_failure(&f, CADRE_CLASS_BAD_RESPONSE, false);
    CHECK_CONTAINS(f.err.text, "16777216");
    close_fixture(&f);
}

static void test_attempt__a_bad_url_is_refused_at_once(void)
{
    fixture f;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_request request = request_new();
    if (!open_fixture(&f, NULL))
        return;
    void *state = model_open(f.ops, "ftp://example", NULL, &err);
    model_call_config config = {.ops = f.ops, .state = state, .request = &request};
    CHECK(model_call_start(f.network, &config, &err) == NULL);
    CHECK_STATUS(err.status, CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "ftp://example");
    model_close(f.ops, state);
    close_fixture(&f);
}

static void test_attempt__a_byte_order_mark_does_not_hide_json(void)
{
    fixture f;
    if (!open_fixture(&f, NULL))
        return;
    http_server_add_answer(f.server, 200, NULL, "application/json",
                           "\xEF\xBB\xBF{\"choices\":[{\"message\":{\"content\":"
                           "\"Hello\"},\"finish_reason\":\"stop\"}]}");
    http_server_add_answer(f.server, 429, NULL, "application/json",
                           "\xEF\xBB\xBF{\"error\":{\"message\":\"no money\","
                           "\"code\":\"insufficient_quota\"}}");
    run(&f);
    CHECK_OK(f.status, &f.err);
    CHECK_TEXT(text_of(&f), "Hello");
    run(&f);
    check_failure(&f, CADRE_CLASS_QUOTA, false);
    CHECK_TEXT(f.err.text, "HTTP 429 quota: no money");
    close_fixture(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_attempt__reads_streams_over_one_connection),
    CHECK_TEST(test_attempt__classes_an_error_status_and_keeps_retry_after),
    CHECK_TEST(test_attempt__the_longer_wait_of_head_and_body_counts),
    CHECK_TEST(test_attempt__a_gateway_tells_what_the_server_behind_it_said),
    CHECK_TEST(test_attempt__a_server_that_refuses_another_is_not_asked_again),
    CHECK_TEST(test_attempt__never_shows_the_key),
    CHECK_TEST(test_attempt__names_where_a_redirect_leads),
    CHECK_TEST(test_attempt__follows_no_redirect_to_another_server),
    CHECK_TEST(test_attempt__never_shows_the_secrets_of_its_address),
    CHECK_TEST(test_attempt__an_answer_that_repeats_the_key_has_it_covered),
    CHECK_TEST(test_attempt__refuses_what_is_neither_stream_nor_json),
    CHECK_TEST(test_attempt__the_bytes_tell_what_the_type_does_not),
    CHECK_TEST(test_attempt__unpacks_what_nobody_asked_to_be_packed),
    CHECK_TEST(test_attempt__a_finish_decides_and_not_the_connection),
    CHECK_TEST(test_attempt__a_server_that_stays_open_costs_two_seconds_at_most),
    CHECK_TEST(test_attempt__an_error_inside_the_stream_ends_it),
    CHECK_TEST(test_attempt__nobody_there_is_a_connection_error),
    CHECK_TEST(test_attempt__timeouts_are_told_as_such),
    CHECK_TEST(test_attempt__cancel_ends_it_as_aborted),
    CHECK_TEST(test_attempt__pauses_while_the_consumer_is_full),
    CHECK_TEST(test_attempt__refuses_an_event_beyond_the_limit),
    CHECK_TEST(test_attempt__a_bad_url_is_refused_at_once),
    CHECK_TEST(test_attempt__a_byte_order_mark_does_not_hide_json),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("net/attempt", tests);
}
