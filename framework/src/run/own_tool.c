// Tools that the code of an agent runs itself: as if its model had called for them, by
// a message with one call, so that checks, approval, time, replay and the record are
// those of every other call.
#include "cadre/ext/tool.h"

#include "run/arguments.h"
#include "run/call.h"
#include "run/state.h"
#include "run/tool_run.h"
#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

static cadre_status check(cadre_frame *frame, const cadre_tool_run *asked,
                          cadre_error *err)
{
    cadre_status status = cdr_check_frame(frame, err);
    if (status != CADRE_OK)
        return status;
    if (asked == NULL || asked->struct_size < sizeof *asked || asked->tool == NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': a tool without CADRE_TOOL_RUN, or without a tool",
                          frame->name);
    if (frame->kind != CDR_FRAME_AGENT || frame->work->round != NULL ||
        frame->work->transfer != NULL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': only an agent runs tools, between the answers of its "
                          "model, and before it hands over",
                          frame->name);
    if (asked->tool->team != frame->tree->team || asked->tool->ops->is_control)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': tool '%s' is of another team, or is for models alone",
                          frame->name, asked->tool->info.name);
    return cdr_check_time((cdr_argument){frame->name, "cadre_tool_run.timeout_ms"},
                          asked->timeout_ms, err);
}

// The call that was recorded when the code came by here before. Borrowed.
static cdr_message *find_said_locked(cadre_frame *frame) CDR_REQUIRES(frame->tree->mu)
{
    cdr_work *work = frame->work;
    size_t from = work->n_read > frame->n_before ? work->n_read : frame->n_before;
    for (size_t i = from; i < work->n_recorded; i++) {
        cdr_message *message = frame->conversation->messages[i];
        if (!cadre_id_equal(message->frame, frame->id) ||
            message->m.role != CADRE_ROLE_ASSISTANT || message->m.n_tool_calls != 1)
            continue;
        work->n_read = i + 1;
        return message;
    }
    return NULL;
}

static cdr_message *say_locked(cadre_frame *frame, const cadre_tool_call *call)
    CDR_REQUIRES(frame->tree->mu)
{
    const cadre_message said = {.role = CADRE_ROLE_ASSISTANT,
                                .agent = frame->name,
                                .text = "",
                                .tool_calls = call,
                                .n_tool_calls = 1};
    cadre_event event = {.type = CADRE_EVENT_MESSAGE_END};
    event.u.message_end.finish = CADRE_FINISH_TOOL_CALLS;
    cdr_message *message = cdr_message_new(&said, (cadre_id){0, 0}, frame->id);
    if (message == NULL || !cdr_conversation_append_take(frame->conversation, message))
        return NULL;
    message->m.seq = cdr_outbox_event_locked(frame, &event, message, true);
    cdr_outbox_message_locked(frame, frame->conversation, message);
    return message;
}

// Makes the round of the one call, new or from the record.
static cadre_status open_round(cadre_frame *frame, const cadre_tool_run *asked,
                               const char *arguments, cadre_error *err)
{
    const cadre_tool *tool = asked->tool;
    cadre_tool_info info = tool->info;
    cdr_offer offer = {&tool, &info, 1};
    const cadre_tool_call call = {"call", info.name, arguments};
    cdr_round *round = NULL;
    cdr_mutex_lock(&frame->tree->mu);
    cdr_message *message = find_said_locked(frame);
    bool is_other =
        message != NULL && strcmp(message->m.tool_calls[0].name, info.name) != 0;
    if (is_other)
        cadre_fail(err, CADRE_EDIVERGED,
                   "'%s': recorded for tool '%s', now asked for '%s'", frame->name,
                   message->m.tool_calls[0].name, info.name);
    else if (message == NULL)
        message = say_locked(frame, &call);
    frame->work->turn++;
    if (message != NULL && !is_other)
        round = cdr_round_new_locked(frame, message, frame->work->turn, &offer);
    cdr_mutex_unlock(&frame->tree->mu);
    if (is_other)
        frame->work->sticky = CADRE_EDIVERGED;
    frame->work->round = round;
    if (round == NULL)
        return is_other ? CADRE_EDIVERGED
                        : cadre_fail(err, CADRE_ENOMEM, "no memory to run a tool");
    round->entries[0].timeout_ms = asked->timeout_ms;
    return CADRE_OK;
}

// Its text, in the frame's arena.
static cadre_status take_result(cadre_frame *frame, const char **result,
                                cadre_error *err)
{
    const cdr_tool_entry *entry = &frame->work->round->entries[0];
    const cdr_message *said = atomic_load_explicit(entry->result, memory_order_acquire);
    const char *text = said == NULL ? "" : said->m.text;
    if (entry->code != CADRE_RESULT_OK)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_TOOL, false,
                                "tool '%s': %s: %s", entry->call->name,
                                cadre_result_code_name(entry->code), text);
    *result = cadre_frame_printf(frame, "%s", text);
    return *result == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a result")
                           : CADRE_OK;
}

cadre_status cadre_frame_run_tool(cadre_frame *frame, const cadre_tool_run *asked,
                                  const char **result, cadre_error *err)
{
    if (frame == NULL || result == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check(frame, asked, err);
    if (status != CADRE_OK)
        return status;
    char *arguments =
        asked->arguments == NULL
            ? strdup("{}")
            : json_dumps(asked->arguments, JSON_COMPACT | JSON_ENCODE_ANY);
    if (arguments == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the arguments");
    status = open_round(frame, asked, arguments, err);
    free(arguments);
    if (status == CADRE_OK)
        status = cdr_frame_stopped(frame, err); // under a mark the call was not born
    if (status == CADRE_OK)
        status = cdr_tools_run(frame, frame->work->round, err);
    if (status == CADRE_OK)
        status = cdr_frame_stopped(frame, err);
    if (status == CADRE_OK)
        status = cdr_state_take_round(frame, frame->work->round, err);
    if (status == CADRE_OK)
        status = take_result(frame, result, err);
    if (status == CADRE_EPARKED)
        cdr_round_drop(frame);
    else
        cdr_round_close(frame);
    return status;
}
