// What is told of values that do not fit.
#include "base/schema_judge.h"

#include "base/json_iterable.h"

#include <string.h>

#define MAX_EXPLAINING 2    // alternatives in alternatives
#define MAX_EXPLANATION 240 // bytes
#define MISMATCH_WEIGHS 8   // problems

// Nothing is to be said, or nobody hears it.
static bool is_unsaid(cdr_schema_judge *judge)
{
    if (judge->is_quiet)
        return true;
    bool is_unheard = cdr_schema_walk_is_unheard(&judge->walk);
    judge->walk.n_problems += is_unheard;
    return is_unheard;
}

void cdr_schema_tell(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                     const char *format, ...)
{
    if (is_unsaid(judge))
        return;
    cdr_buf text = CDR_BUF_INIT;
    va_list args;
    va_start(args, format);
    cdr_buf_vprintf(&text, format, args);
    va_end(args);
    cdr_schema_walk_report(&judge->walk, slot, "%s", cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

static void tell_expected(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                          cdr_buf *expected)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(&judge->walk, slot, "expected %s, got %s",
                           cdr_buf_text(expected),
                           cdr_schema_walk_brief(&judge->walk, got, slot->value));
    cdr_buf_fini(expected);
}

void cdr_schema_tell_type(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot)
{
    cdr_buf expected = CDR_BUF_INIT;
    if (is_unsaid(judge))
        return;
    cdr_schema_describe(&expected, judge->walk.terms, node->json);
    tell_expected(judge, slot, &expected);
}

void cdr_schema_tell_const(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_buf expected = CDR_BUF_INIT;
    judge->n_mismatches += !judge->is_quiet;
    if (is_unsaid(judge))
        return;
    cdr_buf_append_text(&expected,
                        cdr_schema_walk_brief(&judge->walk, brief, node->only));
    tell_expected(judge, slot, &expected);
}

void cdr_schema_tell_enum(cdr_schema_judge *judge, const json_t *values,
                          const cdr_schema_slot *slot)
{
    char got[CDR_BRIEF_SIZE];
    char brief[CDR_BRIEF_SIZE];
    const char *nearest = NULL;
    judge->n_mismatches += !judge->is_quiet;
    if (is_unsaid(judge))
        return;
    if (json_is_string(slot->value))
        nearest = cdr_schema_walk_suggest(&judge->walk, json_string_value(slot->value),
                                          values);
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_append_text(&text, "expected one of: ");
    cdr_schema_describe_list(&text, values);
    cdr_buf_printf(&text, "; got %s",
                   cdr_schema_walk_brief(&judge->walk, got, slot->value));
    if (nearest)
        cdr_buf_printf(&text, "; did you mean %s?",
                       cdr_brief_text(brief, nearest, '\''));
    cdr_schema_walk_report(&judge->walk, slot, "%s", cdr_buf_text(&text));
    cdr_buf_fini(&text);
}

void cdr_schema_tell_range(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    cdr_buf expected = CDR_BUF_INIT;
    if (is_unsaid(judge))
        return;
    bool is_integer =
        (node->types & cdr_schema_types_of(slot->value)) == CDR_TYPE_INTEGER;
    cdr_schema_describe_type(&expected, judge->walk.terms, node->json,
                             is_integer ? "integer" : "number");
    tell_expected(judge, slot, &expected);
}

void cdr_schema_tell_size(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot, size_t size)
{
    const char *type = "object";
    cdr_buf expected = CDR_BUF_INIT;
    if (is_unsaid(judge))
        return;
    if (json_is_string(slot->value))
        type = "string";
    else if (json_is_array(slot->value))
        type = "array";
    cdr_schema_describe_type(&expected, judge->walk.terms, node->json, type);
    cdr_schema_walk_report(&judge->walk, slot, "expected %s, got %zu",
                           cdr_buf_text(&expected), size);
    cdr_buf_fini(&expected);
}

void cdr_schema_tell_contained(cdr_schema_judge *judge, const cdr_schema_node *node,
                               const cdr_schema_slot *slot, int64_t n)
{
    bool is_few = n < node->contained.least;
    long long bound =
        (long long)(is_few ? node->contained.least : node->contained.most);
    cdr_schema_tell(judge, slot,
                    "expected at %s %lld element%s that fit%s 'contains', "
                    "got %s%lld",
                    is_few ? "least" : "most", bound, bound == 1 ? "" : "s",
                    bound == 1 ? "s" : "", is_few ? "" : "at least ", (long long)n);
}

void cdr_schema_tell_unknown(cdr_schema_judge *judge, const cdr_schema_node *node,
                             const cdr_schema_slot *slot)
{
    char name[CDR_BRIEF_SIZE];
    char brief[CDR_BRIEF_SIZE];
    const char *member = judge->walk.terms->member;
    if (is_unsaid(judge))
        return;
    cdr_brief_text(name, slot->key, '\'');
    const char *nearest =
        cdr_schema_walk_suggest(&judge->walk, slot->key, node->properties);
    if (nearest) {
        cdr_schema_walk_report_key(&judge->walk, slot,
                                   "unknown %s %s; did you mean %s?", member, name,
                                   cdr_brief_text(brief, nearest, '\''));
    } else if (json_object_size(node->properties) > 0) {
        cdr_buf known = CDR_BUF_INIT;
        cdr_schema_describe_list(&known, node->properties);
        cdr_schema_walk_report_key(&judge->walk, slot, "unknown %s %s (known: %s)",
                                   member, name, cdr_buf_text(&known));
        cdr_buf_fini(&known);
    } else {
        cdr_schema_walk_report_key(&judge->walk, slot, "unknown %s %s", member, name);
    }
}

void cdr_schema_tell_unseen(cdr_schema_judge *judge, const cdr_schema_slot *slot)
{
    char name[CDR_BRIEF_SIZE];
    if (!is_unsaid(judge))
        cdr_schema_walk_report_key(
            &judge->walk, slot, "unknown %s %s; nothing here has one of this name",
            judge->walk.terms->member, cdr_brief_text(name, slot->key, '\''));
}

// --- Explanations ---

// Problems of something that is being explained, in one text.
typedef struct explanation {
    cdr_buf text;
    const char *here; // the path of what is explained, which is not said again
    int n_left_out;
} explanation;

static void gather(void *ctx, const cdr_schema_problem *problem)
{
    explanation *e = ctx;
    if (e->text.len > MAX_EXPLANATION) {
        e->n_left_out++;
        return;
    }
    bool is_here = strcmp(problem->path, e->here) == 0;
    cdr_buf_printf(&e->text, "%s%s%s%s", e->text.len > 0 ? "; " : "",
                   is_here ? "" : problem->path, is_here ? "" : ": ", problem->text);
}

// Says why `slot` does not fit, into `e` instead of to who listens.
static void explain(cdr_schema_judge *judge, const cdr_schema_node *node,
                    const cdr_schema_slot *slot, explanation *e)
{
    cdr_schema_walk outer = judge->walk;
    cdr_buf here = CDR_BUF_INIT;
    cdr_buf_append_text(&here, cdr_schema_walk_path(&judge->walk));
    e->here = cdr_buf_text(&here);
    judge->walk.on_problem = gather;
    judge->walk.ctx = e;
    judge->n_explaining++;
    (void)cdr_schema_judge_node(judge, node, slot);
    judge->n_explaining--;
    judge->walk.on_problem = outer.on_problem;
    judge->walk.ctx = outer.ctx;
    judge->walk.n_problems = outer.n_problems;
    if (e->n_left_out > 0)
        cdr_buf_printf(&e->text, "; and %d more", e->n_left_out);
    e->here = "";
    cdr_buf_fini(&here);
}

// How far the value is from fitting.
static int distance(cdr_schema_judge *judge, const cdr_schema_node *node,
                    const cdr_schema_slot *slot)
{
    cdr_schema_walk outer = judge->walk;
    int n_mismatches = judge->n_mismatches;
    judge->walk.on_problem = NULL;
    judge->n_explaining++;
    (void)cdr_schema_judge_node(judge, node, slot);
    judge->n_explaining--;
    int n_problems = judge->walk.n_problems - outer.n_problems;
    n_problems += MISMATCH_WEIGHS * (judge->n_mismatches - n_mismatches);
    judge->walk.on_problem = outer.on_problem;
    judge->walk.n_problems = outer.n_problems;
    judge->n_mismatches = n_mismatches;
    return n_problems;
}

void cdr_schema_tell_name(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot, const json_t *name)
{
    explanation e = {CDR_BUF_INIT, "", 0};
    char brief[CDR_BRIEF_SIZE];
    if (is_unsaid(judge))
        return;
    cdr_schema_slot own = {name, slot->container, slot->key, 0};
    explain(judge, node->names, &own, &e);
    cdr_schema_walk_report_key(&judge->walk, slot, "the name %s is not allowed: %s",
                               cdr_brief_text(brief, slot->key, '\''),
                               cdr_buf_text(&e.text));
    cdr_buf_fini(&e.text);
}

// --- Alternatives ---

// The schema that says the type: what a chain of references leads to.
static const cdr_schema_node *last_of(const cdr_schema_node *node)
{
    for (int i = 0; i < CDR_SCHEMA_MAX_DEPTH; i++) {
        if (node->types || node->listed || node->only || !node->same_as)
            break;
        node = node->same_as;
    }
    return node;
}

static bool may_fit(const cdr_schema_node *node, const json_t *value)
{
    unsigned types = last_of(node)->types;
    return !node->is_nothing && (!types || (types & cdr_schema_types_of(value)));
}

// What alternatives of one value each allow, as one list; NULL: they are not such, or
// there is no memory. New reference.
static json_t *values_of(const cdr_schema_nodes *choices)
{
    json_t *values = json_array();
    for (size_t i = 0; values && i < choices->count; i++) {
        const cdr_schema_node *node = last_of(choices->items[i]);
        json_t *only = cdr_json_iterable(node->only);
        json_t *listed = cdr_json_iterable(node->listed);
        bool is_added = only ? json_array_append(values, only) == 0
                             : listed && json_array_extend(values, listed) == 0;
        if (!is_added) {
            json_decref(values);
            values = NULL;
        }
    }
    return values;
}

// `a string, an object or null`, when no alternative is of the value's type.
static void tell_types(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                       const cdr_schema_slot *slot)
{
    cdr_buf expected = CDR_BUF_INIT;
    for (size_t i = 0; i < choices->count; i++) {
        bool is_last = i + 1 == choices->count;
        if (i > 0)
            cdr_buf_append_text(&expected, is_last ? " or " : ", ");
        cdr_schema_describe(&expected, judge->walk.terms,
                            last_of(choices->items[i])->json);
    }
    tell_expected(judge, slot, &expected);
}

#define MANY_TYPES 6

static void tell_nearest(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                         const cdr_schema_slot *slot)
{
    size_t nearest = 0;
    int least = -1;
    for (size_t i = 0; i < choices->count && !judge->is_stopped; i++) {
        if (!may_fit(choices->items[i], slot->value))
            continue;
        int found = distance(judge, choices->items[i], slot);
        if (least < 0 || found < least) {
            least = found;
            nearest = i;
        }
    }
    explanation e = {CDR_BUF_INIT, "", 0};
    if (least >= 0 && !judge->is_stopped)
        explain(judge, choices->items[nearest], slot, &e);
    if (e.text.len > 0)
        cdr_schema_walk_report(&judge->walk, slot,
                               "fits none of the %zu alternatives; the nearest is the "
                               "one at %zu: %s",
                               choices->count, nearest, cdr_buf_text(&e.text));
    else
        cdr_schema_walk_report(&judge->walk, slot, "fits none of the %zu alternatives",
                               choices->count);
    cdr_buf_fini(&e.text);
}

void cdr_schema_tell_none(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                          const cdr_schema_slot *slot)
{
    size_t n_of_type = 0;
    size_t n_typed = 0;
    if (is_unsaid(judge))
        return;
    for (size_t i = 0; i < choices->count; i++) {
        n_of_type += may_fit(choices->items[i], slot->value);
        n_typed += last_of(choices->items[i])->types != 0;
    }
    json_t *values = values_of(choices);
    if (values)
        cdr_schema_tell_enum(judge, values, slot);
    else if (n_of_type == 0 && n_typed == choices->count && n_typed <= MANY_TYPES)
        tell_types(judge, choices, slot);
    else if (judge->n_explaining >= MAX_EXPLAINING)
        cdr_schema_walk_report(&judge->walk, slot, "fits none of the %zu alternatives",
                               choices->count);
    else
        tell_nearest(judge, choices, slot);
    json_decref(values);
}
