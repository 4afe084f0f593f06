// What every model wire format must keep to: its table of ops, its requests, errors and
// garbage. What answers must come to is in model_answers_test.c. A new format needs a
// table of bytes (support/wire_table.h) and no edit here.
#include "net/answer.h"
#include "net/http_request.h"

#include "support/check.h"
#include "support/model_call.h"
#include "support/request_rules.h"
#include "support/wire_request.h"
#include "support/wire_table.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "sk-conformance-0123456789"
#define N_MUTATIONS 200 // of each event

static const cadre_tool_call two_calls[] = {
    {"t1", "add", "{\"a\":3,\"b\":4}"},
    {"t2", "files.read", "{}"},
};
static const cadre_message asked = {
    .text = "add \"3\" and 4", .reasoning = "", .role = CADRE_ROLE_USER};
static const cadre_message called = {.text = "",
                                     .reasoning = "",
                                     .position = 1,
                                     .tool_calls = two_calls,
                                     .n_tool_calls = 2,
                                     .role = CADRE_ROLE_ASSISTANT};
static const cadre_message seven = {.text = "seven!",
                                    .reasoning = "",
                                    .position = 2,
                                    .call_id = "t1",
                                    .role = CADRE_ROLE_TOOL};
static const cadre_message file = {.text = "bytes\n",
                                   .reasoning = "",
                                   .position = 3,
                                   .call_id = "t2",
                                   .role = CADRE_ROLE_TOOL};

static void for_each_format(void (*check)(const cadre_model_ops *ops, void *state))
{
    int n = 0;
    for (size_t i = 0; cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        cadre_error err = CADRE_ERROR_INIT;
        if (!ops->encode)
            continue;
        n++;
        void *state = model_open(ops, "http://127.0.0.1:1/v1", NULL, &err);
        if (CHECK_OK(err.status, &err))
            check(ops, state);
        model_close(ops, state);
    }
    CHECK(n > 0);
}

static void check_table(const cadre_model_ops *ops, void *state)
{
    (void)state;
    json_error_t where;
    json_t *schema = json_loads(ops->options_schema, 0, &where);
    CHECK_INT(ops->struct_size, sizeof(*ops));
    CHECK(ops->provider && ops->provider[0] && ops->summary && ops->summary[0]);
    CHECK(ops->event && ops->body && !ops->answer);
    CHECK(json_is_object(schema));
    if (!CHECK(wire_table_find(ops->provider) != NULL))
        (void)printf("\n  no table of bytes for '%s'\n", ops->provider);
    CHECK(!ops->base_url || ops->base_url[strlen(ops->base_url) - 1] != '/');
    json_decref(schema);
}

static void test_model_wire__every_table_is_complete(void)
{
    for_each_format(check_table);
}

static void check_encoding(const cadre_model_ops *ops, void *state)
{
    json_t *parameters = json_pack("{s:s,s:{}}", "type", "object", "properties");
    const cadre_tool_info tool = {"add", "Adds two numbers", parameters};
    cdr_fragments caches[4] = {{NULL}};
    const cadre_request_item items[] = {
        {.message = &asked, .text = asked.text, .cache = &caches[0]},
        {.message = &called, .text = "", .cache = &caches[1]},
        {.message = &seven, .text = seven.text, .cache = &caches[2]},
        {.message = &file, .text = file.text, .cache = &caches[3]},
    };
    const cadre_request request = {.system = "Be exact.",
                                   .items = items,
                                   .n_items = 4,
                                   .tools = &tool,
                                   .n_tools = 1,
                                   .api_key = KEY,
                                   .agent = "a"};
    char *first = NULL;
    for (int i = 0; i < 2; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        cadre_http http;
        cdr_http_init(&http);
        CHECK_OK(model_encode(ops, state, &request, &http, &err), &err);
        CHECK(!http.failed);
        CHECK_CONTAINS(http.url, "http://127.0.0.1:1/v1");
        CHECK_LACKS(http.url, KEY);
        const char *body = cdr_buf_text(&http.body);
        json_t *json = json_loads(body, JSON_REJECT_DUPLICATES, NULL);
        CHECK(json_is_object(json));
        json_decref(json);
        CHECK_LACKS(body, KEY);
        CHECK_CONTAINS(body, "add \\\"3\\\" and 4");
        CHECK_CONTAINS(body, "Be exact.");
        CHECK_CONTAINS(body, "seven!");
        CHECK_CONTAINS(body, "Adds two numbers");
        bool has_key = false;
        for (size_t h = 0; h < http.n_headers; h++)
            has_key = has_key || strstr(http.headers[h].value, KEY);
        CHECK(has_key);
        // From the caches it is the same, byte for byte.
        if (first)
            CHECK_TEXT(body, first);
        else
            first = strdup(body);
        cdr_http_fini(&http);
    }
    for (size_t i = 0; i < 4; i++)
        cdr_fragments_fini(&caches[i]);
    free(first);
    json_decref(parameters);
}

static void test_model_wire__requests_are_json_and_hide_the_key(void)
{
    for_each_format(check_encoding);
}

static void check_error_bodies(const cadre_model_ops *ops, void *state)
{
    static const struct {
        int status;
        const char *class_name;
    } rows[] = {{400, "invalid_request"}, {401, "auth"},       {403, "auth"},
                {404, "invalid_request"}, {408, "timeout"},    {429, "rate_limited"},
                {500, "server"},          {503, "overloaded"}, {529, "overloaded"}};
    static const char *const bodies[] = {
        "",
        "<html>x</html>",
        "{\"error\":{\"message\":\"m\"",
        "[]",
        "null",
        "7",
        "{\"error\":null}",
        "{\"error\":{\"message\":7,\"code\":[],\"type\":{}}}",
        "{\"error\":\"text\"}",
        "[{\"error\":{\"message\":\"m\"}}]",
        "\xFF\xFE",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t b = 0; b < sizeof(bodies) / sizeof(bodies[0]); b++) {
            cadre_sink sink;
            cadre_error err = CADRE_ERROR_INIT;
            cdr_answer_init(&sink);
            cadre_status status = ops->body(
                state,
                &(const cadre_http_body){rows[i].status, bodies[b], strlen(bodies[b])},
                &sink, &err);
            CHECK(status != CADRE_OK);
            CHECK_TEXT(cadre_error_class_name(err.error_class), rows[i].class_name);
            CHECK(err.text[0] != '\0');
            cdr_answer_fini(&sink);
        }
    }
}

static void test_model_wire__an_error_status_always_fails(void)
{
    for_each_format(check_error_bodies);
}

// What a tool takes is told whole, however little of it may stand in its schema.
static void check_tools(const cadre_model_ops *ops, void *state)
{
    (void)state;
    json_t *parameters = json_loads(
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{"
        "\"$ref\":\"#/$defs/d\",\"description\":\"beside\"}},\"anyOf\":[{"
        "\"required\":[\"a\"]},{\"properties\":{\"only_here\":{\"type\":\"integer\"}},"
        "\"required\":[\"only_here\"]}],\"$defs\":{\"d\":{\"type\":\"number\"}}}",
        0, NULL);
    const cadre_tool_info tool = {"add", "Adds.", parameters};
    const wire_request request = {.provider = ops->provider,
                                  .messages = &asked,
                                  .n_messages = 1,
                                  .tools = &tool,
                                  .n_tools = 1};
    char *body = wire_request_encode(&request, NULL);
    request_rules_check(ops->provider, body);
    CHECK_CONTAINS(body, "Adds.");
    CHECK_CONTAINS(body, "\"only_here\":{\"type\":\"integer\"}");
    CHECK_CONTAINS(body, "beside");
    CHECK_CONTAINS(body, "anyOf");
    free(body);
    json_decref(parameters);
}

static void test_model_wire__tools_are_told_as_the_provider_takes_them(void)
{
    for_each_format(check_tools);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

// Changes, drops or doubles some bytes. Returns the new length.
static size_t mutate(char *text, size_t len, uint32_t *random)
{
    static const char bytes[] = "{}[]\",:\\u0n1e-.t\n\xFF";
    for (uint32_t n = next_random(random) % 4 + 1; n > 0 && len > 2; n--) {
        size_t at = next_random(random) % len;
        switch (next_random(random) % 3) {
        case 0:
            text[at] = bytes[next_random(random) % sizeof(bytes)];
            break;
        case 1:
            memmove(text + at, text + at + 1, len - at - 1);
            len--;
            break;
        default:
            len = at + 1;
            break;
        }
    }
    return len;
}

// Feeds bytes that may be anything. The format may take or refuse them.
static void feed(const cadre_model_ops *ops, const void *state, const char *text,
                 size_t len)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_answer_init(&sink);
    void *reader = calloc(1, ops->reader_size + 1);
    // On the heap, so that reading beyond is noticed.
    char *exact = malloc(len + 1);
    if (CHECK(reader && exact)) {
        memcpy(exact, text, len);
        exact[len] = '\0';
        cadre_status status = ops->event(
            state, reader, &(const cadre_sse_event){"", exact, len}, &sink, &err);
        CHECK_INT(status, err.status);
        cadre_error_clear(&err);
        status =
            ops->body(state, &(const cadre_http_body){200, exact, len}, &sink, &err);
        CHECK_INT(status, err.status);
        cadre_error_clear(&err);
        (void)cdr_answer_settle(&sink, &err);
    }
    free(exact);
    free(reader);
    cdr_answer_fini(&sink);
}

// The events and bodies of the format's own table, cut at each byte and spoilt.
static void check_garbage(const cadre_model_ops *ops, void *state)
{
    const wire_table *table = wire_table_find(ops->provider);
    uint32_t random = 20260930;
    char text[4096];
    for (size_t i = 0; table && i < WIRE_CLAIMS; i++) {
        const char *at = table->claims[i];
        while (*at) {
            size_t len = strcspn(at, "\n");
            for (size_t cut = 0; cut <= len; cut++)
                feed(ops, state, at, cut);
            for (int n = 0; n < N_MUTATIONS && CHECK(len < sizeof(text)); n++) {
                memcpy(text, at, len);
                feed(ops, state, text, mutate(text, len, &random));
            }
            at += len + (at[len] == '\n');
        }
    }
}

static void test_model_wire__garbage_is_refused_and_never_crashes(void)
{
    for_each_format(check_garbage);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_wire__every_table_is_complete),
    CHECK_TEST(test_model_wire__requests_are_json_and_hide_the_key),
    CHECK_TEST(test_model_wire__an_error_status_always_fails),
    CHECK_TEST(test_model_wire__tools_are_told_as_the_provider_takes_them),
    CHECK_TEST(test_model_wire__garbage_is_refused_and_never_crashes),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/model_wire", tests);
}
