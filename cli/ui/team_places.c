// See team_places.h.
#include "team_places.h"

#include <stdlib.h>
#include <string.h>

static cadre_status add(cli_places *places, const cadre_shape_node *node, int parent,
                        cadre_error *err)
{
    size_t n = places->count;

    if (n == CLI_TEAM_PLACES_MAX)
        return cadre_fail(err, CADRE_ELIMIT, "the team has more than %d places to draw",
                          CLI_TEAM_PLACES_MAX);
    // Doubles when it is full: at 0, 1, 2, 4, ...
    if ((n & (n - 1)) == 0) {
        size_t capacity = n == 0 ? 1 : n * 2;
        cli_place *items = realloc(places->items, capacity * sizeof(*items));
        if (!items)
            return cadre_fail(err, CADRE_ENOMEM, "out of memory");
        places->items = items;
    }
    places->items[n] = (cli_place){.node = *node, .parent = parent};
    places->count++;
    return node->agent ? cadre_shape_new(node->agent, &places->items[n].shape, err)
                       : CADRE_OK;
}

// Counts what leaves each node, then puts each edge in its place.
static cadre_status sort_edges(cli_place *place, cadre_error *err)
{
    const cadre_shape_info *shape = cli_place_shape(place);

    place->edges = calloc(shape->n_edges + 1, sizeof(*place->edges));
    place->starts = calloc(shape->n_nodes + 2, sizeof(*place->starts));
    if (!place->edges || !place->starts)
        return cadre_fail(err, CADRE_ENOMEM, "out of memory");
    // Shifted by one more, so that filling moves each start to where it belongs.
    for (size_t i = 0; i < shape->n_edges; i++)
        place->starts[shape->edges[i].from + 2]++;
    for (size_t i = 2; i < shape->n_nodes + 2; i++)
        place->starts[i] += place->starts[i - 1];
    for (size_t i = 0; i < shape->n_edges; i++)
        place->edges[place->starts[shape->edges[i].from + 1]++] = &shape->edges[i];
    return CADRE_OK;
}

static cadre_status add_children(cli_places *places, size_t at, cadre_error *err)
{
    const cadre_shape_info *shape = cli_place_shape(&places->items[at]);
    bool marks_ends = false;
    cadre_status status = sort_edges(&places->items[at], err);

    places->items[at].first_child = places->count;
    for (size_t i = 0; i < shape->n_nodes && status == CADRE_OK; i++) {
        marks_ends |= shape->is_known && !shape->nodes[i].is_end;
        status = add(places, &shape->nodes[i], (int)at, err);
    }
    places->items[at].marks_ends = marks_ends;
    return status;
}

cadre_status cli_places_init(cli_places *places, const cadre_team *team,
                             cadre_error *err)
{
    const cadre_agent *root = cadre_team_root(team);
    const cadre_shape_node node = {.name = cadre_agent_get_info(root)->name,
                                   .agent = root,
                                   .what = "",
                                   .is_reached = true,
                                   .max_runs = 1};

    *places = (cli_places){0};
    cadre_status status = add(places, &node, -1, err);
    for (size_t i = 0; i < places->count && status == CADRE_OK; i++)
        status = add_children(places, i, err);
    return status;
}

void cli_places_fini(cli_places *places)
{
    for (size_t i = 0; i < places->count; i++) {
        cadre_shape_free(places->items[i].shape);
        free(places->items[i].edges);
        free(places->items[i].starts);
    }
    free(places->items);
}

const cadre_shape_info *cli_place_shape(const cli_place *place)
{
    return cadre_shape_get_info(place->shape);
}

size_t cli_places_next(const cli_places *places, size_t at, int *n_left)
{
    const cli_place *place = &places->items[at];

    *n_left = 0;
    if (cli_place_shape(place)->n_nodes > 0)
        return place->first_child;
    while (place->parent >= 0) {
        const cli_place *parent = &places->items[place->parent];
        if (at + 1 < parent->first_child + cli_place_shape(parent)->n_nodes)
            return at + 1;
        at = (size_t)place->parent;
        place = parent;
        ++*n_left;
    }
    return places->count;
}

const char *cli_place_type(const cli_place *place)
{
    return place->node.agent ? cadre_agent_get_info(place->node.agent)->type
                             : place->node.what;
}

const char *cli_place_agent(const cli_place *place)
{
    const char *name = cadre_agent_get_info(place->node.agent)->name;

    return place->node.agent && strcmp(name, place->node.name) != 0 ? name : NULL;
}

cadre_tools cli_place_tools(const cli_place *place)
{
    return cadre_agent_tools(place->node.agent);
}

bool cli_place_is_end(const cli_places *places, const cli_place *place)
{
    return place->node.is_end && place->parent >= 0 &&
           places->items[place->parent].marks_ends;
}
