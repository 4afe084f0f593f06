// Shelves: where traces and sessions stand, each shelf with a lock of its own.
//
// Locks, in this order: trace shelves, then session shelves, each lowest first. A trace
// and the conversations born in it without a name are guarded by the trace's shelf; a
// conversation with a name by the session shelf of its id; the name itself by the
// session shelf of the name. Shelves are many, so that runs do not meet.
//
// Ids do not tell in which trace a frame or conversation stands. What is written from
// outside a trace looks through all of them: that is rare, and short.
//
// Thread: _locked needs the lock of the shelf.
#ifndef CDR_MEMORY_SHELF_H
#define CDR_MEMORY_SHELF_H

#include "conversation.h"
#include "frame.h"

#include <pthread.h>

// A batch that takes all of one kind stays below the 64 locks that TSan can follow.
#define CDR_MEMORY_SHELVES 32U

typedef struct cdr_memory_trace_shelf {
    pthread_mutex_t mu;
    cdr_memory_table traces; // guarded by mu, with all they hold; by id
} cdr_memory_trace_shelf;

typedef struct cdr_memory_session_shelf {
    pthread_mutex_t mu;
    cdr_memory_table conversations; // guarded by mu, with their messages; by id
    cdr_memory_table names;         // guarded by mu; conversations by name
} cdr_memory_session_shelf;

typedef struct cdr_memory_store {
    cdr_memory_trace_shelf traces[CDR_MEMORY_SHELVES];
    cdr_memory_session_shelf sessions[CDR_MEMORY_SHELVES];
    _Atomic uint64_t n_traces; // born so far
    pthread_mutex_t readers_mu;
    unsigned n_readers;       // guarded by readers_mu: pictures that are being given
    cdr_memory_trace *graves; // guarded by readers_mu: released, but may be looked at
} cdr_memory_store;

void cdr_memory_store_init(cdr_memory_store *store);
void cdr_memory_store_fini(cdr_memory_store *store);

cdr_memory_trace_shelf *cdr_memory_shelf_of_trace(cdr_memory_store *store, cadre_id id);

// The number of a trace shelf, and of a session shelf.
unsigned cdr_memory_shelf_number(cadre_id trace);
unsigned cdr_memory_shelf_of_id(cadre_id conversation);
unsigned cdr_memory_shelf_of_name(const char *session);

uint32_t cdr_memory_tag_of_name(const char *session);

// NULL: not there. `number` is that of its row.
cdr_memory_trace *cdr_memory_find_trace_locked(const cdr_memory_trace_shelf *shelf,
                                               cadre_id id, uint32_t *number);
cdr_memory_conversation *
cdr_memory_find_conversation_locked(const cdr_memory_table *table, cadre_id id);
cdr_memory_conversation *
cdr_memory_find_name_locked(const cdr_memory_session_shelf *shelf, const char *session);

void cdr_memory_trace_free(cdr_memory_trace *trace); // with its conversations

// What a picture borrows from stays until it was given: a trace that is released
// meanwhile is freed by the last reader.
void cdr_memory_reader_enter(cdr_memory_store *store);
void cdr_memory_reader_leave(cdr_memory_store *store);
void cdr_memory_bury(cdr_memory_store *store, cdr_memory_trace *trace);

#endif
