// See model_window.h.
#include "run/model_window.h"

#include "run/model_attempt.h"
#include "run/model_failover.h"

#include <stdio.h>

#define LIMIT "max_tokens"

// --- The record ---

static void key_of(int turn, char key[32])
{
    snprintf(key, 32, "history/%d", turn);
}

bool cdr_model_window_recall(cadre_frame *frame, int turn)
{
    char key[32];
    key_of(turn, key);
    cdr_mutex_lock(&frame->tree->mu);
    bool is_there = cdr_frame_child_locked(frame, key) != NULL;
    cdr_mutex_unlock(&frame->tree->mu);
    if (!is_there)
        return false;
    json_t *kept = cdr_hook_kept(frame, key);
    int64_t limit = json_integer_value(json_object_get(kept, LIMIT));
    json_decref(kept);
    if (limit > 0)
        frame->work->history_limit = limit;
    return limit > 0;
}

static cadre_status keep(cdr_model_call *call, int64_t limit, cadre_error *err)
{
    char key[32];
    key_of(call->agent->work->turn, key);
    return cdr_hook_keep_take(call->agent, key, "history",
                              json_pack("{s:I}", LIMIT, (json_int_t)limit), err);
}

// --- The window ---

int64_t cdr_history_limit(const cadre_frame *frame, int64_t own)
{
    int64_t learnt = frame->work->history_limit;
    return own == 0 || (learnt > 0 && learnt < own) ? learnt : own;
}

static int64_t limit_of(const cdr_model_call *call)
{
    return cdr_history_limit(call->agent, call->max_history_tokens);
}

static cadre_status look(cdr_model_call *call, int64_t limit, cadre_error *err)
{
    const cdr_view *view = &call->prompt->view;
    const cdr_window_view said = {.items = view->items,
                                  .n_items = view->n_items,
                                  .n_said = call->n_said,
                                  .n_settled = view->settled.n_items,
                                  .edition = view->edition};
    return cdr_window_update(&call->prompt->window, &said, limit)
               ? CADRE_OK
               : cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
}

static void show_window(cdr_model_call *call)
{
    call->request.items = call->prompt->window.items;
    call->request.n_items = call->prompt->window.n_items;
}

cadre_status cdr_model_window_open(cdr_model_call *call, size_t n_said,
                                   cadre_error *err)
{
    int64_t own = call->max_history_tokens;
    call->n_said = n_said;
    cadre_status status = look(call, limit_of(call), err);
    if (status != CADRE_OK)
        return status;
    if (own > 0 && call->prompt->window.tokens > own)
        return cadre_fail_class(
            err, CADRE_EFAILED, CADRE_CLASS_CONTEXT_LENGTH, false,
            "agent '%s': what must stay of its history takes about %lld tokens; "
            "max_history_tokens is %lld",
            call->agent->name, (long long)call->prompt->window.tokens, (long long)own);
    show_window(call);
    return CADRE_OK;
}

// --- Once more ---

// `why` belongs to a failure that is about the length.
static cadre_status give_up(cadre_error *failure, const char *why)
{
    return failure->error_class == CADRE_CLASS_CONTEXT_LENGTH
               ? cdr_model_give_up(failure, why)
               : failure->status;
}

// Leaves out half. Refused: there is nothing that could go.
static cadre_status halve(cdr_model_call *call, cadre_error *err)
{
    int64_t sent = limit_of(call) > 0
                       ? call->prompt->window.tokens
                       : cdr_window_count(call->prompt->view.items, call->n_said);
    int64_t limit = sent / 2 > 0 ? sent / 2 : 1;
    size_t n_before = call->request.n_items;
    cadre_status status = look(call, limit, err);
    if (status != CADRE_OK)
        return status;
    show_window(call);
    if (call->request.n_items == n_before)
        return CADRE_EREFUSED;
    call->agent->work->history_limit = limit;
    return keep(call, limit, err);
}

cadre_status cdr_model_window_replay(cdr_model_call *call, cadre_error *err)
{
    char key[32];
    key_of(call->agent->work->turn, key);
    const cdr_recorded *kept = cdr_replay_find(call->agent, key);
    const json_t *value = kept == NULL ? NULL : json_object_get(kept->source, "value");
    int64_t limit = json_integer_value(json_object_get(value, LIMIT));
    if (limit <= 0 || call->is_recalled)
        return CADRE_OK;
    cadre_status status = look(call, limit, err);
    if (status != CADRE_OK)
        return status;
    show_window(call);
    call->agent->work->history_limit = limit;
    return keep(call, limit, err);
}

cadre_status cdr_model_window_shorten(cdr_model_call *call, cadre_error *failure)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = CADRE_OK;
    if (call->recorded != NULL)
        return failure->status;
    if (call->is_shortened)
        return give_up(failure, "also with half of its history; max_history_tokens "
                                "sets a limit to it");
    call->is_shortened = true;
    // A script plays the failure again that it had played when the run was cut.
    if (!call->is_recalled)
        status = halve(call, &err);
    if (status == CADRE_EREFUSED)
        return give_up(failure, "nothing of its history can be left out; "
                                "max_history_tokens would not help");
    if (status == CADRE_OK) {
        cdr_model_show_retry(call, failure, 0);
        cdr_model_failover_start(call);
        status = cdr_model_attempt_reserve(call, &err);
    }
    *failure = err;
    return status;
}
