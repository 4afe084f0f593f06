// Traces: acting on a run from outside, by its trace id, from any process that shares
// its store: stop it, wait for it, answer it, say something to it.
//
// Only marks and messages for an inbox are written. Who holds the run sees them within
// about 50 ms, and at the latest with its next commit; so nothing that it reserves
// after a mark is sent. A run that nobody holds is ended right here once it is stopped.
//
// Thread: any.
#ifndef CADRE_TRACE_H
#define CADRE_TRACE_H

#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_abort {
    size_t struct_size;
    const char *frame;        // only this one and what is below; NULL: the whole run
    const char *conversation; // only who works in this one; NULL: the whole run
    const char *reason;       // one line, for people; NULL: none
    bool background;          // also the runs it spawned, and theirs
} cadre_abort;

#define CADRE_ABORT(...)                                                               \
    (&(const cadre_abort){.struct_size = sizeof(cadre_abort), __VA_ARGS__})

// Stops a run, or a part of it. Returns when that is recorded, not when it has ended:
// see cadre_trace_wait. `what` NULL: the whole run. Stopping again changes nothing. A
// part of a run that is parked, or goes to rest at that moment, ends when the run is
// resumed: what becomes of the rest is for its code to say.
// Errors: ENOTFOUND (no such run; no such frame that lives), EINVAL (it has ended),
// ESTORE, ENOMEM.
CADRE_API cadre_status cadre_trace_abort(cadre_runtime *runtime, const char *trace,
                                         const cadre_abort *what, cadre_error *err);

// Waits until nothing of the run lives. `background`: nor of what it spawned.
// `timeout_ms` 0: for ever. Blocks. Errors: EPARKED: it waits for an answer; ELOST: it
// was cut, and nobody works on it: resume it; ETIMEOUT; ENOTFOUND; ESTORE.
CADRE_API cadre_status cadre_trace_wait(cadre_runtime *runtime, const char *trace,
                                        bool background, int64_t timeout_ms,
                                        cadre_error *err);

// Answers a question of a run: the id of its frame (kind "ask", status waiting), or
// NULL for the only one. The same answer again changes nothing. A run that is parked
// goes on with cadre_run_resume. Errors: ENOTFOUND (no such question is open), EINVAL
// (several are, which are named; it is none of its choices; it has another answer),
// ESTORE, ENOMEM.
CADRE_API cadre_status cadre_trace_answer(cadre_runtime *runtime, const char *trace,
                                          const char *question, const json_t *answer,
                                          cadre_error *err);

// Says something in the run's main conversation, as its user: who speaks there next
// reads it. `request_id` (NULL: none) makes it once. Errors: ENOTFOUND, EINVAL (it has
// ended; the request id was used for another text), ESTORE, ENOMEM.
CADRE_API cadre_status cadre_trace_send(cadre_runtime *runtime, const char *trace,
                                        const char *text, const char *request_id,
                                        cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
