// Shapes: what is known of an agent and of a whole team before anything runs. For
// drawing them, and for proving what a run can cost at most.
//
// 1. A shape is of one agent: its members as nodes, and how the work goes from one to
//    the next. What a member is made of is its own shape.
// 2. An agent whose type tells nothing of its shape has its members as nodes and no
//    edges, and is not known (is_known): nothing may be concluded from it.
// 3. A bound counts too much rather than too little. CADRE_UNLIMITED: none is known.
//
// Thread: any; a shape is one thread's at a time.
#ifndef CADRE_SHAPE_H
#define CADRE_SHAPE_H

#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_shape cadre_shape;

// A place in the work of an agent: a member, or something that is no agent.
typedef struct cadre_shape_node {
    const char *name;         // of the node; mostly that of its agent
    const cadre_agent *agent; // NULL: no agent works here
    const char *what;         // what does, then ("human", "tool", ...); else ""
    bool is_entry;            // gets the input
    bool is_end;              // its answer may be the answer of all
    bool is_reached;          // from an entry, along the edges
    int64_t max_runs;         // so often at most in one run of the agent
} cadre_shape_node;

typedef enum cadre_shape_edge_kind {
    CADRE_SHAPE_ALWAYS, // the work goes on there
    CADRE_SHAPE_MAYBE,  // it does when the label says so, or a model wants it
    CADRE_SHAPE_BACK    // the same, and leads back: a loop
} cadre_shape_edge_kind;

typedef struct cadre_shape_edge {
    size_t from, to;   // their nodes
    const char *label; // "" when there is none
    cadre_shape_edge_kind kind;
} cadre_shape_edge;

// All of it lives as long as the shape.
typedef struct cadre_shape_info {
    const cadre_agent *agent;
    const cadre_shape_node *nodes;
    size_t n_nodes;
    const cadre_shape_edge *edges;
    size_t n_edges;
    int64_t max_runs;        // of all its nodes together
    int64_t max_model_calls; // its own, without those of its members
    bool is_known;
} cadre_shape_info;

// Finds the shape of an agent of a sealed team without mistakes. Errors: EINVAL (no
// such team; the type told of a node that is not there), ENOMEM.
CADRE_API cadre_status cadre_shape_new(const cadre_agent *agent, cadre_shape **out,
                                       cadre_error *err);
CADRE_API void cadre_shape_free(cadre_shape *shape); // NULL ok

// Never NULL.
CADRE_API const cadre_shape_info *cadre_shape_get_info(const cadre_shape *shape);

// Counts end here: what would be more is this.
#define CADRE_WORST_CASE_MAX INT64_C(1000000000000000)

// What one run of a team can take at most.
typedef struct cadre_worst_case {
    int64_t model_calls; // by the shapes alone, whatever the limits are
    int depth;           // so many blocking calls deep do its agents nest
    bool is_deeper;      // or more: something may call agents as it likes
    cadre_limits limits; // of the team, with the defaults where it gives none
    cadre_budget budget; // of the team
} cadre_worst_case;

// Adds up the shapes of all agents from the root on. Errors: EINVAL (a team that is not
// sealed, or has mistakes), ENOMEM.
CADRE_API cadre_status cadre_team_worst_case(const cadre_team *team,
                                             cadre_worst_case *out, cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
