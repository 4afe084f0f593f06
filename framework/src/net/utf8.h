// UTF-8 as texts of messages must be: well-formed (RFC 3629) and without NUL.
//
// Thread: any.
#ifndef CDR_UTF8_H
#define CDR_UTF8_H

#include "base/buf.h"

#define CDR_UTF8_REPLACEMENT "\xEF\xBF\xBD" // U+FFFD

typedef enum cdr_utf8_verdict {
    CDR_UTF8_WHOLE, // a character
    CDR_UTF8_CUT,   // the start of one; more bytes decide
    CDR_UTF8_BAD    // not one, whatever follows
} cdr_utf8_verdict;

// Looks at the character at `data`; `len` at least 1. `*n`: its bytes; of a bad one
// those for which one U+FFFD stands ("maximal subpart", Unicode 3.9).
cdr_utf8_verdict cdr_utf8_next(const char *data, size_t len, size_t *n);

// Returns how many bytes from the start are whole characters.
size_t cdr_utf8_prefix(const char *data, size_t len);

// Appends text with every bad byte, also a cut character at the end, replaced.
void cdr_utf8_append(cdr_buf *buf, const char *data, size_t len);

#endif
