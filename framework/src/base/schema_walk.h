// What the schema checks share: where a walk stands, and how it reports.
//
// Thread: one at a time; a walk lives for one check.
#ifndef CDR_SCHEMA_WALK_H
#define CDR_SCHEMA_WALK_H

#include "base/brief.h"
#include "base/buf.h"
#include "base/schema.h"

// A value and where it stands; the fields as in cdr_schema_problem.
typedef struct cdr_schema_slot {
    const json_t *value;
    const json_t *container;
    const char *key;
    size_t index;
} cdr_schema_slot;

typedef struct cdr_schema_walk {
    const cdr_schema_terms *terms;
    cdr_schema_on_problem on_problem;
    void *ctx;
    int n_problems;
    int depth;
    int n_suggestions; // made so far; they are dear, so hostile values get only some
    const cdr_schema_slot *slots[CDR_SCHEMA_MAX_DEPTH + 2]; // from the top to here
    cdr_buf path; // of the slots, written when it is asked for
} cdr_schema_walk;

// In the terms of JSON, until `terms` is set to others.
void cdr_schema_walk_init(cdr_schema_walk *walk, cdr_schema_on_problem on_problem,
                          void *ctx);
void cdr_schema_walk_fini(cdr_schema_walk *walk);

// Goes down to a member or an element, and comes back. `slot` must stay until then.
void cdr_schema_walk_enter(cdr_schema_walk *walk, const cdr_schema_slot *slot);
void cdr_schema_walk_leave(cdr_schema_walk *walk);

// Where the walk stands: `members[1].to`. Borrowed until the next call.
const char *cdr_schema_walk_path(cdr_schema_walk *walk);

// Does nobody want to hear of problems? Then they are only counted, and a text for one
// need not be made.
bool cdr_schema_walk_is_unheard(const cdr_schema_walk *walk);

cdr_schema_slot cdr_schema_member(const json_t *object, const char *key);
cdr_schema_slot cdr_schema_element(const json_t *array, size_t index);

// The schema that a member of an object has to keep to: its own, that of the first
// pattern of patternProperties that it fits, or that of all others. NULL: there is
// none. For schemas of options, which are read along these words only.
const json_t *cdr_schema_of_member(const json_t *schema, const char *key);

// Reports that `slot`, where the walk stands, is wrong.
void cdr_schema_walk_report(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                            const char *format, ...) CADRE_PRINTF(3, 4);

// Reports the same of another place, by its path.
void cdr_schema_walk_report_at(cdr_schema_walk *walk, const char *path,
                               const cdr_schema_slot *slot, const char *format, ...)
    CADRE_PRINTF(4, 5);

// Reports that the walk's object must not have the member `slot`.
void cdr_schema_walk_report_key(cdr_schema_walk *walk, const cdr_schema_slot *slot,
                                const char *format, ...) CADRE_PRINTF(3, 4);

// The nearest to `name` among the keys of an object, or among the strings of an array;
// NULL when none is near or too many were asked for. Borrowed from `names`.
const char *cdr_schema_walk_suggest(cdr_schema_walk *walk, const char *name,
                                    const json_t *names);

// "a" or "an".
const char *cdr_schema_article(const char *noun);

// What a message says after "got", in the walk's terms. Returns `out`.
const char *cdr_schema_walk_brief(const cdr_schema_walk *walk, char out[CDR_BRIEF_SIZE],
                                  const json_t *value);

// What a value of `type` must be under `schema`: `an integer from 1 to 100`. Appends.
void cdr_schema_describe_type(cdr_buf *text, const cdr_schema_terms *terms,
                              const json_t *schema, const char *type);

// What `schema` takes: `a string or an integer of at least 1`. Appends.
void cdr_schema_describe(cdr_buf *text, const cdr_schema_terms *terms,
                         const json_t *schema);

// Appends the strings or values of an array, or the keys of an object: `a, b, c`; at
// most 16 of them, then `...`.
void cdr_schema_describe_list(cdr_buf *text, const json_t *list);

#endif
