// See tool_request.h.
#include "run/tool_request.h"

#include "run/tool_result.h"

#include <string.h>

bool cdr_tool_is_control(const cdr_tool_entry *entry)
{
    return entry->is_named_target ||
           (entry->tool != NULL && entry->tool->ops->is_control);
}

void cdr_tool_request_by_name(cadre_frame *frame, cdr_tool_entry *entry)
{
    static const char *const keys[] = {"message", "request", "input", "task", "text"};
    const char *message = "";
    for (size_t i = 0; i < sizeof keys / sizeof keys[0] && message[0] == '\0'; i++) {
        const char *value =
            json_string_value(json_object_get(entry->arguments, keys[i]));
        message = value == NULL ? "" : value;
    }
    entry->target = strdup(entry->call->name);
    entry->target_message = strdup(message);
    if (entry->target == NULL || entry->target_message == NULL)
        cdr_tool_settle(frame, entry, CADRE_RESULT_TOOL_ERROR,
                        "no memory for a transfer");
}

void cdr_tool_request_take(cdr_tool_entry *entry, cdr_work *work)
{
    entry->target = work->target;
    entry->target_message = work->target_message;
    entry->escalation = work->escalation;
    work->target = work->target_message = work->escalation = NULL;
}
