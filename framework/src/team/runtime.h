// The runtime inside: what all teams and runs of a process share.
//
// Thread: any; the network is opened by the first model call that needs it.
#ifndef CDR_RUNTIME_H
#define CDR_RUNTIME_H

#include "cadre/ext/agent.h"
#include "cadre/ext/model.h"
#include "cadre/ext/store.h"
#include "cadre/ext/tool.h"
#include "cadre/runtime.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "net/network.h"
#include "team/background.h"
#include "team/watch.h"

// Types from outside the tree.
typedef struct cdr_registered {
    const void **items;
    size_t count;
} cdr_registered;

// Who is told of each frame that a call finds in the record. Thread: any, under the
// tree's lock.
typedef struct cdr_witness {
    void (*on_found)(void *ctx, const cadre_frame *frame, const char *input);
    void *ctx;
} cdr_witness;

struct cadre_runtime {
    cdr_pool *pool;
    cdr_clock *clock;
    const cadre_store_ops *store_ops;
    void *store;
    cdr_watch watch; // of that store
    cdr_background background;
    const cdr_witness *witness; // NULL: nobody
    bool offline;
    char *script;    // owned; NULL: the team's own
    char *holder;    // guarded by mu; this process as the holder of leases, once known
    long holder_pid; // guarded by mu; whose name that is: a fork has its own
    cdr_mutex mu;
    cdr_network *network;  // guarded by mu; NULL until needed
    cdr_registered agents; // guarded by mu
    cdr_registered tools;  // guarded by mu
    cdr_registered models; // guarded by mu
    void *sessions;        // guarded by mu; names in use, a tree of tsearch
};

// The nth type, built-in ones first (topologies before agents), then those registered;
// NULL: there are no more. A NULL runtime has the built-in ones.
const cadre_agent_ops *cdr_runtime_agent_at(cadre_runtime *runtime, size_t nth);
const cadre_tool_ops *cdr_runtime_tool_at(cadre_runtime *runtime, size_t nth);
const cadre_model_ops *cdr_runtime_model_at(cadre_runtime *runtime, size_t nth);

// Is it a built-in topology, which asks no model and needs members?
bool cdr_is_topology(const cadre_agent_ops *ops);

// The types by name; NULL: there is none.
const cadre_agent_ops *cdr_runtime_agent_ops(cadre_runtime *runtime, const char *type);
const cadre_tool_ops *cdr_runtime_tool_ops(cadre_runtime *runtime, const char *type);
const cadre_model_ops *cdr_runtime_model_ops(cadre_runtime *runtime,
                                             const char *provider);

// Who gives a type that team files cannot write ("from C"); NULL: they can.
const char *cdr_origin_of_agent(const cadre_agent_ops *ops);
const char *cdr_origin_of_tool(const cadre_tool_ops *ops);

// The names of all types of a kind, for messages; in `names`, at most `max` of them.
// Topologies are agents here too.
size_t cdr_runtime_type_names(cadre_runtime *runtime, cadre_kind kind,
                              const char **names, size_t max);

// Opens the network on the first call. Borrowed from the runtime.
cadre_status cdr_runtime_network(cadre_runtime *runtime, cdr_network **out,
                                 cadre_error *err);

#endif
