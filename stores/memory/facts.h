// Makes facts true that reach beyond the frames of one trace: conversations, messages,
// roots, and what is written from outside.
//
// Thread: under all locks of the batch.
#ifndef CDR_MEMORY_FACTS_H
#define CDR_MEMORY_FACTS_H

#include "shelf.h"

// Where facts are looked for.
typedef struct cdr_memory_scope {
    cdr_memory_store *store;
    cdr_memory_trace *trace; // NULL: written from outside
    bool has_all;            // the traces are all locked
    bool needs_all; // set, with ESTORE: what was looked for may be in another trace
} cdr_memory_scope;

// Errors of all: ESTORE; nothing was changed then.
cadre_status cdr_memory_apply_trace(cdr_memory_scope *scope, const cadre_commit *commit,
                                    const cadre_fact *fact, cdr_memory_undo *undo,
                                    cadre_error *err);
cadre_status cdr_memory_apply_conversation(cdr_memory_scope *scope, cadre_fact *fact,
                                           cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_apply_message(cdr_memory_scope *scope, cadre_fact *fact,
                                      cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_apply_birth(cdr_memory_scope *scope, cadre_fact *fact,
                                    cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_apply_mark(cdr_memory_scope *scope, cadre_fact *fact,
                                   cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_apply_end(cdr_memory_scope *scope, cadre_fact *fact,
                                  cdr_memory_undo *undo, cadre_error *err);

// Takes back what a fact of any type did.
void cdr_memory_undo_fact(cdr_memory_scope *scope, const cadre_fact *fact,
                          const cdr_memory_undo *undo);

// Fails with "noun 'id' what".
cadre_status cdr_memory_fail_id(cadre_error *err, cadre_id id, const char *noun,
                                const char *what);

#endif
