// A connection to the database, and calls of its statements.
//
// A call begins, gets its parameters in order, and runs: either once (`run`), or row by
// row (`next` until CADRE_DONE, then `end`; `end` early is fine). Mistakes on the way
// are kept and come out of run or next, so parameters need no checks of their own.
// Statements are prepared when they are first needed.
//
// Thread: a connection and its calls are used by one thread at a time.
#ifndef CDR_SQLITE_CONNECTION_H
#define CDR_SQLITE_CONNECTION_H

#include "cadre/ext/id.h"

#include "statements.h"

#include <sqlite3.h>

typedef struct cdr_sqlite_connection {
    sqlite3 *db;
    const char *path; // borrowed from the store, for errors
    sqlite3_stmt *statements[CDR_SQLITE_N_STATEMENTS];
} cdr_sqlite_connection;

typedef enum cdr_sqlite_access {
    CDR_SQLITE_WRITER,
    CDR_SQLITE_READER
} cdr_sqlite_access;

// Opens a file that is there, with the settings that both kinds share. Errors: ESTORE;
// the connection is closed then.
cadre_status cdr_sqlite_connection_open(cdr_sqlite_connection *connection,
                                        const char *path, cdr_sqlite_access access,
                                        cadre_error *err);
void cdr_sqlite_connection_close(cdr_sqlite_connection *connection);

// Runs statements that give no rows and have no parameters. Errors: ESTORE.
cadre_status cdr_sqlite_connection_exec(const cdr_sqlite_connection *connection,
                                        const char *sql, cadre_error *err);

// Gives the one number a pragma or query returns. Errors: ESTORE.
cadre_status cdr_sqlite_connection_number(const cdr_sqlite_connection *connection,
                                          const char *sql, int64_t *number,
                                          cadre_error *err);

// Records what SQLite said last: "store 'sqlite': FILE: WHAT: MESSAGE (code N)".
// Returns ESTORE.
cadre_status cdr_sqlite_connection_fail(const cdr_sqlite_connection *connection,
                                        const char *what, cadre_error *err);

typedef struct cdr_sqlite_call {
    cdr_sqlite_connection *connection;
    sqlite3_stmt *stmt; // NULL: could not be prepared
    int rc;             // of the first mistake
    int parameter;      // the last one that was given
    int column;         // the last one that was taken
    int n_ids;
    char ids[8][CADRE_ID_TEXT_SIZE]; // parameters are not copied
} cdr_sqlite_call;

void cdr_sqlite_call_begin(cdr_sqlite_call *call, cdr_sqlite_connection *connection,
                           cdr_sqlite_statement statement);

// The next parameter. Texts are borrowed until the call ran or ended. NULL is "".
void cdr_sqlite_call_text(cdr_sqlite_call *call, const char *text);
void cdr_sqlite_call_number(cdr_sqlite_call *call, int64_t number);
void cdr_sqlite_call_id(cdr_sqlite_call *call, cadre_id id);

// These are NULL in the database when they are empty or none.
void cdr_sqlite_call_text_or_null(cdr_sqlite_call *call, const char *text);
void cdr_sqlite_call_null(cdr_sqlite_call *call);

// Runs a statement that gives no rows, and ends the call. `n_changed` may be NULL.
cadre_status cdr_sqlite_call_run(cdr_sqlite_call *call, int *n_changed,
                                 cadre_error *err);

// The same, of a statement that the tables may forbid. Errors: EREFUSED when a
// constraint does: nothing is recorded, the caller says what that means, and SQLite is
// asked for its text; ESTORE for all else.
cadre_status cdr_sqlite_call_try(cdr_sqlite_call *call, int *n_changed,
                                 cadre_error *err);

// Gives the next row: CADRE_OK; CADRE_DONE after the last. Errors: ESTORE.
cadre_status cdr_sqlite_call_next(cdr_sqlite_call *call, cadre_error *err);
void cdr_sqlite_call_end(cdr_sqlite_call *call);

// The next column of the row. Texts are borrowed until the next row; NULL reads as "",
// 0 and no id.
const char *cdr_sqlite_take_text(cdr_sqlite_call *call);
int64_t cdr_sqlite_take_number(cdr_sqlite_call *call);
cadre_id cdr_sqlite_take_id(cdr_sqlite_call *call);
bool cdr_sqlite_take_is_null(const cdr_sqlite_call *call); // the next one; stays there

#endif
