// An index: finds numbers of rows by a 32-bit tag. Open addressing, linear probing.
//
// A slot holds tag and number, so neither looking nor growing touches a row, and a row
// costs about 14 bytes. A tag is a hash with 3 low bits that count up where ids and
// keys do: rows that are made one after the other stand in one cache line, which keeps
// a birth flat from a thousand frames to a million.
//
// Thread: one at a time.
#ifndef CDR_MEMORY_INDEX_H
#define CDR_MEMORY_INDEX_H

#include "cadre/ext/id.h"

#define CDR_MEMORY_NONE UINT32_MAX

typedef struct cdr_memory_slot {
    uint32_t tag;
    uint32_t number; // of a row, plus 1; 0: free
} cdr_memory_slot;

typedef struct cdr_memory_index {
    cdr_memory_slot *slots; // NULL while empty; at least a quarter is free
    uint32_t mask;
    uint32_t n_used;
} cdr_memory_index;

// Makes room for one number more. False: no memory.
bool cdr_memory_index_reserve(cdr_memory_index *index);
void cdr_memory_index_add(cdr_memory_index *index, uint32_t tag, uint32_t number);
void cdr_memory_index_remove(cdr_memory_index *index, uint32_t tag, uint32_t number);
void cdr_memory_index_fini(cdr_memory_index *index);

// Returns the next number under the tag, CDR_MEMORY_NONE after the last. `at` is the
// tag before the first call. Other rows may have the same tag: compare the row itself.
static inline uint32_t cdr_memory_index_next(const cdr_memory_index *index,
                                             uint32_t tag, uint32_t *at)
{
    if (!index->slots)
        return CDR_MEMORY_NONE;
    for (;;) {
        const cdr_memory_slot *slot = &index->slots[(*at)++ & index->mask];
        if (slot->number == 0)
            return CDR_MEMORY_NONE;
        if (slot->tag == tag)
            return slot->number - 1;
    }
}

uint32_t cdr_memory_tag_of_id(cadre_id id);
uint32_t cdr_memory_tag_of_key(cadre_id owner, const char *key);

// A table: rows in the order they were added, with an index. It owns no row.
typedef struct cdr_memory_table {
    cdr_memory_index index;
    void **rows;
    uint32_t n_rows, capacity;
} cdr_memory_table;

bool cdr_memory_table_reserve(cdr_memory_table *table); // for one row; false: no memory
void cdr_memory_table_add(cdr_memory_table *table, uint32_t tag, void *row);
void cdr_memory_table_remove_last(cdr_memory_table *table, uint32_t tag);

// Removes a row from anywhere; the last row, whose tag is told, takes its number.
void cdr_memory_table_remove(cdr_memory_table *table, uint32_t tag, uint32_t number,
                             uint32_t last_tag);
void cdr_memory_table_fini(cdr_memory_table *table);

#endif
