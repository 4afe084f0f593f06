// A model call: the view becomes a request, attempts are made until one is whole, and
// the answer is recorded with the frames of its tool calls in one commit.
//
// Order: before_model hooks; the call is reserved (its frame, durable) before anything
// is sent; deltas are shown as they come, unless an after_model hook may yet change the
// text; a failed attempt voids them by a `retry` event.
#include "run/call.h"

#include "base/units.h"
#include "net/attempt.h"
#include "run/arguments.h"
#include "run/model_hook.h"
#include "run/model_record.h"
#include "run/tool_round.h"
#include "run/view.h"
#include "tree/load.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// Everything one call needs, on the stack of its strand.
typedef struct model_call {
    cadre_frame *agent; // who asks
    cadre_frame *frame; // the model frame
    const cadre_model *model;
    cdr_model_hook hook;
    cdr_view view;
    cdr_arena arena; // of the offered tools
    cdr_offer offer;
    cadre_request request;
    char *system;
    cadre_sink sink;
    cadre_id message_id;
    char message_text[CADRE_ID_TEXT_SIZE];
    cdr_event_id id;
    cadre_event delta; // addressed once, filled for each piece
    cdr_paused paused;
    cdr_queue *paused_at; // the one it waits for, or waited last; NULL: none
    cdr_attempt *attempt;
    int pending;
    int64_t retry_after_ms;
    int n_attempts; // in this process
    int *script_at; // where the next scripted step is taken: the tree's, or its own
    int own_at;
    bool holds_text; // until it is whole, and its hooks have seen it
    bool is_parked;  // its hooks wait for a person
} model_call;

// --- Showing pieces ---

static void show_piece(void *ctx, bool is_reasoning, const char *text, size_t len)
{
    model_call *call = ctx;
    cadre_event event = call->delta;
    if (call->holds_text && !is_reasoning)
        return;
    event.type = is_reasoning ? CADRE_EVENT_REASONING_DELTA : CADRE_EVENT_TEXT_DELTA;
    event.u.delta.message_id = call->message_text;
    event.u.delta.text = text;
    event.u.delta.len = len;
    if (call->model->ops->answer != NULL) // this is the frame's own thread
        cdr_frame_await_room(call->frame);
    cdr_frame_show_delta(call->frame, &event);
}

static void show_passing(model_call *call, cadre_event *event)
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
    model_call *call = ctx;
    cdr_strand_settle(call->agent->work->strand, &call->pending);
}

static bool is_full(void *ctx)
{
    model_call *call = ctx;
    cdr_queue *queue = &call->frame->tree->queue;
    if (!cdr_queue_is_full(queue, &call->paused))
        queue = cdr_ear_full(call->frame->ear, &call->paused);
    call->paused_at = queue;
    return queue != NULL;
}

static void resume_attempt(void *ctx)
{
    model_call *call = ctx;
    cdr_attempt_resume(call->attempt);
}

// Waits for the network; a mark or a deadline closes the transfer.
static void await_attempt(model_call *call)
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

static cadre_status send_request(model_call *call, const cadre_http *http,
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
                                 .timeout_ms = model->times.timeout_ms,
                                 .idle_timeout_ms = model->times.idle_timeout_ms,
                                 .is_full = is_full,
                                 .on_done = on_done,
                                 .ctx = call};
    call->pending = 1;
    status = cdr_attempt_start(network, &config, &call->attempt, err);
    if (status != CADRE_OK)
        return status;
    await_attempt(call);
    if (call->paused_at != NULL)
        cdr_queue_forget(call->paused_at, &call->paused);
    status = cdr_attempt_finish(call->attempt, &call->retry_after_ms, err);
    call->attempt = NULL;
    return status;
}

static cadre_status attempt_wire(model_call *call, cadre_error *err)
{
    const cadre_model *model = call->model;
    cadre_http http;
    cdr_http_init(&http);
    const char *key = model->api_key_env[0] == '\0' ? NULL : getenv(model->api_key_env);
    call->request.api_key = key == NULL ? "" : key;
    cadre_status status = model->ops->encode(model->state, &call->request, &http, err);
    if (status == CADRE_OK && http.failed)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    if (status == CADRE_OK)
        status = send_request(call, &http, err);
    cdr_http_fini(&http);
    return status;
}

static cadre_status attempt_own(model_call *call, cadre_error *err)
{
    const cadre_model *model = call->model;
    cdr_answer_clear(&call->sink);
    cadre_status status =
        model->ops->answer(model->state, call->frame, &call->request, &call->sink, err);
    if (status == CADRE_OK)
        status = cdr_answer_settle(&call->sink, err);
    return status;
}

// A scripted model takes its step when the attempt is reserved.
static cadre_status take_step_locked(model_call *call, cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    int *used = &tree->script_used[call->agent->agent->index];
    call->request.script_step = NULL;
    if (!call->model->is_scripted)
        return CADRE_OK;
    cadre_status status =
        cadre_script_next(tree->team->script, call->agent->name, call->view.last_input,
                          call->script_at, &call->request.script_step, err);
    if (*call->script_at > *used)
        *used = *call->script_at;
    return status;
}

static cadre_status take_next_step(model_call *call, cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    cdr_mutex_lock(&tree->mu);
    cadre_status status = take_step_locked(call, err);
    cdr_mutex_unlock(&tree->mu);
    return status;
}

static cadre_status attempt_once(model_call *call, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    call->retry_after_ms = -1;
    if (call->n_attempts++ > 0) // the first step was taken with the reservation
        status = take_next_step(call, err);
    if (status != CADRE_OK)
        return status;
    if (call->request.script_step != NULL)
        call->retry_after_ms = call->request.script_step->error_retry_after_ms;
    status = call->model->ops->answer != NULL ? attempt_own(call, err)
                                              : attempt_wire(call, err);
    cadre_status stopped = cdr_frame_stopped(call->frame, NULL);
    if (stopped != CADRE_OK) {
        cadre_error_clear(err);
        return cdr_frame_stopped(call->frame, err);
    }
    return status;
}

// --- Attempts ---

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

// How long to wait before the next attempt; fails when the server asks for too much.
static cadre_status next_wait(model_call *call, cadre_error *failure, int64_t *wait)
{
    const cdr_model_times *times = &call->model->times;
    int64_t asked = call->retry_after_ms;
    *wait = backoff_ms(times, call->frame->attempts);
    if (asked > times->max_backoff_ms && asked > 0) {
        char text[sizeof failure->text], wish[CDR_DURATION_TEXT_SIZE],
            limit[CDR_DURATION_TEXT_SIZE];
        snprintf(text, sizeof text, "%s", failure->text);
        snprintf(failure->text, sizeof failure->text,
                 "%.280s (the server asks to wait %s; retry.max_backoff is %s)", text,
                 cdr_duration_text(asked, wish),
                 cdr_duration_text(times->max_backoff_ms, limit));
        return CADRE_EFAILED;
    }
    if (asked > *wait)
        *wait = asked;
    return CADRE_OK;
}

static void show_retry(model_call *call, const cadre_error *failure, int64_t wait_ms)
{
    cadre_event event = {.type = CADRE_EVENT_RETRY};
    event.u.retry.attempt = call->frame->attempts;
    event.u.retry.wait_ms = wait_ms;
    event.u.retry.error =
        (cadre_error_info){failure->error_class, failure->retryable, failure->text,
                           call->delta.agent, call->delta.frame_id};
    show_passing(call, &event);
}

static cadre_status attempt_again(model_call *call, cadre_error *failure)
{
    cdr_tree *tree = call->frame->tree;
    int64_t wait = 0;
    cadre_status status = next_wait(call, failure, &wait);
    if (status != CADRE_OK)
        return status;
    show_retry(call, failure, wait);
    cadre_error_clear(failure);
    // The millisecond it starts in may be nearly over, and a server's wish is a
    // minimum.
    status = cadre_frame_sleep(call->frame, wait + 1, failure);
    if (status != CADRE_OK)
        return status;
    cdr_mutex_lock(&tree->mu);
    cdr_frame_start_locked(call->frame, true);
    cdr_mutex_unlock(&tree->mu);
    status = cdr_tree_flush(tree, failure);
    // With that commit it may have learnt of a mark.
    return status == CADRE_OK ? cdr_frame_stopped(call->frame, failure) : status;
}

// Says whose call of which model failed, unless the text does; a script without a step
// names the agent.
static void name_failure(const model_call *call, cadre_error *failure)
{
    const cadre_error bare = *failure;
    bool is_of_script = call->model->is_scripted && call->request.script_step == NULL;
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
}

static cadre_status attempt_until_whole(model_call *call, cadre_error *failure)
{
    int max = call->model->times.max_attempts;
    cadre_status status = cdr_frame_stopped(call->frame, failure);
    while (status == CADRE_OK) {
        status = attempt_once(call, failure);
        if (status == CADRE_OK)
            return CADRE_OK;
        if (!failure->retryable || call->frame->mark != CDR_MARK_NONE ||
            call->frame->attempts >= max)
            return status;
        status = attempt_again(call, failure);
    }
    return status;
}

// --- Recording ---

static cdr_message *message_of(const model_call *call)
{
    const cadre_sink *sink = &call->sink;
    cadre_tool_call *calls = calloc(sink->n_calls + 1, sizeof *calls);
    if (calls == NULL)
        return NULL;
    for (size_t i = 0; i < sink->n_calls; i++)
        calls[i] = (cadre_tool_call){cdr_buf_text(&sink->calls[i].id),
                                     cdr_buf_text(&sink->calls[i].name),
                                     cdr_buf_text(&sink->calls[i].arguments)};
    cadre_message m = {.role = CADRE_ROLE_ASSISTANT,
                       .agent = call->agent->name,
                       .text = cdr_buf_text(&sink->text),
                       .reasoning = cdr_buf_text(&sink->reasoning),
                       .tool_calls = calls,
                       .n_tool_calls = sink->n_calls};
    cdr_message *message = cdr_message_new(&m, call->message_id, call->agent->id);
    free(calls);
    return message;
}

// The answer, its usage and the frames of its calls, in one commit.
static bool record_answer(model_call *call, cadre_answer *answer)
{
    cadre_frame *agent = call->agent;
    cdr_message *message = message_of(call);
    bool ok = false;
    if (message == NULL)
        return false;
    cdr_message_ref(message);
    cdr_mutex_lock(&agent->tree->mu);
    if (agent->status >= CADRE_FRAME_COMPLETED) { // it was abandoned meanwhile
        cdr_mutex_unlock(&agent->tree->mu);
        cdr_message_unref(message);
        cdr_message_unref(message);
        return false;
    }
    cadre_event event = {.type = CADRE_EVENT_MESSAGE_END};
    event.u.message_end.finish = call->sink.finish;
    event.u.message_end.usage = call->sink.usage;
    event.u.message_end.usage.model_calls = call->hook.is_given ? 0 : 1;
    event.u.message_end.attempts = call->frame->attempts;
    if (cdr_conversation_append_take(agent->conversation, message)) {
        message->m.seq = cdr_outbox_event_locked(call->frame, &event, message, true);
        cdr_outbox_message_locked(agent, agent->conversation, message);
        // The record of a model call leads to its answer by the message's id.
        cdr_text *id = cdr_text_new(call->message_text, strlen(call->message_text));
        cdr_ending ending = {.status = CADRE_FRAME_COMPLETED,
                             .stop_reason = CADRE_STOP_FINAL,
                             .output = id,
                             .own = event.u.message_end.usage,
                             .seq = message->m.seq};
        cdr_frame_end_locked(call->frame, &ending);
        cdr_text_unref(id);
        ok = cdr_keep_answer_locked(agent, message);
        agent->work->round =
            cdr_round_new_locked(agent, message, agent->work->turn, &call->offer);
        ok = ok && agent->work->round != NULL;
    }
    cdr_mutex_unlock(&agent->tree->mu);
    *answer = (cadre_answer){&message->m, call->sink.finish};
    cdr_message_unref(message); // the conversation has its own
    return ok;
}

static void record_failure(model_call *call, cadre_status status,
                           const cadre_error *failure)
{
    cdr_tree *tree = call->frame->tree;
    cdr_ending ending;
    cdr_ending_of(call->frame, status, failure, &ending);
    ending.own = call->sink.usage;
    ending.own.model_calls = call->hook.is_given ? 0 : 1;
    // The record says that it was a hook which failed.
    if (call->agent->work->hook_error != NULL)
        ending.output = cdr_text_new("after_model", strlen("after_model"));
    if (ending.status == CADRE_FRAME_FAILED)
        ending.stop_reason = call->frame->restarts > CDR_RESTART_LIMIT
                                 ? CADRE_STOP_INTERRUPTED
                                 : CADRE_STOP_ERROR;
    cdr_mutex_lock(&tree->mu);
    cdr_failure_unref(call->agent->work->child_failure);
    call->agent->work->child_failure = cdr_failure_ref(ending.failure);
    call->agent->work->child_reason =
        (unsigned char)(ending.stop_reason == CADRE_STOP_INTERRUPTED
                            ? CADRE_STOP_INTERRUPTED
                            : CADRE_STOP_NONE);
    cdr_frame_end_locked(call->frame, &ending);
    cdr_mutex_unlock(&tree->mu);
    cdr_text_unref(ending.output);
}

// --- The call ---

// Takes the first step, so that parallel calls get theirs in the order of reservation.
static cadre_status reserve_step_locked(model_call *call, const cadre_frame *cut,
                                        cdr_text **input, cadre_error *err)
{
    char text[48];
    if (!call->model->is_scripted || call->hook.is_given)
        return CADRE_OK;
    call->script_at = &call->agent->tree->script_used[call->agent->agent->index];
    if (cut != NULL) {
        call->own_at = cdr_frame_script_place(cut).before;
        call->script_at = &call->own_at;
    }
    int before = *call->script_at;
    cadre_status status = take_step_locked(call, err);
    if (status != CADRE_OK)
        return status;
    int n = snprintf(text, sizeof text, "%d %d", before, *call->script_at);
    *input = cdr_text_new(text, (size_t)n);
    return *input == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a frame")
                          : CADRE_OK;
}

static cadre_status reserve(model_call *call, const char *key, cadre_error *err)
{
    cadre_frame *agent = call->agent;
    cdr_tree *tree = agent->tree;
    cdr_entered how = CDR_ENTERED_NEW;
    cdr_birth birth = {.kind = CDR_FRAME_MODEL,
                       .name = call->model->name,
                       .agent = agent->agent,
                       .key = key,
                       .is_pending = call->hook.is_given,
                       .replay_safe = true};
    bool is_asked = !call->hook.is_given;
    cdr_mutex_lock(&agent->tree->mu);
    const cadre_frame *cut = cdr_frame_child_locked(agent, key);
    cadre_status status = cdr_frame_stopped(agent, err);
    int64_t max = tree->limits.max_model_calls;
    if (status == CADRE_OK && cut == NULL && is_asked && max != CADRE_UNLIMITED &&
        tree->n_model_calls >= max)
        status =
            cadre_fail_class(err, CADRE_ELIMIT, CADRE_CLASS_LIMIT, false,
                             "agent '%s': the run's max_model_calls of %lld is used "
                             "up",
                             agent->name, (long long)max);
    if (status == CADRE_OK)
        status = reserve_step_locked(call, cut, &birth.input, err);
    if (status == CADRE_OK)
        status = cdr_frame_enter_locked(agent, &birth, &call->frame, &how, err);
    if (status == CADRE_OK && how == CDR_ENTERED_NEW && is_asked)
        tree->n_model_calls++;
    cdr_mutex_unlock(&agent->tree->mu);
    cdr_text_unref(birth.input);
    return status;
}

static cadre_status call_before(model_call *call, const cadre_model_call *asked,
                                cadre_error *err)
{
    call->system =
        cdr_team_render(asked->system == NULL ? "" : asked->system,
                        call->agent->tree->inputs, cadre_frame_state(call->agent));
    if (call->system == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    return cdr_model_hook_before(&call->hook, call->agent, call->model->name,
                                 call->system, err);
}

static cadre_status prepare(model_call *call, const cadre_model_call *asked,
                            cadre_error *err)
{
    cadre_status status = cdr_view_init(&call->view, call->agent, asked->history, err);
    if (status != CADRE_OK)
        return status;
    if (!cdr_view_add_turns(&call->view, call->hook.turns, call->hook.n_turns) ||
        !cdr_offer_init(&call->offer, call->agent, asked->tools, &call->arena))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    call->holds_text = cdr_hook_has(call->agent->agent, CDR_HOOK_AFTER_MODEL);
    call->request = (cadre_request){.system = call->hook.shown.system,
                                    .items = call->view.items,
                                    .n_items = call->view.n_items,
                                    .tools = call->offer.infos,
                                    .n_tools = call->offer.count,
                                    .api_key = "",
                                    .agent = call->agent->name};
    cdr_answer_init(&call->sink);
    call->sink.on_delta = show_piece;
    call->sink.ctx = call;
    call->paused.resume = resume_attempt;
    call->paused.ctx = call;
    call->message_id = cadre_id_new();
    cadre_id_text(call->message_id, call->message_text);
    cdr_event_address(call->agent, &call->delta, call->id);
    return CADRE_OK;
}

static void model_call_fini(model_call *call)
{
    cdr_view_fini(&call->view);
    cdr_model_hook_fini(&call->hook);
    cdr_arena_fini(&call->arena);
    cdr_answer_fini(&call->sink);
    free(call->system);
}

// A call whose answer ends the program each time is not made for ever.
static cadre_status check_restarts(const model_call *call, cadre_error *failure)
{
    int restarts = call->frame->restarts;
    if (restarts <= CDR_RESTART_LIMIT)
        return CADRE_OK;
    return cadre_fail(failure, CADRE_EFAILED,
                      "agent '%s': model '%s': the run was cut %d times during this "
                      "call; it is not made again",
                      call->agent->name, call->model->name, restarts);
}

// The answer of the model, or what a hook gave in its place.
static cadre_status get_answer(model_call *call, cadre_error *failure)
{
    cadre_status status = CADRE_OK;
    if (call->hook.is_given)
        return cdr_model_hook_give(&call->hook, &call->sink)
                   ? CADRE_OK
                   : cadre_fail(failure, CADRE_ENOMEM, "no memory for an answer");
    if (!cdr_work_begin(call->frame, call->agent->work->strand))
        status = cadre_fail(failure, CADRE_ENOMEM, "no memory for a model call");
    if (status == CADRE_OK)
        status = cdr_tree_flush(call->frame->tree, failure);
    if (status == CADRE_OK)
        status = check_restarts(call, failure);
    if (status == CADRE_OK) {
        cadre_event event = {.type = CADRE_EVENT_MESSAGE_START};
        event.u.message_start.message_id = call->message_text;
        show_passing(call, &event);
        if (!cdr_model_hook_recall(&call->hook, &call->sink))
            status = attempt_until_whole(call, failure);
        if (status != CADRE_OK)
            name_failure(call, failure);
    }
    cdr_work_free(cdr_work_end(call->frame));
    return status;
}

// Its hooks wait for a person: so does the call. It goes on with the answer it has.
static bool park(model_call *call, cadre_status status, cadre_error *failure)
{
    if (!cdr_is_parked(call->agent, status, failure))
        return false;
    cdr_mutex_lock(&call->frame->tree->mu);
    if (!call->hook.is_given)
        call->frame->attempts--; // going on is no attempt
    cdr_frame_park_locked(call->frame);
    cdr_mutex_unlock(&call->frame->tree->mu);
    call->is_parked = true;
    return true;
}

static cadre_status ask(model_call *call, cadre_answer *answer, cadre_error *failure)
{
    cadre_status status = get_answer(call, failure);
    if (status == CADRE_OK)
        status = cdr_model_hook_after(&call->hook, &call->sink, failure);
    if (status == CADRE_EPARKED && park(call, status, failure))
        return status;
    if (status == CADRE_OK && !record_answer(call, answer))
        status = cadre_fail(failure, CADRE_ENOMEM, "no memory for an answer");
    if (status != CADRE_OK)
        record_failure(call, status, failure);
    return status;
}

// A stop wins over what the call said of it.
static cadre_status why_stopped(const cadre_frame *frame, cadre_error *err)
{
    cadre_error_clear(err);
    return cdr_frame_stopped(frame, err);
}

// A turn in the record was asked for because of a message that has its place now.
bool cadre_frame_goes_on(cadre_frame *frame)
{
    char key[16];
    if (frame == NULL || frame->work == NULL)
        return false;
    snprintf(key, sizeof key, "%d", frame->work->turn + 1);
    cdr_mutex_lock(&frame->tree->mu);
    bool has = cdr_frame_child_locked(frame, key) != NULL ||
               (frame->mark == CDR_MARK_NONE &&
                cdr_inbox_has_next_locked(frame->tree, frame->conversation->id));
    cdr_mutex_unlock(&frame->tree->mu);
    return has;
}

cadre_status cadre_frame_ask_model(cadre_frame *frame, const cadre_model_call *asked,
                                   cadre_answer *answer, cadre_error *err)
{
    cadre_error failure = CADRE_ERROR_INIT;
    if (asked == NULL || answer == NULL)
        return cdr_fail_null(err, __func__);
    model_call call = {.agent = frame, .model = asked->model};
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    cdr_tree *tree = frame->tree;
    char key[16];
    if (asked->struct_size < sizeof *asked || asked->model == NULL)
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': a model call without a model",
                          frame->name);
    status = cdr_check_array((cdr_argument){frame->name, "cadre_model_call.tools"},
                             asked->tools.items, asked->tools.count, err);
    if (status == CADRE_OK)
        status = cdr_hook_refuse(frame, false, __func__, err);
    if (status != CADRE_OK)
        return status;
    cdr_round_close(frame);
    snprintf(key, sizeof key, "%d", ++frame->work->turn);
    const cadre_frame *record = cdr_model_record_find(frame, key);
    if (record != NULL)
        return cdr_model_record_use(frame, record, asked, answer, err);
    status = call_before(&call, asked, err);
    if (status == CADRE_OK) {
        // After the hooks: what was posted gets its place with the reservation.
        cdr_mutex_lock(&tree->mu);
        cdr_say_posted_locked(frame);
        cdr_mutex_unlock(&tree->mu);
        status = prepare(&call, asked, err);
    }
    if (status == CADRE_OK)
        status = reserve(&call, key, err);
    if (status == CADRE_OK) {
        status = ask(&call, answer, &failure);
        cdr_mutex_lock(&tree->mu);
        if (!call.is_parked)
            cdr_frame_release_locked(call.frame);
        cdr_mutex_unlock(&tree->mu);
        if (call.is_parked)
            status = cadre_fail(err, status, "%s", failure.text);
        else if (status != CADRE_OK)
            status = cadre_fail_class(err, CADRE_EFAILED, failure.error_class,
                                      failure.retryable, "%s", failure.text);
    }
    model_call_fini(&call);
    cadre_status stopped =
        frame->mark == CDR_MARK_NONE ? CADRE_OK : why_stopped(frame, err);
    return stopped != CADRE_OK ? stopped : status;
}
