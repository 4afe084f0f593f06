// See call_result.h.
#include "tree/call_result.h"

#include "tree/key.h"
#include "tree/outbox.h"

static int64_t tell_locked(cadre_frame *frame, const cdr_call_result *result)
{
    int64_t now = cdr_clock_now_ns(frame->tree->runtime->clock);
    cadre_event event = {.type = CADRE_EVENT_TOOL_RESULT};
    event.u.tool_result.call_id = result->call->id;
    event.u.tool_result.name = result->call->name;
    event.u.tool_result.result = result->text;
    event.u.tool_result.code = result->code;
    event.u.tool_result.duration_ms = (now - frame->started_ns) / 1000000;
    return cdr_outbox_event_locked(frame, &event, NULL, true);
}

int64_t cdr_call_result_say_locked(cadre_frame *frame, const cdr_call_result *result)
{
    cadre_frame *agent = frame->parent;
    int64_t seq = tell_locked(frame, result);
    const cadre_message said = {.role = CADRE_ROLE_TOOL,
                                .agent = agent->name,
                                .to = result->to,
                                .text = result->text,
                                .call_id = result->call->id,
                                .tool_name = result->call->name,
                                .seq = seq,
                                .code = result->code};
    cdr_message *message = cdr_message_new(&said, (cadre_id){0, 0}, agent->id);
    if (message != NULL && cdr_conversation_append_take(agent->conversation, message))
        cdr_outbox_message_locked(agent, agent->conversation, message);
    else
        cadre_fail(&frame->tree->lost, CADRE_ESTORE, "no memory for a tool's result");
    return seq;
}

// Only the last answer with calls can have open ones; what was said since are their
// results, so the walk is short.
static const cdr_message *last_answer(const cadre_frame *agent)
{
    const cdr_conversation *conversation = agent->conversation;
    for (size_t i = conversation->n_messages; i-- > agent->n_before;) {
        const cdr_message *message = conversation->messages[i];
        if (message->m.n_tool_calls > 0 && cadre_id_equal(message->frame, agent->id))
            return message;
    }
    return NULL;
}

const cadre_tool_call *cdr_call_of_locked(const cadre_frame *frame)
{
    size_t index = 0;
    if (frame->kind != CDR_FRAME_TOOL || !cdr_key_is_of_call(frame->key, &index))
        return NULL;
    const cdr_message *message = last_answer(frame->parent);
    return message == NULL || index >= message->m.n_tool_calls
               ? NULL
               : &message->m.tool_calls[index];
}
