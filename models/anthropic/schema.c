// From the JSON Schema of an answer to what the provider can hold a model to.
//
// It takes a part of JSON Schema: each object must name all its properties and allow no
// others, and most limits are refused. Who asked checks the answer in any case, so a
// limit may be dropped; and an object may be narrowed to the properties that it names,
// since what fits then fits the schema, too. What says nothing of its properties, or
// contains itself, cannot be written at all.
#include "anthropic.h"

#include <string.h>

#define DEFS "#/$defs/"
#define DEFINITIONS "#/definitions/"

typedef struct fitting {
    json_t *root;
    json_t *open; // names of definitions that are being looked into
    json_t *done; // names of those that came to an end
    bool is_refused;
} fitting;

static json_t *fit(fitting *to, json_t *schema);

static json_t *refuse(fitting *to)
{
    to->is_refused = true;
    return NULL;
}

// Sets a new value; NULL: refuses.
static void put(fitting *to, json_t *object, const char *key, json_t *value)
{
    if (!value || json_object_set_new(object, key, value) != 0)
        to->is_refused = true;
}

static json_t *fit_list(fitting *to, json_t *list)
{
    json_t *fitted = json_array();
    size_t i = 0;
    json_t *entry = NULL;
    json_array_foreach(list, i, entry)
    {
        json_t *value = fit(to, entry);
        if (!value || json_array_append_new(fitted, value) != 0)
            to->is_refused = true;
    }
    return fitted;
}

static json_t *fit_members(fitting *to, json_t *members)
{
    json_t *fitted = json_object();
    void *at = json_object_iter(members);
    for (; at && !to->is_refused; at = json_object_iter_next(members, at))
        put(to, fitted, json_object_iter_key(at), fit(to, json_object_iter_value(at)));
    return fitted;
}

// --- References ---

static json_t *find_definition(const fitting *to, const char *reference)
{
    const char *place = NULL;
    const char *name = NULL;
    if (strncmp(reference, DEFS, strlen(DEFS)) == 0) {
        place = "$defs";
        name = reference + strlen(DEFS);
    } else if (strncmp(reference, DEFINITIONS, strlen(DEFINITIONS)) == 0) {
        place = "definitions";
        name = reference + strlen(DEFINITIONS);
    }
    return place ? json_object_get(json_object_get(to->root, place), name) : NULL;
}

// Only to a definition of this schema, and to none that leads back to itself.
static json_t *fit_reference(fitting *to, const json_t *value)
{
    const char *reference = json_string_value(value);
    json_t *target = reference ? find_definition(to, reference) : NULL;
    if (!target || json_object_get(to->open, reference))
        return refuse(to);
    if (!json_object_get(to->done, reference)) {
        put(to, to->open, reference, json_true());
        json_decref(fit(to, target));
        (void)json_object_del(to->open, reference);
        put(to, to->done, reference, json_true());
    }
    return json_string(reference);
}

// --- Keys ---

static bool is_simple(const json_t *value)
{
    return !json_is_object(value) && !json_is_array(value);
}

static bool is_known_format(const char *format)
{
    static const char *const known[] = {"date-time", "time",     "date", "duration",
                                        "email",     "hostname", "uri",  "ipv4",
                                        "ipv6",      "uuid"};
    for (size_t i = 0; format && i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(format, known[i]) == 0)
            return true;
    return false;
}

static json_t *fit_enum(fitting *to, json_t *values)
{
    size_t i = 0;
    const json_t *value = NULL;
    json_array_foreach(values, i, value)
    {
        if (!is_simple(value))
            return refuse(to);
    }
    return json_incref(values);
}

static bool stays_as_it_is(const char *key, const json_t *value)
{
    static const char *const kept[] = {"type",    "title",    "description",
                                       "default", "required", NULL};
    for (size_t i = 0; kept[i]; i++)
        if (strcmp(key, kept[i]) == 0)
            return true;
    if (strcmp(key, "format") == 0)
        return is_known_format(json_string_value(value));
    return strcmp(key, "minItems") == 0 && json_integer_value(value) == 1;
}

// Writes `anyOf`, of which there can be one. `allOf` says the same of a single schema;
// several objects that are closed fit nothing together, and a reference in one is
// refused.
static void fit_choice(fitting *to, json_t *out, const char *key, json_t *list)
{
    bool is_choice = strcmp(key, "allOf") != 0 || json_array_size(list) == 1;
    bool fits = is_choice && !json_object_get(out, "anyOf");
    put(to, out, "anyOf", fits ? fit_list(to, list) : NULL);
}

static void fit_key(fitting *to, json_t *out, const char *key, json_t *value)
{
    if (stays_as_it_is(key, value))
        put(to, out, key, json_incref(value));
    else if (strcmp(key, "enum") == 0)
        put(to, out, key, fit_enum(to, value));
    else if (strcmp(key, "const") == 0)
        put(to, out, key, is_simple(value) ? json_incref(value) : NULL);
    else if (strcmp(key, "items") == 0)
        put(to, out, key, fit(to, value));
    else if (strcmp(key, "anyOf") == 0 || strcmp(key, "oneOf") == 0 ||
             strcmp(key, "allOf") == 0)
        fit_choice(to, out, key, value);
    else if (strcmp(key, "$ref") == 0)
        put(to, out, key, fit_reference(to, value));
    else if (strcmp(key, "properties") == 0 || strcmp(key, "$defs") == 0 ||
             strcmp(key, "definitions") == 0)
        put(to, out, key, fit_members(to, value));
}

static bool may_be(const json_t *schema, const char *type)
{
    const json_t *types = json_object_get(schema, "type");
    size_t i = 0;
    const json_t *one = NULL;
    if (json_is_string(types))
        return strcmp(json_string_value(types), type) == 0;
    json_array_foreach(types, i, one)
    {
        if (json_is_string(one) && strcmp(json_string_value(one), type) == 0)
            return true;
    }
    return false;
}

// Does it say what the value is?
static bool says_something(const json_t *schema)
{
    static const char *const keys[] = {"type", "enum", "const", "anyOf", "$ref"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (json_object_get(schema, keys[i]))
            return true;
    return false;
}

// Its properties are all that an object has.
static void close_object(fitting *to, const json_t *schema, json_t *out)
{
    const json_t *others = json_object_get(schema, "additionalProperties");
    bool is_closed = json_is_false(others);
    bool is_map =
        json_is_object(others) || json_object_get(schema, "patternProperties") != NULL;
    if (!is_closed && (is_map || !json_object_get(schema, "properties")))
        to->is_refused = true;
    put(to, out, "additionalProperties", json_false());
}

static json_t *fit(fitting *to, json_t *schema)
{
    json_t *out = json_is_object(schema) ? json_object() : NULL;
    void *at = json_object_iter(schema);
    for (; at && !to->is_refused; at = json_object_iter_next(schema, at))
        fit_key(to, out, json_object_iter_key(at), json_object_iter_value(at));
    if (json_object_get(schema, "properties") && !json_object_get(schema, "type"))
        put(to, out, "type", json_string("object"));
    if (may_be(out, "object"))
        close_object(to, schema, out);
    if (!out || !says_something(out) ||
        (may_be(out, "array") && !json_object_get(out, "items")))
        to->is_refused = true;
    if (!to->is_refused)
        return out;
    json_decref(out);
    return NULL;
}

json_t *cdr_anthropic_fit_schema(const json_t *schema)
{
    fitting to = {.root = json_deep_copy(schema), json_object(), json_object(), false};
    json_t *fitted = to.root && to.open && to.done ? fit(&to, to.root) : NULL;
    json_decref(to.root);
    json_decref(to.open);
    json_decref(to.done);
    return fitted;
}
