// Words that hold schemas, names of properties or references.
#include "base/schema_read.h"

#include "base/json_iterable.h"

#include <ctype.h>
#include <string.h>

// --- Schemas in schemas ---

void cdr_schema_read_schema(const cdr_schema_reading *r)
{
    *(const cdr_schema_node **)cdr_schema_reading_field(r) =
        cdr_schema_make_node(r->maker, &r->slot);
}

// Schemas that nothing uses until it refers to them.
void cdr_schema_read_unused(const cdr_schema_reading *r)
{
    cdr_schema_make_node(r->maker, &r->slot);
}

static void read_list(const cdr_schema_reading *r, cdr_schema_nodes *list)
{
    size_t n = json_array_size(r->slot.value);
    list->items = cdr_arena_alloc(&r->maker->plan->arena, n * sizeof(*list->items));
    r->maker->plan->no_memory |= !list->items;
    for (size_t i = 0; list->items && i < n; i++) {
        cdr_schema_slot element = cdr_schema_element(r->slot.value, i);
        const cdr_schema_node *node = cdr_schema_make_below(r->maker, &element);
        if (node)
            list->items[list->count++] = node;
    }
}

void cdr_schema_read_schemas(const cdr_schema_reading *r)
{
    if (json_array_size(r->slot.value) == 0)
        cdr_schema_reading_report(r, &r->slot, "an array of at least 1 schema");
    else
        read_list(r, cdr_schema_reading_field(r));
}

static bool read_members(const cdr_schema_reading *r)
{
    const char *key;
    json_t *schema;
    if (!json_is_object(r->slot.value)) {
        cdr_schema_reading_report(r, &r->slot, "an object of schemas");
        return false;
    }
    json_object_foreach(cdr_json_iterable(r->slot.value), key, schema)
    {
        cdr_schema_slot member = {schema, r->slot.value, key, 0};
        cdr_schema_make_below(r->maker, &member);
    }
    return true;
}

void cdr_schema_read_definitions(const cdr_schema_reading *r)
{
    (void)read_members(r);
}

void cdr_schema_read_properties(const cdr_schema_reading *r)
{
    if (read_members(r))
        r->node->properties = r->slot.value;
}

// A list until 2019-09, then one schema.
void cdr_schema_read_items(const cdr_schema_reading *r)
{
    if (!json_is_array(r->slot.value) || cdr_schema_reading_is_since(r, CDR_DRAFT_2020))
        cdr_schema_read_schema(r);
    else if (cdr_schema_reading_sibling(r, "prefixItems"))
        cdr_schema_reading_report(r, &r->slot, "one schema beside 'prefixItems'");
    else
        read_list(r, &r->node->first);
}

// Without a list in `items` it checks nothing, as the drafts say that have it.
void cdr_schema_read_additional_items(const cdr_schema_reading *r)
{
    const cdr_schema_node *node = cdr_schema_make_node(r->maker, &r->slot);
    if (json_is_array(cdr_schema_reading_sibling(r, "items")))
        r->node->items = node;
}

// --- Names of properties ---

static bool are_names(const cdr_schema_reading *r, const cdr_schema_slot *slot)
{
    int n_problems = r->maker->walk.n_problems;
    if (!json_is_array(slot->value))
        cdr_schema_reading_report(r, slot, "an array of property names");
    for (size_t i = 0; i < json_array_size(slot->value); i++) {
        cdr_schema_slot name = cdr_schema_element(slot->value, i);
        cdr_schema_walk_enter(&r->maker->walk, &name);
        if (!json_is_string(name.value))
            cdr_schema_reading_report(r, &name, "a string");
        cdr_schema_walk_leave(&r->maker->walk);
    }
    return r->maker->walk.n_problems == n_problems;
}

void cdr_schema_read_required(const cdr_schema_reading *r)
{
    if (are_names(r, &r->slot))
        r->node->required = r->slot.value;
}

typedef enum dependents {
    NAMES,
    SCHEMAS,
    EITHER // draft 7's one word for both
} dependents;

static void read_dependent(const cdr_schema_reading *r, const cdr_schema_slot *member,
                           dependents kind)
{
    cdr_schema_node *node = r->node;
    cdr_schema_dependent *one = &node->dependents[node->n_dependents];
    cdr_schema_walk_enter(&r->maker->walk, member);
    *one = (cdr_schema_dependent){.key = member->key};
    if (kind == NAMES || (kind == EITHER && json_is_array(member->value)))
        one->names = are_names(r, member) ? member->value : NULL;
    else
        one->node = cdr_schema_make_node(r->maker, member);
    node->n_dependents += one->names || one->node;
    cdr_schema_walk_leave(&r->maker->walk);
}

static void read_dependents_as(const cdr_schema_reading *r, dependents kind)
{
    cdr_schema_node *node = r->node;
    const char *key;
    json_t *value;
    if (!json_is_object(r->slot.value)) {
        cdr_schema_reading_report(r, &r->slot,
                                  kind == NAMES
                                      ? "an object of arrays of property names"
                                      : "an object of schemas");
        return;
    }
    json_object_foreach(cdr_json_iterable(r->slot.value), key, value)
    {
        cdr_schema_slot member = {value, r->slot.value, key, 0};
        cdr_schema_dependent *items =
            cdr_arena_grow(&r->maker->plan->arena, node->dependents, node->n_dependents,
                           sizeof(*items));
        r->maker->plan->no_memory |= !items;
        if (!items)
            return;
        node->dependents = items;
        read_dependent(r, &member, kind);
    }
}

void cdr_schema_read_dependent_required(const cdr_schema_reading *r)
{
    read_dependents_as(r, NAMES);
}

void cdr_schema_read_dependent_schemas(const cdr_schema_reading *r)
{
    read_dependents_as(r, SCHEMAS);
}

void cdr_schema_read_dependencies(const cdr_schema_reading *r)
{
    read_dependents_as(r, EITHER);
}

// --- References ---

void cdr_schema_read_ref(const cdr_schema_reading *r)
{
    if (json_is_string(r->slot.value))
        cdr_schema_note_add(r->maker, &r->maker->refs, r->node);
    else
        cdr_schema_reading_report(r, &r->slot, "a string");
}

static bool is_anchor(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789-_.";
    return (isalpha((unsigned char)*name) || *name == '_') &&
           name[strspn(name, letters)] == '\0';
}

void cdr_schema_read_anchor(const cdr_schema_reading *r)
{
    const char *name = json_string_value(r->slot.value);
    if (name && is_anchor(name))
        cdr_schema_refs_anchor(r->maker, r->node, &r->slot, name);
    else
        cdr_schema_reading_report(r, &r->slot, "a name of letters, digits, - _ .");
}

// What stands after # names a place, until draft 7; what stands before it was taken
// when the schema was entered (enter_resource).
void cdr_schema_read_id(const cdr_schema_reading *r)
{
    const char *id = json_string_value(r->slot.value);
    const char *hash = id ? strchr(id, '#') : NULL;
    if (!id)
        cdr_schema_reading_report(r, &r->slot, "a string");
    else if (hash && hash[1] &&
             (hash != id || cdr_schema_reading_is_since(r, CDR_DRAFT_2019)))
        cdr_schema_reading_report(r, &r->slot, "an id without a fragment");
    else if (hash && hash[1] && is_anchor(hash + 1))
        cdr_schema_refs_anchor(r->maker, r->node, &r->slot, hash + 1);
    else if (hash && hash[1])
        cdr_schema_reading_report(r, &r->slot,
                                  "a name of letters, digits, - _ . after #");
}

// The draft that the text is in; parts of it cannot be in another.
void cdr_schema_read_schema_uri(const cdr_schema_reading *r)
{
    const char *uri = json_string_value(r->slot.value);
    cdr_draft draft = uri ? cdr_schema_draft_named(uri) : CDR_DRAFT_ANY;
    if (!uri)
        cdr_schema_reading_report(r, &r->slot, "a string");
    else if (draft == CDR_DRAFT_ANY)
        cdr_schema_reading_report(
            r, &r->slot,
            "the URI of draft 4, 6, 7, 2019-09 or 2020-12, such as "
            "https://json-schema.org/draft/2020-12/schema");
    else if (draft != r->maker->plan->draft)
        cdr_schema_walk_report(&r->maker->walk, &r->slot,
                               "expected the draft of the whole schema, %s, got %s",
                               cdr_schema_draft_name(r->maker->plan->draft),
                               cdr_schema_draft_name(draft));
}
