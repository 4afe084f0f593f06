// See retry.h.
#include "run/retry.h"

#include "run/scope.h"
#include "tree/outbox.h"
#include "tree/race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- Which are tried again ---

// How an attempt ended, from its record or just now.
typedef struct ending {
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    const cdr_failure *failure;
} ending;

static ending ending_of_frame(const cadre_frame *ended)
{
    return (ending){(cadre_frame_status)ended->status,
                    (cadre_stop_reason)ended->stop_reason, ended->failure};
}

static ending ending_of(const cdr_attempts *a)
{
    if (a->how == CDR_ENTERED_RECORD)
        return ending_of_frame(a->child);
    return (ending){a->ran.status, a->ran.stop_reason, a->ran.failure};
}

static bool is_used_up(int64_t n, int64_t max)
{
    return max != CADRE_UNLIMITED && n >= max;
}

// No attempt can do more than the one that a limit of the run ended.
static bool has_no_calls_left_locked(const cdr_tree *tree, const ending *end)
{
    return end->stop_reason == CADRE_STOP_LIMIT &&
           (is_used_up(tree->n_model_calls, tree->limits.max_model_calls) ||
            is_used_up(tree->n_tool_calls, tree->limits.max_tool_calls));
}

// The call's own time, which each attempt has anew, is not the agent's to try again in.
static bool is_calls_time(const cdr_attempts *a)
{
    int64_t own_ms = a->callee.call->agent->timeout_ms;
    return a->callee.call->timeout_ms > 0 &&
           (own_ms == 0 || a->callee.call->timeout_ms <= own_ms);
}

static bool may_pass(const cdr_failure *failure)
{
    switch (failure == NULL ? CADRE_CLASS_ERROR : failure->error_class) {
    case CADRE_CLASS_ABORTED:
    case CADRE_CLASS_BUDGET: // another attempt does not bring back what is used up
    case CADRE_CLASS_CONFIG:
    case CADRE_CLASS_STORE:
    case CADRE_CLASS_LEASE:
    case CADRE_CLASS_DIVERGED:
        return false;
    default:
        return true;
    }
}

static bool is_last_locked(const cadre_frame *frame, const cdr_attempts *a,
                           const ending *end)
{
    if (a->nth >= a->child->agent->retry.attempts ||
        cdr_frame_stopped(frame, NULL) != CADRE_OK || cdr_race_is_over_locked(a->child))
        return true;
    if (end->status == CADRE_FRAME_TIMEOUT)
        return is_calls_time(a);
    return end->status != CADRE_FRAME_FAILED || !may_pass(end->failure) ||
           has_no_calls_left_locked(frame->tree, end);
}

bool cdr_attempts_is_last_locked(const cadre_frame *frame, const cdr_attempts *attempts,
                                 const cadre_frame *ended)
{
    ending end = ending_of_frame(ended);
    return is_last_locked(frame, attempts, &end);
}

static bool must_try_again(const cadre_frame *frame, const cdr_attempts *a)
{
    ending end = ending_of(a);
    if (a->child->agent->retry.attempts <= 1 || end.status == CADRE_FRAME_COMPLETED)
        return false; // most calls, without the lock
    cdr_mutex_lock(&frame->tree->mu);
    bool is_last = is_last_locked(frame, a, &end);
    cdr_mutex_unlock(&frame->tree->mu);
    return !is_last;
}

// --- The next one ---

// "<key of the first>~<nth>". free() it; NULL: no memory.
static char *key_of(const cadre_frame *before, int nth)
{
    size_t len = strlen(before->key);
    if (nth > 2) // without the number of the one before
        len = (size_t)(strrchr(before->key, '~') - before->key);
    size_t size = len + 16;
    char *key = malloc(size);
    if (key != NULL)
        (void)snprintf(key, size, "%.*s~%d", (int)len, before->key, nth);
    return key;
}

static void tell_retry_locked(cadre_frame *child, const cdr_attempts *before)
{
    cadre_event event = {.type = CADRE_EVENT_RETRY};
    event.u.retry.attempt = before->nth;
    event.u.retry.error = cdr_failure_info(ending_of(before).failure);
    event.u.retry.wait_ms = child->agent->retry.backoff_ms;
    event.u.retry.model = event.u.retry.next_model = "";
    cdr_outbox_event_locked(child, &event, NULL, false);
}

// What sets an attempt apart from a first call with that key.
static void link_locked(cadre_frame *frame, const cdr_attempts *before,
                        const cdr_attempts *next) CDR_REQUIRES(frame->tree->mu)
{
    cadre_frame *child = next->child;
    cdr_race_replace_locked(before->child, child);
    child->is_named = next->callee.call->key != NULL &&
                      (next->callee.call->flags & CADRE_CALL_ONCE) == 0;
    if (!next->callee.is_fork) {
        bool is_second = before->nth == 1;
        child->hidden_from =
            is_second ? before->child->n_before : before->child->hidden_from;
        child->hidden_to = child->n_before;
        child->hider = child;
    }
    if (!next->must_pause)
        return;
    child->deadline_ms = frame->deadline_ms; // its own time has not begun
    tell_retry_locked(child, before);
}

// Enters the attempt that follows and lets the one before go. Errors: as
// cdr_enter_call; then nothing has changed.
static cadre_status enter_next(cadre_frame *frame, cdr_attempts *a, cadre_error *err)
{
    cdr_attempts next = {.callee = a->callee, .nth = a->nth + 1};
    cadre_call call = *a->callee.call;
    cdr_callee callee = a->callee;
    char *key = key_of(a->child, next.nth);
    if (key == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a call");
    call.key = key;
    callee.call = &call;
    callee.follows = a->child;
    cadre_status status = cdr_enter_call(frame, &callee, &next.child, &next.how, err);
    free(key);
    if (status != CADRE_OK)
        return status;
    next.must_pause = next.how == CDR_ENTERED_NEW;
    cdr_mutex_lock(&frame->tree->mu);
    cdr_attempts before = *a;
    link_locked(frame, a, &next);
    *a = next;
    cdr_mutex_unlock(&frame->tree->mu);
    if (before.how != CDR_ENTERED_RECORD) {
        cdr_release_call(frame, before.child, &before.ran);
        cdr_ran_fini(&before.ran);
    }
    return CADRE_OK;
}

// Sleeps in the attempt's own frame; that it was stopped shows when it is run.
static void pause_before(cadre_frame *frame, cdr_attempts *a, cdr_strand *strand)
{
    cadre_frame *child = a->child;
    int64_t backoff_ms = child->agent->retry.backoff_ms;
    a->must_pause = false;
    if (backoff_ms > 0 && cdr_work_begin(child, strand)) {
        cdr_tree_flush(frame->tree, NULL); // a lost store marks the frames; they tell
        cadre_frame_sleep(child, backoff_ms, NULL);
        cdr_work_free(cdr_work_end(child));
    }
    cdr_mutex_lock(&frame->tree->mu);
    cdr_restart_time_locked(frame, a->callee.call, child);
    cdr_mutex_unlock(&frame->tree->mu);
}

// --- All of them ---

cadre_status cdr_attempts_enter(cadre_frame *frame, cdr_attempts *attempts,
                                cadre_error *err)
{
    attempts->nth = 1;
    cadre_status status =
        cdr_enter_call(frame, &attempts->callee, &attempts->child, &attempts->how, err);
    while (status == CADRE_OK && attempts->how == CDR_ENTERED_RECORD &&
           must_try_again(frame, attempts))
        status = enter_next(frame, attempts, err);
    return status;
}

void cdr_attempts_run(cadre_frame *frame, cdr_attempts *attempts, cdr_strand *strand)
{
    for (;;) {
        if (attempts->must_pause)
            pause_before(frame, attempts, strand);
        if (attempts->how != CDR_ENTERED_RECORD)
            cdr_execute(attempts->child, strand, &attempts->ran);
        // What cannot be entered leaves it at the failure before.
        if (!must_try_again(frame, attempts) ||
            enter_next(frame, attempts, NULL) != CADRE_OK)
            return;
    }
}

cadre_status cdr_attempts_leave(cadre_frame *frame, cdr_attempts *attempts,
                                cadre_outcome *out, cadre_error *err)
{
    return cdr_leave_call(frame, attempts->child,
                          attempts->how == CDR_ENTERED_RECORD ? NULL : &attempts->ran,
                          out, err);
}
