// See model_call.h.
#include "run/model_call.h"

#include "run/arguments.h"
#include "run/asked.h"
#include "run/call.h"
#include "run/model_answer.h"
#include "run/model_attempt.h"
#include "run/model_budget.h"
#include "run/model_failover.h"
#include "run/model_record.h"
#include "run/model_window.h"
#include "run/output.h"
#include "run/recorded.h"
#include "run/tool_round.h"
#include "tree/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- The request ---

static cadre_status call_before(cdr_model_call *call, const cadre_model_call *asked,
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

static cadre_status prepare(cdr_model_call *call, const cadre_model_call *asked,
                            cadre_error *err)
{
    call->prompt = cdr_prompt_open(call->agent, asked->history, err);
    if (call->prompt == NULL)
        return CADRE_ENOMEM;
    cdr_view *view = &call->prompt->view;
    size_t n_said = view->n_items;
    if (!cdr_view_add_turns(view, call->hook.turns, call->hook.n_turns) ||
        !cdr_offer_init(&call->offer, call->agent, asked->tools, &call->arena))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a request");
    call->holds_text = cdr_hook_has(call->agent->agent, CDR_HOOK_AFTER_MODEL);
    call->request =
        (cadre_request){.system = call->hook.shown.system,
                        .tools = call->offer.infos,
                        .n_tools = call->offer.count,
                        .api_key = "",
                        .agent = call->agent->name,
                        .output_schema = cdr_frame_output_schema(call->agent),
                        .output_name = ""};
    if (call->request.output_schema != NULL)
        call->request.output_name = call->agent->name;
    cdr_model_attempt_init(call);
    call->message_id = cadre_id_new();
    cadre_id_text(call->message_id, call->message_text);
    cdr_event_address(call->agent, &call->delta, call->id);
    return cdr_model_window_open(call, n_said, err);
}

static cadre_status write_asked(cdr_model_call *call, cadre_error *err)
{
    const cdr_view *view = &call->prompt->view;
    const cdr_asked asked = {call->first->name, &call->request, view->last_input,
                             view->last_parts};
    if (!call->hook.is_given)
        cdr_asked_write(&asked, &call->asked);
    return call->asked.failed ? cadre_fail(err, CADRE_ENOMEM, "no memory for a request")
                              : CADRE_OK;
}

// --- The reservation ---

// Takes the next step of those that come in order, so that parallel calls get theirs in
// the order of reservation.
static cadre_status take_step_locked(cdr_model_call *call, const cadre_frame *cut,
                                     cdr_buf *input, cadre_error *err)
{
    call->script_at = &call->agent->tree->script_used[call->agent->agent->index];
    if (cut != NULL) {
        call->own_at = cdr_frame_script_place(cut).before;
        call->script_at = &call->own_at;
    }
    int before = *call->script_at;
    cadre_status status = cdr_model_take_step_locked(call, err);
    cdr_buf_printf(input, "{\"steps\":[%d,%d],", before, *call->script_at);
    return status;
}

// What the frame keeps of the call: the short form of what is asked.
static cadre_status reserve_step_locked(cdr_model_call *call, const cadre_frame *cut,
                                        cdr_text **input, cadre_error *err)
{
    cdr_buf text = CDR_BUF_INIT;
    const char *asked = cdr_buf_text(&call->asked);
    cadre_status status = CADRE_OK;
    if (call->hook.is_given)
        return CADRE_OK;
    if (call->recorded != NULL)
        status = cdr_model_take_step_locked(call, err);
    else if (call->model->is_scripted)
        status = take_step_locked(call, cut, &text, err);
    cdr_buf_append_text(&text, asked + (text.len > 0 ? 1 : 0));
    if (status == CADRE_OK && !text.failed)
        *input = cdr_text_new(cdr_buf_text(&text), text.len);
    if (status == CADRE_OK && *input == NULL)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a frame");
    cdr_buf_fini(&text);
    return status;
}

static cadre_status reserve(cdr_model_call *call, const char *key, cadre_error *err)
{
    cadre_frame *agent = call->agent;
    cdr_tree *tree = agent->tree;
    cdr_entered how = CDR_ENTERED_NEW;
    cdr_birth birth = {.kind = CDR_FRAME_MODEL,
                       .name = call->first->name,
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

// --- Asking ---

// A call whose answer ends the program each time is not made for ever.
static cadre_status check_restarts(const cdr_model_call *call, cadre_error *failure)
{
    int restarts = call->frame->restarts;
    if (restarts <= CDR_RESTART_LIMIT)
        return CADRE_OK;
    return cadre_fail(failure, CADRE_EFAILED,
                      "agent '%s': model '%s': the run was cut %d times during this "
                      "call; it is not made again",
                      call->agent->name, call->model->name, restarts);
}

// What was too long for one of the models is tried once more, shorter.
static cadre_status attempt(cdr_model_call *call, cadre_error *failure)
{
    cadre_status status = cdr_model_attempt(call, failure);
    while (status != CADRE_OK && call->was_too_long &&
           call->frame->mark == CDR_MARK_NONE) {
        status = cdr_model_window_shorten(call, failure);
        if (status != CADRE_OK)
            break;
        status = cdr_model_attempt(call, failure);
    }
    return status;
}

// The answer of the model, or what a hook gave in its place.
static cadre_status get_answer(cdr_model_call *call, cadre_error *failure)
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
        cdr_model_show(call, &event);
        if (cdr_model_hook_recall(&call->hook, &call->sink)) {
            cdr_model_pay_recalled(call);
        } else {
            cdr_model_pay_cuts(call);
            status = attempt(call, failure);
        }
        if (status != CADRE_OK)
            cdr_model_failover_name(call, failure);
    }
    cdr_work_free(cdr_work_end(call->frame));
    return status;
}

// Its hooks wait for a person: so does the call. It goes on with the answer it has.
static bool park(cdr_model_call *call, cadre_status status, cadre_error *failure)
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

static cadre_status ask(cdr_model_call *call, cadre_answer *answer,
                        cadre_error *failure)
{
    cadre_status status = get_answer(call, failure);
    if (status == CADRE_OK)
        status = cdr_model_hook_after(&call->hook, &call->sink, failure);
    if (status == CADRE_EPARKED && park(call, status, failure))
        return status;
    if (status == CADRE_OK && !cdr_model_answer_record(call, answer))
        status = cadre_fail(failure, CADRE_ENOMEM, "no memory for an answer");
    if (status != CADRE_OK)
        cdr_model_answer_record_failure(call, status, failure);
    return status;
}

static cadre_status ask_and_leave(cdr_model_call *call, cadre_answer *answer,
                                  cadre_error *err)
{
    cadre_error *failure = &call->failure;
    cdr_tree *tree = call->frame->tree;
    cadre_status status = ask(call, answer, failure);
    if (call->is_parked)
        return cadre_fail(err, status, "%s", failure->text);
    cdr_mutex_lock(&tree->mu);
    cdr_frame_release_locked(call->frame);
    cdr_mutex_unlock(&tree->mu);
    if (status == CADRE_OK)
        return CADRE_OK;
    // What budgets refuse nobody else may do.
    status = failure->error_class == CADRE_CLASS_BUDGET ? CADRE_ELIMIT : CADRE_EFAILED;
    return cadre_fail_class(err, status, failure->error_class, failure->retryable, "%s",
                            failure->text);
}

// A call that is not in the record.
static cadre_status make(cdr_model_call *call, const cadre_model_call *asked,
                         const char *key, cadre_answer *answer, cadre_error *err)
{
    cdr_tree *tree = call->agent->tree;
    cadre_status status = call_before(call, asked, err);
    if (status == CADRE_OK) {
        // After the hooks: what was posted gets its place with the reservation.
        cdr_mutex_lock(&tree->mu);
        cdr_recorded_post_locked(call->agent, key);
        cdr_say_posted_locked(call->agent);
        cdr_mutex_unlock(&tree->mu);
        status = prepare(call, asked, err);
    }
    if (status == CADRE_OK && !call->hook.is_given) {
        cdr_model_failover_start(call);
        status = cdr_model_claim(call, call->agent, err);
    }
    if (status == CADRE_OK)
        status = write_asked(call, err);
    if (status == CADRE_OK)
        status = cdr_recorded_step(call, key, cdr_buf_text(&call->asked), err);
    if (status == CADRE_OK)
        status = reserve(call, key, err);
    if (status == CADRE_OK)
        status = ask_and_leave(call, answer, err);
    cdr_model_unclaim(call);
    return status;
}

static void model_call_free(cdr_model_call *call)
{
    cdr_prompt_close(call->agent);
    cdr_model_hook_fini(&call->hook);
    cdr_arena_fini(&call->arena);
    cdr_answer_fini(&call->sink);
    cdr_buf_fini(&call->asked);
    free(call->system);
    free(call);
}

// A stop wins over what the call said of it.
static cadre_status why_stopped(const cadre_frame *frame, cadre_error *err)
{
    cadre_error_clear(err);
    return cdr_frame_stopped(frame, err);
}

static cadre_status check_asked(cadre_frame *frame, const cadre_model_call *asked,
                                cadre_error *err)
{
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (asked->struct_size < sizeof *asked || asked->model == NULL) {
        cadre_fail(err, CADRE_EINVAL, "agent '%s': a model call without a model",
                   frame->name);
        return CADRE_EINVAL;
    }
    status = cdr_check_array((cdr_argument){frame->name, "cadre_model_call.tools"},
                             asked->tools.items, asked->tools.count, err);
    return status == CADRE_OK
               ? cdr_hook_refuse(frame, false, "cadre_frame_ask_model", err)
               : status;
}

cadre_status cadre_frame_ask_model(cadre_frame *frame, const cadre_model_call *asked,
                                   cadre_answer *answer, cadre_error *err)
{
    char key[16];
    if (asked == NULL || answer == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check_asked(frame, asked, err);
    if (status != CADRE_OK)
        return status;
    cdr_round_close(frame);
    snprintf(key, sizeof key, "%d", ++frame->work->turn);
    bool is_recalled = cdr_model_window_recall(frame, frame->work->turn);
    const cadre_frame *record = cdr_model_record_find(frame, key);
    if (record != NULL)
        return cdr_model_record_use(frame, record, asked, answer, err);
    cdr_model_call *call = calloc(1, sizeof *call);
    if (call == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a model call");
    call->agent = frame;
    call->model = call->first = asked->model;
    call->max_history_tokens = asked->max_history_tokens;
    call->is_recalled = is_recalled;
    call->is_shortened = is_recalled && !asked->model->is_scripted;
    status = make(call, asked, key, answer, err);
    model_call_free(call);
    cadre_status stopped =
        frame->mark == CDR_MARK_NONE ? CADRE_OK : why_stopped(frame, err);
    return stopped != CADRE_OK ? stopped : status;
}
