// Every class of a model's failure, over HTTP, in all places where it is read: --json,
// --events, and the record that `cadre tree` shows.
#include "support/folder.h"
#include "support/online.h"

#include <stdio.h>
#include <string.h>

#define JSON "application/json"
#define STREAM "text/event-stream"

typedef struct failing {
    const char *error_class;
    bool retryable;
    int status;
    const char *content_type, *body;
    const http_step *steps; // in place of an answer; NULL: none
} failing;

static const http_step broken[] = {HTTP_CLOSE, HTTP_END};
static const http_step cut[] = {HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half of it")),
                                HTTP_CLOSE, HTTP_END};

static const failing cases[] = {
    {"auth", false, 401, JSON, "{\"error\":{\"message\":\"Incorrect API key\"}}", NULL},
    {"invalid_request", false, 404, JSON,
     "{\"error\":{\"message\":\"no such model\",\"code\":\"model_not_found\"}}", NULL},
    {"context_length", false, 400, JSON,
     "{\"error\":{\"code\":400,\"message\":\"the request exceeds the available context "
     "size\",\"type\":\"exceed_context_size_error\"}}",
     NULL},
    {"content_filter", false, 400, JSON,
     "{\"error\":{\"message\":\"filtered\",\"code\":\"content_filter\"}}", NULL},
    {"content_filter", false, 200, STREAM,
     ONLINE_TEXT("Half of it") ONLINE_FINISH("content_filter") ONLINE_DONE, NULL},
    {"rate_limited", true, 429, JSON, "{\"error\":{\"message\":\"slow down\"}}", NULL},
    {"quota", false, 402, JSON, "{\"error\":{\"message\":\"Insufficient Balance\"}}",
     NULL},
    {"quota", false, 429, JSON,
     "{\"error\":{\"message\":\"pay\",\"code\":\"insufficient_quota\"}}", NULL},
    {"overloaded", true, 529, JSON, "{\"error\":{\"type\":\"overloaded_error\"}}",
     NULL},
    {"server", true, 500, JSON, "{\"error\":{\"message\":\"oops\"}}", NULL},
    {"server", false, 501, JSON, "{\"error\":{\"message\":\"never\"}}", NULL},
    {"connection", true, 0, NULL, NULL, broken},
    {"timeout", true, 408, JSON, "{}", NULL},
    {"truncated", true, 0, NULL, NULL, cut},
    {"empty_response", true, 200, STREAM, ONLINE_FINISH("stop") ONLINE_DONE, NULL},
    {"empty_response", false, 200, STREAM, ONLINE_FINISH("length") ONLINE_DONE, NULL},
    {"bad_response", false, 200, "text/html", "<html>Sign in</html>", NULL},
    {"bad_response", true, 200, STREAM, "data: <html>\n\n", NULL},
};

static http_server *serve(const failing *it)
{
    http_server *server = http_server_start(&(http_server_config){.repeat_last = true});
    if (it->steps)
        http_server_add(server, it->steps);
    else
        http_server_add_answer(server, it->status, NULL, it->content_type, it->body);
    return server;
}

// An error as it is printed has the class, and says whether it may pass.
static void check_error(const failing *it, const json_t *error, const char *place)
{
    const char *error_class = json_string_value(json_object_get(error, "class"));
    bool holds = CHECK_TEXT(error_class, it->error_class);
    holds &=
        CHECK_INT(json_is_true(json_object_get(error, "retryable")), it->retryable);
    if (!holds)
        CHECK_TEXT(place, it->body);
}

static const json_t *model_frame(const json_t *tree)
{
    const json_t *frames = json_object_get(tree, "frames");
    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        const char *kind = json_string_value(json_object_get(frame, "kind"));
        if (kind && strcmp(kind, "model") == 0)
            return frame;
    }
    return NULL;
}

// The tree for people names the class, or says what happened, and counts the attempts.
static void check_tree(const failing *it, const char *store)
{
    program_result ran;
    if (!PROGRAM_RUN(&ran, .arguments = (const char *[]){"tree", "--all", "--store",
                                                         store, NULL}))
        return;
    if (it->retryable)
        CHECK_CONTAINS(ran.out, "3 attempts: agent 'solo': model 'near': ");
    else
        CHECK_LACKS(ran.out, "attempts");
    CHECK_CONTAINS(ran.out, "agent 'solo': model 'near': ");
    program_result_fini(&ran);
}

// What is stored of the run, and the attempts that were made.
static void check_record(const failing *it, const char *store)
{
    program_result ran;
    if (!PROGRAM_RUN(&ran, .arguments = (const char *[]){"tree", "--all", "--json",
                                                         "--store", store, NULL}))
        return;
    json_t *tree = json_loads(ran.out, 0, NULL);
    const json_t *frame = model_frame(tree);
    if (CHECK(frame != NULL)) {
        check_error(it, json_object_get(frame, "error"), "tree");
        CHECK_INT(json_integer_value(json_object_get(frame, "attempts")),
                  it->retryable ? 3 : 1);
    }
    json_decref(tree);
    program_result_fini(&ran);
}

static void check_json(const failing *it)
{
    test_folder folder;
    char store[FOLDER_PATH_SIZE];
    online_result ran;
    http_server *server = serve(it);
    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(store, sizeof(store), "sqlite:%s/ledger.db", folder.path);
    if (ONLINE_RUN(&ran, server, "--json", "--all", "--store", store)) {
        CHECK_INT(ran.program.exit_status, 1);
        check_error(it, json_object_get(ran.object, "error"), "--json");
        check_error(it, json_object_get(model_frame(ran.object), "error"),
                    "--json --all");
        CHECK_INT(http_server_request_count(server), it->retryable ? 3 : 1);
        check_record(it, store);
        check_tree(it, store);
    }
    online_result_fini(&ran);
    folder_remove(&folder);
    http_server_stop(server);
}

static void check_events(const failing *it)
{
    online_result ran;
    http_server *server = serve(it);
    if (ONLINE_RUN(&ran, server, "--events", "--store", "memory")) {
        static const char *const types[] = {"error", "stream_end"};
        for (size_t i = 0; i < 2; i++) {
            json_t *event = online_event(ran.program.out, types[i], 0);
            check_error(it, json_object_get(event, "error"), types[i]);
            json_decref(event);
        }
        json_t *retry = online_event(ran.program.out, "retry", 0);
        CHECK_INT(retry != NULL, it->retryable);
        if (retry)
            check_error(it, json_object_get(retry, "error"), "retry");
        json_decref(retry);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_error_class__is_the_same_in_json_and_in_the_record(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_json(&cases[i]);
}

static void test_error_class__is_the_same_in_events(void)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check_events(&cases[i]);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_error_class__is_the_same_in_json_and_in_the_record),
    CHECK_TEST(test_error_class__is_the_same_in_events),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/error_class", tests);
}
