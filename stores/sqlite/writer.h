// The writer: one thread with the one connection that writes, and the queue of those
// who wait for it.
//
// Group commit: when a transaction is done the thread takes all that is queued into the
// next one. There is no timer: who is alone never waits for company, and finds the
// thread idle, so it writes by itself.
//
// Thread: run by any, from _start to _stop.
#ifndef CDR_SQLITE_WRITER_H
#define CDR_SQLITE_WRITER_H

#include "cadre/ext/store.h"

#include "connection.h"
#include "file_lock.h"
#include "place.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct cdr_sqlite_job cdr_sqlite_job;

typedef struct cdr_sqlite_writer {
    cdr_sqlite_place place;           // never changes
    cdr_sqlite_connection connection; // the thread's, or of whom it is lent to
    cdr_sqlite_file_lock lock;        // the same
    bool has_refused;                 // the same; see batch.h
    atomic_bool may_forget;           // `has_refused`, for others to read
    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t queued;
    cdr_sqlite_job *first, **end; // guarded by mu
    bool is_idle;                 // guarded by mu: waits for `queued`
    bool is_lent;                 // guarded by mu: another thread writes with it
    bool is_stopping;             // guarded by mu
} cdr_sqlite_writer;

// Starts the thread; connection and lock are open. Errors: ESTORE.
cadre_status cdr_sqlite_writer_start(cdr_sqlite_writer *writer, cadre_error *err);

// Ends it when the queue is empty, and waits for that.
void cdr_sqlite_writer_stop(cdr_sqlite_writer *writer);

// As the ops of ext/store.h. Block until it is durable.
cadre_status cdr_sqlite_writer_commit(cdr_sqlite_writer *writer, cadre_commit *commit,
                                      cadre_error *err);
cadre_status cdr_sqlite_writer_post(cdr_sqlite_writer *writer, cadre_fact *facts,
                                    size_t n_facts, cadre_error *err);
cadre_status cdr_sqlite_writer_lease(cdr_sqlite_writer *writer,
                                     const cadre_lease *wanted, int64_t *epoch,
                                     cadre_error *err);
void cdr_sqlite_writer_forget(cdr_sqlite_writer *writer, cadre_id trace);

#endif
