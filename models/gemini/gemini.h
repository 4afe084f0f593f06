// Gemini's generateContent, inside: what its files share.
//
// Source: https://ai.google.dev/api/generate-content
#ifndef GEMINI_H
#define GEMINI_H

#include "cadre/ext/endpoint.h"
#include "cadre/ext/json_scan.h"
#include "cadre/ext/model.h"

#define CDR_GEMINI_MAX_CALLS 128 // of one answer

// Immutable after init.
typedef struct cdr_gemini_model {
    cadre_endpoint endpoint;
    char *generation;  // generationConfig without its last brace
    char *tool_config; // JSON, only where there are tools; NULL: none
    bool is_of_3_on;
    bool tells_schema; // of an answer, in the system text
} cdr_gemini_model;

// An attempt's memory; zeroed at its start.
typedef struct cdr_gemini_reader {
    int64_t prompt, tools, said, thought, cached, total; // tokens
    bool has_content;
    bool has_finish; // nothing was said since
} cdr_gemini_reader;

// Whose answer is read, and where to.
typedef struct cdr_gemini_reading {
    cdr_gemini_reader *reader;
    cadre_sink *sink;
    cadre_error *err;
} cdr_gemini_reading;

cadre_status cdr_gemini_encode(const void *state, const cadre_request *request,
                               cadre_http *http, cadre_error *err);
cadre_status cdr_gemini_event(const void *state, void *reader,
                              const cadre_sse_event *event, cadre_sink *sink,
                              cadre_error *err);
cadre_status cdr_gemini_body(const void *state, const cadre_http_body *body,
                             cadre_sink *sink, cadre_error *err);

// Appends a schema as the provider takes it; what fits the one fits the other.
void cdr_gemini_append_schema(cadre_http *http, const json_t *schema);

// Reads one part of a content that `scan` stands before.
cadre_status cdr_gemini_read_part(const cdr_gemini_reading *to, cadre_scan *scan);

#endif
