// The hooks of one model call: what they are given, and what they change.
//
// Thread: on the strand that asks.
#ifndef CDR_MODEL_HOOK_H
#define CDR_MODEL_HOOK_H

#include "run/hook.h"

#include "net/answer.h"

typedef struct cdr_model_hook {
    cadre_model_hook shown; // first: what hooks have a pointer to
    cadre_frame *frame;     // of the agent
    cdr_arena arena;        // of what hooks gave
    const char **turns;     // user turns that were added
    size_t n_turns;
    const char *answer; // that a hook gave in this place; NULL: none did
    bool is_given;      // before the call: no model is asked
    bool is_after;
    bool has_delta; // the frame's delta is what hooks of this turn have added:
    json_t *delta;  // what it was before
} cdr_model_hook;

// Calls before_model for the frame's turn. `system` is rendered; it and the model's
// name must outlive the hook. Errors: as of cdr_hook_call_all.
cadre_status cdr_model_hook_before(cdr_model_hook *hook, cadre_frame *frame,
                                   const char *model, const char *system,
                                   cadre_error *err);
void cdr_model_hook_fini(cdr_model_hook *hook);

// What the hooks of this turn have added to the state becomes that of the call's frame,
// which is about to end: who answers from its record adds it without hooks.
void cdr_model_hook_keep_delta_locked(const cdr_model_hook *hook, cadre_frame *call);

// Fills the answer with what a before_model hook gave. False: no memory.
bool cdr_model_hook_give(const cdr_model_hook *hook, cadre_sink *sink);

// Fills the answer with the one that a run was cut with, while its after_model hooks
// ran. False: there is none, or no memory for it.
bool cdr_model_hook_recall(const cdr_model_hook *hook, cadre_sink *sink);

// Keeps the answer and calls after_model, which may change its text. Errors: as of
// cdr_hook_call_all, ENOMEM.
cadre_status cdr_model_hook_after(cdr_model_hook *hook, cadre_sink *sink,
                                  cadre_error *err);

#endif
