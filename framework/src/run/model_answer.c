// See model_answer.h.
#include "run/model_answer.h"

#include "run/execute.h"
#include "run/model_record.h"
#include "run/tool_round.h"

#include <stdlib.h>
#include <string.h>

static cadre_usage usage_of(const cdr_model_call *call)
{
    cadre_usage usage = call->sink.usage;
    usage.model_calls = call->hook.is_given ? 0 : 1;
    usage.unpriced_calls = call->model->price.is_known ? 0 : usage.model_calls;
    return usage;
}

// `mark` "": it is whole.
static cdr_message *message_of(const cdr_model_call *call, const char *mark)
{
    const cadre_sink *sink = &call->sink;
    size_t n_calls = mark[0] == '\0' ? sink->n_calls : 0;
    cadre_tool_call *calls = calloc(n_calls + 1, sizeof *calls);
    if (calls == NULL)
        return NULL;
    for (size_t i = 0; i < n_calls; i++)
        calls[i] = (cadre_tool_call){cdr_buf_text(&sink->calls[i].id),
                                     cdr_buf_text(&sink->calls[i].name),
                                     cdr_buf_text(&sink->calls[i].arguments)};
    cadre_message m = {.role = CADRE_ROLE_ASSISTANT,
                       .agent = call->agent->name,
                       .text = cdr_buf_text(&sink->text),
                       .reasoning = cdr_buf_text(&sink->reasoning),
                       .tool_calls = calls,
                       .n_tool_calls = n_calls,
                       .model = call->hook.is_given ? "" : call->model->full_name,
                       .mark = mark,
                       .items = mark[0] == '\0' ? cdr_buf_text(&sink->items) : ""};
    cdr_message *message = cdr_message_new(&m, call->message_id, call->agent->id);
    free(calls);
    return message;
}

bool cdr_model_answer_record(cdr_model_call *call, cadre_answer *answer)
{
    cadre_frame *agent = call->agent;
    cdr_message *message = message_of(call, "");
    bool ok = false;
    if (message == NULL)
        return false;
    cdr_message_ref(message);
    cdr_mutex_lock(&agent->tree->mu);
    if (cdr_frame_is_ended(agent)) { // it was abandoned meanwhile
        cdr_mutex_unlock(&agent->tree->mu);
        cdr_message_unref(message);
        cdr_message_unref(message);
        return false;
    }
    cadre_event event = {.type = CADRE_EVENT_MESSAGE_END};
    event.u.message_end.finish = call->sink.finish;
    event.u.message_end.usage = usage_of(call);
    event.u.message_end.attempts = call->frame->attempts;
    if (cdr_conversation_append_take(agent->conversation, message)) {
        message->m.seq = cdr_outbox_event_locked(call->frame, &event, message, true);
        cdr_outbox_message_locked(agent, agent->conversation, message);
        // The record of a model call leads to its answer by the message's id.
        cdr_text *id = cdr_text_new(call->message_text, strlen(call->message_text));
        cdr_ending ending = {.status = CADRE_FRAME_COMPLETED,
                             .stop_reason = call->sink.finish == CADRE_FINISH_LENGTH
                                                ? CADRE_STOP_LIMIT
                                                : CADRE_STOP_FINAL,
                             .output = id,
                             .own = event.u.message_end.usage,
                             .seq = message->m.seq};
        cdr_model_hook_keep_delta_locked(&call->hook, call->frame);
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

// What came of an answer that never became whole was shown, so it is kept: as what it
// is, and no model is shown it.
static void keep_part_locked(cdr_model_call *call) CDR_REQUIRES(call->frame->tree->mu)
{
    cadre_frame *agent = call->agent;
    if (call->hook.is_given || call->holds_text || cdr_frame_is_ended(agent) ||
        cadre_wire_is_blank(cdr_buf_text(&call->sink.text)))
        return;
    cdr_message *message = message_of(call, "interrupted");
    if (message == NULL)
        return;
    cdr_message_ref(message);
    if (cdr_conversation_append_take(agent->conversation, message)) {
        cadre_event event = {.type = CADRE_EVENT_MESSAGE_END};
        event.u.message_end.attempts = call->frame->attempts;
        event.u.message_end.usage = usage_of(call);
        message->m.seq = cdr_outbox_event_locked(call->frame, &event, message, true);
        cdr_outbox_message_locked(agent, agent->conversation, message);
    }
    cdr_message_unref(message);
}

void cdr_model_answer_record_failure(cdr_model_call *call, cadre_status status,
                                     const cadre_error *failure)
{
    cdr_ending ending;
    cdr_ending_of(call->frame, status, failure, &ending);
    ending.own = usage_of(call);
    // The record says that it was a hook which failed.
    if (call->agent->work->hook_error != NULL)
        ending.output = cdr_text_new("after_model", strlen("after_model"));
    if (ending.status == CADRE_FRAME_FAILED)
        ending.stop_reason =
            call->frame->restarts > CDR_RESTART_LIMIT    ? CADRE_STOP_INTERRUPTED
            : failure->error_class == CADRE_CLASS_BUDGET ? CADRE_STOP_BUDGET
                                                         : CADRE_STOP_ERROR;
    cdr_mutex_lock(&call->frame->tree->mu);
    keep_part_locked(call);
    cdr_failure_unref(call->agent->work->child_failure);
    call->agent->work->child_failure = cdr_failure_ref(ending.failure);
    call->agent->work->child_reason =
        (unsigned char)(ending.stop_reason == CADRE_STOP_INTERRUPTED
                            ? CADRE_STOP_INTERRUPTED
                            : CADRE_STOP_NONE);
    cdr_frame_end_locked(call->frame, &ending);
    cdr_mutex_unlock(&call->frame->tree->mu);
    cdr_text_unref(ending.output);
}
