// See id_table.h.
#include "tree/id_table.h"

#include <stdlib.h>

void cdr_id_table_fini(cdr_id_table *table)
{
    free(table->ids);
    free(table->values);
    *table = (cdr_id_table){.ids = NULL};
}

static size_t slot_of(const cdr_id_table *table, cadre_id id)
{
    size_t mask = table->capacity - 1;
    size_t at = (size_t)((id.prefix ^ (id.counter * 0x9E3779B97F4A7C15u)) >> 7) & mask;
    while (!cadre_id_is_none(table->ids[at]) && !cadre_id_equal(table->ids[at], id))
        at = (at + 1) & mask;
    return at;
}

static bool grow(cdr_id_table *table)
{
    cdr_id_table grown = {.capacity = table->capacity == 0 ? 64 : table->capacity * 2,
                          .used = table->used};
    grown.ids = calloc(grown.capacity, sizeof *grown.ids);
    grown.values = calloc(grown.capacity, sizeof *grown.values);
    if (grown.ids == NULL || grown.values == NULL) {
        cdr_id_table_fini(&grown);
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (cadre_id_is_none(table->ids[i]))
            continue;
        size_t at = slot_of(&grown, table->ids[i]);
        grown.ids[at] = table->ids[i];
        grown.values[at] = table->values[i];
    }
    free(table->ids);
    free(table->values);
    table->ids = grown.ids;
    table->values = grown.values;
    table->capacity = grown.capacity;
    return true;
}

bool cdr_id_table_put(cdr_id_table *table, cadre_id id, void *value)
{
    if (2 * (table->used + 1) > table->capacity && !grow(table))
        return false;
    size_t at = slot_of(table, id);
    table->ids[at] = id;
    table->values[at] = value;
    table->used++;
    return true;
}

void *cdr_id_table_get(const cdr_id_table *table, cadre_id id)
{
    if (table->capacity == 0 || cadre_id_is_none(id))
        return NULL;
    return table->values[slot_of(table, id)];
}
