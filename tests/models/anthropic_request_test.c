// Anthropic's Messages API: what is sent.
#include "support/check.h"
#include "support/model_call.h"
#include "support/wire_request.h"

#include <stdlib.h>
#include <string.h>

#define MARK ",\"cache_control\":{\"type\":\"ephemeral\"}"
#define N(array) (sizeof(array) / sizeof((array)[0]))

static const cadre_tool_call calls[] = {{"c1", "files.read", "{\"a\":1}"},
                                        {"c2", "add", ""}};
static const cadre_tool_info tools[] = {{"files.read", "Reads", NULL},
                                        {"add", " ", NULL}};
static const cadre_message asked = {.text = "What is \"it\"?", .role = CADRE_ROLE_USER};
static const cadre_message called = {
    .text = "Let me see.",
    .tool_calls = calls,
    .n_tool_calls = 2,
    .role = CADRE_ROLE_ASSISTANT,
    .position = 1,
    .model = "anthropic/m",
    .items = "[{\"place\":0,\"item\":{\"type\":\"thinking\",\"thinking\":\"h\\u00e9\","
             "\"signature\":\"s1\"}},{\"place\":2,\"item\":{\"type\":"
             "\"redacted_thinking\",\"data\":\"d\"}},{\"place\":3,\"item\":{\"type\":"
             "\"thinking\",\"thinking\":\"\",\"signature\":\"s3\"}}]"};
static const cadre_message seen = {
    .text = "seen", .call_id = "c2", .role = CADRE_ROLE_TOOL, .position = 2};
static const cadre_message broken = {.text = "no such file",
                                     .call_id = "c1",
                                     .code = CADRE_RESULT_TOOL_ERROR,
                                     .role = CADRE_ROLE_TOOL,
                                     .position = 3};
static const cadre_message answered = {.text = "It is x.",
                                       .role = CADRE_ROLE_ASSISTANT,
                                       .position = 4,
                                       .model = "anthropic/m"};
static const cadre_message thanked = {
    .text = "Thanks", .role = CADRE_ROLE_USER, .position = 5};

static char *encode(const cadre_message *messages, size_t n, const char *options)
{
    const wire_request request = {.provider = "anthropic",
                                  .options = options,
                                  .messages = messages,
                                  .n_messages = n};
    return wire_request_encode(&request, NULL);
}

static void test_anthropic_request__blocks_stand_in_their_places(void)
{
    const cadre_message messages[] = {asked, called, seen, broken};
    const wire_request request = {.provider = "anthropic",
                                  .messages = messages,
                                  .n_messages = 4,
                                  .tools = tools,
                                  .n_tools = 2};
    char *body = wire_request_encode(&request, NULL);
    CHECK_TEXT(
        body,
        "{\"model\":\"m\",\"max_tokens\":8192,\"stream\":true,\"messages\":[{"
        "\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
        "\"What is \\\"it\\\"?\"" MARK
        "}]},{\"role\":\"assistant\",\"content\":[{\"type\":\"thinking\",\"thinking\":"
        "\"h\\u00e9\",\"signature\":\"s1\"},{\"type\":\"text\",\"text\":"
        "\"Let me see.\"},{\"type\":\"tool_use\",\"id\":\"c1\",\"name\":"
        "\"files__read\",\"input\":{\"a\":1}},{\"type\":\"redacted_thinking\","
        "\"data\":\"d\"},{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":"
        "\"s3\"},{\"type\":\"tool_use\",\"id\":\"c2\",\"name\":\"add\",\"input\":{}}]},"
        "{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":"
        "\"c1\",\"is_error\":true,\"content\":\"no such file\"},{\"type\":"
        "\"tool_result\",\"tool_use_id\":\"c2\",\"content\":\"seen\"" MARK
        "}]}],\"tools\":[{\"name\":\"files__read\",\"description\":\"Reads\","
        "\"input_schema\":{\"type\":\"object\",\"properties\":{}}},{\"name\":\"add\","
        "\"input_schema\":{\"type\":\"object\",\"properties\":{}}" MARK
        "}],\"system\":[{\"type\":\"text\",\"text\":\"Be brief.\"" MARK "}]}");
    free(body);
}

static void test_anthropic_request__results_and_what_is_said_are_one_message(void)
{
    const cadre_message messages[] = {asked, called, seen, broken, thanked};
    char *body = encode(messages, 5, NULL);
    CHECK_CONTAINS(body,
                   "\"content\":\"seen\"},{\"type\":\"text\",\"text\":\"Thanks\"" MARK
                   "}]}],\"");
    free(body);
}

static void test_anthropic_request__texts_of_a_turn_are_one_block(void)
{
    cadre_message with = thanked;
    with.parts = "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"c\","
                 "\"url\":\"https://h/c.png\"}]";
    const cadre_message messages[] = {asked, thanked, with, thanked};
    char *body = encode(messages, 4, NULL);
    CHECK_CONTAINS(body, "\"content\":[{\"type\":\"text\",\"text\":\"What is "
                         "\\\"it\\\"?\\n\\nThanks\"},{\"type\":\"image\",\"source\":{"
                         "\"type\":\"url\",\"url\":\"https://h/c.png\"}},{\"type\":"
                         "\"text\",\"text\":\"Thanks\\n\\nThanks\"" MARK "}]}],\"");
    free(body);
}

// What one request wrote into the cache, the next one finds at its older mark: the
// prefix is the same byte for byte but for the marks.
static void test_anthropic_request__two_marks_walk_along(void)
{
    const cadre_message messages[] = {asked, answered, thanked, answered, thanked};
    char *before = encode(messages, 3, NULL);
    char *after = encode(messages, 5, NULL);
    CHECK_CONTAINS(before, "What is \\\"it\\\"?\"" MARK "}]}");
    CHECK_CONTAINS(before, "\"Thanks\"" MARK "}]}],\"");
    CHECK_CONTAINS(after, "What is \\\"it\\\"?\"}]}");
    size_t n_marks = 0;
    for (const char *at = after; (at = strstr(at, MARK)) != NULL; at++)
        n_marks++;
    CHECK_INT(n_marks, 3); // the system text and two messages
    char *off = encode(messages, 5, "{\"prompt_cache\":false}");
    CHECK_LACKS(off, "cache_control");
    free(before);
    free(after);
    free(off);
}

static void test_anthropic_request__what_another_model_thought_stays_away(void)
{
    const cadre_message messages[] = {asked, called, seen, broken};
    const wire_request request = {.provider = "anthropic",
                                  .model = "other",
                                  .messages = messages,
                                  .n_messages = 4};
    char *body = wire_request_encode(&request, NULL);
    CHECK_LACKS(body, "thinking");
    CHECK_LACKS(body, "\"c1\""); // another model's id
    CHECK_CONTAINS(body, "[{\"type\":\"text\",\"text\":\"Let me see.\"},{\"type\":"
                         "\"tool_use\"");
    free(body);
}

// With a budget the last calls must begin with a thought; else the model goes on
// without thinking.
static void test_anthropic_request__a_budget_needs_a_thought_before_calls(void)
{
    static const char options[] = "{\"thinking\":{\"budget_tokens\":2000}}";
    cadre_message plain = called;
    plain.items = "";
    const cadre_message good[] = {asked, called, seen, broken};
    const cadre_message bad[] = {asked, plain, seen, broken};
    const cadre_message over[] = {asked, plain, seen, broken, answered, thanked};
    char *body = encode(good, 4, options);
    CHECK_CONTAINS(body, "\"max_tokens\":10192");
    CHECK_CONTAINS(body, ",\"thinking\":{\"budget_tokens\":2000,\"type\":\"enabled\"}");
    free(body);
    body = encode(bad, 4, options);
    CHECK_LACKS(body, "budget_tokens");
    free(body);
    body = encode(over, 6, options); // a turn with text alone need not
    CHECK_CONTAINS(body, "budget_tokens");
    free(body);
    body = encode(bad, 4, "{\"thinking\":{}}");
    CHECK_CONTAINS(body, ",\"thinking\":{\"type\":\"adaptive\"}");
    free(body);
}

static void test_anthropic_request__what_stood_within_the_text_stands_there(void)
{
    cadre_message said = answered;
    said.text = "One. \n Two. ";
    said.items =
        "[{\"place\":0,\"item\":{\"type\":\"redacted_thinking\",\"data\":\"0\"}},"
        "{\"place\":1,\"at\":4,\"item\":{\"type\":\"redacted_thinking\",\"data\":"
        "\"1\"}},{\"place\":1,\"at\":6,\"item\":{\"type\":\"redacted_thinking\","
        "\"data\":\"2\"}},{\"place\":1,\"at\":11,\"item\":{\"type\":"
        "\"redacted_thinking\",\"data\":\"3\"}}]";
    const cadre_message messages[] = {asked, said, thanked};
    char *body = encode(messages, 3, NULL);
    CHECK_CONTAINS(
        body,
        "\"content\":[{\"type\":\"redacted_thinking\",\"data\":\"0\"},{\"type\":"
        "\"text\",\"text\":\"One.\"},{\"type\":\"redacted_thinking\",\"data\":"
        "\"1\"},{\"type\":\"redacted_thinking\",\"data\":\"2\"},{\"type\":"
        "\"redacted_thinking\",\"data\":\"3\"},{\"type\":\"text\",\"text\":\" \\n "
        "Two. \"}]");
    free(body);
}

// A thought at the end would be refused, and so would a server's tool whose result
// never came.
static void test_anthropic_request__items_that_would_be_refused_stay_away(void)
{
    cadre_message cut = answered;
    cut.items =
        "[{\"place\":1,\"item\":{\"type\":\"server_tool_use\",\"id\":\"a\","
        "\"name\":\"n\",\"input\":{}}},{\"place\":1,\"item\":{\"type\":"
        "\"n_tool_result\",\"tool_use_id\":\"a\"}},{\"place\":1,\"item\":{"
        "\"type\":\"server_tool_use\",\"id\":\"b\",\"name\":\"n\",\"input\":{}}}"
        ",{\"place\":1,\"item\":{\"type\":\"thinking\",\"thinking\":\"x\","
        "\"signature\":\"s\"}}]";
    const cadre_message messages[] = {asked, cut, thanked};
    char *body = encode(messages, 3, NULL);
    CHECK_CONTAINS(body, "\"content\":[{\"type\":\"server_tool_use\",\"id\":\"a\","
                         "\"name\":\"n\",\"input\":{}},{\"type\":\"n_tool_result\","
                         "\"tool_use_id\":\"a\"},{\"type\":\"thinking\",\"thinking\":"
                         "\"x\",\"signature\":\"s\"},{\"type\":\"text\",\"text\":"
                         "\"It is x.\"}]");
    free(body);
}

static void test_anthropic_request__files_go_as_blocks_before_the_text(void)
{
    cadre_message with = asked;
    with.parts =
        "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"a.png\",\"data\":"
        "\"aGk=\"},{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"c\","
        "\"url\":\"https://h/c.png\"},{\"type\":\"file\",\"media_type\":"
        "\"application/pdf\",\"name\":\"b.pdf\",\"data\":\"aGk=\"},{\"type\":\"file\","
        "\"media_type\":\"text/plain\",\"name\":\"t\",\"text\":\"x\\\"y\"},{\"type\":"
        "\"file\",\"media_type\":\"text/html\",\"name\":\"w\",\"url\":\"https://h/w\"},"
        "{\"type\":\"file\",\"media_type\":\"audio/wav\",\"name\":\"s.wav\",\"data\":"
        "\"aGk=\"}]";
    char *body = encode(&with, 1, "{\"prompt_cache\":false}");
    CHECK_CONTAINS(
        body,
        "\"content\":[{\"type\":\"image\",\"source\":{\"type\":\"base64\","
        "\"media_type\":\"image/png\",\"data\":\"aGk=\"}},{\"type\":\"image\","
        "\"source\":{\"type\":\"url\",\"url\":\"https://h/c.png\"}},{\"type\":"
        "\"document\",\"source\":{\"type\":\"base64\",\"media_type\":"
        "\"application/pdf\",\"data\":\"aGk=\"},\"title\":\"b.pdf\"},{\"type\":"
        "\"document\",\"source\":{\"type\":\"text\",\"media_type\":\"text/plain\","
        "\"data\":\"x\\\"y\"},\"title\":\"t\"},{\"type\":\"text\",\"text\":"
        "\"[w]\\nhttps://h/w\"},{\"type\":\"text\",\"text\":\"[file s.wav of type "
        "audio/wav: this model cannot read it]\"},{\"type\":\"text\",\"text\":"
        "\"What is \\\"it\\\"?\"}]}],\"");
    free(body);
    with.text = " ";
    body = encode(&with, 1, "{\"prompt_cache\":false}");
    CHECK_CONTAINS(body, "this model cannot read it]\"}]}],\""); // no empty text
    free(body);
    with.parts = "[{\"type\":\"image\",\"media_type\":\"image/bmp\",\"name\":\"a\","
                 "\"data\":\"aGk=\"},{\"type\":\"file\",\"media_type\":\"text/plain\","
                 "\"name\":\"t\",\"text\":\" \\n\"}]";
    body = encode(&with, 1, "{\"prompt_cache\":false}");
    CHECK_CONTAINS(body, "[file a of type image/bmp: this model cannot read it]");
    CHECK_CONTAINS(body, "\"data\":\"(no text)\"},\"title\":\"t\"");
    free(body);
}

static void test_anthropic_request__options_become_keys_and_headers(void)
{
    const wire_request request = {
        .provider = "anthropic",
        .base_url = "https://h/anthropic?x=1",
        .options = "{\"max_tokens\":9,\"temperature\":0.5,\"effort\":\"low\","
                   "\"tool_choice\":\"any\",\"parallel_tool_calls\":false,\"beta\":["
                   "\"b1\",\"b2\"],\"headers\":{\"X-Title\":\"t\"},\"extra_body\":{"
                   "\"metadata\":{\"user_id\":\"u\"}},\"stop_sequences\":[\"x\"]}",
        .system = " ",
        .messages = &asked,
        .n_messages = 1,
        .tools = tools,
        .n_tools = 1};
    cadre_http http;
    char *body = wire_request_encode(&request, &http);
    CHECK_TEXT(http.url, "https://h/anthropic/v1/messages?x=1");
    CHECK_CONTAINS(body, "{\"model\":\"m\",\"max_tokens\":9,\"stream\":true,"
                         "\"temperature\":0.5,\"stop_sequences\":[\"x\"],\"metadata\":{"
                         "\"user_id\":\"u\"},\"messages\":[");
    CHECK_CONTAINS(body, "],\"output_config\":{\"effort\":\"low\"},\"tools\":[");
    CHECK_CONTAINS(body, "],\"tool_choice\":{\"type\":\"any\","
                         "\"disable_parallel_tool_use\":true}}");
    CHECK_LACKS(body, "\"system\"");
    static const char *const headers[][2] = {{"anthropic-version", "2023-06-01"},
                                             {"anthropic-beta", "b1,b2"},
                                             {"Content-Type", "application/json"},
                                             {"Accept", "text/event-stream"},
                                             {"x-api-key", "k"},
                                             {"X-Title", "t"}};
    CHECK_INT(http.n_headers, N(headers));
    for (size_t i = 0; i < N(headers) && i < http.n_headers; i++) {
        CHECK_TEXT(http.headers[i].name, headers[i][0]);
        CHECK_TEXT(http.headers[i].value, headers[i][1]);
    }
    cdr_http_fini(&http);
    free(body);
}

static void test_anthropic_request__a_version_stands_in_the_url_once(void)
{
    static const char *const urls[][2] = {
        {"https://api.anthropic.com", "https://api.anthropic.com/v1/messages"},
        {"https://h/v1", "https://h/v1/messages"},
        {"https://h/v2beta?a=/b", "https://h/v2beta/messages?a=/b"},
        {"https://h/vertex", "https://h/vertex/v1/messages"}};
    for (size_t i = 0; i < N(urls); i++) {
        const wire_request request = {.provider = "anthropic",
                                      .base_url = urls[i][0],
                                      .messages = &asked,
                                      .n_messages = 1};
        cadre_http http;
        free(wire_request_encode(&request, &http));
        CHECK_TEXT(http.url, urls[i][1]);
        cdr_http_fini(&http);
    }
}

static void test_anthropic_request__thinking_that_cannot_work_is_refused(void)
{
    static const char *const rows[][2] = {
        {"{\"thinking\":{\"type\":\"enabled\"}}", "needs budget_tokens"},
        {"{\"thinking\":{\"type\":\"adaptive\",\"budget_tokens\":2000}}",
         "goes with type 'enabled'"},
        {"{\"thinking\":{\"budget_tokens\":2000},\"max_tokens\":2000}",
         "less than max_tokens 2000"},
        {"{\"extra_body\":{\"messages\":[]}}", "'messages'"}};
    const cadre_model_ops *ops = model_ops_find("anthropic");
    for (size_t i = 0; i < N(rows); i++) {
        cadre_error err = CADRE_ERROR_INIT;
        CHECK(model_open(ops, "http://h", rows[i][0], &err) == NULL);
        CHECK_STATUS(err.status, CADRE_EINVAL, &err);
        CHECK_CONTAINS(err.text, "model 'm': ");
        CHECK_CONTAINS(err.text, rows[i][1]);
    }
}

// --- Schemas ---

#define FORMAT(schema)                                                                 \
    "\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":" schema "}}"

// What is sent for a schema; NULL: it stands in the system text.
static const char *const schemas[][2] = {
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":1},"
     "\"b\":{\"type\":\"string\",\"maxLength\":3,\"format\":\"date\"}},\"required\":["
     "\"a\"],\"$schema\":\"x\"}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{"
     "\"type\":\"string\",\"format\":\"date\"}},\"required\":[\"a\"],"
     "\"additionalProperties\":false}"},
    {"{\"properties\":{\"l\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":9,"
     "\"items\":{\"$ref\":\"#/$defs/d\"}}},\"$defs\":{\"d\":{\"oneOf\":[{\"const\":1},"
     "{\"enum\":[\"x\",null]}]}}}",
     "{\"properties\":{\"l\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":"
     "\"#/$defs/d\"}}},\"$defs\":{\"d\":{\"anyOf\":[{\"const\":1},{\"enum\":[\"x\","
     "null]}]}},\"type\":\"object\",\"additionalProperties\":false}"},
    {"{\"type\":[\"object\",\"null\"],\"properties\":{},\"additionalProperties\":true}",
     "{\"type\":[\"object\",\"null\"],\"properties\":{},\"additionalProperties\":"
     "false}"},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/d\"}],"
     "\"description\":\"x\"}},\"$defs\":{\"d\":{\"type\":\"string\"}}}",
     "{\"type\":\"object\",\"properties\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/d\"}],"
     "\"description\":\"x\"}},\"$defs\":{\"d\":{\"type\":\"string\"}},"
     "\"additionalProperties\":false}"},
    {"{\"allOf\":[{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"}}},"
     "{\"type\":\"object\",\"properties\":{\"b\":{\"type\":\"string\"}}}]}",
     NULL},
    {"{\"anyOf\":[{\"type\":\"string\"}],\"oneOf\":[{\"type\":\"integer\"}]}", NULL},
    {"{\"type\":\"object\"}", NULL},
    {"{}", NULL},
    {"{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}}", NULL},
    {"{\"type\":\"object\",\"properties\":{\"a\":true}}", NULL},
    {"{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\"}}}", NULL},
    {"{\"enum\":[{\"a\":1}]}", NULL},
    {"{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"object\",\"properties\":{"
     "\"next\":{\"$ref\":\"#/$defs/n\"}}}}}",
     NULL},
    {"{\"type\":\"array\",\"items\":{\"$ref\":\"other.json\"}}", NULL},
};

static void test_anthropic_request__a_schema_goes_as_the_provider_takes_it(void)
{
    for (size_t i = 0; i < N(schemas); i++) {
        const wire_request request = {.provider = "anthropic",
                                      .messages = &asked,
                                      .n_messages = 1,
                                      .output_schema = schemas[i][0]};
        char *body = wire_request_encode(&request, NULL);
        cdr_buf wanted = CDR_BUF_INIT;
        if (schemas[i][1])
            cdr_buf_printf(&wanted, FORMAT("%s"), schemas[i][1]);
        else
            cdr_buf_append_text(&wanted,
                                "Be brief.\\n\\nAnswer with one JSON value and "
                                "nothing else. It must fit this JSON Schema: ");
        CHECK_CONTAINS(body, cdr_buf_text(&wanted));
        if (schemas[i][1])
            CHECK_LACKS(body, "Answer with one JSON value");
        else
            CHECK_LACKS(body, "output_config");
        cdr_buf_fini(&wanted);
        free(body);
    }
}

static void test_anthropic_request__a_schema_can_be_told_in_words(void)
{
    const wire_request request = {.provider = "anthropic",
                                  .options = "{\"structured_output\":\"text\"}",
                                  .system = "",
                                  .messages = &asked,
                                  .n_messages = 1,
                                  .output_schema =
                                      "{\"type\":\"object\",\"properties\":"
                                      "{}}"};
    char *body = wire_request_encode(&request, NULL);
    CHECK_LACKS(body, "output_config");
    CHECK_CONTAINS(body,
                   "\"system\":[{\"type\":\"text\",\"text\":\"Answer with one JSON "
                   "value and nothing else. It must fit this JSON Schema: "
                   "{\\\"type\\\":\\\"object\\\",\\\"properties\\\":{}}\"" MARK "}]");
    free(body);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_anthropic_request__blocks_stand_in_their_places),
    CHECK_TEST(test_anthropic_request__results_and_what_is_said_are_one_message),
    CHECK_TEST(test_anthropic_request__texts_of_a_turn_are_one_block),
    CHECK_TEST(test_anthropic_request__two_marks_walk_along),
    CHECK_TEST(test_anthropic_request__what_another_model_thought_stays_away),
    CHECK_TEST(test_anthropic_request__a_budget_needs_a_thought_before_calls),
    CHECK_TEST(test_anthropic_request__what_stood_within_the_text_stands_there),
    CHECK_TEST(test_anthropic_request__items_that_would_be_refused_stay_away),
    CHECK_TEST(test_anthropic_request__files_go_as_blocks_before_the_text),
    CHECK_TEST(test_anthropic_request__options_become_keys_and_headers),
    CHECK_TEST(test_anthropic_request__a_version_stands_in_the_url_once),
    CHECK_TEST(test_anthropic_request__thinking_that_cannot_work_is_refused),
    CHECK_TEST(test_anthropic_request__a_schema_goes_as_the_provider_takes_it),
    CHECK_TEST(test_anthropic_request__a_schema_can_be_told_in_words),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/anthropic_request", tests);
}
