// The words of schemas: which there are, in which drafts, and who reads each.
#include "base/schema_read.h"

#include "base/json_iterable.h"
#include "base/nearest.h"

#include <stddef.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

typedef struct schema_word {
    const char *name;
    void (*read)(const cdr_schema_reading *r);
    cdr_draft first, last; // CDR_DRAFT_ANY: no bound
    bool is_silent;        // checks nothing by itself: may stand beside a $ref
    size_t offset;
} schema_word;

#define FIELD(name) offsetof(cdr_schema_node, name)
#define ALL CDR_DRAFT_ANY, CDR_DRAFT_ANY
#define SINCE(draft) CDR_DRAFT_##draft, CDR_DRAFT_ANY
#define UNTIL(draft) CDR_DRAFT_ANY, CDR_DRAFT_##draft

static const schema_word words[] = {
    {"type", cdr_schema_read_type, ALL, false, 0},
    {"enum", cdr_schema_read_enum, ALL, false, 0},
    {"const", cdr_schema_read_const, SINCE(6), false, 0},
    {"minimum", cdr_schema_read_number, ALL, false, FIELD(minimum)},
    {"maximum", cdr_schema_read_number, ALL, false, FIELD(maximum)},
    {"exclusiveMinimum", cdr_schema_read_exclusive_minimum, ALL, false, FIELD(above)},
    {"exclusiveMaximum", cdr_schema_read_exclusive_maximum, ALL, false, FIELD(below)},
    {"multipleOf", cdr_schema_read_multiple_of, ALL, false, 0},
    {"minLength", cdr_schema_read_count, ALL, false, FIELD(characters.least)},
    {"maxLength", cdr_schema_read_count, ALL, false, FIELD(characters.most)},
    {"pattern", cdr_schema_read_pattern, ALL, false, 0},
    {"items", cdr_schema_read_items, ALL, false, FIELD(items)},
    {"prefixItems", cdr_schema_read_schemas, SINCE(2020), false, FIELD(first)},
    {"additionalItems", cdr_schema_read_additional_items, UNTIL(2019), false, 0},
    {"unevaluatedItems", cdr_schema_read_schema, SINCE(2019), false,
     FIELD(rest_elements)},
    {"contains", cdr_schema_read_schema, SINCE(6), false, FIELD(contains)},
    {"minContains", cdr_schema_read_count, SINCE(2019), false, FIELD(contained.least)},
    {"maxContains", cdr_schema_read_count, SINCE(2019), false, FIELD(contained.most)},
    {"minItems", cdr_schema_read_count, ALL, false, FIELD(elements.least)},
    {"maxItems", cdr_schema_read_count, ALL, false, FIELD(elements.most)},
    {"uniqueItems", cdr_schema_read_unique, ALL, false, 0},
    {"required", cdr_schema_read_required, ALL, false, 0},
    {"properties", cdr_schema_read_properties, ALL, false, 0},
    {"patternProperties", cdr_schema_read_pattern_properties, ALL, false, 0},
    {"additionalProperties", cdr_schema_read_schema, ALL, false, FIELD(others)},
    {"unevaluatedProperties", cdr_schema_read_schema, SINCE(2019), false,
     FIELD(rest_members)},
    {"propertyNames", cdr_schema_read_schema, SINCE(6), false, FIELD(names)},
    {"minProperties", cdr_schema_read_count, ALL, false, FIELD(members.least)},
    {"maxProperties", cdr_schema_read_count, ALL, false, FIELD(members.most)},
    {"dependentRequired", cdr_schema_read_dependent_required, SINCE(2019), false, 0},
    {"dependentSchemas", cdr_schema_read_dependent_schemas, SINCE(2019), false, 0},
    {"dependencies", cdr_schema_read_dependencies, UNTIL(7), false, 0},
    {"allOf", cdr_schema_read_schemas, ALL, false, FIELD(all_of)},
    {"anyOf", cdr_schema_read_schemas, ALL, false, FIELD(any_of)},
    {"oneOf", cdr_schema_read_schemas, ALL, false, FIELD(one_of)},
    {"not", cdr_schema_read_schema, ALL, false, FIELD(not_this)},
    {"if", cdr_schema_read_schema, SINCE(7), false, FIELD(condition)},
    {"then", cdr_schema_read_schema, SINCE(7), false, FIELD(then)},
    {"else", cdr_schema_read_schema, SINCE(7), false, FIELD(otherwise)},
    {"$ref", cdr_schema_read_ref, ALL, true, 0},
    {"$defs", cdr_schema_read_definitions, ALL, true, 0},
    {"definitions", cdr_schema_read_definitions, ALL, true, 0},
    {"$anchor", cdr_schema_read_anchor, SINCE(2019), false, 0},
    {"$id", cdr_schema_read_id, SINCE(6), true, 0},
    {"$schema", cdr_schema_read_schema_uri, ALL, true, 0},
    {"$comment", cdr_schema_read_text, ALL, true, 0},
    {"title", cdr_schema_read_text, ALL, true, 0},
    {"description", cdr_schema_read_text, ALL, true, 0},
    {"default", cdr_schema_read_default, ALL, true,
     0}, // judged last, by the whole schema
    {"examples", cdr_schema_read_examples, ALL, true, 0},
    {"deprecated", cdr_schema_read_boolean, ALL, true, 0},
    {"readOnly", cdr_schema_read_boolean, ALL, true, 0},
    {"writeOnly", cdr_schema_read_boolean, ALL, true, 0},
    {"format", cdr_schema_read_text, ALL, true, 0},
    {"contentEncoding", cdr_schema_read_text, ALL, true, 0},
    {"contentMediaType", cdr_schema_read_text, ALL, true, 0},
    {"contentSchema", cdr_schema_read_unused, SINCE(2019), true, 0},
};

// The `$id` of draft 4, read only where `$schema` says so.
static const schema_word draft_4_id = {"id", cdr_schema_read_id, ALL, true, 0};

// Words of the standard that are not read. Without this list their messages would
// offer the nearest word that is, which means something else.
static const char *const unsupported_words[] = {
    "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
};

static const schema_word *find_word(cdr_draft draft, const char *name)
{
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    }
    return draft == CDR_DRAFT_4 && strcmp(name, "id") == 0 ? &draft_4_id : NULL;
}

static bool is_unsupported(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(unsupported_words); i++) {
        if (strcmp(unsupported_words[i], name) == 0)
            return true;
    }
    return false;
}

static void report_unknown(cdr_schema_maker *maker, const cdr_schema_slot *slot)
{
    char name[CDR_BRIEF_SIZE];
    cdr_brief_text(name, slot->key, '\'');
    const char *known[COUNT_OF(words)];
    for (size_t i = 0; i < COUNT_OF(words); i++)
        known[i] = words[i].name;
    const char *nearest = cdr_nearest(slot->key, known, COUNT_OF(known));
    if (is_unsupported(slot->key))
        cdr_schema_walk_report_key(&maker->walk, slot,
                                   "the schema word %s is not supported", name);
    else if (nearest)
        cdr_schema_walk_report_key(&maker->walk, slot,
                                   "unknown schema word %s; did you mean '%s'?", name,
                                   nearest);
    else
        cdr_schema_walk_report_key(&maker->walk, slot,
                                   "unknown schema word %s; a property of this name "
                                   "belongs under 'properties'",
                                   name);
}

// May the word stand there? Until draft 7 a $ref makes all beside it mean nothing,
// which those who write it do not expect.
static bool is_in_place(cdr_schema_maker *maker, const cdr_schema_node *node,
                        const schema_word *word, const cdr_schema_slot *slot)
{
    cdr_draft draft = maker->plan->draft;
    if (draft == CDR_DRAFT_ANY)
        return true;
    if (draft < word->first || (word->last != CDR_DRAFT_ANY && draft > word->last)) {
        cdr_schema_walk_report_key(&maker->walk, slot,
                                   "the schema word '%s' is not one of draft %s, which "
                                   "'$schema' names",
                                   word->name, cdr_schema_draft_name(draft));
        return false;
    }
    if (draft > CDR_DRAFT_7 || word->is_silent || !json_object_get(node->json, "$ref"))
        return true;
    cdr_schema_walk_report_key(&maker->walk, slot,
                               "in draft %s a '$ref' hides '%s' beside it; put both "
                               "into 'allOf'",
                               cdr_schema_draft_name(draft), word->name);
    return false;
}

// The schema's own id, before anything in it is read.
static void enter_resource(cdr_schema_maker *maker, cdr_schema_node *node)
{
    cdr_draft draft = maker->plan->draft;
    const char *word = draft == CDR_DRAFT_4 ? "id" : "$id";
    cdr_schema_slot slot = cdr_schema_member(node->json, word);
    const char *id = json_string_value(slot.value);
    bool is_hidden = draft != CDR_DRAFT_ANY && draft <= CDR_DRAFT_7 &&
                     json_object_get(node->json, "$ref");
    if (id && *id && *id != '#' && !is_hidden)
        cdr_schema_refs_enter(maker, node, &slot);
}

void cdr_schema_read_words(cdr_schema_maker *maker, cdr_schema_node *node)
{
    const cdr_schema_resource *outside = maker->resource;
    const char *key;
    json_t *value;
    enter_resource(maker, node);
    json_object_foreach(cdr_json_iterable(node->json), key, value)
    {
        cdr_schema_reading r = {maker, node, {value, node->json, key, 0}, 0};
        const schema_word *word = find_word(maker->plan->draft, key);
        if (!word) {
            if (strncmp(key, "x-", 2) != 0)
                report_unknown(maker, &r.slot);
        } else if (is_in_place(maker, node, word, &r.slot)) {
            r.offset = word->offset;
            cdr_schema_walk_enter(&maker->walk, &r.slot);
            word->read(&r);
            cdr_schema_walk_leave(&maker->walk);
        }
    }
    maker->resource = outside;
}
