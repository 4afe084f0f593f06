// Server-sent events: bytes in any cuts to whole events (WHATWG HTML, "event stream
// interpretation").
//
// CR, LF and CR LF end a line, also when cut between the two; a BOM at the start is
// dropped; at most one blank after the colon is dropped; data lines are joined by LF;
// a comment is ignored; a field named `error`, which some servers send, is the data of
// an event of type "error"; a blank line without data dispatches nothing. Beyond the
// standard, a data line that is a whole JSON object is an event where more data
// follows: some servers leave the blank line out. Bytes are passed on as they are:
// nothing is decoded before an event is whole.
//
// Thread: one at a time. Cost is linear in the bytes fed, whatever the cuts.
#ifndef CDR_SSE_H
#define CDR_SSE_H

#include "base/buf.h"

#include "cadre/ext/model.h"

// Takes one event; borrowed for the call. Anything but CADRE_OK stops the feeding.
typedef cadre_status (*cdr_sse_on_event)(void *ctx, const cadre_sse_event *event,
                                         cadre_error *err);

typedef struct cdr_sse {
    size_t max_event_bytes; // 0: 16 MiB
    cdr_buf line;           // an unfinished line
    cdr_buf data;
    cdr_buf type;
    bool has_data;
    bool is_joined; // no event ends with the data so far unless a blank line comes
    bool skip_lf;   // the last byte fed was a CR
    bool started;   // the place of a BOM is behind us
} cdr_sse;

void cdr_sse_init(cdr_sse *sse, size_t max_event_bytes);
void cdr_sse_fini(cdr_sse *sse);

// Feeds bytes. Returns CADRE_OK, what the callback returned, or CADRE_EINVAL with
// class bad_response naming the limit when an event is larger than allowed, or
// CADRE_ENOMEM.
cadre_status cdr_sse_feed(cdr_sse *sse, const char *data, size_t len,
                          cdr_sse_on_event on_event, void *ctx, cadre_error *err);

// The stream has ended: dispatches a last event whose blank line is missing (servers
// that close right after the last data line).
cadre_status cdr_sse_end(cdr_sse *sse, cdr_sse_on_event on_event, void *ctx,
                         cadre_error *err);

#endif
