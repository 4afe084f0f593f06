// JSON Schema: is this one, does that value fit, and what is wrong with it.
//
// The words are those of draft 2020-12, but for $dynamicRef, $dynamicAnchor and
// $vocabulary; of older drafts also `definitions`, `dependencies`, `additionalItems`,
// lists in `items`, true in `exclusiveMinimum`. Where `$schema` names a draft, its
// words are read as that draft says. $ref leads to places in the same text, also by $id
// and $anchor; nothing is loaded. `format`, `content...`, `title` and the like check
// nothing, nor do x-... words. All other words are mistakes, as `pattern` is that
// ECMA-262 would not take.
//
// Everything ends: schemas and values that are nested too deep, or that would take too
// many steps, are problems. The steps allowed grow with the value.
//
// Source: JSON Schema 2020-12, core and validation; drafts 4, 6, 7, 2019-09.
//
// Thread: a schema is plain JSON that nobody changes, a plan never changes; any thread.
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

// Checks that `schema` is one: known words only, of the right type, references that
// lead somewhere and end, patterns that compile, and defaults that keep to their own
// schema. All problems are reported (places are within the schema); the number of them
// is returned.
int cdr_schema_check_schema(const json_t *schema, cdr_schema_on_problem on_problem,
                            void *ctx);

// Checks `value` against `schema`; all problems are reported; the number of them is
// returned. An unknown property where additionalProperties is false gets the nearest
// known name. Integers written as 3.0 are integers. Enum mistakes list the values. Of
// alternatives (anyOf, oneOf) that all fail the nearest is explained.
// Words that the schema must not have (cdr_schema_check_schema) check nothing, but a
// reference or a pattern that nobody can follow fits nothing.
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
// there, also in nested objects and arrays, by `properties` and what $ref and allOf add
// to them. Where the whole would not fit any more, though the value did, nothing is
// filled in. New reference; NULL: no memory.
json_t *cdr_schema_with_defaults(const json_t *schema, const json_t *value);

// A schema made ready for many checks; the functions above make one each time. It
// borrows `schema`, which must stay as it is. Problems are reported as
// cdr_schema_check_schema does, and counted in `*n_problems` (NULL: nobody asks). NULL:
// no memory.
typedef struct cdr_schema_plan cdr_schema_plan;

cdr_schema_plan *cdr_schema_plan_new(const json_t *schema,
                                     cdr_schema_on_problem on_problem, void *ctx,
                                     int *n_problems);
void cdr_schema_plan_free(cdr_schema_plan *plan);

// cdr_schema_check_text, then cdr_schema_with_defaults: `*value` is what is filled in
// (stolen; with no default to fill in it stays as it is). Errors: EINVAL, ENOMEM.
cadre_status cdr_schema_plan_take(const cdr_schema_plan *plan, json_t **value,
                                  cadre_error *err);

#endif
