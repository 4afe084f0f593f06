// Provider "openai_responses": the Responses API of OpenAI, and of servers that speak
// the same. Nothing is kept there (`store` is false): each request has the whole
// transcript, the model's own reasoning items included, as they came.
//
// Tour: request.c writes the body; answer.c reads events, item.c what an output item
// says.
#include "openai_responses/openai_responses.h"

#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// Written as they are; the provider judges them.
static const char *const passed_on[] = {
    "temperature",
    "top_p",
    "max_output_tokens",
    "parallel_tool_calls",
    "truncation",
    "prompt_cache_key",
    NULL,
};

// Keys of the body that options may not write.
static const char *const reserved[] = {
    "model", "input", "instructions", "tools", "stream", "store", "include", NULL,
};

static const char schema[] =
    "{\"temperature\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2},"
    "\"top_p\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"max_tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"of an answer, reasoning included\"},"
    "\"max_output_tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"the provider's name for max_tokens\"},"
    "\"parallel_tool_calls\":{\"type\":\"boolean\"},"
    "\"truncation\":{\"type\":\"string\",\"enum\":[\"auto\",\"disabled\"]},"
    "\"prompt_cache_key\":{\"type\":\"string\"},"
    "\"reasoning_effort\":{\"type\":\"string\"},"
    "\"reasoning_summary\":{\"type\":\"string\","
    "\"description\":\"auto, concise, detailed: shown as reasoning\"},"
    "\"encrypted_reasoning\":{\"type\":\"boolean\","
    "\"description\":\"ask for reasoning that can be sent back; by default of all "
    "models "
    "but those named gpt-3, gpt-4 and chatgpt, which refuse it\"},"
    "\"api_key_header\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"carries the bare key in place of Authorization (Azure: "
    "api-key)\"},"
    "\"headers\":{\"type\":\"object\",\"x-secret\":true,"
    "\"additionalProperties\":{\"type\":\"string\",\"x-env\":true},"
    "\"description\":\"further HTTP headers\"},"
    "\"extra_body\":{\"type\":\"object\","
    "\"description\":\"further keys of the request's body\"}}";

static bool wants_encrypted(const cadre_model_config *config)
{
    static const char *const without[] = {"gpt-3", "gpt-4", "chatgpt"};
    const json_t *asked = json_object_get(config->options, "encrypted_reasoning");
    if (asked)
        return json_is_true(asked);
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
        if (strncmp(config->model, without[i], strlen(without[i])) == 0)
            return false;
    return true;
}

// False: no memory.
static bool set_reasoning(const json_t *options, json_t *body)
{
    json_t *effort = json_object_get(options, "reasoning_effort");
    json_t *summary = json_object_get(options, "reasoning_summary");
    if (!effort && !summary)
        return true;
    json_t *reasoning = json_object();
    int bad = reasoning ? 0 : -1;
    if (effort)
        bad |= json_object_set(reasoning, "effort", effort);
    if (summary)
        bad |= json_object_set(reasoning, "summary", summary);
    bad |= json_object_set_new(body, "reasoning", reasoning);
    return bad == 0;
}

static bool fill_body(const cadre_model_config *config, json_t *body)
{
    const json_t *options = config->options;
    json_t *max_tokens = json_object_get(options, "max_tokens");
    int bad = json_object_set_new(body, "model", json_string(config->model));
    bad |= json_object_set_new(body, "stream", json_true());
    bad |= json_object_set_new(body, "store", json_false());
    if (wants_encrypted(config))
        bad |= json_object_set_new(body, "include",
                                   json_pack("[s]", "reasoning.encrypted_content"));
    if (max_tokens)
        bad |= json_object_set(body, "max_output_tokens", max_tokens);
    return bad == 0 && set_reasoning(options, body) &&
           cadre_wire_pass(options, passed_on, body);
}

static cadre_status init(void *state, const cadre_model_config *config,
                         cadre_error *err)
{
    cdr_responses_model *model = state;
    const char *key_header =
        json_string_value(json_object_get(config->options, "api_key_header"));
    const cadre_endpoint_plan plan = {
        .url = cadre_wire_url(config->base_url, "/responses"),
        .fill_body = fill_body,
        .reserved = reserved,
        .key_header = key_header ? key_header : "Authorization",
        .key_prefix = key_header ? "" : "Bearer "};
    return cadre_endpoint_init(&model->endpoint, config, &plan, err);
}

static void fini(void *state)
{
    cdr_responses_model *model = state;
    cadre_endpoint_fini(&model->endpoint);
}

extern const cadre_model_ops cadre_model_openai_responses;

const cadre_model_ops cadre_model_openai_responses = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "openai_responses",
    .summary = "OpenAI responses, with reasoning items kept",
    .base_url = "https://api.openai.com/v1",
    .base_url_env = "OPENAI_BASE_URL",
    .api_key_env = "OPENAI_API_KEY",
    .options_schema = schema,
    .state_size = sizeof(cdr_responses_model),
    .reader_size = sizeof(cdr_responses_reader),
    .init = init,
    .fini = fini,
    .encode = cdr_responses_encode,
    .event = cdr_responses_event,
    .body = cdr_responses_body,
};
