// Attempts: an agent whose call failed is called again, as its `retry` says.
//
// Rules:
// 1. Each attempt is a frame of its own. The first has the call's key, the others that
//    and "~2", "~3", ...
// 2. The last attempt is the call's outcome. Tried again is one that failed or whose
//    time was up, but not for the call's own time; nor one that was stopped, waits or
//    diverged, for which a limit of the run is used up, or that a mistake in the team
//    made fail.
// 3. A pause is slept in the frame of the attempt that follows, so what stops the
//    caller ends it; the time of that attempt counts from its end.
// 4. Attempts in the record answer; the call goes on with the first that did not end.
//    What is tried again follows from the record alone.
// 5. What the attempts before said in a shared conversation stays there. The next one,
//    and all that works below it there, is not shown it.
//
// Thread: the strand that runs the attempts: the caller's, or that of a branch.
#ifndef CDR_RETRY_H
#define CDR_RETRY_H

#include "run/call.h"

// One call and its attempt at hand. Start with the callee set.
typedef struct cdr_attempts {
    cdr_callee callee;
    int nth;            // from 1; it and the next may be read under the tree's lock
    cadre_frame *child; // NULL: was not entered
    cdr_entered how;    // a record answers by itself
    bool must_pause;    // it follows another one, and has not begun
    cdr_ran ran;        // how it ended; of a record nothing
} cdr_attempts;

// Enters the first attempt that has not ended in the record, or else the last one.
// As cdr_enter_call.
cadre_status cdr_attempts_enter(cadre_frame *frame, cdr_attempts *attempts,
                                cadre_error *err);

// Runs it, unless the record answers, and then others as long as they fail.
void cdr_attempts_run(cadre_frame *frame, cdr_attempts *attempts, cdr_strand *strand);

// Is an attempt that has ended like this the call's last one? Needs the tree's lock.
bool cdr_attempts_is_last_locked(const cadre_frame *frame, const cdr_attempts *attempts,
                                 const cadre_frame *ended)
    CDR_REQUIRES(frame->tree->mu);

// Gives the caller the outcome of the last one. As cdr_leave_call.
cadre_status cdr_attempts_leave(cadre_frame *frame, cdr_attempts *attempts,
                                cadre_outcome *out, cadre_error *err);

#endif
