// Events: what a run tells while it works.
//
// stream_start                                            root, once
//   { frame_start
//       { message_start { text_delta | reasoning_delta } message_end
//       | tool_call tool_progress* tool_result | transfer | interrupt | state_delta
//       | retry | wait | error }
//     frame_end }
// stream_end                                              root, once, last
//
// Stored before shown: an event with a `seq` is queued after the commit that made it
// true. Others have no seq; a `retry` voids the deltas of its message so far.
//
// Thread: an event is borrowed by the thread that read it, until its next read.
#ifndef CADRE_EVENT_H
#define CADRE_EVENT_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cadre_event_type {
    CADRE_EVENT_STREAM_START,
    CADRE_EVENT_FRAME_START,
    CADRE_EVENT_FRAME_END,
    CADRE_EVENT_MESSAGE_START,
    CADRE_EVENT_TEXT_DELTA,
    CADRE_EVENT_REASONING_DELTA,
    CADRE_EVENT_MESSAGE_END,
    CADRE_EVENT_TOOL_CALL,
    CADRE_EVENT_TOOL_PROGRESS,
    CADRE_EVENT_TOOL_RESULT,
    CADRE_EVENT_TRANSFER,
    CADRE_EVENT_ESCALATE,
    CADRE_EVENT_INTERRUPT,
    CADRE_EVENT_STATE_DELTA,
    CADRE_EVENT_RETRY,
    CADRE_EVENT_ERROR,
    CADRE_EVENT_STREAM_END,
    CADRE_EVENT_WAIT
} cadre_event_type;

// An error as events, results and the store show it.
typedef struct cadre_error_info {
    cadre_error_class error_class; // NONE: there was no error
    bool retryable;
    const char *message;
    const char *agent;    // "" when it belongs to none
    const char *frame_id; // where it happened first
} cadre_error_info;

struct cadre_event {
    cadre_event_type type;
    int64_t seq;           // from 1, without gaps, on durable events; else 0
    const char *frame_id;  // whose work this is
    const char *thread_id; // NULL for the root, else the frame
    const char *agent;
    bool is_main; // said in the main conversation, not in a fork
    union {
        struct {
            const char *trace_id, *team;
            bool offline;
            bool texts_changed; // resumed, and the team's texts are not those of then
        } stream_start;
        struct {
            const char *parent_id; // "" for the root
            const char *key, *referer;
            const char *input; // "" when there is none
            int depth;
        } frame_start;
        struct {
            cadre_frame_status status;
            cadre_stop_reason stop_reason;
            const char *output;
            cadre_error_info error;
            cadre_usage usage; // of the subtree
            int64_t duration_ms;
        } frame_end;
        struct {
            const char *message_id;
        } message_start;
        struct {
            const char *message_id;
            const char *text; // NUL-terminated
            size_t len;
        } delta; // text_delta, reasoning_delta
        struct {
            const cadre_message *message;
            cadre_finish finish; // of an assistant's
            cadre_usage usage;   // of this call
            int attempts;
        } message_end;
        struct {
            const char *call_id, *name, *arguments;
        } tool_call;
        struct {
            const char *call_id, *name, *text;
        } tool_progress;
        struct {
            const char *call_id, *name, *result;
            cadre_result_code code;
            int64_t duration_ms;
        } tool_result;
        struct {
            const char *from, *to, *message;
            const char *decision; // done, refused, unknown, self, superseded
            const char *reason;   // "" when it was done; but of a loop_fallback why
        } transfer;
        struct {
            const char *reason; // "" when none was given
        } escalate;             // to the nearest cycle
        struct {
            const char *question_id, *question;
            const char *choices; // a JSON list of texts; "" when any answer will do
        } interrupt;             // a person is asked; without a seq when asked before
        struct {
            const char *key;
            const char *value; // JSON text of what was set; its reducer says the rest
        } state_delta; // a key was set; told again when the code that did is run again
        struct {
            int attempt; // the one that failed, from 1; 0: the model is passed over
            cadre_error_info error;
            int64_t wait_ms;
            const char *model, *next_model; // "": an agent failed; "": the same again
        } retry;
        cadre_error_info error;
        struct {
            cadre_frame_status status;
            cadre_stop_reason stop_reason;
            const char *output;
            cadre_error_info error;
            cadre_usage usage;
            int64_t duration_ms;
        } stream_end;
        struct {
            const char *model, *reason; // rpm, max_concurrency, retry_after
            int64_t wait_ms; // -1: not known; 0: the turn to ask the model has come
        } wait;
    } u;
};

CADRE_API const char *cadre_event_type_name(cadre_event_type type); // "text_delta"

#ifdef __cplusplus
}
#endif

#endif
