// JSON values as JSON Schema compares them: numbers by their value, objects whatever
// the order of their members, at any depth.
//
// Both functions count what they look at in `*steps` downwards and give up below 0, so
// that comparing cannot take longer than the caller allows; what is returned then means
// nothing. Values must not be nested deeper than the stack bears (cdr_json_measure).
//
// Thread: any.
#ifndef CDR_JSON_SAME_H
#define CDR_JSON_SAME_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

bool cdr_json_is_same(const json_t *a, const json_t *b, int64_t *steps);

// Values that are the same have the same hash.
uint64_t cdr_json_hash(const json_t *value, int64_t *steps);

typedef struct cdr_json_extent {
    int64_t n_values; // with those in it; counting ends at the limit
    int depth;        // of arrays and objects in each other; 0: a scalar
} cdr_json_extent;

// Counts a value that may be as large and as deep as it likes: what is nested deeper
// than `max_depth` is not looked at, and nothing beyond `max_values`.
cdr_json_extent cdr_json_measure(const json_t *value, int max_depth,
                                 int64_t max_values);

#endif
