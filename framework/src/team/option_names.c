// See option_names.h.
#include "team/option_names.h"

#include "base/json_iterable.h"
#include "team/build.h"
#include "team/document.h"
#include "team/file_schema.h"
#include "team/settings.h"

#include <stdlib.h>
#include <string.h>

typedef struct finder {
    cdr_schema_walk walk;
    cdr_on_option_name on_name;
    void *ctx;
} finder;

static bool has_format(const json_t *schema, const char *format)
{
    const char *given = json_string_value(json_object_get(schema, "format"));
    return given && strcmp(given, format) == 0;
}

static void look(finder *f, const json_t *schema, const cdr_schema_slot *slot);

static void look_below(finder *f, const json_t *schema, const cdr_schema_slot *slot)
{
    cdr_schema_walk_enter(&f->walk, slot);
    if (f->walk.depth <= CDR_SCHEMA_MAX_DEPTH)
        look(f, schema, slot);
    cdr_schema_walk_leave(&f->walk);
}

static void look(finder *f, const json_t *schema, const cdr_schema_slot *slot)
{
    const char *key;
    json_t *value;
    bool is_tool = has_format(schema, "tool");
    if (json_is_string(slot->value) && (is_tool || has_format(schema, "agent"))) {
        cdr_option_name found = {slot, cdr_schema_walk_path(&f->walk), is_tool};
        f->on_name(f->ctx, &found);
    }
    json_object_foreach(cdr_json_iterable(slot->value), key, value)
    {
        cdr_schema_slot member = {value, slot->value, key, 0};
        look_below(f, cdr_schema_of_member(schema, key), &member);
    }
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot element = cdr_schema_element(slot->value, i);
        look_below(f, json_object_get(schema, "items"), &element);
    }
}

bool cdr_option_names(const char *options_schema, const json_t *options,
                      cdr_on_option_name on_name, void *ctx)
{
    if (!options_schema || !options || !strstr(options_schema, "\"format\""))
        return true;
    finder f = {.on_name = on_name, .ctx = ctx};
    json_t *schema = cdr_settings_schema(options_schema, NULL);
    cdr_schema_slot root = {options, NULL, NULL, 0};
    cdr_schema_walk_init(&f.walk, NULL, NULL);
    if (schema)
        look(&f, schema, &root);
    bool is_whole = schema && !f.walk.path.failed;
    cdr_schema_walk_fini(&f.walk);
    json_decref(schema);
    return is_whole;
}

static bool names_agents(const json_t *schema)
{
    const char *key;
    json_t *part;
    if (has_format(schema, "agent"))
        return true;
    json_object_foreach(cdr_json_iterable(schema), key, part)
    {
        if (names_agents(part))
            return true;
    }
    return false;
}

bool cdr_options_name_agents(const char *options_schema)
{
    json_t *schema = options_schema ? json_loads(options_schema, 0, NULL) : NULL;
    bool does = names_agents(schema);
    json_decref(schema);
    return does;
}

// --- Places ---

// The next step of a path, "edges" or "[2]", looked for in `container`. The rest of the
// path is left in `path`.
static cdr_document_value step_into(cdr_document *document, const json_t *container,
                                    const char **path)
{
    char key[CDR_BRIEF_SIZE];
    const char *start = *path;
    if (*start == '[') {
        char *end = NULL;
        unsigned long index = strtoul(start + 1, &end, 10);
        *path = end + strspn(end, "].");
        return cdr_document_element(document, container, index);
    }
    size_t len = strcspn(start, ".[");
    *path = start + len + (start[len] == '.');
    if (len >= sizeof(key))
        return (cdr_document_value){0};
    memcpy(key, start, len);
    key[len] = '\0';
    return cdr_document_member(document, container, key);
}

// Goes down as far as there is something. NULL as its value: not one step.
static cdr_document_value walk_down(cdr_document *document, const json_t *container,
                                    const char *path)
{
    cdr_document_value found = {0};
    while (*path) {
        cdr_document_value next = step_into(document, container, &path);
        if (!next.value)
            break;
        found = next;
        container = next.value;
    }
    return found;
}

// "agents.desk.graph", or "agents.desk" where options have no block of their own.
static cdr_at start_of(const cadre_agent *agent, const char *block)
{
    if (!*block)
        return agent->at;
    return cdr_at_part(agent->team, &agent->at, ".%s", block);
}

cdr_at cdr_agent_option_at(const cadre_agent *agent, const char *path)
{
    cadre_team *team = agent->team;
    const char *block = agent->ops ? cdr_agent_block(agent->ops) : "";
    if (!team->document)
        return cdr_at_part(team, &agent->at, ": options%s%s", *path ? "." : "", path);
    cdr_document_value in_block =
        cdr_document_member(team->document, agent->written, block);
    const json_t *options = *block ? in_block.value : agent->written;
    cdr_document_value found = walk_down(team->document, options, path);
    cdr_at at = start_of(agent, block);
    if (!found.value) {
        found = walk_down(team->document, agent->written, path);
        at = found.value ? agent->at : at;
    }
    if (!found.value)
        found = in_block;
    at = cdr_at_part(team, &at, "%s%s", *path ? "." : "", path);
    if (found.value) {
        at.line = found.place.line;
        at.column = found.place.column;
    }
    return at;
}
