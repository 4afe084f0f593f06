// What a model call came to, in the record: the answer with its usage and the frames of
// its tool calls, or the failure; each in one commit that ends the call.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_ANSWER_H
#define CDR_MODEL_ANSWER_H

#include "run/model_call.h"

// Records the answer in call->sink and gives it. False: no memory, or the agent was
// abandoned meanwhile.
bool cdr_model_answer_record(cdr_model_call *call, cadre_answer *answer);

// Records that the call failed.
void cdr_model_answer_record_failure(cdr_model_call *call, cadre_status status,
                                     const cadre_error *failure);

#endif
