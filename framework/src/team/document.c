// The table that finds a container's places by its address; and the problems.
#include "team/document.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 64

static void add_problem(cdr_document *document, cdr_place place, const char *format,
                        va_list args) CADRE_PRINTF(3, 0);

static void add_problem(cdr_document *document, cdr_place place, const char *format,
                        va_list args)
{
    const char *text = cdr_arena_vprintf(&document->arena, format, args);
    cdr_document_problem *problems = cdr_arena_grow(
        &document->arena, document->problems, document->n_problems, sizeof *problems);
    if (!text || !problems) {
        document->no_memory = true;
        return;
    }
    document->problems = problems;
    problems[document->n_problems++] = (cdr_document_problem){place, text};
}

void cdr_document_tell(cdr_document *document, cdr_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(document, place, format, args);
    va_end(args);
}

cadre_status cdr_document_refuse(cdr_document *document, cdr_place place,
                                 const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_problem(document, place, format, args);
    va_end(args);
    return CADRE_ECONFIG;
}

static int compare_problems(const void *left, const void *right)
{
    const cdr_document_problem *a = left;
    const cdr_document_problem *b = right;
    if (a->place.line != b->place.line)
        return a->place.line < b->place.line ? -1 : 1;
    if (a->place.column != b->place.column)
        return a->place.column < b->place.column ? -1 : 1;
    return strcmp(a->text, b->text);
}

void cdr_document_sort_problems(cdr_document *document)
{
    if (document->n_problems > 1)
        qsort(document->problems, document->n_problems, sizeof *document->problems,
              compare_problems);
}

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
