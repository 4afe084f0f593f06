// unevaluatedProperties and unevaluatedItems: what must hold of the members and
// elements that no other schema of a value has looked at.
//
// Those schemas are the node itself and what it adds for the same value: $ref, allOf,
// of alternatives and conditions those that fit. They are gathered once for a value,
// when all else of the node fits; what does not fit has looked at nothing.
#include "base/schema_judge.h"

#include "base/json_iterable.h"

#include <stdlib.h>
#include <string.h>

typedef struct gathering {
    cdr_schema_judge *judge;
    const cdr_schema_slot *slot;
    const cdr_schema_node **nodes; // the first is the one whose rest is judged
    size_t n_nodes, capacity;
} gathering;

static void gather(gathering *g, const cdr_schema_node *node);

static void add(gathering *g, const cdr_schema_node *node)
{
    if (g->n_nodes == g->capacity) {
        size_t capacity = g->capacity > 0 ? 2 * g->capacity : 8;
        const cdr_schema_node **nodes =
            realloc(g->nodes, capacity * sizeof(const cdr_schema_node *));
        if (!nodes) {
            cdr_schema_judge_stop(g->judge, g->slot, "cannot be checked: no memory");
            return;
        }
        g->nodes = nodes;
        g->capacity = capacity;
    }
    g->nodes[g->n_nodes++] = node;
}

static bool fits(const gathering *g, const cdr_schema_node *node)
{
    return cdr_schema_judge_fits(g->judge, node, g->slot);
}

static void gather_fitting(gathering *g, const cdr_schema_nodes *choices)
{
    for (size_t i = 0; i < choices->count && !g->judge->is_stopped; i++) {
        if (fits(g, choices->items[i]))
            gather(g, choices->items[i]);
    }
}

static void gather_condition(gathering *g, const cdr_schema_node *node)
{
    bool holds = node->condition && fits(g, node->condition);
    if (holds)
        gather(g, node->condition);
    if (node->condition)
        gather(g, holds ? node->then : node->otherwise);
}

static void gather(gathering *g, const cdr_schema_node *node)
{
    if (!node || !cdr_schema_judge_spend(g->judge, g->slot, 1))
        return;
    add(g, node);
    gather(g, node->same_as);
    for (size_t i = 0; i < node->all_of.count && !g->judge->is_stopped; i++)
        gather(g, node->all_of.items[i]);
    gather_fitting(g, &node->any_of);
    gather_fitting(g, &node->one_of);
    gather_condition(g, node);
    for (size_t i = 0; i < node->n_dependents && !g->judge->is_stopped; i++) {
        const cdr_schema_dependent *one = &node->dependents[i];
        if (json_object_get(g->slot->value, one->key))
            gather(g, one->node);
    }
}

// --- Members ---

static bool has_seen_member(const gathering *g, size_t i, const cdr_schema_slot *member)
{
    const cdr_schema_node *node = g->nodes[i];
    size_t len = strlen(member->key);
    if (node->others || (i > 0 && node->rest_members) ||
        json_object_get(node->properties, member->key))
        return true;
    for (size_t k = 0; k < node->n_by_pattern; k++) {
        if (cdr_schema_judge_pattern(g->judge, &node->by_pattern[k].pattern, member,
                                     member->key, len))
            return true;
    }
    return false;
}

static bool judge_members(gathering *g)
{
    const cdr_schema_node *rest = g->nodes[0]->rest_members;
    bool all_fit = true;
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(g->slot->value), key, value)
    {
        cdr_schema_slot member = {value, g->slot->value, key, 0};
        size_t i = 0;
        if (!cdr_schema_judge_spend(g->judge, g->slot, g->n_nodes))
            return false;
        while (i < g->n_nodes && !has_seen_member(g, i, &member))
            i++;
        if (i < g->n_nodes || g->judge->is_stopped)
            continue;
        if (rest->is_nothing)
            cdr_schema_tell_unseen(g->judge, &member);
        all_fit &= !rest->is_nothing && cdr_schema_judge_below(g->judge, rest, &member);
    }
    return all_fit;
}

// --- Elements ---

// In 2019-09 what `contains` finds counts as not looked at.
static bool has_found(const gathering *g, const cdr_schema_node *node,
                      const cdr_schema_slot *element)
{
    if (!node->contains || g->judge->plan->draft == CDR_DRAFT_2019)
        return false;
    cdr_schema_walk_enter(&g->judge->walk, element);
    bool is_found = cdr_schema_judge_fits(g->judge, node->contains, element);
    cdr_schema_walk_leave(&g->judge->walk);
    return is_found;
}

static bool judge_elements(gathering *g)
{
    const cdr_schema_node *rest = g->nodes[0]->rest_elements;
    bool all_fit = true;
    for (size_t k = 0; k < json_array_size(g->slot->value); k++) {
        cdr_schema_slot element = cdr_schema_element(g->slot->value, k);
        bool is_seen = false;
        if (!cdr_schema_judge_spend(g->judge, g->slot, g->n_nodes))
            return false;
        for (size_t i = 0; i < g->n_nodes && !is_seen; i++) {
            const cdr_schema_node *node = g->nodes[i];
            is_seen = k < node->first.count || node->items ||
                      (i > 0 && node->rest_elements) || has_found(g, node, &element);
        }
        if (!is_seen && !g->judge->is_stopped)
            all_fit &= cdr_schema_judge_below(g->judge, rest, &element);
    }
    return all_fit;
}

bool cdr_schema_judge_rest(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    bool has_members = node->rest_members && json_is_object(slot->value);
    bool has_elements = node->rest_elements && json_is_array(slot->value);
    gathering g = {.judge = judge, .slot = slot};
    bool all_fit = true;
    if (!has_members && !has_elements)
        return true;
    gather(&g, node);
    if (g.nodes && !judge->is_stopped)
        all_fit = has_members ? judge_members(&g) : judge_elements(&g);
    free(g.nodes);
    return all_fit && !judge->is_stopped;
}
