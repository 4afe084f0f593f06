// Calls of agents by agents: entering the callee, and taking its outcome.
//
// Thread: on the strand that calls.
#ifndef CDR_CALL_H
#define CDR_CALL_H

#include "run/execute.h"
#include "tree/birth.h"

// A call as it is entered.
typedef struct cdr_callee {
    const cadre_call *call;
    bool is_fork;               // a conversation of its own
    const char *key;            // of who gives none; NULL: automatic
    const cdr_ear *ear;         // NULL: nobody listens to this call
    const cadre_frame *follows; // the attempt before this one; NULL: it is the first
} cdr_callee;

// Enters a child for a call; see cadre_frame_call.
cadre_status cdr_enter_call(cadre_frame *frame, const cdr_callee *callee,
                            cadre_frame **child, cdr_entered *how, cadre_error *err);

// A single call with somebody who listens; call.listener is there. As cadre_frame_call.
cadre_status cdr_call_heard(cadre_frame *frame, const cdr_callee *callee,
                            cadre_outcome *out, cadre_error *err);

// Fills the caller's outcome, in its arena, and releases the child. `ran` NULL: the
// child answers from its record. Returns what the operation returns.
cadre_status cdr_leave_call(cadre_frame *frame, cadre_frame *child, cdr_ran *ran,
                            cadre_outcome *out, cadre_error *err);

// The callee's outcome was taken: it leaves memory, unless it waits, and so does the
// scope that it was given.
void cdr_release_call(const cadre_frame *frame, cadre_frame *child, const cdr_ran *ran);

// Counts the callee's time from now, after a pause.
void cdr_restart_time_locked(cadre_frame *frame, const cadre_call *call,
                             cadre_frame *child) CDR_REQUIRES(frame->tree->mu);

// May the frame go on? Its sticky status; EINVAL when its `run` has returned.
cadre_status cdr_check_frame(const cadre_frame *frame, cadre_error *err);

// May the frame go on, and is the call usable at all? Names the mistake.
cadre_status cdr_check_call(cadre_frame *frame, const cadre_call *call,
                            cadre_error *err);
void cdr_outcome_clear(cadre_outcome *out);

// What the call gives its callee, JSON as its text; NULL when it gives nothing.
cadre_status cdr_call_input(const cadre_call *call, cdr_text **out, cadre_error *err);

// Fails with the frame's sticky status, which is one.
cadre_status cdr_fail_sticky(const cadre_frame *frame, cadre_error *err);

#endif
