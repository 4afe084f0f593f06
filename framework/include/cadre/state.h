// The state of a run: one JSON object that the members of its team share.
//
// 1. A frame sees the defaults of the team, what its caller saw when it called, and
//    what it set itself since (its delta). What another one sets meanwhile it does not
//    see.
// 2. When a call completes, its caller takes its delta; of a call that does not
//    complete it is dropped. A chain of transfers gives its caller the deltas of all.
// 3. What ran at the same time is taken in call order, never by who was faster: the
//    branches of a batch when all have ended, the tools of an answer when all are done;
//    that of the call which hands over or escalates comes last.
// 4. How a key takes values is its reducer's. Keys that nobody declared are replaced.
//    Of two branches of a batch that both set a key that is replaced, the later one in
//    call order counts as failed. Of two tools of one answer the later one wins.
// 5. A delta is recorded with the end of its frame, so a resumed run has the same
//    state. A run that was spawned begins with the defaults.
//
// Thread: as cadre/frame.h; building as cadre/team.h.
#ifndef CADRE_STATE_H
#define CADRE_STATE_H

#include "cadre/team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cadre_reducer {
    CADRE_REDUCE_REPLACE, // the last value
    CADRE_REDUCE_APPEND,  // a list: a list is added to its end, else the one value
    CADRE_REDUCE_MERGE,   // an object: the members of the given one are set in it
    CADRE_REDUCE_SUM,     // a number
    CADRE_REDUCE_CUSTOM   // what `reduce` makes of it
} cadre_reducer;

// A declared key. CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND)
typedef struct cadre_state_key {
    size_t struct_size;
    const char *key; // [a-z][a-z0-9_]*, up to 64
    cadre_reducer reducer;
    const char *default_value; // JSON text; NULL: an empty list, an empty object, 0;
                               // of REPLACE and CUSTOM: the key is not there
    // Of CUSTOM: gives the new value (new reference, which nobody changes any more)
    // after an update, both borrowed; `before` is NULL while there is none. NULL: the
    // update is refused. Pure: it is called again on resume. Any thread, no locks.
    json_t *(*reduce)(void *ctx, const json_t *before, const json_t *update);
    void *ctx;
} cadre_state_key;

#define CADRE_STATE_KEY(...)                                                           \
    (&(const cadre_state_key){.struct_size = sizeof(cadre_state_key), __VA_ARGS__})

// Declares a key. Mistakes are kept, as those of all builder calls: a name against the
// rule, one declared already, a default that the reducer does not take.
CADRE_API void cadre_team_add_state(cadre_team *team, const cadre_state_key *key);

// Gives what this frame sees: an object, borrowed until its next call or set. NULL for
// a NULL frame.
CADRE_API const json_t *cadre_frame_state(cadre_frame *frame);

// Gives a value to a key, through its reducer; `value` is copied. An agent sets its
// own, a tool or a step that of the frame it was given. Errors: EINVAL: the key's name,
// no value, one nested too deep, or one that its reducer does not take; EINVAL after
// the frame has handed over; EFAILED: a custom reducer refused it; the sticky ones;
// ENOMEM. The state is as before then.
CADRE_API cadre_status cadre_frame_set_state(cadre_frame *frame, const char *key,
                                             const json_t *value, cadre_error *err);

// Returns the reducer's word in team files ("append"). Static storage.
CADRE_API const char *cadre_reducer_name(cadre_reducer reducer);

#ifdef __cplusplus
}
#endif

#endif
