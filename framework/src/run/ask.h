// Questions to people: a frame of kind ask that waits for its answer, which somebody
// posts to the inbox of its conversation.
//
// As it is stored, the input of its frame, it is an object with "question" (text),
// "choices" (list of texts; none: any answer) and what else the asker says.
//
// Thread: on the strand of the frame that asks.
#ifndef CDR_ASK_H
#define CDR_ASK_H

#include "tree/tree.h"

// Is that an answer to this question? Errors: EINVAL naming the choices.
cadre_status cdr_question_check(const json_t *stored, const json_t *answer,
                                cadre_error *err);

// See cadre_frame_ask; for a tool's frame that has not started, too. `frame` has work.
cadre_status cdr_ask(cadre_frame *frame, const char *key, const json_t *question,
                     json_t **answer, cadre_error *err);

#endif
