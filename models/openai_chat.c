// Provider "openai": chat completions with streaming, as OpenAI, Azure, DeepSeek,
// Mistral, OpenRouter, Groq, llama.cpp, Ollama, vLLM and many others speak it.
//
// Everything of a request's body that does not change is written once, here. Tour:
// request.c writes the rest; answer.c reads events, message.c what is said in them.
#include "openai_chat/openai_chat.h"

#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

// Written as they are; `stop` and the others are the provider's to judge.
static const char *const passed_on[] = {
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "stop",
    "reasoning_effort",
    NULL,
};

// Keys of the body that options may not write.
static const char *const reserved[] = {
    "model",           "messages",
    "tools",           "stream",
    "stream_options",  "parallel_tool_calls",
    "response_format", NULL,
};

static const char schema[] =
    "{\"temperature\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2},"
    "\"top_p\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"max_tokens\":{\"type\":\"integer\",\"minimum\":1},"
    "\"max_completion_tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"for models that refuse max_tokens\"},"
    "\"frequency_penalty\":{\"type\":\"number\",\"minimum\":-2,\"maximum\":2},"
    "\"presence_penalty\":{\"type\":\"number\",\"minimum\":-2,\"maximum\":2},"
    "\"seed\":{\"type\":\"integer\"},"
    "\"stop\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"reasoning_effort\":{\"type\":\"string\"},"
    "\"parallel_tool_calls\":{\"type\":\"boolean\"},"
    "\"stream_usage\":{\"type\":\"boolean\",\"default\":true,"
    "\"description\":\"ask for token counts; false for servers that refuse "
    "stream_options\"},"
    "\"send_reasoning\":{\"type\":\"string\",\"default\":\"same\","
    "\"enum\":[\"same\",\"reasoning_content\",\"reasoning\",\"none\"],"
    "\"description\":\"the field in which earlier reasoning is sent back; same: that "
    "in "
    "which it came\"},"
    "\"api_key_header\":{\"type\":\"string\",\"minLength\":1,"
    "\"description\":\"carries the bare key in place of Authorization (Azure: "
    "api-key)\"},"
    "\"structured_output\":{\"type\":\"string\",\"default\":\"json_schema\","
    "\"enum\":[\"json_schema\",\"json_object\",\"text\",\"none\"],"
    "\"description\":\"how the server is told of an output_schema\"},"
    "\"headers\":{\"type\":\"object\",\"x-secret\":true,"
    "\"additionalProperties\":{\"type\":\"string\",\"x-env\":true},"
    "\"description\":\"further HTTP headers\"},"
    "\"extra_body\":{\"type\":\"object\","
    "\"description\":\"further keys of the request's body\"}}";

static bool fill_body(const cadre_model_config *config, json_t *body)
{
    const json_t *options = config->options;
    int bad = json_object_set_new(body, "model", json_string(config->model));
    bad |= json_object_set_new(body, "stream", json_true());
    if (!json_is_false(json_object_get(options, "stream_usage")))
        bad |= json_object_set_new(body, "stream_options",
                                   json_pack("{s:b}", "include_usage", 1));
    return bad == 0 && cadre_wire_pass(options, passed_on, body);
}

// OpenAI refuses parallel_tool_calls where there are no tools.
static const char *tool_tail_of(const json_t *options)
{
    const json_t *parallel = json_object_get(options, "parallel_tool_calls");
    if (!parallel)
        return "";
    return json_is_true(parallel) ? ",\"parallel_tool_calls\":true"
                                  : ",\"parallel_tool_calls\":false";
}

static cdr_openai_format format_of(const json_t *options)
{
    static const char *const words[] = {
        [CDR_OPENAI_FORMAT_SCHEMA] = "json_schema",
        [CDR_OPENAI_FORMAT_OBJECT] = "json_object",
        [CDR_OPENAI_FORMAT_TEXT] = "text",
        [CDR_OPENAI_FORMAT_NONE] = "none",
    };
    const char *word = json_string_value(json_object_get(options, "structured_output"));
    size_t format = CDR_OPENAI_FORMAT_NONE;
    while (word && format > 0 && strcmp(word, words[format]) != 0)
        format--;
    return word ? (cdr_openai_format)format : CDR_OPENAI_FORMAT_SCHEMA;
}

// With its quotes; NULL: where it was.
static const char *reasoning_field_of(const json_t *options)
{
    static const struct {
        const char *word, *field;
    } fields[] = {
        {"reasoning_content", "\"reasoning_content\""},
        {"reasoning", "\"reasoning\""},
        {"none", "\"\""},
    };
    const char *word = json_string_value(json_object_get(options, "send_reasoning"));
    for (size_t i = 0; word && i < sizeof(fields) / sizeof(fields[0]); i++)
        if (strcmp(word, fields[i].word) == 0)
            return fields[i].field;
    return NULL;
}

static cadre_status init(void *state, const cadre_model_config *config,
                         cadre_error *err)
{
    cdr_openai_model *model = state;
    const json_t *options = config->options;
    const char *key_header =
        json_string_value(json_object_get(options, "api_key_header"));
    model->format = format_of(options);
    model->tool_tail = tool_tail_of(options);
    model->reasoning_field = reasoning_field_of(options);
    const cadre_endpoint_plan plan = {
        .url = cadre_wire_url(config->base_url, "/chat/completions"),
        .fill_body = fill_body,
        .reserved = reserved,
        .key_header = key_header ? key_header : "Authorization",
        .key_prefix = key_header ? "" : "Bearer "};
    return cadre_endpoint_init(&model->endpoint, config, &plan, err);
}

static void fini(void *state)
{
    cdr_openai_model *model = state;
    cadre_endpoint_fini(&model->endpoint);
}

extern const cadre_model_ops cadre_model_openai_chat;

const cadre_model_ops cadre_model_openai_chat = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "openai",
    .summary = "OpenAI chat completions, and servers that speak the same",
    .base_url = "https://api.openai.com/v1",
    .base_url_env = "OPENAI_BASE_URL",
    .api_key_env = "OPENAI_API_KEY",
    .options_schema = schema,
    .state_size = sizeof(cdr_openai_model),
    .reader_size = sizeof(cdr_openai_reader),
    .init = init,
    .fini = fini,
    .encode = cdr_openai_encode,
    .event = cdr_openai_event,
    .body = cdr_openai_body,
};
