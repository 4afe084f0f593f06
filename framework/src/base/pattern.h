// Regular expressions over text that a model wrote: PCRE2 with limits.
//
// Patterns and texts are UTF-8. Perl's classes such as \w know all letters here, those
// of JSON Schema only the ASCII ones, as ECMAScript says. A match ends: each place
// where it may start gets 100,000 steps, and all of them together the processor time
// that the caller allows.
//
// Thread: a pattern may be used by many threads at once, a cache by one at a time.
#ifndef CDR_PATTERN_H
#define CDR_PATTERN_H

#include "cadre/error.h"

#include <stdint.h>

typedef struct cdr_pattern cdr_pattern;

// Compiles `len` bytes. Errors: CADRE_EINVAL, the text quotes the pattern and says what
// is wrong at which place; CADRE_ENOMEM.
cadre_status cdr_pattern_new(const char *text, size_t len, cdr_pattern **out,
                             cadre_error *err);

// The same for a pattern as JSON Schema has it: ECMA-262 with the flag u. What that
// does not know, as (?i) or \A, is refused, even if PCRE2 would take it.
cadre_status cdr_pattern_new_ecma(const char *text, size_t len, cdr_pattern **out,
                                  cadre_error *err);
void cdr_pattern_free(cdr_pattern *pattern);

typedef struct cdr_subject {
    const char *text;
    size_t len;
    int64_t deadline_ns; // of cdr_cpu_now_ns
} cdr_subject;

// Looks for a match anywhere in the text. Errors: CADRE_EFAILED of class hook when a
// limit is hit or the text is not UTF-8; CADRE_ENOMEM.
cadre_status cdr_pattern_match(const cdr_pattern *pattern, const cdr_subject *subject,
                               bool *out, cadre_error *err);

#define CDR_PATTERN_CACHE_SIZE 8

// The last few patterns that were asked for; all zero is an empty one.
typedef struct cdr_pattern_cache {
    cdr_pattern *patterns[CDR_PATTERN_CACHE_SIZE];
    size_t next; // is replaced next
} cdr_pattern_cache;

// Finds or compiles a pattern, which lives until CDR_PATTERN_CACHE_SIZE others were
// asked for. Errors: as cdr_pattern_new.
cadre_status cdr_pattern_cache_get(cdr_pattern_cache *cache, const char *text,
                                   size_t len, const cdr_pattern **out,
                                   cadre_error *err);
void cdr_pattern_cache_fini(cdr_pattern_cache *cache);

// The processor time of the calling thread.
int64_t cdr_cpu_now_ns(void);

#endif
