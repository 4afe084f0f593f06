// Schemas of answers and of tools: whatever a sound one is, each wire format makes one
// JSON object of the request, the same each time, and leaves the schema as it was.
#include "fuzz/fuzz.h"

#include "base/json_text.h"
#include "base/schema.h"
#include "support/model_call.h"
#include "support/request_rules.h"
#include "team/kinds.h"

#include <stdlib.h>
#include <string.h>

static char *encode(const cadre_model_ops *ops, const json_t *schema)
{
    const cadre_message message = {.id = "m",
                                   .frame_id = "",
                                   .agent = "",
                                   .to = "",
                                   .text = "hi",
                                   .reasoning = "",
                                   .call_id = "",
                                   .tool_name = "",
                                   .role = CADRE_ROLE_USER};
    const cadre_request_item item = {
        .message = &message, .text = message.text, .rendering = CADRE_AS_USER};
    const cadre_tool_info tool = {
        .name = "look", .description = "Looks.", .parameters = schema};
    const cadre_request request = {.system = "",
                                   .items = &item,
                                   .n_items = 1,
                                   .tools = &tool,
                                   .n_tools = 1,
                                   .api_key = "",
                                   .agent = "a",
                                   .model = "p/m",
                                   .output_schema = schema,
                                   .output_name = "answer"};
    cadre_http http;
    cadre_error err = CADRE_ERROR_INIT;
    void *state = fuzz_must(model_open(ops, "http://127.0.0.1:1", NULL, &err));
    cdr_http_init(&http);
    cadre_status status = model_encode(ops, state, &request, &http, &err);
    FUZZ_CHECK_TEXT(err.text, "");
    FUZZ_CHECK(status == CADRE_OK && !http.failed);
    char *body = fuzz_copy(cdr_buf_text(&http.body), http.body.len);
    FUZZ_CHECK(strlen(body) == http.body.len);
    cdr_http_fini(&http);
    model_close(ops, state);
    return body;
}

static bool is_object_schema(const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    return type && strcmp(type, "object") == 0 &&
           cdr_schema_check_schema(schema, NULL, NULL) == 0;
}

void fuzz_one(const uint8_t *data, size_t len)
{
    char *text = fuzz_copy(data, len);
    json_t *schema = cdr_json_parse(text, len, NULL);
    bool is_sound = schema && is_object_schema(schema); // others do not load
    json_t *before = is_sound ? fuzz_must(json_deep_copy(schema)) : NULL;
    for (size_t i = 0; is_sound && cdr_kinds_models[i]; i++) {
        const cadre_model_ops *ops = cdr_kinds_models[i];
        if (!ops->encode)
            continue;
        char *once = encode(ops, schema);
        char *twice = encode(ops, schema);
        FUZZ_CHECK_TEXT(twice, once);
        FUZZ_CHECK(request_rules_check(ops->provider, once));
        free(once);
        free(twice);
    }
    FUZZ_CHECK(json_equal(schema, before) || !is_sound);
    json_decref(before);
    json_decref(schema);
    free(text);
}
