// Schemas themselves: known words, of the right type, with defaults that fit.
#include "base/schema.h"

#include "base/json_iterable.h"
#include "base/nearest.h"
#include "base/schema_walk.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

typedef void (*word_check)(cdr_schema_walk *walk, const cdr_schema_slot *slot);

static void check_schema_slot(cdr_schema_walk *walk, const cdr_schema_slot *slot);

static void check_below(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    size_t path_len = cdr_schema_walk_enter(walk, slot);
    check_schema_slot(walk, slot);
    cdr_schema_walk_leave(walk, path_len);
}

static void report_kind(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                        const char *expected)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(walk, slot, "expected %s, got %s", expected,
                           cdr_brief_json(got, slot->value));
}

static const char *const type_names[] = {
    "string", "integer", "number", "boolean", "object", "array", "null",
};

static bool is_type_name(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(type_names); i++) {
        if (strcmp(type_names[i], name) == 0)
            return true;
    }
    return false;
}

// A type's name. `slot` is the string itself.
static void check_type_name(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    const char *name = json_string_value(slot->value);
    if (name && is_type_name(name))
        return;
    char got[CDR_BRIEF_SIZE];
    cdr_brief_json(got, slot->value);
    const char *nearest = NULL;
    if (name)
        nearest = cdr_nearest(name, type_names, COUNT_OF(type_names));
    if (nearest)
        cdr_schema_walk_report(walk, slot, "unknown type %s; did you mean \"%s\"?", got,
                               nearest);
    else
        cdr_schema_walk_report(walk, slot,
                               "unknown type %s (known: string, integer, number, "
                               "boolean, object, array, null)",
                               got);
}

static void check_type(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (json_is_string(slot->value)) {
        check_type_name(walk, slot);
        return;
    }
    if (json_array_size(slot->value) == 0)
        report_kind(walk, slot, "the name of a type or an array of such names");
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot name = cdr_schema_element(slot->value, i);
        size_t path_len = cdr_schema_walk_enter(walk, &name);
        check_type_name(walk, &name);
        cdr_schema_walk_leave(walk, path_len);
    }
}

static void check_enum(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (json_array_size(slot->value) == 0)
        report_kind(walk, slot, "an array of at least 1 value");
}

static void check_anything(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    (void)walk;
    (void)slot;
}

static void check_number(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_number(slot->value))
        report_kind(walk, slot, "a number");
}

static void check_length(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_integer(slot->value) || json_integer_value(slot->value) < 0)
        report_kind(walk, slot, "an integer of at least 0");
}

static void check_text(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_string(slot->value))
        report_kind(walk, slot, "a string");
}

static void check_examples(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_array(slot->value))
        report_kind(walk, slot, "an array");
}

static void check_required(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_array(slot->value))
        report_kind(walk, slot, "an array of property names");
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot name = cdr_schema_element(slot->value, i);
        size_t path_len = cdr_schema_walk_enter(walk, &name);
        check_text(walk, &name);
        cdr_schema_walk_leave(walk, path_len);
    }
}

static void check_properties(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (!json_is_object(slot->value))
        report_kind(walk, slot, "an object of schemas");
    const char *key;
    json_t *schema;
    json_object_foreach(cdr_json_iterable(slot->value), key, schema)
    {
        cdr_schema_slot property = {schema, slot->value, key, 0};
        check_below(walk, &property);
    }
}

static const struct schema_word {
    const char *name;
    word_check check;
} words[] = {
    {"type", check_type},
    {"enum", check_enum},
    {"const", check_anything},
    {"minimum", check_number},
    {"maximum", check_number},
    {"exclusiveMinimum", check_number},
    {"exclusiveMaximum", check_number},
    {"minLength", check_length},
    {"maxLength", check_length},
    {"minItems", check_length},
    {"maxItems", check_length},
    {"required", check_required},
    {"properties", check_properties},
    {"additionalProperties", check_schema_slot},
    {"items", check_schema_slot},
    {"default", check_anything}, // judged last, by the whole schema
    {"title", check_text},
    {"description", check_text},
    {"examples", check_examples},
    {"format", check_text},
    {"$schema", check_text},
};

// Words of the standard that are not read. Without this list their messages would
// offer the nearest word that is, which means something else.
static const char *const unsupported_words[] = {
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "pattern",
    "patternProperties",
    "propertyNames",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "definitions",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$ref",
    "$vocabulary",
};

static const struct schema_word *find_word(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    }
    return NULL;
}

static bool is_unsupported(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(unsupported_words); i++) {
        if (strcmp(unsupported_words[i], name) == 0)
            return true;
    }
    return false;
}

static void report_word(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    char name[CDR_BRIEF_SIZE];
    cdr_brief_text(name, slot->key, '\'');
    if (is_unsupported(slot->key)) {
        cdr_schema_walk_report_key(walk, slot, "the schema word %s is not supported",
                                   name);
        return;
    }
    const char *known[COUNT_OF(words)];
    for (size_t i = 0; i < COUNT_OF(words); i++)
        known[i] = words[i].name;
    const char *nearest = cdr_nearest(slot->key, known, COUNT_OF(known));
    if (nearest)
        cdr_schema_walk_report_key(
            walk, slot, "unknown schema word %s; did you mean '%s'?", name, nearest);
    else
        cdr_schema_walk_report_key(walk, slot,
                                   "unknown schema word %s; a property of this name "
                                   "belongs under 'properties'",
                                   name);
}

static void check_words(cdr_schema_walk *walk, const json_t *schema)
{
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(schema), key, value)
    {
        cdr_schema_slot member = {value, schema, key, 0};
        const struct schema_word *word = find_word(key);
        if (word) {
            size_t path_len = cdr_schema_walk_enter(walk, &member);
            word->check(walk, &member);
            cdr_schema_walk_leave(walk, path_len);
        } else if (strncmp(key, "x-", 2) != 0) {
            report_word(walk, &member);
        }
    }
}

typedef struct first_problem {
    char text[400];
} first_problem;

static void keep_first(void *ctx, const cdr_schema_problem *problem)
{
    first_problem *first = ctx;
    if (!first->text[0])
        snprintf(first->text, sizeof first->text, "%s%s%s", problem->path,
                 *problem->path ? ": " : "", problem->text);
}

// A default that its own schema refuses would fail every run that leaves it alone.
static void check_default(cdr_schema_walk *walk, const json_t *schema)
{
    cdr_schema_slot preset = cdr_schema_member(schema, "default");
    first_problem first = {{0}};
    if (!preset.value ||
        cdr_schema_check(schema, preset.value, keep_first, &first) == 0)
        return;
    size_t path_len = cdr_schema_walk_enter(walk, &preset);
    cdr_schema_walk_report(walk, &preset, "the default does not fit: %s", first.text);
    cdr_schema_walk_leave(walk, path_len);
}

static void check_schema_slot(cdr_schema_walk *walk, const cdr_schema_slot *slot)
{
    if (walk->depth > CDR_SCHEMA_MAX_DEPTH) {
        cdr_schema_walk_report(walk, slot, "nested deeper than %d",
                               CDR_SCHEMA_MAX_DEPTH);
        return;
    }
    if (json_is_boolean(slot->value))
        return;
    if (!json_is_object(slot->value)) {
        report_kind(walk, slot, "a schema (an object, true or false)");
        return;
    }
    int n_problems = walk->n_problems;
    check_words(walk, slot->value);
    // Only a sound schema can judge its default.
    if (walk->n_problems == n_problems)
        check_default(walk, slot->value);
}

int cdr_schema_check_schema(const json_t *schema, cdr_schema_on_problem on_problem,
                            void *ctx)
{
    cdr_schema_walk walk;
    cdr_schema_walk_init(&walk, on_problem, ctx);
    cdr_schema_slot root = {schema, NULL, NULL, 0};
    check_schema_slot(&walk, &root);
    cdr_schema_walk_fini(&walk);
    return walk.n_problems;
}
