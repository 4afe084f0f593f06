// The table that finds a container's places by its address.
#include "team/document.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

// The entry of `value`, or the free entry where it belongs. The table is never full.
static cdr_container *find_entry(cdr_container *table, size_t capacity,
                                 const json_t *value)
{
    uint64_t hash = (uint64_t)(uintptr_t)value * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 32) & (capacity - 1);
    while (table[at].value && table[at].value != value)
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static bool grow(cdr_document *document)
{
    size_t capacity = document->capacity ? document->capacity * 2 : FIRST_CAPACITY;
    cdr_container *table = calloc(capacity, sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < document->capacity; i++) {
        const cdr_container *old = &document->containers[i];
        if (old->value)
            *find_entry(table, capacity, old->value) = *old;
    }
    free(document->containers);
    document->containers = table;
    document->capacity = capacity;
    return true;
}

bool cdr_document_add(cdr_document *document, const cdr_container *container)
{
    // At most half full, so that runs stay short.
    if (document->n_containers * 2 >= document->capacity && !grow(document))
        return false;
    *find_entry(document->containers, document->capacity, container->value) =
        *container;
    document->n_containers++;
    return true;
}

const cdr_container *cdr_document_find(const cdr_document *document,
                                       const json_t *value)
{
    if (!value || document->capacity == 0)
        return NULL;
    const cdr_container *entry =
        find_entry(document->containers, document->capacity, value);
    return entry->value ? entry : NULL;
}

static int compare_to_slot(const void *key, const void *slot)
{
    return strcmp(key, ((const cdr_slot *)slot)->key);
}

const cdr_slot *cdr_container_find(const cdr_container *container, const char *key)
{
    if (!json_is_object(container->value) || container->n_slots == 0)
        return NULL;
    return bsearch(key, container->slots, container->n_slots, sizeof *container->slots,
                   compare_to_slot);
}
