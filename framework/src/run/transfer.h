// Handing over: the target becomes a child of the frame, and is entered when `run`
// has returned.
//
// Rules:
// 1. A frame hands over once, and is never run again: what it added to the state is
//    recorded with the target's birth.
// 2. Asked for by a call of its model (decide.h), by the frame's own code or a hook
//    (cadre_frame_transfer), or by nobody (fallback.h).
//
// Thread: the frame's strand.
#ifndef CDR_TRANSFER_H
#define CDR_TRANSFER_H

#include "run/scope.h"

// Enters the target of a decided transfer, in the commit of its decision.
cadre_status cdr_enter_target_locked(cadre_frame *frame,
                                     const cdr_transfer_decision *decision,
                                     const char *message, cadre_error *err)
    CDR_REQUIRES(frame->tree->mu);

// Does the frame hand back to who handed over to it, without a word? That is what it
// does by itself after an answer where the scope returns to the source.
bool cdr_transfer_is_return(const cadre_frame *frame, const cadre_agent *to,
                            const char *message);

// Enters what the frame's own code hands over to. Errors: as of entering.
cadre_status cdr_transfer_enter(cadre_frame *frame,
                                const cdr_transfer_decision *decision,
                                const char *message, cadre_error *err);

// Fails with what a controller stopped the run for, with the path.
cadre_status cdr_transfer_stop(cadre_frame *frame,
                               const cdr_transfer_decision *decision, cadre_error *err);

#endif
