// Servers that refuse, fail, lie, break off and fall silent: what is asked again is
// asked again, the rest ends with exit status 1 and the right class; half an answer
// never passes for one.
#include "support/online.h"

#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define JSON "application/json"

// A server that gives every request the same answer.
static http_server *start_stubborn(void)
{
    return http_server_start(&(http_server_config){.repeat_last = true});
}

// Asks and expects a failed run: exit 1, this class, a message with this part, and no
// answer; and with plain output nothing on stdout.
static void check_failed(http_server *server, const char *team, const char *error_class,
                         const char *part, int n_requests)
{
    online_result ran;
    const online_config json = {.team = team,
                                .options = (const char *const[]){"--json", NULL}};
    const online_config plain = {.team = team};

    if (online_run(&json, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(ran.status, "failed");
        CHECK_TEXT(ran.error_class, error_class);
        CHECK_CONTAINS(ran.message, part);
        CHECK_TEXT(ran.output, "");
        CHECK_CONTAINS(ran.program.err, "\ncadre: agent 'solo': ");
        CHECK_INT(http_server_request_count(server), n_requests);
    }
    online_result_fini(&ran);
    if (online_run(&plain, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(ran.program.out, "");
        CHECK_CONTAINS(ran.program.err, part);
    }
    online_result_fini(&ran);
}

static void check_answered(http_server *server, const char *output, int n_requests)
{
    online_result ran;

    if (ONLINE_RUN(&ran, server, "--json")) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.status, "completed");
        CHECK_TEXT(ran.output, output);
        CHECK_INT(ran.n_model_calls, 1);
        CHECK_INT(http_server_request_count(server), n_requests);
    }
    online_result_fini(&ran);
}

static void test_bad_network__a_refused_connection_names_the_server(void)
{
    http_server *server =
        http_server_start(&(http_server_config){.mode = HTTP_SERVER_REFUSE});

    check_failed(server, NULL, "connection",
                 http_server_url(server) + strlen("http://"), 0);
    http_server_stop(server);
}

typedef struct bad_answer {
    int status, n_requests;
    const char *headers, *content_type, *body;
    const char *error_class, *part;
} bad_answer;

static void check_bad_answers(const bad_answer *answers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const bad_answer *answer = &answers[i];
        http_server *server = start_stubborn();
        http_server_add_answer(server, answer->status, answer->headers,
                               answer->content_type, answer->body);
        check_failed(server, NULL, answer->error_class, answer->part,
                     answer->n_requests);
        http_server_stop(server);
    }
}

static void test_bad_network__what_will_not_change_is_asked_once(void)
{
    static const bad_answer answers[] = {
        // Some servers quote the key that they refuse.
        {401, 1, NULL, JSON,
         "{\"error\":{\"message\":\"Incorrect API key: " ONLINE_KEY "\","
         "\"type\":\"invalid_request_error\",\"code\":\"invalid_api_key\"}}",
         "auth", "(the key is that of OPENAI_API_KEY)"},
        {401, 1, NULL, "text/plain", "no entry for Bearer " ONLINE_KEY, "auth",
         "HTTP 401 auth"},
        {403, 1, NULL, JSON, "{\"error\":{\"message\":\"region\"}}", "auth", "region"},
        {404, 1, NULL, JSON,
         "{\"error\":{\"message\":\"The model `test` does not exist\","
         "\"code\":\"model_not_found\"}}",
         "invalid_request", "The model `test` does not exist"},
        {400, 1, NULL, JSON,
         "{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}",
         "context_length", "too long"},
        {429, 1, NULL, JSON,
         "{\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}", "quota",
         "pay"},
        {302, 1, "Location: https://elsewhere.example/v1\r\n", "text/html", "",
         "invalid_request", "redirects to 'https://elsewhere.example/v1'"},
    };

    check_bad_answers(answers, N(answers));
}

static void test_bad_network__what_may_change_is_asked_as_often_as_allowed(void)
{
    static const bad_answer answers[] = {
        {429, 3, NULL, JSON, "{\"error\":{\"message\":\"slow down\"}}", "rate_limited",
         "slow down"},
        {500, 3, NULL, JSON, "{\"error\":{\"message\":\"oops\"}}", "server",
         "HTTP 500 server: oops"},
        {503, 3, NULL, "text/html", "<html>busy</html>", "overloaded",
         "HTTP 503 overloaded: <html>busy</html>"},
        {408, 3, NULL, JSON, "{}", "timeout", "HTTP 408 timeout"},
    };

    check_bad_answers(answers, N(answers));
}

static void test_bad_network__status_200_does_not_make_it_an_answer(void)
{
    static const bad_answer answers[] = {
        {200, 1, NULL, "text/html; charset=utf-8",
         "<html>\n<title>Sign in</title>\n</html>", "bad_response",
         "content type 'text/html; charset=utf-8' but with neither an event stream nor "
         "JSON: \"<html> <title>Sign in</title> </html>\""},
        {200, 1, NULL, JSON, "{\"hello\":\"world\"}", "bad_response",
         "not a chat completion: \"{\"hello\":\"world\"}\""},
        {200, 1, NULL, JSON, "[1, 2]", "bad_response", "not a chat completion"},
        {200, 3, NULL, JSON, "[1, 2", "truncated", "ended before it was whole"},
        {200, 1, NULL, JSON, "{\"choices\":[]}", "bad_response",
         "not a chat completion"},
        {200, 3, NULL, JSON, "{\"error\":{\"message\":\"oops\",\"code\":500}}",
         "server", "oops"},
        {200, 3, NULL, "text/event-stream",
         "data: {\"error\":{\"message\":\"oops\"}}\n\n", "server", "oops"},
        {200, 3, NULL, "text/event-stream", "data: <html>\n\n", "bad_response",
         "an event of the answer is not JSON: \"<html>\""},
        {200, 3, NULL, JSON, "", "truncated", "ended before it was whole"},
        {200, 3, NULL, "text/event-stream", "", "truncated",
         "ended before it was whole"},
    };

    check_bad_answers(answers, N(answers));
}

static void check_cut(const http_step *steps)
{
    http_server *server = start_stubborn();

    http_server_add(server, steps);
    check_failed(server, NULL, "truncated", "the answer ended before it was whole", 3);
    http_server_stop(server);
}

static const http_step cut_by_close[] = {
    HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half of it")), HTTP_CLOSE, HTTP_END};
static const http_step cut_by_reset[] = {
    HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half of it")), HTTP_RESET, HTTP_END};
static const http_step cut_in_a_chunk[] = {
    HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
              "Transfer-Encoding: chunked\r\n\r\n80\r\n" ONLINE_TEXT("Half of it")),
    HTTP_CLOSE, HTTP_END};
static const http_step cut_in_the_length[] = {
    HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
              "Content-Length: 900\r\n\r\n{\"choices\":[{\"message\":{\"content\":\""),
    HTTP_CLOSE, HTTP_END};
static const http_step whole[] = {HTTP_SEND(ONLINE_HEAD ONLINE_ANSWER("It came.")),
                                  HTTP_CLOSE, HTTP_END};

static void test_bad_network__half_an_answer_is_none(void)
{
    check_cut(cut_by_close);
    check_cut(cut_by_reset);
    check_cut(cut_in_a_chunk);
    check_cut(cut_in_the_length);
}

static void test_bad_network__nothing_of_a_cut_attempt_is_in_the_answer(void)
{
    http_server *server = http_server_start(NULL);

    http_server_add(server, cut_by_close);
    http_server_add_answer(server, 500, NULL, JSON, "{}");
    http_server_add(server, whole);
    check_answered(server, "It came.", 3);
    http_server_stop(server);
}

static void test_bad_network__a_retry_is_told_with_what_failed_and_the_wait(void)
{
    http_server *server = http_server_start(NULL);
    online_result ran;

    http_server_add(server, cut_by_close);
    http_server_add(server, whole);
    if (ONLINE_RUN(&ran, server, "--events")) {
        json_t *retry = online_event(ran.program.out, "retry", 0);
        json_t *end = online_event(ran.program.out, "message_end", 1);
        const json_t *error = json_object_get(retry, "error");
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_INT(json_integer_value(json_object_get(retry, "attempt")), 1);
        CHECK(json_is_integer(json_object_get(retry, "wait_ms")));
        CHECK_TEXT(json_string_value(json_object_get(error, "class")), "truncated");
        CHECK(json_is_true(json_object_get(error, "retryable")));
        CHECK_INT(json_integer_value(json_object_get(end, "attempts")), 2);
        json_decref(retry);
        json_decref(end);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_bad_network__a_finish_reason_or_an_end_marker_is_enough(void)
{
    static const http_step unmarked[] = {
        HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("It came.") ONLINE_FINISH("stop")),
        HTTP_CLOSE, HTTP_END};
    static const http_step reset[] = {
        HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("It came.") ONLINE_FINISH("stop")),
        HTTP_RESET, HTTP_END};
    static const http_step only_marked[] = {
        HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("It came.") ONLINE_DONE), HTTP_CLOSE,
        HTTP_END};
    const http_step *const endings[] = {unmarked, reset, only_marked};

    for (size_t i = 0; i < N(endings); i++) {
        http_server *server = http_server_start(NULL);
        http_server_add(server, endings[i]);
        check_answered(server, "It came.", 1);
        http_server_stop(server);
    }
}

static void check_waits(const char *header, int64_t at_least_ms)
{
    http_server *server = http_server_start(NULL);

    http_server_add_answer(server, 429, header, JSON, "{}");
    http_server_add(server, whole);
    check_answered(server, "It came.", 2);
    const http_request *first = http_server_request(server, 0);
    const http_request *second = http_server_request(server, 1);
    if (CHECK(first && second))
        CHECK((second->at_ns - first->at_ns) / 1000000 >= at_least_ms);
    http_server_stop(server);
}

static void test_bad_network__the_wait_that_a_server_asks_for_is_kept(void)
{
    check_waits("Retry-After: 1\r\n", 1000);
    check_waits("retry-after-ms: 300\r\n", 300);
}

static void test_bad_network__a_wait_beyond_the_limit_fails_and_says_both(void)
{
    static const bad_answer answers[] = {
        {429, 1, "Retry-After: 3600\r\n", JSON,
         "{\"error\":{\"message\":\"slow down\"}}", "rate_limited",
         "slow down (the server asks to wait 1h; retry.max_backoff is 2s)"},
        {503, 1, "retry-after-ms: 2500\r\n", JSON, "{\"error\":{\"message\":\"full\"}}",
         "overloaded",
         "full (the server asks to wait 2500ms; retry.max_backoff is 2s)"},
    };

    check_bad_answers(answers, N(answers));
}

static void test_bad_network__a_silent_server_is_given_up(void)
{
    static const http_step mute[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    static const http_step fades[] = {HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half of it")),
                                      HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    static const http_step only_head[] = {HTTP_SEND(ONLINE_HEAD), HTTP_HOLD, HTTP_CLOSE,
                                          HTTP_END};
    const struct {
        const http_step *steps;
        const char *part;
    } cases[] = {
        {mute, "timeout: the answer was not whole within 800 ms: "},
        {fades, "timeout: no byte came for 150 ms: "},
        {only_head, "timeout: "},
    };

    for (size_t i = 0; i < N(cases); i++) {
        http_server *server = start_stubborn();
        http_server_add(server, cases[i].steps);
        check_failed(server, "hurried.yaml", "timeout", cases[i].part, 2);
        http_server_stop(server);
    }
}

static void test_bad_network__an_answer_cut_by_the_model_exits_6_and_says_so(void)
{
    static const http_step cut[] = {HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("It came on")
                                                  ONLINE_FINISH("length") ONLINE_DONE),
                                    HTTP_CLOSE, HTTP_END};
    http_server *server = http_server_start(NULL);
    online_result ran;

    http_server_add(server, cut);
    if (online_run(&(const online_config){0}, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 6);
        CHECK_TEXT(ran.program.out, "It came on\n");
        CHECK_CONTAINS(ran.program.err,
                       "\ncompleted (cut by the model's token limit), 1 agent, ");
        CHECK_LACKS(ran.program.err, "cadre: ");
    }
    online_result_fini(&ran);
    CHECK_INT(http_server_request_count(server), 1);
    http_server_stop(server);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_bad_network__a_refused_connection_names_the_server),
        CHECK_TEST(test_bad_network__what_will_not_change_is_asked_once),
        CHECK_TEST(test_bad_network__what_may_change_is_asked_as_often_as_allowed),
        CHECK_TEST(test_bad_network__status_200_does_not_make_it_an_answer),
        CHECK_TEST(test_bad_network__half_an_answer_is_none),
        CHECK_TEST(test_bad_network__nothing_of_a_cut_attempt_is_in_the_answer),
        CHECK_TEST(test_bad_network__a_retry_is_told_with_what_failed_and_the_wait),
        CHECK_TEST(test_bad_network__a_finish_reason_or_an_end_marker_is_enough),
        CHECK_TEST(test_bad_network__the_wait_that_a_server_asks_for_is_kept),
        CHECK_TEST(test_bad_network__a_wait_beyond_the_limit_fails_and_says_both),
        CHECK_TEST(test_bad_network__a_silent_server_is_given_up),
        CHECK_TEST(test_bad_network__an_answer_cut_by_the_model_exits_6_and_says_so),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/bad_network", tests);
}
