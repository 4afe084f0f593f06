// Anthropic's Messages API, inside: what its files share.
//
// Source: https://platform.claude.com/docs/en/api/messages
#ifndef ANTHROPIC_H
#define ANTHROPIC_H

#include "cadre/ext/endpoint.h"
#include "cadre/ext/json_scan.h"
#include "cadre/ext/model.h"

#define CDR_ANTHROPIC_MAX_CALLS 128 // of one answer

// Immutable after init. Pieces of the body start with a comma; NULL: there is none.
typedef struct cdr_anthropic_model {
    cadre_endpoint endpoint;
    char *beta; // features that are asked for, "a,b"; NULL: none
    char *thinking;
    char *effort;      // the value, as JSON
    char *tool_choice; // only where there are tools
    bool has_budget;   // `thinking` is of the kind that the last turn must begin with
    bool caches;
    bool tells_schema; // of an answer, in the system text
} cdr_anthropic_model;

// A call whose deltas come by the index of its block.
typedef struct cdr_anthropic_call {
    int32_t index;
    bool has_input; // it came whole, with the start of the block
} cdr_anthropic_call;

// What stands at the end of an item that is being gathered.
typedef enum cdr_anthropic_item {
    CDR_ANTHROPIC_NO_ITEM,
    CDR_ANTHROPIC_THINKING,  // text of a thought, its quotes are open
    CDR_ANTHROPIC_SIGNATURE, // a signature, its quotes are open
    CDR_ANTHROPIC_USE,       // a tool of the server: all but its input
    CDR_ANTHROPIC_INPUT,     // a piece of its input
    CDR_ANTHROPIC_WHOLE      // nothing is missing but the last brace
} cdr_anthropic_item;

// An attempt's memory; zeroed at its start.
typedef struct cdr_anthropic_reader {
    cdr_anthropic_call calls[CDR_ANTHROPIC_MAX_CALLS]; // as they are in the sink
    cdr_anthropic_item item;
    int32_t item_index;           // of its block
    int64_t input, written, read; // tokens of the prompt: new, into the cache, from it
    int64_t output, reasoning;
    bool has_content;
    bool has_finish;
} cdr_anthropic_reader;

// Whose answer is read, and where to.
typedef struct cdr_anthropic_reading {
    cdr_anthropic_reader *reader;
    cadre_sink *sink;
    cadre_error *err;
} cdr_anthropic_reading;

cadre_status cdr_anthropic_encode(const void *state, const cadre_request *request,
                                  cadre_http *http, cadre_error *err);
cadre_status cdr_anthropic_event(const void *state, void *reader,
                                 const cadre_sse_event *event, cadre_sink *sink,
                                 cadre_error *err);
cadre_status cdr_anthropic_body(const void *state, const cadre_http_body *body,
                                cadre_sink *sink, cadre_error *err);

// Writes what came with a user's text, as content blocks; the last one lacks its brace.
void cdr_anthropic_write_parts(const cadre_request_item *item, cadre_http *http);

// Writes an assistant's content blocks.
void cdr_anthropic_write_turn(cadre_http *http, const cadre_turn *turn);

// Does the turn begin with a thought that is sent back?
bool cdr_anthropic_begins_with_thought(const cadre_turn *turn);

// Gives a schema as the provider takes it: what fits it fits `schema`, too, but for
// limits of values. A new reference; NULL: it cannot be written so, or no memory.
json_t *cdr_anthropic_fit_schema(const json_t *schema);

// Reads a content block that `scan` stands before: its start, or all of it. `index` is
// that of the block. Ends what was open before.
cadre_status cdr_anthropic_begin_block(const cdr_anthropic_reading *to, int32_t index,
                                       cadre_scan *scan);
void cdr_anthropic_read_delta(const cdr_anthropic_reading *to, int32_t index,
                              cadre_scan *scan);
void cdr_anthropic_add_text(const cdr_anthropic_reading *to, cadre_scan_text text);
void cdr_anthropic_end_block(const cdr_anthropic_reading *to);

#endif
