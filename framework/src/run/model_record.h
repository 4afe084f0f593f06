// Model calls that are in the record: they answer again, and no model is asked.
//
// Rules:
// 1. The record of a model call leads to its answer by the message's id, which is the
//    frame's output.
// 2. A call that ended failed fails again with the same error; one that was cut is not
//    found here and is made anew.
//
// Thread: on the strand that asks.
#ifndef CDR_MODEL_RECORD_H
#define CDR_MODEL_RECORD_H

#include "tree/tree.h"

// Finds a frame's model call of a turn, if it ended. Borrowed until the frame leaves.
// NULL: the call is to be made.
const cadre_frame *cdr_model_record_find(cadre_frame *frame, const char *key);

// The answer of a frame's nth model call in the record; NULL: it gave none.
cdr_message *cdr_recorded_answer_locked(cadre_frame *frame, int turn)
    CDR_REQUIRES(frame->tree->mu);

// Answers as the record does, with the round of the answer's tool calls made. Errors:
// EDIVERGED (another model was asked then), ESTORE (there is no answer), ENOMEM, and
// the recorded failure.
cadre_status cdr_model_record_use(cadre_frame *frame, const cadre_frame *record,
                                  const cadre_model_call *asked, cadre_answer *answer,
                                  cadre_error *err);

// Keeps what a message says as the frame's answer so far. What was said beside calls is
// the answer too, until a later one: it is what a frame has that ends by a limit.
// False: no memory.
bool cdr_keep_answer_locked(cadre_frame *frame, const cdr_message *message);

#endif
