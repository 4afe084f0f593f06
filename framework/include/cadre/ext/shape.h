// For the `shape` of an agent type: tells what its instance does, without running it.
// cadre/shape.h is how it is read.
//
// 1. Nodes go by names. Those of an instance are its members, in their order and under
//    their names, each once; one that calls cadre_shape_add_node has those that it adds
//    instead.
// 2. Order does not matter: what is said of a node may come before the node.
// 3. No call fails: a node that is not there, and memory that is, are told to who asks
//    for the shape.
// 4. Texts are copied; NULL is "".
// 5. A bound is a number of 1 or more; 0 and CADRE_UNLIMITED are none. Whoever gives
//    none says "as often as it likes", so a bound that is sure to hold is worth giving.
//
// Thread: the one that called `shape`; it may not block. No locks are held.
#ifndef CADRE_EXT_SHAPE_H
#define CADRE_EXT_SHAPE_H

#include "cadre/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// Adds a node. `agent` works there, a member; NULL: no agent does, but `what`
// ("human", "tool", ...). A name that is there is told as a mistake.
CADRE_API void cadre_shape_add_node(cadre_shape *shape, const char *name,
                                    const cadre_agent *agent, const char *what);

// Marks a node that gets the input, and one whose answer may be the answer of all.
CADRE_API void cadre_shape_set_entry(cadre_shape *shape, const char *name);
CADRE_API void cadre_shape_set_end(cadre_shape *shape, const char *name);

// Adds an edge. Several between the same two are kept. `label`: when it is taken.
CADRE_API void cadre_shape_add_edge(cadre_shape *shape, const char *from,
                                    const char *to, cadre_shape_edge_kind kind,
                                    const char *label);

// Bounds how often a node runs in one run of the instance; without: no bound.
CADRE_API void cadre_shape_set_runs(cadre_shape *shape, const char *name, int64_t most);

// Bounds how often its nodes run, all together; without: no bound but those of each.
CADRE_API void cadre_shape_set_all_runs(cadre_shape *shape, int64_t most);

// Bounds how often the instance asks a model itself; without: never.
CADRE_API void cadre_shape_set_model_calls(cadre_shape *shape, int64_t most);

#ifdef __cplusplus
}
#endif

#endif
