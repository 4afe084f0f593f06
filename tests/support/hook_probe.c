// See hook_probe.h.
#include "support/hook_probe.h"

#include "base/buf.h"
#include "base/mutex.h"

#include <stdlib.h>
#include <string.h>

static cdr_mutex log_mu;
static cdr_buf hook_log;

const char *hook_probe_agent(const cadre_frame *frame)
{
    return cadre_agent_get_info(cadre_frame_agent(frame))->name;
}

static void note(const hook_probe *p, const char *place, cadre_frame *frame,
                 const char *more)
{
    cdr_mutex_lock(&log_mu);
    cdr_buf_printf(&hook_log, "%s %s %s%s%s\n", p->name, place, hook_probe_agent(frame),
                   more[0] == '\0' ? "" : " ", more);
    cdr_mutex_unlock(&log_mu);
}

static cadre_status probe_create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "create", frame, "");
    return p->create(frame, err);
}

static cadre_status probe_before_model(void *ctx, cadre_frame *frame,
                                       cadre_model_hook *call, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "before_model", frame, "");
    return p->before_model(frame, call, err);
}

static cadre_status probe_after_model(void *ctx, cadre_frame *frame,
                                      cadre_model_hook *call, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "after_model", frame, call->text);
    return p->after_model(frame, call, err);
}

static cadre_status probe_before_tool(void *ctx, cadre_frame *frame,
                                      cadre_tool_hook *call, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "before_tool", frame, call->name);
    return p->before_tool(frame, call, err);
}

static cadre_status probe_after_tool(void *ctx, cadre_frame *frame,
                                     cadre_tool_hook *call, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "after_tool", frame, cadre_result_code_name(call->code));
    return p->after_tool(frame, call, err);
}

static cadre_status probe_next(void *ctx, cadre_frame *frame,
                               const cadre_outcome *answer, cadre_error *err)
{
    const hook_probe *p = ctx;
    note(p, "next", frame, answer->text);
    return p->next(frame, answer, err);
}

// The probe must live as long as the team.
const cadre_hooks *hook_probe_hooks(const hook_probe *p)
{
    static cadre_hooks hooks;
    hooks = (cadre_hooks){.struct_size = sizeof hooks, .ctx = (void *)(uintptr_t)p};
    hooks.create = p->create == NULL ? NULL : probe_create;
    hooks.before_model = p->before_model == NULL ? NULL : probe_before_model;
    hooks.after_model = p->after_model == NULL ? NULL : probe_after_model;
    hooks.before_tool = p->before_tool == NULL ? NULL : probe_before_tool;
    hooks.after_tool = p->after_tool == NULL ? NULL : probe_after_tool;
    hooks.next = p->next == NULL ? NULL : probe_next;
    return &hooks;
}

// Hooks that only stand in the log.
cadre_status hook_pass(cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    (void)err;
    return CADRE_OK;
}

cadre_status hook_pass_model(cadre_frame *frame, cadre_model_hook *call,
                             cadre_error *err)
{
    (void)frame;
    (void)call;
    (void)err;
    return CADRE_OK;
}

cadre_status hook_pass_tool(cadre_frame *frame, cadre_tool_hook *call, cadre_error *err)
{
    (void)frame;
    (void)call;
    (void)err;
    return CADRE_OK;
}

cadre_status hook_pass_next(cadre_frame *frame, const cadre_outcome *answer,
                            cadre_error *err)
{
    (void)frame;
    (void)answer;
    (void)err;
    return CADRE_OK;
}

// --- Teams ---

void hook_probe_open(team_case *t)
{
    cdr_mutex_init(&log_mu);
    cdr_buf_clear(&hook_log);
    team_case_open(t);
}

void hook_probe_close(team_case *t)
{
    team_case_close(t);
    cdr_buf_fini(&hook_log);
    cdr_mutex_fini(&log_mu);
}

void hook_probe_open_alice(team_case *t, adder *adds, const hook_probe *own)
{
    hook_probe_open(t);
    memset(adds, 0, sizeof *adds);
    team_case_add_adder(t, adds);
    cadre_team_add_llm(t->team,
                       CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                 .instructions = "Be brief.",
                                 .tools = CADRE_NAMES("add"), .max_turns = 3,
                                 .hooks = own == NULL ? NULL : hook_probe_hooks(own)));
}

void hook_probe_open_lead(team_case *t, hook_work work, const hook_probe *own)
{
    hook_probe_open(t);
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "lead", .run = work,
                                                    .members = CADRE_NAMES("alice"),
                                                    .hooks = hook_probe_hooks(own)));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_set_root(t->team, "lead");
}

cadre_status hook_call_alice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "alice"), .input = "go"),
        NULL, err);
}

void hook_probe_open_desk(team_case *t, adder *adds, const hook_probe *team)
{
    hook_probe_open(t);
    team_case_add_desk(t, NULL, adds);
    cadre_team_set_hooks(t->team, hook_probe_hooks(team));
}

// --- Checks ---

void hook_probe_check_log(const char *expected)
{
    CHECK_TEXT(cdr_buf_text(&hook_log), expected);
}

void hook_probe_check_frames(team_case *t, const char *expected)
{
    char *frames = team_case_frames(t);
    CHECK_TEXT(frames, expected);
    free(frames);
}

void hook_probe_check_failure(const team_case *t, cadre_error_class error_class,
                              const char *text)
{
    CHECK_STATUS(t->status, CADRE_EFAILED, NULL);
    if (!CHECK(t->result != NULL))
        return;
    CHECK_TEXT(cadre_frame_status_name(t->result->status), "failed");
    CHECK_TEXT(cadre_error_class_name(t->result->error.error_class),
               cadre_error_class_name(error_class));
    CHECK_TEXT(t->result->error.message, text);
}

static json_t *give_true(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return json_true();
}

cadre_status hook_take_step(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_step(frame, CADRE_STEP(.name = "look", .run = give_true), NULL,
                            err);
}
