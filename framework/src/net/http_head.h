// The head of a response, from header lines as libcurl gives them.
//
// Every status line starts anew, so nothing of an interim (1xx) response, of a proxy's
// or of an attempt that libcurl repeats can leak into the final one. Trailers, which
// come after it, are ignored.
//
// Thread: one at a time. The buffers keep their storage from one use to the next.
#ifndef CDR_HTTP_HEAD_H
#define CDR_HTTP_HEAD_H

#include "base/buf.h"
#include "net/network.h"

#include <stdbool.h>

typedef struct cdr_head_reader {
    int status;    // of the block at hand
    bool is_final; // the final block is whole
    cdr_buf content_type;
    cdr_buf location;
    cdr_buf retry_after;
    cdr_buf retry_after_ms;
    cdr_buf should_retry;
    cdr_buf date;
} cdr_head_reader;

void cdr_head_reader_init(cdr_head_reader *reader);
void cdr_head_reader_fini(cdr_head_reader *reader);
void cdr_head_reader_reset(cdr_head_reader *reader); // for the next response

typedef enum cdr_head_state {
    CDR_HEAD_MORE,
    CDR_HEAD_WHOLE, // with this line the final block came to its end
    CDR_HEAD_ENOMEM
} cdr_head_state;

// Takes one line with its line end.
cdr_head_state cdr_head_reader_feed(cdr_head_reader *reader, const char *line,
                                    size_t len);

// Fills the head; it borrows from the reader. `wall_ms`: the time now, for a date
// when the server has not told its own.
void cdr_head_reader_get(const cdr_head_reader *reader, int64_t wall_ms,
                         cdr_http_head *out);

#endif
