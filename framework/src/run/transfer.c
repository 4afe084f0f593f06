// See transfer.h.
#include "run/transfer.h"

#include "run/call.h"
#include "run/hook.h"
#include "run/output.h"
#include "tree/outbox.h"

#include <string.h>

// The scope that the target works in: that of who hands over; who falls back to an
// agent that is no member there lets it work in none.
static cdr_scope_state *scope_of_target(const cadre_frame *frame,
                                        const cdr_transfer_decision *decision)
{
    bool is_known = !decision->is_fallback || frame->scope == NULL ||
                    cdr_scope_has(frame->scope, decision->to);
    return is_known ? frame->scope : NULL;
}

cadre_status cdr_enter_target_locked(cadre_frame *frame,
                                     const cdr_transfer_decision *decision,
                                     const char *message, cadre_error *err)
{
    const cadre_agent *to = decision->to;
    cdr_entered how = CDR_ENTERED_NEW;
    cadre_frame *target = NULL;
    cdr_birth birth = {
        .kind = CDR_FRAME_AGENT,
        .name = to->info.name,
        .agent = to,
        .key = "transfer",
        .scope = scope_of_target(frame, decision),
        .demanded =
            decision->is_fallback ? cdr_frame_output_schema(frame) : frame->demanded,
        .history = decision->history,
        .is_quiet = to->quiet || decision->is_quiet,
        .is_transfer = true,
        .is_pending = true,
        .deadline_ms = frame->scope == NULL ? 0 : frame->scope->deadline_ms,
        .timeout_ms = cdr_shorter_ms(decision->timeout_ms, to->timeout_ms)};
    if (message != NULL && message[0] != '\0')
        birth.input = cdr_text_new(message, strlen(message));
    cadre_status status = cdr_frame_enter_locked(frame, &birth, &target, &how, err);
    if (status == CADRE_OK) {
        cadre_message said = {.role = CADRE_ROLE_USER,
                              .agent = frame->name,
                              .to = to->info.name,
                              .text = message,
                              .is_input = true};
        target->source = decision->is_fallback ? frame->source : frame;
        frame->work->transfer = target;
        if (how == CDR_ENTERED_NEW && frame->delta != NULL)
            cdr_outbox_delta_locked(frame); // it is never run again
        if (birth.input != NULL && how == CDR_ENTERED_NEW &&
            !cdr_say_locked(target,
                            cdr_message_new(&said, (cadre_id){0, 0}, target->id)))
            status = cadre_fail(err, CADRE_ENOMEM, "no memory for a transfer");
    }
    cdr_text_unref(birth.input);
    return status;
}

bool cdr_transfer_is_return(const cadre_frame *frame, const cadre_agent *to,
                            const char *message)
{
    return frame->source != NULL && frame->scope->scope->return_to_source &&
           frame->source->agent == to && message[0] == '\0';
}

cadre_status cdr_transfer_enter(cadre_frame *frame,
                                const cdr_transfer_decision *decision,
                                const char *message, cadre_error *err)
{
    bool returns = cdr_transfer_is_return(frame, decision->to, message);
    cdr_mutex_lock(&frame->tree->mu);
    cadre_status status = cdr_enter_target_locked(frame, decision, message, err);
    if (status == CADRE_OK && returns)
        frame->work->transfer->source = frame->source->source;
    cdr_mutex_unlock(&frame->tree->mu);
    return status;
}

cadre_status cdr_transfer_stop(cadre_frame *frame,
                               const cdr_transfer_decision *decision, cadre_error *err)
{
    frame->work->stop_reason = (unsigned char)decision->stop_reason;
    return cadre_fail_class(
        err, CADRE_EFAILED,
        decision->stop_reason == CADRE_STOP_LOOP ? CADRE_CLASS_LOOP : CADRE_CLASS_LIMIT,
        false, "%s: %s", decision->text, cadre_frame_path(frame));
}

// --- By the frame's own code ---

static cadre_status transfer(cadre_frame *frame, const cadre_call *call,
                             const char *message, cadre_error *err)
{
    cdr_transfer_decision decision;
    cadre_status status = cdr_scope_decide(
        frame->scope, frame->agent, call->agent->info.name, message, &decision, err);
    if (status != CADRE_OK)
        return status;
    if (decision.kind == CDR_TRANSFER_STOP)
        return cdr_transfer_stop(frame, &decision, err);
    if (decision.kind != CDR_TRANSFER_DONE)
        return cadre_fail(err, CADRE_EREFUSED, "%s", decision.text);
    if (call->history != CADRE_HISTORY_DEFAULT)
        decision.history = call->history;
    decision.timeout_ms = cdr_shorter_ms(decision.timeout_ms, call->timeout_ms);
    decision.is_quiet = (call->flags & CADRE_CALL_QUIET) != 0;
    return cdr_transfer_enter(frame, &decision, message, err);
}

cadre_status cadre_frame_transfer(cadre_frame *frame, const cadre_call *call,
                                  cadre_error *err)
{
    cadre_status status = cdr_check_call(frame, call, err);
    if (status != CADRE_OK)
        return status;
    if (frame->kind != CDR_FRAME_AGENT || frame->scope == NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': a transfer needs the scope of a topology",
                          frame->name);
    status = cdr_hook_refuse(frame, true, __func__, err);
    if (status != CADRE_OK)
        return status;
    if (frame->work->transfer != NULL)
        return cadre_fail(err, CADRE_EREFUSED, "'%s' was handed over to '%s' already",
                          frame->name, frame->work->transfer->name);
    cdr_text *input = NULL;
    status = cdr_call_input(call, &input, err);
    if (status == CADRE_OK)
        status = transfer(frame, call, cdr_text_bytes(input), err);
    cdr_text_unref(input);
    return status;
}
