// See ending.h.
#include "tree/ending.h"

#include "tree/call_result.h"
#include "tree/children.h"
#include "tree/delta.h"
#include "tree/outbox.h"
#include "tree/race.h"
#include "tree/spent.h"

#include <assert.h>
#include <string.h>

static void add(int64_t *sum, int64_t more)
{
    if (__builtin_add_overflow(*sum, more, sum))
        *sum = INT64_MAX;
}

void cdr_usage_add(cadre_usage *sum, const cadre_usage *more)
{
    add(&sum->model_calls, more->model_calls);
    add(&sum->tool_calls, more->tool_calls);
    add(&sum->input_tokens, more->input_tokens);
    add(&sum->output_tokens, more->output_tokens);
    add(&sum->cached_input_tokens, more->cached_input_tokens);
    add(&sum->reasoning_tokens, more->reasoning_tokens);
    add(&sum->cost_usd_micros, more->cost_usd_micros);
    add(&sum->unpriced_calls, more->unpriced_calls);
}

// An error is told once, where it happened first.
static void tell_error_locked(cadre_frame *frame)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_event event = {.type = CADRE_EVENT_ERROR};
    if (frame->failure == NULL || frame->status != CADRE_FRAME_FAILED)
        return;
    cadre_id_text(frame->id, id);
    event.u.error = cdr_failure_info(frame->failure);
    if (strcmp(id, frame->failure->frame_id) == 0)
        cdr_outbox_event_locked(frame, &event, NULL, false);
}

static void tell_end_locked(cadre_frame *frame, const cdr_ending *ending)
{
    int64_t now = cdr_clock_now_ns(frame->tree->runtime->clock);
    if (frame->kind == CDR_FRAME_AGENT) {
        cadre_event event = {.type = CADRE_EVENT_FRAME_END};
        event.u.frame_end.status = ending->status;
        event.u.frame_end.stop_reason = ending->stop_reason;
        event.u.frame_end.output = cdr_text_bytes(frame->output);
        event.u.frame_end.usage = frame->usage;
        event.u.frame_end.duration_ms = cdr_frame_lasted_ms(frame, now);
        event.u.frame_end.error = cdr_failure_info(frame->failure);
        tell_error_locked(frame);
        cdr_outbox_event_locked(frame, &event, NULL, true);
    }
    cdr_outbox_end_locked(frame, &ending->own, now);
}

// A call has its result all the same. Unchecked, since the checker does not know that
// all frames of a tree have one lock.
static void end_open_locked(cadre_frame *frame) CDR_NO_THREAD_SAFETY
{
    cdr_ending ending = {.status = CADRE_FRAME_ABORTED,
                         .stop_reason = CADRE_STOP_ABORTED};
    const cadre_tool_call *call = cdr_call_of_locked(frame);
    if (call != NULL) {
        ending.seq = cdr_call_result_say_locked(
            frame, &(cdr_call_result){
                       .call = call, .code = CADRE_RESULT_ABORTED, .text = "aborted"});
        ending.own.tool_calls = 1;
    }
    cdr_frame_end_locked(frame, &ending);
}

// Frames nobody works on, bottom-up: calls of a turn that was stopped, and what a cut
// run left open.
static void end_open_children_locked(cadre_frame *frame)
{
    while (frame->live_children != NULL) {
        cadre_frame *child = frame->live_children;
        while (child->live_children != NULL)
            child = child->live_children;
        assert(child->work == NULL &&
               (child->is_loaded || child->status != CADRE_FRAME_RUNNING));
        cdr_frame_mark_locked(child, CDR_MARK_OWNER);
        end_open_locked(child);
    }
}

// What it saw is of no use any more, and what it added only when it completed.
static void end_state(cadre_frame *frame)
{
    if (frame->is_given_up)
        return;
    cdr_json_unshare(frame->state);
    frame->state = NULL;
    if (frame->status == CADRE_FRAME_COMPLETED)
        return;
    cdr_json_unshare(frame->delta);
    frame->delta = NULL;
}

void cdr_frame_note_stopped(const cadre_frame *frame)
{
    bool is_stopped =
        frame->status == CADRE_FRAME_ABORTED || frame->status == CADRE_FRAME_TIMEOUT;
    if (frame->kind == CDR_FRAME_AGENT && is_stopped)
        frame->tree->is_agent_stopped[frame->agent->index] = true;
}

void cdr_frame_end_locked(cadre_frame *frame, const cdr_ending *ending)
{
    if (cdr_frame_is_ended(frame)) {
        cdr_failure_unref(ending->failure);
        return;
    }
    end_open_children_locked(frame);
    assert(ending->status >= CADRE_FRAME_COMPLETED);
    frame->status = (unsigned char)ending->status;
    frame->stop_reason = (unsigned char)ending->stop_reason;
    frame->output = cdr_text_ref(ending->output);
    frame->failure = ending->failure;
    if (!frame->is_refused) // else it is not in the record, and nothing was done
        cdr_usage_add(&frame->usage, &ending->own);
    end_state(frame);
    cdr_frame_note_stopped(frame);
    tell_end_locked(frame, ending);
    cdr_replay_note_end_locked(frame);
    cdr_race_look_locked(frame);
    for (cadre_frame *child = frame->kept_children; child != NULL;) {
        cadre_frame *next = child->next;
        cdr_frame_drop_locked(child);
        child = next;
    }
    if (frame->parent == NULL)
        return;
    cdr_usage_add(&frame->parent->usage, &frame->usage);
    cdr_child_remove(frame);
    cdr_child_add(&frame->parent->kept_children, frame);
}

void cdr_frame_park_locked(cadre_frame *frame)
{
    if (frame->status == CADRE_FRAME_PENDING || cdr_frame_is_ended(frame))
        return; // it has not started, or was abandoned meanwhile
    frame->status = CADRE_FRAME_WAITING;
    cdr_outbox_running_locked(frame);
}

void cdr_frame_release_locked(cadre_frame *frame)
{
    assert(cdr_frame_is_ended(frame) && frame->work == NULL);
    if (frame->parent != NULL && !frame->is_named)
        cdr_frame_drop_locked(frame);
}
