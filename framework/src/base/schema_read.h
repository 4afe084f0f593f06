// The readers of schema words: each puts what a word says into a node.
//
// A reader stands in the slot of the word's value. What is of the wrong type it tells,
// and leaves the node alone.
//
// Thread: one at a time, as a plan is made by one.
#ifndef CDR_SCHEMA_READ_H
#define CDR_SCHEMA_READ_H

#include "base/schema_plan.h"

typedef struct cdr_schema_reading {
    cdr_schema_maker *maker;
    cdr_schema_node *node;
    cdr_schema_slot slot; // the value of the word
    size_t offset;        // in the node: what the word sets, where readers are shared
} cdr_schema_reading;

// What `offset` says.
void *cdr_schema_reading_field(const cdr_schema_reading *r);

// Tells that something else stands in `slot` than `expected`.
void cdr_schema_reading_report(const cdr_schema_reading *r, const cdr_schema_slot *slot,
                               const char *expected);

// The value of another word of the same schema; NULL: it is not there.
const json_t *cdr_schema_reading_sibling(const cdr_schema_reading *r, const char *word);

// Is the schema's draft known, and older? Is it that draft or a later one?
bool cdr_schema_reading_is_before(const cdr_schema_reading *r, cdr_draft draft);
bool cdr_schema_reading_is_since(const cdr_schema_reading *r, cdr_draft draft);

// One for each word, or for words that are read alike (schema_words.c).
void cdr_schema_read_text(const cdr_schema_reading *r);
void cdr_schema_read_boolean(const cdr_schema_reading *r);
void cdr_schema_read_examples(const cdr_schema_reading *r);
void cdr_schema_read_type(const cdr_schema_reading *r);
void cdr_schema_read_enum(const cdr_schema_reading *r);
void cdr_schema_read_const(const cdr_schema_reading *r);
void cdr_schema_read_default(const cdr_schema_reading *r);
void cdr_schema_read_number(const cdr_schema_reading *r);
void cdr_schema_read_exclusive_minimum(const cdr_schema_reading *r);
void cdr_schema_read_exclusive_maximum(const cdr_schema_reading *r);
void cdr_schema_read_multiple_of(const cdr_schema_reading *r);
void cdr_schema_read_count(const cdr_schema_reading *r);
void cdr_schema_read_unique(const cdr_schema_reading *r);
void cdr_schema_read_pattern(const cdr_schema_reading *r);
void cdr_schema_read_pattern_properties(const cdr_schema_reading *r);
void cdr_schema_read_schema(const cdr_schema_reading *r);
void cdr_schema_read_unused(const cdr_schema_reading *r);
void cdr_schema_read_schemas(const cdr_schema_reading *r);
void cdr_schema_read_definitions(const cdr_schema_reading *r);
void cdr_schema_read_properties(const cdr_schema_reading *r);
void cdr_schema_read_items(const cdr_schema_reading *r);
void cdr_schema_read_additional_items(const cdr_schema_reading *r);
void cdr_schema_read_required(const cdr_schema_reading *r);
void cdr_schema_read_dependent_required(const cdr_schema_reading *r);
void cdr_schema_read_dependent_schemas(const cdr_schema_reading *r);
void cdr_schema_read_dependencies(const cdr_schema_reading *r);
void cdr_schema_read_ref(const cdr_schema_reading *r);
void cdr_schema_read_anchor(const cdr_schema_reading *r);
void cdr_schema_read_id(const cdr_schema_reading *r);
void cdr_schema_read_schema_uri(const cdr_schema_reading *r);

#endif
