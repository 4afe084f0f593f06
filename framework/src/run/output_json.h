// The one JSON value in what a model wrote: alone, in a Markdown fence, or with words
// around it.
//
// Thread: any.
#ifndef CDR_OUTPUT_JSON_H
#define CDR_OUTPUT_JSON_H

#include "cadre/error.h"

#include <jansson.h>

typedef struct cdr_json_part {
    const char *data; // within the text
    size_t len;
} cdr_json_part;

// Finds the value: the whole text without blanks around it, what stands in its only
// fence, or its only object or array. New reference in `*value`. Errors: EINVAL, what
// is wrong with the text, in words for who wrote it; ENOMEM.
cadre_status cdr_output_json_find(const char *text, size_t len, cdr_json_part *part,
                                  json_t **value, cadre_error *err);

#endif
