// Structured answers: what a frame's answer must fit, and where it stands in a text.
//
// Rules:
// 1. An answer must fit the output_schema of its agent; where that has none, that of
//    who said that this answer is its own (CADRE_CALL_FINAL), through transfers.
// 2. What fits is a frame's output as the JSON text alone; the message stays as it was
//    said.
// 3. An agent that talks to a model may have its answer corrected (ext/turn.h); what
//    reaches the end of a frame and does not fit fails it.
//
// Thread: the frame's strand.
#ifndef CDR_OUTPUT_H
#define CDR_OUTPUT_H

#include "tree/tree.h"

// NULL: any text will do. Lives as long as the team.
const json_t *cdr_frame_output_schema(const cadre_frame *frame);

// Checks the answer of a frame whose `run` has returned, and takes the JSON in it.
// Errors: EFAILED of class bad_response, naming agent and problem; ENOMEM.
cadre_status cdr_output_check(cadre_frame *frame, cadre_error *err);

// Does what a frame has said so far fit? Then the JSON in it is its answer.
bool cdr_output_fits(cadre_frame *frame);

// A correction in the record that comes right behind the answer that was read last;
// NULL: there is none.
const cdr_message *cdr_correction_recorded_locked(const cadre_frame *frame)
    CDR_REQUIRES(frame->tree->mu);

#endif
