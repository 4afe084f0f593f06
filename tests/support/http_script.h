// Scripts of the test server, as it keeps them: steps with their own bytes and the
// sizes of their writes. Private to http_server.c.
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef SUPPORT_HTTP_SCRIPT_H
#define SUPPORT_HTTP_SCRIPT_H

#include "support/http_server.h"

typedef struct http_play {
    http_step_kind kind;
    char *data;
    size_t len;
    size_t *sizes; // of the writes, the last repeats; NULL: one write
    size_t n_sizes;
} http_play;

typedef struct http_script {
    http_play *plays; // ends with HTTP_STEP_END
    size_t n_plays;
} http_script;

void *http_alloc(void *old, size_t size); // realloc that ends the program

http_script *http_script_new(const http_step *steps);
void http_script_free(http_script *script);

// The scripts of the HTTP helpers; see http_server.h.
http_script *http_script_new_answer(int status, const char *headers,
                                    const char *content_type, const char *body);
http_script *http_script_new_stream(const char *body, size_t len, const char *chunks);

// The script of the n-th attempt (from 1) of a case folder; NULL when there is none.
http_script *http_script_new_case(const char *folder, int attempt);

// How long the `i`-th write of a SEND may be.
size_t http_play_size(const http_play *play, size_t i);

#endif
