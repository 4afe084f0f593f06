// Runs: one user's request to a team, from its input to its answer.
//
// Either read events with cadre_run_next until CADRE_DONE, or call cadre_run_wait, or
// both, in that order. A run whose events nobody reads stops when its queue is full and
// goes on when somebody reads; other runs do not notice.
//
// Thread: one thread reads a run; cadre_run_cancel by any.
#ifndef CADRE_RUN_H
#define CADRE_RUN_H

#include "cadre/event.h"
#include "cadre/file.h"
#include "cadre/team.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_run cadre_run;

// 0: the default; CADRE_UNLIMITED: none.
typedef struct cadre_limits {
    int max_model_calls; // 200
    int max_tool_calls;  // 500
    int max_depth;       // 32 blocking calls; transfers do not count
} cadre_limits;

typedef struct cadre_run_config {
    size_t struct_size;
    const char *input;
    const json_t *inputs; // an object: the team file's `inputs`; NULL: defaults
    const char *session;  // goes on in this conversation, one run at a time; NULL: a
                          // new one
    int64_t timeout_ms;   // 0: none
    cadre_limits limits;
    bool no_events; // nobody will read events, only wait: none are made
    // The caller's own: an object that is kept with the run and given back by its
    // record; never a secret. Of a new run only.
    const json_t *metadata;
    // Names this request, once in its session; see cadre_run_start. NULL: it has no
    // name. Of a new run only.
    const char *request_id;
    bool accept_changes;     // resume: goes on with another shape of the team too
    const cadre_file *files; // come with `input`; of a new run only
    size_t n_files;
    cadre_budget budget; // narrows what the team file gives the run
} cadre_run_config;

#define CADRE_RUN(...)                                                                 \
    (&(const cadre_run_config){.struct_size = sizeof(cadre_run_config), __VA_ARGS__})

typedef struct cadre_result {
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    const char *trace_id;
    const char *agent;      // who answered
    const char *text;       // the answer; "" when there is none
    cadre_error_info error; // also of a run that completed by a budget: which
    cadre_usage usage;
    int64_t duration_ms;
    int64_t stop_ms; // from the abort to the last ending; -1: it was not aborted
    bool offline;
} cadre_result;

// A frame as seen from outside.
typedef struct cadre_frame_info {
    const char *id, *trace_id, *parent_id; // parent "" for the root
    const char *key, *kind, *name;         // kind: agent, model, tool, ask
    const char *referer;                   // api, agent, agent_fork
    const char *conversation_id;
    const char *input, *output;
    int parent; // its index in this list, which has parents first; -1 for the root
    int depth;
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    cadre_error_info error;
    const char *abort_reason; // why it had to stop ("request", "timeout", ...); or ""
    cadre_usage own, usage;   // without and with what is below
    int attempts;
    int64_t created_at; // wall time, ms since 1970
    int64_t completed_at;
    int64_t duration_ms;
    const char *delta; // JSON: what it added to the run's state; "" when nothing
} cadre_frame_info;

// Seals the team and starts. Errors: ECONFIG (first mistake; a key variable that is
// not set), EINVAL, EBUSY (another run of the session is not at its end; no thread is
// free), ENOMEM, ESTORE (the session cannot be read).
// A request id makes a start safe to repeat. Without a session it names one. A start
// with a known id and the same input, files and inputs runs nothing twice: of a run
// that ended it gives one that answers from the record, with stream_start and
// stream_end; one that was cut goes on; one that is alive is EBUSY (retryable) naming
// it. With other content: EINVAL naming the run. ENOTFOUND: that run is not kept any
// more.
CADRE_API cadre_status cadre_run_start(cadre_team *team, const cadre_run_config *config,
                                       cadre_run **out, cadre_error *err);

// Goes on with a run of this store that was cut: what is recorded answers again,
// nothing of it is done twice. Inputs, limits, budget and timeout_ms (counted anew) are
// those of its start, but for limits, a budget and a time that `config` (NULL: all
// defaults) gives; what was used of a budget stays used up. An `input` in it adds
// nothing, and another one than that of the start is EINVAL.
// Changed texts of the team are taken, and told by stream_start. Errors: as of start;
// EBUSY naming who holds the run, if that may be alive; ENOTFOUND; EINVAL when it has
// ended; ECONFIG naming what is gone, new or changed in another shape of the team
// (members, tools, handoffs), an input that was another at the start, or what the
// record has and the team has not.
CADRE_API cadre_status cadre_run_resume(cadre_team *team, const char *trace,
                                        const cadre_run_config *config, cadre_run **out,
                                        cadre_error *err);

// Gives the next event; blocks. CADRE_DONE after stream_end.
CADRE_API cadre_status cadre_run_next(cadre_run *run, const cadre_event **event,
                                      cadre_error *err);

// Drops events and waits for the end. CADRE_OK when the run completed, also by a limit
// with an answer; else EFAILED, EABORTED, ETIMEOUT, ESTORE with `err` filled. The
// result is given out in every case and borrowed from the run.
CADRE_API cadre_status cadre_run_wait(cadre_run *run, const cadre_result **result,
                                      cadre_error *err);

// Stops the run and all below it. Never waits. May be called from a signal handler's
// thread, not from the handler itself. NULL reason: "cancelled".
CADRE_API void cadre_run_cancel(cadre_run *run, const char *reason);

// Cancels, joins, frees. NULL ok.
CADRE_API void cadre_run_free(cadre_run *run);

CADRE_API const char *cadre_run_trace_id(const cadre_run *run);

// The stack tree as it is stored, parents before children, siblings in order. All
// kinds; who wants the agents only skips the others. Borrowed until the next call.
CADRE_API cadre_status cadre_run_frames(cadre_run *run, const cadre_frame_info **frames,
                                        size_t *n_frames, cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
