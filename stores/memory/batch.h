// A batch: all facts of one commit or post, made true or not at all.
//
// They are made true one after the other under all locks the batch needs; at the first
// violation what it did is undone in reverse order. So nobody sees half a batch. What
// turns out to stand in another trace is looked for by starting again with the locks of
// all traces.
//
// Thread: any.
#ifndef CDR_MEMORY_BATCH_H
#define CDR_MEMORY_BATCH_H

#include "shelf.h"

// Errors: ELOST, ESTORE; the store is as before.
cadre_status cdr_memory_batch_commit(cdr_memory_store *store, cadre_commit *commit,
                                     cadre_error *err);

// Errors: ESTORE; the store is as before.
cadre_status cdr_memory_batch_post(cdr_memory_store *store, cadre_fact *facts,
                                   size_t n_facts, cadre_error *err);

#endif
