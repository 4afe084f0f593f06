// Hooks at work: the functions of one place called in order, what they call kept apart
// from what their frame calls, and what they change kept in the record.
//
// Rules:
// 1. What hooks call has keys "<place>/<n>"; the count begins anew with each place.
// 2. Before the after_* hooks run, what they are given is kept as a step that has
//    ended: "after_model/<turn>" of the agent, "after_tool" of the call. A resume finds
//    it and neither asks nor runs again.
// 3. A hook's failure is its frame's, whatever `run` makes of it (work->hook_error).
//    One of a call that has ended is found in the record: in its output (a model's
//    call), or by a failed frame with the code `aborted` (a tool's).
//
// Thread: on the strand of the frame whose work the hooks use.
#ifndef CDR_HOOK_H
#define CDR_HOOK_H

#include "cadre/hook.h"

#include "tree/tree.h"

typedef enum cdr_hook_place {
    CDR_HOOK_CREATE,
    CDR_HOOK_BEFORE_MODEL,
    CDR_HOOK_AFTER_MODEL,
    CDR_HOOK_BEFORE_TOOL,
    CDR_HOOK_AFTER_TOOL,
    CDR_HOOK_NEXT
} cdr_hook_place;

// Is it a hook that calls the operation? EINVAL: it is not for hooks, or, when
// `unless_may_answer`, for create and next alone.
cadre_status cdr_hook_refuse(const cadre_frame *frame, bool unless_may_answer,
                             const char *function, cadre_error *err);

const char *cdr_hook_place_name(cdr_hook_place place);

// Has the agent, or its team, a hook there?
bool cdr_hook_has(const cadre_agent *agent, cdr_hook_place place);

// All hooks of one place, and what they are given.
typedef struct cdr_hook_call {
    cadre_frame *frame; // whose work they use
    cdr_hook_place place;
    int turn; // of a model's call
    cadre_model_hook *model;
    cadre_tool_hook *tool;
    const bool *is_given; // set by one of them: the others are not asked; may be NULL
} cdr_hook_call;

// Calls them in order, up to the first that is the last. Errors: DONE (create), the
// sticky ones, EPARKED, EFAILED with what to say of it.
cadre_status cdr_hook_call_all(const cdr_hook_call *call, cadre_error *err);

// Calls an agent's `run` with the create hooks before it and the next hooks after it.
cadre_status cdr_hook_run_agent(cadre_frame *frame, cadre_error *err);

// Keeps that a hook of this agent's frame failed. The first one stays.
void cdr_hook_note_failure(cadre_frame *frame, const cadre_error *why);

// Keeps a value as the output of a step that has ended; `value` is taken over, NULL: no
// memory. Errors: the sticky ones, ENOMEM.
cadre_status cdr_hook_keep_take(cadre_frame *frame, const char *key, const char *name,
                                json_t *value, cadre_error *err);

// What was kept under the key, in the record. New reference; NULL: nothing.
json_t *cdr_hook_kept(cadre_frame *frame, const char *key);

// A turn of the agent answers from the record: what its hooks had called is not asked
// for again, and a witness hears that this is as it should be.
void cdr_hook_witness_turn(cadre_frame *frame, int turn);

#endif
