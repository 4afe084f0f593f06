// Records: runs as a store remembers them, whoever made them and whether they still
// run.
//
// A record is a picture of one moment; it does not change while it is looked at.
//
// Thread: one at a time.
#ifndef CADRE_RECORD_H
#define CADRE_RECORD_H

#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_record cadre_record;

typedef struct cadre_record_info {
    const char *trace_id, *team;
    const char *held_by;       // names the run of a process that held it last
    bool is_held;              // by one that may be alive
    cadre_frame_status status; // of its root; one that runs and is not held was cut
    // Of its root, once that has ended; as in cadre_usage.
    int64_t cost_usd_micros, unpriced_calls;
    int64_t created_at;     // wall time, ms since 1970
    const char *spawned_by; // the id of the frame, of another run, that started it to
                            // work in the background; "" when none did
    // What it was started with:
    const char *session;    // "" when it has none
    const json_t *inputs;   // an object: those it works with, defaults included
    const json_t *metadata; // as in cadre_run_config; NULL: none
    bool offline;
    const char *type; // of the root, instead of the one in the file, as in cadre_load;
                      // "" when none was given
} cadre_record_info;

// A message and the conversation it stands in.
typedef struct cadre_record_message {
    const char *conversation_id;
    const cadre_message *message;
    bool is_of_run; // else of another run of its session
} cadre_record_message;

// Gives the runs of the runtime's store, newest first, at most `limit` (0: all). The
// info is borrowed for the call; anything but CADRE_OK ends the listing and is
// returned. Errors: EINVAL, ESTORE.
CADRE_API cadre_status cadre_record_list(
    cadre_runtime *runtime, int limit,
    cadre_status (*on_run)(void *ctx, const cadre_record_info *info, cadre_error *err),
    void *ctx, cadre_error *err);

// Gives those that frames of one run spawned, oldest first, without what these spawned.
// All else as above; a run that is not there has none. Errors: EINVAL (not an id),
// ESTORE.
CADRE_API cadre_status cadre_record_list_spawned(
    cadre_runtime *runtime, const char *trace,
    cadre_status (*on_run)(void *ctx, const cadre_record_info *info, cadre_error *err),
    void *ctx, cadre_error *err);

// Reads one run. Errors: EINVAL (not an id), ENOTFOUND, ESTORE, ENOMEM.
CADRE_API cadre_status cadre_record_open(cadre_runtime *runtime, const char *trace,
                                         cadre_record **out, cadre_error *err);
CADRE_API void cadre_record_close(cadre_record *record); // NULL ok

// All below is borrowed from the record.
CADRE_API const cadre_record_info *cadre_record_get_info(const cadre_record *record);

// As cadre_run_frames gives them.
CADRE_API const cadre_frame_info *cadre_record_frames(const cadre_record *record,
                                                      size_t *n_frames);

// By conversation, in the order they were said.
CADRE_API const cadre_record_message *cadre_record_messages(const cadre_record *record,
                                                            size_t *n_messages);

#define CADRE_SCRIPT_MAX_BYTES ((size_t)32 << 20) // more is no script file

// Adds a run to a script, an object that may be empty: what its models, tools and
// people answered, so that it is made again by this script (docs/script-file.md). Runs
// of one session are added in their order. Whatever the run came to and whether it
// still runs, what is in the record is in the script; nothing else of the machine is.
// Write it with json_dumps. Errors: EINVAL (not an id, not an object), ENOTFOUND,
// ESTORE, ENOMEM: `script` may have a part then.
CADRE_API cadre_status cadre_record_script(cadre_runtime *runtime, const char *trace,
                                           json_t *script, cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
