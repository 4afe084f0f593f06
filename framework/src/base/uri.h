// URI references (RFC 3986): resolving one against a base, and the parts that JSON
// Schema looks at.
//
// Thread: any.
#ifndef CDR_URI_H
#define CDR_URI_H

#include "base/buf.h"

// Appends what `reference` means under `base` (5.2), without its fragment. A base may
// be "", then the reference stands for itself.
void cdr_uri_resolve(const char *base, const char *reference, cdr_buf *out);

// What follows the first #; "" where there is none. Borrowed.
const char *cdr_uri_fragment(const char *text);

// Appends `len` bytes with %XX decoded.
void cdr_uri_decode(const char *text, size_t len, cdr_buf *out);

#endif
