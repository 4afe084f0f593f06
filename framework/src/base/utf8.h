// UTF-8: well-formed (RFC 3629), and as texts of messages must be, also without NUL.
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

// Reads the character at `data`, NUL too; `len` at least 1. Returns how many bytes it
// has; 0: no well-formed one stands there.
size_t cdr_utf8_decode(const char *data, size_t len, uint32_t *code);

// Does it move the cursor, end the line or turn the direction of writing? Then a
// message that holds it could look like another, or write to the terminal.
bool cdr_utf8_is_harmful(uint32_t code);

// Looks at the character at `data`; `len` at least 1. A NUL is bad. `*n`: its bytes; of
// a bad one those for which one U+FFFD stands ("maximal subpart", Unicode 3.9).
cdr_utf8_verdict cdr_utf8_next(const char *data, size_t len, size_t *n);

// Returns how many bytes from the start are whole characters.
size_t cdr_utf8_prefix(const char *data, size_t len);

// Is there nothing but white space, ASCII's or another of Unicode's? No provider takes
// that for a text.
bool cdr_utf8_is_blank(const char *data, size_t len);

// Returns how long the text is without white space at its end.
size_t cdr_utf8_trimmed(const char *data, size_t len);

// Appends text with every bad byte, also a cut character at the end, replaced.
void cdr_utf8_append(cdr_buf *buf, const char *data, size_t len);

#endif
