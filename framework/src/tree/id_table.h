// Ids to what they stand for: open addressing, for readers of rows.
// Thread: one at a time.
#ifndef CDR_ID_TABLE_H
#define CDR_ID_TABLE_H

#include "cadre/ext/id.h"

#include <stddef.h>

typedef struct cdr_id_table {
    cadre_id *ids;
    void **values;
    size_t capacity, used;
} cdr_id_table;

void cdr_id_table_fini(cdr_id_table *table);

// False: no memory. An id is put once.
bool cdr_id_table_put(cdr_id_table *table, cadre_id id, void *value);
void *cdr_id_table_get(const cdr_id_table *table, cadre_id id); // NULL: not there

#endif
