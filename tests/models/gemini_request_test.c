// Gemini's generateContent: what is sent.
#include "support/check.h"
#include "support/model_call.h"
#include "support/wire_request.h"

#include <stdlib.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define NO_SIGNATURE "\"thoughtSignature\":\"skip_thought_signature_validator\""

static const cadre_tool_call calls[] = {{"c1", "files.read", "{\"a\":1}"},
                                        {"c2", "add", ""}};
static const cadre_message asked = {.text = "What is \"it\"?", .role = CADRE_ROLE_USER};
static const cadre_message called = {
    .text = "Let me see.",
    .tool_calls = calls,
    .n_tool_calls = 2,
    .role = CADRE_ROLE_ASSISTANT,
    .position = 1,
    .model = "gemini/m",
    .items = "[{\"place\":0,\"item\":{\"thought\":true,\"text\":\"\","
             "\"thoughtSignature\":\"s0\"}},{\"place\":1,\"item\":{\"text\":\"\","
             "\"thoughtSignature\":\"s1\"}},{\"place\":2,\"item\":{"
             "\"thoughtSignature\":\"a\\/b\"}}]"};
static const cadre_message seen = {
    .text = "seen", .call_id = "c2", .role = CADRE_ROLE_TOOL, .position = 2};
static const cadre_message broken = {.text = "no such file",
                                     .call_id = "c1",
                                     .code = CADRE_RESULT_TOOL_ERROR,
                                     .role = CADRE_ROLE_TOOL,
                                     .position = 3};
static const cadre_message thanked = {
    .text = "Thanks", .role = CADRE_ROLE_USER, .position = 5};

static char *encode(const cadre_message *messages, size_t n, const char *model)
{
    const wire_request request = {
        .provider = "gemini", .model = model, .messages = messages, .n_messages = n};
    return wire_request_encode(&request, NULL);
}

// As many results as calls, in their order, and apart from what is said behind them.
static void test_gemini_request__parts_stand_in_their_places(void)
{
    json_t *parameters = json_pack("{s:s}", "type", "object");
    const cadre_tool_info tools[] = {{"files.read", "Reads", parameters},
                                     {"add", " ", NULL}};
    const cadre_message messages[] = {asked, called, seen, broken, thanked};
    const wire_request request = {.provider = "gemini",
                                  .messages = messages,
                                  .n_messages = 5,
                                  .tools = tools,
                                  .n_tools = 2};
    char *body = wire_request_encode(&request, NULL);
    CHECK_TEXT(
        body,
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"What is "
        "\\\"it\\\"?\"}]},{\"role\":\"model\",\"parts\":[{\"thought\":true,\"text\":"
        "\"\",\"thoughtSignature\":\"s0\"},{\"text\":\"Let me see.\"},{\"text\":\"\","
        "\"thoughtSignature\":\"s1\"},{\"functionCall\":{\"id\":\"c1\",\"name\":"
        "\"files__read\",\"args\":{\"a\":1}},\"thoughtSignature\":\"a\\/b\"},{"
        "\"functionCall\":{\"id\":\"c2\",\"name\":\"add\",\"args\":{}}}]},{\"role\":"
        "\"user\",\"parts\":[{\"functionResponse\":{\"id\":\"c1\",\"name\":"
        "\"files__read\",\"response\":{\"error\":\"no such file\"}}},{"
        "\"functionResponse\":{\"id\":\"c2\",\"name\":\"add\",\"response\":{\"output\":"
        "\"seen\"}}}]},{\"role\":\"user\",\"parts\":[{\"text\":\"Thanks\"}]}],"
        "\"systemInstruction\":{\"parts\":[{\"text\":\"Be brief.\"}]},\"tools\":[{"
        "\"functionDeclarations\":[{\"name\":\"files__read\",\"description\":"
        "\"Reads\",\"parametersJsonSchema\":{\"type\":\"object\"}},{\"name\":\"add\"}]"
        "}]}");
    free(body);
    json_decref(parameters);
}

static void test_gemini_request__what_stood_within_the_text_stands_there(void)
{
    static const cadre_message said = {
        .text = "One. Two.",
        .role = CADRE_ROLE_ASSISTANT,
        .position = 1,
        .model = "gemini/m",
        .items = "[{\"place\":1,\"at\":4,\"item\":{\"text\":\"\",\"thoughtSignature\":"
                 "\"s\"}},{\"place\":1,\"at\":9,\"item\":{\"executableCode\":{}}}]"};
    const cadre_message messages[] = {asked, said, thanked};
    char *body = encode(messages, 3, NULL);
    CHECK_CONTAINS(body, "\"parts\":[{\"text\":\"One.\"},{\"text\":\"\","
                         "\"thoughtSignature\":\"s\"},{\"text\":\" Two.\"},{"
                         "\"executableCode\":{}}]}");
    free(body);
}

// From Gemini 3 on the first call of a turn needs a signature; one that another model
// made gets the provider's own word for that.
static void test_gemini_request__calls_without_a_signature_say_so(void)
{
    static const struct {
        const char *model, *said_by;
        bool has_word;
    } rows[] = {
        {"gemini-3-pro", "gemini/gemini-3-pro", true},
        {"gemini-3.5-flash", "openai/x", true},
        {"gemini-2.5-flash", "openai/x", false},
        {"gemini-2.0-flash", "gemini/gemini-2.0-flash", false},
        {"tunedModels/gemini-1.5-mine", "openai/x", false},
        {"other", "openai/x", false},
    };
    cadre_message plain = called;
    plain.items = "";
    for (size_t i = 0; i < N(rows); i++) {
        plain.model = rows[i].said_by;
        const cadre_message messages[] = {asked, plain, seen, broken};
        char *body = encode(messages, 4, rows[i].model);
        const char *word = strstr(body, NO_SIGNATURE);
        CHECK((word != NULL) == rows[i].has_word);
        CHECK(word == NULL || strstr(word + 1, NO_SIGNATURE) == NULL); // the first only
        CHECK(word == NULL || word < strstr(body, "\"name\":\"add\""));
        free(body);
    }
}

static void test_gemini_request__what_another_model_signed_stays_away(void)
{
    const cadre_message messages[] = {asked, called, seen, broken};
    char *body = encode(messages, 4, "other");
    CHECK_LACKS(body, "thoughtSignature");
    CHECK_LACKS(body, "\"c1\""); // another model's id
    CHECK_CONTAINS(body, "\"parts\":[{\"text\":\"Let me see.\"},{\"functionCall\"");
    free(body);
}

static void test_gemini_request__files_go_as_parts(void)
{
    cadre_message with = asked;
    with.parts =
        "[{\"type\":\"image\",\"media_type\":\"image/png\",\"name\":\"a.png\",\"data\":"
        "\"aGk=\"},{\"type\":\"file\",\"media_type\":\"text/plain\",\"name\":\"t\","
        "\"text\":\"x\\\"y\"},{\"type\":\"file\",\"media_type\":\"video/mp4\",\"name\":"
        "\"v\",\"url\":\"https://h/v\"}]";
    const cadre_message messages[] = {thanked, with, thanked};
    char *body = encode(messages, 3, NULL);
    CHECK_CONTAINS(body,
                   "\"parts\":[{\"text\":\"Thanks\"},{\"inlineData\":{\"mimeType\":"
                   "\"image/png\",\"data\":\"aGk=\"}},{\"text\":\"[t]\\nx\\\"y\"},{"
                   "\"fileData\":{\"mimeType\":\"video/mp4\",\"fileUri\":"
                   "\"https://h/v\"}},{\"text\":\"What is \\\"it\\\"?\\n\\nThanks\"}]");
    free(body);
    with.text = "";
    body = encode(&with, 1, NULL);
    CHECK_CONTAINS(body, "\"https://h/v\"}}]}],\""); // no empty text
    free(body);
}

static void test_gemini_request__options_become_keys_and_headers(void)
{
    static const cadre_tool_info tool = {"f", "", NULL};
    const wire_request request = {
        .provider = "gemini",
        .model = "m?x",
        .base_url = "https://h/p?a=1",
        .options =
            "{\"temperature\":0.5,\"top_p\":0.9,\"top_k\":3,\"max_tokens\":9,"
            "\"stop_sequences\":[\"x\"],\"seed\":7,\"thinking_budget\":0,"
            "\"thinking_level\":\"low\",\"include_thoughts\":true,"
            "\"tool_choice\":\"any\",\"safety_settings\":{\"HARM\":\"OFF\"},"
            "\"generation_config\":{\"candidateCount\":1},\"headers\":{\"X-Title\":"
            "\"t\"},\"extra_body\":{\"cachedContent\":\"c\"}}",
        .system = " ",
        .messages = &asked,
        .n_messages = 1,
        .tools = &tool,
        .n_tools = 1};
    cadre_http http;
    char *body = wire_request_encode(&request, &http);
    CHECK_TEXT(http.url,
               "https://h/p/v1beta/models/m%3Fx:streamGenerateContent?a=1&alt=sse");
    CHECK_CONTAINS(
        body, "{\"safetySettings\":[{\"category\":\"HARM\",\"threshold\":\"OFF\"}],"
              "\"cachedContent\":\"c\",\"contents\":[");
    CHECK_CONTAINS(
        body, "],\"generationConfig\":{\"temperature\":0.5,"
              "\"topP\":0.9,\"topK\":3,\"maxOutputTokens\":9,\"stopSequences\":[\"x\"],"
              "\"seed\":7,\"thinkingConfig\":{\"thinkingBudget\":0,\"thinkingLevel\":"
              "\"low\",\"includeThoughts\":true},\"candidateCount\":1},\"tools\":[");
    CHECK_CONTAINS(body,
                   "],\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}"
                   "}}");
    CHECK_LACKS(body, "systemInstruction");
    static const char *const headers[][2] = {{"Content-Type", "application/json"},
                                             {"Accept", "text/event-stream"},
                                             {"x-goog-api-key", "k"},
                                             {"X-Title", "t"}};
    CHECK_INT(http.n_headers, N(headers));
    for (size_t i = 0; i < N(headers) && i < http.n_headers; i++) {
        CHECK_TEXT(http.headers[i].name, headers[i][0]);
        CHECK_TEXT(http.headers[i].value, headers[i][1]);
    }
    cdr_http_fini(&http);
    free(body);
}

static void test_gemini_request__models_and_versions_make_the_address(void)
{
    static const char *const rows[][3] = {
        {"https://generativelanguage.googleapis.com", "gemini-3-pro",
         "https://generativelanguage.googleapis.com/v1beta/models/"
         "gemini-3-pro:streamGenerateContent?alt=sse"},
        {"https://h/v1", "tunedModels/a",
         "https://h/v1/tunedModels/a:streamGenerateContent?alt=sse"},
        {"https://h/v1/gateway/gemini", "g",
         "https://h/v1/gateway/gemini/v1beta/models/g:streamGenerateContent?alt=sse"},
    };
    for (size_t i = 0; i < N(rows); i++) {
        const wire_request request = {.provider = "gemini",
                                      .base_url = rows[i][0],
                                      .model = rows[i][1],
                                      .messages = &asked,
                                      .n_messages = 1};
        cadre_http http;
        free(wire_request_encode(&request, &http));
        CHECK_TEXT(http.url, rows[i][2]);
        cdr_http_fini(&http);
    }
}

// Models before Gemini 3 refuse a schema beside tools: there it stands in the text.
static void test_gemini_request__a_schema_has_a_place_or_is_told(void)
{
    static const cadre_tool_info tool = {"f", "", NULL};
    static const char in_place[] =
        "\"generationConfig\":{\"responseMimeType\":\"application/json\","
        "\"responseJsonSchema\":{\"type\":\"object\"}}";
    static const char told[] = "Be brief.\\n\\nAnswer with one JSON value and nothing "
                               "else. It must fit this JSON Schema: "
                               "{\\\"type\\\":\\\"object\\\"}\"}]}";
    static const struct {
        const char *model, *options;
        size_t n_tools;
        bool has_place;
    } rows[] = {{"gemini-2.5-pro", NULL, 0, true},
                {"gemini-2.5-pro", NULL, 1, false},
                {"gemini-3-pro", NULL, 1, true},
                {"gemini-3-pro", "{\"structured_output\":\"text\"}", 0, false}};
    for (size_t i = 0; i < N(rows); i++) {
        const wire_request request = {.provider = "gemini",
                                      .model = rows[i].model,
                                      .options = rows[i].options,
                                      .messages = &asked,
                                      .n_messages = 1,
                                      .tools = &tool,
                                      .n_tools = rows[i].n_tools,
                                      .output_schema = "{\"type\":\"object\"}"};
        char *body = wire_request_encode(&request, NULL);
        CHECK_CONTAINS(body, rows[i].has_place ? in_place : told);
        CHECK_LACKS(body, rows[i].has_place ? "It must fit" : "responseJsonSchema");
        free(body);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_gemini_request__parts_stand_in_their_places),
    CHECK_TEST(test_gemini_request__what_stood_within_the_text_stands_there),
    CHECK_TEST(test_gemini_request__calls_without_a_signature_say_so),
    CHECK_TEST(test_gemini_request__what_another_model_signed_stays_away),
    CHECK_TEST(test_gemini_request__files_go_as_parts),
    CHECK_TEST(test_gemini_request__options_become_keys_and_headers),
    CHECK_TEST(test_gemini_request__models_and_versions_make_the_address),
    CHECK_TEST(test_gemini_request__a_schema_has_a_place_or_is_told),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/gemini_request", tests);
}
