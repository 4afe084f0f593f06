// What callers ask the writer for: a holder's batch, a post from outside, a lease, to
// forget a trace. Each is whole: on failure its caller rolls it back.
//
// Thread: the writer's.
#ifndef CDR_SQLITE_BATCH_H
#define CDR_SQLITE_BATCH_H

#include "cadre/ext/store.h"

#include "connection.h"

// Errors: ELOST, ESTORE. `has_refused`: something of the trace is remembered.
cadre_status cdr_sqlite_batch_commit(cdr_sqlite_connection *writer,
                                     cadre_commit *commit, bool *has_refused,
                                     cadre_error *err);

// Errors: ESTORE.
cadre_status cdr_sqlite_batch_post(cdr_sqlite_connection *writer, cadre_fact *facts,
                                   size_t n_facts, cadre_error *err);

// Errors: EBUSY, ENOTFOUND, EINVAL, ESTORE.
cadre_status cdr_sqlite_batch_lease(cdr_sqlite_connection *writer,
                                    const cadre_lease *wanted, int64_t *epoch,
                                    cadre_error *err);

// Forgets what was refused in a trace.
cadre_status cdr_sqlite_batch_forget(cdr_sqlite_connection *writer, cadre_id trace,
                                     cadre_error *err);

// Makes the tables of what was refused.
cadre_status cdr_sqlite_batch_prepare(cdr_sqlite_connection *writer, cadre_error *err);

#endif
