// See hook.h.
#include "run/hook.h"

#include "run/call.h"
#include "run/execute.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cadre_status cdr_hook_refuse(const cadre_frame *frame, bool unless_may_answer,
                             const char *function, cadre_error *err)
{
    const cdr_hook_keys *keys = frame->work == NULL ? NULL : frame->work->hook_keys;
    if (keys == NULL || (unless_may_answer && keys->may_answer))
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL, "'%s': %s is not for hooks%s", frame->name,
                      function,
                      unless_may_answer ? " of a model's or a tool's call" : "");
}

const char *cdr_hook_place_name(cdr_hook_place place)
{
    return cdr_hook_names[place];
}

static bool has(const cadre_hooks *hooks, cdr_hook_place place)
{
    if (hooks == NULL)
        return false;
    switch (place) {
    case CDR_HOOK_CREATE:
        return hooks->create != NULL;
    case CDR_HOOK_BEFORE_MODEL:
        return hooks->before_model != NULL;
    case CDR_HOOK_AFTER_MODEL:
        return hooks->after_model != NULL;
    case CDR_HOOK_BEFORE_TOOL:
        return hooks->before_tool != NULL;
    case CDR_HOOK_AFTER_TOOL:
        return hooks->after_tool != NULL;
    case CDR_HOOK_NEXT:
        return hooks->next != NULL;
    }
    return false;
}

bool cdr_hook_has(const cadre_agent *agent, cdr_hook_place place)
{
    return has(agent->hooks, place) || has(agent->team->hooks, place);
}

// --- Calling ---

// The answer as it stands: the hook before may have set another.
static cadre_status call_next(const cadre_hooks *hooks, cadre_frame *frame,
                              cadre_error *err)
{
    cdr_work *work = frame->work;
    const char *text = cdr_text_bytes(work->output);
    cadre_outcome answer = {.text = cdr_arena_copy(&work->arena, text, strlen(text)),
                            .agent = work->answered_by == NULL ? frame->name
                                                               : work->answered_by,
                            .error = "",
                            .status = CADRE_FRAME_COMPLETED,
                            .stop_reason = CADRE_STOP_FINAL};
    if (answer.text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the answer");
    cdr_mutex_lock(&frame->tree->mu);
    answer.usage = frame->usage;
    cdr_mutex_unlock(&frame->tree->mu);
    return hooks->next(hooks->ctx, frame, &answer, err);
}

static cadre_status call_one(const cadre_hooks *hooks, const cdr_hook_call *call,
                             cadre_error *err)
{
    void *ctx = hooks->ctx;
    cadre_frame *frame = call->frame;
    switch (call->place) {
    case CDR_HOOK_CREATE:
        return hooks->create(ctx, frame, err);
    case CDR_HOOK_BEFORE_MODEL:
        return hooks->before_model(ctx, frame, call->model, err);
    case CDR_HOOK_AFTER_MODEL:
        return hooks->after_model(ctx, frame, call->model, err);
    case CDR_HOOK_BEFORE_TOOL:
        return hooks->before_tool(ctx, frame, call->tool, err);
    case CDR_HOOK_AFTER_TOOL:
        return hooks->after_tool(ctx, frame, call->tool, err);
    case CDR_HOOK_NEXT:
        return call_next(hooks, frame, err);
    }
    return CADRE_OK;
}

static bool is_around_run(const cdr_hook_call *call)
{
    return call->place == CDR_HOOK_CREATE || call->place == CDR_HOOK_NEXT;
}

static bool is_over(const cdr_hook_call *call)
{
    return (is_around_run(call) && call->frame->work->transfer != NULL) ||
           (call->is_given != NULL && *call->is_given);
}

// A hook's failure, by its own class where it gave one.
static cadre_status fail(const cdr_hook_call *call, cadre_status status,
                         const cadre_error *why, cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    char silent[64];
    bool has_class = why->status != CADRE_OK && why->error_class != CADRE_CLASS_NONE &&
                     why->error_class != CADRE_CLASS_ERROR;
    (void)snprintf(silent, sizeof silent, "it returned '%s' without saying why",
                   cadre_status_name(status));
    cadre_fail_class(
        &failure, CADRE_EFAILED, has_class ? why->error_class : CADRE_CLASS_HOOK,
        why->retryable, "agent '%s': hook %s: %s", call->frame->agent->info.name,
        cdr_hook_place_name(call->place), why->text[0] == '\0' ? silent : why->text);
    if (call->frame->kind == CDR_FRAME_AGENT)
        cdr_hook_note_failure(call->frame, &failure);
    return cadre_fail_class(err, CADRE_EFAILED, failure.error_class, failure.retryable,
                            "%s", failure.text);
}

static bool is_passed_on(const cdr_hook_call *call, cadre_status status)
{
    return status == CADRE_EPARKED ||
           (status == CADRE_ESCALATED && is_around_run(call));
}

// What a hook that returned `status` comes to; a stop wins over what it made of it.
static cadre_status judge(const cdr_hook_call *call, cadre_status status,
                          const cadre_error *why, cadre_error *err)
{
    cadre_status stopped = cdr_check_frame(call->frame, err);
    if (stopped != CADRE_OK)
        return stopped;
    if (status == CADRE_OK)
        return CADRE_OK;
    if (status == CADRE_DONE && call->place == CDR_HOOK_CREATE) {
        if (call->frame->work->output != NULL || call->frame->work->transfer != NULL)
            return CADRE_DONE;
        cadre_error none = CADRE_ERROR_INIT;
        cadre_fail(&none, CADRE_EINVAL,
                   "it returned CADRE_DONE and has neither answered nor handed over");
        return fail(call, status, &none, err);
    }
    if (!is_passed_on(call, status))
        return fail(call, status, why, err);
    if (why->status == CADRE_OK)
        return status;
    return cadre_fail_class(err, status, why->error_class, why->retryable, "%s",
                            why->text);
}

cadre_status cdr_hook_call_all(const cdr_hook_call *call, cadre_error *err)
{
    const cadre_agent *agent = call->frame->agent;
    cdr_work *work = call->frame->work;
    cdr_hook_keys keys = {.may_answer = is_around_run(call)};
    bool agent_first = call->place == CDR_HOOK_AFTER_MODEL ||
                       call->place == CDR_HOOK_AFTER_TOOL ||
                       call->place == CDR_HOOK_NEXT;
    const cadre_hooks *const order[] = {agent_first ? agent->hooks : agent->team->hooks,
                                        agent_first ? agent->team->hooks
                                                    : agent->hooks};
    cadre_status status = CADRE_OK;
    assert(work->hook_keys == NULL);
    (void)snprintf(keys.prefix, sizeof keys.prefix,
                   call->model == NULL ? "%s" : "%s/%d",
                   cdr_hook_place_name(call->place), call->turn);
    work->hook_keys = &keys;
    for (int i = 0; i < 2 && status == CADRE_OK && !is_over(call); i++) {
        cadre_error why = CADRE_ERROR_INIT;
        if (has(order[i], call->place))
            status = judge(call, call_one(order[i], call, &why), &why, err);
    }
    work->hook_keys = NULL;
    return status;
}

// --- Around `run` ---

void cdr_hook_note_failure(cadre_frame *frame, const cadre_error *why)
{
    cdr_work *work = frame->work;
    if (work->hook_error != NULL)
        return;
    work->hook_error = cdr_arena_alloc(&work->arena, sizeof *work->hook_error);
    if (work->hook_error != NULL)
        *work->hook_error = *why;
}

// Is there an answer that is not what a limit left?
static bool has_answered(const cadre_frame *frame)
{
    const cdr_work *work = frame->work;
    return work->transfer == NULL && work->stop_reason == CADRE_STOP_NONE &&
           (work->answer_reason == CADRE_STOP_NONE ||
            work->answer_reason == CADRE_STOP_FINAL);
}

static cadre_status call_around(cadre_frame *frame, cdr_hook_place place,
                                cadre_error *err)
{
    const cdr_hook_call call = {.frame = frame, .place = place};
    if (!cdr_hook_has(frame->agent, place))
        return CADRE_OK;
    cadre_status status = cdr_check_frame(frame, err);
    return status == CADRE_OK ? cdr_hook_call_all(&call, err) : status;
}

cadre_status cdr_hook_run_agent(cadre_frame *frame, cadre_error *err)
{
    const cadre_agent *agent = frame->agent;
    cadre_status status = call_around(frame, CDR_HOOK_CREATE, err);
    if (status == CADRE_DONE)
        status = CADRE_OK;
    else if (status == CADRE_OK && frame->work->transfer == NULL)
        status = agent->ops->run(agent->state, frame, err);
    if (status == CADRE_OK && frame->work->hook_error == NULL && has_answered(frame))
        status = call_around(frame, CDR_HOOK_NEXT, err);
    const cadre_error *failed = frame->work->hook_error;
    if (failed == NULL || status == CADRE_EPARKED)
        return status;
    cadre_error_clear(err);
    return cadre_fail_class(err, CADRE_EFAILED, failed->error_class, failed->retryable,
                            "%s", failed->text);
}

// --- Keeping ---

cadre_status cdr_hook_keep_take(cadre_frame *frame, const char *key, const char *name,
                                json_t *value, cadre_error *err)
{
    cadre_frame *kept = NULL;
    cdr_entered how = CDR_ENTERED_NEW;
    char *text = value == NULL ? NULL : json_dumps(value, JSON_COMPACT);
    cdr_text *output = text == NULL ? NULL : cdr_text_new(text, strlen(text));
    const cdr_birth birth = {
        .kind = CDR_FRAME_TOOL, .name = name, .agent = frame->agent, .key = key};
    json_decref(value);
    free(text);
    if (output == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for what hooks are given",
                          frame->name);
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_frame_enter_locked(frame, &birth, &kept, &how, err);
    if (status == CADRE_OK && how != CDR_ENTERED_RECORD) {
        cdr_frame_end_locked(kept, &(cdr_ending){.status = CADRE_FRAME_COMPLETED,
                                                 .stop_reason = CADRE_STOP_FINAL,
                                                 .output = output});
        cdr_frame_release_locked(kept);
    }
    cdr_mutex_unlock(&frame->tree->mu);
    cdr_text_unref(output);
    return status;
}

json_t *cdr_hook_kept(cadre_frame *frame, const char *key)
{
    cdr_text *output = NULL;
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *kept = cdr_frame_child_locked(frame, key);
    if (kept != NULL && kept->status == CADRE_FRAME_COMPLETED) {
        output = cdr_text_ref(kept->output);
        cdr_frame_witness_locked(kept, "");
    }
    cdr_mutex_unlock(&frame->tree->mu);
    json_t *value = json_loads(cdr_text_bytes(output), 0, NULL);
    cdr_text_unref(output);
    return value;
}

void cdr_hook_witness_turn(cadre_frame *frame, int turn)
{
    static const cdr_hook_place places[] = {CDR_HOOK_BEFORE_MODEL,
                                            CDR_HOOK_AFTER_MODEL};
    char prefix[40];
    if (frame->tree->runtime->witness == NULL)
        return;
    cdr_mutex_lock(&frame->tree->mu);
    for (int i = 0; i < 2; i++) {
        int n = snprintf(prefix, sizeof prefix, "%s/%d", cdr_hook_place_name(places[i]),
                         turn);
        for (const cadre_frame *child = frame->kept_children; child != NULL;
             child = child->next) {
            const char *rest = child->key + n;
            if (strncmp(child->key, prefix, (size_t)n) == 0 &&
                (rest[0] == '\0' || rest[0] == '/'))
                cdr_frame_witness_locked(child, cdr_text_bytes(child->input));
        }
    }
    cdr_mutex_unlock(&frame->tree->mu);
}
