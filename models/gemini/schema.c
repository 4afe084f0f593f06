// A JSON Schema as Gemini takes it: beside `$ref` it allows nothing but further words
// that begin with `$`.
//
// What stands beside one goes around it: {"$ref": r, "description": d} means the same
// as {"anyOf": [{"$ref": r}], "description": d}.
#include "gemini.h"

#include <stdlib.h>
#include <string.h>

static bool is_refused(json_t *schema)
{
    if (!json_is_string(json_object_get(schema, "$ref")))
        return false;
    void *at = json_object_iter(schema);
    for (; at; at = json_object_iter_next(schema, at))
        if (json_object_iter_key(at)[0] != '$')
            return true;
    return false;
}

// What a word of a schema holds.
typedef enum kind {
    SCHEMA, // or a list of them, or what has none in it
    NAMES,  // a schema for each name
    VALUE   // may look like a schema
} kind;

static kind kind_of(const char *key, kind of)
{
    static const char *const names[] = {"properties", "$defs", "definitions",
                                        "patternProperties"};
    static const char *const values[] = {"enum", "const", "default", "examples"};
    if (of == NAMES)
        return SCHEMA;
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(key, names[i]) == 0)
            return NAMES;
        if (strcmp(key, values[i]) == 0)
            return VALUE;
    }
    return SCHEMA;
}

// Of a schema that has an `anyOf` of its own only the reference stays; who asked checks
// the rest.
static int move_reference(json_t *schema)
{
    json_t *inner = json_pack("{s:O}", "$ref", json_object_get(schema, "$ref"));
    int bad = inner ? 0 : -1;
    if (json_object_get(schema, "anyOf"))
        bad |= json_object_clear(schema) | json_object_update(schema, inner);
    else
        bad |= json_object_del(schema, "$ref") |
               json_object_set_new(schema, "anyOf", json_pack("[O]", inner));
    json_decref(inner);
    return bad;
}

static int fit(json_t *value, kind of)
{
    size_t i = 0;
    json_t *item = NULL;
    int bad = 0;
    if (of == VALUE)
        return 0;
    json_array_foreach(value, i, item)
    {
        bad |= fit(item, of);
    }
    void *at = json_object_iter(value);
    for (; at; at = json_object_iter_next(value, at))
        bad |= fit(json_object_iter_value(at), kind_of(json_object_iter_key(at), of));
    return of == SCHEMA && is_refused(value) ? bad | move_reference(value) : bad;
}

void cdr_gemini_append_schema(cadre_http *http, const json_t *schema)
{
    char *text = json_dumps(schema, JSON_COMPACT | JSON_ENCODE_ANY);
    json_t *fitted = text && strstr(text, "\"$ref\"") ? json_deep_copy(schema) : NULL;
    if (!text || (fitted && fit(fitted, SCHEMA) != 0))
        cadre_http_fail(http);
    if (fitted)
        cadre_http_append_json(http, fitted);
    else
        cadre_http_append_text(http, text ? text : "");
    free(text);
    json_decref(fitted);
}
