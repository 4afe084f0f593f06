// From what a reader meets to values with places.
//
// 1. A value is attached to its container, and so owned by the document, before
//    anything below it is read. A failure leaves a tree that the document frees.
// 2. The slots of the open containers stand one behind the other in one array, the
//    innermost last; when a container ends, its slots move to the arena.
// 3. Anchors borrow: the values they name are attached and stay.
// 4. An alias gives containers of its own, since places and later changes belong to a
//    container, but shares the scalars and the slots with what it names.
#include "team/document_builder.h"

#include "base/brief.h"
#include "base/json_iterable.h"
#include "team/source_text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cdr_builder_init(cdr_builder *builder, cdr_document *document, cadre_error *err)
{
    *builder = (cdr_builder){.document = document, .err = err};
}

void cdr_builder_fini(cdr_builder *builder)
{
    free(builder->slots);
    free(builder->anchors);
    json_decref(builder->anchor_numbers);
}

static cadre_status fail_memory(cdr_builder *builder)
{
    return cadre_fail(builder->err, CADRE_ENOMEM, "%s: no memory to read the file",
                      builder->document->name);
}

static cdr_frame *top(cdr_builder *builder)
{
    return builder->depth > 0 ? &builder->frames[builder->depth - 1] : NULL;
}

bool cdr_builder_wants_key(const cdr_builder *builder)
{
    if (builder->depth == 0)
        return false;
    const cdr_frame *frame = &builder->frames[builder->depth - 1];
    return json_is_object(frame->value) && !frame->key;
}

// Makes room for one item more. Returns the items, moved perhaps; NULL: no memory.
static void *reserve_one(void *items, size_t n_items, size_t *capacity,
                         size_t item_size)
{
    if (n_items < *capacity)
        return items;
    size_t larger = *capacity ? *capacity * 2 : 32;
    void *moved = realloc(items, larger * item_size);
    if (moved)
        *capacity = larger;
    return moved;
}

static cadre_status count(cdr_builder *builder, cdr_place place, size_t n_values,
                          size_t n_bytes)
{
    builder->n_values += n_values;
    builder->n_text_bytes += n_bytes;
    if (builder->n_values > CDR_DOCUMENT_MAX_VALUES)
        return cdr_source_fail(builder->err, builder->document->name, place,
                               "more than %d values, with aliases expanded",
                               CDR_DOCUMENT_MAX_VALUES);
    if (builder->n_text_bytes > CDR_DOCUMENT_MAX_TEXT_BYTES)
        return cdr_source_fail(builder->err, builder->document->name, place,
                               "more than 16 MiB of text, with aliases expanded");
    return CADRE_OK;
}

static cadre_status check_depth(cdr_builder *builder, cdr_place place, size_t depth)
{
    if (depth <= CDR_DOCUMENT_MAX_DEPTH)
        return CADRE_OK;
    return cdr_source_fail(builder->err, builder->document->name, place,
                           "nested deeper than %d levels", CDR_DOCUMENT_MAX_DEPTH);
}

static bool push_slot(cdr_builder *builder, const cdr_slot *slot)
{
    cdr_slot *slots = reserve_one(builder->slots, builder->n_slots,
                                  &builder->slots_capacity, sizeof *slots);
    if (!slots)
        return false;
    builder->slots = slots;
    slots[builder->n_slots++] = *slot;
    return true;
}

// Puts a value where the next one belongs; the slot gets its key here.
static cadre_status attach_take(cdr_builder *builder, json_t *value, cdr_slot *slot)
{
    if (!value)
        return fail_memory(builder);
    cdr_frame *frame = top(builder);
    if (!frame) {
        assert(!builder->document->root);
        builder->document->root = value;
        slot->key_place = slot->place;
        builder->document->root_slot = *slot;
        return CADRE_OK;
    }
    slot->key = frame->key;
    slot->key_place = frame->key ? frame->key_place : slot->place;
    if (!push_slot(builder, slot)) {
        json_decref(value);
        return fail_memory(builder);
    }
    int failed = frame->key
                     ? json_object_set_new_nocheck(frame->value, frame->key, value)
                     : json_array_append_new(frame->value, value);
    frame->key = NULL;
    return failed ? fail_memory(builder) : CADRE_OK;
}

// Names a value. Gives its number, or 0 when there is no name.
static cadre_status add_anchor(cdr_builder *builder, const char *name,
                               const cdr_anchor *anchor, size_t *number)
{
    *number = 0;
    if (!name)
        return CADRE_OK;
    if (!builder->anchor_numbers)
        builder->anchor_numbers = json_object();
    cdr_anchor *anchors = reserve_one(builder->anchors, builder->n_anchors,
                                      &builder->anchors_capacity, sizeof *anchors);
    if (!anchors)
        return fail_memory(builder);
    builder->anchors = anchors;
    anchors[builder->n_anchors++] = *anchor;
    *number = builder->n_anchors;
    // A name may be given again; from there on it means the later value.
    if (json_object_set_new(builder->anchor_numbers, name,
                            json_integer((json_int_t)*number)) != 0)
        return fail_memory(builder);
    return CADRE_OK;
}

cadre_status cdr_builder_begin_take(cdr_builder *builder, json_t *container,
                                    cdr_place place, const char *anchor)
{
    cadre_status status = check_depth(builder, place, builder->depth + 1);
    if (status == CADRE_OK)
        status = count(builder, place, 1, 0);
    if (status != CADRE_OK) {
        json_decref(container);
        return status;
    }
    cdr_slot slot = {.place = place};
    status = attach_take(builder, container, &slot);
    if (status != CADRE_OK)
        return status;
    cdr_frame *frame = &builder->frames[builder->depth++];
    *frame = (cdr_frame){.value = container, .first_slot = builder->n_slots};
    cdr_anchor named = {container, slot, true};
    return add_anchor(builder, anchor, &named, &frame->anchor_number);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const cdr_slot *)a)->key, ((const cdr_slot *)b)->key);
}

cadre_status cdr_builder_end(cdr_builder *builder)
{
    cdr_frame *frame = top(builder);
    assert(frame && !frame->key);
    size_t n_slots = builder->n_slots - frame->first_slot;
    size_t size = n_slots * sizeof *builder->slots;
    cdr_slot *slots = NULL;
    if (n_slots > 0) {
        slots = cdr_arena_alloc(&builder->document->arena, size);
        if (!slots)
            return fail_memory(builder);
        memcpy(slots, builder->slots + frame->first_slot, size);
        if (json_is_object(frame->value))
            qsort(slots, n_slots, sizeof *slots, compare_keys);
    }
    cdr_container container = {frame->value, slots, n_slots};
    if (!cdr_document_add(builder->document, &container))
        return fail_memory(builder);
    if (frame->anchor_number > 0)
        builder->anchors[frame->anchor_number - 1].is_open = false;
    builder->n_slots = frame->first_slot;
    builder->depth--;
    return CADRE_OK;
}

static cadre_status fail_duplicate(cdr_builder *builder, const cdr_scalar *key)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_brief_text(brief, key->text, '\'');
    cdr_place first = {0, 0};
    for (size_t i = top(builder)->first_slot; i < builder->n_slots; i++) {
        if (strcmp(builder->slots[i].key, key->text) == 0)
            first = builder->slots[i].key_place;
    }
    const char *name = builder->document->name;
    if (first.line == key->place.line)
        return cdr_source_fail(builder->err, name, key->place,
                               "duplicate key %s (first at line %d, column %d)", brief,
                               first.line, first.column);
    return cdr_source_fail(builder->err, name, key->place,
                           "duplicate key %s (first at line %d)", brief, first.line);
}

// C texts end at a NUL, so one inside would hide what follows.
static cadre_status check_nul(cdr_builder *builder, const cdr_scalar *scalar)
{
    if (!memchr(scalar->text, '\0', scalar->len))
        return CADRE_OK;
    return cdr_source_fail(builder->err, builder->document->name, scalar->place,
                           "the text holds a NUL character, which no text may");
}

static cadre_status check_key(cdr_builder *builder, const cdr_scalar *key)
{
    const char *name = builder->document->name;
    if (key->anchor)
        return cdr_source_fail(builder->err, name, key->place,
                               "a key cannot have an anchor ('&%s')", key->anchor);
    if (key->is_plain && key->len == 0)
        return cdr_source_fail(builder->err, name, key->place,
                               "a key is missing before ':'");
    if (key->is_plain && strcmp(key->text, "<<") == 0)
        return cdr_source_fail(builder->err, name, key->place,
                               "merge keys ('<<') are not read; write the keys out, or "
                               "let an alias stand for a whole value");
    return check_nul(builder, key);
}

cadre_status cdr_builder_key(cdr_builder *builder, const cdr_scalar *key)
{
    cadre_status status = check_key(builder, key);
    if (status == CADRE_OK)
        status = count(builder, key->place, 0, key->len);
    if (status != CADRE_OK)
        return status;
    cdr_frame *frame = top(builder);
    if (json_object_get(frame->value, key->text))
        return fail_duplicate(builder, key);
    frame->key = cdr_arena_copy(&builder->document->arena, key->text, key->len);
    frame->key_place = key->place;
    return frame->key ? CADRE_OK : fail_memory(builder);
}

cadre_status cdr_builder_scalar_take(cdr_builder *builder, json_t *value,
                                     const cdr_scalar *scalar)
{
    cadre_status status = check_nul(builder, scalar);
    if (status == CADRE_OK)
        status = count(builder, scalar->place, 1, scalar->len);
    cdr_slot slot = {.place = scalar->place, .is_plain = scalar->is_plain};
    if (status == CADRE_OK) {
        slot.text =
            cdr_arena_copy(&builder->document->arena, scalar->text, scalar->len);
        if (!slot.text)
            status = fail_memory(builder);
    }
    if (status != CADRE_OK) {
        json_decref(value);
        return status;
    }
    status = attach_take(builder, value, &slot);
    if (status != CADRE_OK)
        return status;
    cdr_anchor named = {value, slot, false};
    size_t number = 0;
    return add_anchor(builder, scalar->anchor, &named, &number);
}

static cadre_status copy_value(cdr_builder *builder, json_t *source, cdr_place place,
                               size_t depth, json_t **out);

static cadre_status copy_members(cdr_builder *builder, json_t *source, cdr_place place,
                                 size_t depth, json_t *copy)
{
    const char *key;
    json_t *member;
    json_object_foreach(source, key, member)
    {
        json_t *copied = NULL;
        cadre_status status = count(builder, place, 0, strlen(key));
        if (status == CADRE_OK)
            status = copy_value(builder, member, place, depth, &copied);
        if (status != CADRE_OK)
            return status;
        if (json_object_set_new_nocheck(copy, key, copied) != 0)
            return fail_memory(builder);
    }
    return CADRE_OK;
}

static cadre_status copy_elements(cdr_builder *builder, json_t *source, cdr_place place,
                                  size_t depth, json_t *copy)
{
    size_t i;
    json_t *element;
    json_array_foreach(source, i, element)
    {
        json_t *copied = NULL;
        cadre_status status = copy_value(builder, element, place, depth, &copied);
        if (status != CADRE_OK)
            return status;
        if (json_array_append_new(copy, copied) != 0)
            return fail_memory(builder);
    }
    return CADRE_OK;
}

// Copies a container that has ended, with its place in the table; `depth` is that of
// the copy.
static cadre_status copy_container(cdr_builder *builder, json_t *source,
                                   cdr_place place, size_t depth, json_t **out)
{
    cadre_status status = check_depth(builder, place, depth);
    if (status != CADRE_OK)
        return status;
    json_t *copy = json_is_object(source) ? json_object() : json_array();
    status = json_is_object(source)
                 ? copy_members(builder, source, place, depth, copy)
                 : copy_elements(builder, source, place, depth, copy);
    if (status == CADRE_OK) {
        cdr_container container = *cdr_document_find(builder->document, source);
        container.value = copy;
        if (!copy || !cdr_document_add(builder->document, &container))
            status = fail_memory(builder);
    }
    if (status != CADRE_OK) {
        json_decref(copy);
        return status;
    }
    *out = copy;
    return CADRE_OK;
}

static cadre_status copy_value(cdr_builder *builder, json_t *source, cdr_place place,
                               size_t depth, json_t **out)
{
    cadre_status status = count(builder, place, 1, json_string_length(source));
    if (status != CADRE_OK)
        return status;
    if (json_is_object(source) || json_is_array(source))
        return copy_container(builder, source, place, depth + 1, out);
    *out = json_incref(source);
    return CADRE_OK;
}

cadre_status cdr_builder_alias(cdr_builder *builder, const char *name, cdr_place place)
{
    const char *file = builder->document->name;
    json_int_t number =
        json_integer_value(json_object_get(builder->anchor_numbers, name));
    if (number == 0)
        return cdr_source_fail(
            builder->err, file, place,
            "the alias '*%s' names nothing: no '&%s' stands before it", name, name);
    const cdr_anchor *anchor = &builder->anchors[number - 1];
    if (anchor->is_open)
        return cdr_source_fail(builder->err, file, place,
                               "the alias '*%s' stands inside the value it names",
                               name);
    json_t *copy = NULL;
    cadre_status status =
        copy_value(builder, anchor->value, place, builder->depth, &copy);
    if (status != CADRE_OK)
        return status;
    cdr_slot slot = {
        .place = place,
        .text = anchor->slot.text,
        .is_plain = anchor->slot.is_plain,
    };
    return attach_take(builder, copy, &slot);
}
