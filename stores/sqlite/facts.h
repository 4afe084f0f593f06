// Makes one fact true, on the writer's connection in its transaction.
//
// A fact that is refused, or ignored, changes no row; only then is it asked why. What
// was refused is remembered in temporary tables until the trace is released, as what
// depends on it is refused too, in later batches as well. They are part of the
// transaction: rolled back with it.
//
// Thread: the writer's.
#ifndef CDR_SQLITE_FACTS_H
#define CDR_SQLITE_FACTS_H

#include "cadre/ext/store.h"

#include "connection.h"

typedef struct cdr_sqlite_batch {
    cdr_sqlite_connection *connection;
    cadre_id trace; // none: written from outside
    int64_t now_ms;
    bool has_refused; // anything
} cdr_sqlite_batch;

// Errors of all: ESTORE; the batch must be rolled back then.
cadre_status cdr_sqlite_add_conversation(cdr_sqlite_batch *b, cadre_fact *fact,
                                         cadre_error *err);
cadre_status cdr_sqlite_add_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err);
cadre_status cdr_sqlite_run_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err);
cadre_status cdr_sqlite_mark_frames(cdr_sqlite_batch *b, cadre_fact *fact,
                                    cadre_error *err);
cadre_status cdr_sqlite_end_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err);
cadre_status cdr_sqlite_add_message(cdr_sqlite_batch *b, cadre_fact *fact,
                                    cadre_error *err);

// Tells whether a frame or conversation of that id was refused in this trace.
cadre_status cdr_sqlite_is_refused(cdr_sqlite_batch *b, cadre_id id, bool *is_refused,
                                   cadre_error *err);

// Marks a fact as refused and remembers the id that was not born.
cadre_status cdr_sqlite_refuse_birth(cdr_sqlite_batch *b, cadre_fact *fact, cadre_id id,
                                     cadre_error *err);

// Fails with "noun 'id' what".
cadre_status cdr_sqlite_fail_id(cadre_error *err, cadre_id id, const char *noun,
                                const char *what);

#endif
