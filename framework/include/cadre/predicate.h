// Predicates: conditions of a team's topologies that are functions of the program.
// Options name one where they take an expression: "when": {"call": "is_done"}.
//
// Thread: called on the thread of the frame that decides; one function serves all runs
// of its team at once.
#ifndef CADRE_PREDICATE_H
#define CADRE_PREDICATE_H

#include "cadre/team.h"

#ifdef __cplusplus
extern "C" {
#endif

// What it may look at, for the time of the call. NULL or 0: there is none.
typedef struct cadre_predicate_values {
    size_t struct_size;
    const char *input;         // of the topology
    const char *last_response; // of a graph: of the node whose edge it is
    const char *output;        // the same
    const json_t *state;       // an object
    const json_t *outputs;     // an object: texts by agent; of a graph, by node
    int iteration;             // of a graph: the step, from 1
} cadre_predicate_values;

// Decides. New reference: true or false for a condition, the name of a node or a list
// of names for a route. NULL with `err`: it failed, and so does its topology. Pure: it
// is called again on resume. Locks: none. May not block.
typedef json_t *(*cadre_predicate_run)(void *ctx, const cadre_predicate_values *values,
                                       cadre_error *err);

typedef struct cadre_predicate {
    const char *name;
    cadre_predicate_run run;
    void *ctx; // must live as long as the team
} cadre_predicate;

// Adds one under a name of its own. What is wrong is told by sealing.
CADRE_API void cadre_team_add_predicate(cadre_team *team, const char *name,
                                        cadre_predicate_run run, void *ctx);

#ifdef __cplusplus
}
#endif

#endif
