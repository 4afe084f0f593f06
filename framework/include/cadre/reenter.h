// Entering again: does a team's code do the same when a run is gone on with?
//
// `run` of agents and topologies is executed again from its top on resume, so it must
// be pure (cadre/frame.h). This makes a run, keeps every commit of it, and goes on from
// parts of what was kept, each in a memory store of its own:
//   - all but the ending of the root: everything answers from the record;
//   - all but the endings of agents: every agent's `run` is executed again as well;
//   - when asked for, what was there after each commit.
// Frames and what was said must then be those of the first run, and each call that is
// in the record must be made again with the same input. What may differ is not looked
// at: ids, times, attempts, restarts, and how far those came who lost in a batch that
// waits for any or for the first. (Who wins there must not be chance in the script.)
//
// With a whole record no model is asked and no tool or step runs. After a commit what
// was not recorded by then happens again: models are asked, tools and steps run, those
// also that may not run twice. (What was at work at the commit counts as not begun:
// nothing was cut in truth.)
//
// Thread: the team's only run meanwhile; callbacks come on the caller's thread.
#ifndef CADRE_REENTER_H
#define CADRE_REENTER_H

#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// One field that differs. Texts are borrowed for the call.
typedef struct cadre_difference {
    int commit;        // after which the run was cut, from 1; 0: the whole record
    const char *path;  // names from the root to the frame: "desk -> triage"
    const char *key;   // of the frame, in its parent
    const char *field; // "output", "delta"; "frame", "asked for"; of the conversation
                       // that the frame opened: "message 3 text", from 0
    const char *first; // NULL: it was not there
    const char *again; // NULL: it is not there
} cadre_difference;

typedef struct cadre_reenter_config {
    size_t struct_size;
    const cadre_run_config *run; // the run to make; NULL: all defaults
    bool every_commit;           // also go on after each commit
    void (*on_difference)(void *ctx, const cadre_difference *difference); // may be NULL
    void *ctx;
} cadre_reenter_config;

#define CADRE_REENTER(...)                                                             \
    (&(const cadre_reenter_config){.struct_size = sizeof(cadre_reenter_config),        \
                                   __VA_ARGS__})

typedef struct cadre_reenter_result {
    size_t n_frames, n_messages; // of the first run
    size_t n_commits;            // after which it was entered again
    size_t n_differences;
    cadre_frame_status status; // of the first run
    cadre_error error;         // why it did not complete
} cadre_reenter_result;

// Blocks for all runs. CADRE_OK also when something differs: see n_differences. Errors:
// as of cadre_run_start; ESTORE; ENOMEM. `out` is filled with CADRE_OK only.
CADRE_API cadre_status cadre_reenter(cadre_team *team,
                                     const cadre_reenter_config *config,
                                     cadre_reenter_result *out, cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
