// See execute.h.
#include "run/execute.h"

#include "run/call.h"
#include "run/fallback.h"
#include "run/hook.h"
#include "run/recorded.h"
#include "run/output.h"
#include "run/prompt.h"
#include "run/scope.h"
#include "run/script_check.h"
#include "run/state.h"
#include "run/tool_round.h"
#include "run/transfer_record.h"
#include "tree/delta.h"
#include "tree/outbox.h"
#include "tree/pot.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cdr_ran_fini(cdr_ran *ran)
{
    cdr_text_unref(ran->output);
    cdr_json_unshare(ran->delta);
    cdr_failure_unref(ran->failure);
}

// --- One frame ---

bool cdr_work_begin(cadre_frame *frame, cdr_strand *strand)
{
    cdr_work *work = cdr_work_new(strand);
    if (work == NULL)
        return false;
    cdr_mutex_lock(&frame->tree->mu);
    work->n_recorded = frame->conversation->n_messages;
    frame->work = work;
    cdr_state_inherit_locked(frame);
    cdr_mutex_unlock(&frame->tree->mu);
    return true;
}

cdr_work *cdr_work_end(cadre_frame *frame)
{
    cdr_mutex_lock(&frame->tree->mu);
    cdr_work *work = frame->work;
    frame->work = NULL;
    cdr_mutex_unlock(&frame->tree->mu);
    if (work != NULL) {
        cdr_prompt_free(work->prompt);
        work->prompt = NULL;
    }
    return work;
}

static cadre_stop_reason reason_of(const cadre_frame *frame, const cdr_failure *failure,
                                   const cadre_error *err)
{
    if (frame->work != NULL && frame->work->child_reason != CADRE_STOP_NONE &&
        failure == frame->work->child_failure)
        return (cadre_stop_reason)frame->work->child_reason;
    switch (err->error_class) {
    case CADRE_CLASS_LOOP:
        return CADRE_STOP_LOOP;
    case CADRE_CLASS_LIMIT:
        return CADRE_STOP_LIMIT;
    case CADRE_CLASS_BUDGET:
        return CADRE_STOP_BUDGET;
    case CADRE_CLASS_DIVERGED:
        return CADRE_STOP_DIVERGED;
    default:
        return CADRE_STOP_ERROR;
    }
}

// A child's failure that `run` passed on stays that child's; else it is this frame's.
static cdr_failure *failure_of(cadre_frame *frame, const cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cdr_failure *child = frame->work == NULL ? NULL : frame->work->child_failure;
    cadre_error own = *err;
    if (child != NULL &&
        (err->text[0] == '\0' || strcmp(err->text, child->message) == 0))
        return cdr_failure_ref(child);
    if (own.text[0] == '\0')
        cadre_fail(&own, CADRE_EFAILED, "agent '%s' failed without saying why",
                   frame->name);
    cadre_id_text(cdr_frame_nearest_agent(frame)->id, id);
    return cdr_failure_new(&own, frame->agent->info.name, id);
}

static const struct {
    cadre_frame_status status;
    cadre_stop_reason reason;
} ends_of_marks[] = {[CDR_MARK_REQUEST] = {CADRE_FRAME_ABORTED, CADRE_STOP_ABORTED},
                     [CDR_MARK_OWNER] = {CADRE_FRAME_ABORTED, CADRE_STOP_ABORTED},
                     [CDR_MARK_TIMEOUT] = {CADRE_FRAME_TIMEOUT, CADRE_STOP_TIMEOUT},
                     [CDR_MARK_LOST] = {CADRE_FRAME_ABORTED, CADRE_STOP_ABORTED},
                     [CDR_MARK_BUDGET] = {CADRE_FRAME_FAILED, CADRE_STOP_BUDGET}};

static void ending_of_mark(cadre_frame *frame, cdr_ending *ending)
{
    cadre_error why = CADRE_ERROR_INIT;
    cdr_frame_stopped(frame, &why);
    ending->status = ends_of_marks[frame->mark].status;
    ending->stop_reason = ends_of_marks[frame->mark].reason;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(cdr_frame_nearest_agent(frame)->id, id);
    ending->failure = cdr_failure_new(&why, frame->agent->info.name, id);
}

// What the budgets around a frame have refused; its own only. NULL: nothing.
static cdr_failure *refusal_of(const cadre_frame *frame, bool is_own)
{
    if (frame->pot == NULL)
        return NULL;
    cdr_mutex_lock(&frame->tree->mu);
    cdr_failure *refusal = cdr_failure_ref(cdr_pots_refusal_locked(frame, is_own));
    cdr_mutex_unlock(&frame->tree->mu);
    return refusal;
}

// Did it fail since a budget, that it works with too, has stopped it?
static bool is_out_of_budget(const cadre_frame *frame, const cdr_ending *ending)
{
    if (ending->status != CADRE_FRAME_FAILED ||
        ending->stop_reason != CADRE_STOP_BUDGET)
        return false;
    cdr_failure *refusal = refusal_of(frame, false);
    cdr_failure_unref(refusal);
    return refusal != NULL || frame->mark == CDR_MARK_BUDGET;
}

// Has it said something that may stand as its answer?
static bool has_answered(cadre_frame *frame)
{
    return cdr_text_bytes(frame->work->output)[0] != '\0' && cdr_output_fits(frame);
}

// What was stopped by a budget has answered if it has said something, and the failure
// says why that is all. Who ends well although its budget has refused a call says so.
static void heed_budget(cadre_frame *frame, cdr_ending *ending)
{
    const cdr_work *work = frame->work;
    if (frame->kind != CDR_FRAME_AGENT || work == NULL)
        return;
    if (is_out_of_budget(frame, ending) && has_answered(frame)) {
        ending->status = CADRE_FRAME_COMPLETED;
        ending->output = cdr_text_ref(work->output);
    } else if (ending->stop_reason == CADRE_STOP_FINAL) {
        ending->failure = refusal_of(frame, true);
        if (ending->failure != NULL)
            ending->stop_reason = CADRE_STOP_BUDGET;
    }
}

void cdr_ending_of(cadre_frame *frame, cadre_status status, const cadre_error *err,
                   cdr_ending *ending)
{
    const cdr_work *work = frame->work;
    memset(ending, 0, sizeof *ending);
    if (frame->mark != CDR_MARK_NONE) {
        ending_of_mark(frame, ending);
    } else if (status == CADRE_OK || status == CADRE_ESCALATED) {
        ending->status = CADRE_FRAME_COMPLETED;
        ending->stop_reason =
            status == CADRE_OK ? CADRE_STOP_FINAL : CADRE_STOP_ESCALATED;
        if (status == CADRE_OK && work != NULL &&
            work->answer_reason != CADRE_STOP_NONE)
            ending->stop_reason = (cadre_stop_reason)work->answer_reason;
        ending->output = work == NULL ? NULL : cdr_text_ref(work->output);
    } else {
        ending->status = CADRE_FRAME_FAILED;
        ending->failure = failure_of(frame, err);
        ending->stop_reason = reason_of(frame, ending->failure, err);
    }
    if (work != NULL && work->stop_reason != CADRE_STOP_NONE &&
        frame->mark == CDR_MARK_NONE)
        ending->stop_reason = (cadre_stop_reason)work->stop_reason;
    heed_budget(frame, ending);
}

// --- A transfer that was recorded ---

static bool has_recorded_transfer(cadre_frame *frame)
{
    cdr_mutex_lock(&frame->tree->mu);
    bool has = cdr_frame_child_locked(frame, "transfer") != NULL;
    cdr_mutex_unlock(&frame->tree->mu);
    return has;
}

static cadre_frame *enter_source(cadre_frame *frame);

// A frame that has handed over is never run again: its transfers are counted once more,
// which gives the target what it was given then.
static cadre_status go_on_to_target(cadre_frame *frame, cadre_error *err)
{
    if (frame->scope == NULL && !cdr_has_fallen_back(frame))
        return cadre_fail(err, CADRE_EDIVERGED,
                          "'%s' handed over once and now has no scope", frame->name);
    cadre_status status = cdr_replay_transfers(frame, err);
    if (status == CADRE_OK && frame->work->transfer == NULL && frame->source != NULL &&
        frame->scope->scope->return_to_source)
        frame->work->transfer = enter_source(frame);
    if (status == CADRE_OK && frame->work->transfer == NULL)
        status = cadre_fail(err, CADRE_EDIVERGED,
                            "'%s' handed over once and now does not", frame->name);
    return status;
}

// --- Parking ---

// Does a frame that returned EPARKED wait for somebody? A question, or what asks one,
// is below it then.
static bool is_waiting(cadre_frame *frame)
{
    bool is = false;
    cdr_mutex_lock(&frame->tree->mu);
    for (const cadre_frame *child = frame->live_children; child != NULL && !is;
         child = child->next)
        is = child->status == CADRE_FRAME_WAITING ||
             (child->kind == CDR_FRAME_TOOL && child->live_children != NULL);
    cdr_mutex_unlock(&frame->tree->mu);
    return is;
}

bool cdr_is_parked(cadre_frame *frame, cadre_status status, cadre_error *err)
{
    if (status != CADRE_EPARKED || frame->mark != CDR_MARK_NONE)
        return false;
    if (is_waiting(frame))
        return true;
    cadre_error_clear(err);
    cadre_fail(err, CADRE_EFAILED,
               "'%s' says that it waits for an answer, and asks "
               "nobody",
               frame->name);
    return false;
}

// All of the chain wait, unless they were stopped meanwhile.
static bool park_chain(cadre_frame *first, cadre_frame *last)
{
    cdr_tree *tree = first->tree;
    cdr_mutex_lock(&tree->mu);
    bool is_stopped = last->mark != CDR_MARK_NONE;
    for (cadre_frame *frame = last; !is_stopped; frame = frame->parent) {
        cdr_frame_park_locked(frame);
        if (frame == first)
            break;
    }
    cdr_mutex_unlock(&tree->mu);
    return !is_stopped;
}

// --- Running ---

static cadre_status run_agent(cadre_frame *frame, cdr_strand *strand, cadre_error *err)
{
    if (!cdr_work_begin(frame, strand))
        return cadre_fail(err, CADRE_ENOMEM, "no memory to run '%s'", frame->name);
    cadre_status status = cdr_frame_stopped(frame, err);
    bool has_handed_over = status == CADRE_OK && has_recorded_transfer(frame);
    if (status == CADRE_OK)
        status = cdr_state_restore(frame, has_handed_over, err);
    if (status == CADRE_OK && has_handed_over)
        status = go_on_to_target(frame, err);
    else if (status == CADRE_OK)
        status = cdr_hook_run_agent(frame, err);
    // Who waits, waits, whatever `run` made of it.
    bool is_good = status == CADRE_OK || status == CADRE_ESCALATED;
    bool is_sticky = frame->work->sticky == CADRE_EPARKED ||
                     (is_good && frame->work->sticky != CADRE_OK);
    return is_sticky ? cdr_fail_sticky(frame, err) : status;
}

// Runs one frame; what it transferred to, or NULL. The ending owns its references.
static cadre_frame *run_one(cadre_frame *frame, cdr_strand *strand, cdr_ending *ending,
                            const char **agent)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = run_agent(frame, strand, &err);
    cadre_frame *next = frame->work == NULL ? NULL : frame->work->transfer;
    if (status != CADRE_OK || frame->mark != CDR_MARK_NONE)
        next = NULL;
    if (next == NULL)
        status = cdr_recorded_end(frame, status, &err);
    if (next == NULL)
        status = cdr_script_check(frame, status, &err);
    if (status == CADRE_OK && next == NULL && cdr_output_check(frame, &err) != CADRE_OK)
        status = err.status;
    if ((status == CADRE_OK || status == CADRE_ESCALATED) && next == NULL &&
        cdr_state_keep_answer(frame, &err) != CADRE_OK)
        status = err.status;
    *agent = frame->name;
    if (cdr_is_parked(frame, status, &err)) {
        *ending = (cdr_ending){.status = CADRE_FRAME_WAITING};
        cdr_round_drop(frame);
    } else if (next == NULL) {
        cdr_ending_of(frame, status, &err, ending);
        if (frame->work != NULL && frame->work->answered_by != NULL)
            *agent = frame->work->answered_by;
    }
    if (frame->work != NULL)
        cdr_round_close(frame);
    cdr_work_free(cdr_work_end(frame));
    return next;
}

// --- return_to_source ---

static bool must_return(const cadre_frame *frame, const cdr_ending *ending)
{
    return frame->scope != NULL && frame->scope->scope->return_to_source &&
           frame->source != NULL && ending->status == CADRE_FRAME_COMPLETED;
}

// After an answer: the agent that handed over goes on, in a new frame.
static cadre_frame *enter_source(cadre_frame *frame)
{
    cdr_scope_state *scope = frame->scope;
    cdr_transfer_decision decision;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_frame *next = NULL;
    cdr_entered how = CDR_ENTERED_NEW;
    const cadre_agent *to = frame->source->agent;
    if (cdr_scope_decide(scope, frame->agent, to->info.name, "", &decision, &err) !=
            CADRE_OK ||
        (decision.kind != CDR_TRANSFER_DONE && decision.kind != CDR_TRANSFER_UNKNOWN))
        return NULL;
    cdr_birth birth = {
        .kind = CDR_FRAME_AGENT,
        .name = to->info.name,
        .agent = to,
        .key = "transfer",
        .scope = scope,
        .demanded = frame->demanded,
        .is_quiet = to->quiet,
        .is_transfer = true,
        .deadline_ms = scope->deadline_ms,
        .timeout_ms = cdr_shorter_ms(scope->limits.node_timeout_ms, to->timeout_ms)};
    cdr_mutex_lock(&frame->tree->mu);
    if (cdr_frame_enter_locked(frame, &birth, &next, &how, &err) == CADRE_OK)
        next->source = frame->source->source;
    if (next != NULL && how == CDR_ENTERED_NEW && frame->delta != NULL)
        cdr_outbox_delta_locked(frame); // it is never run again
    cdr_mutex_unlock(&frame->tree->mu);
    return next;
}

// --- The chain ---

// A mark that came after `run` had returned wins all the same: who marked it knows it
// as stopped.
static void heed_mark_locked(cadre_frame *frame, cdr_ending *ending)
{
    if (frame->mark == CDR_MARK_NONE || ending->status == CADRE_FRAME_ABORTED ||
        ending->status == CADRE_FRAME_TIMEOUT ||
        ending->stop_reason == CADRE_STOP_BUDGET)
        return;
    cdr_text_unref(ending->output);
    cdr_failure_unref(ending->failure);
    *ending = (cdr_ending){.status = CADRE_FRAME_ABORTED};
    ending_of_mark(frame, ending);
}

// Ends the frames from the last one up to the first, in one commit.
static void end_chain(cadre_frame *first, cadre_frame *last, cdr_ending *ending)
{
    cdr_tree *tree = first->tree;
    cdr_mutex_lock(&tree->mu);
    heed_mark_locked(last, ending);
    for (cadre_frame *frame = last;; frame = frame->parent) {
        cdr_ending own = *ending;
        own.failure = cdr_failure_ref(ending->failure);
        own.output = frame == last ? ending->output : NULL;
        cdr_frame_end_locked(frame, &own);
        if (frame == first)
            break;
    }
    cdr_mutex_unlock(&tree->mu);
}

// What the frames of a chain have added, one after the other.
static void keep_delta(cadre_frame *frame, json_t **sum)
{
    if (cdr_delta_append(frame->tree->team, sum, frame->delta))
        return;
    cdr_mutex_lock(&frame->tree->mu);
    cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for the state");
    cdr_mutex_unlock(&frame->tree->mu);
}

void cdr_execute(cadre_frame *first, cdr_strand *strand, cdr_ran *ran)
{
    cdr_tree *tree = first->tree;
    cdr_ending ending = {.status = CADRE_FRAME_FAILED};
    const char *agent = first->name;
    cadre_frame *last = first;
    json_t *delta = NULL;
    for (;;) {
        cadre_frame *next = run_one(last, strand, &ending, &agent);
        keep_delta(last, &delta);
        bool answered = next == NULL;
        if (answered && must_return(last, &ending))
            next = enter_source(last);
        if (next == NULL)
            break;
        if (answered) {
            cdr_text_unref(ending.output);
            cdr_failure_unref(ending.failure);
        }
        cdr_mutex_lock(&tree->mu);
        if (!cdr_frame_is_ended(last)) // else it was abandoned
            last->status = CADRE_FRAME_WAITING;
        if (last->scope != NULL) { // its own time binds no other
            last->deadline_ms = last->scope->deadline_ms;
            cdr_pots_limit_time_locked(last, true);
        }
        if (next->status == CADRE_FRAME_PENDING)
            cdr_frame_start_locked(next, true);
        bool many = cdr_outbox_has_many_locked(tree);
        cdr_mutex_unlock(&tree->mu);
        if (many)
            cdr_tree_flush(tree, NULL); // a lost store marks the frames; they tell
        last = next;
    }
    if (ending.status != CADRE_FRAME_WAITING) {
        end_chain(first, last, &ending);
    } else if (!park_chain(first, last)) {
        cdr_ending_of(last, CADRE_EABORTED, NULL, &ending);
        end_chain(first, last, &ending);
    }
    *ran = (cdr_ran){.status = ending.status,
                     .stop_reason = ending.stop_reason,
                     .output = ending.output,
                     .delta = delta,
                     .agent = agent,
                     .failure = ending.failure,
                     .usage = first->usage};
}

// --- Saying ---

bool cdr_say_locked(cadre_frame *frame, cdr_message *message)
{
    cadre_event event = {.type = CADRE_EVENT_MESSAGE_END};
    if (message == NULL)
        return false;
    if (cdr_frame_is_ended(frame)) { // it was abandoned
        cdr_message_unref(message);
        return true;
    }
    message->is_to_team = message->m.is_input && frame->agent->members.count > 0;
    if (!cdr_conversation_append_take(frame->conversation, message))
        return false;
    event.u.message_end.finish =
        message->m.role == CADRE_ROLE_ASSISTANT ? CADRE_FINISH_STOP : CADRE_FINISH_NONE;
    message->m.seq = cdr_outbox_event_locked(frame, &event, message, true);
    cdr_outbox_message_locked(frame, frame->conversation, message);
    return true;
}

void cdr_say_posted_locked(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    cadre_id conversation = frame->conversation->id;
    while (frame->mark == CDR_MARK_NONE) {
        cdr_message *message = cdr_inbox_take_next_locked(tree, conversation);
        if (message == NULL)
            return;
        message->frame = frame->id;
        cadre_id_text(frame->id, message->frame_text);
        if (!cdr_say_locked(frame, message))
            cadre_fail(&tree->lost, CADRE_ESTORE, "no memory for a message");
    }
}
