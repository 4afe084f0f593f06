// Enumerators as words: the same in events, `--json`, the store and messages.
#include "cadre/event.h"

#include <stddef.h>

#define WORD(words, value)                                                             \
    ((size_t)(value) < sizeof(words) / sizeof(words)[0] ? (words)[value] : "unknown")

const char *cadre_role_name(cadre_role role)
{
    static const char *const words[] = {"user", "assistant", "tool"};
    return WORD(words, role);
}

const char *cadre_result_code_name(cadre_result_code code)
{
    static const char *const words[] = {
        "ok",      "tool_error", "unknown_tool", "invalid_arguments",
        "blocked", "timeout",    "interrupted",  "restart_limit",
        "aborted"};
    return WORD(words, code);
}

const char *cadre_finish_name(cadre_finish finish)
{
    static const char *const words[] = {"none", "stop", "tool_calls", "length",
                                        "content_filter"};
    return WORD(words, finish);
}

const char *cadre_frame_status_name(cadre_frame_status status)
{
    static const char *const words[] = {"pending", "running", "waiting", "completed",
                                        "failed",  "timeout", "aborted"};
    return WORD(words, status);
}

const char *cadre_stop_reason_name(cadre_stop_reason reason)
{
    static const char *const words[] = {
        "none",      "final",          "max_turns",   "max_handoffs",
        "loop",      "limit",          "timeout",     "aborted",
        "diverged",  "error",          "interrupted", "restart_limit",
        "escalated", "max_iterations", "max_steps",   "budget"};
    return WORD(words, reason);
}

const char *cadre_event_type_name(cadre_event_type type)
{
    static const char *const words[] = {
        "stream_start",    "frame_start", "frame_end", "message_start", "text_delta",
        "reasoning_delta", "message_end", "tool_call", "tool_progress", "tool_result",
        "transfer",        "escalate",    "interrupt", "state_delta",   "retry",
        "error",           "stream_end",  "wait"};
    return WORD(words, type);
}
