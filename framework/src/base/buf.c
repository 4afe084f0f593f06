// A growable byte buffer. Capacity doubles, so appending n bytes costs O(n).
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 256

void cdr_buf_fini(cdr_buf *buf)
{
    free(buf->data);
    *buf = (cdr_buf)CDR_BUF_INIT;
}

void cdr_buf_clear(cdr_buf *buf)
{
    buf->len = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

bool cdr_buf_reserve(cdr_buf *buf, size_t more)
{
    if (buf->data && more < buf->capacity - buf->len)
        return true;
    if (more >= SIZE_MAX / 2 - buf->len) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->len + more + 1;
    size_t capacity = buf->capacity ? buf->capacity : FIRST_CAPACITY;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    data[buf->len] = '\0';
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void cdr_buf_append(cdr_buf *buf, const char *data, size_t len)
{
    // After a failure nothing more is added: a hole in the middle would be worse
    // than a missing end.
    if (buf->failed || len == 0 || !cdr_buf_reserve(buf, len))
        return;
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void cdr_buf_append_text(cdr_buf *buf, const char *text)
{
    cdr_buf_append(buf, text, strlen(text));
}

void cdr_buf_vprintf(cdr_buf *buf, const char *format, va_list args)
{
    if (buf->failed)
        return;
    va_list again;
    va_copy(again, args);
    size_t room = buf->capacity - buf->len;
    char *at = buf->data ? buf->data + buf->len : NULL;
    int n = vsnprintf(at, room, format, args);
    if (n < 0) {
        buf->failed = true;
    } else if ((size_t)n < room) {
        buf->len += (size_t)n;
    } else if (cdr_buf_reserve(buf, (size_t)n)) {
        (void)vsnprintf(buf->data + buf->len, (size_t)n + 1, format, again);
        buf->len += (size_t)n;
    }
    va_end(again);
    if (buf->data)
        buf->data[buf->len] = '\0'; // a first try that did not fit is taken back
}

void cdr_buf_printf(cdr_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cdr_buf_vprintf(buf, format, args);
    va_end(args);
}

static void append_json_escape(cdr_buf *buf, unsigned char c)
{
    static const char shorts[] = {
        ['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
        ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
    };
    if (shorts[c])
        cdr_buf_append(buf, (const char[]){'\\', shorts[c]}, 2);
    else
        cdr_buf_printf(buf, "\\u%04X", c);
}

void cdr_buf_append_json_string(cdr_buf *buf, const char *text, size_t len)
{
    // One reservation for the common text without escapes.
    if (buf->failed || !cdr_buf_reserve(buf, len + 2))
        return;
    cdr_buf_append(buf, "\"", 1);
    size_t run = 0; // start of the bytes that go over unchanged
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        cdr_buf_append(buf, text + run, i - run);
        append_json_escape(buf, c);
        run = i + 1;
    }
    cdr_buf_append(buf, text + run, len - run);
    cdr_buf_append(buf, "\"", 1);
}

char *cdr_buf_take(cdr_buf *buf)
{
    char *data = NULL;
    if (!buf->failed && cdr_buf_reserve(buf, 0)) {
        data = buf->data;
        buf->data = NULL;
    }
    cdr_buf_fini(buf);
    return data;
}

const char *cdr_buf_text(const cdr_buf *buf)
{
    return buf->data ? buf->data : "";
}
