// Requests of chat completions: whatever is stored, what is sent is a history that
// strict servers take.
#include "net/http_request.h"

#include "support/check.h"
#include "support/model_call.h"
#include "support/wire_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITEMS 64
#define N_HISTORIES 5000

// A history that a test puts together.
typedef struct history {
    cadre_message messages[MAX_ITEMS];
    cadre_request_item items[MAX_ITEMS];
    cdr_fragments caches[MAX_ITEMS];
    size_t n;
} history;

static void add(history *to, cadre_rendering rendering, cadre_message message)
{
    size_t i = to->n++;
    message.position = (int64_t)i;
    message.reasoning = message.reasoning ? message.reasoning : "";
    to->messages[i] = message;
    to->items[i] = (cadre_request_item){.message = &to->messages[i],
                                        .text = message.text,
                                        .rendering = rendering,
                                        .cache = &to->caches[i]};
}

static void add_user(history *to, const char *text)
{
    add(to, CADRE_AS_USER, (cadre_message){.text = text, .role = CADRE_ROLE_USER});
}

static void add_assistant(history *to, const char *text, const cadre_tool_call *calls,
                          size_t n_calls)
{
    add(to, CADRE_AS_OWN,
        (cadre_message){.text = text,
                        .tool_calls = calls,
                        .n_tool_calls = n_calls,
                        .role = CADRE_ROLE_ASSISTANT});
}

static void add_result(history *to, const char *call_id, const char *text)
{
    add(to, CADRE_AS_OWN,
        (cadre_message){.text = text, .call_id = call_id, .role = CADRE_ROLE_TOOL});
}

static void history_fini(history *to)
{
    for (size_t i = 0; i < to->n; i++)
        cdr_fragments_fini(&to->caches[i]);
}

// The body as JSON; the caller's.
static json_t *encode_with(const cadre_request *request, const char *options,
                           const char *base_url, cadre_http *http)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    void *state = model_open(ops, base_url, options, &err);
    if (!CHECK_OK(err.status, &err))
        return NULL;
    CHECK_OK(model_encode(ops, state, request, http, &err), &err);
    CHECK(!http->failed);
    json_t *body = json_loads(cdr_buf_text(&http->body), JSON_REJECT_DUPLICATES, NULL);
    CHECK(json_is_object(body));
    model_close(ops, state);
    return body;
}

static json_t *encode(const history *from, const char *system)
{
    cadre_http http;
    cadre_request request = {
        .system = system, .items = from->items, .n_items = from->n, .agent = "a"};
    cdr_http_init(&http);
    json_t *body = encode_with(&request, NULL, "http://h", &http);
    cdr_http_fini(&http);
    return body;
}

static const char *text_at(const json_t *body, size_t message, const char *key)
{
    const json_t *messages = json_object_get(body, "messages");
    const char *text =
        json_string_value(json_object_get(json_array_get(messages, message), key));
    return text ? text : "(none)";
}

static size_t count_messages(const json_t *body)
{
    return json_array_size(json_object_get(body, "messages"));
}

// What is wrong with a call, and with the result that must stand behind it. NULL:
// nothing.
static const char *find_call_fault(const json_t *call, const json_t *result,
                                   const json_t *seen)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-";
    const json_t *function = json_object_get(call, "function");
    const char *id = json_string_value(json_object_get(call, "id"));
    const char *name = json_string_value(json_object_get(function, "name"));
    const char *text = json_string_value(json_object_get(function, "arguments"));
    const char *answers = json_string_value(json_object_get(result, "tool_call_id"));
    json_t *arguments = text ? json_loads(text, 0, NULL) : NULL;
    bool is_object = json_is_object(arguments);
    json_decref(arguments);
    if (!id || strlen(id) == 0 || strlen(id) > 40)
        return "an odd id";
    if (json_object_get(seen, id))
        return "an id that was used before";
    if (!answers || strcmp(answers, id) != 0)
        return "a call without its result behind it";
    if (!name || name[strspn(name, letters)] != '\0')
        return "an odd name";
    return is_object ? NULL : "arguments that are no object";
}

static const char *find_turn_fault(const json_t *message, size_t at, const char *before)
{
    const char *role = json_string_value(json_object_get(message, "role"));
    const char *content = json_string_value(json_object_get(message, "content"));
    const json_t *calls = json_object_get(message, "tool_calls");
    if (!role || !content)
        return "a message without role or content";
    if (strcmp(role, "system") == 0 && at > 0)
        return "a system text that is not first";
    if (strcmp(role, "user") == 0 && strcmp(before, "user") == 0)
        return "two user turns in a row";
    if (strcmp(role, "tool") == 0)
        return "a result without its call";
    if (calls)
        return json_array_size(calls) > 0 ? NULL : "an empty list of calls";
    return content[strspn(content, " \n\t\r")] ? NULL : "an empty turn";
}

// The rules that the strictest servers check. Returns what is wrong, NULL: nothing.
static const char *find_fault(const json_t *body)
{
    const json_t *messages = json_object_get(body, "messages");
    json_t *seen = json_object();
    const char *fault = NULL;
    const char *before = "";
    for (size_t i = 0; i < json_array_size(messages) && !fault; i++) {
        const json_t *message = json_array_get(messages, i);
        const json_t *calls = json_object_get(message, "tool_calls");
        size_t n_calls = json_array_size(calls);
        fault = find_turn_fault(message, i, before);
        before = json_string_value(json_object_get(message, "role"));
        for (size_t c = 0; c < n_calls && !fault; c++) {
            const json_t *call = json_array_get(calls, c);
            fault = find_call_fault(call, json_array_get(messages, i + 1 + c), seen);
            if (!fault)
                json_object_set_new(
                    seen, json_string_value(json_object_get(call, "id")), json_true());
        }
        i += n_calls; // the results were looked at
    }
    json_decref(seen);
    return fault;
}

static void check_valid(const json_t *body)
{
    const char *fault = find_fault(body);
    if (fault) {
        char *text = json_dumps(body, JSON_COMPACT);
        CHECK_TEXT(text, fault);
        free(text);
    }
}

static void test_openai_request__an_orphan_call_gets_a_result_beside_it(void)
{
    static const cadre_tool_call calls[] = {{"c1", "f", "{}"}, {"c2", "g", "{}"}};
    history h = {.n = 0};
    add_user(&h, "go");
    add_assistant(&h, "", calls, 2);
    add_result(&h, "c2", "two");
    add_user(&h, "and on");
    json_t *body = encode(&h, "");
    check_valid(body);
    CHECK_INT(count_messages(body), 5);
    CHECK_TEXT(text_at(body, 2, "tool_call_id"), "c1");
    CHECK_CONTAINS(text_at(body, 2, "content"), "interrupted");
    CHECK_TEXT(text_at(body, 3, "content"), "two");
    CHECK_TEXT(text_at(body, 4, "content"), "and on");
    json_decref(body);
    history_fini(&h);
}

static void test_openai_request__results_go_in_the_order_of_calls(void)
{
    static const cadre_tool_call calls[] = {{"c1", "f", "{}"}, {"c2", "g", "{}"}};
    history h = {.n = 0};
    add_assistant(&h, "", calls, 2);
    add_result(&h, "c2", "two");
    add_user(&h, "in between");
    add_result(&h, "c1", "one");
    add_result(&h, "c9", "whose?");
    json_t *body = encode(&h, "");
    check_valid(body);
    CHECK_INT(count_messages(body), 5);
    CHECK_TEXT(text_at(body, 2, "content"), "one");
    CHECK_TEXT(text_at(body, 3, "content"), "two");
    CHECK_TEXT(text_at(body, 4, "content"), "in between");
    json_decref(body);
    history_fini(&h);
}

static void test_openai_request__ids_used_before_are_replaced_the_same_each_time(void)
{
    static const cadre_tool_call call = {"terminal_0", "terminal", "{}"};
    history h = {.n = 0};
    for (int i = 0; i < 3; i++) {
        static const char *const results[] = {"r1", "r2", "r3"};
        add_assistant(&h, "", &call, 1);
        add_result(&h, "terminal_0", results[i]);
    }
    json_t *body = encode(&h, "");
    json_t *again = encode(&h, "");
    check_valid(body);
    CHECK(json_equal(body, again));
    CHECK_TEXT(text_at(body, 0, "content"), "Begin.");
    CHECK_TEXT(text_at(body, 2, "tool_call_id"), "terminal_0");
    CHECK_TEXT(text_at(body, 2, "content"), "r1");
    CHECK_INT(strlen(text_at(body, 4, "tool_call_id")), 9);
    CHECK_TEXT(text_at(body, 4, "content"), "r2");
    CHECK_INT(strlen(text_at(body, 6, "tool_call_id")), 9);
    CHECK_TEXT(text_at(body, 6, "content"), "r3");
    json_decref(body);
    json_decref(again);
    history_fini(&h);
}

static void test_openai_request__a_result_never_answers_an_earlier_call(void)
{
    static const cadre_tool_call call = {"t", "f", "{}"};
    history h = {.n = 0};
    add_assistant(&h, "", &call, 1);
    add_user(&h, "again");
    add_assistant(&h, "", &call, 1);
    add_result(&h, "t", "done");
    json_t *body = encode(&h, "");
    check_valid(body);
    CHECK_CONTAINS(text_at(body, 2, "content"), "interrupted");
    CHECK_TEXT(text_at(body, 5, "content"), "done");
    json_decref(body);
    history_fini(&h);
}

static void test_openai_request__ids_that_others_made_are_made_to_fit(void)
{
    static const cadre_tool_call calls[] = {
        {"toolu_012345678901234567890123456789012345678901234567890123456789", "f",
         "{}"},
        {"", "f", "{}"},
        {"b\xC3\xA4r", "f", "{}"}};
    for (size_t i = 0; i < 3; i++) {
        history h = {.n = 0};
        add_assistant(&h, "", &calls[i], 1);
        add_result(&h, calls[i].id, "r");
        json_t *body = encode(&h, "");
        check_valid(body);
        CHECK_TEXT(text_at(body, 2, "content"), "r");
        CHECK_INT(strlen(text_at(body, 2, "tool_call_id")), 9);
        json_decref(body);
        history_fini(&h);
    }
}

static void test_openai_request__empty_turns_are_left_out_and_neighbours_meet(void)
{
    static const char *const blanks[] = {"", "  \n"};
    for (size_t i = 0; i < 2; i++) {
        history h = {.n = 0};
        add_user(&h, "one");
        add_assistant(&h, blanks[i], NULL, 0);
        add_user(&h, "two \"x\"");
        add_user(&h, blanks[i]);
        add(&h, CADRE_AS_SPEECH,
            (cadre_message){.text = "[bob]: three", .role = CADRE_ROLE_ASSISTANT});
        json_t *body = encode(&h, "Be brief.");
        check_valid(body);
        CHECK_INT(count_messages(body), 2);
        CHECK_TEXT(text_at(body, 0, "content"), "Be brief.");
        CHECK_TEXT(text_at(body, 1, "content"), "one\n\ntwo \"x\"\n\n[bob]: three");
        json_decref(body);
        history_fini(&h);
    }
}

static void test_openai_request__arguments_are_always_an_object(void)
{
    static const cadre_tool_call calls[] = {{"a", "f", ""},
                                            {"b", "f", " {\"x\": [1]} "},
                                            {"c", "f", "{\"x\":"},
                                            {"d", "f", "[1]"},
                                            {"e", "f", "{\"x\":\"a\nb\"}"},
                                            {"g", "f", "{\"x\":\"\\y\"}"}};
    history h = {.n = 0};
    add_assistant(&h, "", calls, 6);
    json_t *body = encode(&h, "");
    check_valid(body);
    const json_t *sent = json_object_get(
        json_array_get(json_object_get(body, "messages"), 1), "tool_calls");
    static const char *const wanted[] = {"{}",
                                         " {\"x\": [1]} ",
                                         "{\"invalid_arguments\":\"{\\\"x\\\":\"}",
                                         "{\"invalid_arguments\":\"[1]\"}",
                                         "{\"invalid_arguments\":\"{\\\"x\\\":"
                                         "\\\"a\\nb\\\"}\"}",
                                         "{\"invalid_arguments\":\"{\\\"x\\\":"
                                         "\\\"\\\\y\\\"}\"}"};
    for (size_t i = 0; i < 6; i++)
        CHECK_TEXT(
            json_string_value(json_object_get(
                json_object_get(json_array_get(sent, i), "function"), "arguments")),
            wanted[i]);
    json_decref(body);
    history_fini(&h);
}

// --- Structured answers ---

#define TOLD                                                                           \
    "Answer with one JSON value and nothing else. It must fit this JSON Schema: "      \
    "{\"type\":\"integer\"}"

static void check_schema(const char *options, const char *schema_text,
                         const char *format, const char *system)
{
    cadre_http http;
    history h = {.n = 0};
    json_t *schema = json_loads(schema_text, 0, NULL);
    add_user(&h, "hi");
    cadre_request request = {.system = "Be brief.",
                             .items = h.items,
                             .n_items = h.n,
                             .agent = "a",
                             .output_schema = schema,
                             .output_name = "report"};
    cdr_http_init(&http);
    json_t *body = encode_with(&request, options, "http://h", &http);
    char *sent = json_dumps(json_object_get(body, "response_format"), JSON_COMPACT);
    CHECK_TEXT(sent, format);
    CHECK_TEXT(text_at(body, 0, "content"), system);
    free(sent);
    json_decref(body);
    cdr_http_fini(&http);
    json_decref(schema);
    history_fini(&h);
}

static void test_openai_request__tells_of_a_schema_as_the_server_wants_it(void)
{
    static const char schema[] = "{\"type\":\"integer\"}";
    check_schema(NULL, schema,
                 "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"report\","
                 "\"schema\":{\"type\":\"integer\"}}}",
                 "Be brief.");
    check_schema("{\"structured_output\":\"json_object\"}", schema,
                 "{\"type\":\"json_object\"}", "Be brief.\n\n" TOLD);
    check_schema("{\"structured_output\":\"text\"}", schema, NULL,
                 "Be brief.\n\n" TOLD);
    check_schema("{\"structured_output\":\"none\"}", schema, NULL, "Be brief.");
}

static void test_openai_request__is_strict_where_the_schema_is_fit_for_it(void)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}},"
        "\"required\":[\"n\"],\"additionalProperties\":false}";
    char expected[400];
    (void)snprintf(expected, sizeof(expected),
                   "{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"report\","
                   "\"strict\":true,\"schema\":%s}}",
                   schema);
    check_schema(NULL, schema, expected, "Be brief.");
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static void add_random(history *to, uint32_t *random)
{
    static const cadre_tool_call pool[] = {
        {"a", "f", "{}"}, {"b", "g.h", "{\"x\":1}"}, {"a", "f", "no"},
        {"", "f", ""},    {"c", "k l", "[]"},        {"a", "f", "{}"},
    };
    static const char *const texts[] = {"", " \n", "text", "\xC3\xA9\"\\", "\xFF"};
    static const char *const ids[] = {"a", "b", "c", "", "zz"};
    const char *text = texts[next_random(random) % 5];
    size_t from = next_random(random) % 4;
    switch (next_random(random) % 5) {
    case 0:
        add_user(to, text);
        break;
    case 1:
        add_assistant(to, text, NULL, 0);
        break;
    case 2:
        add_assistant(to, text, pool + from, next_random(random) % 3 + 1);
        break;
    case 3:
        add(to, CADRE_AS_TRAFFIC,
            (cadre_message){.text = text, .role = CADRE_ROLE_TOOL, .call_id = "a"});
        break;
    default:
        add_result(to, ids[next_random(random) % 5], text);
    }
}

static void test_openai_request__any_history_becomes_a_valid_one(void)
{
    uint32_t random = 20260930;
    for (int i = 0; i < N_HISTORIES; i++) {
        history h = {.n = 0};
        size_t n = next_random(&random) % 16;
        while (h.n < n)
            add_random(&h, &random);
        json_t *body = encode(&h, i % 2 ? "S" : "");
        json_t *again = encode(&h, i % 2 ? "S" : "");
        check_valid(body);
        CHECK(json_equal(body, again));
        json_decref(body);
        json_decref(again);
        history_fini(&h);
    }
}

static void test_openai_request__options_become_keys_of_the_body(void)
{
    static const char options[] =
        "{\"temperature\":0.2,\"max_completion_tokens\":9,\"stop\":[\"x\"],"
        "\"parallel_tool_calls\":false,\"extra_body\":{\"provider\":{\"a\":1}},"
        "\"stream_usage\":false,\"headers\":{\"X-Title\":\"t\"},"
        "\"api_key_header\":\"api-key\"}";
    static const cadre_tool_info tool = {.name = "f", .description = ""};
    cadre_request request = {.system = "", .api_key = "k", .agent = "a"};
    cadre_http http;
    cdr_http_init(&http);
    json_t *body = encode_with(&request, options, "http://h/d?api-version=1", &http);
    CHECK_TEXT(http.url, "http://h/d/chat/completions?api-version=1");
    CHECK_CONTAINS(cdr_buf_text(&http.body), "\"temperature\":0.2,");
    CHECK_INT(json_integer_value(json_object_get(body, "max_completion_tokens")), 9);
    CHECK(json_is_array(json_object_get(body, "stop")));
    CHECK(json_is_object(json_object_get(body, "provider")));
    CHECK(json_object_get(body, "stream_options") == NULL);
    CHECK(json_is_true(json_object_get(body, "stream")));
    CHECK(json_object_get(body, "tools") == NULL);
    CHECK(json_object_get(body, "parallel_tool_calls") == NULL);
    CHECK_INT(http.n_headers, 4);
    CHECK_TEXT(http.headers[2].name, "api-key");
    CHECK_TEXT(http.headers[2].value, "k");
    CHECK_TEXT(http.headers[3].name, "X-Title");
    json_decref(body);
    cdr_http_fini(&http);
    request.tools = &tool;
    request.n_tools = 1;
    request.api_key = "";
    cdr_http_init(&http);
    body = encode_with(&request, options, "http://h", &http);
    CHECK(json_is_false(json_object_get(body, "parallel_tool_calls")));
    CHECK_CONTAINS(cdr_buf_text(&http.body),
                   "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\","
                   "\"parameters\":{\"type\":\"object\",\"properties\":{}}}}]");
    CHECK_INT(http.n_headers, 3); // no key, no header of it
    json_decref(body);
    cdr_http_fini(&http);
}

static void test_openai_request__extra_body_may_not_overwrite_its_own(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    CHECK(model_open(ops, "http://h", "{\"extra_body\":{\"messages\":[]}}", &err) ==
          NULL);
    CHECK_STATUS(err.status, CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "model 'm'");
    CHECK_CONTAINS(err.text, "'messages'");
}

// Back in the field in which it came, since servers refuse any other, or where the
// option says.
static void test_openai_request__reasoning_goes_back_where_it_came_from(void)
{
#define CAME_IN(field) "[{\"place\":0,\"item\":{\"reasoning_field\":\"" field "\"}}]"
    static const struct {
        const char *options, *items, *part;
    } rows[] = {
        {NULL, "", "\"reasoning_content\":\"hm\""},
        {NULL, CAME_IN("reasoning"), "\"reasoning\":\"hm\""},
        {NULL, CAME_IN(""), NULL},
        {"{\"send_reasoning\":\"same\"}", CAME_IN(""), NULL},
        {"{\"send_reasoning\":\"reasoning\"}", CAME_IN(""), "\"reasoning\":\"hm\""},
        {"{\"send_reasoning\":\"reasoning_content\"}", CAME_IN("reasoning"),
         "\"reasoning_content\":\"hm\""},
        {"{\"send_reasoning\":\"none\"}", CAME_IN("reasoning"), NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const cadre_message messages[] = {
            {.text = "hi", .reasoning = "", .role = CADRE_ROLE_USER},
            {.text = "t",
             .reasoning = "hm",
             .items = rows[i].items,
             .role = CADRE_ROLE_ASSISTANT,
             .position = 1,
             .model = "openai/m"}};
        const wire_request request = {.provider = "openai",
                                      .options = rows[i].options,
                                      .messages = messages,
                                      .n_messages = 2};
        char *body = wire_request_encode(&request, NULL);
        if (rows[i].part)
            CHECK_CONTAINS(body, rows[i].part);
        else
            CHECK_LACKS(body, "hm");
        free(body);
    }
#undef CAME_IN
}

// What only the provider can read of a call goes back with it, to that model alone.
static void test_openai_request__extra_content_stays_with_its_call(void)
{
    static const cadre_tool_call calls[] = {{"c1", "f", "{}"}, {"c2", "f", "{}"}};
    static const char items[] =
        "[{\"place\":2,\"item\":{\"reasoning_field\":\"reasoning\"}},"
        "{\"place\":3,\"item\":{\"extra_content\":{\"google\":{}}}},"
        "{\"place\":3,\"item\":{\"extra_content\":{\"x\":2}}}]";
    cadre_message messages[] = {
        {.text = "hi", .role = CADRE_ROLE_USER},
        {.text = "",
         .tool_calls = calls,
         .n_tool_calls = 2,
         .items = items,
         .role = CADRE_ROLE_ASSISTANT,
         .position = 1,
         .model = "openai/m"},
    };
    const wire_request request = {
        .provider = "openai", .messages = messages, .n_messages = 2};
    char *body = wire_request_encode(&request, NULL);
    CHECK_CONTAINS(body,
                   "\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\","
                   "\"arguments\":\"{}\"}},{\"id\":\"c2\"");
    CHECK_CONTAINS(body, "\"arguments\":\"{}\"},\"extra_content\":{\"google\":{}}}]");
    free(body);
    messages[1].model = "gemini/m";
    body = wire_request_encode(&request, NULL);
    CHECK_LACKS(body, "extra_content");
    free(body);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_openai_request__extra_content_stays_with_its_call),
    CHECK_TEST(test_openai_request__an_orphan_call_gets_a_result_beside_it),
    CHECK_TEST(test_openai_request__results_go_in_the_order_of_calls),
    CHECK_TEST(test_openai_request__ids_used_before_are_replaced_the_same_each_time),
    CHECK_TEST(test_openai_request__a_result_never_answers_an_earlier_call),
    CHECK_TEST(test_openai_request__ids_that_others_made_are_made_to_fit),
    CHECK_TEST(test_openai_request__empty_turns_are_left_out_and_neighbours_meet),
    CHECK_TEST(test_openai_request__arguments_are_always_an_object),
    CHECK_TEST(test_openai_request__tells_of_a_schema_as_the_server_wants_it),
    CHECK_TEST(test_openai_request__is_strict_where_the_schema_is_fit_for_it),
    CHECK_TEST(test_openai_request__any_history_becomes_a_valid_one),
    CHECK_TEST(test_openai_request__options_become_keys_of_the_body),
    CHECK_TEST(test_openai_request__extra_body_may_not_overwrite_its_own),
    CHECK_TEST(test_openai_request__reasoning_goes_back_where_it_came_from),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/openai_request", tests);
}
