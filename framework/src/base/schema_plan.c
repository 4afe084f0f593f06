// See schema_plan.h.
#include "base/schema_plan.h"

#include "base/json_same.h"
#include "base/schema.h"

#include <stdio.h>
#include <stdlib.h>

#define DEFAULTS_STEPS 1000000

// --- Nodes ---

// The schemas `true` and `false`, of which jansson has one each.
#define ANY_NUMBER                                                                     \
    {                                                                                  \
        0, INT64_MAX                                                                   \
    }
#define NO_WORDS .characters = ANY_NUMBER, .elements = ANY_NUMBER, .members = ANY_NUMBER

static const cdr_schema_node everything = {NO_WORDS};
static const cdr_schema_node nothing = {.is_nothing = true, NO_WORDS};

static size_t slot_of(const cdr_schema_plan *plan, const json_t *json)
{
    uint64_t hash = (uint64_t)(uintptr_t)json * 0x9e3779b97f4a7c15ULL;
    size_t at = (size_t)(hash >> 20) & (plan->capacity - 1);
    while (plan->table[at] && plan->table[at]->json != json)
        at = (at + 1) & (plan->capacity - 1);
    return at;
}

const cdr_schema_node *cdr_schema_plan_find(const cdr_schema_plan *plan,
                                            const json_t *json)
{
    if (json_is_boolean(json))
        return json_is_true(json) ? &everything : &nothing;
    return json && plan->capacity > 0 ? plan->table[slot_of(plan, json)] : NULL;
}

static bool grow(cdr_schema_plan *plan)
{
    cdr_schema_node **old = plan->table;
    size_t old_capacity = plan->capacity;
    size_t capacity = old_capacity > 0 ? 2 * old_capacity : 32;
    cdr_schema_node **table = calloc(capacity, sizeof(cdr_schema_node *));
    if (!table)
        return false;
    plan->table = table;
    plan->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i])
            table[slot_of(plan, old[i]->json)] = old[i];
    }
    free(old);
    return true;
}

static cdr_schema_node *add_node(cdr_schema_maker *maker, const json_t *json)
{
    cdr_schema_plan *plan = maker->plan;
    if (2 * (plan->n_nodes + 1) > plan->capacity && !grow(plan))
        return NULL;
    cdr_schema_node *node = cdr_arena_alloc(&plan->arena, sizeof(*node));
    if (!node)
        return NULL;
    *node = (cdr_schema_node){
        .json = json,
        .index = plan->n_nodes,
        .resource = maker->resource,
        .outside = maker->resource,
        .contained = {1, INT64_MAX},
        NO_WORDS,
    };
    plan->table[slot_of(plan, json)] = node;
    plan->n_nodes++;
    return node;
}

// A schema that one program put into two places is one node; it cannot be relative to
// two ids.
static const cdr_schema_node *use_again(cdr_schema_maker *maker,
                                        const cdr_schema_slot *slot,
                                        const cdr_schema_node *node)
{
    if (node->outside != maker->resource)
        cdr_schema_walk_report(&maker->walk, slot,
                               "is used under two ids; write it out twice");
    return node;
}

const cdr_schema_node *cdr_schema_make_node(cdr_schema_maker *maker,
                                            const cdr_schema_slot *slot)
{
    char got[CDR_BRIEF_SIZE];
    const json_t *json = slot->value;
    if (maker->walk.depth > CDR_SCHEMA_MAX_DEPTH) {
        cdr_schema_walk_report(&maker->walk, slot, "nested deeper than %d",
                               CDR_SCHEMA_MAX_DEPTH);
        return &everything;
    }
    if (!json_is_boolean(json) && !json_is_object(json)) {
        cdr_schema_walk_report(&maker->walk, slot,
                               "expected a schema (an object, true or false), got %s",
                               cdr_brief_json(got, json));
        return &everything;
    }
    const cdr_schema_node *known = cdr_schema_plan_find(maker->plan, json);
    if (known)
        return known->json ? use_again(maker, slot, known) : known;
    cdr_schema_node *node = add_node(maker, json);
    if (!node) {
        maker->plan->no_memory = true;
        return NULL;
    }
    int n_problems = maker->walk.n_problems;
    cdr_schema_read_words(maker, node);
    node->is_flawed = maker->walk.n_problems > n_problems;
    return node;
}

const cdr_schema_node *cdr_schema_make_below(cdr_schema_maker *maker,
                                             const cdr_schema_slot *slot)
{
    cdr_schema_walk_enter(&maker->walk, slot);
    const cdr_schema_node *node = cdr_schema_make_node(maker, slot);
    cdr_schema_walk_leave(&maker->walk);
    return node;
}

bool cdr_schema_note_add(cdr_schema_maker *maker, cdr_schema_notes *notes,
                         cdr_schema_node *node)
{
    cdr_arena *arena = &maker->plan->arena;
    const char *path = cdr_arena_text(arena, cdr_schema_walk_path(&maker->walk));
    cdr_schema_note *items =
        cdr_arena_grow(arena, notes->items, notes->count, sizeof(*items));
    if (!path || !items) {
        maker->plan->no_memory = true;
        return false;
    }
    notes->items = items;
    notes->items[notes->count++] = (cdr_schema_note){node, path};
    return true;
}

// --- Long lists of values ---

#define SHORT_LIST 8
#define MAX_PROBES 64

static size_t row_of(const cdr_schema_value_table *table, uint64_t hash)
{
    return (size_t)(hash >> 8) & (table->capacity - 1);
}

// False: too many values look alike; they are better looked at one by one.
static bool add_row(cdr_schema_value_table *table, size_t i)
{
    int64_t steps = INT64_MAX;
    uint64_t hash = cdr_json_hash(json_array_get(table->values, i), &steps);
    size_t at = row_of(table, hash);
    for (int n = 0; table->rows[at] > 0; n++) {
        const size_t other = table->rows[at] - 1;
        if (n == MAX_PROBES)
            return false;
        if (table->hashes[other] == hash &&
            cdr_json_is_same(json_array_get(table->values, other),
                             json_array_get(table->values, i), &steps))
            return true; // it is listed twice
        at = (at + 1) & (table->capacity - 1);
    }
    table->hashes[i] = hash;
    table->rows[at] = i + 1;
    return true;
}

const cdr_schema_value_table *cdr_schema_value_table_new(cdr_schema_plan *plan,
                                                         const json_t *values)
{
    size_t n = json_array_size(values);
    if (n <= SHORT_LIST)
        return NULL;
    cdr_schema_value_table *table = cdr_arena_alloc(&plan->arena, sizeof(*table));
    if (!table)
        return NULL;
    table->values = values;
    for (table->capacity = 32; table->capacity < 2 * n;)
        table->capacity *= 2;
    table->hashes = cdr_arena_alloc(&plan->arena, n * sizeof(*table->hashes));
    table->rows = cdr_arena_alloc(&plan->arena, table->capacity * sizeof(*table->rows));
    if (!table->hashes || !table->rows)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (!add_row(table, i))
            return NULL;
    }
    return table;
}

bool cdr_schema_value_table_has(const cdr_schema_value_table *table,
                                const json_t *value, int64_t *steps)
{
    uint64_t hash = cdr_json_hash(value, steps);
    size_t at = row_of(table, hash);
    for (; table->rows[at] > 0; at = (at + 1) & (table->capacity - 1)) {
        size_t i = table->rows[at] - 1;
        if (--*steps < 0)
            return false;
        if (table->hashes[i] == hash &&
            cdr_json_is_same(json_array_get(table->values, i), value, steps))
            return true;
    }
    return false;
}

// --- Plans ---

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

// A default that its own schema refuses would fail every run that leaves it alone. Only
// a sound schema can judge its default.
static void check_defaults(cdr_schema_maker *maker)
{
    int64_t steps = DEFAULTS_STEPS;
    for (size_t i = 0; i < maker->defaults.count && !maker->is_lost; i++) {
        const cdr_schema_note *note = &maker->defaults.items[i];
        cdr_schema_slot preset = cdr_schema_member(note->node->json, "default");
        first_problem first = {{0}};
        if (note->node->is_flawed ||
            cdr_schema_check_node(maker->plan, note->node, preset.value, &steps,
                                  &(cdr_schema_ear){keep_first, &first, NULL}) == 0)
            continue;
        cdr_schema_walk_report_at(&maker->walk, note->path, &preset,
                                  "the default does not fit: %s", first.text);
    }
}

static cdr_draft draft_of(const json_t *schema)
{
    const char *uri = json_string_value(json_object_get(schema, "$schema"));
    return uri ? cdr_schema_draft_named(uri) : CDR_DRAFT_ANY;
}

static void make_plan(cdr_schema_maker *maker, const json_t *schema)
{
    cdr_schema_plan *plan = maker->plan;
    cdr_schema_slot root = {schema, NULL, NULL, 0};
    cdr_schema_resource *resource = cdr_arena_alloc(&plan->arena, sizeof(*resource));
    maker->places = json_object();
    plan->no_memory = !resource || !maker->places;
    if (plan->no_memory)
        return;
    *resource = (cdr_schema_resource){"", schema};
    maker->top = resource;
    maker->resource = resource;
    plan->draft = draft_of(schema);
    plan->root = cdr_schema_make_node(maker, &root);
    plan->has_defaults = maker->defaults.count > 0;
    cdr_schema_refs_follow(maker);
    cdr_schema_cycles_refuse(maker);
    plan->no_memory |= maker->walk.path.failed;
    if (!plan->no_memory)
        check_defaults(maker);
}

cdr_schema_plan *cdr_schema_plan_new(const json_t *schema,
                                     cdr_schema_on_problem on_problem, void *ctx,
                                     int *n_problems)
{
    cdr_schema_plan *plan = calloc(1, sizeof(*plan));
    if (!plan)
        return NULL;
    plan->arena = (cdr_arena)CDR_ARENA_INIT;
    cdr_schema_maker maker = {.plan = plan};
    cdr_schema_walk_init(&maker.walk, on_problem, ctx);
    make_plan(&maker, schema);
    if (n_problems)
        *n_problems = maker.walk.n_problems;
    cdr_schema_walk_fini(&maker.walk);
    json_decref(maker.places);
    if (plan->no_memory) {
        cdr_schema_plan_free(plan);
        return NULL;
    }
    return plan;
}

void cdr_schema_plan_free(cdr_schema_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_patterns; i++)
        cdr_schema_pattern_fini(plan->patterns[i]);
    cdr_arena_fini(&plan->arena);
    free(plan->table);
    free(plan);
}
