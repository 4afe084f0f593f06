// Reading: connections of their own, so that readers wait neither for the writer nor
// for each other. A read sees the database as it was at one moment, and all that was
// committed before.
//
// Thread: read by any.
#ifndef CDR_SQLITE_READERS_H
#define CDR_SQLITE_READERS_H

#include "cadre/ext/store.h"

#include "connection.h"
#include "place.h"

#include <pthread.h>

#define CDR_SQLITE_IDLE_READERS 4U

typedef struct cdr_sqlite_readers {
    cdr_sqlite_place place; // never changes
    pthread_mutex_t mu;
    cdr_sqlite_connection *idle[CDR_SQLITE_IDLE_READERS]; // guarded by mu; owned
    size_t n_idle;                                        // guarded by mu
} cdr_sqlite_readers;

void cdr_sqlite_readers_init(cdr_sqlite_readers *readers,
                             const cdr_sqlite_place *place);
void cdr_sqlite_readers_fini(cdr_sqlite_readers *readers);

// As the op of ext/store.h.
cadre_status cdr_sqlite_readers_read(cdr_sqlite_readers *readers,
                                     const cadre_query *query,
                                     const cadre_store_reader *reader,
                                     cadre_error *err);

#endif
