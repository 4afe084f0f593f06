// Running frames: an agent's `run` and, one after the other on the same thread,
// those it transfers to. The chain ends bottom-up in one commit, and its caller gets
// one outcome.
//
// Thread: on the strand that calls.
#ifndef CDR_EXECUTE_H
#define CDR_EXECUTE_H

#include "tree/ending.h"

// How a chain ended. Owns its references.
typedef struct cdr_ran {
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    cdr_text *output;
    json_t *delta;     // what all of it added to the state; NULL: nothing
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

// Appends to the frame's conversation and records it. `message` is taken over.
// Gives the message's seq. False: no memory.
bool cdr_say_locked(cadre_frame *frame, cdr_message *message);

// What others posted to the frame's conversation gets its place there.
void cdr_say_posted_locked(cadre_frame *frame);

#endif
