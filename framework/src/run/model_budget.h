// What a call of a model may use, and has used: of tokens and of money.
//
// Rules:
// 1. Before each attempt its claim must be granted by all budgets around it; see
//    tree/pot.h. It is settled when the attempt is over, however it ended.
// 2. How long the input is: as tokens.h counts it, but for what a call before has sent,
//    of which the server told; half of that count surely, so that what is refused does
//    not depend on which calls answered from the record. How long the answer may be:
//    the model's max_tokens, else CDR_USUAL_OUTPUT, or the longest so far when that was
//    longer.
// 3. Where there is a budget, an attempt of which the server told nothing is charged by
//    its length, and that is its usage; one that the server refused is charged nothing.
// 4. Of what was cut with its process nobody knows more than its input: that is charged
//    when the call is made again.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_BUDGET_H
#define CDR_MODEL_BUDGET_H

#include "run/model_call.h"

#define CDR_USUAL_OUTPUT 8192 // tokens

// Waits until the call's next attempt may be made. `frame`: on whose strand. Errors:
// ELIMIT of class budget, naming it; the frame's sticky status; ECONFIG: the model has
// no price, and money counts.
cadre_status cdr_model_claim(cdr_model_call *call, cadre_frame *frame,
                             cadre_error *err);

// An attempt is over: its usage is priced, paid, and added to that of the call.
void cdr_model_pay(cdr_model_call *call, cadre_status status,
                   const cadre_error *failure);

// The call was begun in lives before, and cut: its input is paid as often.
void cdr_model_pay_cuts(cdr_model_call *call);

// The answer of a life before is used: it is paid.
void cdr_model_pay_recalled(cdr_model_call *call);

// No attempt was made after all.
void cdr_model_unclaim(cdr_model_call *call);

#endif
