// Hooks under test: functions that a test fills in, a log of which were asked, and
// teams to ask them in. With a team_case; one at a time.
//
// Running out of memory ends the program. Thread: the test's; the log: any.
#ifndef SUPPORT_HOOK_PROBE_H
#define SUPPORT_HOOK_PROBE_H

#include "support/team_case.h"

// What a test has its hooks do; what is NULL is no hook.
typedef struct hook_probe {
    const char *name; // in the log
    cadre_status (*create)(cadre_frame *frame, cadre_error *err);
    cadre_status (*before_model)(cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err);
    cadre_status (*after_model)(cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err);
    cadre_status (*before_tool)(cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err);
    cadre_status (*after_tool)(cadre_frame *frame, cadre_tool_hook *call,
                               cadre_error *err);
    cadre_status (*next)(cadre_frame *frame, const cadre_outcome *answer,
                         cadre_error *err);
} hook_probe;

// Hooks that only stand in the log.
cadre_status hook_pass(cadre_frame *frame, cadre_error *err);
cadre_status hook_pass_model(cadre_frame *frame, cadre_model_hook *call,
                             cadre_error *err);
cadre_status hook_pass_tool(cadre_frame *frame, cadre_tool_hook *call,
                            cadre_error *err);
cadre_status hook_pass_next(cadre_frame *frame, const cadre_outcome *answer,
                            cadre_error *err);

// The hooks of a probe, which must live as long as the team. Good until the next call.
const cadre_hooks *hook_probe_hooks(const hook_probe *probe);

// An empty team, and an empty log.
void hook_probe_open(team_case *t);
void hook_probe_close(team_case *t);

// One agent, alice, with the adder and these hooks of its own; NULL: none.
void hook_probe_open_alice(team_case *t, adder *adds, const hook_probe *own);

// A function `lead` with these hooks over alice, an llm that has none.
typedef cadre_status (*hook_work)(void *ctx, cadre_frame *frame, cadre_error *err);
void hook_probe_open_lead(team_case *t, hook_work work, const hook_probe *own);
cadre_status hook_call_alice(void *ctx, cadre_frame *frame, cadre_error *err);

// A handoff over alice, bob and carol; the hooks are the team's.
void hook_probe_open_desk(team_case *t, adder *adds, const hook_probe *team);

const char *hook_probe_agent(const cadre_frame *frame);

// "own after_tool alice ok", a line for each hook that was asked.
void hook_probe_check_log(const char *expected);
void hook_probe_check_frames(team_case *t, const char *expected);
void hook_probe_check_failure(const team_case *t, cadre_error_class error_class,
                              const char *text);

// A step "look".
cadre_status hook_take_step(cadre_frame *frame, cadre_error *err);

#endif
