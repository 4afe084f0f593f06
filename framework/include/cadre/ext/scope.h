// The transfer scope: to whom the agents under one topology may hand over, and when
// not. A topology builds one and passes it with its call; it is never inherited.
//
// A transfer is decided before its tool result is written, so the model reads the
// truth. A controller is a pure function of the transfers asked for so far in this
// scope and the next one.
//
// Thread: a scope lives in its topology's `run` or state and must outlive the call.
#ifndef CADRE_EXT_SCOPE_H
#define CADRE_EXT_SCOPE_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// One transfer that was asked for along an edge, done or refused.
typedef struct cadre_transfer_record {
    const cadre_agent *from;
    const cadre_agent *to;
    const char *message; // "" when there was none
    bool done;
} cadre_transfer_record;

typedef struct cadre_transfers {
    const cadre_transfer_record *items;
    size_t count;
} cadre_transfers;

typedef enum cadre_verdict {
    CADRE_VERDICT_ALLOW,
    CADRE_VERDICT_REFUSE, // the model reads `reason`
    CADRE_VERDICT_STOP    // the run fails with `reason` and the path
} cadre_verdict;

typedef struct cadre_decision {
    cadre_verdict verdict;
    cadre_stop_reason stop_reason; // with STOP: max_handoffs or loop
    int64_t timeout_ms;            // with ALLOW: the target's time; 0: none
    char reason[200];
} cadre_decision;

// Decides on `next`, given all before it. Pure. Locks: none. Must not block.
typedef void (*cadre_controller)(void *ctx, const cadre_transfers *before,
                                 const cadre_transfer_record *next,
                                 cadre_decision *decision);

// The standard controller. 0: the default; CADRE_UNLIMITED turns one rule off. The
// first hit of a rule refuses, the next hit of any rule in the scope stops.
typedef struct cadre_transfer_limits {
    int max_handoffs; // 20: this many were asked for
    int window;       // 8: in the last so many ...
    int min_unique;   // ... fewer agents than this (the smaller of 3 and the roster)
    int repeat;       // 3: the same (from, to, message) for the third time
    int64_t node_timeout_ms; // of each agent's turn, the first one's too; 0: none
} cadre_transfer_limits;

typedef struct cadre_edge {
    bool allowed;
    cadre_history history; // what the target sees when reached this way
} cadre_edge;

struct cadre_scope {
    size_t struct_size;
    cadre_agents roster;
    // May `from` hand over to `to`? NULL: everyone to everyone else. Pure, no locks.
    cadre_edge (*edge)(const void *ctx, const cadre_agent *from, const cadre_agent *to);
    const void *edge_ctx;
    cadre_transfer_limits limits;
    cadre_controller controller; // asked after the standard one allowed; NULL: none
    void *controller_ctx;
    const cadre_tool *tool; // offered to llm members that have an edge; NULL: none
    bool return_to_source;  // a target that answers hands back to who called it
};

#define CADRE_SCOPE(...)                                                               \
    {                                                                                  \
        .struct_size = sizeof(struct cadre_scope), __VA_ARGS__                         \
    }

// The scope a frame works in; NULL: it may not transfer.
CADRE_API const cadre_scope *cadre_frame_scope(const cadre_frame *frame);

// The agents this frame may hand over to, in roster order, in the frame's arena.
CADRE_API cadre_agents cadre_frame_targets(cadre_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
