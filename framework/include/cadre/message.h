// Messages: what was said in a conversation, in the order it was said.
//
// A conversation is append-only and a message never changes. A pointer to one is
// borrowed from who gave it: good until the `run` of that frame returns, or, of an
// event, until the next read.
//
// Thread: any thread may read a message.
#ifndef CADRE_MESSAGE_H
#define CADRE_MESSAGE_H

#include "cadre/error.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cadre_role {
    CADRE_ROLE_USER,
    CADRE_ROLE_ASSISTANT,
    CADRE_ROLE_TOOL
} cadre_role;

// How a tool call ended, as the model and the store read it.
typedef enum cadre_result_code {
    CADRE_RESULT_OK,
    CADRE_RESULT_TOOL_ERROR,
    CADRE_RESULT_UNKNOWN_TOOL,
    CADRE_RESULT_INVALID_ARGUMENTS,
    CADRE_RESULT_BLOCKED,
    CADRE_RESULT_TIMEOUT,
    CADRE_RESULT_INTERRUPTED,
    CADRE_RESULT_RESTART_LIMIT,
    CADRE_RESULT_ABORTED
} cadre_result_code;

// Why a model stopped, after normalising.
typedef enum cadre_finish {
    CADRE_FINISH_NONE, // no end was seen: not an answer
    CADRE_FINISH_STOP,
    CADRE_FINISH_TOOL_CALLS,
    CADRE_FINISH_LENGTH,
    CADRE_FINISH_CONTENT_FILTER
} cadre_finish;

typedef struct cadre_tool_call {
    const char *id;        // the provider's; not unique over turns
    const char *name;      // as the model wrote it
    const char *arguments; // as the model wrote them; "{}" when it wrote nothing
} cadre_tool_call;

typedef struct cadre_message {
    const char *id;
    const char *frame_id;  // whose work it belongs to
    const char *agent;     // who said it; for input: who sent it, "" for the user
    const char *to;        // of input: whom it was said to; of the result of a
                           // transfer that was done: who answers from there; else ""
    const char *text;      // "" when there is none
    const char *reasoning; // "" when there is none
    const cadre_tool_call *tool_calls; // of an assistant
    size_t n_tool_calls;
    const char *call_id;   // of a tool result: whose; else ""
    const char *tool_name; // of a tool result; else ""
    int64_t position;      // in its conversation, from 0
    int64_t seq;           // in its trace; 0 for messages of earlier runs
    cadre_role role;
    cadre_result_code code; // of a tool result
    bool is_input;          // said to a member by the agent that called it
    // Texts below may be NULL for "".
    const char *model; // of an assistant: who answered, "provider/model"; "" of a
                       // hook, and of messages of older stores
    const char *mark;  // "interrupted": a part of an answer that never became whole;
                       // no model is shown it; else ""
    const char *parts; // of a user: a JSON list of images and files, see cadre/file.h
    const char *items; // of an assistant: a JSON list of what only its model can read,
                       // [{"place": n, "at": m, "item": ...}]: n counts what stands
                       // before it, first the text, then each call; of the text m
                       // bytes, where m is there
} cadre_message;

// Tokens and calls; of one call, or summed over a subtree.
typedef struct cadre_usage {
    int64_t model_calls;
    int64_t tool_calls;
    int64_t input_tokens;        // all of the prompt, cached ones included
    int64_t output_tokens;       // reasoning included
    int64_t cached_input_tokens; // part of input_tokens
    int64_t reasoning_tokens;    // part of output_tokens
    int64_t cost_usd_micros;     // of the calls whose model has a price
    int64_t unpriced_calls;      // model calls whose model has none
} cadre_usage;

CADRE_API const char *cadre_role_name(cadre_role role);               // "assistant"
CADRE_API const char *cadre_result_code_name(cadre_result_code code); // "tool_error"
CADRE_API const char *cadre_finish_name(cadre_finish finish);         // "tool_calls"

#ifdef __cplusplus
}
#endif

#endif
