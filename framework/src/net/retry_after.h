// How long a server asks to wait: Retry-After in all its forms.
//
// Own code, since libcurl 7.88's answer can be negative, huge, or that of an interim
// response. Thread: any; nothing here keeps state.
#ifndef CDR_RETRY_AFTER_H
#define CDR_RETRY_AFTER_H

#include <stdint.h>

#define CDR_RETRY_AFTER_MAX_MS ((int64_t)24 * 60 * 60 * 1000)

// Reads `Retry-After`: seconds (a fraction and a sign are taken too) or an HTTP date.
// A date counts from `now_s`, the server's own time where it told it. Returns
// 0 to CDR_RETRY_AFTER_MAX_MS, 0 for what has passed, -1 for what cannot be read.
int64_t cdr_retry_after_parse(const char *value, int64_t now_s);

// Reads `retry-after-ms` (OpenAI and Azure): milliseconds. Returns as above.
int64_t cdr_retry_after_parse_ms(const char *value);

// Reads the duration that a text begins with: "17s", "0.5s", "6m0s", "820ms", "26
// seconds". Returns as above.
int64_t cdr_duration_parse(const char *text);

// Reads an HTTP date in its three forms (RFC 9110 section 5.6.7), whatever the locale.
// Returns seconds since 1970, 0 for what was before, -1 when it is none.
int64_t cdr_http_date_parse(const char *text);

#endif
