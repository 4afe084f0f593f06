// A team as it is drawn: each place where an agent, or what is no agent, works. An
// agent that is a member twice has two.
//
// Thread: one thread.
#ifndef CLI_TEAM_PLACES_H
#define CLI_TEAM_PLACES_H

#include <cadre/cadre.h>

// A team with more places is not drawn.
#define CLI_TEAM_PLACES_MAX 100000

typedef struct cli_place {
    cadre_shape_node node; // as its parent has it; of the root, made up
    cadre_shape *shape;    // owned; of its agent; NULL: none works here
    int parent;            // index of a place before this one; -1: the root
    size_t first_child;    // its nodes are places that follow one another
    bool marks_ends;       // not all that are below it may give the answer
    // The shape's edges by the node they leave, in the order they were told: those of
    // node i are edges[starts[i]] up to edges[starts[i + 1]]. Owned.
    const cadre_shape_edge **edges;
    size_t *starts;
} cli_place;

typedef struct cli_places {
    cli_place *items;
    size_t count;
} cli_places;

// Finds all places of a sound team, those that are less deep first. Errors: ENOMEM,
// EINVAL, ELIMIT. Free it in all cases.
cadre_status cli_places_init(cli_places *places, const cadre_team *team,
                             cadre_error *err);
void cli_places_fini(cli_places *places);

// The next place of a walk in depth that starts at 0; `*n_left` says how many places
// with others in them are left on the way. The number of places: the walk is over.
size_t cli_places_next(const cli_places *places, size_t at, int *n_left);

// What is below a place; n_nodes 0: nothing.
const cadre_shape_info *cli_place_shape(const cli_place *place);

// What a place is called and what works there; borrowed from the team.
const char *cli_place_type(const cli_place *place);
// The agent's name where the place has another; else NULL.
const char *cli_place_agent(const cli_place *place);
cadre_tools cli_place_tools(const cli_place *place);
// Is it worth telling that its answer may be the answer of its parent?
bool cli_place_is_end(const cli_places *places, const cli_place *place);

#endif
