// Filling in what a value leaves to its schema's defaults.
//
// A copy is filled in place, for a schema and for those it adds to it ($ref, allOf) one
// after the other: the first default that is found for a property is taken.
#include "base/schema_plan.h"

#include "base/json_iterable.h"
#include "base/json_same.h"
#include "base/pattern.h"

#include <string.h>

#define STEPS 1000000
#define STEPS_A_VALUE 128
#define PATTERNS_NS 500000000

typedef struct filling {
    const cdr_schema_plan *plan;
    int64_t steps;       // what fits its schema takes fewer than the check did
    int64_t deadline_ns; // of all patterns together
    int nesting;
    bool no_memory;
} filling;

static void fill(filling *f, const cdr_schema_node *node, json_t *value);

static void add_missing(filling *f, const cdr_schema_node *node, json_t *object)
{
    const char *key;
    json_t *property;
    json_object_foreach(cdr_json_iterable(node->properties), key, property)
    {
        const json_t *preset = json_object_get(property, "default");
        if (preset && !json_object_get(object, key))
            f->no_memory |=
                json_object_set_new(object, key, json_deep_copy(preset)) != 0;
    }
}

static void fill_member(filling *f, const cdr_schema_node *node, const char *key,
                        json_t *value)
{
    const json_t *property = json_object_get(node->properties, key);
    bool is_known = property != NULL;
    if (property)
        fill(f, cdr_schema_plan_find(f->plan, property), value);
    for (size_t i = 0; i < node->n_by_pattern; i++) {
        const cdr_schema_by_pattern *one = &node->by_pattern[i];
        if (cdr_schema_pattern_fits(&one->pattern, key, strlen(key), f->deadline_ns) !=
            CDR_FITS)
            continue;
        is_known = true;
        fill(f, one->node, value);
    }
    if (!is_known && node->others)
        fill(f, node->others, value);
}

static void fill_object(filling *f, const cdr_schema_node *node, json_t *object)
{
    const char *key;
    json_t *value;
    add_missing(f, node, object);
    json_object_foreach(object, key, value) fill_member(f, node, key, value);
}

static void fill_array(filling *f, const cdr_schema_node *node, const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const cdr_schema_node *element = node->items;
        if (i < node->first.count)
            element = node->first.items[i];
        if (element)
            fill(f, element, json_array_get(array, i));
    }
}

static void fill(filling *f, const cdr_schema_node *node, json_t *value)
{
    bool is_container = json_is_object(value) || json_is_array(value);
    if (!is_container || !node || --f->steps < 0 || f->nesting > CDR_SCHEMA_MAX_DEPTH)
        return;
    f->nesting++;
    if (json_is_object(value))
        fill_object(f, node, value);
    else
        fill_array(f, node, value);
    if (node->same_as)
        fill(f, node->same_as, value);
    for (size_t i = 0; i < node->all_of.count; i++)
        fill(f, node->all_of.items[i], value);
    f->nesting--;
}

json_t *cdr_schema_with_defaults(const json_t *schema, const json_t *value)
{
    cdr_schema_plan *plan = cdr_schema_plan_new(schema, NULL, NULL, NULL);
    json_t *copy = plan ? json_deep_copy(value) : NULL;
    filling f = {
        .plan = plan, .steps = STEPS, .deadline_ns = cdr_cpu_now_ns() + PATTERNS_NS};
    if (copy) {
        f.steps += STEPS_A_VALUE *
                   cdr_json_measure(copy, CDR_SCHEMA_MAX_DEPTH, INT32_MAX).n_values;
        fill(&f, plan->root, copy);
    }
    cdr_schema_plan_free(plan);
    if (f.no_memory) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}
