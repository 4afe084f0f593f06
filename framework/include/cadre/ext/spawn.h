// Background runs, as the frame that spawned them, or a later one of the same
// conversation, deals with them. They are started by cadre_frame_spawn (cadre/frame.h).
//
// A trace id comes from a model: only runs that report to the frame's own conversation
// are found by it.
//
// Thread: as of frames.
#ifndef CADRE_EXT_SPAWN_H
#define CADRE_EXT_SPAWN_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_spawned {
    const char *trace_id;
    cadre_frame_status status; // of its root; "waiting": for a person
    bool is_held;              // else one that runs was cut
    const char *answer;        // "" until it has ended
    const char *error;         // one line; "" when there is none
} cadre_spawned;

// How is it? Errors: ENOTFOUND, ESTORE, ENOMEM.
CADRE_API cadre_status cadre_frame_find_spawned(cadre_frame *frame, const char *trace,
                                                cadre_spawned *out, cadre_error *err);

// Says something to it, once for each frame that calls. Errors: as above; EINVAL: it
// has ended.
CADRE_API cadre_status cadre_frame_send_spawned(cadre_frame *frame, const char *trace,
                                                const char *text, cadre_error *err);

// Stops it. One that has ended is left as it is. Errors: as of the first.
CADRE_API cadre_status cadre_frame_stop_spawned(cadre_frame *frame, const char *trace,
                                                const char *reason, cadre_error *err);

// Is the frame below a call of a tool of that type, in this run or in one that spawned
// it?
CADRE_API bool cadre_frame_is_within(cadre_frame *frame, const char *tool_type);

#ifdef __cplusplus
}
#endif

#endif
