// References: which places have names, and which place each $ref names.
//
// A schema with an id of its own starts a resource; `places` maps its URI, and for each
// anchor in it "URI#anchor", to a node. A fragment that starts with / is a JSON pointer
// from the resource's top; what it leads to is read as a schema, if it was not yet.
#include "base/schema_plan.h"

#include "base/uri.h"

#include <stdlib.h>
#include <string.h>

static const struct draft_name {
    const char *uri; // without http: or https: and an empty fragment
    const char *name;
    cdr_draft draft;
} draft_names[] = {
    {"//json-schema.org/draft-04/schema", "4", CDR_DRAFT_4},
    {"//json-schema.org/draft-06/schema", "6", CDR_DRAFT_6},
    {"//json-schema.org/draft-07/schema", "7", CDR_DRAFT_7},
    {"//json-schema.org/draft/2019-09/schema", "2019-09", CDR_DRAFT_2019},
    {"//json-schema.org/draft/2020-12/schema", "2020-12", CDR_DRAFT_2020},
};

cdr_draft cdr_schema_draft_named(const char *uri)
{
    bool is_http = strncmp(uri, "http:", 5) == 0;
    if (!is_http && strncmp(uri, "https:", 6) != 0)
        return CDR_DRAFT_ANY;
    uri += is_http ? 5 : 6;
    size_t len = strlen(uri);
    if (len > 0 && uri[len - 1] == '#')
        len--;
    for (size_t i = 0; i < sizeof(draft_names) / sizeof(*draft_names); i++) {
        if (strlen(draft_names[i].uri) == len &&
            memcmp(draft_names[i].uri, uri, len) == 0)
            return draft_names[i].draft;
    }
    return CDR_DRAFT_ANY;
}

const char *cdr_schema_draft_name(cdr_draft draft)
{
    for (size_t i = 0; i < sizeof(draft_names) / sizeof(*draft_names); i++) {
        if (draft_names[i].draft == draft)
            return draft_names[i].name;
    }
    return "2020-12";
}

// --- Places ---

static const cdr_schema_node *place_named(const cdr_schema_maker *maker,
                                          const char *name)
{
    const json_t *index = json_object_get(maker->places, name);
    return index ? maker->targets[json_integer_value(index)] : NULL;
}

// False: no memory.
static bool name_place(cdr_schema_maker *maker, const char *name,
                       const cdr_schema_node *node)
{
    const cdr_schema_node **targets = cdr_arena_grow(
        &maker->plan->arena, maker->targets, maker->n_targets, sizeof(*targets));
    if (!targets)
        return false;
    maker->targets = targets;
    targets[maker->n_targets] = node;
    return json_object_set_new(maker->places, name,
                               json_integer((json_int_t)maker->n_targets++)) == 0;
}

static void report_taken(cdr_schema_maker *maker, const cdr_schema_slot *slot)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_walk_report(&maker->walk, slot, "%s names two places",
                           cdr_brief_json(got, slot->value));
}

void cdr_schema_refs_enter(cdr_schema_maker *maker, cdr_schema_node *node,
                           const cdr_schema_slot *id)
{
    cdr_buf uri = CDR_BUF_INIT;
    cdr_arena *arena = &maker->plan->arena;
    cdr_schema_resource *resource = cdr_arena_alloc(arena, sizeof(*resource));
    cdr_uri_resolve(maker->resource->uri, json_string_value(id->value), &uri);
    const char *kept = cdr_arena_text(arena, cdr_buf_text(&uri));
    maker->plan->no_memory |= uri.failed || !resource || !kept;
    cdr_buf_fini(&uri);
    if (maker->plan->no_memory)
        return;
    *resource = (cdr_schema_resource){kept, node->json};
    maker->resource = resource;
    node->resource = resource;
    if (!place_named(maker, kept)) {
        maker->plan->no_memory |= !name_place(maker, kept, node);
        return;
    }
    cdr_schema_walk_enter(&maker->walk, id);
    report_taken(maker, id);
    cdr_schema_walk_leave(&maker->walk);
}

void cdr_schema_refs_anchor(cdr_schema_maker *maker, cdr_schema_node *node,
                            const cdr_schema_slot *slot, const char *anchor)
{
    cdr_buf name = CDR_BUF_INIT;
    cdr_buf_printf(&name, "%s#%s", node->resource->uri, anchor);
    if (name.failed)
        maker->plan->no_memory = true;
    else if (place_named(maker, cdr_buf_text(&name)))
        report_taken(maker, slot);
    else
        maker->plan->no_memory |= !name_place(maker, cdr_buf_text(&name), node);
    cdr_buf_fini(&name);
}

// --- JSON pointers (RFC 6901) ---

// What stands under a key, or an index without leading zeros.
static const json_t *step(const json_t *json, const char *key)
{
    bool is_index = *key && key[strspn(key, "0123456789")] == '\0' &&
                    (*key != '0' || key[1] == '\0') && strlen(key) < 10;
    if (json_is_object(json))
        return json_object_get(json, key);
    return is_index ? json_array_get(json, strtoul(key, NULL, 10)) : NULL;
}

// Undoes ~0 and ~1, in place.
static void unescape(char *key)
{
    char *to = key;
    for (; *key; key++) {
        char byte = *key;
        if (byte == '~' && (key[1] == '0' || key[1] == '1'))
            byte = *++key == '0' ? '~' : '/';
        *to++ = byte;
    }
    *to = '\0';
}

// What a reference came to.
typedef struct landing {
    const cdr_schema_node *node; // NULL: nothing
    const json_t *known;         // among the names of which it looked for `key`
    const char *key;
} landing;

// Follows a pointer, which is changed on the way.
static landing follow_pointer(const cdr_schema_maker *maker, const json_t *json,
                              char *pointer)
{
    landing found = {NULL, NULL, NULL};
    for (char *at = pointer; json && at;) {
        char *next = strchr(at + 1, '/');
        if (next)
            *next = '\0';
        unescape(at + 1);
        found.known = json;
        found.key = at + 1;
        json = step(json, at + 1);
        at = next;
    }
    if (json)
        found = (landing){cdr_schema_plan_find(maker->plan, json), NULL, NULL};
    return found;
}

// `fragment` is decoded.
static landing land_in(const cdr_schema_maker *maker, const cdr_schema_node *top,
                       const char *uri, cdr_buf *fragment)
{
    const char *text = cdr_buf_text(fragment);
    landing found = {top, NULL, NULL};
    if (*text == '/')
        return follow_pointer(maker, top->json, fragment->data);
    if (*text) {
        cdr_buf name = CDR_BUF_INIT;
        cdr_buf_printf(&name, "%s#%s", uri, text);
        found.node = place_named(maker, cdr_buf_text(&name));
        cdr_buf_fini(&name);
    }
    return found;
}

static void report_nowhere(cdr_schema_maker *maker, const cdr_schema_note *note,
                           const landing *found)
{
    char got[CDR_BRIEF_SIZE];
    cdr_schema_slot slot = cdr_schema_member(note->node->json, "$ref");
    const char *nearest = NULL;
    cdr_brief_json(got, slot.value);
    if (found->key)
        nearest = cdr_schema_walk_suggest(&maker->walk, found->key, found->known);
    if (nearest)
        cdr_schema_walk_report_at(&maker->walk, note->path, &slot,
                                  "%s leads nowhere; did you mean '%s'?", got, nearest);
    else
        cdr_schema_walk_report_at(&maker->walk, note->path, &slot,
                                  "%s leads to no schema in this text, and nothing is "
                                  "loaded from elsewhere",
                                  got);
}

static void follow(cdr_schema_maker *maker, const cdr_schema_note *note)
{
    const char *text = json_string_value(json_object_get(note->node->json, "$ref"));
    const char *fragment = cdr_uri_fragment(text);
    const char *base = note->node->resource->uri;
    cdr_buf uri = CDR_BUF_INIT;
    cdr_buf decoded = CDR_BUF_INIT;
    cdr_uri_resolve(base, text, &uri);
    cdr_uri_decode(fragment, strlen(fragment), &decoded);
    // A text without an id is nameless: only # finds it.
    const cdr_schema_node *top = place_named(maker, cdr_buf_text(&uri));
    if (!top && strcmp(cdr_buf_text(&uri), maker->top->uri) == 0)
        top = cdr_schema_plan_find(maker->plan, maker->top->json);
    landing found = {NULL, NULL, NULL};
    if (top && top->json)
        found = land_in(maker, top, cdr_buf_text(&uri), &decoded);
    note->node->same_as = found.node;
    if (!found.node) {
        note->node->is_broken = true;
        maker->is_lost = true;
        report_nowhere(maker, note, &found);
    }
    maker->plan->no_memory |= uri.failed || decoded.failed;
    cdr_buf_fini(&uri);
    cdr_buf_fini(&decoded);
}

void cdr_schema_refs_follow(cdr_schema_maker *maker)
{
    for (size_t i = 0; i < maker->refs.count && !maker->plan->no_memory; i++)
        follow(maker, &maker->refs.items[i]);
}
