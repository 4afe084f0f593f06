// One turn of an agent that talks to a model: ask, then run what it called for.
//
// Both answer from the record on resume, so an agent's loop has no recovery code.
#ifndef CADRE_EXT_TURN_H
#define CADRE_EXT_TURN_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_model_call {
    size_t struct_size;
    const cadre_model *model;
    const char *system; // the one system text; {{inputs.x}} and {{state.x}} are
                        // replaced; NULL: none
    cadre_tools tools;  // the scope's transfer tool is added where the frame has edges
    cadre_history history;
    int64_t max_history_tokens; // about; oldest rounds are left out; 0: no limit
} cadre_model_call;

// A whole answer; its message lives until `run` returns.
typedef struct cadre_answer {
    const cadre_message *message;
    cadre_finish finish;
} cadre_answer;

// How the tools of one turn ended.
typedef struct cadre_round {
    size_t n_calls;
    size_t n_bad;         // unknown tool, invalid arguments, unknown or self transfer
    bool transferred;     // return CADRE_OK: the target answers from here
    const char *last_bad; // the last of them, "NAME: what the model was told"; or ""
    bool is_blocked;      // no tool was run: the model repeats itself
} cadre_round;

// Asks the model with the frame's view of its conversation. The answer is recorded; one
// without tool calls is the frame's output. A history that was too long for the model
// is sent once more, half of it. Errors: EFAILED with the class of the model call when
// its attempts are used up, or of context_length when what must stay of the history is
// longer than max_history_tokens; ELIMIT.
CADRE_API cadre_status cadre_frame_ask_model(cadre_frame *frame,
                                             const cadre_model_call *call,
                                             cadre_answer *answer, cadre_error *err);

// Runs the calls of the answer in parallel, stores each result when it is there, then
// decides a transfer. A failed tool is a result. The same calls with the same results
// are run four times, or two or three rounds that take turns: the third time the
// results say so, the fifth time they are all `blocked`. Errors: the sticky ones,
// ELIMIT, and EFAILED with class loop or limit when a controller stops the run.
CADRE_API cadre_status cadre_frame_run_tools(cadre_frame *frame,
                                             const cadre_answer *answer,
                                             cadre_round *round, cadre_error *err);

// After an answer without tool calls: is there more to say? Somebody has posted to the
// frame's conversation meanwhile; the next cadre_frame_ask_model reads it.
CADRE_API bool cadre_frame_goes_on(cadre_frame *frame);

// Takes an answer without tool calls as the frame's. Where the frame's answer must fit
// a schema (its agent's `output_schema`, or that of who called it with
// CADRE_CALL_FINAL), the JSON in it is: text around it and a fence are left out.
// Errors: EINVAL, what is wrong with it in words for the model, for
// cadre_frame_correct; EFAILED of class bad_response, it was cut; ENOMEM. With no
// schema every answer is taken.
CADRE_API cadre_status cadre_frame_take_answer(cadre_frame *frame,
                                               const cadre_answer *answer,
                                               cadre_error *err);

// Says to the agent itself what is wrong with the answer just asked for; the next
// cadre_frame_ask_model reads it. The answer is a draft then, which others do not see.
// Errors: the sticky ones, ENOMEM.
CADRE_API cadre_status cadre_frame_correct(cadre_frame *frame, const char *text,
                                           cadre_error *err);

// Hands over to the `loop_fallback` of the frame's agent, since its loop came to no
// end: that answers in its place, and is told all that `call` shows the model, with all
// calls and results, as one message. No edge is needed, and no scope; only a member of
// the scope may go on handing over in it. `why` stands in the event. Return what it
// returns. Errors: EINVAL (there is no fallback), EREFUSED (the frame has handed over),
// ENOMEM.
CADRE_API cadre_status cadre_frame_fall_back(cadre_frame *frame,
                                             const cadre_model_call *call,
                                             const char *why, cadre_error *err);

// Ends the frame by a limit: completed when it has said something, else, and for a loop
// or max_steps in any case, failed with the formatted text, of class loop with that
// reason, else limit. Returns what `run` must return.
CADRE_API cadre_status cadre_frame_stop(cadre_frame *frame, cadre_stop_reason reason,
                                        cadre_error *err, const char *format, ...)
    CADRE_PRINTF(4, 5);

#ifdef __cplusplus
}
#endif

#endif
