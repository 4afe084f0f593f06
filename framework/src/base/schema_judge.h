// One check of a value: what judging (schema_check.c) and telling (schema_tell.c)
// share.
//
// Thread: one at a time; a judge lives for one check.
#ifndef CDR_SCHEMA_JUDGE_H
#define CDR_SCHEMA_JUDGE_H

#include "base/schema_plan.h"

typedef struct cdr_schema_judge {
    cdr_schema_walk walk;
    const cdr_schema_plan *plan;
    int64_t steps;       // that are left
    int64_t deadline_ns; // of all patterns together; 0: none was looked for yet
    int nesting;         // of schemas, whatever they look at
    int n_explaining;    // alternatives that are being explained, in each other
    int n_mismatches;    // of const and enum: they tell alternatives apart
    bool is_quiet;       // only whether it fits: the first mistake ends it
    bool is_stopped;     // it took too much; that was told
} cdr_schema_judge;

// Does the value in `slot`, where the walk stands, fit? What does not is told, unless
// the judge is quiet.
bool cdr_schema_judge_node(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot);

// The same in one word, whatever the judge is.
bool cdr_schema_judge_fits(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot);

// The same for a slot below where the walk stands, told.
bool cdr_schema_judge_below(cdr_schema_judge *judge, const cdr_schema_node *node,
                            const cdr_schema_slot *slot);

// Judges what no other schema of the value has looked at (schema_rest.c); all else of
// the node fits.
bool cdr_schema_judge_rest(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot);

// Counts `n` more steps. False: there are no more, or the judge was stopped.
bool cdr_schema_judge_spend(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                            size_t n);
void cdr_schema_judge_stop(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                           const char *why);

// Is the pattern in the text? What takes too long stops the judge.
bool cdr_schema_judge_pattern(cdr_schema_judge *judge,
                              const cdr_schema_pattern *pattern,
                              const cdr_schema_slot *slot, const char *text,
                              size_t len);

// What a value is, as bits: an integer is also a number.
unsigned cdr_schema_types_of(const json_t *value);

// Each tells one mistake, and is told nothing when the judge is quiet.
void cdr_schema_tell(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                     const char *format, ...) CADRE_PRINTF(3, 4);
void cdr_schema_tell_type(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot);
void cdr_schema_tell_const(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot);
void cdr_schema_tell_enum(cdr_schema_judge *judge, const json_t *values,
                          const cdr_schema_slot *slot);
void cdr_schema_tell_range(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot);
// How many characters, elements or members there are.
void cdr_schema_tell_size(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot, size_t size);
void cdr_schema_tell_contained(cdr_schema_judge *judge, const cdr_schema_node *node,
                               const cdr_schema_slot *slot, int64_t n);
// A member that no schema allows; `slot` is below where the walk stands.
void cdr_schema_tell_unknown(cdr_schema_judge *judge, const cdr_schema_node *node,
                             const cdr_schema_slot *slot);
// The same of one that unevaluatedProperties forbids.
void cdr_schema_tell_unseen(cdr_schema_judge *judge, const cdr_schema_slot *slot);
void cdr_schema_tell_name(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot, const json_t *name);
// None of the alternatives fits: explains the nearest.
void cdr_schema_tell_none(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                          const cdr_schema_slot *slot);

#endif
