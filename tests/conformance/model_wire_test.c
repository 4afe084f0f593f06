// What every model wire format must keep to, and tables of raw bytes for those that are
// built in. A new format is under the first part without an edit here.
#include "net/answer.h"
#include "net/http_request.h"

#include "support/check.h"
#include "support/model_call.h"
#include "team/kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY "sk-conformance-0123456789"
#define N_MUTATIONS 20000

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
    } rows[] = {{400, "invalid_request"}, {401, "auth"},      {403, "auth"},
                {404, "invalid_request"}, {408, "timeout"},   {429, "rate_limited"},
                {500, "server"},          {503, "overloaded"}};
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
            cadre_status status = ops->body(state, rows[i].status, bodies[b],
                                            strlen(bodies[b]), &sink, &err);
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

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

static const char *const seeds[] = {
    "{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\\u00e9\\ud83d\\ude42\","
    "\"reasoning\":\"r\",\"tool_calls\":[{\"index\":0,\"id\":\"i\",\"function\":{"
    "\"name\":\"n\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"stop\"}],"
    "\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2.5}}",
    "{\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"},"
    "{\"type\":\"thinking\",\"thinking\":[{\"text\":\"y\"}]}],\"tool_calls\":{"
    "\"function\":{\"name\":\"f.g\",\"arguments\":{\"k\":[1]}}}}}]}",
    "{\"error\":{\"message\":\"m\",\"code\":429,\"type\":\"t\"}}",
};

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
        cadre_status status = ops->event(state, reader, "", exact, len, &sink, &err);
        CHECK_INT(status, err.status);
        cadre_error_clear(&err);
        status = ops->body(state, 200, exact, len, &sink, &err);
        CHECK_INT(status, err.status);
        cadre_error_clear(&err);
        (void)cdr_answer_settle(&sink, &err);
    }
    free(exact);
    free(reader);
    cdr_answer_fini(&sink);
}

static void check_garbage(const cadre_model_ops *ops, void *state)
{
    uint32_t random = 20260930;
    char text[1024];
    for (size_t s = 0; s < sizeof(seeds) / sizeof(seeds[0]); s++)
        for (size_t len = 0; len <= strlen(seeds[s]); len++)
            feed(ops, state, seeds[s], len);
    for (int i = 0; i < N_MUTATIONS; i++) {
        const char *seed = seeds[next_random(&random) % 3];
        size_t len = strlen(seed);
        memcpy(text, seed, len + 1);
        feed(ops, state, text, mutate(text, len, &random));
    }
}

static void test_model_wire__garbage_is_refused_and_never_crashes(void)
{
    for_each_format(check_garbage);
}

// Events, a line each, and what comes of them: "text|reasoning|finish|id name args;..."
// or "class|retryable". An id of `*` is any.
typedef struct row {
    const char *what;
    const char *events;
    const char *outcome;
} row;

#define DELTA(fields) "{\"choices\":[{\"index\":0,\"delta\":{" fields "}}]}\n"
#define STOP(word)                                                                     \
    "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" word "\"}]}\n"
#define CALL(fields) DELTA("\"tool_calls\":[{" fields "}]")
#define FUNCTION(name, arguments)                                                      \
    "\"function\":{\"name\":\"" name "\",\"arguments\":\"" arguments "\"}"

static const row openai_rows[] = {
    {"text and a finish", DELTA("\"content\":\"Hi\"") STOP("stop"), "Hi||stop|"},
    {"content null, and no content",
     DELTA("\"content\":null") DELTA("\"role\":\"x\"") DELTA("\"content\":\"a\"")
         STOP("stop"),
     "a||stop|"},
    {"an index that is not 0 is another answer",
     "{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"B\"},\"finish_reason\":"
     "\"stop\"},{\"delta\":{\"content\":\"A\"},\"index\":0}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"C\"},\"finish_reason\":\"length\","
     "\"index\":2}]}\n" STOP("stop"),
     "A||stop|"},
    {"Azure's first chunk has no choices",
     "{\"choices\":[],\"prompt_filter_results\":[{\"x\":{}}]}\n" DELTA(
         "\"content\":\"a\"") STOP("stop"),
     "a||stop|"},
    {"content as parts",
     DELTA("\"content\":[{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"text\","
           "\"text\":\"b\"}]") STOP("stop"),
     "ab||stop|"},
    {"Mistral's thinking is reasoning",
     DELTA("\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
           "\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"a\"}]") STOP("stop"),
     "a|hm|stop|"},
    {"one reasoning under two names",
     DELTA("\"reasoning\":\"r\",\"reasoning_content\":\"r\"")
         DELTA("\"content\":\"a\",\"reasoning\":null") STOP("stop"),
     "a|r|stop|"},
    {"a refusal is text", DELTA("\"refusal\":\"No.\"") STOP("stop"), "No.||stop|"},
    {"a finish that is empty or null is none",
     "{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}\n"
     "{\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":null}]}\n",
     "truncated|1"},
    {"an unknown finish is one", DELTA("\"content\":\"a\"") STOP("eos_token"),
     "a||stop|"},
    {"length", DELTA("\"content\":\"a\"") STOP("length"), "a||length|"},
    {"content filter", DELTA("\"content\":\"a\"") STOP("content_filter"),
     "content_filter|0"},
    {"finish error", DELTA("\"content\":\"a\"") STOP("error"), "server|1"},
    {"[DONE] after text ends without a finish", DELTA("\"content\":\"a\"") "[DONE]\n",
     "a||stop|"},
    {"[DONE] after nothing", "[DONE]\n", "truncated|1"},
    {"a finish after nothing", STOP("stop"), "empty_response|1"},
    {"the old function_call",
     DELTA("\"function_call\":{\"name\":\"f\",\"arguments\":\"\"}")
         DELTA("\"function_call\":{\"arguments\":\"{}\"}") STOP("function_call"),
     "||tool_calls|* f {};"},
    {"Ollama before 0.4.7: every call has index 0",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":0,\"id\":\"b\"," FUNCTION("f", "{\\\"x\\\":1}")) STOP("stop"),
     "||tool_calls|a f {};b f {\"x\":1};"},
    {"a new id with each piece of one call",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         CALL("\"index\":0,\"id\":\"b\"," FUNCTION("", "}")) STOP("tool_calls"),
     "||tool_calls|a f {};"},
    {"the same id and name with each piece",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "}")) STOP("tool_calls"),
     "||tool_calls|a f {};"},
    {"two whole calls without index and id",
     DELTA("\"tool_calls\":[{" FUNCTION("f", "{}") "},{" FUNCTION("g", "{}") "}]")
         STOP("tool_calls"),
     "||tool_calls|* f {};* g {};"},
    {"the id repeats without an index",
     CALL("\"id\":\"a\"," FUNCTION("f", "{")) CALL("\"id\":\"b\"," FUNCTION("g", "{"))
         CALL("\"id\":\"a\"," FUNCTION("", "}")) CALL("\"id\":\"b\"," FUNCTION("", "}"))
             STOP("tool_calls"),
     "||tool_calls|a f {};b g {};"},
    {"a piece with nothing to go by belongs to the call touched last",
     CALL("\"id\":\"a\"," FUNCTION("f", "{")) CALL("\"id\":\"b\"," FUNCTION("g", "{"))
         CALL(FUNCTION("", "}")) CALL("\"id\":\"a\"") CALL(FUNCTION("", "}"))
             STOP("tool_calls"),
     "||tool_calls|a f {};b g {};"},
    {"the name comes after the id, the index as text",
     CALL("\"index\":\"0\",\"id\":\"a\"") CALL("\"index\":0," FUNCTION("f", "{}"))
         STOP("tool_calls"),
     "||tool_calls|a f {};"},
    {"indexes with a gap",
     CALL("\"index\":7,\"id\":\"a\"," FUNCTION("f", "{}"))
         CALL("\"index\":3,\"id\":\"b\"," FUNCTION("g", "{}")) STOP("tool_calls"),
     "||tool_calls|a f {};b g {};"},
    {"arguments of a wrong type stay wrong; null is none",
     CALL("\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":5}")
         CALL("\"id\":\"b\",\"function\":{\"name\":\"g\",\"arguments\":null}")
             STOP("tool_calls"),
     "||tool_calls|a f 5;b g {};"},
    {"one call in place of a list",
     DELTA("\"tool_calls\":{\"id\":\"a\"," FUNCTION("f", "{}") "}") STOP("tool_calls"),
     "||tool_calls|a f {};"},
    {"a call that is cut by the limit does not run",
     DELTA("\"content\":\"x\"") CALL("\"index\":0,\"id\":\"a\"," FUNCTION("f", "{"))
         STOP("length"),
     "x||length|"},
    {"a call without a name",
     CALL("\"index\":0,\"id\":\"a\"," FUNCTION("", "{}")) STOP("tool_calls"),
     "bad_response|1"},
    {"a name is taken as it came",
     CALL("\"id\":\"a\"," FUNCTION("files__read", "{}")) STOP("tool_calls"),
     "||tool_calls|a files__read {};"},
    {"quota", "{\"error\":{\"message\":\"m\",\"code\":\"insufficient_quota\"}}\n",
     "quota|0"},
    {"an error's number is its status",
     "{\"error\":{\"message\":\"m\",\"code\":502}}\n", "server|1"},
    {"an error's number as text", "{\"error\":{\"message\":\"m\",\"code\":\"429\"}}\n",
     "rate_limited|1"},
    {"an error as text", "{\"error\":\"model is overloaded\"}\n", "overloaded|1"},
    {"vLLM's error",
     "{\"object\":\"error\",\"message\":\"m\",\"type\":"
     "\"invalid_request_error\",\"code\":400}\n",
     "invalid_request|0"},
    {"an error that is null is none",
     "{\"error\":null,\"choices\":[{\"delta\":{"
     "\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|"},
    {"plain text in place of an event", "Internal error: out of memory\n",
     "bad_response|1"},
    {"a comment that became data",
     ": OPENROUTER PROCESSING\n" DELTA("\"content\":\"a\"") STOP("stop"), "a||stop|"},
    {"wrong types everywhere",
     "{\"choices\":7}\n{\"choices\":[7,null,{\"delta\":[]}],\"usage\":[]}\n"
     "{\"choices\":[{\"index\":\"x\",\"delta\":{\"content\":{\"a\":1},\"tool_calls\":"
     "[7,\"x\",null],\"reasoning\":[]}}]}\n" DELTA(
         "\"content\":\"a\",\"tool_calls\":null") STOP("stop"),
     "a||stop|"},
    {"a whole completion as one event",
     "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|"},
    {"the whole message beside the last delta",
     DELTA("\"content\":\"a\"") "{\"choices\":[{\"message\":{\"content\":\"a\"},"
                                "\"delta\":{},\"finish_reason\":\"stop\"}]}\n",
     "a||stop|"},
};

static void describe(const cadre_sink *sink, const cadre_error *err, const char *wanted,
                     cdr_buf *out)
{
    if (err->status != CADRE_OK) {
        cdr_buf_printf(out, "%s|%d", cadre_error_class_name(err->error_class),
                       err->retryable);
        return;
    }
    cdr_buf_printf(out, "%s|%s|%s|", cdr_buf_text(&sink->text),
                   cdr_buf_text(&sink->reasoning), cadre_finish_name(sink->finish));
    for (size_t i = 0; i < sink->n_calls; i++)
        cdr_buf_printf(out, "%s %s %s;",
                       strchr(wanted, '*') ? "*" : cdr_buf_text(&sink->calls[i].id),
                       cdr_buf_text(&sink->calls[i].name),
                       cdr_buf_text(&sink->calls[i].arguments));
}

static void check_row(const cadre_model_ops *ops, const void *state, const row *wanted)
{
    cadre_sink sink;
    cadre_error err = CADRE_ERROR_INIT;
    cdr_buf outcome = CDR_BUF_INIT;
    void *reader = calloc(1, ops->reader_size);
    cdr_answer_init(&sink);
    cadre_status status = CADRE_OK;
    const char *at = wanted->events;
    while (CHECK(reader != NULL) && *at && status == CADRE_OK) {
        size_t len = strcspn(at, "\n");
        status = ops->event(state, reader, "", at, len, &sink, &err);
        at += len + 1;
    }
    if (status == CADRE_OK)
        (void)cdr_answer_settle(&sink, &err);
    describe(&sink, &err, wanted->outcome, &outcome);
    if (!CHECK_TEXT(cdr_buf_text(&outcome), wanted->outcome))
        (void)printf("\n  in row: %s (%s)\n", wanted->what, err.text);
    cdr_buf_fini(&outcome);
    cdr_answer_fini(&sink);
    free(reader);
}

static void test_model_wire__openai_reads_what_servers_send(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    if (!CHECK(ops != NULL))
        return;
    void *state = model_open(ops, "http://h", NULL, &err);
    for (size_t i = 0; i < sizeof(openai_rows) / sizeof(openai_rows[0]); i++)
        check_row(ops, state, &openai_rows[i]);
    model_close(ops, state);
}

static void test_model_wire__openai_counts_tokens_wherever_they_stand(void)
{
    static const char *const events[] = {
        "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":4,"
        "\"prompt_tokens_details\":{\"cached_tokens\":3},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}}}",
        "{\"usage\":{\"prompt_cache_hit_tokens\":3,\"prompt_tokens\":10.0,"
        "\"completion_tokens\":4,\"completion_tokens_details\":{\"x\":null,"
        "\"reasoning_tokens\":2},\"total_tokens\":14}}",
        "{\"x_groq\":{\"id\":\"r\",\"usage\":{\"prompt_tokens\":10,"
        "\"completion_tokens\":4,\"completion_tokens_details\":{\"reasoning_tokens\":2}"
        ","
        "\"prompt_tokens_details\":{\"cached_tokens\":3}}}}",
        "{\"choices\":[{\"index\":0,\"usage\":{\"prompt_tokens\":10,"
        "\"completion_tokens\":4,\"cached_tokens\":3,"
        "\"completion_tokens_details\":{\"reasoning_tokens\":2}},\"delta\":{}}]}",
    };
    static const char nothing[] =
        "{\"choices\":[{\"usage\":null}],\"usage\":{},\"x_groq\":{\"usage\":{}}}";
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    void *state = model_open(ops, "http://h", NULL, &err);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        cadre_sink sink;
        cdr_answer_init(&sink);
        void *reader = calloc(1, ops->reader_size);
        CHECK_OK(
            ops->event(state, reader, "", events[i], strlen(events[i]), &sink, &err),
            &err);
        CHECK_OK(ops->event(state, reader, "", nothing, strlen(nothing), &sink, &err),
                 &err);
        CHECK_INT(sink.usage.input_tokens, 10);
        CHECK_INT(sink.usage.output_tokens, 4);
        CHECK_INT(sink.usage.cached_input_tokens, 3);
        CHECK_INT(sink.usage.reasoning_tokens, 2);
        free(reader);
        cdr_answer_fini(&sink);
    }
    model_close(ops, state);
}

static void test_model_wire__openai_limits_the_calls_of_an_answer(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model_ops_find("openai");
    void *state = model_open(ops, "http://h", NULL, &err);
    void *reader = calloc(1, ops->reader_size);
    cadre_sink sink;
    cdr_answer_init(&sink);
    cadre_status status = CADRE_OK;
    int n = 0;
    for (; n < 1000 && status == CADRE_OK; n++) {
        char event[160];
        int len = snprintf(event, sizeof(event),
                           "{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,"
                           "\"function\":{\"name\":\"f\"}}]}}]}",
                           n);
        status = ops->event(state, reader, "", event, (size_t)len, &sink, &err);
    }
    CHECK_INT(n, 129);
    CHECK_INT(err.error_class, CADRE_CLASS_BAD_RESPONSE);
    CHECK_CONTAINS(err.text, "128");
    cdr_answer_fini(&sink);
    free(reader);
    model_close(ops, state);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_wire__every_table_is_complete),
    CHECK_TEST(test_model_wire__requests_are_json_and_hide_the_key),
    CHECK_TEST(test_model_wire__an_error_status_always_fails),
    CHECK_TEST(test_model_wire__garbage_is_refused_and_never_crashes),
    CHECK_TEST(test_model_wire__openai_reads_what_servers_send),
    CHECK_TEST(test_model_wire__openai_counts_tokens_wherever_they_stand),
    CHECK_TEST(test_model_wire__openai_limits_the_calls_of_an_answer),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/model_wire", tests);
}
