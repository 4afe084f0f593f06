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

// A call in the sink, and what events name it by.
typedef struct cdr_responses_call {
    int64_t place; // output_index + 1; 0: none was given
    uint64_t item; // a hash of the item's id; 0: it has none
    bool is_open;  // its item was added, and is not done
    bool has_arguments;
} cdr_responses_call;

// An attempt's memory; zeroed at its start. The flags are about what was told, in
// deltas or whole: what comes again is the same data.
typedef struct cdr_responses_reader {
    cdr_responses_call calls[CDR_RESPONSES_MAX_CALLS]; // as they are in the sink
    bool has_text, has_reasoning;                      // of the answer
    bool item_has_text, item_has_reasoning;            // of the item that is open
    bool part_has_text, part_has_reasoning;            // of its part that is open
    bool has_reasoning_item;
    bool has_ended;
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

// What an event tells of an item of the output.
typedef enum cdr_responses_telling {
    CDR_RESPONSES_BEGINS,
    CDR_RESPONSES_DONE,
    CDR_RESPONSES_AT_END, // once more, in the whole response
} cdr_responses_telling;

void cdr_responses_add_text(cdr_responses_answer *to, cadre_scan_text text);
void cdr_responses_add_reasoning(cdr_responses_answer *to, cadre_scan_text text);

// Reads an item of the output that `scan` stands before; `index` is its place, or
// negative.
void cdr_responses_read_item(cdr_responses_answer *to, cadre_scan *scan, int64_t index,
                             cdr_responses_telling telling);

// Reads the whole output at the end: a server may tell there what it told nowhere else.
void cdr_responses_read_output(cdr_responses_answer *to, cadre_scan *scan);

// Adds to the arguments of a call: that of an item's id, else that at a place of the
// output, else the last one. `is_whole`: they count only where no others came.
void cdr_responses_add_arguments(cdr_responses_answer *to, cadre_scan_text item_id,
                                 int64_t index, cadre_scan_text text, bool is_whole);

#endif
