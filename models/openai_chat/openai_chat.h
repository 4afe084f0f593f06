// OpenAI chat completions, inside: what its files share.
//
// Source: https://platform.openai.com/docs/api-reference/chat
#ifndef OPENAI_CHAT_H
#define OPENAI_CHAT_H

#include "cadre/ext/endpoint.h"
#include "cadre/ext/json_scan.h"
#include "cadre/ext/model.h"

#define CDR_OPENAI_MAX_CALLS 128 // of one answer; what OpenAI allows in tools

// How a server is told of the schema that an answer must keep to.
typedef enum cdr_openai_format {
    CDR_OPENAI_FORMAT_SCHEMA, // response_format json_schema
    CDR_OPENAI_FORMAT_OBJECT, // response_format json_object, and in words
    CDR_OPENAI_FORMAT_TEXT,   // in words only
    CDR_OPENAI_FORMAT_NONE    // not at all
} cdr_openai_format;

// Immutable after init.
typedef struct cdr_openai_model {
    cadre_endpoint endpoint;     // with the body up to the messages
    const char *reasoning_field; // that reasoning is sent back in, with its quotes;
                                 // empty: none; NULL: that in which it came
    const char *tool_tail;       // what follows the tools, only where there are some
    cdr_openai_format format;
} cdr_openai_model;

// What is kept of an answer for this model alone, an object with one of these: the
// field in which its reasoning came, "" where that stood in the content, if it is not
// reasoning_content; and what came with a call.
#define CDR_OPENAI_FIELD "reasoning_field"
#define CDR_OPENAI_EXTRA "extra_content"
#define CDR_OPENAI_IN_CONTENT "{\"" CDR_OPENAI_FIELD "\":\"\"}"

// An attempt's memory; zeroed at its start.
typedef struct cdr_openai_reader {
    // Of the calls, as they are in the sink: the index that deltas name them by, if any
    // (else -1), and whether some of the arguments have come.
    int32_t indexes[CDR_OPENAI_MAX_CALLS];
    bool has_arguments[CDR_OPENAI_MAX_CALLS];
    size_t last;    // the call last touched
    int64_t choice; // index + 1 of the one that is the answer; 0: not known yet
    bool has_begun, has_finish;
    bool has_field; // of the reasoning
    // What deltas have told: a whole message that follows is the same data.
    bool has_text, has_reasoning, has_calls;
} cdr_openai_reader;

cadre_status cdr_openai_encode(const void *state, const cadre_request *request,
                               cadre_http *http, cadre_error *err);
cadre_status cdr_openai_event(const void *state, void *reader,
                              const cadre_sse_event *event, cadre_sink *sink,
                              cadre_error *err);
cadre_status cdr_openai_body(const void *state, const cadre_http_body *body,
                             cadre_sink *sink, cadre_error *err);

// Reads a delta that `scan` stands before, or of a whole message what no delta has
// told.
cadre_status cdr_openai_read_delta(cadre_scan *scan, cdr_openai_reader *reader,
                                   cadre_sink *sink, cadre_error *err);
cadre_status cdr_openai_read_message(cadre_scan *scan, cdr_openai_reader *reader,
                                     cadre_sink *sink, cadre_error *err);

#endif
