// Running frames: an agent's `run` and, one after the other on the same thread, those
// it transfers to. The chain ends bottom-up in one commit, and its caller gets one
// outcome.
//
// Thread: on the strand that calls.
#ifndef CDR_EXECUTE_H
#define CDR_EXECUTE_H

#include "tree/tree.h"

// How a chain ended. Owns its references.
typedef struct cdr_ran {
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    cdr_text *output;
    const char *agent; // whose answer it is
    cdr_failure *failure;
    cadre_usage usage;
} cdr_ran;

void cdr_ran_fini(cdr_ran *ran);

// Runs a frame that was entered, and its transfers, to their ends. The frame stays, for
// cdr_frame_release_locked, once the outcome was taken.
void cdr_execute(cadre_frame *first, cdr_strand *strand, cdr_ran *ran);

// Gives a frame its work, so that its `run` may be called; takes it away afterwards.
bool cdr_work_begin(cadre_frame *frame, cdr_strand *strand);
cdr_work *cdr_work_end(cadre_frame *frame);

// What came of a `run` that returned `status`: by its mark first, then its status.
void cdr_ending_of(cadre_frame *frame, cadre_status status, const cadre_error *err,
                   cdr_ending *ending);

// Did a `run` that returned `status` say so because it waits for a person? Else EPARKED
// becomes the failure that it is.
bool cdr_is_parked(cadre_frame *frame, cadre_status status, cadre_error *err);

// Enters a child for a call; see cadre_frame_call. `fork`: a conversation of its own.
cadre_status cdr_enter_call(cadre_frame *frame, const cadre_call *call, bool fork,
                            cadre_frame **child, cdr_entered *how, cadre_error *err);

// Fills the caller's outcome, in its arena, and releases the child. `ran` NULL: the
// child answers from its record. Returns what the operation returns.
cadre_status cdr_leave_call(cadre_frame *frame, cadre_frame *child, cdr_ran *ran,
                            cadre_outcome *out, cadre_error *err);

// May the frame go on? Its sticky status; EINVAL when its `run` has returned.
cadre_status cdr_check_frame(const cadre_frame *frame, cadre_error *err);

// May the frame go on, and is the call usable at all? Names the mistake.
cadre_status cdr_check_call(cadre_frame *frame, const cadre_call *call,
                            cadre_error *err);
void cdr_outcome_clear(cadre_outcome *out);

// What the call gives its callee, JSON as its text; NULL when it gives nothing.
cadre_status cdr_call_input(const cadre_call *call, cdr_text **out, cadre_error *err);

// Appends to the frame's conversation and records it. `message` is taken over.
// Gives the message's seq. False: no memory.
bool cdr_say_locked(cadre_frame *frame, cdr_message *message);

#endif
