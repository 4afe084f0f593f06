// JSON Schema, the words that options and tool arguments need: type, enum, const,
// minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength,
// minItems, maxItems, required, properties, additionalProperties, items, default,
// and title, description, examples, format, $schema, x-..., which check nothing.
// The schemas `true` and `false` allow everything and nothing. Of our own schemas also
// patternProperties with keys such as "^x-": the members that start so.
// Source: JSON Schema 2020-12, core and validation.
//
// Thread: a schema is plain JSON that nobody changes; any thread.
#ifndef CDR_SCHEMA_H
#define CDR_SCHEMA_H

#include "cadre/error.h"

#include <jansson.h>

#define CDR_SCHEMA_MAX_DEPTH 128 // of schemas and of values; deeper is a problem

// One mistake. Everything is borrowed for the time of the call. `container`, `key` and
// `index` are where `value` stands, so that a file can be asked for its line. For an
// unknown property they name it, and `path` names the object that holds it.
typedef struct cdr_schema_problem {
    const char *path;        // `members[1].to`; "" for the checked value itself
    const char *text;        // what is wrong and what is expected
    const json_t *value;     // what is wrong; where a member is missing: its object
    const json_t *container; // holds `value`; NULL: it is the checked value itself
    const char *key;         // its key in `container`; NULL in an array
    size_t index;            // its index in `container`, when that is an array
    bool is_key;             // the key is the mistake: an unknown property
} cdr_schema_problem;

// What messages call things: in JSON an object has properties, in YAML a mapping keys.
typedef struct cdr_schema_terms {
    const char *object, *array, *member; // nouns
} cdr_schema_terms;

typedef void (*cdr_schema_on_problem)(void *ctx, const cdr_schema_problem *problem);

// Checks that `schema` is one: known words only, of the right type, and defaults that
// keep to their own schema. All problems are reported (places are within the schema);
// the number of them is returned.
int cdr_schema_check_schema(const json_t *schema, cdr_schema_on_problem on_problem,
                            void *ctx);

// Checks `value` against `schema`; all problems are reported; the number of them is
// returned. An unknown property where additionalProperties is false gets the nearest
// known name. Integers written as 3.0 are integers. Enum mistakes list the values.
// Words that the schema must not have (cdr_schema_check_schema) check nothing.
int cdr_schema_check(const json_t *schema, const json_t *value,
                     cdr_schema_on_problem on_problem, void *ctx);

// The same check in other terms than those of JSON.
int cdr_schema_check_in(const cdr_schema_terms *terms, const json_t *schema,
                        const json_t *value, cdr_schema_on_problem on_problem,
                        void *ctx);

// The same check with all problems in one text ("order: expected a string, got 7;
// ..."), for results that a model reads. CADRE_EINVAL with `err` when there are any;
// those that do not fit are counted.
cadre_status cdr_schema_check_text(const json_t *schema, const json_t *value,
                                   cadre_error *err);

// Gives a copy of `value` in which every missing property that has a `default` is
// there, also in nested objects and arrays. New reference; NULL: no memory.
json_t *cdr_schema_with_defaults(const json_t *schema, const json_t *value);

#endif
