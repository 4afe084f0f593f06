// See strict_schema.h of the public headers.
//
// What is not sure to be taken counts as unfit: that costs a promise of the provider,
// the other way round would cost every request.
#include "cadre/ext/strict_schema.h"

#include "base/json_iterable.h"

#include <string.h>

#define MAX_DEPTH 10
#define MAX_PROPERTIES 5000
#define MAX_VALUES 1000
#define MAX_TEXT 120000 // bytes of all names and values

typedef struct count {
    size_t n_properties, n_values, n_text;
} count;

static bool is_among(const char *text, const char *const *names)
{
    for (; text && *names; names++)
        if (strcmp(text, *names) == 0)
            return true;
    return false;
}

static bool is_simple(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

static bool has_type(const json_t *schema, const char *name)
{
    const json_t *types = json_object_get(schema, "type");
    size_t i;
    json_t *type;
    if (json_is_string(types))
        return strcmp(json_string_value(types), name) == 0;
    json_array_foreach(types, i, type)
    {
        if (json_is_string(type) && strcmp(json_string_value(type), name) == 0)
            return true;
    }
    return false;
}

// --- Words ---

static bool is_fit(count *seen, const json_t *schema, int depth);

// Look-around is no part of the patterns that are taken.
static bool is_plain_pattern(const char *pattern)
{
    const char *at = pattern;
    while (at && (at = strstr(at, "(?")) != NULL && at[2] == ':')
        at += 2;
    return pattern && !at;
}

static bool are_values(count *seen, const json_t *values)
{
    size_t i;
    json_t *value;
    seen->n_values += json_array_size(values);
    json_array_foreach(values, i, value)
    {
        seen->n_text += json_string_length(value);
        if (!is_simple(value))
            return false;
    }
    return true;
}

static bool are_members(count *seen, const json_t *members, int depth)
{
    const char *key;
    json_t *member;
    json_object_foreach(cdr_json_iterable(members), key, member)
    {
        seen->n_text += strlen(key);
        if (!is_fit(seen, member, depth))
            return false;
    }
    return true;
}

static bool are_alternatives(count *seen, const json_t *choices, int depth)
{
    size_t i;
    json_t *choice;
    json_array_foreach(choices, i, choice)
    {
        if (!is_fit(seen, choice, depth))
            return false;
    }
    return true;
}

// A word and what stands there. `required` and `additionalProperties` are looked at
// with their object.
static bool is_word(count *seen, const char *word, const json_t *value, int depth)
{
    static const char *const plain[] = {"$schema",
                                        "type",
                                        "title",
                                        "description",
                                        "required",
                                        "minimum",
                                        "maximum",
                                        "exclusiveMinimum",
                                        "exclusiveMaximum",
                                        "multipleOf",
                                        "minItems",
                                        "maxItems",
                                        "$ref",
                                        NULL};
    static const char *const formats[] = {"date-time", "time",     "date", "duration",
                                          "email",     "hostname", "ipv4", "ipv6",
                                          "uuid",      NULL};
    if (is_among(word, plain))
        return true;
    if (strcmp(word, "additionalProperties") == 0)
        return json_is_false(value);
    if (strcmp(word, "enum") == 0)
        return are_values(seen, value);
    if (strcmp(word, "const") == 0)
        return is_simple(value);
    if (strcmp(word, "pattern") == 0)
        return is_plain_pattern(json_string_value(value));
    if (strcmp(word, "format") == 0)
        return is_among(json_string_value(value), formats);
    if (strcmp(word, "items") == 0)
        return is_fit(seen, value, depth + 1);
    if (strcmp(word, "anyOf") == 0)
        return are_alternatives(seen, value, depth);
    if (strcmp(word, "properties") == 0)
        return are_members(seen, value, depth + 1);
    return strcmp(word, "$defs") == 0 && are_members(seen, value, depth);
}

// --- Schemas ---

static bool is_closed_object(count *seen, const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *required = json_object_get(schema, "required");
    size_t i;
    json_t *name;
    seen->n_properties += json_object_size(properties);
    if (!json_is_object(properties) ||
        !json_is_false(json_object_get(schema, "additionalProperties")) ||
        json_array_size(required) != json_object_size(properties))
        return false;
    json_array_foreach(required, i, name)
    {
        if (!json_object_get(properties, json_string_value(name)))
            return false;
    }
    return true;
}

static bool is_reference(const json_t *schema)
{
    const char *to = json_string_value(json_object_get(schema, "$ref"));
    return to && *to == '#' && json_object_size(schema) == 1;
}

static bool is_fit(count *seen, const json_t *schema, int depth)
{
    const char *word;
    json_t *value;
    if (!json_is_object(schema) || depth > MAX_DEPTH)
        return false;
    if (json_object_get(schema, "$ref"))
        return is_reference(schema);
    if (!json_object_get(schema, "type") && !json_object_get(schema, "anyOf") &&
        !json_object_get(schema, "enum") && !json_object_get(schema, "const"))
        return false;
    if (has_type(schema, "array") && !json_object_get(schema, "items"))
        return false;
    bool is_object =
        has_type(schema, "object") || json_object_get(schema, "properties") != NULL;
    if (is_object && !is_closed_object(seen, schema))
        return false;
    json_object_foreach(cdr_json_iterable(schema), word, value)
    {
        if (!is_word(seen, word, value, depth))
            return false;
    }
    return true;
}

bool cadre_schema_is_strict(const json_t *schema)
{
    count seen = {0, 0, 0};
    const char *type = json_string_value(json_object_get(schema, "type"));
    return type && strcmp(type, "object") == 0 && !json_object_get(schema, "anyOf") &&
           is_fit(&seen, schema, 1) && seen.n_properties <= MAX_PROPERTIES &&
           seen.n_values <= MAX_VALUES && seen.n_text <= MAX_TEXT;
}
