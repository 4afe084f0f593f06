// The Responses API: what is read of a body, and what is sent. The events are those of
// tests/support/wire_table_openai_responses.c.
#include "net/answer.h"
#include "net/http_request.h"

#include "support/check.h"
#include "support/model_call.h"
#include "support/wire_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPLETED                                                                      \
    "{\"type\":\"response.completed\",\"response\":{\"status\":\"completed\","         \
    "\"error\":null,\"usage\":{\"input_tokens\":7,\"input_tokens_details\":{"          \
    "\"cached_tokens\":4},\"output_tokens\":5,\"output_tokens_details\":{"             \
    "\"reasoning_tokens\":2}}}}\n"
#define TEXT(text)                                                                     \
    "{\"type\":\"response.output_text.delta\",\"output_index\":0,\"delta\":\"" text    \
    "\"}\n"
#define ITEM(kind, index, item)                                                        \
    "{\"type\":\"response.output_item." kind "\",\"output_index\":" index              \
    ",\"item\":{" item "}}\n"
#define CALL(id, arguments)                                                            \
    "\"type\":\"function_call\",\"id\":\"fc\",\"call_id\":\"" id                       \
    "\",\"name\":\"add\",\"arguments\":\"" arguments "\""
#define REASONING                                                                      \
    "\"id\":\"rs\",\"type\":\"reasoning\",\"summary\":[],\"encrypted_content\":\"E\""
#define MESSAGE(text)                                                                  \
    "\"type\":\"message\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text     \
    "\"}]"

static void outline(cdr_buf *out, const cadre_sink *sink, const cadre_error *err)
{
    if (err->status != CADRE_OK) {
        cdr_buf_printf(out, "%s|%d", cadre_error_class_name(err->error_class),
                       err->retryable);
        return;
    }
    cdr_buf_printf(out, "%s|%s|%s|", cdr_buf_text(&sink->text),
                   cdr_buf_text(&sink->reasoning), cadre_finish_name(sink->finish));
    for (size_t i = 0; i < sink->n_calls; i++)
        cdr_buf_printf(out, "%s %s %s;", cdr_buf_text(&sink->calls[i].id),
                       cdr_buf_text(&sink->calls[i].name),
                       cdr_buf_text(&sink->calls[i].arguments));
    cdr_buf_printf(out, "|%s", cdr_buf_text(&sink->items));
}

static void read_events(const cadre_model_ops *ops, void *state, const char *events,
                        cadre_sink *sink, cadre_error *err)
{
    void *reader = calloc(1, ops->reader_size);
    cadre_status status = CADRE_OK;
    cdr_answer_init(sink);
    while (reader && *events != '\0' && status == CADRE_OK) {
        size_t len = strcspn(events, "\n");
        status = ops->event(state, reader, &(const cadre_sse_event){"", events, len},
                            sink, err);
        events += len + (events[len] == '\n');
    }
    if (status == CADRE_OK)
        cdr_answer_settle(sink, err);
    free(reader);
}

static void test_openai_responses__counts_tokens(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai_responses");
    void *state = model_open(ops, "http://h", NULL, &err);
    cadre_sink sink;
    read_events(ops, state, TEXT("x") COMPLETED, &sink, &err);
    CHECK_INT(sink.usage.input_tokens, 7);
    CHECK_INT(sink.usage.cached_input_tokens, 4);
    CHECK_INT(sink.usage.output_tokens, 5);
    CHECK_INT(sink.usage.reasoning_tokens, 2);
    cdr_answer_fini(&sink);
    model_close(ops, state);
}

static void test_openai_responses__reads_a_body_that_is_no_stream(void)
{
    static const char *const bodies[][2] = {
        {"{\"object\":\"response\",\"status\":\"completed\",\"error\":null,\"output\":["
         "{" REASONING "},{" MESSAGE("one") "},{" CALL("c1", "{}") "}]}",
         "one||tool_calls|c1 add {};|[{\"place\":0,\"item\":{" REASONING "}}]"},
        {"{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":"
         "\"m\"},\"output\":[]}",
         "server|1"},
        {"{\"error\":{\"message\":\"m\",\"code\":\"invalid_api_key\"}}", "auth|0"},
        {"{\"status\":\"completed\",\"output\":[{" MESSAGE("on"), "truncated|1"},
        {"{}", "bad_response|0"},
    };
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai_responses");
    void *state = model_open(ops, "http://h", NULL, &err);
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        cadre_sink sink;
        cdr_buf got = CDR_BUF_INIT;
        cadre_error_clear(&err);
        cdr_answer_init(&sink);
        if (ops->body(state,
                      &(const cadre_http_body){200, bodies[i][0], strlen(bodies[i][0])},
                      &sink, &err) == CADRE_OK)
            cdr_answer_settle(&sink, &err);
        outline(&got, &sink, &err);
        CHECK_TEXT(cdr_buf_text(&got), bodies[i][1]);
        cdr_buf_fini(&got);
        cdr_answer_fini(&sink);
    }
    model_close(ops, state);
}

// --- Requests ---

static const cadre_tool_call calls[] = {{"c1", "files.read", "{\"a\":1}"},
                                        {"c2", "add", ""}};
static const cadre_message asked = {
    .text = "What is \"it\"?",
    .role = CADRE_ROLE_USER,
    .parts = "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"a.png\","
             "\"data\":\"aGk=\"},{\"type\":\"file\",\"media_type\":\"application/pdf\","
             "\"name\":\"b.pdf\",\"data\":\"aGk=\"},{\"type\":\"image\",\"url\":"
             "\"https://h/c.png\"}]"};
static const cadre_message said = {
    .text = "Let me see.",
    .reasoning = "hm",
    .tool_calls = calls,
    .n_tool_calls = 2,
    .role = CADRE_ROLE_ASSISTANT,
    .position = 1,
    .model = "openai_responses/m",
    .items = "[{\"place\":0,\"item\":{\"type\":\"reasoning\",\"id\":\"r1\"}},"
             "{\"place\":2,\"item\":{\"type\":\"reasoning\",\"id\":\"r2\"}},"
             "{\"place\":3,\"item\":{\"type\":\"reasoning\",\"id\":\"r3\"}}]"};
static const cadre_message result = {
    .text = "seen", .call_id = "c2", .role = CADRE_ROLE_TOOL, .position = 2};

static char *encode(const char *model, const char *options, const json_t *output_schema)
{
    const cadre_request_item items[] = {{.message = &asked, .text = asked.text},
                                        {.message = &said, .text = said.text},
                                        {.message = &result, .text = result.text}};
    const cadre_tool_info tool = {.name = "files.read", .description = "Reads"};
    const cadre_request request = {.system = "Be brief.",
                                   .items = items,
                                   .n_items = 3,
                                   .tools = &tool,
                                   .n_tools = 1,
                                   .api_key = "k",
                                   .agent = "a",
                                   .model = model,
                                   .output_schema = output_schema,
                                   .output_name = "report"};
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai_responses");
    void *state = model_open(ops, "http://h/v1?x=1", options, &err);
    cadre_http http;
    cdr_http_init(&http);
    CHECK_OK(model_encode(ops, state, &request, &http, &err), &err);
    CHECK_TEXT(http.url, "http://h/v1/responses?x=1");
    char *body = strdup(cdr_buf_text(&http.body));
    json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
    CHECK(json_is_object(json));
    json_decref(json);
    cdr_http_fini(&http);
    model_close(ops, state);
    return body;
}

#define USER_INPUT                                                                     \
    "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\","   \
    "\"text\":\"What is \\\"it\\\"?\"},{\"type\":\"input_image\",\"image_url\":"       \
    "\"data:image/png;base64,aGk=\"},{\"type\":\"input_file\",\"filename\":\"b.pdf\"," \
    "\"file_data\":\"data:application/pdf;base64,aGk=\"},{\"type\":\"input_image\","   \
    "\"image_url\":\"https://h/c.png\"}]}"
#define SAID                                                                           \
    "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":"             \
    "\"output_text\",\"text\":\"Let me see.\"}]}"

static void test_openai_responses__a_request_has_items_in_their_places(void)
{
    char *body = encode("openai_responses/m", NULL, NULL);
    CHECK_TEXT(
        body,
        "{\"model\":\"m\",\"stream\":true,\"store\":false,\"include\":"
        "[\"reasoning.encrypted_content\"],\"instructions\":\"Be brief.\",\"input\":"
        "[" USER_INPUT ",{\"type\":\"reasoning\",\"id\":\"r1\"}," SAID
        ",{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"files__read\","
        "\"arguments\":\"{\\\"a\\\":1}\"},{\"type\":\"reasoning\",\"id\":\"r2\"},"
        "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"add\",\"arguments\":"
        "\"{}\"},{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":"
        "\"Error: this call was interrupted. It has no result; it may or may not have "
        "run.\"},{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":"
        "\"seen\"}],\"tools\":[{\"type\":\"function\",\"name\":\"files__read\","
        "\"strict\":false,\"description\":\"Reads\",\"parameters\":{\"type\":"
        "\"object\",\"properties\":{}}}]}");
    free(body);
}

static void test_openai_responses__what_another_model_thought_stays_away(void)
{
    char *body = encode("openai_responses/other", NULL, NULL);
    CHECK_CONTAINS(body, "]}," SAID ",{\"type\":\"function_call\"");
    CHECK_LACKS(body, "\"type\":\"reasoning\"");
    CHECK_LACKS(body, "\"call_id\":\"c1\""); // another model's id
    free(body);
}

static void test_openai_responses__what_stood_between_messages_stands_there(void)
{
    static const cadre_message messages[] = {
        {.text = "Go.", .role = CADRE_ROLE_USER},
        {.text = "onetwo",
         .role = CADRE_ROLE_ASSISTANT,
         .position = 1,
         .model = "openai_responses/m",
         .items = "[{\"place\":1,\"at\":3,\"item\":{\"type\":\"reasoning\",\"id\":"
                  "\"r1\"}},{\"place\":1,\"at\":6,\"item\":{\"type\":\"reasoning\","
                  "\"id\":\"r2\"}}]"}};
    const wire_request request = {
        .provider = "openai_responses", .messages = messages, .n_messages = 2};
    char *body = wire_request_encode(&request, NULL);
    CHECK_CONTAINS(body,
                   "[{\"type\":\"output_text\",\"text\":\"one\"}]},{\"type\":"
                   "\"reasoning\",\"id\":\"r1\"},{\"type\":\"message\",\"role\":"
                   "\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":"
                   "\"two\"}]},{\"type\":\"message\",\"role\":\"user\"");
    free(body);
}

static void test_openai_responses__options_become_keys_of_the_body(void)
{
    json_t *schema = json_pack("{s:s}", "type", "object");
    char *body =
        encode("openai_responses/m",
               "{\"max_tokens\":9,\"temperature\":0.2,\"reasoning_effort\":"
               "\"low\",\"reasoning_summary\":\"auto\","
               "\"encrypted_reasoning\":false,\"extra_body\":{\"user\":\"u\"}}",
               schema);
    CHECK_CONTAINS(body, "\"max_output_tokens\":9");
    CHECK_CONTAINS(body, "\"temperature\":0.2");
    CHECK_CONTAINS(body, "\"reasoning\":{\"effort\":\"low\",\"summary\":\"auto\"}");
    CHECK_CONTAINS(body, "\"user\":\"u\"");
    CHECK_LACKS(body, "include");
    CHECK_CONTAINS(body,
                   "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":"
                   "\"report\",\"strict\":false,\"schema\":{\"type\":\"object\"}}}");
    free(body);
    json_decref(schema);
}

static void test_openai_responses__is_strict_where_the_schema_is_fit_for_it(void)
{
    json_t *schema =
        json_pack("{sss{s{ss}}s[s]sb}", "type", "object", "properties", "n", "type",
                  "integer", "required", "n", "additionalProperties", 0);
    char *body = encode("openai_responses/m", NULL, schema);
    CHECK_CONTAINS(body, "\"name\":\"report\",\"strict\":true,\"schema\":{");
    free(body);
    json_decref(schema);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_openai_responses__counts_tokens),
    CHECK_TEST(test_openai_responses__reads_a_body_that_is_no_stream),
    CHECK_TEST(test_openai_responses__a_request_has_items_in_their_places),
    CHECK_TEST(test_openai_responses__what_another_model_thought_stays_away),
    CHECK_TEST(test_openai_responses__what_stood_between_messages_stands_there),
    CHECK_TEST(test_openai_responses__options_become_keys_of_the_body),
    CHECK_TEST(test_openai_responses__is_strict_where_the_schema_is_fit_for_it),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/openai_responses", tests);
}
