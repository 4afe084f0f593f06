// Reading an answer with a wire format, and what came of it as one text, so that two
// readings are compared at a glance.
//
//     "text|reasoning|finish|id name arguments;..."     an answer
//     "class|retryable"                                 an error, retryable 0 or 1
//
// Running out of memory ends the program.
// Thread: one at a time.
#ifndef SUPPORT_WIRE_READING_H
#define SUPPORT_WIRE_READING_H

#include "net/answer.h"

typedef struct wire_reading {
    const cadre_model_ops *ops;
    void *state; // of the model; its owner's
    void *reader;
    cadre_sink sink;
    cadre_error err;
    cdr_buf outcome;
} wire_reading;

void wire_reading_init(wire_reading *reading, const cadre_model_ops *ops, void *state);
void wire_reading_fini(wire_reading *reading);

// Writes events, a line each, as a stream of server-sent events, which have their type
// as name where `names_events`. The caller's.
char *wire_stream_of(const char *events, bool names_events);

// Reads a stream in pieces of `first` bytes, then `size` bytes each. Returns what came
// of it. `hides_ids`: as `*`, for ids that the format makes up.
const char *wire_reading_stream(wire_reading *reading, const char *stream, size_t first,
                                size_t size, bool hides_ids);

// Writes what came of an answer that was settled, or of its error.
void wire_outcome(const cadre_sink *sink, const cadre_error *err, bool hides_ids,
                  cdr_buf *out);

// What only the model can read of the answer that was read last; "": nothing.
const char *wire_reading_items(const wire_reading *reading);

// Reads a body with an HTTP status. Returns what came of it.
const char *wire_reading_body(wire_reading *reading, int http_status, const char *body,
                              bool hides_ids);

#endif
