// How much of its history a model call sends: the agent's `max_history_tokens`, and
// less where a model has said that it was too much.
//
// Rules:
// 1. What must stay and is longer than max_history_tokens fails the call before
//    anything is sent.
// 2. A call that fails, at one of its models with class context_length, is tried once
//    more with at most half of the history it was sent with. That is a further attempt
//    of it, whatever `retry` says, and a `retry` event tells of it.
// 3. The frame keeps to that half in its later turns. It is recorded as a step that has
//    ended, "history/<turn>" of the agent, before the second attempt is sent: a resume
//    sends as much as the first run would have.
//
// Thread: the strand that asks.
#ifndef CDR_MODEL_WINDOW_H
#define CDR_MODEL_WINDOW_H

#include "run/model_call.h"

// Finds what the record says of this turn: the frame keeps to it from here on. True:
// there is something.
bool cdr_model_window_recall(cadre_frame *frame, int turn);

// The tokens that a frame's history may take now, where `own` is what its agent may
// send; 0: no limit.
int64_t cdr_history_limit(const cadre_frame *frame, int64_t own);

// Chooses what the call's request shows of its view; of that, `n_said` items were said.
// Errors: EFAILED of class context_length, ENOMEM.
cadre_status cdr_model_window_open(cdr_model_call *call, size_t n_said,
                                   cadre_error *err);

// The attempts have failed with `failure`. OK, and the failure is cleared: make them
// once more, the request is a shorter one. Else the failure stands, or is the frame's
// sticky status.
cadre_status cdr_model_window_shorten(cdr_model_call *call, cadre_error *failure);

// Of a replay: shortens the history to what was left of it when it was recorded.
cadre_status cdr_model_window_replay(cdr_model_call *call, cadre_error *err);

#endif
