// See model_failover.h.
#include "run/model_failover.h"

#include "base/buf.h"
#include "base/units.h"
#include "net/governor.h"
#include "run/model_attempt.h"

#include <stdio.h>
#include <string.h>

#define COOL_MS INT64_C(60000) // where the server does not say how long

// --- Which failures ---

// May another model have an answer?
static bool may_heal(cadre_error_class error_class)
{
    switch (error_class) {
    case CADRE_CLASS_AUTH:
    case CADRE_CLASS_QUOTA:
    case CADRE_CLASS_RATE_LIMITED:
    case CADRE_CLASS_OVERLOADED:
    case CADRE_CLASS_SERVER:
    case CADRE_CLASS_CONNECTION:
    case CADRE_CLASS_TIMEOUT:
    case CADRE_CLASS_TRUNCATED:
    case CADRE_CLASS_EMPTY_RESPONSE:
    case CADRE_CLASS_BAD_RESPONSE:
    case CADRE_CLASS_CONTEXT_LENGTH:
        return true;
    default:
        return false;
    }
}

// Would other requests fail as well? These depend on what was asked.
static bool is_of_request(cadre_error_class error_class)
{
    return error_class == CADRE_CLASS_EMPTY_RESPONSE ||
           error_class == CADRE_CLASS_BAD_RESPONSE ||
           error_class == CADRE_CLASS_CONTEXT_LENGTH;
}

// --- Whom to ask ---

static size_t count(const cdr_model_call *call)
{
    return call->first->is_scripted ? 1 : 1 + call->first->n_fallbacks;
}

static const cadre_model *nth(const cdr_model_call *call, size_t n)
{
    return n == 0 ? call->first : call->first->fallbacks[n - 1];
}

static int64_t cools_ms(const cadre_model *model, cadre_error_class *why)
{
    return model->governor == NULL ? 0 : cdr_governor_cools_ms(model->governor, why);
}

// Chooses among those that were not asked. False: there are none.
static bool choose(cdr_model_call *call)
{
    size_t n = count(call);
    size_t best = n;
    int64_t least_ms = INT64_MAX;
    cadre_error_class why;
    for (size_t i = 0; i < n && least_ms > 0; i++) {
        int64_t ms = INT64_MAX;
        if ((call->tried & 1U << i) == 0)
            ms = cools_ms(nth(call, i), &why);
        if (ms < least_ms) {
            least_ms = ms;
            best = i;
        }
    }
    if (best == n)
        return false;
    call->tried |= 1U << best;
    call->model = nth(call, best);
    return true;
}

// --- Telling ---

static void tell(cdr_model_call *call, const cadre_model *from, int attempt,
                 const cadre_error *why)
{
    cadre_event event = {.type = CADRE_EVENT_RETRY};
    event.u.retry.attempt = attempt;
    event.u.retry.model = from->name;
    event.u.retry.next_model = call->model->name;
    event.u.retry.error =
        (cadre_error_info){why->error_class, why->retryable, why->text,
                           call->delta.agent, call->delta.frame_id};
    cdr_model_show(call, &event);
}

void cdr_model_failover_start(cdr_model_call *call)
{
    call->tried = 0;
    call->was_too_long = false;
    call->cools_ms = cools_ms(call->first, &call->cools_for);
    choose(call);
}

void cdr_model_failover_tell(cdr_model_call *call)
{
    cadre_error why = CADRE_ERROR_INIT;
    char left[CDR_DURATION_TEXT_SIZE];
    cadre_fail_class(&why, CADRE_EIO, call->cools_for, true,
                     "it has failed in another call and is passed over for %s",
                     cdr_duration_about(call->cools_ms, left));
    tell(call, call->first, 0, &why);
}

// Where only the call's own time was too short, others may fare better.
static bool is_used_up(const cdr_model_call *call, const cadre_error *failure)
{
    const cdr_model_times *times = &call->model->times;
    return !failure->retryable || call->n_tries >= times->max_attempts ||
           failure->retry_after_ms > times->max_backoff_ms;
}

static void cool(const cdr_model_call *call, const cadre_error *failure)
{
    if (call->model->governor == NULL || is_of_request(failure->error_class) ||
        !is_used_up(call, failure))
        return;
    cdr_governor_cool(call->model->governor,
                      failure->retry_after_ms > 0 ? failure->retry_after_ms : COOL_MS,
                      failure->error_class);
}

bool cdr_model_failover_next(cdr_model_call *call, const cadre_error *failure)
{
    const cadre_model *from = call->model;
    call->was_too_long |= failure->error_class == CADRE_CLASS_CONTEXT_LENGTH;
    if (!may_heal(failure->error_class))
        return false;
    cool(call, failure);
    if (!choose(call))
        return false;
    call->n_tries = 1;
    tell(call, from, call->frame->attempts, failure);
    return true;
}

void cdr_model_failover_end(cdr_model_call *call)
{
    if (call->model->governor != NULL && count(call) > 1)
        cdr_governor_cool(call->model->governor, 0, CADRE_CLASS_NONE);
}

static void name_others(const cdr_model_call *call, cadre_error *failure)
{
    cdr_buf names = CDR_BUF_INIT;
    for (size_t i = 0; i < count(call); i++)
        if (nth(call, i) != call->model && (call->tried & 1U << i) != 0)
            cdr_buf_printf(&names, "%s'%s'", names.len == 0 ? "" : ", ",
                           nth(call, i)->name);
    if (names.len > 0) {
        char why[256];
        snprintf(why, sizeof why, "after %.200s failed", cdr_buf_text(&names));
        cdr_model_give_up(failure, why);
    }
    cdr_buf_fini(&names);
}

void cdr_model_failover_name(const cdr_model_call *call, cadre_error *failure)
{
    const cadre_error bare = *failure;
    const cdr_replay *replay = call->frame->tree->replay;
    bool is_of_script = call->model->is_scripted && call->request.script_step == NULL;
    is_of_script |= replay != NULL && strcmp(replay->difference.text, bare.text) == 0;
    if (call->frame->mark != CDR_MARK_NONE || is_of_script ||
        bare.error_class == CADRE_CLASS_STORE || strncmp(bare.text, "agent '", 7) == 0)
        return;
    cadre_error_clear(failure);
    if (strncmp(bare.text, "model '", 7) == 0)
        cadre_fail_class(failure, bare.status, bare.error_class, bare.retryable,
                         "agent '%s': %s", call->agent->name, bare.text);
    else
        cadre_fail_class(failure, bare.status, bare.error_class, bare.retryable,
                         "agent '%s': model '%s': %s", call->agent->name,
                         call->model->name, bare.text);
    name_others(call, failure);
}
