// What a model is told of a tool, as the providers take it.
//
// OpenAI and Anthropic refuse the schema of arguments that says at its top more than
// what its properties are. Arguments are checked by the whole schema in any case, so
// what is refused is told in words, and properties that only stand there stand with the
// others.
#include "cadre/ext/wire_body.h"

#include <stdlib.h>
#include <string.h>

static const char *const refused[] = {"anyOf", "oneOf", "allOf", "not",
                                      "enum",  "const", NULL};

// Moves what is refused to an object of its own.
static int part(json_t *kept, json_t *told)
{
    int bad = 0;
    for (size_t i = 0; refused[i]; i++) {
        json_t *value = json_object_get(kept, refused[i]);
        if (!value)
            continue;
        bad |= json_object_set(told, refused[i], value);
        bad |= json_object_del(kept, refused[i]);
    }
    return bad;
}

// Gives what a list of schemas says of properties to `properties`, where that says
// nothing of them.
static int add_properties(json_t *properties, const json_t *list)
{
    int bad = 0;
    size_t i = 0;
    const json_t *schema = NULL;
    json_array_foreach(list, i, schema)
    {
        json_t *more = json_object_get(schema, "properties");
        if (more)
            bad |= json_object_update_missing(properties, more);
    }
    return bad;
}

static int gather_properties(json_t *kept, const json_t *told)
{
    json_t *own = json_object_get(kept, "properties");
    json_t *properties = own ? json_copy(own) : json_object();
    int bad = properties ? 0 : -1;
    for (size_t i = 0; refused[i]; i++)
        bad |= add_properties(properties, json_object_get(told, refused[i]));
    return bad | json_object_set_new(kept, "properties", properties);
}

static bool says_more(const json_t *parameters)
{
    for (size_t i = 0; refused[i]; i++)
        if (json_object_get(parameters, refused[i]))
            return true;
    return false;
}

// `told`: what stands in words; empty: nothing.
static void write_description(cadre_http *http, const char *description,
                              const json_t *told)
{
    bool has_words = description && !cadre_wire_is_blank(description);
    char *rules = json_object_size(told) > 0 ? json_dumps(told, JSON_COMPACT) : NULL;
    if (json_object_size(told) > 0 && !rules)
        cadre_http_fail(http);
    if (has_words || rules) {
        cadre_http_append_text(http, ",\"description\":\"");
        cadre_http_append_escaped(http, has_words ? description : "");
        if (rules) {
            cadre_http_append_text(http, has_words ? "\\n\\n" : "");
            cadre_http_append_text(http, "The arguments must fit this JSON Schema: ");
            cadre_http_append_escaped(http, rules);
        }
        cadre_http_append_text(http, "\"");
    }
    free(rules);
}

void cadre_wire_tool(cadre_http *http, const cadre_tool_info *tool, const char *key)
{
    bool has_more = says_more(tool->parameters);
    json_t *kept = has_more ? json_deep_copy(tool->parameters) : NULL;
    json_t *told = has_more ? json_object() : NULL;
    if (has_more &&
        (!kept || !told || part(kept, told) != 0 || gather_properties(kept, told) != 0))
        cadre_http_fail(http);
    write_description(http, tool->description, told);
    cadre_http_append_text(http, ",\"");
    cadre_http_append_text(http, key);
    cadre_http_append_text(http, "\":");
    if (tool->parameters)
        cadre_http_append_json(http, has_more ? kept : tool->parameters);
    else
        cadre_http_append_text(http, "{\"type\":\"object\",\"properties\":{}}");
    json_decref(kept);
    json_decref(told);
}
