// Schemas that would be checked for ever: from one to itself for the same value.
//
// The search goes only along words that look at the same value ($ref, allOf, ...);
// `properties` and `items` go down into a smaller one, so recursion through them ends.
// It goes as deep as schemas may nest and remembers heights, so it is linear.
#include "base/schema_plan.h"

#include <stdlib.h>

#define UNDER_WAY (-1)

typedef struct search {
    cdr_schema_maker *maker;
    const cdr_schema_note *start; // the reference it starts from
    int *heights;                 // by the index of a node; 0: not known yet
    bool is_over;
} search;

static int height_of(search *s, const cdr_schema_node *node, int depth);

static void report(search *s, const char *text)
{
    cdr_schema_slot slot = cdr_schema_member(s->start->node->json, "$ref");
    s->is_over = true;
    s->maker->is_lost = true;
    cdr_schema_walk_report_at(&s->maker->walk, s->start->path, &slot, "%s", text);
}

static int highest(search *s, const cdr_schema_nodes *nodes, int depth)
{
    int height = 0;
    for (size_t i = 0; i < nodes->count && !s->is_over; i++) {
        int below = height_of(s, nodes->items[i], depth);
        height = below > height ? below : height;
    }
    return height;
}

static int highest_dependent(search *s, const cdr_schema_node *node, int depth)
{
    int height = 0;
    for (size_t i = 0; i < node->n_dependents && !s->is_over; i++) {
        int below = height_of(s, node->dependents[i].node, depth);
        height = below > height ? below : height;
    }
    return height;
}

static int highest_below(search *s, const cdr_schema_node *node, int depth)
{
    const cdr_schema_node *single[] = {node->same_as, node->not_this, node->condition,
                                       node->then, node->otherwise};
    int heights[] = {
        highest(s, &(cdr_schema_nodes){single, sizeof(single) / sizeof(*single)},
                depth),
        highest(s, &node->all_of, depth),
        highest(s, &node->any_of, depth),
        highest(s, &node->one_of, depth),
        highest_dependent(s, node, depth),
    };
    int height = 0;
    for (size_t i = 0; i < sizeof(heights) / sizeof(*heights); i++)
        height = heights[i] > height ? heights[i] : height;
    return height;
}

static int height_of(search *s, const cdr_schema_node *node, int depth)
{
    if (!node || !node->json || s->is_over)
        return 0;
    int *height = &s->heights[node->index];
    if (*height == UNDER_WAY) {
        report(s, "leads back to itself for the same value, without an end");
        return 0;
    }
    if (*height == 0 && depth <= CDR_SCHEMA_MAX_DEPTH) {
        *height = UNDER_WAY;
        *height = 1 + highest_below(s, node, depth + 1);
    }
    if (!s->is_over && (*height == 0 || *height > CDR_SCHEMA_MAX_DEPTH))
        report(s, "leads through too many schemas for the same value");
    return *height;
}

void cdr_schema_cycles_refuse(cdr_schema_maker *maker)
{
    search s = {.maker = maker};
    s.heights = calloc(maker->plan->n_nodes + 1, sizeof(int));
    if (!s.heights) {
        maker->plan->no_memory = true;
        return;
    }
    for (size_t i = 0; i < maker->refs.count && !s.is_over; i++) {
        s.start = &maker->refs.items[i];
        height_of(&s, s.start->node, 1);
    }
    free(s.heights);
}
