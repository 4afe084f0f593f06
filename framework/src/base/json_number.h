// JSON numbers by their value: 1 and 1.0 are one number, and nothing is rounded. A
// jansson integer has 64 bits, a real is a double; neither holds all of the other.
//
// Thread: any.
#ifndef CDR_JSON_NUMBER_H
#define CDR_JSON_NUMBER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// -1, 0 or 1. Both must be numbers.
int cdr_json_number_compare(const json_t *a, const json_t *b);

// A number without a fraction: 3, 3.0, 1e300.
bool cdr_json_is_integral(const json_t *value);

// Reads an integral number of at least 0; what is above INT64_MAX becomes that. False:
// it is none.
bool cdr_json_count(const json_t *value, int64_t *out);

// Is `value` a multiple of `divisor`, both as written in decimals? 0.3 is one of 0.1,
// though no double says so. `divisor` must be above 0.
bool cdr_json_is_multiple(const json_t *value, const json_t *divisor);

#endif
