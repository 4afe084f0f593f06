// Values against schemas.
//
// 1. The walk follows the schema. Each look at a value takes a step, and steps are
//    counted: a schema that looks at one value again and again ends as well.
// 2. At most one problem is told for one value, the first of: the schema false, enum,
//    const, type, what its type has, alternatives. An object's members and an array's
//    elements are checked all the same.
// 3. What could not be judged to its end does not fit, whatever stands around it.
#include "base/schema_judge.h"

#include "base/json_iterable.h"
#include "base/json_number.h"
#include "base/json_same.h"
#include "base/pattern.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NESTING 512
#define PATTERNS_NS 500000000
#define BYTES_A_STEP 32

unsigned cdr_schema_types_of(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return CDR_TYPE_OBJECT;
    case JSON_ARRAY:
        return CDR_TYPE_ARRAY;
    case JSON_STRING:
        return CDR_TYPE_STRING;
    case JSON_INTEGER:
        return CDR_TYPE_NUMBER | CDR_TYPE_INTEGER;
    case JSON_REAL:
        return CDR_TYPE_NUMBER | (cdr_json_is_integral(value) ? CDR_TYPE_INTEGER : 0u);
    case JSON_TRUE:
    case JSON_FALSE:
        return CDR_TYPE_BOOLEAN;
    case JSON_NULL:
        return CDR_TYPE_NULL;
    }
    return 0;
}

// --- Stopping ---

void cdr_schema_judge_stop(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                           const char *why)
{
    if (judge->is_stopped)
        return;
    judge->is_stopped = true;
    cdr_schema_walk_report(&judge->walk, slot, "%s", why);
}

bool cdr_schema_judge_spend(cdr_schema_judge *judge, const cdr_schema_slot *slot,
                            size_t n)
{
    judge->steps -= (int64_t)n;
    if (judge->steps < 0)
        cdr_schema_judge_stop(judge, slot, "takes too many steps to check");
    return !judge->is_stopped;
}

// Is a mistake worth going on for?
static bool goes_on(const cdr_schema_judge *judge, bool fits)
{
    return (fits || !judge->is_quiet) && !judge->is_stopped;
}

bool cdr_schema_judge_fits(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    bool was_quiet = judge->is_quiet;
    judge->is_quiet = true;
    bool fits = cdr_schema_judge_node(judge, node, slot);
    judge->is_quiet = was_quiet;
    return fits;
}

bool cdr_schema_judge_below(cdr_schema_judge *judge, const cdr_schema_node *node,
                            const cdr_schema_slot *slot)
{
    cdr_schema_walk_enter(&judge->walk, slot);
    bool fits = cdr_schema_judge_node(judge, node, slot);
    cdr_schema_walk_leave(&judge->walk);
    return fits;
}

// --- Any value ---

static bool is_listed(cdr_schema_judge *judge, const cdr_schema_node *node,
                      const json_t *value)
{
    if (node->table)
        return cdr_schema_value_table_has(node->table, value, &judge->steps);
    size_t i;
    json_t *listed;
    json_array_foreach(node->listed, i, listed)
    {
        if (cdr_json_is_same(listed, value, &judge->steps))
            return true;
    }
    return false;
}

// False: told, and nothing more is to be said about this value itself.
static bool judge_identity(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    if (node->listed && !is_listed(judge, node, slot->value)) {
        cdr_schema_tell_enum(judge, node->listed, slot);
        return false;
    }
    if (node->only && !cdr_json_is_same(node->only, slot->value, &judge->steps)) {
        cdr_schema_tell_const(judge, node, slot);
        return false;
    }
    if (node->types && !(node->types & cdr_schema_types_of(slot->value))) {
        cdr_schema_tell_type(judge, node, slot);
        return false;
    }
    return true;
}

static bool is_within(const cdr_schema_count *count, size_t n)
{
    return (int64_t)n >= count->least && (int64_t)n <= count->most;
}

// --- Numbers and strings ---

static bool judge_number(cdr_schema_judge *judge, const cdr_schema_node *node,
                         const cdr_schema_slot *slot)
{
    const json_t *value = slot->value;
    if ((node->minimum && cdr_json_number_compare(value, node->minimum) < 0) ||
        (node->maximum && cdr_json_number_compare(value, node->maximum) > 0) ||
        (node->above && cdr_json_number_compare(value, node->above) <= 0) ||
        (node->below && cdr_json_number_compare(value, node->below) >= 0)) {
        cdr_schema_tell_range(judge, node, slot);
        return false;
    }
    if (node->multiple_of && !cdr_json_is_multiple(value, node->multiple_of)) {
        char unit[CDR_BRIEF_SIZE];
        char got[CDR_BRIEF_SIZE];
        cdr_schema_tell(judge, slot, "expected a multiple of %s, got %s",
                        cdr_brief_json(unit, node->multiple_of),
                        cdr_brief_json(got, value));
        return false;
    }
    return true;
}

// Lengths count characters, as the standard says, not bytes.
static size_t count_characters(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t n = 0;
    for (size_t i = 0; i < json_string_length(string); i++)
        n += ((unsigned char)text[i] & 0xC0) != 0x80;
    return n;
}

bool cdr_schema_judge_pattern(cdr_schema_judge *judge,
                              const cdr_schema_pattern *pattern,
                              const cdr_schema_slot *slot, const char *text, size_t len)
{
    if (judge->deadline_ns == 0 && pattern->regex)
        judge->deadline_ns = cdr_cpu_now_ns() + PATTERNS_NS;
    cdr_schema_fit fit =
        cdr_schema_pattern_fits(pattern, text, len, judge->deadline_ns);
    if (fit == CDR_FITS_UNKNOWN)
        cdr_schema_judge_stop(judge, slot, "takes too long to look for a pattern in");
    return fit == CDR_FITS;
}

static bool judge_string(cdr_schema_judge *judge, const cdr_schema_node *node,
                         const cdr_schema_slot *slot)
{
    size_t len = json_string_length(slot->value);
    if (node->characters.least > 0 || node->characters.most < INT64_MAX) {
        size_t n = count_characters(slot->value);
        if (!cdr_schema_judge_spend(judge, slot, len / BYTES_A_STEP))
            return false;
        if (!is_within(&node->characters, n)) {
            cdr_schema_tell_size(judge, node, slot, n);
            return false;
        }
    }
    if (!node->pattern || cdr_schema_judge_pattern(judge, node->pattern, slot,
                                                   json_string_value(slot->value), len))
        return true;
    if (!judge->is_stopped) {
        char pattern[CDR_BRIEF_SIZE];
        char got[CDR_BRIEF_SIZE];
        cdr_schema_tell(judge, slot, "expected a string that matches %s, got %s",
                        cdr_brief_text(pattern, node->pattern->text, '\0'),
                        cdr_brief_json(got, slot->value));
    }
    return false;
}

// --- Objects ---

static bool has_all(cdr_schema_judge *judge, const json_t *names,
                    const cdr_schema_slot *slot, const char *needed_by)
{
    char missing[CDR_BRIEF_SIZE];
    char needing[CDR_BRIEF_SIZE];
    bool fits = cdr_schema_judge_spend(judge, slot, json_array_size(names));
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *key = json_string_value(name);
        if (!goes_on(judge, fits))
            return false;
        if (json_object_get(slot->value, key))
            continue;
        fits = false;
        cdr_brief_text(missing, key, '\'');
        if (needed_by)
            cdr_schema_tell(judge, slot, "missing %s %s, which %s needs",
                            judge->walk.terms->member, missing,
                            cdr_brief_text(needing, needed_by, '\''));
        else
            cdr_schema_tell(judge, slot, "missing %s %s", judge->walk.terms->member,
                            missing);
    }
    return fits;
}

static bool judge_name(cdr_schema_judge *judge, const cdr_schema_node *node,
                       const cdr_schema_slot *member)
{
    json_t *name = json_string(member->key);
    if (!name) {
        cdr_schema_judge_stop(judge, member, "cannot be checked: no memory");
        return false;
    }
    cdr_schema_slot slot = {name, member->container, member->key, 0};
    bool fits = cdr_schema_judge_fits(judge, node->names, &slot);
    if (!fits && !judge->is_stopped)
        cdr_schema_tell_name(judge, node, member, name);
    json_decref(name);
    return fits;
}

static bool judge_member(cdr_schema_judge *judge, const cdr_schema_node *node,
                         const cdr_schema_slot *member)
{
    bool fits = !node->names || judge_name(judge, node, member);
    bool is_known = false;
    const json_t *property = json_object_get(node->properties, member->key);
    if (property) {
        is_known = true;
        fits &= cdr_schema_judge_below(
            judge, cdr_schema_plan_find(judge->plan, property), member);
    }
    size_t len = strlen(member->key);
    for (size_t i = 0; i < node->n_by_pattern && goes_on(judge, fits); i++) {
        const cdr_schema_by_pattern *one = &node->by_pattern[i];
        if (!cdr_schema_judge_spend(judge, member, 1 + len / BYTES_A_STEP) ||
            !cdr_schema_judge_pattern(judge, &one->pattern, member, member->key, len))
            continue;
        is_known = true;
        fits &= cdr_schema_judge_below(judge, one->node, member);
    }
    if (is_known || !node->others || !goes_on(judge, fits))
        return fits;
    if (!node->others->is_nothing)
        return cdr_schema_judge_below(judge, node->others, member) && fits;
    cdr_schema_tell_unknown(judge, node, member);
    return false;
}

static bool judge_members(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot)
{
    bool fits = cdr_schema_judge_spend(judge, slot, json_object_size(slot->value));
    const char *key;
    json_t *value;
    json_object_foreach(cdr_json_iterable(slot->value), key, value)
    {
        cdr_schema_slot member = {value, slot->value, key, 0};
        if (!goes_on(judge, fits))
            return false;
        fits &= judge_member(judge, node, &member);
    }
    return fits;
}

static bool judge_object(cdr_schema_judge *judge, const cdr_schema_node *node,
                         const cdr_schema_slot *slot, bool is_sound)
{
    size_t n = json_object_size(slot->value);
    bool fits = is_sound;
    if (is_sound && !is_within(&node->members, n)) {
        cdr_schema_tell_size(judge, node, slot, n);
        fits = false;
    }
    if (node->required && goes_on(judge, fits))
        fits &= has_all(judge, node->required, slot, NULL);
    bool looks_at_members =
        node->properties || node->n_by_pattern > 0 || node->others || node->names;
    if (looks_at_members && goes_on(judge, fits))
        fits &= judge_members(judge, node, slot);
    return fits;
}

// --- Arrays ---

typedef struct hashed {
    uint64_t hash;
    size_t index;
} hashed;

static int by_hash(const void *a, const void *b)
{
    const hashed *x = a;
    const hashed *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

// The first two elements that are the same; `*second` is 0 when there are none.
static void find_same(cdr_schema_judge *judge, const json_t *array, const hashed *all,
                      size_t *first, size_t *second)
{
    size_t n = json_array_size(array);
    for (size_t i = 1; i < n; i++) {
        for (size_t j = i; j > 0 && all[j - 1].hash == all[i].hash; j--) {
            const json_t *a = json_array_get(array, all[j - 1].index);
            const json_t *b = json_array_get(array, all[i].index);
            if (judge->steps < 0)
                return;
            if (cdr_json_is_same(a, b, &judge->steps)) {
                if (*second == 0 || all[i].index < *second) {
                    *first = all[j - 1].index;
                    *second = all[i].index;
                }
                break;
            }
        }
    }
}

static bool judge_unique(cdr_schema_judge *judge, const cdr_schema_slot *slot)
{
    size_t n = json_array_size(slot->value);
    size_t first = 0;
    size_t second = 0;
    if (n < 2)
        return true;
    hashed *all = calloc(n, sizeof(*all));
    if (!all) {
        cdr_schema_judge_stop(judge, slot, "cannot be checked: no memory");
        return false;
    }
    for (size_t i = 0; i < n; i++)
        all[i] =
            (hashed){cdr_json_hash(json_array_get(slot->value, i), &judge->steps), i};
    qsort(all, n, sizeof(*all), by_hash);
    find_same(judge, slot->value, all, &first, &second);
    free(all);
    if (!cdr_schema_judge_spend(judge, slot, 0))
        return false;
    if (second > 0)
        cdr_schema_tell(judge, slot,
                        "[%zu] repeats [%zu]; each element may be there once", second,
                        first);
    return second == 0;
}

static bool judge_contained(cdr_schema_judge *judge, const cdr_schema_node *node,
                            const cdr_schema_slot *slot)
{
    const cdr_schema_count *count = &node->contained;
    int64_t n = 0;
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot element = cdr_schema_element(slot->value, i);
        bool is_decided =
            n > count->most || (n >= count->least && count->most == INT64_MAX);
        if (is_decided || judge->is_stopped)
            break;
        cdr_schema_walk_enter(&judge->walk, &element);
        n += cdr_schema_judge_fits(judge, node->contains, &element);
        cdr_schema_walk_leave(&judge->walk);
    }
    if (judge->is_stopped)
        return false;
    if (n >= count->least && n <= count->most)
        return true;
    cdr_schema_tell_contained(judge, node, slot, n);
    return false;
}

static bool judge_elements(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    bool fits = true;
    for (size_t i = 0; i < json_array_size(slot->value) && goes_on(judge, fits); i++) {
        cdr_schema_slot element = cdr_schema_element(slot->value, i);
        if (i < node->first.count)
            fits &= cdr_schema_judge_below(judge, node->first.items[i], &element);
        else if (node->items)
            fits &= cdr_schema_judge_below(judge, node->items, &element);
        else
            break;
    }
    return fits;
}

static bool judge_array(cdr_schema_judge *judge, const cdr_schema_node *node,
                        const cdr_schema_slot *slot, bool is_sound)
{
    size_t n = json_array_size(slot->value);
    bool fits = is_sound && judge_elements(judge, node, slot);
    if (!is_sound && goes_on(judge, false))
        (void)judge_elements(judge, node, slot);
    if (!is_sound || !goes_on(judge, fits))
        return false;
    if (!is_within(&node->elements, n)) {
        cdr_schema_tell_size(judge, node, slot, n);
        return false;
    }
    return (!node->is_unique || judge_unique(judge, slot)) &&
           (!node->contains || judge_contained(judge, node, slot)) && fits;
}

// --- Schemas for the same value ---

static size_t count_fits(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                         const cdr_schema_slot *slot, size_t enough)
{
    size_t n = 0;
    for (size_t i = 0; i < choices->count && n < enough && !judge->is_stopped; i++)
        n += cdr_schema_judge_fits(judge, choices->items[i], slot);
    return n;
}

static bool judge_choices(cdr_schema_judge *judge, const cdr_schema_nodes *choices,
                          const cdr_schema_slot *slot, bool is_exclusive)
{
    if (choices->count == 0)
        return true;
    size_t n = count_fits(judge, choices, slot, is_exclusive ? 2 : 1);
    if (judge->is_stopped)
        return false;
    if (n == 0)
        cdr_schema_tell_none(judge, choices, slot);
    else if (n > 1)
        cdr_schema_tell(judge, slot,
                        "fits more than one of the %zu alternatives of 'oneOf'",
                        choices->count);
    return n == 1;
}

static bool judge_negated(cdr_schema_judge *judge, const cdr_schema_node *node,
                          const cdr_schema_slot *slot)
{
    if (!cdr_schema_judge_fits(judge, node->not_this, slot))
        return !judge->is_stopped;
    char got[CDR_BRIEF_SIZE];
    cdr_schema_tell(judge, slot, "is what 'not' forbids: %s",
                    cdr_schema_walk_brief(&judge->walk, got, slot->value));
    return false;
}

static bool judge_condition(cdr_schema_judge *judge, const cdr_schema_node *node,
                            const cdr_schema_slot *slot)
{
    if (!node->then && !node->otherwise)
        return true;
    bool holds = cdr_schema_judge_fits(judge, node->condition, slot);
    const cdr_schema_node *next = holds ? node->then : node->otherwise;
    return !judge->is_stopped && (!next || cdr_schema_judge_node(judge, next, slot));
}

static bool judge_dependents(cdr_schema_judge *judge, const cdr_schema_node *node,
                             const cdr_schema_slot *slot)
{
    bool fits = cdr_schema_judge_spend(judge, slot, node->n_dependents);
    for (size_t i = 0; i < node->n_dependents && goes_on(judge, fits); i++) {
        const cdr_schema_dependent *one = &node->dependents[i];
        if (!json_object_get(slot->value, one->key))
            continue;
        if (one->names)
            fits &= has_all(judge, one->names, slot, one->key);
        else
            fits &= cdr_schema_judge_node(judge, one->node, slot);
    }
    return fits;
}

static bool judge_same_value(cdr_schema_judge *judge, const cdr_schema_node *node,
                             const cdr_schema_slot *slot)
{
    bool fits = true;
    if (node->same_as)
        fits &= cdr_schema_judge_node(judge, node->same_as, slot);
    for (size_t i = 0; i < node->all_of.count && goes_on(judge, fits); i++)
        fits &= cdr_schema_judge_node(judge, node->all_of.items[i], slot);
    if (goes_on(judge, fits))
        fits &= judge_choices(judge, &node->any_of, slot, false);
    if (goes_on(judge, fits))
        fits &= judge_choices(judge, &node->one_of, slot, true);
    if (node->not_this && goes_on(judge, fits))
        fits &= judge_negated(judge, node, slot);
    if (node->condition && goes_on(judge, fits))
        fits &= judge_condition(judge, node, slot);
    if (node->n_dependents > 0 && json_is_object(slot->value) && goes_on(judge, fits))
        fits &= judge_dependents(judge, node, slot);
    return fits;
}

// --- One value ---

static bool judge_kind(cdr_schema_judge *judge, const cdr_schema_node *node,
                       const cdr_schema_slot *slot, bool is_sound)
{
    if (json_is_object(slot->value))
        return judge_object(judge, node, slot, is_sound);
    if (json_is_array(slot->value))
        return judge_array(judge, node, slot, is_sound);
    if (is_sound && json_is_string(slot->value))
        return judge_string(judge, node, slot);
    if (is_sound && json_is_number(slot->value))
        return judge_number(judge, node, slot);
    return is_sound;
}

// A schema that can be used at all.
static bool is_usable(cdr_schema_judge *judge, const cdr_schema_node *node,
                      const cdr_schema_slot *slot)
{
    if (!node || node->is_broken)
        cdr_schema_judge_stop(judge, slot,
                              "cannot be checked: its schema has mistakes");
    else if (judge->nesting >= MAX_NESTING)
        cdr_schema_judge_stop(judge, slot,
                              "cannot be checked: too many schemas in each other");
    return cdr_schema_judge_spend(judge, slot, 1);
}

bool cdr_schema_judge_node(cdr_schema_judge *judge, const cdr_schema_node *node,
                           const cdr_schema_slot *slot)
{
    if (!is_usable(judge, node, slot))
        return false;
    if (node->is_nothing) {
        cdr_schema_tell(judge, slot, "is not allowed here");
        return false;
    }
    judge->nesting++;
    bool is_sound = judge_identity(judge, node, slot);
    bool fits = is_sound;
    if (goes_on(judge, fits))
        fits = judge_kind(judge, node, slot, is_sound);
    if (is_sound && goes_on(judge, fits))
        fits &= judge_same_value(judge, node, slot);
    if (fits && !judge->is_stopped)
        fits = cdr_schema_judge_rest(judge, node, slot);
    judge->nesting--;
    return fits && !judge->is_stopped;
}

int cdr_schema_check_node(const cdr_schema_plan *plan, const cdr_schema_node *node,
                          const json_t *value, int64_t *steps,
                          const cdr_schema_ear *ear)
{
    cdr_schema_judge judge = {.plan = plan, .steps = *steps};
    cdr_schema_slot root = {value, NULL, NULL, 0};
    cdr_schema_walk_init(&judge.walk, ear->on_problem, ear->ctx);
    judge.walk.terms = ear->terms ? ear->terms : judge.walk.terms;
    (void)cdr_schema_judge_node(&judge, node, &root);
    *steps = judge.steps;
    cdr_schema_walk_fini(&judge.walk);
    return judge.walk.n_problems;
}
