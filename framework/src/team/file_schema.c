// The schema of team files.
//
// 1. An agent has the common keys, the options that its type puts beside them, and the
//    blocks of all types: those of other types wait for the day the type is changed.
// 2. Where two types have one key, either meaning is valid in the schema for editors;
//    a common key wins over an option.
#include "team/file_schema.h"

#include "cadre/ext/agent.h"
#include "cadre/ext/model.h"

#include "base/json_iterable.h"
#include "team/runtime.h"
#include "team/settings.h"

#include <string.h>

#define DURATION "{\"type\": \"string\", \"format\": \"duration\", \"minimum\": 1"
#define A_YEAR DURATION ", \"maximum\": 31536000000}"
#define A_DAY DURATION ", \"maximum\": 86400000}"
#define NOTES "\"additionalProperties\": false, \"patternProperties\": {\"^x-\": true}"
#define LIMIT(maximum)                                                                 \
    "{\"type\": [\"integer\", \"string\"], \"format\": \"limit\", \"minimum\": 1, "    \
    "\"maximum\": " maximum ", \"pattern\": \"^unlimited$\"}"

#define DOLLARS                                                                        \
    "{\"type\": \"number\", \"format\": \"usd\", \"minimum\": 0, "                     \
    "\"maximum\": 1000000}"
#define BUDGET                                                                         \
    "\"budget\": {\"type\": \"object\", \"properties\": {"                             \
    "\"max_cost\": {\"type\": \"number\", \"format\": \"usd\", "                       \
    "\"minimum\": 0.000001, \"maximum\": 1000000}, "                                   \
    "\"max_tokens\": {\"type\": \"integer\", \"minimum\": 1, "                         \
    "\"maximum\": 1000000000000}, "                                                    \
    "\"max_time\": " A_YEAR "}, " NOTES "}"
#define FREE "\"patternProperties\": {\"^x-\": true}"
#define RATE LIMIT("100000")
#define CALLS LIMIT("1000000000")
#define DEPTH LIMIT("1000000")
#define A_FILE "{\"type\": \"string\", \"format\": \"path\"}"
#define HOOKS                                                                          \
    "\"hooks\": {\"type\": \"object\", \"properties\": {"                              \
    "\"create\": " A_FILE ", \"next\": " A_FILE ", "                                   \
    "\"before_model\": " A_FILE ", \"after_model\": " A_FILE ", "                      \
    "\"before_tool\": " A_FILE ", \"after_tool\": " A_FILE "}, " NOTES "}"

static const char root_text[] =
    "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\","
    " \"title\": \"A cadre team\", \"type\": \"object\", \"required\": [\"agents\"],"
    " \"properties\": {"
    "  \"version\": {\"const\": 1},"
    "  \"name\": {\"type\": \"string\", \"minLength\": 1},"
    "  \"description\": {\"type\": \"string\"},"
    "  \"root\": {\"type\": \"string\"},"
    "  \"inputs\": {\"type\": \"object\", " FREE ","
    "    \"additionalProperties\": {\"type\": \"object\"}},"
    "  \"state\": {\"type\": \"object\", " FREE ", \"additionalProperties\": {"
    "    \"type\": \"object\", \"properties\": {"
    "      \"reducer\": {\"enum\": [\"replace\", \"append\", \"merge\", \"sum\"]},"
    "      \"default\": {}}, " NOTES "}},"
    "  \"script\": {\"type\": \"string\", \"format\": \"path\"},"
    "  " HOOKS ","
    "  \"models\": {\"type\": \"object\", " FREE "},"
    "  \"tools\": {\"type\": \"object\", " FREE "},"
    "  \"agents\": {\"type\": \"object\", " FREE "},"
    "  \"limits\": {\"type\": \"object\", \"properties\": {"
    "    \"max_model_calls\": " CALLS ", \"max_tool_calls\": " CALLS ","
    "    \"max_depth\": " DEPTH "}, " NOTES "},"
    "  " BUDGET "}, " NOTES "}";

static const char agent_text[] =
    "{\"type\": \"object\", \"properties\": {"
    "  \"type\": {\"type\": \"string\"},"
    "  \"description\": {\"type\": \"string\"},"
    "  \"members\": {\"type\": \"array\", \"items\": {"
    "    \"type\": [\"string\", \"object\"], \"required\": [\"agent\"], "
    "\"properties\": {"
    "      \"agent\": {\"type\": \"string\"},"
    "      \"description\": {\"type\": \"string\"},"
    "      \"input_schema\": {\"type\": \"object\"}}, " NOTES "}},"
    "  \"entry\": {\"type\": \"string\"},"
    "  \"model\": {\"type\": \"string\"},"
    "  \"tools\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}},"
    "  \"handoffs\": {\"type\": \"array\", \"items\": {"
    "    \"type\": [\"string\", \"object\"], \"required\": [\"to\"], \"properties\": {"
    "      \"to\": {\"type\": \"string\"},"
    "      \"history\": {\"enum\": [\"all\", \"own\", \"last\", \"none\"]}},"
    "    " NOTES "}},"
    "  \"loop_fallback\": {\"type\": \"string\"},"
    "  \"retry\": {\"type\": \"object\", \"properties\": {"
    "    \"attempts\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100},"
    "    \"backoff\": {\"type\": \"string\", \"format\": \"duration\","
    "      \"minimum\": 0, \"maximum\": 86400000}}, " NOTES "},"
    "  \"input_schema\": {\"type\": \"object\"},"
    "  \"output_schema\": {\"type\": \"object\"},"
    "  \"output_key\": {\"type\": \"string\"},"
    "  " HOOKS ","
    "  \"timeout\": " A_YEAR ","
    "  " BUDGET ","
    "  \"quiet\": {\"type\": \"boolean\"}},"
    " " NOTES "}";

static const char model_text[] =
    "{\"type\": \"object\", \"required\": [\"model\"], \"properties\": {"
    "  \"model\": {\"type\": \"string\", \"format\": \"model\","
    "    \"pattern\": \"^[^/]+/.+$\"},"
    "  \"base_url\": {\"type\": \"string\", \"x-env\": true},"
    "  \"api_key_env\": {\"type\": \"string\"},"
    "  \"timeout\": " A_DAY ","
    "  \"idle_timeout\": " A_DAY ","
    "  \"fallback\": {\"type\": \"array\", \"maxItems\": 16,"
    "    \"items\": {\"type\": \"string\"}},"
    "  \"rpm\": " RATE ","
    "  \"max_concurrency\": " RATE ","
    "  \"retry\": {\"type\": \"object\", \"properties\": {"
    "    \"attempts\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100},"
    "    \"backoff\": " A_DAY ","
    "    \"max_backoff\": " A_DAY "}, " NOTES "},"
    "  \"price\": {\"type\": \"object\", \"required\": [\"input\", \"output\"],"
    "    \"properties\": {\"input\": " DOLLARS ", \"output\": " DOLLARS ","
    "    \"cached_input\": " DOLLARS ", \"cache_write\": " DOLLARS "}, " NOTES "}},"
    " " NOTES "}";

static const char tool_text[] =
    "{\"type\": \"object\", \"required\": [\"type\"], \"properties\": {"
    "  \"type\": {\"type\": \"string\"},"
    "  \"description\": {\"type\": \"string\"},"
    "  \"parameters\": {\"type\": \"object\"},"
    "  \"timeout\": " A_YEAR ","
    "  \"approval\": {\"enum\": [\"never\", \"ask\"]},"
    "  \"may_repeat\": {\"type\": \"boolean\"},"
    "  \"replay\": {\"enum\": [\"safe\", \"unsafe\"]}},"
    " " NOTES "}";

typedef struct schema_maker {
    cadre_runtime *runtime;
    json_t *blocks;                  // of all agent types, by block
    json_t *agents, *models, *tools; // by type; made when first needed
    bool no_memory;
} schema_maker;

const char *cdr_agent_block(const cadre_agent_ops *ops)
{
    return ops->block ? ops->block : ops->type;
}

static json_t *parse(schema_maker *maker, const char *text)
{
    json_t *value = json_loads(text, 0, NULL);
    maker->no_memory |= !value;
    return value;
}

// Sets a member to a borrowed value.
static void put(schema_maker *maker, json_t *object, const char *key, json_t *value)
{
    if (json_object_set(object, key, value) != 0)
        maker->no_memory = true;
}

static void put_new(schema_maker *maker, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        maker->no_memory = true;
}

static void add_choice(schema_maker *maker, json_t *properties, const char *key,
                       json_t *option)
{
    json_t *there = json_object_get(properties, key);
    if (!there) {
        put(maker, properties, key, option);
    } else if (!json_equal(there, option)) {
        json_t *choices = json_pack("{s:[O, O]}", "anyOf", there, option);
        put_new(maker, properties, key, choices);
    }
}

// Adds the options of a type that are not there; `may_differ`: those of several types.
static void add_options(schema_maker *maker, json_t *schema, const char *options_schema,
                        const json_t *common)
{
    json_t *options = options_schema ? parse(maker, options_schema) : NULL;
    json_t *properties = json_object_get(schema, "properties");
    const char *key;
    json_t *option;
    json_object_foreach(options, key, option)
    {
        if (!json_object_get(common, key))
            add_choice(maker, properties, key, option);
    }
    json_decref(options);
}

static bool is_for_files(const schema_maker *maker, cadre_kind kind, const char *type)
{
    if (kind == CADRE_KIND_TOOL)
        return !cdr_origin_of_tool(cdr_runtime_tool_ops(maker->runtime, type));
    return !cdr_origin_of_agent(cdr_runtime_agent_ops(maker->runtime, type));
}

static void make_blocks(schema_maker *maker)
{
    const cadre_agent_ops *ops = NULL;
    for (size_t i = 0; (ops = cdr_runtime_agent_at(maker->runtime, i)) != NULL; i++) {
        const char *block = cdr_agent_block(ops);
        if (!*block || !is_for_files(maker, CADRE_KIND_AGENT, ops->type))
            continue;
        json_t *schema = json_object_get(maker->blocks, block);
        if (!schema) {
            put_new(maker, maker->blocks, block, cdr_settings_schema(NULL, NULL));
            schema = json_object_get(maker->blocks, block);
        }
        if (schema)
            add_options(maker, schema, ops->options_schema, NULL);
    }
}

static void restrict_type(schema_maker *maker, json_t *schema, cadre_kind kind)
{
    const char *names[64];
    size_t n_names = cdr_runtime_type_names(maker->runtime, kind, names, 64);
    json_t *choices = json_array();
    for (size_t i = 0; i < n_names; i++) {
        if (is_for_files(maker, kind, names[i]) &&
            json_array_append_new(choices, json_string(names[i])) != 0)
            maker->no_memory = true;
    }
    json_t *type = json_object_get(json_object_get(schema, "properties"), "type");
    put_new(maker, type, "enum", choices);
}

// The common keys of one kind of thing, which options must not hide.
static json_t *start(schema_maker *maker, const char *text, json_t **common)
{
    json_t *schema = parse(maker, text);
    const json_t *properties = json_object_get(schema, "properties");
    *common = json_copy(cdr_json_iterable(properties));
    // jansson gives an incomplete copy when memory runs out.
    maker->no_memory |= json_object_size(*common) != json_object_size(properties);
    return schema;
}

// The schema of an agent of a type; NULL: of any.
static json_t *make_agent(schema_maker *maker, const char *type)
{
    json_t *common = NULL;
    json_t *schema = start(maker, agent_text, &common);
    const cadre_agent_ops *ops = NULL;
    bool is_known = type && cdr_runtime_agent_ops(maker->runtime, type);
    for (size_t i = 0; (ops = cdr_runtime_agent_at(maker->runtime, i)) != NULL; i++) {
        bool is_wanted = !is_known || strcmp(ops->type, type) == 0;
        if (is_wanted && !*cdr_agent_block(ops))
            add_options(maker, schema, ops->options_schema, common);
    }
    const char *block;
    json_t *block_schema;
    json_object_foreach(maker->blocks, block, block_schema)
    {
        if (!json_object_get(common, block))
            put(maker, json_object_get(schema, "properties"), block, block_schema);
    }
    restrict_type(maker, schema, CADRE_KIND_AGENT);
    json_decref(common);
    return schema;
}

static json_t *make_model(schema_maker *maker, const char *provider)
{
    json_t *common = NULL;
    json_t *schema = start(maker, model_text, &common);
    const cadre_model_ops *ops = NULL;
    bool is_known = provider && cdr_runtime_model_ops(maker->runtime, provider);
    for (size_t i = 0; (ops = cdr_runtime_model_at(maker->runtime, i)) != NULL; i++) {
        if (!is_known || strcmp(ops->provider, provider) == 0)
            add_options(maker, schema, ops->options_schema, common);
    }
    json_decref(common);
    return schema;
}

static json_t *make_tool(schema_maker *maker, const char *type)
{
    json_t *common = NULL;
    json_t *schema = start(maker, tool_text, &common);
    const cadre_tool_ops *ops = NULL;
    bool is_known = type && cdr_runtime_tool_ops(maker->runtime, type);
    for (size_t i = 0; (ops = cdr_runtime_tool_at(maker->runtime, i)) != NULL; i++) {
        bool is_wanted = is_known ? strcmp(ops->type, type) == 0
                                  : is_for_files(maker, CADRE_KIND_TOOL, ops->type);
        if (is_wanted)
            add_options(maker, schema, ops->options_schema, common);
    }
    restrict_type(maker, schema, CADRE_KIND_TOOL);
    json_decref(common);
    return schema;
}

typedef json_t *(*make_schema)(schema_maker *maker, const char *type);

// The schema of a type, made once. Borrowed.
static json_t *of_type(schema_maker *maker, json_t *made, const char *type,
                       make_schema make)
{
    const char *key = type ? type : "";
    json_t *schema = json_object_get(made, key);
    if (!schema) {
        // Gone when it cannot be put there.
        put_new(maker, made, key, make(maker, type));
        schema = json_object_get(made, key);
    }
    return schema;
}

static const char *type_of_agent(const json_t *agent)
{
    const json_t *type = json_object_get(agent, "type");
    return type ? json_string_value(type) : CDR_DEFAULT_AGENT_TYPE;
}

static const char *type_of_tool(const json_t *tool)
{
    return json_string_value(json_object_get(tool, "type"));
}

// The provider, in `provider`; NULL: too long to be one.
static const char *provider_of(const json_t *model, char *provider, size_t size)
{
    const char *text = json_string_value(json_object_get(model, "model"));
    size_t len = text ? strcspn(text, "/") : size;
    if (len >= size)
        return NULL;
    memcpy(provider, text, len);
    provider[len] = '\0';
    return provider;
}

// Keys that start with x- are free.
static bool is_note(const char *name)
{
    return strncmp(name, "x-", 2) == 0;
}

// One section of a file: each entry gets the schema of its type.
static void fill_section(schema_maker *maker, json_t *section, cadre_kind kind,
                         const json_t *entries)
{
    json_t *properties = json_object();
    char provider[64];
    const char *name;
    json_t *entry;
    json_object_foreach(cdr_json_iterable(entries), name, entry)
    {
        json_t *schema = NULL;
        if (is_note(name))
            continue;
        if (kind == CADRE_KIND_AGENT)
            schema = of_type(maker, maker->agents, type_of_agent(entry), make_agent);
        else if (kind == CADRE_KIND_TOOL)
            schema = of_type(maker, maker->tools, type_of_tool(entry), make_tool);
        else
            schema =
                of_type(maker, maker->models,
                        provider_of(entry, provider, sizeof(provider)), make_model);
        put(maker, properties, name, schema);
    }
    put_new(maker, section, "properties", properties);
}

// The default of an input that is a text is a text, as it is written.
static void fill_inputs(schema_maker *maker, json_t *section, const json_t *inputs)
{
    json_t *properties = json_object();
    const char *name;
    json_t *input;
    json_object_foreach(cdr_json_iterable(inputs), name, input)
    {
        if (is_note(name))
            continue;
        const char *type = json_string_value(json_object_get(input, "type"));
        json_t *schema = json_pack("{s:s, s:{s:{s:s}}}", "type", "object", "properties",
                                   "description", "type", "string");
        if (!type || strcmp(type, "string") == 0)
            put_new(maker, json_object_get(schema, "properties"), "default",
                    json_pack("{s:s}", "type", "string"));
        put_new(maker, properties, name, schema);
    }
    put_new(maker, section, "properties", properties);
}

static void fill(schema_maker *maker, json_t *root, const json_t *file)
{
    json_t *sections = json_object_get(root, "properties");
    json_t *agents = json_object_get(sections, "agents");
    json_t *models = json_object_get(sections, "models");
    json_t *tools = json_object_get(sections, "tools");
    if (!file) {
        put_new(maker, agents, "additionalProperties", make_agent(maker, NULL));
        put_new(maker, models, "additionalProperties", make_model(maker, NULL));
        put_new(maker, tools, "additionalProperties", make_tool(maker, NULL));
        return;
    }
    fill_section(maker, agents, CADRE_KIND_AGENT, json_object_get(file, "agents"));
    fill_section(maker, models, CADRE_KIND_MODEL, json_object_get(file, "models"));
    fill_section(maker, tools, CADRE_KIND_TOOL, json_object_get(file, "tools"));
    fill_inputs(maker, json_object_get(sections, "inputs"),
                json_object_get(file, "inputs"));
}

json_t *cdr_file_schema_new(cadre_runtime *runtime, const json_t *file)
{
    schema_maker maker = {.runtime = runtime};
    maker.blocks = json_object();
    maker.agents = json_object();
    maker.models = json_object();
    maker.tools = json_object();
    json_t *root = parse(&maker, root_text);
    make_blocks(&maker);
    fill(&maker, root, file);
    json_decref(maker.blocks);
    json_decref(maker.agents);
    json_decref(maker.models);
    json_decref(maker.tools);
    if (maker.no_memory) {
        json_decref(root);
        return NULL;
    }
    return root;
}

// --- For others ---

// Formats that only we have, as a pattern of the texts that they take; others take any.
static const struct {
    const char *format, *pattern;
} own_formats[] = {
    {"duration", "^[0-9]+(ms|s|m|h)$"},
    {"size", "^[0-9]+(B|KiB|MiB|GiB)$"},
    {"limit", "^unlimited$"},
};

static const char *pattern_of(const char *format)
{
    for (size_t i = 0; i < sizeof(own_formats) / sizeof(own_formats[0]); i++)
        if (strcmp(own_formats[i].format, format) == 0)
            return own_formats[i].pattern;
    return NULL;
}

// Writes a schema, and all in it, in words that every validator has. False: no memory.
static bool make_plain(json_t *schema)
{
    json_t *value = NULL;
    size_t i = 0;
    bool is_ok = true;
    const char *format = json_string_value(json_object_get(schema, "format"));
    const char *pattern = format ? pattern_of(format) : NULL;
    if (pattern && !json_object_get(schema, "pattern"))
        is_ok = json_object_set_new(schema, "pattern", json_string(pattern)) == 0;
    if (format)
        json_object_del(schema, "format");
    json_object_del(schema, "x-env");
    json_object_del(schema, "x-secret");
    json_array_foreach(schema, i, value)
    {
        is_ok = is_ok && make_plain(value);
    }
    for (void *at = json_object_iter(schema); at && is_ok;
         at = json_object_iter_next(schema, at))
        is_ok = make_plain(json_object_iter_value(at));
    return is_ok;
}

json_t *cadre_team_file_schema(void)
{
    json_t *schema = cdr_file_schema_new(NULL, NULL);
    if (schema && make_plain(schema))
        return schema;
    json_decref(schema);
    return NULL;
}
