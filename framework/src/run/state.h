// The state of a run at work: frames get it, keep answers in it, and take what those
// they called have added (tree/delta.h).
//
// Thread: the frame's strand.
#ifndef CDR_RUN_STATE_H
#define CDR_RUN_STATE_H

#include "run/execute.h"
#include "run/tool_round.h"

// A frame begins to work: it sees what its caller sees, who waits for it or is done.
void cdr_state_inherit_locked(cadre_frame *frame) CDR_REQUIRES(frame->tree->mu);

// Of a frame from the record: one that handed over is not run again, so what it had
// added is there once more; one that is run again adds it by itself.
cadre_status cdr_state_restore(cadre_frame *frame, bool has_handed_over,
                               cadre_error *err);

// A frame that answered keeps its answer under its agent's output_key. Errors: EINVAL.
cadre_status cdr_state_keep_answer(cadre_frame *frame, cadre_error *err);

// The outcomes of a batch are taken from _begin to _end: two that set one key which is
// replaced are found out. With `takes_none` set nothing is taken from those that
// follow: losers of a race, whatever they added.
typedef struct cdr_state_join {
    json_t *writers; // key -> name of who set it first; NULL: nobody yet
    bool takes_none;
} cdr_state_join;
void cdr_state_join_begin(cadre_frame *frame, cdr_state_join *join);
void cdr_state_join_end(cadre_frame *frame);

// Takes what a callee of that name that completed has added. What cannot be taken makes
// `ran` a failure.
void cdr_state_take(cadre_frame *frame, const char *callee, cdr_ran *ran);

// The same of a step. Errors: as cdr_delta_add.
cadre_status cdr_state_take_step(cadre_frame *frame, const cadre_frame *step,
                                 cadre_error *err);

// Takes what the tools of an answer have added, in call order, when all are done; but
// not of those that asked to hand over or to escalate.
cadre_status cdr_state_take_round(cadre_frame *frame, const cdr_round *round,
                                  cadre_error *err);

// Takes that of one: the call that was decided to have its way. Any other of them
// fails, and what it added is dropped.
cadre_status cdr_state_take_call(cadre_frame *frame, const cdr_tool_entry *entry,
                                 cadre_error *err);

#endif
