// The regular expressions of schemas. One such as "^x-", which only asks how a text
// starts, is not compiled: files of teams have hundreds of them.
//
// Thread: any; a pattern never changes.
#ifndef CDR_SCHEMA_PATTERN_H
#define CDR_SCHEMA_PATTERN_H

#include "cadre/error.h"

#include <stdint.h>

typedef struct cdr_pattern cdr_pattern;

typedef struct cdr_schema_pattern {
    const char *text;   // as written; borrowed
    cdr_pattern *regex; // NULL: the text is ^ and what a text starts with
} cdr_schema_pattern;

// Errors: CADRE_EINVAL, says what is wrong with `text`; CADRE_ENOMEM.
cadre_status cdr_schema_pattern_init(cdr_schema_pattern *pattern, const char *text,
                                     cadre_error *err);
void cdr_schema_pattern_fini(cdr_schema_pattern *pattern);

typedef enum cdr_schema_fit {
    CDR_FITS,
    CDR_FITS_NOT,
    CDR_FITS_UNKNOWN // it takes too long, or there is no memory
} cdr_schema_fit;

// Looks for the pattern in `len` bytes. `deadline_ns` is one of cdr_cpu_now_ns.
cdr_schema_fit cdr_schema_pattern_fits(const cdr_schema_pattern *pattern,
                                       const char *text, size_t len,
                                       int64_t deadline_ns);

// For a pattern that is not kept. False also when nobody knows.
bool cdr_schema_pattern_fits_once(const char *pattern, const char *text);

#endif
