// Provider "anthropic": the Messages API of Anthropic, and of servers that speak the
// same. Claude's thoughts go back to the model that had them, with their signatures and
// in their places; of a request's prefix the provider keeps what it can (prompt cache).
//
// Everything of a request's body that does not change is written once, here. Tour:
// request.c writes the rest, content.c what messages hold; answer.c reads events,
// block.c what content blocks say.
#include "anthropic/anthropic.h"

#include "cadre/ext/wire_body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_TOKENS 8192
#define MIN_BUDGET 1024

// Written as they are; the provider judges them.
static const char *const passed_on[] = {
    "temperature", "top_p", "top_k", "stop_sequences", NULL,
};

// Keys of the body that options may not write.
static const char *const reserved[] = {
    "model",    "messages",      "system", "tools",       "max_tokens",
    "thinking", "output_config", "stream", "tool_choice", NULL,
};

static const char schema[] =
    "{\"max_tokens\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"of an answer, thinking included; 8192, and the budget_tokens of "
    "thinking on top\"},"
    "\"temperature\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"top_p\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
    "\"top_k\":{\"type\":\"integer\",\"minimum\":1},"
    "\"stop_sequences\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
    "\"thinking\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"description\":\"budget_tokens for models that think by a budget, type adaptive "
    "for those that choose themselves\",\"properties\":{"
    "\"type\":{\"type\":\"string\",\"enum\":[\"enabled\",\"adaptive\",\"disabled\"]},"
    "\"budget_tokens\":{\"type\":\"integer\",\"minimum\":1024},"
    "\"display\":{\"type\":\"string\",\"enum\":[\"summarized\",\"omitted\"]}}},"
    "\"effort\":{\"type\":\"string\","
    "\"description\":\"low, medium, high and, of some models, more\"},"
    "\"tool_choice\":{\"type\":\"string\",\"enum\":[\"auto\",\"any\",\"none\"]},"
    "\"parallel_tool_calls\":{\"type\":\"boolean\"},"
    "\"prompt_cache\":{\"type\":\"boolean\",\"default\":true,"
    "\"description\":\"mark what the provider should keep of the prompt\"},"
    "\"beta\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"minLength\":1},"
    "\"description\":\"features for the header anthropic-beta\"},"
    "\"structured_output\":{\"type\":\"string\",\"default\":\"json_schema\","
    "\"enum\":[\"json_schema\",\"text\"],"
    "\"description\":\"how the model is told of an output_schema\"},"
    "\"headers\":{\"type\":\"object\",\"x-secret\":true,"
    "\"additionalProperties\":{\"type\":\"string\",\"x-env\":true},"
    "\"description\":\"further HTTP headers\"},"
    "\"extra_body\":{\"type\":\"object\","
    "\"description\":\"further keys of the request's body\"}}";

static cadre_status no_memory(const cadre_model_config *config, cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "model '%s': no memory", config->name);
}

static json_int_t budget_of(const json_t *options)
{
    const json_t *thinking = json_object_get(options, "thinking");
    return json_integer_value(json_object_get(thinking, "budget_tokens"));
}

static json_int_t max_tokens_of(const json_t *options)
{
    const json_t *given = json_object_get(options, "max_tokens");
    return given ? json_integer_value(given) : DEFAULT_MAX_TOKENS + budget_of(options);
}

static bool fill_body(const cadre_model_config *config, json_t *body)
{
    int bad = json_object_set_new(body, "model", json_string(config->model));
    bad |= json_object_set_new(body, "max_tokens",
                               json_integer(max_tokens_of(config->options)));
    bad |= json_object_set_new(body, "stream", json_true());
    return bad == 0 && cadre_wire_pass(config->options, passed_on, body);
}

// Gives a piece of the body that takes one key, its value consumed. NULL: no memory.
static char *make_piece_take(const char *key, json_t *value)
{
    char *dumped = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;
    size_t size = dumped ? strlen(key) + strlen(dumped) + sizeof(",\"\":") : 0;
    char *piece = dumped ? malloc(size) : NULL;
    if (piece)
        (void)snprintf(piece, size, ",\"%s\":%s", key, dumped);
    free(dumped);
    json_decref(value);
    return piece;
}

// --- Thinking ---

// Without a type, a budget means the one kind and everything else the other.
static const char *thinking_type(const json_t *thinking)
{
    const char *type = json_string_value(json_object_get(thinking, "type"));
    if (type)
        return type;
    return json_object_get(thinking, "budget_tokens") ? "enabled" : "adaptive";
}

static cadre_status check_thinking(const cadre_model_config *config, cadre_error *err)
{
    const json_t *options = config->options;
    const char *type = thinking_type(json_object_get(options, "thinking"));
    json_int_t budget = budget_of(options);
    bool is_budget = strcmp(type, "enabled") == 0;
    if (is_budget && budget == 0)
        return cadre_fail(
            err, CADRE_EINVAL,
            "model '%s': thinking: type 'enabled' needs budget_tokens, %d "
            "or more",
            config->name, MIN_BUDGET);
    if (!is_budget && budget > 0)
        return cadre_fail(
            err, CADRE_EINVAL,
            "model '%s': thinking: budget_tokens goes with type 'enabled', "
            "not with '%s'",
            config->name, type);
    if (budget >= max_tokens_of(options))
        return cadre_fail(err, CADRE_EINVAL,
                          "model '%s': thinking: budget_tokens %" JSON_INTEGER_FORMAT
                          " must be less than max_tokens %" JSON_INTEGER_FORMAT,
                          config->name, budget, max_tokens_of(options));
    return CADRE_OK;
}

static cadre_status set_thinking(cdr_anthropic_model *model,
                                 const cadre_model_config *config, cadre_error *err)
{
    const json_t *thinking = json_object_get(config->options, "thinking");
    if (!thinking)
        return CADRE_OK;
    cadre_status status = check_thinking(config, err);
    if (status != CADRE_OK)
        return status;
    json_t *value = json_deep_copy(thinking);
    if (json_object_set_new(value, "type", json_string(thinking_type(thinking))) == 0)
        model->thinking = make_piece_take("thinking", json_incref(value));
    model->has_budget = budget_of(config->options) > 0;
    json_decref(value);
    return model->thinking ? CADRE_OK : no_memory(config, err);
}

// --- Other pieces ---

// False: no memory.
static bool set_tool_choice(cdr_anthropic_model *model, const json_t *options)
{
    const json_t *parallel = json_object_get(options, "parallel_tool_calls");
    const char *type = json_string_value(json_object_get(options, "tool_choice"));
    if (!parallel && !type)
        return true;
    json_t *choice = json_pack("{s:s}", "type", type ? type : "auto");
    bool takes_limit = !type || strcmp(type, "none") != 0;
    if (choice && json_is_false(parallel) && takes_limit &&
        json_object_set_new(choice, "disable_parallel_tool_use", json_true()) != 0) {
        json_decref(choice);
        return false;
    }
    model->tool_choice = make_piece_take("tool_choice", choice);
    return model->tool_choice != NULL;
}

static bool set_effort(cdr_anthropic_model *model, const json_t *options)
{
    const json_t *effort = json_object_get(options, "effort");
    if (effort)
        model->effort = json_dumps(effort, JSON_ENCODE_ANY);
    return !effort || model->effort;
}

static bool set_beta(cdr_anthropic_model *model, const json_t *options)
{
    const json_t *beta = json_object_get(options, "beta");
    const json_t *name = NULL;
    size_t i = 0;
    size_t size = 1;
    json_array_foreach(beta, i, name)
    {
        size += json_string_length(name) + 1;
    }
    if (json_array_size(beta) == 0)
        return true;
    model->beta = calloc(1, size);
    if (!model->beta)
        return false;
    json_array_foreach(beta, i, name)
    {
        size_t used = strlen(model->beta);
        (void)snprintf(model->beta + used, size - used, "%s%s", i == 0 ? "" : ",",
                       json_string_value(name));
    }
    return true;
}

static bool tells_schema(const json_t *options)
{
    const char *word = json_string_value(json_object_get(options, "structured_output"));
    return word && strcmp(word, "text") == 0;
}

static cadre_status init(void *state, const cadre_model_config *config,
                         cadre_error *err)
{
    cdr_anthropic_model *model = state;
    const json_t *options = config->options;
    model->caches = !json_is_false(json_object_get(options, "prompt_cache"));
    model->tells_schema = tells_schema(options);
    if (!set_tool_choice(model, options) || !set_effort(model, options) ||
        !set_beta(model, options))
        return no_memory(config, err);
    cadre_status status = set_thinking(model, config, err);
    if (status != CADRE_OK)
        return status;
    const cadre_endpoint_plan plan = {
        .url = cadre_wire_versioned_url(config->base_url, "/v1", "/messages"),
        .fill_body = fill_body,
        .reserved = reserved,
        .key_header = "x-api-key",
        .key_prefix = ""};
    return cadre_endpoint_init(&model->endpoint, config, &plan, err);
}

static void fini(void *state)
{
    cdr_anthropic_model *model = state;
    cadre_endpoint_fini(&model->endpoint);
    free(model->beta);
    free(model->thinking);
    free(model->effort);
    free(model->tool_choice);
}

extern const cadre_model_ops cadre_model_anthropic;

const cadre_model_ops cadre_model_anthropic = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "anthropic",
    .summary = "Anthropic's Messages API, and servers that speak the same",
    .base_url = "https://api.anthropic.com",
    .base_url_env = "ANTHROPIC_BASE_URL",
    .api_key_env = "ANTHROPIC_API_KEY",
    .options_schema = schema,
    .state_size = sizeof(cdr_anthropic_model),
    .reader_size = sizeof(cdr_anthropic_reader),
    .init = init,
    .fini = fini,
    .encode = cdr_anthropic_encode,
    .event = cdr_anthropic_event,
    .body = cdr_anthropic_body,
};
