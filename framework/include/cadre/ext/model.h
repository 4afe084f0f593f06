// To add a provider: one const table of this kind, in a file of its own in models/, or
// registered with cadre_runtime_register_model.
//
// Two ways, exactly one of them filled in:
// - a wire format (`encode`, `event`, `body`): request to bytes, bytes to pieces of an
//   answer. Pure: no sockets, no clocks; the framework sends, frames and retries.
//   `event` and `body` run on the network thread and must not block.
// - `answer`: a model inside the process; blocks on the frame's own thread.
// A finish reason or the provider's end event decides that an answer is whole, never
// the end of the connection.
#ifndef CADRE_EXT_MODEL_H
#define CADRE_EXT_MODEL_H

#include "cadre/ext/http.h"
#include "cadre/ext/provider_error.h"
#include "cadre/ext/sink.h"
#include "cadre/ext/tool.h"
#include "cadre/ext/transcript.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_model_config {
    size_t struct_size;
    const char *name;        // as the team calls it
    const char *model;       // what the provider calls it: after the first slash
    const char *base_url;    // without a slash at its end
    const char *api_key_env; // "" when no key is sent
    const json_t *options;   // checked against options_schema
} cadre_model_config;

typedef struct cadre_request {
    const char *system;              // "" when there is none
    const cadre_request_item *items; // what a model inside the process is shown
    size_t n_items;
    const cadre_turn *turns; // the same for a wire format; NULL for `answer`
    size_t n_turns;
    const cadre_tool_info *tools;
    size_t n_tools;
    const char *api_key; // "" when none; never stored, never in an error
    const char *agent;   // who asks
    const struct cadre_script_step *script_step; // of a scripted model; else NULL
    const char *model;                           // who is asked, "provider/model"
    const json_t *output_schema; // of the answer, a JSON Schema; NULL: free text
    const char *output_name;     // what that is called, [a-z0-9_]{1,64}; else ""
} cadre_request;

// One server-sent event.
typedef struct cadre_sse_event {
    const char *type; // "" when the event has no `event:` line
    const char *data; // NUL-terminated; may hold NULs when the stream did
    size_t len;
} cadre_sse_event;

// Gives the event's data without white space around it. False: such an event says
// nothing; there is none, or it is a comment that a gateway has turned into data, a
// sign of life ("ping") or a JSON value that holds nothing (null).
CADRE_API bool cadre_sse_event_data(const cadre_sse_event *event, const char **data,
                                    size_t *len);

// Are these, of the call above, `[DONE]`? So OpenAI ends its streams, and so gateways
// end those of every format.
CADRE_API bool cadre_sse_data_is_done(const char *data, size_t len);

// A whole body.
typedef struct cadre_http_body {
    int status; // HTTP's
    const char *data;
    size_t len;
} cadre_http_body;

typedef struct cadre_model_ops {
    size_t struct_size;
    const char *provider, *summary; // "openai", one line for `cadre list`
    const char *base_url, *base_url_env, *api_key_env; // defaults; NULL: none
    const char *other_key_env;      // read where api_key_env is not set; NULL: none
    const char *options_schema;     // "properties" as JSON; see cadre/ext/agent.h
    size_t state_size, reader_size; // a reader is zeroed for each attempt

    // Optional. As cadre_agent_ops.init.
    cadre_status (*init)(void *state, const cadre_model_config *config,
                         cadre_error *err);
    void (*fini)(void *state);

    // Writes URL, headers and body of the request's turns. Pure; the frame's thread.
    cadre_status (*encode)(const void *state, const cadre_request *request,
                           cadre_http *http, cadre_error *err);

    // Reads one server-sent event. Unknown events are ignored. A failure ends the
    // attempt; give it the class of what the provider said. Network thread, no locks.
    cadre_status (*event)(const void *state, void *reader, const cadre_sse_event *event,
                          cadre_sink *sink, cadre_error *err);

    // Reads a whole body: of a status from 400 (must fail, with the right class), or
    // JSON with status 200. Network thread, no locks.
    cadre_status (*body)(const void *state, const cadre_http_body *body,
                         cadre_sink *sink, cadre_error *err);

    // Answers by itself. The frame's thread; may block; must heed cadre_frame_sleep
    // and cadre_frame_is_stopped. A retryable failure is tried again.
    cadre_status (*answer)(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err);
} cadre_model_ops;

#ifdef __cplusplus
}
#endif

#endif
