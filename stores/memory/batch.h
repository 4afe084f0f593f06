// A batch: all facts of one commit, made true or not at all.
//
// They are made true one after the other under all locks the batch needs; at the first
// violation what it did is undone in reverse order. So nobody sees half a batch.
//
// Thread: any.
#ifndef CDR_MEMORY_BATCH_H
#define CDR_MEMORY_BATCH_H

#include "shelf.h"

// Errors: ESTORE; the store is as before.
cadre_status cdr_memory_batch_commit(cdr_memory_store *store, cadre_commit *commit,
                                     cadre_error *err);

#endif
