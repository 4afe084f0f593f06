// An answer that is being gathered: what an event or a body of the provider says goes
// in here, piece by piece. Text is UTF-8; invalid bytes become U+FFFD.
//
// Thread: the one that reads the answer.
#ifndef CADRE_EXT_SINK_H
#define CADRE_EXT_SINK_H

#include "cadre/ext/json_scan.h"
#include "cadre/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_sink cadre_sink;

CADRE_API void cadre_sink_text(cadre_sink *sink, const char *text, size_t len);
CADRE_API void cadre_sink_reasoning(cadre_sink *sink, const char *text, size_t len);
// Says, before there is a text, that one which begins with <think>...</think>, or with
// <thinking>, has its reasoning in it. Where that is so `mark`, JSON that stays, is
// kept as an item.
CADRE_API void cadre_sink_split_thinking(cadre_sink *sink, const char *mark);
CADRE_API size_t cadre_sink_call_count(const cadre_sink *sink);
CADRE_API size_t cadre_sink_add_call(cadre_sink *sink); // its number
CADRE_API void cadre_sink_call_id(cadre_sink *sink, size_t call, const char *id,
                                  size_t len); // the first non-empty one stays
CADRE_API void cadre_sink_call_name(cadre_sink *sink, size_t call, const char *name,
                                    size_t len); // the same
CADRE_API void cadre_sink_call_name_more(cadre_sink *sink, size_t call,
                                         const char *text, size_t len); // appends
CADRE_API const char *cadre_sink_get_call_id(const cadre_sink *sink, size_t call);
CADRE_API const char *cadre_sink_get_call_name(const cadre_sink *sink, size_t call);
CADRE_API void cadre_sink_call_arguments(cadre_sink *sink, size_t call,
                                         const char *text, size_t len); // appends
// The same for a value that comes whole and may be of any type. A text is what it
// holds, since some servers write the object as text; null, "", {} and [] are nothing,
// and all else stays as it is: the model is told that it is wrong. False: it was
// nothing.
CADRE_API bool cadre_sink_call_value(cadre_sink *sink, size_t call, cadre_scan *scan);
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
// The same where a server tells a total too (0: it does not). What only that counts is
// output, reasoning of xAI and Gemini, unless it is the cached input.
CADRE_API void cadre_sink_usage_of(cadre_sink *sink, const cadre_usage *usage,
                                   int64_t n_total);
// How many of the input's tokens the provider put into its cache, at another price.
CADRE_API void cadre_sink_cache_written(cadre_sink *sink, int64_t n_tokens); // replaces
// The last one counts, but what says that the answer was cut stays.
CADRE_API void cadre_sink_finish(cadre_sink *sink, cadre_finish finish);
CADRE_API void cadre_sink_end(cadre_sink *sink); // the end marker: nothing follows
// The same of servers that may leave the finish reason out: what has text, or calls
// that are whole, is finished.
CADRE_API void cadre_sink_end_finished(cadre_sink *sink);

#ifdef __cplusplus
}
#endif

#endif
