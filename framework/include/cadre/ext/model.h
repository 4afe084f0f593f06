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

#include "cadre/ext/provider_error.h"
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

typedef struct cadre_http cadre_http; // a request being written
typedef struct cadre_sink cadre_sink; // an answer being gathered

typedef struct cadre_model_ops {
    size_t struct_size;
    const char *provider, *summary; // "openai", one line for `cadre list`
    const char *base_url, *base_url_env, *api_key_env; // defaults; NULL: none
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
    cadre_status (*event)(const void *state, void *reader, const char *type,
                          const char *data, size_t len, cadre_sink *sink,
                          cadre_error *err);

    // Reads a whole body: of a status from 400 (must fail, with the right class), or
    // JSON with status 200. Network thread, no locks.
    cadre_status (*body)(const void *state, int http_status, const char *data,
                         size_t len, cadre_sink *sink, cadre_error *err);

    // Answers by itself. The frame's thread; may block; must heed cadre_frame_sleep
    // and cadre_frame_is_stopped. A retryable failure is tried again.
    cadre_status (*answer)(const void *state, cadre_frame *frame,
                           const cadre_request *request, cadre_sink *sink,
                           cadre_error *err);
} cadre_model_ops;

// Writing a request. A failed allocation is remembered and reported by the framework.
CADRE_API void cadre_http_set_url(cadre_http *http, const char *format, ...)
    CADRE_PRINTF(2, 3);
CADRE_API void cadre_http_add_header(cadre_http *http, const char *name,
                                     const char *format, ...) CADRE_PRINTF(3, 4);
CADRE_API void cadre_http_append(cadre_http *http, const char *data, size_t len);
CADRE_API void cadre_http_append_string(cadre_http *http, const char *text); // JSON
// The same without the quotes, for strings that are put together from several texts.
CADRE_API void cadre_http_append_escaped(cadre_http *http, const char *text);
CADRE_API void cadre_http_append_json(cadre_http *http, const json_t *value);
CADRE_API void cadre_http_fail(cadre_http *http); // no memory: it is not sent

// Appends what `write` makes of this item: made once for each message, rendering and
// `format` (a static string: identity counts) and kept, so it is to be the same each
// time. What depends on the request, as a turn does by is_own, has several formats.
typedef void (*cadre_item_writer)(const cadre_request_item *item, cadre_http *http);
CADRE_API void cadre_http_append_item(cadre_http *http, const cadre_request_item *item,
                                      const char *format, cadre_item_writer write);
// The same for what is made of a turn with one item: an assistant's, with its calls. A
// renamed one is not kept: its ids depend on those before it.
typedef void (*cadre_turn_writer)(const cadre_turn *turn, cadre_http *http);
CADRE_API void cadre_http_append_turn(cadre_http *http, const cadre_turn *turn,
                                      const char *format, cadre_turn_writer write);

// Not writing turns again: the body of a frame's last request may stand there still, up
// to the end of some turn. How many turns that are; 0: none, nor what comes before
// them. Behind each turn cadre_http_keep_turns says that all requests of the frame for
// this model and system text that begin with these `n_turns` begin with these bytes. So
// tools, which may change, are written behind the turns.
CADRE_API size_t cadre_http_kept_turns(const cadre_http *http);
CADRE_API void cadre_http_keep_turns(cadre_http *http, size_t n_turns);

// Gathering an answer. Text is UTF-8; invalid bytes become U+FFFD.
CADRE_API void cadre_sink_text(cadre_sink *sink, const char *text, size_t len);
CADRE_API void cadre_sink_reasoning(cadre_sink *sink, const char *text, size_t len);
CADRE_API size_t cadre_sink_call_count(const cadre_sink *sink);
CADRE_API size_t cadre_sink_add_call(cadre_sink *sink); // its number
CADRE_API void cadre_sink_call_id(cadre_sink *sink, size_t call, const char *id,
                                  size_t len); // the first non-empty one stays
CADRE_API void cadre_sink_call_name(cadre_sink *sink, size_t call, const char *name,
                                    size_t len);
CADRE_API const char *cadre_sink_get_call_id(const cadre_sink *sink, size_t call);
CADRE_API void cadre_sink_call_arguments(cadre_sink *sink, size_t call,
                                         const char *text, size_t len); // appends
// The same for the value of a JSON string: its escapes are resolved, and what the
// pieces part, half a surrogate pair at the end of one, is joined.
CADRE_API void cadre_sink_scan_text(cadre_sink *sink, cadre_scan_text text);
CADRE_API void cadre_sink_scan_reasoning(cadre_sink *sink, cadre_scan_text text);
CADRE_API void cadre_sink_scan_arguments(cadre_sink *sink, size_t call,
                                         cadre_scan_text text);
// Keeps a piece of JSON that only this model can read, behind what is there so far; it
// comes back in cadre_message.items. What is no JSON is dropped.
CADRE_API void cadre_sink_item(cadre_sink *sink, const char *json, size_t len);
// The same in pieces: its place is that of the end. One that is never ended is dropped.
CADRE_API void cadre_sink_item_append(cadre_sink *sink, const char *json, size_t len);
CADRE_API void cadre_sink_item_end(cadre_sink *sink);
CADRE_API void cadre_sink_usage(cadre_sink *sink, const cadre_usage *usage); // replaces
CADRE_API void cadre_sink_finish(cadre_sink *sink, cadre_finish finish);
CADRE_API void cadre_sink_end(cadre_sink *sink); // the end marker: nothing follows

#ifdef __cplusplus
}
#endif

#endif
