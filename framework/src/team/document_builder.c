// From what a reader meets to values with places.
//
// 1. A value is attached to its container, and so owned by the document, before
//    anything below it is read. A failure leaves a tree that the document frees. What
//    is left out (the value of a key that is there already, say) is read like all else,
//    so that its own mistakes are told and its anchors work, but is attached to the
//    document's lost values.
// 2. The slots of the open containers stand one behind the other in one array, the
//    innermost last; when a container ends, its slots move to the arena. A key that was
//    given again has a slot for each time until then; sorting brings them together.
// 3. Anchors borrow: the values they name are attached and stay.
// 4. An alias gives containers of its own, since places and later changes belong to a
//    container, but shares the scalars and the slots with what it names.
#include "team/document_builder.h"

#include "base/brief.h"
#include "base/json_iterable.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void cdr_builder_init(cdr_builder *builder, cdr_document *document)
{
    *builder = (cdr_builder){.document = document};
}

void cdr_builder_fini(cdr_builder *builder)
{
    free(builder->slots);
    free(builder->anchors);
    json_decref(builder->anchor_numbers);
}

static cdr_frame *top(cdr_builder *builder)
{
    return builder->depth > 0 ? &builder->frames[builder->depth - 1] : NULL;
}

bool cdr_builder_wants_key(const cdr_builder *builder)
{
    if (builder->depth == 0)
        return false;
    return builder->frames[builder->depth - 1].awaited == CDR_AWAITS_KEY;
}

// The slot of an open container. NULL: it is lost, as is all around it that counts.
static cdr_slot *slot_of(cdr_builder *builder, const cdr_frame *frame)
{
    if (frame->is_lost)
        return NULL;
    return frame == builder->frames ? &builder->document->root_slot
                                    : &builder->slots[frame->own_slot];
}

// Something in the innermost container is not what the file says: all around it know.
static void spread_doubt(cdr_builder *builder)
{
    for (size_t i = builder->depth; i > 0; i--) {
        cdr_slot *slot = slot_of(builder, &builder->frames[i - 1]);
        if (!slot || slot->holds_doubts)
            return;
        slot->holds_doubts = true;
    }
}

// A member of the innermost container is lost, and nobody knows which.
static void doubt_members(cdr_builder *builder)
{
    cdr_slot *slot = slot_of(builder, top(builder));
    spread_doubt(builder);
    if (slot)
        slot->is_doubtful = true;
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
    size_t scale = builder->document->scale;
    size_t max_bytes = scale * CDR_DOCUMENT_MAX_TEXT_BYTES;
    if (builder->n_values > scale * CDR_DOCUMENT_MAX_VALUES)
        return cdr_document_refuse(builder->document, place,
                                   "more than %zu values, with aliases expanded",
                                   scale * CDR_DOCUMENT_MAX_VALUES);
    if (builder->n_text_bytes > max_bytes)
        return cdr_document_refuse(builder->document, place,
                                   "more than %zu MiB of text, with aliases expanded",
                                   max_bytes >> 20);
    return CADRE_OK;
}

static cadre_status check_depth(cdr_builder *builder, cdr_place place, size_t depth)
{
    if (depth <= CDR_DOCUMENT_MAX_DEPTH)
        return CADRE_OK;
    return cdr_document_refuse(builder->document, place, "nested deeper than %d levels",
                               CDR_DOCUMENT_MAX_DEPTH);
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

// Keeps a value that is left out.
static cadre_status lose_take(cdr_builder *builder, json_t *value)
{
    cdr_document *document = builder->document;
    if (!document->lost)
        document->lost = json_array();
    return json_array_append_new(document->lost, value) == 0 ? CADRE_OK : CADRE_ENOMEM;
}

static bool loses_next(const cdr_frame *frame)
{
    return frame && (frame->awaited == CDR_AWAITS_LOST_KEY ||
                     frame->awaited == CDR_AWAITS_LOST_VALUE);
}

// Puts a value where the next one belongs; the slot gets its key here.
static cadre_status attach_take(cdr_builder *builder, json_t *value, cdr_slot *slot)
{
    if (!value)
        return CADRE_ENOMEM;
    cdr_frame *frame = top(builder);
    slot->holds_doubts |= slot->is_doubtful;
    if (loses_next(frame)) {
        frame->awaited = frame->awaited == CDR_AWAITS_LOST_KEY ? CDR_AWAITS_LOST_VALUE
                                                               : CDR_AWAITS_KEY;
        return lose_take(builder, value);
    }
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
        return CADRE_ENOMEM;
    }
    if (slot->holds_doubts)
        spread_doubt(builder);
    int failed = frame->key
                     ? json_object_set_new_nocheck(frame->value, frame->key, value)
                     : json_array_append_new(frame->value, value);
    frame->awaited = frame->key ? CDR_AWAITS_KEY : CDR_AWAITS_VALUE;
    frame->key = NULL;
    return failed ? CADRE_ENOMEM : CADRE_OK;
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
        return CADRE_ENOMEM;
    builder->anchors = anchors;
    anchors[builder->n_anchors++] = *anchor;
    *number = builder->n_anchors;
    // A name may be given again; from there on it means the later value.
    if (json_object_set_new(builder->anchor_numbers, name,
                            json_integer((json_int_t)*number)) != 0)
        return CADRE_ENOMEM;
    return CADRE_OK;
}

cadre_status cdr_builder_begin_take(cdr_builder *builder, json_t *container,
                                    const cdr_scalar *scalar)
{
    cadre_status status = check_depth(builder, scalar->place, builder->depth + 1);
    if (status == CADRE_OK)
        status = count(builder, scalar->place, 1, 0);
    if (status != CADRE_OK) {
        json_decref(container);
        return status;
    }
    cdr_slot slot = {.place = scalar->place, .is_doubtful = scalar->is_doubtful};
    bool is_lost = loses_next(top(builder));
    status = attach_take(builder, container, &slot);
    if (status != CADRE_OK)
        return status;
    cdr_frame *frame = &builder->frames[builder->depth++];
    *frame = (cdr_frame){
        .value = container,
        .own_slot = builder->n_slots - 1,
        .first_slot = builder->n_slots,
        .awaited = json_is_object(container) ? CDR_AWAITS_KEY : CDR_AWAITS_VALUE,
        .is_lost = is_lost,
    };
    cdr_anchor named = {container, slot, true};
    return add_anchor(builder, scalar->anchor, &named, &frame->anchor_number);
}

// By key; the same one given again by its place.
static int compare_keys(const void *left, const void *right)
{
    const cdr_slot *a = left;
    const cdr_slot *b = right;
    int order = strcmp(a->key, b->key);
    if (order != 0)
        return order;
    if (a->key_place.line != b->key_place.line)
        return a->key_place.line < b->key_place.line ? -1 : 1;
    return (a->key_place.column > b->key_place.column) -
           (a->key_place.column < b->key_place.column);
}

static void tell_duplicate(cdr_document *document, const cdr_slot *first,
                           const cdr_slot *again)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_place place = first->key_place;
    cdr_brief_text(brief, again->key, '\'');
    if (place.line == again->key_place.line)
        cdr_document_tell(document, again->key_place,
                          "duplicate key %s (first at line %d, column %d)", brief,
                          place.line, place.column);
    else
        cdr_document_tell(document, again->key_place,
                          "duplicate key %s (first at line %d)", brief, place.line);
}

// Sorts the slots of an object and tells of each key that was given again; its first
// slot stays. Returns how many are left.
static size_t settle_keys(cdr_document *document, cdr_slot *slots, size_t n_slots)
{
    if (n_slots == 0)
        return 0;
    qsort(slots, n_slots, sizeof *slots, compare_keys);
    size_t n_kept = 1;
    for (size_t i = 1; i < n_slots; i++) {
        cdr_slot *first = &slots[n_kept - 1];
        if (strcmp(first->key, slots[i].key) != 0) {
            slots[n_kept++] = slots[i];
            continue;
        }
        tell_duplicate(document, first, &slots[i]);
        first->is_repeated = true;
    }
    return n_kept;
}

cadre_status cdr_builder_end(cdr_builder *builder)
{
    cdr_frame *frame = top(builder);
    assert(frame && (frame->awaited == CDR_AWAITS_KEY || json_is_array(frame->value)));
    size_t n_slots = builder->n_slots - frame->first_slot;
    size_t size = n_slots * sizeof *builder->slots;
    cdr_slot *slots = NULL;
    if (n_slots > 0) {
        slots = cdr_arena_alloc(&builder->document->arena, size);
        if (!slots)
            return CADRE_ENOMEM;
        memcpy(slots, builder->slots + frame->first_slot, size);
        if (json_is_object(frame->value))
            n_slots = settle_keys(builder->document, slots, n_slots);
    }
    cdr_container container = {frame->value, slots, n_slots};
    if (!cdr_document_add(builder->document, &container))
        return CADRE_ENOMEM;
    if (frame->anchor_number > 0) {
        cdr_anchor *anchor = &builder->anchors[frame->anchor_number - 1];
        const cdr_slot *own = slot_of(builder, frame);
        anchor->is_open = false;
        if (own)
            anchor->slot = *own;
    }
    builder->n_slots = frame->first_slot;
    builder->depth--;
    return CADRE_OK;
}

void cdr_builder_abandon(cdr_builder *builder)
{
    for (; builder->depth > 0; builder->depth--) {
        const cdr_frame *frame = top(builder);
        size_t n_slots = builder->n_slots - frame->first_slot;
        if (n_slots > 0 &&
            json_is_object(frame->value)) // none: perhaps no array either
            settle_keys(builder->document, builder->slots + frame->first_slot, n_slots);
        builder->n_slots = frame->first_slot;
    }
}

static bool holds_nul(const cdr_scalar *scalar)
{
    return memchr(scalar->text, '\0', scalar->len) != NULL;
}

static const char nul_text[] = "the text holds a NUL character, which no text may";

void cdr_builder_refuse_key(cdr_builder *builder, cdr_place place, const char *problem)
{
    cdr_document_tell(builder->document, place, "%s", problem);
    doubt_members(builder);
    top(builder)->awaited = CDR_AWAITS_LOST_KEY;
}

// Why a scalar is no key; NULL: it is one.
static const char *find_key_problem(const cdr_scalar *key)
{
    if (key->is_plain && key->len == 0)
        return "a key is missing before ':'";
    if (key->is_plain && strcmp(key->text, "<<") == 0)
        return "merge keys ('<<') are not read; write the keys out, or let an alias "
               "stand for a whole value";
    return holds_nul(key) ? nul_text : NULL;
}

// The text of a key is the value of its anchor, so that aliases of it say nothing new.
static cadre_status refuse_key_anchor(cdr_builder *builder, const cdr_scalar *key)
{
    char brief[CDR_BRIEF_SIZE];
    size_t number = 0;
    cdr_slot slot = {.place = key->place, .text = "", .is_doubtful = true};
    json_t *value = json_stringn(key->text, key->len);
    cdr_anchor named = {value, slot, false};
    cdr_document_tell(builder->document, key->place,
                      "a key cannot have an anchor ('&%s')",
                      cdr_brief_text(brief, key->anchor, '\0'));
    cadre_status status = lose_take(builder, value);
    return status == CADRE_OK ? add_anchor(builder, key->anchor, &named, &number)
                              : status;
}

cadre_status cdr_builder_key(cdr_builder *builder, const cdr_scalar *key)
{
    cdr_frame *frame = top(builder);
    cadre_status status = count(builder, key->place, 0, key->len);
    if (status == CADRE_OK && key->anchor)
        status = refuse_key_anchor(builder, key);
    if (status != CADRE_OK)
        return status;
    const char *problem = find_key_problem(key);
    if (problem) {
        cdr_builder_refuse_key(builder, key->place, problem);
        frame->awaited = CDR_AWAITS_LOST_VALUE;
        return CADRE_OK;
    }
    cdr_slot slot = {.key_place = key->place, .place = key->place};
    slot.key = cdr_arena_copy(&builder->document->arena, key->text, key->len);
    if (!slot.key)
        return CADRE_ENOMEM;
    if (json_object_get(frame->value, slot.key)) {
        frame->awaited = CDR_AWAITS_LOST_VALUE;
        return push_slot(builder, &slot) ? CADRE_OK : CADRE_ENOMEM;
    }
    frame->key = slot.key;
    frame->key_place = key->place;
    frame->awaited = CDR_AWAITS_VALUE;
    return CADRE_OK;
}

cadre_status cdr_builder_scalar_take(cdr_builder *builder, json_t *value,
                                     const cdr_scalar *scalar)
{
    cadre_status status = count(builder, scalar->place, 1, scalar->len);
    cdr_slot slot = {
        .place = scalar->place,
        .text_place = scalar->text_place,
        .is_plain = scalar->is_plain,
        .is_doubtful = scalar->is_doubtful,
    };
    // Copied first: the scalar's text may be that of `value`.
    slot.text = cdr_arena_copy(&builder->document->arena, scalar->text, scalar->len);
    if (status == CADRE_OK && !slot.text)
        status = CADRE_ENOMEM;
    if (status == CADRE_OK && holds_nul(scalar)) {
        // C texts end at a NUL, so one inside would hide what follows.
        cdr_document_tell(builder->document, scalar->place, "%s", nul_text);
        slot.is_doubtful = true;
        json_decref(value);
        value = json_string(slot.text);
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
            return CADRE_ENOMEM;
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
            return CADRE_ENOMEM;
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
            status = CADRE_ENOMEM;
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

// What an alias names, copied, and its slot.
static cadre_status copy_anchor(cdr_builder *builder, const cdr_anchor *anchor,
                                cdr_slot *slot, json_t **copy)
{
    slot->text = anchor->slot.text;
    slot->text_place = anchor->slot.text_place;
    slot->is_plain = anchor->slot.is_plain;
    slot->is_doubtful = anchor->slot.is_doubtful;
    slot->holds_doubts = anchor->slot.holds_doubts;
    return copy_value(builder, anchor->value, slot->place, builder->depth, copy);
}

// There is nothing to stand for: null does.
static cadre_status stand_in(cdr_builder *builder, cdr_slot *slot, json_t **copy)
{
    slot->text = "";
    slot->is_doubtful = true;
    *copy = json_null();
    return count(builder, slot->place, 1, 0);
}

cadre_status cdr_builder_alias(cdr_builder *builder, const char *name, cdr_place place)
{
    char brief[CDR_BRIEF_SIZE];
    json_t *position = json_object_get(builder->anchor_numbers, name);
    const cdr_anchor *anchor =
        position ? &builder->anchors[json_integer_value(position) - 1] : NULL;
    cdr_slot slot = {.place = place};
    json_t *copy = NULL;
    cadre_status status = CADRE_OK;
    cdr_brief_text(brief, name, '\0');
    if (anchor && !anchor->is_open) {
        status = copy_anchor(builder, anchor, &slot, &copy);
    } else {
        if (anchor)
            cdr_document_tell(builder->document, place,
                              "the alias '*%s' stands inside the value it names",
                              brief);
        else
            cdr_document_tell(builder->document, place,
                              "the alias '*%s' names nothing: no '&%s' stands before "
                              "it",
                              brief, brief);
        status = stand_in(builder, &slot, &copy);
    }
    return status == CADRE_OK ? attach_take(builder, copy, &slot) : status;
}
