// Events as tables of Lua.
#include "run/lua_run.h"

#include <string.h>

static void set(lua_State *lua, const char *key, const char *text)
{
    if (!text)
        return;
    cdr_sandbox_widen(cdr_sandbox_of(lua), strlen(text));
    lua_pushstring(lua, text);
    lua_setfield(lua, -2, key);
}

// What went wrong; nothing where nothing did.
static void set_error(lua_State *lua, const cadre_error_info *error)
{
    if (error->error_class == CADRE_CLASS_NONE)
        return;
    set(lua, "error", error->message);
    set(lua, "class", cadre_error_class_name(error->error_class));
}

static void set_message(lua_State *lua, const cadre_message *message)
{
    set(lua, "role", cadre_role_name(message->role));
    set(lua, "text", message->text);
}

static void set_transfer(lua_State *lua, const cadre_event *event)
{
    set(lua, "from", event->u.transfer.from);
    set(lua, "to", event->u.transfer.to);
    set(lua, "text", event->u.transfer.message);
    set(lua, "decision", event->u.transfer.decision);
    set(lua, "reason", event->u.transfer.reason);
}

static void set_tool(lua_State *lua, const cadre_event *event)
{
    if (event->type == CADRE_EVENT_TOOL_CALL) {
        set(lua, "tool", event->u.tool_call.name);
        set(lua, "arguments", event->u.tool_call.arguments);
    } else if (event->type == CADRE_EVENT_TOOL_PROGRESS) {
        set(lua, "tool", event->u.tool_progress.name);
        set(lua, "text", event->u.tool_progress.text);
    } else {
        set(lua, "tool", event->u.tool_result.name);
        set(lua, "text", event->u.tool_result.result);
        set(lua, "code", cadre_result_code_name(event->u.tool_result.code));
    }
}

static void set_more(lua_State *lua, const cadre_event *event)
{
    switch (event->type) {
    case CADRE_EVENT_FRAME_START:
        set(lua, "text", event->u.frame_start.input);
        break;
    case CADRE_EVENT_FRAME_END:
        set(lua, "status", cadre_frame_status_name(event->u.frame_end.status));
        set(lua, "text", event->u.frame_end.output);
        set_error(lua, &event->u.frame_end.error);
        break;
    case CADRE_EVENT_TEXT_DELTA:
    case CADRE_EVENT_REASONING_DELTA:
        set(lua, "text", event->u.delta.text);
        break;
    case CADRE_EVENT_MESSAGE_END:
        set_message(lua, event->u.message_end.message);
        break;
    case CADRE_EVENT_TOOL_CALL:
    case CADRE_EVENT_TOOL_PROGRESS:
    case CADRE_EVENT_TOOL_RESULT:
        set_tool(lua, event);
        break;
    case CADRE_EVENT_TRANSFER:
        set_transfer(lua, event);
        break;
    case CADRE_EVENT_ESCALATE:
        set(lua, "reason", event->u.escalate.reason);
        break;
    case CADRE_EVENT_INTERRUPT:
        set(lua, "text", event->u.interrupt.question);
        break;
    case CADRE_EVENT_STATE_DELTA:
        set(lua, "key", event->u.state_delta.key);
        set(lua, "value", event->u.state_delta.value);
        break;
    case CADRE_EVENT_RETRY:
        set_error(lua, &event->u.retry.error);
        if (*event->u.retry.next_model) {
            set(lua, "model", event->u.retry.model);
            set(lua, "next_model", event->u.retry.next_model);
        }
        break;
    case CADRE_EVENT_ERROR:
        set_error(lua, &event->u.error);
        break;
    case CADRE_EVENT_WAIT:
        set(lua, "model", event->u.wait.model);
        set(lua, "reason", event->u.wait.reason);
        break;
    case CADRE_EVENT_STREAM_START:
    case CADRE_EVENT_MESSAGE_START:
    case CADRE_EVENT_STREAM_END:
        break;
    }
}

void cdr_lua_event_push(lua_State *lua, const cdr_lua_event *told)
{
    lua_createtable(lua, 0, 8);
    set(lua, "type", cadre_event_type_name(told->event->type));
    set(lua, "agent", told->event->agent);
    set(lua, "callee", cadre_agent_get_info(told->agent)->name);
    lua_pushinteger(lua, (lua_Integer)told->index + 1);
    lua_setfield(lua, -2, "index");
    set_more(lua, told->event);
}
