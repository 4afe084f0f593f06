// Answers as the providers send them: what every wire format must be able to read, in
// its own bytes, and what each has of its own. See
// tests/conformance/model_answers_test.c.
//
// A new format: a table in a file of its own, named in wire_table.c.
#ifndef SUPPORT_WIRE_TABLE_H
#define SUPPORT_WIRE_TABLE_H

#include <stdbool.h>
#include <stddef.h>

// What every format can say; what comes of it is the same for all.
typedef enum wire_claim {
    WIRE_TEXT,               // "Hello."
    WIRE_TEXT_IN_PIECES,     // "caf\u00e9 \U0001f642", escaped and not, in three pieces
    WIRE_PARTED_PAIR,        // "a", half a surrogate pair; the other half, "b", a half
    WIRE_ONE_CALL,           // add {"a":3,"b":"\"4\""}, in pieces where it has pieces
    WIRE_TEXT_AND_CALLS,     // "Sure.", add {"a":1}, files__read {"p":"x"}
    WIRE_CALL_WITHOUT_INPUT, // now {}
    WIRE_REASONING,          // "Two and two." before "Four."
    WIRE_USAGE,              // WIRE_TEXT; 10 in, 3 of them cached, 4 out, 2 reasoning
    WIRE_LENGTH,             // "Cut", at the limit of tokens
    WIRE_LENGTH_IN_CALL,     // "x" and a call that is cut by the limit
    WIRE_FILTERED,           // "No" and a finish reason of the filter
    WIRE_NO_END,             // "Hello." and nothing more
    WIRE_NO_WORD,            // a good end after nothing
    WIRE_OVERLOADED,         // "Hello." and an error inside the stream
    WIRE_RATE_LIMITED,       // an error in place of an answer, status 200
    WIRE_NOT_JSON,           // "Hello." and an event that is none
    WIRE_UNKNOWN,            // WIRE_TEXT among events and fields that nobody knows
    WIRE_WHOLE_TEXT,         // WIRE_TEXT as a JSON body
    WIRE_WHOLE_CALL,         // WIRE_ONE_CALL as a JSON body
    WIRE_WHOLE_ERROR,        // WIRE_RATE_LIMITED as a JSON body, status 200
    WIRE_BAD_KEY,            // the body of a 401
    WIRE_TOO_LONG,           // the body of a 400: the prompt is too long
    WIRE_TOO_MANY,           // the body of a 429
    WIRE_BUSY,               // the body of a 503 or 529
    WIRE_CLAIMS
} wire_claim;

// What comes of a claim, as wire_reading.h says; of its bytes as a body where
// `body_status` is above 0.
typedef struct wire_claim_result {
    const char *outcome;
    int body_status;
} wire_claim_result;

extern const wire_claim_result wire_claims[WIRE_CLAIMS];

// Events, a line each, and what comes of them, as wire_reading.h says. An id of `*` in
// the outcome stands for ids that are made up.
typedef struct wire_row {
    const char *what;
    const char *events;
    const char *outcome;
    const char *items; // what only the model can read, as it is stored; NULL: any
} wire_row;

// Events that tell of tokens in more than one way, and what they come to.
typedef struct wire_usage {
    const char *what;
    const char *events;
    int input, cached;
    int written; // into a cache; -1: any
    int output, reasoning;
} wire_usage;

typedef struct wire_table {
    const char *provider;
    bool names_events;    // each event also has its type as its name
    const char *nth_call; // the events of a whole call, `@` in place of its number
    const char *claims[WIRE_CLAIMS]; // events, or a body
    const wire_row *rows;
    size_t n_rows;
    const wire_usage *usages;
    size_t n_usages;
} wire_table;

extern const wire_table wire_table_openai;
extern const wire_table wire_table_openai_responses;
extern const wire_table wire_table_anthropic;
extern const wire_table wire_table_gemini;

// The table of a provider; NULL: it has none.
const wire_table *wire_table_find(const char *provider);

#endif
