// OpenAI responses, inside: what its files share.
//
// Source: https://platform.openai.com/docs/api-reference/responses
#ifndef OPENAI_RESPONSES_H
#define OPENAI_RESPONSES_H

#include "cadre/ext/endpoint.h"
#include "cadre/ext/json_scan.h"
#include "cadre/ext/model.h"

#define CDR_RESPONSES_MAX_CALLS 128 // of one answer; what OpenAI allows in tools

// Immutable after init.
typedef struct cdr_responses_model {
    // With the body up to the input, without what depends on the request.
    cadre_endpoint endpoint;
} cdr_responses_model;

// An attempt's memory; zeroed at its start.
typedef struct cdr_responses_reader {
    int64_t calls[CDR_RESPONSES_MAX_CALLS];      // output_index + 1 of each call in the
                                                 // sink; 0: none was given
    bool has_arguments[CDR_RESPONSES_MAX_CALLS]; // deltas of them came
    bool has_text;                               // a delta of the open text came
    bool has_any;                                // something of the answer came
    bool has_reasoning;
} cdr_responses_reader;

cadre_status cdr_responses_encode(const void *state, const cadre_request *request,
                                  cadre_http *http, cadre_error *err);
cadre_status cdr_responses_event(const void *state, void *reader,
                                 const cadre_sse_event *event, cadre_sink *sink,
                                 cadre_error *err);
cadre_status cdr_responses_body(const void *state, const cadre_http_body *body,
                                cadre_sink *sink, cadre_error *err);

// Where what is read goes, with the error if there is one.
typedef struct cdr_responses_answer {
    cdr_responses_reader *reader;
    cadre_sink *sink;
    cadre_error *err;
    cadre_status status;
} cdr_responses_answer;

void cdr_responses_add_text(cdr_responses_answer *to, cadre_scan_text text);
void cdr_responses_add_reasoning(cdr_responses_answer *to, cadre_scan_text text);

// Reads an item of the output that `scan` stands before: whole, or as it begins.
void cdr_responses_read_item(cdr_responses_answer *to, cadre_scan *scan, int64_t index,
                             bool is_whole);

// Adds to the arguments of the call at a place of the output; negative: the last one.
void cdr_responses_add_arguments(cdr_responses_answer *to, int64_t index,
                                 cadre_scan_text text);

#endif
