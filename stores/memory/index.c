// See index.h.
#include "index.h"

#include <assert.h>
#include <stdlib.h>

#define SLOTS_MIN 8U
#define SLOTS_MAX (1U << 31)
#define ROWS_MIN 4U

static uint32_t home(uint32_t tag, const cdr_memory_index *index)
{
    return tag & index->mask;
}

static void put(cdr_memory_index *index, cdr_memory_slot slot)
{
    uint32_t at = home(slot.tag, index);
    while (index->slots[at].number != 0)
        at = (at + 1) & index->mask;
    index->slots[at] = slot;
}

bool cdr_memory_index_reserve(cdr_memory_index *index)
{
    uint32_t n_slots = index->slots ? index->mask + 1 : 0;
    if (index->n_used < n_slots / 4 * 3)
        return true;
    if (n_slots == SLOTS_MAX)
        return false;
    uint32_t n_grown = n_slots ? n_slots * 2 : SLOTS_MIN;
    cdr_memory_index grown = {.mask = n_grown - 1, .n_used = index->n_used};
    grown.slots = calloc(n_grown, sizeof(*grown.slots));
    if (!grown.slots)
        return false;
    for (uint32_t i = 0; i < n_slots; i++) {
        if (index->slots[i].number != 0)
            put(&grown, index->slots[i]);
    }
    free(index->slots);
    *index = grown;
    return true;
}

void cdr_memory_index_add(cdr_memory_index *index, uint32_t tag, uint32_t number)
{
    assert(index->slots && index->n_used < (index->mask + 1) / 4 * 3);
    put(index, (cdr_memory_slot){.tag = tag, .number = number + 1});
    index->n_used++;
}

// Closes the gap at `gap`: moves up what stands behind it and may stand there, so that
// no search meets a free slot before what it looks for.
static void close_gap(cdr_memory_index *index, uint32_t gap)
{
    uint32_t at = gap;
    for (;;) {
        at = (at + 1) & index->mask;
        cdr_memory_slot slot = index->slots[at];
        if (slot.number == 0)
            break;
        uint32_t from_home = (at - home(slot.tag, index)) & index->mask;
        if (from_home >= ((at - gap) & index->mask)) {
            index->slots[gap] = slot;
            gap = at;
        }
    }
    index->slots[gap].number = 0;
}

void cdr_memory_index_remove(cdr_memory_index *index, uint32_t tag, uint32_t number)
{
    uint32_t at = home(tag, index);
    while (index->slots[at].number != number + 1) {
        assert(index->slots[at].number != 0);
        at = (at + 1) & index->mask;
    }
    close_gap(index, at);
    index->n_used--;
}

void cdr_memory_index_fini(cdr_memory_index *index)
{
    free(index->slots);
    *index = (cdr_memory_index){.slots = NULL};
}

static uint32_t mix(uint64_t x)
{
    x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15ULL;
    return (uint32_t)(x >> 32);
}

static uint64_t join(uint64_t prefix, uint64_t counter)
{
    return prefix * 0xff51afd7ed558ccdULL + counter;
}

uint32_t cdr_memory_tag_of_id(cadre_id id)
{
    return mix(join(id.prefix, id.counter >> 3)) << 3 | (uint32_t)(id.counter & 7);
}

// FNV-1a over the owner and all of the key but its last character. The random prefix of
// the owner's id keeps the hash from being foreseen.
uint32_t cdr_memory_tag_of_key(cadre_id owner, const char *key)
{
    uint64_t hash = join(owner.prefix, owner.counter) ^ 0xcbf29ce484222325ULL;
    unsigned char last = 0;
    for (; *key; key++) {
        hash = (hash ^ last) * 0x100000001b3ULL;
        last = (unsigned char)*key;
    }
    return mix(hash) << 3 | (last & 7U);
}

bool cdr_memory_table_reserve(cdr_memory_table *table)
{
    if (!cdr_memory_index_reserve(&table->index))
        return false;
    if (table->n_rows < table->capacity)
        return true;
    uint32_t capacity = table->capacity ? table->capacity * 2 : ROWS_MIN;
    void **rows = realloc(table->rows, capacity * sizeof(*rows));
    if (!rows)
        return false;
    table->rows = rows;
    table->capacity = capacity;
    return true;
}

void cdr_memory_table_add(cdr_memory_table *table, uint32_t tag, void *row)
{
    assert(table->n_rows < table->capacity);
    cdr_memory_index_add(&table->index, tag, table->n_rows);
    table->rows[table->n_rows++] = row;
}

void cdr_memory_table_remove_last(cdr_memory_table *table, uint32_t tag)
{
    assert(table->n_rows > 0);
    table->n_rows--;
    cdr_memory_index_remove(&table->index, tag, table->n_rows);
}

void cdr_memory_table_remove(cdr_memory_table *table, uint32_t tag, uint32_t number,
                             uint32_t last_tag)
{
    cdr_memory_index_remove(&table->index, tag, number);
    table->n_rows--;
    if (number == table->n_rows)
        return;
    cdr_memory_index_remove(&table->index, last_tag, table->n_rows);
    cdr_memory_index_add(&table->index, last_tag, number);
    table->rows[number] = table->rows[table->n_rows];
}

void cdr_memory_table_fini(cdr_memory_table *table)
{
    cdr_memory_index_fini(&table->index);
    free(table->rows);
    table->rows = NULL;
    table->n_rows = table->capacity = 0;
}
