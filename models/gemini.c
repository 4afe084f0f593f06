// Provider "gemini": Google's generateContent, streamed. What a model signed
// (thoughtSignature) goes back to it where it came, as Gemini 3 demands.
//
// Everything of a request's body that does not change is written once, here. Tour:
// request.c writes the rest; answer.c reads chunks, part.c what their parts say.
#include "gemini/gemini.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Keys of the body that options may not write.
static const char *const reserved[] = {
    "contents",         "systemInstruction", "tools", "toolConfig",
    "generationConfig", "safetySettings",    NULL,
};

// Options that go into generationConfig under another name; in that of thinking where
// `thinks`. The provider judges them.
static const struct {
    const char *option, *key;
    bool thinks;
} passed_on[] = {
    {"temperature", "temperature", false},
    {"top_p", "topP", false},
    {"top_k", "topK", false},
    {"max_tokens", "maxOutputTokens", false},
    {"stop_sequences", "stopSequences", false},
    {"seed", "seed", false},
    {"thinking_budget", "thinkingBudget", true},
    {"thinking_level", "thinkingLevel", true},
    {"include_thoughts", "includeThoughts", true},
};

static const char schema[] =
    "{\"temperature\":{\"type\":\"number\",\"minimum\":0,\"maximum\":2},"
    "\"top_p\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"top_k\":{\"type\":\"integer\",\"minimum\":1},"
    "\"max_tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"of an answer, thinking included\"},"
    "\"stop_sequences\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"seed\":{\"type\":\"integer\"},"
    "\"thinking_budget\":{\"type\":\"integer\",\"minimum\":-1,"
    "\"description\":\"tokens for thinking (Gemini 2.5); 0: none, -1: the model's "
    "choice\"},"
    "\"thinking_level\":{\"type\":\"string\","
    "\"description\":\"minimal, low, medium, high (from Gemini 3 on)\"},"
    "\"include_thoughts\":{\"type\":\"boolean\","
    "\"description\":\"show a summary of its thoughts as reasoning\"},"
    "\"tool_choice\":{\"type\":\"string\","
    "\"enum\":[\"auto\",\"any\",\"validated\",\"none\"]},"
    "\"structured_output\":{\"type\":\"string\",\"default\":\"json_schema\","
    "\"enum\":[\"json_schema\",\"text\"],"
    "\"description\":\"how the model is told of an output_schema\"},"
    "\"safety_settings\":{\"type\":\"object\","
    "\"additionalProperties\":{\"type\":\"string\"},"
    "\"description\":\"a threshold (BLOCK_NONE, ...) for each category "
    "(HARM_CATEGORY_HARASSMENT, ...)\"},"
    "\"generation_config\":{\"type\":\"object\","
    "\"description\":\"further keys of generationConfig\"},"
    "\"headers\":{\"type\":\"object\",\"x-secret\":true,"
    "\"additionalProperties\":{\"type\":\"string\",\"x-env\":true},"
    "\"description\":\"further HTTP headers\"},"
    "\"extra_body\":{\"type\":\"object\","
    "\"description\":\"further keys of the request's body\"}}";

static cadre_status no_memory(const cadre_model_config *config, cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "model '%s': no memory", config->name);
}

// --- Address ---

// A name goes into the path: what could end it is written in hex. `models/` stands
// before a name without a folder of its own (`tunedModels/...`).
static char *make_path(const char *model)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/:@";
    static const char method[] = ":streamGenerateContent";
    size_t size = sizeof("/models/") + 3 * strlen(model) + sizeof(method);
    char *path = malloc(size);
    if (!path)
        return NULL;
    size_t used = (size_t)snprintf(path, size, strchr(model, '/') ? "/" : "/models/");
    for (; *model; model++)
        used += (size_t)snprintf(path + used, size - used,
                                 strchr(plain, *model) ? "%c" : "%%%02X",
                                 (unsigned char)*model);
    (void)snprintf(path + used, size - used, "%s", method);
    return path;
}

static char *make_url(const cadre_model_config *config)
{
    char *path = make_path(config->model);
    char *base =
        path ? cadre_wire_versioned_url(config->base_url, "/v1beta", path) : NULL;
    size_t size = base ? strlen(base) + sizeof("?alt=sse") : 0;
    char *url = base ? malloc(size) : NULL;
    if (url)
        (void)snprintf(url, size, "%s%calt=sse", base, strchr(base, '?') ? '&' : '?');
    free(base);
    free(path);
    return url;
}

// --- Body ---

static bool fill_body(const cadre_model_config *config, json_t *body)
{
    json_t *given = json_object_get(config->options, "safety_settings");
    json_t *list = given ? json_array() : NULL;
    if (!given)
        return true;
    int bad = list ? 0 : -1;
    for (void *at = json_object_iter(given); at; at = json_object_iter_next(given, at))
        bad |= json_array_append_new(
            list, json_pack("{s:s, s:O}", "category", json_object_iter_key(at),
                            "threshold", json_object_iter_value(at)));
    bad |= json_object_set_new(body, "safetySettings", list);
    return bad == 0;
}

static bool fill_generation(const json_t *options, json_t *config)
{
    json_t *thinking = json_object();
    json_t *given = json_object_get(options, "generation_config");
    int bad = thinking ? 0 : -1;
    for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++) {
        json_t *value = json_object_get(options, passed_on[i].option);
        if (value)
            bad |= json_object_set(passed_on[i].thinks ? thinking : config,
                                   passed_on[i].key, value);
    }
    if (json_object_size(thinking) > 0)
        bad |= json_object_set(config, "thinkingConfig", thinking);
    if (given)
        bad |= json_object_update(config, given);
    json_decref(thinking);
    return bad == 0;
}

static char *make_generation(const json_t *options)
{
    json_t *config = json_object();
    char *text = config && fill_generation(options, config)
                     ? json_dumps(config, JSON_COMPACT | JSON_REAL_PRECISION(15))
                     : NULL;
    if (text)
        text[strlen(text) - 1] = '\0';
    json_decref(config);
    return text;
}

// False: no memory.
static bool set_tool_config(cdr_gemini_model *model, const json_t *options)
{
    static const char *const modes[][2] = {
        {"auto", "AUTO"}, {"any", "ANY"}, {"validated", "VALIDATED"}, {"none", "NONE"}};
    const char *choice = json_string_value(json_object_get(options, "tool_choice"));
    if (!choice)
        return true;
    const char *mode = modes[0][1];
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(choice, modes[i][0]) == 0)
            mode = modes[i][1];
    json_t *config = json_pack("{s:{s:s}}", "functionCallingConfig", "mode", mode);
    model->tool_config = config ? json_dumps(config, JSON_COMPACT) : NULL;
    json_decref(config);
    return model->tool_config != NULL;
}

// From Gemini 3 on a model refuses calls without a signature, and takes a schema for
// its answer beside tools.
static bool is_of_3_on(const char *model)
{
    static const char family[] = "gemini-";
    const char *name = strrchr(model, '/') ? strrchr(model, '/') + 1 : model;
    const char *version = name + strlen(family);
    return strncmp(name, family, strlen(family)) == 0 &&
           !((version[0] == '1' || version[0] == '2') && version[1] == '.');
}

static bool tells_schema(const json_t *options)
{
    const char *word = json_string_value(json_object_get(options, "structured_output"));
    return word && strcmp(word, "text") == 0;
}

static cadre_status init(void *state, const cadre_model_config *config,
                         cadre_error *err)
{
    cdr_gemini_model *model = state;
    const json_t *options = config->options;
    model->is_of_3_on = is_of_3_on(config->model);
    model->tells_schema = tells_schema(options);
    model->generation = make_generation(options);
    if (!model->generation || !set_tool_config(model, options))
        return no_memory(config, err);
    const cadre_endpoint_plan plan = {.url = make_url(config),
                                      .fill_body = fill_body,
                                      .reserved = reserved,
                                      .key_header = "x-goog-api-key",
                                      .key_prefix = ""};
    return cadre_endpoint_init(&model->endpoint, config, &plan, err);
}

static void fini(void *state)
{
    cdr_gemini_model *model = state;
    cadre_endpoint_fini(&model->endpoint);
    free(model->generation);
    free(model->tool_config);
}

extern const cadre_model_ops cadre_model_gemini;

const cadre_model_ops cadre_model_gemini = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "gemini",
    .summary = "Google's Gemini API (generateContent), and servers that speak the same",
    .base_url = "https://generativelanguage.googleapis.com",
    .base_url_env = "GEMINI_BASE_URL",
    .api_key_env = "GEMINI_API_KEY",
    .other_key_env = "GOOGLE_API_KEY",
    .options_schema = schema,
    .state_size = sizeof(cdr_gemini_model),
    .reader_size = sizeof(cdr_gemini_reader),
    .init = init,
    .fini = fini,
    .encode = cdr_gemini_encode,
    .event = cdr_gemini_event,
    .body = cdr_gemini_body,
};
