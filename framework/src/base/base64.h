// Base64 with its padding, as in RFC 4648, section 4.
//
// Thread: any.
#ifndef CDR_BASE64_H
#define CDR_BASE64_H

#include "base/buf.h"

// Appends the bytes in base64.
void cdr_base64_append(cdr_buf *buf, const void *data, size_t size);

#endif
