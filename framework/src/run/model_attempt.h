// The attempts of a model call: one after the other, until one is whole, at its model
// and then at the fallbacks of that (run/model_failover.h).
//
// Rules:
// 1. An attempt is sent after the commit that reserved it, when it is its turn
//    (run/model_turn.h). What comes of it is shown at
//    once; the network is paused while nobody takes that.
// 2. A mark or a deadline closes the transfer.
// 3. Between two attempts is a wait: what the server asks for, within the model's
//    limits, or twice the wait before. None is begun that the call has no time for.
// 4. A scripted model takes its step when the attempt is reserved.
// 5. An attempt that failed is charged as any, with the usage that the server told.
//
// Thread: the strand that asks; pieces come on the network's.
#ifndef CDR_MODEL_ATTEMPT_H
#define CDR_MODEL_ATTEMPT_H

#include "run/model_call.h"

// Makes the call ready for its first attempt.
void cdr_model_attempt_init(cdr_model_call *call);

// Takes the script's next step for the call, if its model is scripted.
cadre_status cdr_model_take_step_locked(cdr_model_call *call, cadre_error *err);

// Shows an event of the call that is not stored.
void cdr_model_show(cdr_model_call *call, cadre_event *event);

// Adds to a failure why it stays at that; returns its status.
cadre_status cdr_model_give_up(cadre_error *failure, const char *why);

// Tells that another attempt follows, after so long.
void cdr_model_show_retry(cdr_model_call *call, const cadre_error *failure,
                          int64_t wait_ms);

// Reserves another attempt. Errors: the frame's sticky status, ESTORE, ELIMIT of class
// budget.
cadre_status cdr_model_attempt_reserve(cdr_model_call *call, cadre_error *failure);

// Makes attempts until one is whole; the answer is in call->sink, with the usage and
// the cost of all attempts. Errors: that of the last attempt, or the frame's sticky
// status.
cadre_status cdr_model_attempt(cdr_model_call *call, cadre_error *failure);

#endif
