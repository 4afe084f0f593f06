// Regular expressions of ECMA-262 (flag u), which JSON Schema has, in the words of
// PCRE2.
//
// Thread: any.
#ifndef CDR_PATTERN_ECMA_H
#define CDR_PATTERN_ECMA_H

#include "base/buf.h"

// Appends `len` bytes of a pattern so that PCRE2 without UCP reads them as ECMA-262
// does. Errors: CADRE_EINVAL, the text quotes the pattern and names what ECMA-262 does
// not have and where; CADRE_ENOMEM.
cadre_status cdr_pattern_rewrite_ecma(const char *text, size_t len, cdr_buf *out,
                                      cadre_error *err);

#endif
