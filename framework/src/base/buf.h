// A growable byte buffer: text and request bodies are gathered in it.
//
// Appending remembers a failed allocation (`failed`); who builds checks once, at
// the end. The bytes are always followed by a NUL that `len` does not count.
// Thread: one at a time.
#ifndef CDR_BUF_H
#define CDR_BUF_H

#include "cadre/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct cdr_buf {
    char *data; // NULL while empty; NUL-terminated
    size_t len;
    size_t capacity;
    bool failed; // an allocation failed; the content is incomplete
} cdr_buf;

#define CDR_BUF_INIT                                                                   \
    {                                                                                  \
        NULL, 0, 0, false                                                              \
    }

void cdr_buf_fini(cdr_buf *buf);  // frees the bytes; the buffer is empty again
void cdr_buf_clear(cdr_buf *buf); // len 0, storage kept
void cdr_buf_append(cdr_buf *buf, const char *data, size_t len);
void cdr_buf_append_text(cdr_buf *buf, const char *text);
void cdr_buf_printf(cdr_buf *buf, const char *format, ...) CADRE_PRINTF(2, 3);
void cdr_buf_vprintf(cdr_buf *buf, const char *format, va_list args) CADRE_PRINTF(2, 0);

// Makes room for `more` bytes beyond `len`. False: no memory.
bool cdr_buf_reserve(cdr_buf *buf, size_t more);

// Appends `text` as a JSON string with its quotes. The text must be UTF-8.
void cdr_buf_append_json_string(cdr_buf *buf, const char *text, size_t len);

// Hands the bytes over (the caller frees them with free()); the buffer is empty
// again. Never NULL for a buffer that has not failed: an empty one gives "".
char *cdr_buf_take(cdr_buf *buf);

// The text, "" while empty. Borrowed until the next append.
const char *cdr_buf_text(const cdr_buf *buf);

#endif
