// Words about single values, and those that check nothing.
#include "base/schema_read.h"

#include "base/json_iterable.h"
#include "base/json_number.h"
#include "base/json_same.h"
#include "base/nearest.h"

#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

void *cdr_schema_reading_field(const cdr_schema_reading *r)
{
    return (char *)r->node + r->offset;
}

void cdr_schema_reading_report(const cdr_schema_reading *r, const cdr_schema_slot *slot,
                               const char *expected)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(&r->maker->walk, slot, "expected %s, got %s", expected,
                           cdr_brief_json(got, slot->value));
}

const json_t *cdr_schema_reading_sibling(const cdr_schema_reading *r, const char *word)
{
    return json_object_get(r->node->json, word);
}

bool cdr_schema_reading_is_before(const cdr_schema_reading *r, cdr_draft draft)
{
    return r->maker->plan->draft != CDR_DRAFT_ANY && r->maker->plan->draft < draft;
}

bool cdr_schema_reading_is_since(const cdr_schema_reading *r, cdr_draft draft)
{
    return r->maker->plan->draft >= draft;
}

// --- What checks nothing ---

void cdr_schema_read_text(const cdr_schema_reading *r)
{
    if (!json_is_string(r->slot.value))
        cdr_schema_reading_report(r, &r->slot, "a string");
}

void cdr_schema_read_boolean(const cdr_schema_reading *r)
{
    if (!json_is_boolean(r->slot.value))
        cdr_schema_reading_report(r, &r->slot, "true or false");
}

void cdr_schema_read_examples(const cdr_schema_reading *r)
{
    if (!json_is_array(r->slot.value))
        cdr_schema_reading_report(r, &r->slot, "an array");
}

// --- Any value ---

static const struct type_name {
    const char *name;
    unsigned types;
} type_names[] = {
    {"string", CDR_TYPE_STRING}, {"integer", CDR_TYPE_INTEGER},
    {"number", CDR_TYPE_NUMBER}, {"boolean", CDR_TYPE_BOOLEAN},
    {"object", CDR_TYPE_OBJECT}, {"array", CDR_TYPE_ARRAY},
    {"null", CDR_TYPE_NULL},
};

static const char *nearest_type(const char *name)
{
    const char *names[COUNT_OF(type_names)];
    for (size_t i = 0; i < COUNT_OF(type_names); i++)
        names[i] = type_names[i].name;
    return name ? cdr_nearest(name, names, COUNT_OF(names)) : NULL;
}

// `slot` is the name itself, where the walk stands.
static void read_type_name(const cdr_schema_reading *r, const cdr_schema_slot *slot)
{
    const char *name = json_string_value(slot->value);
    for (size_t i = 0; name && i < COUNT_OF(type_names); i++) {
        if (strcmp(type_names[i].name, name) == 0) {
            r->node->types |= type_names[i].types;
            return;
        }
    }
    char got[CDR_BRIEF_SIZE];
    cdr_brief_json(got, slot->value);
    const char *nearest = nearest_type(name);
    if (nearest)
        cdr_schema_walk_report(&r->maker->walk, slot,
                               "unknown type %s; did you mean \"%s\"?", got, nearest);
    else
        cdr_schema_walk_report(&r->maker->walk, slot,
                               "unknown type %s (known: string, integer, number, "
                               "boolean, object, array, null)",
                               got);
}

void cdr_schema_read_type(const cdr_schema_reading *r)
{
    if (json_is_string(r->slot.value)) {
        read_type_name(r, &r->slot);
        return;
    }
    if (json_array_size(r->slot.value) == 0)
        cdr_schema_reading_report(r, &r->slot,
                                  "the name of a type or an array of such names");
    for (size_t i = 0; i < json_array_size(r->slot.value); i++) {
        cdr_schema_slot name = cdr_schema_element(r->slot.value, i);
        cdr_schema_walk_enter(&r->maker->walk, &name);
        read_type_name(r, &name);
        cdr_schema_walk_leave(&r->maker->walk);
    }
}

// Values in a schema are compared as deep as they are.
static bool is_shallow(const cdr_schema_reading *r)
{
    int left = CDR_SCHEMA_MAX_DEPTH - r->maker->walk.depth;
    if (cdr_json_measure(r->slot.value, left, INT64_MAX).depth <= left)
        return true;
    cdr_schema_walk_report(&r->maker->walk, &r->slot, "nested deeper than %d",
                           CDR_SCHEMA_MAX_DEPTH);
    return false;
}

void cdr_schema_read_enum(const cdr_schema_reading *r)
{
    if (json_array_size(r->slot.value) == 0) {
        cdr_schema_reading_report(r, &r->slot, "an array of at least 1 value");
    } else if (is_shallow(r)) {
        r->node->listed = r->slot.value;
        r->node->table = cdr_schema_value_table_new(r->maker->plan, r->slot.value);
    }
}

void cdr_schema_read_const(const cdr_schema_reading *r)
{
    if (is_shallow(r))
        r->node->only = r->slot.value;
}

void cdr_schema_read_default(const cdr_schema_reading *r)
{
    if (is_shallow(r))
        cdr_schema_note_add(r->maker, &r->maker->defaults, r->node);
}

// --- Numbers and counts ---

void cdr_schema_read_number(const cdr_schema_reading *r)
{
    if (json_is_number(r->slot.value))
        *(const json_t **)cdr_schema_reading_field(r) = r->slot.value;
    else
        cdr_schema_reading_report(r, &r->slot, "a number");
}

// A number since draft 6. In draft 4 `true`: the bound beside it, `word`, is itself
// not allowed.
static void read_exclusive(const cdr_schema_reading *r, const char *word,
                           const json_t **bound)
{
    bool is_flag =
        json_is_boolean(r->slot.value) && !cdr_schema_reading_is_since(r, CDR_DRAFT_6);
    if (!is_flag && !cdr_schema_reading_is_before(r, CDR_DRAFT_6))
        cdr_schema_read_number(r);
    else if (!is_flag)
        cdr_schema_reading_report(r, &r->slot, "true or false");
    else if (json_is_true(r->slot.value) &&
             json_is_number(cdr_schema_reading_sibling(r, word)))
        *bound = cdr_schema_reading_sibling(r, word);
}

void cdr_schema_read_exclusive_minimum(const cdr_schema_reading *r)
{
    read_exclusive(r, "minimum", &r->node->above);
}

void cdr_schema_read_exclusive_maximum(const cdr_schema_reading *r)
{
    read_exclusive(r, "maximum", &r->node->below);
}

void cdr_schema_read_multiple_of(const cdr_schema_reading *r)
{
    if (json_is_number(r->slot.value) && json_number_value(r->slot.value) > 0)
        r->node->multiple_of = r->slot.value;
    else
        cdr_schema_reading_report(r, &r->slot, "a number above 0");
}

void cdr_schema_read_count(const cdr_schema_reading *r)
{
    if (!cdr_json_count(r->slot.value, cdr_schema_reading_field(r)))
        cdr_schema_reading_report(r, &r->slot, "an integer of at least 0");
}

void cdr_schema_read_unique(const cdr_schema_reading *r)
{
    cdr_schema_read_boolean(r);
    r->node->is_unique = json_is_true(r->slot.value);
}

// --- Patterns ---

// Compiles a pattern into `*out`, which the plan frees; `slot` is where it stands.
static bool make_pattern(const cdr_schema_reading *r, const cdr_schema_slot *slot,
                         const char *text, cdr_schema_pattern *out)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_schema_plan *plan = r->maker->plan;
    cdr_schema_pattern **patterns = cdr_arena_grow(&plan->arena, plan->patterns,
                                                   plan->n_patterns, sizeof(*patterns));
    if (!patterns) {
        plan->no_memory = true;
        return false;
    }
    plan->patterns = patterns;
    if (cdr_schema_pattern_init(out, text, &err) == CADRE_OK) {
        plan->patterns[plan->n_patterns++] = out;
        return true;
    }
    plan->no_memory |= err.status == CADRE_ENOMEM;
    r->node->is_broken = true;
    cdr_schema_walk_report(&r->maker->walk, slot, "%s", err.text);
    return false;
}

void cdr_schema_read_pattern(const cdr_schema_reading *r)
{
    const char *text = json_string_value(r->slot.value);
    if (!text) {
        cdr_schema_reading_report(r, &r->slot, "a string");
        return;
    }
    cdr_arena *arena = &r->maker->plan->arena;
    cdr_schema_pattern *pattern = cdr_arena_alloc(arena, sizeof(*pattern));
    r->maker->plan->no_memory |= !pattern;
    if (pattern && make_pattern(r, &r->slot, text, pattern))
        r->node->pattern = pattern;
}

void cdr_schema_read_pattern_properties(const cdr_schema_reading *r)
{
    cdr_schema_node *node = r->node;
    cdr_arena *arena = &r->maker->plan->arena;
    size_t n = json_object_size(r->slot.value);
    const char *key;
    json_t *schema;
    if (!json_is_object(r->slot.value)) {
        cdr_schema_reading_report(r, &r->slot, "an object of schemas");
        return;
    }
    node->by_pattern = cdr_arena_alloc(arena, (n + 1) * sizeof(*node->by_pattern));
    r->maker->plan->no_memory |= !node->by_pattern;
    json_object_foreach(cdr_json_iterable(r->slot.value), key, schema)
    {
        cdr_schema_slot member = {schema, r->slot.value, key, 0};
        if (!node->by_pattern)
            return;
        cdr_schema_by_pattern *one = &node->by_pattern[node->n_by_pattern];
        one->node = cdr_schema_make_below(r->maker, &member);
        cdr_schema_walk_enter(&r->maker->walk, &member);
        node->n_by_pattern += make_pattern(r, &member, key, &one->pattern);
        cdr_schema_walk_leave(&r->maker->walk);
    }
}
