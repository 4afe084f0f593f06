// See model_hook.h.
#include "run/model_hook.h"

#include "run/arguments.h"
#include "tree/delta.h"

#include <stdio.h>
#include <string.h>

// --- What hooks do with a call ---

static cdr_model_hook *own_of(cadre_model_hook *call)
{
    return (cdr_model_hook *)call; // its first member
}

// A copy of a text that a hook gave. NULL: `err`.
static const char *take_text(cadre_model_hook *call, const char *text,
                             const char *function, cadre_error *err)
{
    if (call == NULL || text == NULL) {
        cdr_fail_null(err, function);
        return NULL;
    }
    cdr_model_hook *hook = own_of(call);
    if (cdr_check_text((cdr_argument){hook->frame->name, function}, text, err) !=
        CADRE_OK)
        return NULL;
    const char *copy = cdr_arena_copy(&hook->arena, text, strlen(text));
    if (copy == NULL)
        cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for a hook", hook->frame->name);
    return copy;
}

// The status of a failure that take_text has told of, which `err` may not be there for.
static cadre_status status_of(const cadre_error *failure, cadre_error *err)
{
    return cadre_fail(err, failure->status, "%s", failure->text);
}

// Text for the request; after it there is none to change.
static const char *take_for_request(cadre_model_hook *call, const char *text,
                                    const char *function, cadre_error *err)
{
    if (call != NULL && own_of(call)->is_after) {
        cadre_fail(err, CADRE_EINVAL, "'%s': %s is for before_model",
                   own_of(call)->frame->name, function);
        return NULL;
    }
    return take_text(call, text, function, err);
}

cadre_status cadre_model_hook_set_system(cadre_model_hook *call, const char *text,
                                         cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    const char *copy = take_for_request(call, text, __func__, &failure);
    if (copy == NULL)
        return status_of(&failure, err);
    call->system = copy;
    return CADRE_OK;
}

cadre_status cadre_model_hook_add_turn(cadre_model_hook *call, const char *text,
                                       cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    const char *copy = take_for_request(call, text, __func__, &failure);
    if (copy == NULL)
        return status_of(&failure, err);
    cdr_model_hook *hook = own_of(call);
    const char **grown =
        cdr_arena_grow(&hook->arena, (void *)hook->turns, hook->n_turns, sizeof *grown);
    if (grown == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for a hook",
                          hook->frame->name);
    hook->turns = grown;
    hook->turns[hook->n_turns++] = copy;
    return CADRE_OK;
}

cadre_status cadre_model_hook_answer(cadre_model_hook *call, const char *text,
                                     cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    const char *copy = take_text(call, text, __func__, &failure);
    if (copy == NULL)
        return status_of(&failure, err);
    cdr_model_hook *hook = own_of(call);
    hook->answer = copy;
    if (hook->is_after)
        call->text = copy;
    else
        hook->is_given = true;
    return CADRE_OK;
}

// --- What hooks add to the state ---

static void set_delta_aside(cdr_model_hook *hook)
{
    cadre_frame *frame = hook->frame;
    hook->has_delta = cdr_hook_has(frame->agent, CDR_HOOK_BEFORE_MODEL) ||
                      cdr_hook_has(frame->agent, CDR_HOOK_AFTER_MODEL);
    if (!hook->has_delta)
        return;
    hook->delta = frame->delta;
    frame->delta = NULL;
}

static void join_delta(cdr_model_hook *hook)
{
    cadre_frame *frame = hook->frame;
    cdr_tree *tree = frame->tree;
    json_t *added = frame->delta;
    frame->delta = hook->delta;
    if (!cdr_delta_append(tree->team, &frame->delta, added)) {
        cdr_mutex_lock(&tree->mu);
        cadre_fail(&tree->lost, CADRE_ESTORE, "no memory for the state");
        cdr_mutex_unlock(&tree->mu);
    }
    cdr_json_unshare(added);
}

void cdr_model_hook_keep_delta_locked(const cdr_model_hook *hook, cadre_frame *call)
{
    if (hook->has_delta)
        call->delta = cdr_json_share(hook->frame->delta);
}

// --- Before ---

cadre_status cdr_model_hook_before(cdr_model_hook *hook, cadre_frame *frame,
                                   const char *model, const char *system,
                                   cadre_error *err)
{
    *hook = (cdr_model_hook){.shown = {.turn = frame->work->turn,
                                       .model = model,
                                       .system = system,
                                       .text = "",
                                       .reasoning = ""},
                             .frame = frame};
    set_delta_aside(hook);
    if (!cdr_hook_has(frame->agent, CDR_HOOK_BEFORE_MODEL))
        return CADRE_OK;
    const cdr_hook_call call = {.frame = frame,
                                .place = CDR_HOOK_BEFORE_MODEL,
                                .turn = hook->shown.turn,
                                .model = &hook->shown,
                                .is_given = &hook->is_given};
    return cdr_hook_call_all(&call, err);
}

void cdr_model_hook_fini(cdr_model_hook *hook)
{
    if (hook->has_delta)
        join_delta(hook);
    cdr_arena_fini(&hook->arena);
}

// Puts a text in place of the answer's. False: no memory.
static bool put_text(cadre_sink *sink, const char *text)
{
    cdr_buf_clear(&sink->text);
    cdr_buf_append_text(&sink->text, text);
    return !sink->text.failed;
}

bool cdr_model_hook_give(const cdr_model_hook *hook, cadre_sink *sink)
{
    cdr_answer_clear(sink);
    sink->finish = CADRE_FINISH_STOP;
    return put_text(sink, hook->answer);
}

// --- What an answer was before hooks changed it ---

static void kept_key(const cdr_model_hook *hook, char key[40])
{
    (void)snprintf(key, 40, "%s/%d", cdr_hook_place_name(CDR_HOOK_AFTER_MODEL),
                   hook->shown.turn);
}

static json_t *calls_of(const cadre_sink *sink)
{
    json_t *calls = json_array();
    for (size_t i = 0; i < sink->n_calls; i++)
        json_array_append_new(
            calls, json_pack("{s:s, s:s, s:s}", "id", cdr_buf_text(&sink->calls[i].id),
                             "name", cdr_buf_text(&sink->calls[i].name), "arguments",
                             cdr_buf_text(&sink->calls[i].arguments)));
    if (json_array_size(calls) == sink->n_calls)
        return calls;
    json_decref(calls);
    return NULL;
}

static cadre_status keep(const cdr_model_hook *hook, const cadre_sink *sink,
                         cadre_error *err)
{
    char key[40];
    const cadre_usage *usage = &sink->usage;
    json_t *value =
        json_pack("{s:s, s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:I}", "text",
                  cdr_buf_text(&sink->text), "reasoning",
                  cdr_buf_text(&sink->reasoning), "calls", calls_of(sink), "items",
                  cdr_buf_text(&sink->items), "finish", cadre_finish_name(sink->finish),
                  "input_tokens", (json_int_t)usage->input_tokens, "output_tokens",
                  (json_int_t)usage->output_tokens, "cached_input_tokens",
                  (json_int_t)usage->cached_input_tokens, "reasoning_tokens",
                  (json_int_t)usage->reasoning_tokens, "cost_usd_micros",
                  (json_int_t)usage->cost_usd_micros);
    kept_key(hook, key);
    return cdr_hook_keep_take(hook->frame, key, "answer", value, err);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static int64_t number_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static cadre_finish finish_of(const json_t *kept)
{
    static const cadre_finish finishes[] = {CADRE_FINISH_TOOL_CALLS,
                                            CADRE_FINISH_LENGTH};
    for (size_t i = 0; i < sizeof finishes / sizeof finishes[0]; i++)
        if (strcmp(text_of(kept, "finish"), cadre_finish_name(finishes[i])) == 0)
            return finishes[i];
    return CADRE_FINISH_STOP;
}

static void recall_call(cadre_sink *sink, const json_t *kept)
{
    const char *id = text_of(kept, "id");
    const char *name = text_of(kept, "name");
    const char *arguments = text_of(kept, "arguments");
    size_t call = cadre_sink_add_call(sink);
    cadre_sink_call_id(sink, call, id, strlen(id));
    cadre_sink_call_name(sink, call, name, strlen(name));
    cadre_sink_call_arguments(sink, call, arguments, strlen(arguments));
}

bool cdr_model_hook_recall(const cdr_model_hook *hook, cadre_sink *sink)
{
    char key[40];
    size_t i = 0;
    json_t *call = NULL;
    if (!cdr_hook_has(hook->frame->agent, CDR_HOOK_AFTER_MODEL))
        return false;
    kept_key(hook, key);
    json_t *kept = cdr_hook_kept(hook->frame, key);
    if (kept == NULL)
        return false;
    cdr_answer_clear(sink);
    put_text(sink, text_of(kept, "text"));
    cdr_buf_append_text(&sink->reasoning, text_of(kept, "reasoning"));
    cdr_buf_append_text(&sink->items, text_of(kept, "items"));
    json_array_foreach(json_object_get(kept, "calls"), i, call)
    {
        recall_call(sink, call);
    }
    sink->finish = finish_of(kept);
    sink->usage =
        (cadre_usage){.input_tokens = number_of(kept, "input_tokens"),
                      .output_tokens = number_of(kept, "output_tokens"),
                      .cached_input_tokens = number_of(kept, "cached_input_tokens"),
                      .reasoning_tokens = number_of(kept, "reasoning_tokens"),
                      .cost_usd_micros = number_of(kept, "cost_usd_micros")};
    json_decref(kept);
    return !sink->failed && !sink->text.failed && !sink->reasoning.failed &&
           !sink->items.failed;
}

// --- After ---

// What hooks are shown of an answer. False: no memory.
static bool show(cdr_model_hook *hook, const cadre_sink *sink)
{
    cadre_model_hook *shown = &hook->shown;
    cadre_tool_call *calls =
        cdr_arena_alloc(&hook->arena, (sink->n_calls + 1) * sizeof *calls);
    if (calls == NULL)
        return false;
    for (size_t i = 0; i < sink->n_calls; i++)
        calls[i] = (cadre_tool_call){cdr_buf_text(&sink->calls[i].id),
                                     cdr_buf_text(&sink->calls[i].name),
                                     cdr_buf_text(&sink->calls[i].arguments)};
    shown->text = cdr_buf_text(&sink->text);
    shown->reasoning = cdr_buf_text(&sink->reasoning);
    shown->tool_calls = calls;
    shown->n_tool_calls = sink->n_calls;
    shown->finish = sink->finish;
    shown->usage = sink->usage;
    hook->is_after = true;
    hook->answer = NULL;
    return true;
}

cadre_status cdr_model_hook_after(cdr_model_hook *hook, cadre_sink *sink,
                                  cadre_error *err)
{
    if (!cdr_hook_has(hook->frame->agent, CDR_HOOK_AFTER_MODEL))
        return CADRE_OK;
    cadre_status status = keep(hook, sink, err);
    if (status != CADRE_OK)
        return status;
    if (!show(hook, sink))
        return cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for a hook",
                          hook->frame->name);
    const cdr_hook_call call = {.frame = hook->frame,
                                .place = CDR_HOOK_AFTER_MODEL,
                                .turn = hook->shown.turn,
                                .model = &hook->shown};
    status = cdr_hook_call_all(&call, err);
    if (status == CADRE_OK && hook->answer != NULL && !put_text(sink, hook->answer))
        status = cadre_fail(err, CADRE_ENOMEM, "'%s': no memory for a hook",
                            hook->frame->name);
    return status;
}
