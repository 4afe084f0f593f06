// Schemas and values written as text in tests, and what is said of them.
//
// Texts are JSON with ' for ", so that they can be read. Problems are lines of
// "path|text".
//
// Thread: any.
#ifndef SUPPORT_SCHEMA_TEXT_H
#define SUPPORT_SCHEMA_TEXT_H

#include "base/buf.h"
#include "base/schema.h"

// New reference.
json_t *schema_text_read(const char *text);

// A callback of schema.h that appends a line to a cdr_buf.
void schema_text_gather(void *ctx, const cdr_schema_problem *problem);

// Checks the value against the schema: these are the problems, "" for none.
void schema_text_check(const char *schema_text, const char *value_text,
                       const char *expected);

// Checks the schema itself.
void schema_text_check_schema(const char *schema_text, const char *expected);

#endif
