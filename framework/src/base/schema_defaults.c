// Filling in what a value leaves to its schema's defaults.
//
// 1. A value has a list of schemas: its own, and those that $ref and allOf add. All of
//    them fill in what they miss before any goes down into a member, so that filling
//    again adds nothing; the first default that is found is taken.
// 2. A default that does not go with the rest (`oneOf`, `maxProperties`) spoils no
//    value that was good: then none is filled in.
#include "base/schema_plan.h"

#include "base/json_iterable.h"
#include "base/json_same.h"
#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>

#define STEPS 1000000
#define STEPS_A_VALUE 128
#define PATTERNS_NS 500000000

typedef struct filling {
    const cdr_schema_plan *plan;
    int64_t steps;       // what fits its schema takes fewer than the check did
    int64_t deadline_ns; // of all patterns together
    int nesting;
    // The lists of the values on the way to here, one behind the other.
    const cdr_schema_node **nodes;
    size_t n_nodes, capacity;
    bool has_added, no_memory;
} filling;

static void push(filling *f, const cdr_schema_node *node)
{
    if (!node || --f->steps < 0 || f->no_memory)
        return;
    if (f->n_nodes == f->capacity) {
        size_t capacity = f->capacity > 0 ? 2 * f->capacity : 32;
        const cdr_schema_node **nodes =
            realloc(f->nodes, capacity * sizeof(const cdr_schema_node *));
        if (!nodes) {
            f->no_memory = true;
            return;
        }
        f->nodes = nodes;
        f->capacity = capacity;
    }
    f->nodes[f->n_nodes++] = node;
}

static void add_missing(filling *f, const cdr_schema_node *node, json_t *object)
{
    const char *key;
    json_t *property;
    json_object_foreach(cdr_json_iterable(node->properties), key, property)
    {
        const json_t *preset = json_object_get(property, "default");
        if (!preset || json_object_get(object, key))
            continue;
        f->has_added = true;
        f->no_memory |= json_object_set_new(object, key, json_deep_copy(preset)) != 0;
    }
}

static void push_of_member(filling *f, const cdr_schema_node *node, const char *key)
{
    const json_t *property = json_object_get(node->properties, key);
    bool is_known = property != NULL;
    if (property)
        push(f, cdr_schema_plan_find(f->plan, property));
    for (size_t i = 0; i < node->n_by_pattern; i++) {
        const cdr_schema_by_pattern *one = &node->by_pattern[i];
        if (cdr_schema_pattern_fits(&one->pattern, key, strlen(key), f->deadline_ns) !=
            CDR_FITS)
            continue;
        is_known = true;
        push(f, one->node);
    }
    if (!is_known)
        push(f, node->others);
}

// Fills a value in; its schemas are those from `from` on, and are taken off.
static void fill(filling *f, size_t from, json_t *value);

static void fill_object(filling *f, size_t from, json_t *object)
{
    const char *key;
    json_t *value;
    size_t end = f->n_nodes;
    for (size_t i = from; i < end; i++)
        add_missing(f, f->nodes[i], object);
    json_object_foreach(object, key, value)
    {
        for (size_t i = from; i < end; i++)
            push_of_member(f, f->nodes[i], key);
        fill(f, end, value);
    }
}

static void fill_array(filling *f, size_t from, const json_t *array)
{
    size_t end = f->n_nodes;
    for (size_t k = 0; k < json_array_size(array); k++) {
        for (size_t i = from; i < end; i++) {
            const cdr_schema_node *node = f->nodes[i];
            push(f, k < node->first.count ? node->first.items[k] : node->items);
        }
        fill(f, end, json_array_get(array, k));
    }
}

static void fill(filling *f, size_t from, json_t *value)
{
    bool is_container = json_is_object(value) || json_is_array(value);
    if (is_container && f->n_nodes > from && f->nesting <= CDR_SCHEMA_MAX_DEPTH) {
        for (size_t i = from; i < f->n_nodes; i++) {
            const cdr_schema_node *node = f->nodes[i];
            push(f, node->same_as);
            for (size_t k = 0; k < node->all_of.count; k++)
                push(f, node->all_of.items[k]);
        }
        f->nesting++;
        if (json_is_object(value))
            fill_object(f, from, value);
        else
            fill_array(f, from, value);
        f->nesting--;
    }
    f->n_nodes = from;
}

static bool is_good(const cdr_schema_plan *plan, const json_t *value)
{
    return cdr_schema_check_whole(plan, value, &(cdr_schema_ear){NULL, NULL, NULL}) ==
           0;
}

json_t *cdr_schema_fill(const cdr_schema_plan *plan, const json_t *value, bool is_known)
{
    json_t *copy = json_deep_copy(value);
    filling f = {.plan = plan,
                 .steps = STEPS,
                 .deadline_ns = cdr_cpu_now_ns() + PATTERNS_NS,
                 .no_memory = !copy};
    if (copy) {
        f.steps += STEPS_A_VALUE *
                   cdr_json_measure(copy, CDR_SCHEMA_MAX_DEPTH, INT32_MAX).n_values;
        push(&f, plan->root);
        fill(&f, 0, copy);
    }
    free(f.nodes);
    if (!f.no_memory && f.has_added && !is_good(plan, copy) &&
        (is_known || is_good(plan, value))) {
        json_decref(copy);
        copy = json_deep_copy(value);
        f.no_memory = !copy;
    }
    if (f.no_memory)
        json_decref(copy);
    return f.no_memory ? NULL : copy;
}

json_t *cdr_schema_with_defaults(const json_t *schema, const json_t *value)
{
    cdr_schema_plan *plan = cdr_schema_plan_new(schema, NULL, NULL, NULL);
    json_t *copy = plan ? cdr_schema_fill(plan, value, false) : NULL;
    cdr_schema_plan_free(plan);
    return copy;
}
