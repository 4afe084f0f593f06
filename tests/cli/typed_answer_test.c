// A schema for the answer, with a server: what it is sent, and what comes of answers
// that fit, do not fit, and never will.
#include "support/online.h"

#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static int ask(http_server *server, online_result *ran)
{
    const online_config config = {.team = "typed.yaml",
                                  .options = (const char *const[]){"--json", NULL}};
    return online_run(&config, server, ran);
}

static void add_answer(http_server *server, const char *body)
{
    http_server_add_answer(server, 200, NULL, "text/event-stream", body);
}

// A member of the nth request's body as text; free() it.
static char *sent(http_server *server, int nth, const char *key)
{
    const http_request *request = http_server_request(server, nth);
    json_t *body = json_loadb(request->body, request->body_len, 0, NULL);
    char *text = json_dumps(json_object_get(body, key), JSON_COMPACT);
    json_decref(body);
    return text;
}

#define FORMAT                                                                         \
    "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"solo\",\"strict\":true,"    \
    "\"schema\":{\"type\":\"object\",\"required\":[\"place\"],"                        \
    "\"additionalProperties\":false,\"properties\":{\"place\":{\"enum\":[\"shelf\","   \
    "\"shop\"]}}}}}"

static void test_typed_answer__is_the_json_that_the_server_gave(void)
{
    online_result ran;
    http_server *server = http_server_start(NULL);
    add_answer(server, ONLINE_TEXT("```json\\n{\\\"place\\\": ")
                           ONLINE_ANSWER("\\\"shelf\\\"}\\n```"));
    if (ask(server, &ran)) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.output, "{\"place\": \"shelf\"}");
        CHECK_INT(http_server_request_count(server), 1);
        char *format = sent(server, 0, "response_format");
        CHECK_TEXT(format, FORMAT);
        free(format);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_typed_answer__that_does_not_fit_goes_back_with_what_is_wrong(void)
{
    online_result ran;
    http_server *server = http_server_start(NULL);
    add_answer(server, ONLINE_ANSWER("{\\\"place\\\": \\\"shlf\\\"}"));
    add_answer(server, ONLINE_ANSWER("{\\\"place\\\": \\\"shelf\\\"}"));
    if (ask(server, &ran)) {
        CHECK_INT(ran.program.exit_status, 0);
        CHECK_TEXT(ran.output, "{\"place\": \"shelf\"}");
        CHECK_INT(ran.n_model_calls, 2);
        char *messages = sent(server, 1, "messages");
        CHECK_CONTAINS(messages,
                       "{\"role\":\"assistant\",\"content\":\"{\\\"place\\\": "
                       "\\\"shlf\\\"}\"},{\"role\":\"user\",\"content\":\"Your answer "
                       "does not fit what is expected of it: place: expected one of: "
                       "shelf, shop; got \\\"shlf\\\"; did you mean "
                       "'shelf'?\\n\\nAnswer again, with the whole corrected JSON and "
                       "no other text.\"}]");
        free(messages);
        char *format = sent(server, 1, "response_format");
        CHECK_TEXT(format, FORMAT);
        free(format);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_typed_answer__that_never_fits_fails_with_its_place(void)
{
    online_result ran;
    http_server *server = http_server_start(&(http_server_config){.repeat_last = true});
    add_answer(server, ONLINE_ANSWER("{\\\"place\\\": 7, \\\"why\\\": 1}"));
    if (ask(server, &ran)) {
        CHECK_INT(ran.program.exit_status, 1);
        CHECK_TEXT(ran.status, "failed");
        CHECK_TEXT(ran.error_class, "bad_response");
        CHECK_TEXT(ran.output, "");
        CHECK_TEXT(ran.message,
                   "agent 'solo': its answer does not fit output_schema, nor did the "
                   "one before: place: expected one of: shelf, shop; got 7; unknown "
                   "property 'why' (known: place)");
        CHECK_INT(http_server_request_count(server), 2);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_typed_answer__is_the_json_that_the_server_gave),
    CHECK_TEST(test_typed_answer__that_does_not_fit_goes_back_with_what_is_wrong),
    CHECK_TEST(test_typed_answer__that_never_fits_fails_with_its_place),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/typed_answer", tests);
}
