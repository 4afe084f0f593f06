// A model call's turn: it waits until the governor of its model lets it ask.
//
// Rules:
// 1. Each attempt has a turn of its own, and gives it back when it has ended.
// 2. The wait counts in the time of the agent and the run, not in that of the attempt.
//    What stops the call ends it at once.
// 3. That it waits, and that it does no more, is told by `wait` events.
// 4. What a server says of waiting, in a failure that is waited for, keeps all who ask
//    the same.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_TURN_H
#define CDR_MODEL_TURN_H

#include "net/governor.h"
#include "run/model_call.h"

// Waits for a turn with the call's model. Errors: the frame's sticky status. Whatever
// it returns, cdr_model_turn_end comes next.
cadre_status cdr_model_turn_take(cdr_model_call *call, cdr_turn *turn,
                                 cadre_error *err);
void cdr_model_turn_end(cdr_model_call *call, cdr_turn *turn);

// The server wants to be left alone for so long, and the call will do so.
void cdr_model_turn_pause(cdr_model_call *call, int64_t ms,
                          cadre_error_class error_class);

#endif
