// See base64.h.
#include "base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                             "0123456789+/";

// Three bytes, fewer at the end, become four characters.
static void encode(const unsigned char *from, size_t n, char *to)
{
    unsigned group = (unsigned)from[0] << 16;
    group |= n > 1 ? (unsigned)from[1] << 8 : 0U;
    group |= n > 2 ? (unsigned)from[2] : 0U;
    to[0] = digits[group >> 18];
    to[1] = digits[(group >> 12) & 63U];
    to[2] = digits[(group >> 6) & 63U];
    to[3] = digits[group & 63U];
    for (size_t i = 3; i > n; i--)
        to[i] = '=';
}

void cdr_base64_append(cdr_buf *buf, const void *data, size_t size)
{
    const unsigned char *from = data;
    if (!cdr_buf_reserve(buf, (size + 2) / 3 * 4))
        return;
    for (size_t at = 0; at < size; at += 3, buf->len += 4)
        encode(from + at, size - at < 3 ? size - at : 3, buf->data + buf->len);
    if (buf->data != NULL)
        buf->data[buf->len] = '\0';
}
