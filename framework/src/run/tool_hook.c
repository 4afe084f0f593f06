// See tool_hook.h.
#include "run/tool_hook.h"

#include "base/schema.h"
#include "run/arguments.h"
#include "run/execute.h"
#include "run/hook.h"
#include "run/state.h"
#include "run/tool_request.h"
#include "run/tool_result.h"
#include "tree/delta.h"

#include <stdlib.h>
#include <string.h>

// The hooks of one place, for one call.
typedef struct tool_hook {
    cadre_tool_hook shown; // first: what hooks have a pointer to
    cdr_tool_entry *entry;
    char *text;    // that a hook gave as the result; NULL: none did
    bool is_given; // in before_tool: the tool does not run
    bool is_blocked;
    bool is_after;
} tool_hook;

// --- What hooks do with a call ---

static tool_hook *own_of(cadre_tool_hook *call)
{
    return (tool_hook *)call; // its first member
}

static cadre_status refuse(const cadre_tool_hook *call, const char *function,
                           const char *why, cadre_error *err)
{
    return cadre_fail(err, CADRE_EINVAL, "'%s': %s %s", call->name, function, why);
}

static cadre_status take_result(tool_hook *hook, const char *text, const char *function,
                                cadre_error *err)
{
    cadre_status status =
        cdr_check_text((cdr_argument){hook->shown.name, function}, text, err);
    if (status != CADRE_OK)
        return status;
    char *copy = strdup(text);
    if (copy == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for a hook",
                          hook->shown.name);
    free(hook->text);
    hook->text = copy;
    if (hook->is_after)
        hook->shown.result = copy;
    else
        hook->is_given = true;
    return CADRE_OK;
}

// Arguments as a call of the model would be taken. New reference; NULL: `err`.
static json_t *checked(const cdr_tool_entry *entry, const json_t *given,
                       cadre_error *err)
{
    const cdr_schema_plan *plan = entry->tool->plan;
    json_t *own = json_deep_copy(given);
    if (own == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for the arguments");
    } else if (plan != NULL && cdr_schema_plan_take(plan, &own, err) != CADRE_OK) {
        json_decref(own);
        own = NULL;
    }
    return own;
}

cadre_status cadre_tool_hook_set_arguments(cadre_tool_hook *call,
                                           const json_t *arguments, cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    if (call == NULL || arguments == NULL)
        return cdr_fail_null(err, __func__);
    tool_hook *hook = own_of(call);
    if (hook->is_after || call->is_control)
        return refuse(
            call, __func__,
            hook->is_after ? "is for before_tool" : "is not for control calls", err);
    if (!json_is_object(arguments))
        return refuse(call, __func__, "needs an object", err);
    json_t *own = checked(hook->entry, arguments, &failure);
    if (own == NULL)
        return cadre_fail(err,
                          failure.status == CADRE_ENOMEM ? CADRE_ENOMEM : CADRE_EINVAL,
                          "'%s': %s: %s", call->name, __func__, failure.text);
    json_decref(hook->entry->arguments);
    hook->entry->arguments = own;
    call->arguments = own;
    return CADRE_OK;
}

cadre_status cadre_tool_hook_set_result(cadre_tool_hook *call, const char *text,
                                        cadre_error *err)
{
    if (call == NULL || text == NULL)
        return cdr_fail_null(err, __func__);
    if (call->is_control)
        return refuse(call, __func__, "is not for control calls", err);
    return take_result(own_of(call), text, __func__, err);
}

cadre_status cadre_tool_hook_block(cadre_tool_hook *call, const char *reason,
                                   cadre_error *err)
{
    if (call == NULL || reason == NULL)
        return cdr_fail_null(err, __func__);
    if (own_of(call)->is_after)
        return refuse(call, __func__, "is for before_tool", err);
    cadre_status status = take_result(own_of(call), reason, __func__, err);
    if (status == CADRE_OK)
        own_of(call)->is_blocked = true;
    return status;
}

// --- Calling them ---

static void settle(cadre_frame *frame, cdr_tool_entry *entry,
                   const cdr_tool_result *result)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_tool_settle_locked(frame, entry, result);
    cdr_mutex_unlock(&frame->tree->mu);
}

static void settle_stopped(cadre_frame *frame, cdr_tool_entry *entry)
{
    bool is_late = entry->frame->mark == CDR_MARK_TIMEOUT;
    settle(frame, entry,
           &(cdr_tool_result){.code =
                                  is_late ? CADRE_RESULT_TIMEOUT : CADRE_RESULT_ABORTED,
                              .text = is_late ? "the tool's time is up" : "aborted"});
}

// The hook's failure is the agent's, once the turn's other calls are done.
static void settle_failed(cadre_frame *frame, cdr_tool_entry *entry,
                          const tool_hook *hook, const cadre_error *why)
{
    entry->hook_error = malloc(sizeof *entry->hook_error);
    if (entry->hook_error == NULL) {
        cdr_mutex_lock(&frame->tree->mu);
        cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for a hook's failure");
        cdr_mutex_unlock(&frame->tree->mu);
        return;
    }
    *entry->hook_error = *why;
    settle(frame, entry,
           &(cdr_tool_result){
               .code = CADRE_RESULT_ABORTED,
               .text = hook->is_after ? "This call was made, but the hook that looks "
                                        "at results failed."
                                      : "Not done: the hook before it failed.",
               .hook_error = why});
}

static tool_hook hook_of(cdr_tool_entry *entry, bool is_after)
{
    return (tool_hook){.shown = {.name = entry->call->name,
                                 .call_id = entry->call->id,
                                 .arguments = entry->arguments,
                                 .is_control = cdr_tool_is_control(entry),
                                 .result = "",
                                 .code = CADRE_RESULT_OK},
                       .entry = entry,
                       .is_after = is_after};
}

// Calls the hooks with a work of their own. True: they are through. False: the call
// waits, or was settled because it was stopped or a hook failed.
static bool call_hooks(cadre_frame *frame, tool_hook *hook, cdr_strand *strand)
{
    cdr_tool_entry *entry = hook->entry;
    cadre_frame *call_frame = entry->frame;
    cadre_error err = CADRE_ERROR_INIT;
    if (!cdr_work_begin(call_frame, strand)) {
        cadre_fail(&err, CADRE_ENOMEM, "no memory for a hook");
        settle_failed(frame, entry, hook, &err);
        return false;
    }
    call_frame->work->call_id = entry->call->id;
    const cdr_hook_call call = {.frame = call_frame,
                                .place = hook->is_after ? CDR_HOOK_AFTER_TOOL
                                                        : CDR_HOOK_BEFORE_TOOL,
                                .tool = &hook->shown,
                                .is_given = &hook->is_given};
    cadre_status status = cdr_frame_stopped(call_frame, &err);
    if (status == CADRE_OK)
        status = cdr_hook_call_all(&call, &err);
    if (call_frame->work->sticky == CADRE_EPARKED)
        status = CADRE_EPARKED;
    entry->is_parked = cdr_is_parked(call_frame, status, &err);
    cdr_work_free(cdr_work_end(call_frame));
    if (status == CADRE_OK && call_frame->mark == CDR_MARK_NONE)
        return true;
    if (entry->is_parked) {
        cdr_mutex_lock(&frame->tree->mu);
        // One that was cut while its hooks looked at it has run, as the record has it.
        if (call_frame->was_running && call_frame->status == CADRE_FRAME_PENDING)
            call_frame->status = CADRE_FRAME_RUNNING;
        cdr_frame_park_locked(call_frame);
        cdr_mutex_unlock(&frame->tree->mu);
    } else if (call_frame->mark != CDR_MARK_NONE) {
        settle_stopped(frame, entry);
    } else {
        settle_failed(frame, entry, hook, &err);
    }
    return false;
}

bool cdr_tool_hook_has_before(const cadre_frame *frame)
{
    return cdr_hook_has(frame->agent, CDR_HOOK_BEFORE_TOOL);
}

bool cdr_tool_hook_has_after(const cadre_frame *frame, const cdr_tool_entry *entry)
{
    return cdr_hook_has(frame->agent, CDR_HOOK_AFTER_TOOL) &&
           !cdr_tool_is_control(entry);
}

bool cdr_tool_hook_before(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand)
{
    if (!cdr_tool_hook_has_before(frame))
        return true;
    tool_hook hook = hook_of(entry, false);
    bool goes_on = call_hooks(frame, &hook, strand);
    if (goes_on && hook.is_given) {
        entry->is_of_hook = true;
        cdr_tool_hook_settle(
            frame, entry, strand,
            &(cdr_tool_raw){hook.is_blocked ? CADRE_RESULT_BLOCKED : CADRE_RESULT_OK,
                            hook.text});
        goes_on = false;
    }
    free(hook.text);
    return goes_on;
}

// --- What a call came to before its hooks changed it ---

static cadre_status keep(const cdr_tool_entry *entry, const cdr_tool_raw *raw,
                         cadre_error *err)
{
    json_t *value = json_pack(
        "{s:s, s:s, s:b, s:O}", "code", cadre_result_code_name(raw->code), "text",
        raw->text, "is_of_hook", entry->is_of_hook, "arguments", entry->arguments);
    if (entry->frame->delta != NULL &&
        json_object_set(value, "delta", entry->frame->delta) != 0) {
        json_decref(value);
        value = NULL;
    }
    return cdr_hook_keep_take(entry->frame, cdr_hook_place_name(CDR_HOOK_AFTER_TOOL),
                              "result", value, err);
}

static cadre_result_code code_of(const json_t *kept)
{
    const char *name = json_string_value(json_object_get(kept, "code"));
    int code = CADRE_RESULT_OK;
    while (name != NULL && code < CADRE_RESULT_ABORTED &&
           strcmp(name, cadre_result_code_name((cadre_result_code)code)) != 0)
        code++;
    return (cadre_result_code)code;
}

// What the call had added to the state by then: it does not run again.
static void restore_delta(cadre_frame *call_frame, json_t *delta)
{
    cadre_error why = CADRE_ERROR_INIT;
    cdr_mutex_lock(&call_frame->tree->mu);
    cdr_state_inherit_locked(call_frame);
    cdr_mutex_unlock(&call_frame->tree->mu);
    if (cdr_delta_add(call_frame, delta, &why) == CADRE_OK)
        return;
    cdr_mutex_lock(&call_frame->tree->mu);
    cadre_fail(&call_frame->tree->lost, CADRE_ESTORE, "%s", why.text);
    cdr_mutex_unlock(&call_frame->tree->mu);
}

bool cdr_tool_hook_recall(cadre_frame *frame, cdr_tool_entry *entry)
{
    if (entry->frame == NULL || !entry->is_again ||
        !cdr_tool_hook_has_after(frame, entry))
        return false;
    json_t *kept =
        cdr_hook_kept(entry->frame, cdr_hook_place_name(CDR_HOOK_AFTER_TOOL));
    const char *text = json_string_value(json_object_get(kept, "text"));
    entry->raw = text == NULL ? NULL : strdup(text);
    entry->raw_code = code_of(kept);
    entry->is_of_hook = json_is_true(json_object_get(kept, "is_of_hook"));
    entry->arguments = json_incref(json_object_get(kept, "arguments"));
    if (entry->raw != NULL)
        restore_delta(entry->frame, json_object_get(kept, "delta"));
    json_decref(kept);
    return entry->raw != NULL;
}

// The time of the tool is not that of its hooks.
static void lift_deadline(cadre_frame *frame, cadre_frame *call_frame)
{
    cdr_mutex_lock(&frame->tree->mu);
    call_frame->deadline_ms = frame->deadline_ms;
    cdr_mutex_unlock(&frame->tree->mu);
}

// Keeps the result and calls after_tool, then settles what became of it.
static void settle_after(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand,
                         const cdr_tool_raw *raw)
{
    cadre_error err = CADRE_ERROR_INIT;
    tool_hook hook = hook_of(entry, true);
    hook.shown.result = raw->text;
    hook.shown.code = raw->code;
    lift_deadline(frame, entry->frame);
    cadre_status status = keep(entry, raw, &err);
    if (status != CADRE_OK && entry->frame->mark != CDR_MARK_NONE)
        settle_stopped(frame, entry);
    else if (status != CADRE_OK)
        settle_failed(frame, entry, &hook, &err);
    else if (call_hooks(frame, &hook, strand))
        settle(frame, entry,
               &(cdr_tool_result){.code = raw->code,
                                  .text = hook.shown.result,
                                  .is_of_hook = entry->is_of_hook});
    free(hook.text);
}

void cdr_tool_hook_settle(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand,
                          const cdr_tool_raw *raw)
{
    bool is_stopped = entry->frame->mark != CDR_MARK_NONE ||
                      raw->code == CADRE_RESULT_TIMEOUT ||
                      raw->code == CADRE_RESULT_ABORTED;
    if (is_stopped || !cdr_tool_hook_has_after(frame, entry)) {
        settle(frame, entry,
               &(cdr_tool_result){.code = raw->code,
                                  .text = raw->text,
                                  .is_of_hook = entry->is_of_hook});
        return;
    }
    char *cut = entry->is_recorded ? NULL : cdr_tool_cap(raw->text);
    entry->is_recorded = false; // what its hooks make of it is cut and noted anew
    settle_after(frame, entry, strand,
                 &(cdr_tool_raw){raw->code, cut == NULL ? raw->text : cut});
    free(cut);
}
