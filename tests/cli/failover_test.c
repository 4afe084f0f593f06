// A model that fails for good, and another one that answers, over HTTP.
#include "support/online.h"

#include <string.h>

#define JSON "application/json"

// The first script is that of the near model, the second that of the far one, the third
// that of the near one when it is given what a tool said.
static int choose(void *ctx, const http_request *request)
{
    (void)ctx;
    if (strncmp(request->path, "/v1/far/", 8) == 0)
        return 1;
    return strstr(request->body, "function_call_output") == NULL ? 0 : 2;
}

static http_server *serve(int status, const char *headers, const char *far_answer)
{
    http_server *server = http_server_start(&(http_server_config){.choose = choose});
    http_server_add_answer(server, status, headers, JSON,
                           "{\"error\":{\"message\":\"not now\"}}");
    http_server_add_stream(server, far_answer, strlen(far_answer), NULL);
    return server;
}

static bool run(http_server *server, const char *option, online_result *ran)
{
    return online_run(
        &(const online_config){.team = "failover.yaml",
                               .options = (const char *const[]){option, NULL}},
        server, ran);
}

static void check_field(const json_t *object, const char *key, const char *text)
{
    CHECK_TEXT(json_string_value(json_object_get(object, key)), text);
}

static void test_failover__another_model_answers_and_is_told(void)
{
    online_result ran;
    http_server *server = serve(503, NULL, ONLINE_ANSWER("It came."));
    if (run(server, "--events", &ran)) {
        json_t *again = online_event(ran.program.out, "retry", 0);
        json_t *change = online_event(ran.program.out, "retry", 1);
        json_t *end = online_event(ran.program.out, "message_end", 1);
        CHECK_INT(ran.program.exit_status, 0);
        check_field(again, "model", "near");
        CHECK(json_is_null(json_object_get(again, "next_model")));
        check_field(change, "model", "near");
        check_field(change, "next_model", "far");
        check_field(json_object_get(change, "error"), "class", "overloaded");
        CHECK_INT(json_integer_value(json_object_get(change, "attempt")), 2);
        CHECK_INT(json_integer_value(json_object_get(change, "wait_ms")), 0);
        CHECK_INT(json_integer_value(json_object_get(end, "attempts")), 3);
        CHECK_INT(http_server_request_count(server), 3);
        CHECK_CONTAINS(http_server_request(server, 1)->body, "\"model\":\"near\"");
        CHECK_CONTAINS(http_server_request(server, 2)->body, "\"model\":\"far\"");
        CHECK_CONTAINS(ran.program.err, "solo: model 'near': HTTP 503 overloaded: not "
                                        "now; asking 'far' instead");
        json_decref(again);
        json_decref(change);
        json_decref(end);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_failover__who_is_passed_over_is_no_retry(void)
{
    static const char *const options[] = {"--json", NULL};
    const online_config config = {.team = "failover_twice.yaml", .options = options};
    online_result ran;
    http_server *server = serve(401, NULL, ONLINE_ANSWER("It came."));
    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_INT(http_server_request_count(server), 3);
        CHECK_CONTAINS(ran.program.err, "solo: model 'near': it has failed in another "
                                        "call and is passed over for ");
        CHECK_CONTAINS(ran.program.err, "2 model calls, 1 retry, ");
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_failover__a_wait_that_is_too_long_is_not_waited(void)
{
    online_result ran;
    http_server *server =
        serve(429, "Retry-After: 3600\r\n", ONLINE_ANSWER("It came."));
    if (run(server, "--json", &ran)) {
        CHECK_TEXT(ran.output, "It came.");
        CHECK_INT(ran.n_model_calls, 1);
        CHECK_INT(http_server_request_count(server), 2);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_failover__the_last_failure_is_that_of_the_run(void)
{
    online_result ran;
    http_server *server = serve(401, NULL, ONLINE_FINISH("content_filter") ONLINE_DONE);
    if (run(server, "--json", &ran)) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(ran.error_class, "content_filter");
        CHECK_CONTAINS(ran.message, "agent 'solo': model 'far': the provider's content "
                                    "filter stopped the answer (after 'near' failed)");
        CHECK_INT(http_server_request_count(server), 2);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

// An event of the Responses API.
#define ITEM_DONE(index, item)                                                         \
    "data: {\"type\":\"response.output_item.done\",\"output_index\":" index            \
    ",\"item\":{" item "}}\n\n"
#define THINKS                                                                         \
    ITEM_DONE("0", "\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[],"              \
                   "\"encrypted_content\":\"SEALED\"")
#define CALLS                                                                          \
    ITEM_DONE("1", "\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"call_7\","  \
                   "\"name\":\"order_status\",\"arguments\":\"{}\"")
#define COMPLETED                                                                      \
    "data: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","   \
    "\"error\":null,\"usage\":{\"input_tokens\":7,\"output_tokens\":5}}}\n\n"

// What only the first can read is left out, and ids that it gave are made anew.
static void test_failover__one_of_another_provider_gets_the_whole_dialogue(void)
{
    static const char first[] = THINKS CALLS COMPLETED;
    static const char answer[] = ONLINE_ANSWER("It came.");
    static const char *const options[] = {"--events", NULL};
    const online_config config = {.team = "failover_foreign.yaml", .options = options};
    online_result ran;
    http_server *server = http_server_start(&(http_server_config){.choose = choose});
    http_server_add_stream(server, first, sizeof(first) - 1, NULL);
    http_server_add_stream(server, answer, sizeof(answer) - 1, NULL);
    http_server_add_answer(server, 401, NULL, JSON, "{\"error\":{\"message\":\"no\"}}");
    if (online_run(&config, server, &ran) &&
        CHECK_INT(http_server_request_count(server), 3)) {
        const char *own = http_server_request(server, 1)->body;
        const char *foreign = http_server_request(server, 2)->body;
        json_t *end = online_event(ran.program.out, "message_end", 2);
        CHECK_CONTAINS(own, "SEALED");
        CHECK_CONTAINS(own, "call_7");
        CHECK(strstr(foreign, "SEALED") == NULL);
        CHECK(strstr(foreign, "call_7") == NULL);
        CHECK_CONTAINS(foreign, "\"name\":\"order_status\",\"arguments\":\"{}\"");
        CHECK_CONTAINS(foreign, "\"content\":\"delivered");
        check_field(json_object_get(end, "message"), "content", "It came.");
        check_field(end, "model", "openai/plain");
        json_decref(end);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_failover__another_model_answers_and_is_told),
    CHECK_TEST(test_failover__who_is_passed_over_is_no_retry),
    CHECK_TEST(test_failover__a_wait_that_is_too_long_is_not_waited),
    CHECK_TEST(test_failover__the_last_failure_is_that_of_the_run),
    CHECK_TEST(test_failover__one_of_another_provider_gets_the_whole_dialogue),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/failover", tests);
}
