// See fallback.h.
#include "run/fallback.h"

#include "base/buf.h"
#include "run/arguments.h"
#include "run/call.h"
#include "run/model_window.h"
#include "run/transfer.h"
#include "run/view.h"
#include "run/window.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <string.h>

// --- The one message ---

// "[alice] add({...}) -> 7", or the beginning of it: the results follow their calls.
static void append_call(cdr_buf *text, const cadre_message *asked, size_t call,
                        const char *result)
{
    cdr_buf_printf(text, "\n\n[%s] %s(", asked->agent, asked->tool_calls[call].name);
    cdr_buf_append_text(text, asked->tool_calls[call].arguments);
    cdr_buf_append_text(text, ") -> ");
    cdr_buf_append_text(text, result);
}

// An answer of the agent itself; gives how many items it took, with its results.
static size_t append_own(cdr_buf *text, const cadre_request_item *items, size_t at)
{
    const cadre_message *m = items[at].message;
    if (m->text[0] != '\0') {
        cdr_buf_printf(text, "\n\n[%s]: ", m->agent);
        cdr_buf_append_text(text, m->text);
    }
    // The view has one result for each call, right behind it.
    for (size_t i = 0; i < m->n_tool_calls; i++)
        append_call(text, m, i, items[at + 1 + i].text);
    return 1 + m->n_tool_calls;
}

static void append_turn(cdr_buf *text, const cadre_request_item *item)
{
    cdr_buf_append_text(text, "\n\n");
    if (item->rendering == CADRE_AS_USER) {
        const char *from = item->message->agent;
        cdr_buf_printf(text, "[%s]: ", from[0] == '\0' ? "user" : from);
    }
    cdr_buf_append_text(text, item->text);
}

static bool render(cdr_buf *text, const cadre_frame *frame, const cdr_window *shown)
{
    cdr_buf_printf(text,
                   "%s came to no end with this conversation. Answer in its place.",
                   frame->name);
    for (size_t i = 0; i < shown->n_items;) {
        const cadre_request_item *item = &shown->items[i];
        if (item->rendering == CADRE_AS_OWN) {
            i += append_own(text, shown->items, i);
        } else {
            append_turn(text, item);
            i++;
        }
    }
    return !text->failed;
}

// Writes what the call shows its model.
static cadre_status write_history(cdr_buf *text, cadre_frame *frame,
                                  const cadre_model_call *call, cadre_error *err)
{
    cdr_view view = {.n_items = 0};
    cdr_window window = {.n_items = 0};
    cadre_status status = cdr_view_update(&view, frame, call->history, err);
    const cdr_window_view all = {.items = view.items,
                                 .n_items = view.n_items,
                                 .n_said = view.n_items,
                                 .n_settled = 0};
    int64_t limit = cdr_history_limit(frame, call->max_history_tokens);
    if (status == CADRE_OK &&
        (!cdr_window_update(&window, &all, limit) || !render(text, frame, &window)))
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a conversation");
    cdr_window_fini(&window);
    cdr_view_fini(&view);
    return status;
}

// --- Falling back ---

static cdr_transfer_decision decision_for(const cadre_frame *frame)
{
    return (cdr_transfer_decision){.kind = CDR_TRANSFER_DONE,
                                   .to = frame->agent->fallback,
                                   .history = CADRE_HISTORY_NONE,
                                   .is_fallback = true};
}

static void tell_locked(cadre_frame *frame, const char *why)
{
    cadre_event event = {.type = CADRE_EVENT_TRANSFER};
    event.u.transfer.from = frame->name;
    event.u.transfer.to = frame->agent->fallback->info.name;
    event.u.transfer.message = ""; // the target's frame_start has it
    event.u.transfer.decision = "done";
    event.u.transfer.reason = why == NULL ? "" : why;
    cdr_outbox_event_locked(frame, &event, NULL, false);
}

static cadre_status fall_back(cadre_frame *frame, const char *message, const char *why,
                              cadre_error *err)
{
    cdr_transfer_decision decision = decision_for(frame);
    if (frame->scope != NULL && cdr_scope_has(frame->scope, decision.to))
        decision.timeout_ms = frame->scope->limits.node_timeout_ms;
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK) {
        if (why != NULL)
            tell_locked(frame, why);
        status = cdr_enter_target_locked(frame, &decision, message, err);
    }
    cdr_mutex_unlock(&frame->tree->mu);
    return status;
}

cadre_status cadre_frame_fall_back(cadre_frame *frame, const cadre_model_call *call,
                                   const char *why, cadre_error *err)
{
    cdr_buf text = CDR_BUF_INIT;
    if (frame == NULL || call == NULL || why == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (frame->kind != CDR_FRAME_AGENT || frame->agent->fallback == NULL)
        return cadre_fail(err, CADRE_EINVAL, "'%s' has no loop_fallback", frame->name);
    if (frame->work->transfer != NULL)
        return cadre_fail(err, CADRE_EREFUSED, "'%s' was handed over to '%s' already",
                          frame->name, frame->work->transfer->name);
    status = write_history(&text, frame, call, err);
    if (status == CADRE_OK)
        status = fall_back(frame, cdr_buf_text(&text), why, err);
    cdr_buf_fini(&text);
    return status;
}

// --- From the record ---

// The last model call of the frame that is in memory; NULL: it made none.
static const cadre_frame *last_model_call_locked(cadre_frame *frame)
    CDR_REQUIRES(frame->tree->mu)
{
    const cadre_frame *last = NULL;
    char key[16];
    for (int turn = 1;; turn++) {
        (void)snprintf(key, sizeof key, "%d", turn);
        const cadre_frame *found = cdr_frame_child_locked(frame, key);
        if (found == NULL || found->kind != CDR_FRAME_MODEL)
            return last;
        last = found;
    }
}

static bool is_fallback_locked(cadre_frame *frame) CDR_REQUIRES(frame->tree->mu)
{
    size_t from = 0;
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    const cadre_frame *model = last_model_call_locked(frame);
    if (target == NULL || model == NULL || frame->agent->fallback == NULL ||
        target->agent != frame->agent->fallback)
        return false;
    if (model->status != CADRE_FRAME_COMPLETED)
        return true;
    const cdr_message *answer = cdr_conversation_find(
        frame->conversation, cdr_text_bytes(model->output), &from);
    return answer != NULL && answer->m.n_tool_calls > 0 &&
           answer->transferred_to == NULL;
}

bool cdr_has_fallen_back(cadre_frame *frame)
{
    cdr_mutex_lock(&frame->tree->mu);
    bool has = is_fallback_locked(frame);
    cdr_mutex_unlock(&frame->tree->mu);
    return has;
}

cadre_status cdr_fall_back_again(cadre_frame *frame, cadre_error *err)
{
    cdr_mutex_lock(&frame->tree->mu);
    const cadre_frame *target = cdr_frame_child_locked(frame, "transfer");
    cdr_text *input = cdr_text_ref(target->input);
    cdr_mutex_unlock(&frame->tree->mu);
    cadre_status status = fall_back(frame, cdr_text_bytes(input), NULL, err);
    cdr_text_unref(input);
    return status;
}
