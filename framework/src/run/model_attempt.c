// See model_attempt.h.
#include "run/model_attempt.h"

#include "base/units.h"
#include "base/utf8.h"
#include "run/model_budget.h"
#include "run/model_failover.h"
#include "run/model_turn.h"
#include "run/model_window.h"
#include "run/recorded.h"
#include "tree/birth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MAX_QUOTED 280 // bytes of a failure that more is said of

// --- Showing pieces ---

static void show_piece(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    cdr_model_call *call = ctx;
    if ((call->holds_text && !is_reasoning) || !cdr_frame_is_heard(call->frame))
        return;
    cadre_event event = call->delta;
    event.type = is_reasoning ? CADRE_EVENT_REASONING_DELTA : CADRE_EVENT_TEXT_DELTA;
    event.u.delta.message_id = call->message_text;
    event.u.delta.text = text;
    event.u.delta.len = len;
    if (call->model->ops->answer != NULL) // this is the frame's own thread
        cdr_frame_await_room(call->frame);
    cdr_frame_show_delta(call->frame, &event);
}

void cdr_model_show(cdr_model_call *call, cadre_event *event)
{
    event->frame_id = call->delta.frame_id;
    event->thread_id = call->delta.thread_id;
    event->agent = call->delta.agent;
    event->is_main = call->delta.is_main;
    cdr_frame_show(call->frame, event);
}

// --- One attempt ---

static void on_done(void *ctx)
{
    cdr_model_call *call = ctx;
    cdr_strand_settle(call->agent->work->strand, &call->pending);
}

static bool is_full(void *ctx)
{
    cdr_model_call *call = ctx;
    cdr_queue *queue = &call->frame->tree->queue;
    if (!cdr_queue_is_full(queue, &call->paused))
        queue = cdr_ear_full(call->frame->ear, &call->paused);
    call->paused_at = queue;
    return queue != NULL;
}

static void resume_attempt(void *ctx)
{
    cdr_model_call *call = ctx;
    cdr_attempt_resume(call->attempt);
}

void cdr_model_attempt_init(cdr_model_call *call)
{
    cdr_answer_init(&call->sink);
    if (cdr_frame_is_heard(call->agent)) // else it never will be
        call->sink.on_delta = show_piece;
    call->sink.ctx = call;
    call->paused.resume = resume_attempt;
    call->paused.ctx = call;
}

// Waits for the network; a mark or a deadline closes the transfer.
static void await_attempt(cdr_model_call *call)
{
    cdr_strand *strand = call->agent->work->strand;
    bool cancelled = false;
    for (;;) {
        unsigned seen = cdr_strand_seen(strand);
        if (cdr_strand_is_settled(strand, &call->pending))
            return;
        if (!cancelled && cadre_frame_is_stopped(call->frame)) {
            cdr_attempt_cancel(call->attempt);
            cancelled = true;
        }
        cdr_strand_wait(strand, seen, call->frame->tree->runtime->clock,
                        cancelled ? CDR_NEVER : call->frame->deadline_ms);
    }
}

static cadre_status send_request(cdr_model_call *call, const cadre_http *http,
                                 cadre_error *err)
{
    const cadre_model *model = call->model;
    cdr_network *network = NULL;
    cadre_status status =
        cdr_runtime_network(call->frame->tree->runtime, &network, err);
    if (status != CADRE_OK)
        return status;
    cdr_attempt_config config = {.ops = model->ops,
                                 .state = model->state,
                                 .http = http,
                                 .sink = &call->sink,
                                 .failure = err,
                                 .timeout_ms = model->times.timeout_ms,
                                 .idle_timeout_ms = model->times.idle_timeout_ms,
                                 .is_full = call->sink.on_delta ? is_full : NULL,
                                 .on_done = on_done,
                                 .ctx = call};
    call->pending = 1;
    status = cdr_attempt_start(network, &config, &call->attempt, err);
    if (status != CADRE_OK)
        return status;
    await_attempt(call);
    if (call->paused_at != NULL)
        cdr_queue_forget(call->paused_at, &call->paused);
    status = cdr_attempt_finish(call->attempt);
    call->attempt = NULL;
    return status;
}

// Calls get the names of the tools back that were offered under these.
static void read_names(cdr_model_call *call)
{
    for (size_t i = 0; i < call->sink.n_calls; i++) {
        cdr_buf *name = &call->sink.calls[i].name;
        const char *offered = cdr_offer_of_wire(&call->offer, cdr_buf_text(name));
        if (offered == NULL || strcmp(offered, cdr_buf_text(name)) == 0)
            continue;
        cdr_buf_clear(name);
        cdr_buf_append_text(name, offered);
        call->sink.failed = call->sink.failed || name->failed;
    }
}

static cadre_status attempt_wire(cdr_model_call *call, cadre_error *err)
{
    const cadre_model *model = call->model;
    const char *key = model->api_key_env[0] == '\0' ? NULL : getenv(model->api_key_env);
    call->request.api_key = key == NULL ? "" : key;
    cadre_status status = cdr_prompt_encode(call->prompt, model, &call->request, err);
    if (status == CADRE_OK)
        status = send_request(call, &call->prompt->http, err);
    if (status == CADRE_OK)
        read_names(call);
    return status;
}

static cadre_status attempt_own(cdr_model_call *call, cadre_error *err)
{
    const cadre_model *model = call->model;
    cdr_answer_clear(&call->sink);
    cadre_status status =
        model->ops->answer(model->state, call->frame, &call->request, &call->sink, err);
    if (status == CADRE_OK)
        status = cdr_answer_settle(&call->sink, err);
    return status;
}

cadre_status cdr_model_take_step_locked(cdr_model_call *call, cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    int *used = &tree->script_used[call->agent->agent->index];
    call->request.script_step = NULL;
    if (!call->model->is_scripted)
        return CADRE_OK;
    if (call->recorded != NULL) {
        cdr_replay_take_locked(tree, call->recorded);
        call->request.script_step = &call->recorded->step;
        return CADRE_OK;
    }
    cadre_status status = cadre_script_next(
        tree->team->script, call->agent->name, call->prompt->view.last_input,
        call->script_at, &call->request.script_step, err);
    if (*call->script_at > *used)
        *used = *call->script_at;
    return status;
}

static cadre_status take_next_step(cdr_model_call *call, cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    cdr_mutex_lock(&tree->mu);
    cadre_status status = cdr_model_take_step_locked(call, err);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

// A recorded call was several attempts, and one that was stopped had said something.
static cadre_status play_recorded(cdr_model_call *call, cadre_error *err)
{
    const cadre_script_step *step = &call->recorded->step;
    call->frame->attempts = (short)step->attempts;
    if (step->is_stopped)
        attempt_own(call, NULL);
    cadre_status status = cdr_model_window_replay(call, err);
    return status == CADRE_OK ? cdr_recorded_await(call->frame, call->recorded, err)
                              : status;
}

static cadre_status attempt_in_turn(cdr_model_call *call, cadre_error *err)
{
    cdr_turn turn;
    call->request.model = call->model->full_name;
    call->sink.usage = call->charged;
    cadre_status status = cdr_model_turn_take(call, &turn, err);
    if (status == CADRE_OK) {
        call->sink.usage = (cadre_usage){.model_calls = 0};
        if (call->recorded != NULL)
            status = play_recorded(call, err);
        if (status == CADRE_OK)
            status = call->model->ops->answer != NULL ? attempt_own(call, err)
                                                      : attempt_wire(call, err);
        cdr_model_pay(call, status, err);
    }
    cdr_model_turn_end(call, &turn);
    return status;
}

static cadre_status attempt_once(cdr_model_call *call, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    if (call->n_attempts++ > 0) // the first step was taken with the reservation
        status = take_next_step(call, err);
    if (status != CADRE_OK)
        return status;
    status = attempt_in_turn(call, err);
    cadre_status stopped = cdr_frame_stopped(call->frame, NULL);
    if (stopped != CADRE_OK) {
        cadre_error_clear(err);
        return cdr_frame_stopped(call->frame, err);
    }
    return status;
}

// --- One after the other ---

static int64_t backoff_ms(const cdr_model_times *times, int failed)
{
    uint32_t dice = 0;
    int64_t wait = times->backoff_ms;
    for (int i = 1; i < failed && wait < times->max_backoff_ms; i++)
        wait *= 2;
    if (wait > times->max_backoff_ms)
        wait = times->max_backoff_ms;
    if (getrandom(&dice, sizeof dice, 0) != (ssize_t)sizeof dice)
        dice = 0;
    return wait / 2 + (wait / 2) * (int64_t)(dice % 1000) / 1000;
}

cadre_status cdr_model_give_up(cadre_error *failure, const char *why)
{
    size_t len = strlen(failure->text);
    if (len > MAX_QUOTED)
        len = cdr_utf8_prefix(failure->text, MAX_QUOTED);
    snprintf(failure->text + len, sizeof failure->text - len, " (%s)", why);
    return failure->status;
}

// How long to wait before the next attempt; fails when the server asks for too much,
// and when the wait would outlast the call's own time.
static cadre_status next_wait(cdr_model_call *call, cadre_error *failure, int64_t *wait)
{
    const cdr_model_times *times = &call->model->times;
    int64_t asked = failure->retry_after_ms;
    int64_t left = cadre_frame_remaining_ms(call->frame);
    char why[128], first[CDR_DURATION_TEXT_SIZE], second[CDR_DURATION_TEXT_SIZE];
    *wait = backoff_ms(times, call->n_tries);
    if (asked > *wait)
        *wait = asked;
    if (asked > times->max_backoff_ms) {
        snprintf(why, sizeof why, "the server asks to wait %s; retry.max_backoff is %s",
                 cdr_duration_text(asked, first),
                 cdr_duration_text(times->max_backoff_ms, second));
        return cdr_model_give_up(failure, why);
    }
    if (*wait < left)
        return CADRE_OK;
    snprintf(why, sizeof why, "not asked again: that is in %s, and %s is left",
             cdr_duration_about(*wait, first), cdr_duration_about(left, second));
    return cdr_model_give_up(failure, why);
}

void cdr_model_show_retry(cdr_model_call *call, const cadre_error *failure,
                          int64_t wait_ms)
{
    cadre_event event = {.type = CADRE_EVENT_RETRY};
    event.u.retry.attempt = call->frame->attempts;
    event.u.retry.wait_ms = wait_ms;
    event.u.retry.model = call->model->name;
    event.u.retry.next_model = "";
    event.u.retry.error =
        (cadre_error_info){failure->error_class, failure->retryable, failure->text,
                           call->delta.agent, call->delta.frame_id};
    cdr_model_show(call, &event);
}

cadre_status cdr_model_attempt_reserve(cdr_model_call *call, cadre_error *failure)
{
    cdr_tree *tree = call->frame->tree;
    cadre_status status = cdr_model_claim(call, call->frame, failure);
    if (status != CADRE_OK)
        return status;
    cdr_mutex_lock(&tree->mu);
    cdr_frame_start_locked(call->frame, true);
    cdr_mutex_unlock(&tree->mu);
    status = cdr_tree_flush(tree, failure);
    // With that commit it may have learnt of a mark.
    return status == CADRE_OK ? cdr_frame_stopped(call->frame, failure) : status;
}

static cadre_status attempt_again(cdr_model_call *call, cadre_error *failure)
{
    int64_t wait = 0;
    cadre_status status = next_wait(call, failure, &wait);
    if (status != CADRE_OK)
        return status;
    cdr_model_turn_pause(call, failure->retry_after_ms, failure->error_class);
    cdr_model_show_retry(call, failure, wait);
    cadre_error_clear(failure);
    call->n_tries++;
    // The millisecond it starts in may be nearly over, and a server's wish is
    // a minimum.
    status = cadre_frame_sleep(call->frame, wait + 1, failure);
    return status == CADRE_OK ? cdr_model_attempt_reserve(call, failure) : status;
}

// A failure with a class of its own is what all attempts came to.
static bool was_last(const cdr_model_call *call)
{
    const cadre_script_step *step = call->request.script_step;
    return step != NULL && step->error_class != CADRE_CLASS_NONE;
}

// Attempts at the call's model.
static cadre_status attempt_model(cdr_model_call *call, cadre_error *failure)
{
    int max = call->model->times.max_attempts;
    cadre_status status = cdr_frame_stopped(call->frame, failure);
    while (status == CADRE_OK) {
        status = attempt_once(call, failure);
        if (status == CADRE_OK)
            return CADRE_OK;
        if (!failure->retryable || call->frame->mark != CDR_MARK_NONE ||
            call->n_tries >= max || was_last(call))
            return status;
        status = attempt_again(call, failure);
    }
    return status;
}

cadre_status cdr_model_attempt(cdr_model_call *call, cadre_error *failure)
{
    bool is_first = call->n_attempts == 0 && call->model == call->first;
    call->n_tries = is_first ? call->frame->attempts : 1;
    if (call->model != call->first)
        cdr_model_failover_tell(call);
    for (;;) {
        cadre_status status = attempt_model(call, failure);
        if (status == CADRE_OK) {
            cdr_model_failover_end(call);
            return CADRE_OK;
        }
        bool must_stop = cdr_frame_stopped(call->frame, NULL) != CADRE_OK;
        if (must_stop || !cdr_model_failover_next(call, failure))
            return status;
        cadre_error_clear(failure);
        status = cdr_model_attempt_reserve(call, failure);
        if (status != CADRE_OK)
            return status;
    }
}
