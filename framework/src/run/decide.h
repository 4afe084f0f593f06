// How a turn is decided: which of the calls that asked to hand over, or to escalate,
// has its way.
//
// Rules:
// 1. Decided in call order when all other calls have their result: the first valid one
//    wins. A transfer after it is not asked of the controller and does not count.
// 2. Each of these calls gets its result only now, so the model reads the truth. The
//    results and the target's frame are one commit.
// 3. What the winner added to the state counts, after that of all other calls and
//    before the target is there; what a refused one added does not.
// 4. Where a controller stops the run, nothing after it is decided.
//
// Thread: the frame's strand.
#ifndef CDR_DECIDE_H
#define CDR_DECIDE_H

#include "run/tool_round.h"

// Decides a round; work->transfer is the target, if one won. Errors: ESCALATED, EFAILED
// (class loop or limit: a controller stops the run), ENOMEM, the frame's sticky status.
cadre_status cdr_decide_turn(cadre_frame *frame, cdr_round *round, cadre_error *err);

#endif
