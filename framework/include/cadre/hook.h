// Hooks: functions of one's own at fixed places of an agent's work: before it begins,
// around each call of a model and of a tool, after its answer. Those of team files are
// written in Lua and become the same (docs/hooks.md).
//
// 1. Hooks are set on an agent or on the team, then for every agent's frame. create and
//    before_* of the team come first, then the agent's; after_* and next the other way.
// 2. What answers from the record has no hooks: on resume they run for what was not
//    recorded yet, again from their top. So they are pure but for the operations of
//    their frame (call, batch, delegate, step, ask, now, random), which answer from the
//    record, and for the state they set, which is kept with the answer or the result.
//    Automatic keys in a hook: "create/<n>", "before_model/<turn>/<n>", ...; a key
//    that is given is one of the frame's.
// 3. What an answer or a result was before the after_* hooks is recorded first: a cut
//    while they run costs no second request and runs no tool twice.
// 4. A hook that fails fails its agent's frame, with class `hook` unless it gave
//    another. A sticky status is passed on.
// 5. Where an agent has an after_model hook, pieces of text are not shown as they come.
//
// Thread: the frame's; tool hooks: the call's own, those of one turn at once. No locks
// held; may block. What hooks are given lives until they return.
#ifndef CADRE_HOOK_H
#define CADRE_HOOK_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_team cadre_team;

// A call of a model, to be looked at; changed by the functions below.
typedef struct cadre_model_hook {
    int turn;           // of this frame, from 1
    const char *model;  // as the team calls it
    const char *system; // "" when there is none
    // In after_model:
    const char *text, *reasoning; // "" when there is none
    const cadre_tool_call *tool_calls;
    size_t n_tool_calls;
    cadre_finish finish;
    cadre_usage usage; // of this answer; zero when a hook gave it
} cadre_model_hook;

// A call of a tool, to be looked at; changed by the functions below.
typedef struct cadre_tool_hook {
    const char *name;
    const char *call_id;
    const json_t *arguments; // checked, defaults filled in
    bool is_control;         // it hands over; such a call can only be blocked
    // In after_tool:
    const char *result;
    cadre_result_code code;
} cadre_tool_hook;

// Each is optional. They return CADRE_OK, or what failed with `err` filled in.
typedef struct cadre_hooks {
    size_t struct_size;
    void *ctx;

    // Before the agent's `run`; not of a frame whose record says that it handed over.
    // CADRE_DONE: it has answered (cadre_frame_set_output, a delegate), and the agent
    // is not run; nor is it after a cadre_frame_transfer.
    cadre_status (*create)(void *ctx, cadre_frame *frame, cadre_error *err);

    // Before a request is made. May change it, or answer in its place.
    cadre_status (*before_model)(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err);

    // Before an answer is recorded, also one that a hook gave. May replace its text;
    // its tool calls stay.
    cadre_status (*after_model)(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err);

    // Before it is recorded that a tool runs, and before a person is asked for their
    // approval; not of a call of no tool or with wrong arguments. `frame`: the call's.
    cadre_status (*before_tool)(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err);

    // Before a result is recorded, also one that a hook gave, and those that say
    // `interrupted` or `restart_limit`; not of a control call, nor when the call was
    // stopped or its time was up. May replace the result's text.
    cadre_status (*after_tool)(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err);

    // After an answer, when the frame neither handed over nor was ended by a limit. May
    // set another output, hand over, or call others.
    cadre_status (*next)(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                         cadre_error *err);
} cadre_hooks;

#define CADRE_HOOKS(...)                                                               \
    (&(const cadre_hooks){.struct_size = sizeof(cadre_hooks), __VA_ARGS__})

// Sets the hooks of all agents' frames; copied; the last ones count. NULL: none.
CADRE_API void cadre_team_set_hooks(cadre_team *team, const cadre_hooks *hooks);

// In before_model: sends another system text, as it is. Errors: EINVAL (not UTF-8, or
// after_model), ENOMEM; so of all below.
CADRE_API cadre_status cadre_model_hook_set_system(cadre_model_hook *call,
                                                   const char *text, cadre_error *err);

// In before_model: adds a user turn behind all others, in this request only.
CADRE_API cadre_status cadre_model_hook_add_turn(cadre_model_hook *call,
                                                 const char *text, cadre_error *err);

// In before_model: gives the answer; no model is asked, and no further before_model
// hook. In after_model: replaces the answer's text.
CADRE_API cadre_status cadre_model_hook_answer(cadre_model_hook *call, const char *text,
                                               cadre_error *err);

// In before_tool: gives the tool other arguments, an object (copied); defaults are
// filled in. Errors: EINVAL also when the tool's parameters refuse them, or of a
// control call.
CADRE_API cadre_status cadre_tool_hook_set_arguments(cadre_tool_hook *call,
                                                     const json_t *arguments,
                                                     cadre_error *err);

// In before_tool: gives the result; the tool does not run, and no further before_tool
// hook does. In after_tool: replaces the result's text; its code stays. Errors: EINVAL
// also of a control call.
CADRE_API cadre_status cadre_tool_hook_set_result(cadre_tool_hook *call,
                                                  const char *text, cadre_error *err);

// In before_tool: the call is not done; the model reads `reason` with code `blocked`.
CADRE_API cadre_status cadre_tool_hook_block(cadre_tool_hook *call, const char *reason,
                                             cadre_error *err);

#ifdef __cplusplus
}
#endif

#endif
