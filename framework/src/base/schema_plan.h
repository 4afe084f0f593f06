// A schema made ready: its words read, its references followed, its patterns compiled.
//
// A plan is made in three steps: every schema in the text becomes a node
// (schema_plan.c, schema_words.c); the references find theirs (schema_refs.c); what
// would go in circles without looking at a smaller value is refused (schema_cycles.c).
// Mistakes are reported on the way. A plan of a schema with mistakes exists all the
// same: the words it could not read check nothing, and what cannot be known, such as
// where a reference leads, fits nothing.
//
// Thread: one while it is made, then any.
#ifndef CDR_SCHEMA_PLAN_H
#define CDR_SCHEMA_PLAN_H

#include "base/arena.h"
#include "base/schema_pattern.h"
#include "base/schema_walk.h"

// Drafts of JSON Schema; what one has is a range of them. 2020-12 and what is left of
// the older ones is read where `$schema` names none.
typedef enum cdr_draft {
    CDR_DRAFT_ANY,
    CDR_DRAFT_4,
    CDR_DRAFT_6,
    CDR_DRAFT_7,
    CDR_DRAFT_2019,
    CDR_DRAFT_2020
} cdr_draft;

// The types of values, as bits.
enum {
    CDR_TYPE_NULL = 1,
    CDR_TYPE_BOOLEAN = 2,
    CDR_TYPE_INTEGER = 4, // an integer is a number too
    CDR_TYPE_NUMBER = 8,
    CDR_TYPE_STRING = 16,
    CDR_TYPE_ARRAY = 32,
    CDR_TYPE_OBJECT = 64
};

typedef struct cdr_schema_node cdr_schema_node;

// How many there may be of something; by default any number.
typedef struct cdr_schema_count {
    int64_t least, most;
} cdr_schema_count;

typedef struct cdr_schema_nodes {
    const cdr_schema_node **items;
    size_t count;
} cdr_schema_nodes;

// What members whose names fit a pattern must be.
typedef struct cdr_schema_by_pattern {
    cdr_schema_pattern pattern;
    const cdr_schema_node *node;
} cdr_schema_by_pattern;

// What an object with the member `key` must have or be: names, or a schema.
typedef struct cdr_schema_dependent {
    const char *key;
    const json_t *names; // NULL: `node`
    const cdr_schema_node *node;
} cdr_schema_dependent;

// The values of a long enum, found by their hashes.
typedef struct cdr_schema_value_table {
    const json_t *values; // an array
    uint64_t *hashes;     // of each
    size_t *rows;         // open addressing; 1 + the index of a value, 0: none
    size_t capacity;
} cdr_schema_value_table;

// A part of the text with an id of its own: what references are relative to.
typedef struct cdr_schema_resource {
    const char *uri; // "": the text has no id
    const json_t *json;
} cdr_schema_resource;

// One schema. Pointers are NULL and counts unlimited where a word is not there.
struct cdr_schema_node {
    const json_t *json; // NULL: it is `true` or `false`
    size_t index;       // of all that have a text
    bool is_nothing;    // `false`
    const cdr_schema_resource *resource;
    const cdr_schema_resource *outside; // that of the schema around it
    bool is_broken;                     // it cannot be known what fits
    bool is_flawed;                     // a mistake was reported in it
    unsigned types;                     // 0: any
    const json_t *only;                 // const
    const json_t *listed;               // enum
    const cdr_schema_value_table *table;

    const json_t *minimum, *maximum, *above, *below, *multiple_of;
    cdr_schema_count characters;
    cdr_schema_pattern *pattern;

    cdr_schema_count elements, contained;
    cdr_schema_nodes first;               // prefixItems
    const cdr_schema_node *items;         // the rest
    const cdr_schema_node *rest_elements; // unevaluatedItems
    const cdr_schema_node *contains;
    bool is_unique;

    cdr_schema_count members;
    const json_t *required;
    const json_t *properties; // the node of one: cdr_schema_plan_find
    cdr_schema_by_pattern *by_pattern;
    size_t n_by_pattern;
    const cdr_schema_node *others;       // additionalProperties
    const cdr_schema_node *rest_members; // unevaluatedProperties
    const cdr_schema_node *names;        // propertyNames

    const cdr_schema_node *same_as; // $ref
    cdr_schema_nodes all_of, any_of, one_of;
    const cdr_schema_node *not_this, *condition, *then, *otherwise;
    cdr_schema_dependent *dependents;
    size_t n_dependents;
};

struct cdr_schema_plan {
    cdr_arena arena;
    const cdr_schema_node *root;
    cdr_draft draft;
    cdr_schema_node **table; // open addressing, by `json`
    size_t n_nodes, capacity;
    cdr_schema_pattern **patterns; // to free
    size_t n_patterns;
    bool has_defaults;
    bool no_memory;
};

// A reference or a default, kept with its place for when all nodes are known.
typedef struct cdr_schema_note {
    cdr_schema_node *node;
    const char *path;
} cdr_schema_note;

typedef struct cdr_schema_notes {
    cdr_schema_note *items;
    size_t count;
} cdr_schema_notes;

// What is needed while a plan is made.
typedef struct cdr_schema_maker {
    cdr_schema_plan *plan;
    cdr_schema_walk walk;
    cdr_schema_notes refs, defaults;
    json_t *places; // "uri" and "uri#anchor" to an index in `targets`
    const cdr_schema_node **targets;
    size_t n_targets;
    const cdr_schema_resource *top;      // the whole text
    const cdr_schema_resource *resource; // where the walk stands
    bool is_lost;                        // a reference leads nowhere
} cdr_schema_maker;

// The node of a schema that is part of the plan's text; NULL: none. `true` and `false`
// have nodes that all plans share.
const cdr_schema_node *cdr_schema_plan_find(const cdr_schema_plan *plan,
                                            const json_t *json);

// Reads the schema in `slot`, where the walk stands, unless that was done already. What
// is none is reported, and anything fits it. NULL: no memory.
const cdr_schema_node *cdr_schema_make_node(cdr_schema_maker *maker,
                                            const cdr_schema_slot *slot);

// The same for a slot below where the walk stands.
const cdr_schema_node *cdr_schema_make_below(cdr_schema_maker *maker,
                                             const cdr_schema_slot *slot);

// Reads the words of a schema into its node (schema_words.c).
void cdr_schema_read_words(cdr_schema_maker *maker, cdr_schema_node *node);

// The draft that a `$schema` names; CDR_DRAFT_ANY: none that is known.
cdr_draft cdr_schema_draft_named(const char *uri);
const char *cdr_schema_draft_name(cdr_draft draft);

// Remembers a node with its place. False: no memory.
bool cdr_schema_note_add(cdr_schema_maker *maker, cdr_schema_notes *notes,
                         cdr_schema_node *node);

// Makes the schema a resource of its own, with the text that stands at `id`; the walk
// is in it from then on. What is below is relative to it. A name that is taken is
// reported.
void cdr_schema_refs_enter(cdr_schema_maker *maker, cdr_schema_node *node,
                           const cdr_schema_slot *id);

// Remembers that references may name the node, as # and this. One that is taken is
// reported for `slot`.
void cdr_schema_refs_anchor(cdr_schema_maker *maker, cdr_schema_node *node,
                            const cdr_schema_slot *slot, const char *anchor);

// Finds what all references name.
void cdr_schema_refs_follow(cdr_schema_maker *maker);

// Refuses schemas that lead back to themselves for the same value, or nest too deep.
void cdr_schema_cycles_refuse(cdr_schema_maker *maker);

// A long list of values as a table. NULL: it is short, or there is no memory.
const cdr_schema_value_table *cdr_schema_value_table_new(cdr_schema_plan *plan,
                                                         const json_t *values);
bool cdr_schema_value_table_has(const cdr_schema_value_table *table,
                                const json_t *value, int64_t *steps);

// Who hears of problems, in which terms (NULL: those of JSON).
typedef struct cdr_schema_ear {
    cdr_schema_on_problem on_problem;
    void *ctx;
    const cdr_schema_terms *terms;
} cdr_schema_ear;

// Checks a value against one node (schema_check.c). `*steps`: how many it may take;
// those taken are subtracted. Returns the number of problems.
int cdr_schema_check_node(const cdr_schema_plan *plan, const cdr_schema_node *node,
                          const json_t *value, int64_t *steps,
                          const cdr_schema_ear *ear);

// The same by the plan's root, with the steps that the value is worth (schema.c).
int cdr_schema_check_whole(const cdr_schema_plan *plan, const json_t *value,
                           const cdr_schema_ear *ear);

// A copy of the value that is filled in (schema_defaults.c). `is_known`: that it fits
// is known. New reference; NULL: no memory.
json_t *cdr_schema_fill(const cdr_schema_plan *plan, const json_t *value,
                        bool is_known);

#endif
