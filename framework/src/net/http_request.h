// A request while a wire format writes it (cadre_http).
// Thread: the frame's thread writes; the network thread reads the finished body.
#ifndef CDR_HTTP_REQUEST_H
#define CDR_HTTP_REQUEST_H

#include "cadre/ext/model.h"

#include "base/arena.h"
#include "base/buf.h"
#include "net/network.h"

#define CDR_HTTP_MAX_HEADERS 32

struct cadre_http {
    cdr_arena arena; // url and headers
    const char *url;
    cdr_http_header *headers;
    size_t n_headers, headers_capacity;
    cdr_buf body;
    size_t *ends; // of turns in the body that stay there; see cadre_http_keep_turns
    size_t n_ends, ends_capacity;
    bool keeps;  // it will be written again
    bool failed; // no memory, or too many headers
};

void cdr_http_init(cadre_http *http);
void cdr_http_fini(cadre_http *http);

// Makes it ready to be written again: of the body that was written at most the first
// `n_turns` turns stay. `keeps`: this one's may stay the next time.
void cdr_http_rewind(cadre_http *http, size_t n_turns, bool keeps);

// What a message's rendering became in one format; a list hangs on the message and is
// only ever added to. `format` is compared by identity.
typedef struct cdr_fragment cdr_fragment;
struct cdr_fragment {
    cdr_fragment *next;
    const char *format;
    cadre_rendering rendering;
    size_t len;
    char bytes[];
};

// The head of a list, in a message; the first of two threads that make the same one
// wins.
typedef struct cdr_fragments {
    _Atomic(cdr_fragment *) head;
} cdr_fragments;

void cdr_fragments_fini(cdr_fragments *fragments);

#endif
