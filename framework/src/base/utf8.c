// UTF-8: decoding, and making texts well-formed.
#include "base/utf8.h"

#include <string.h>

#define MAX_BLANK 3 // bytes of white space

// The range of the second byte depends on the first: that rules out long forms,
// surrogates and what is beyond U+10FFFF.
static bool is_second(unsigned char first, unsigned char second)
{
    unsigned char low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned char high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    return second >= low && second <= high;
}

cdr_utf8_verdict cdr_utf8_next(const char *data, size_t len, size_t *n)
{
    const unsigned char *at = (const unsigned char *)data;
    *n = 1;
    if (at[0] < 0x80)
        return at[0] == 0 ? CDR_UTF8_BAD : CDR_UTF8_WHOLE;
    if (at[0] < 0xC2 || at[0] > 0xF4)
        return CDR_UTF8_BAD;
    size_t size = at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    for (size_t i = 1; i < size; i++) {
        if (i == len)
            return CDR_UTF8_CUT;
        bool fits = i == 1 ? is_second(at[0], at[1]) : (at[i] & 0xC0) == 0x80;
        if (!fits)
            return CDR_UTF8_BAD;
        *n = i + 1;
    }
    return CDR_UTF8_WHOLE;
}

size_t cdr_utf8_decode(const char *data, size_t len, uint32_t *code)
{
    const unsigned char *at = (const unsigned char *)data;
    size_t n = 1;
    *code = at[0];
    if (at[0] < 0x80)
        return 1;
    if (cdr_utf8_next(data, len, &n) != CDR_UTF8_WHOLE)
        return 0;
    *code = at[0] & (0x7FU >> n);
    for (size_t i = 1; i < n; i++)
        *code = *code << 6 | (at[i] & 0x3FU);
    return n;
}

bool cdr_utf8_is_harmful(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

// Are the eight bytes all ASCII, and none a NUL?
static bool is_plain(const char *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof(word));
    const uint64_t high_bits = 0x8080808080808080U;
    return ((word | (word - 0x0101010101010101U)) & high_bits) == 0;
}

size_t cdr_utf8_prefix(const char *data, size_t len)
{
    size_t at = 0;
    while (at < len) {
        if (len - at >= sizeof(uint64_t) && is_plain(data + at)) {
            at += sizeof(uint64_t);
            continue;
        }
        size_t n;
        if (cdr_utf8_next(data + at, len - at, &n) != CDR_UTF8_WHOLE)
            break;
        at += n;
    }
    return at;
}

// How many bytes the white space at `data` has; 0: none stands there.
static size_t blank_at(const char *data, size_t len)
{
    uint32_t code;
    if (len > 0 && (unsigned char)data[0] < 0x80)
        return data[0] == ' ' || (data[0] >= '\t' && data[0] <= '\r');
    size_t n = len > 0 ? cdr_utf8_decode(data, len, &code) : 0;
    bool is_blank =
        n > 0 && (code == 0x85 || code == 0xA0 || code == 0x1680 ||
                  (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
                  code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000);
    return is_blank ? n : 0;
}

bool cdr_utf8_is_blank(const char *data, size_t len)
{
    size_t n = 1;
    for (size_t at = 0; at < len && n > 0; at += n)
        n = blank_at(data + at, len - at);
    return n > 0;
}

size_t cdr_utf8_trimmed(const char *data, size_t len)
{
    size_t n = 1;
    while (len > 0 && n > 0) {
        n = 0;
        for (size_t size = 1; size <= MAX_BLANK && size <= len && n == 0; size++)
            n = blank_at(data + len - size, size) == size ? size : 0;
        len -= n;
    }
    return len;
}

void cdr_utf8_append(cdr_buf *buf, const char *data, size_t len)
{
    while (len > 0) {
        size_t good = cdr_utf8_prefix(data, len);
        cdr_buf_append(buf, data, good);
        size_t taken = good;
        if (good < len) {
            size_t n;
            if (cdr_utf8_next(data + good, len - good, &n) == CDR_UTF8_CUT)
                n = len - good;
            cdr_buf_append_text(buf, CDR_UTF8_REPLACEMENT);
            taken += n;
        }
        data += taken;
        len -= taken;
    }
}
