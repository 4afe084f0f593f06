// See connection.h.
#include "connection.h"

#include <assert.h>
#include <string.h>

#define BUSY_TIMEOUT_MS 5000

cadre_status cdr_sqlite_connection_fail(const cdr_sqlite_connection *connection,
                                        const char *what, cadre_error *err)
{
    if (!connection->db)
        return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: %s: no memory",
                          connection->path, what);
    return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': %.200s: %s: %.120s (code %d)",
                      connection->path, what, sqlite3_errmsg(connection->db),
                      sqlite3_extended_errcode(connection->db));
}

// What holds for readers too: a file from elsewhere must not make this process do
// anything but read rows.
static int configure(sqlite3 *db, cdr_sqlite_access access)
{
    int rc = sqlite3_extended_result_codes(db, 1);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
    // Only the writer checkpoints, under the lock between processes; it asks for it
    // when it closes.
    if (rc == SQLITE_OK)
        rc = sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (rc == SQLITE_OK && access == CDR_SQLITE_READER)
        rc = sqlite3_wal_autocheckpoint(db, 0);
    return rc;
}

cadre_status cdr_sqlite_connection_open(cdr_sqlite_connection *connection,
                                        const char *path, cdr_sqlite_access access,
                                        cadre_error *err)
{
    *connection = (cdr_sqlite_connection){.path = path};
    int rc = sqlite3_open_v2(path, &connection->db,
                             SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = configure(connection->db, access);
    cadre_status status = CADRE_OK;
    if (rc != SQLITE_OK)
        status = cdr_sqlite_connection_fail(connection, "cannot open it", err);
    if (status == CADRE_OK)
        status = cdr_sqlite_connection_exec(
            connection,
            access == CDR_SQLITE_READER
                ? "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;"
                  "PRAGMA query_only = ON; PRAGMA cache_size = -512;"
                : "PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON;"
                  "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;"
                  "PRAGMA journal_size_limit = 16777216;",
            err);
    if (status != CADRE_OK)
        cdr_sqlite_connection_close(connection);
    return status;
}

void cdr_sqlite_connection_close(cdr_sqlite_connection *connection)
{
    for (int i = 0; i < CDR_SQLITE_N_STATEMENTS; i++) {
        sqlite3_finalize(connection->statements[i]);
        connection->statements[i] = NULL;
    }
    // A NOMUTEX connection closes at once: no statement of it is left.
    sqlite3_close(connection->db);
    connection->db = NULL;
}

cadre_status cdr_sqlite_connection_exec(const cdr_sqlite_connection *connection,
                                        const char *sql, cadre_error *err)
{
    if (sqlite3_exec(connection->db, sql, NULL, NULL, NULL) == SQLITE_OK)
        return CADRE_OK;
    return cdr_sqlite_connection_fail(connection, "not done", err);
}

cadre_status cdr_sqlite_connection_number(const cdr_sqlite_connection *connection,
                                          const char *sql, int64_t *number,
                                          cadre_error *err)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(connection->db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        *number = sqlite3_column_int64(stmt, 0);
    cadre_status status = rc == SQLITE_ROW
                              ? CADRE_OK
                              : cdr_sqlite_connection_fail(connection, "not read", err);
    sqlite3_finalize(stmt);
    return status;
}

void cdr_sqlite_call_begin(cdr_sqlite_call *call, cdr_sqlite_connection *connection,
                           cdr_sqlite_statement statement)
{
    call->connection = connection;
    call->rc = SQLITE_OK;
    call->parameter = call->n_ids = 0;
    sqlite3_stmt **stmt = &connection->statements[statement];
    if (!*stmt)
        call->rc =
            sqlite3_prepare_v3(connection->db, cdr_sqlite_statement_text(statement), -1,
                               SQLITE_PREPARE_PERSISTENT, stmt, NULL);
    call->stmt = *stmt;
}

static void note(cdr_sqlite_call *call, int rc)
{
    if (call->rc == SQLITE_OK)
        call->rc = rc;
}

void cdr_sqlite_call_text(cdr_sqlite_call *call, const char *text)
{
    call->parameter++;
    if (call->stmt)
        note(call, sqlite3_bind_text(call->stmt, call->parameter, text ? text : "", -1,
                                     SQLITE_STATIC));
}

void cdr_sqlite_call_number(cdr_sqlite_call *call, int64_t number)
{
    call->parameter++;
    if (call->stmt)
        note(call, sqlite3_bind_int64(call->stmt, call->parameter, number));
}

void cdr_sqlite_call_null(cdr_sqlite_call *call)
{
    call->parameter++;
    if (call->stmt)
        note(call, sqlite3_bind_null(call->stmt, call->parameter));
}

void cdr_sqlite_call_text_or_null(cdr_sqlite_call *call, const char *text)
{
    if (text && text[0])
        cdr_sqlite_call_text(call, text);
    else
        cdr_sqlite_call_null(call);
}

void cdr_sqlite_call_id(cdr_sqlite_call *call, cadre_id id)
{
    assert(call->n_ids < (int)(sizeof(call->ids) / sizeof(call->ids[0])));
    char *text = call->ids[call->n_ids++];
    cadre_id_text(id, text);
    cdr_sqlite_call_text_or_null(call, text);
}

cadre_status cdr_sqlite_call_next(cdr_sqlite_call *call, cadre_error *err)
{
    call->column = -1;
    if (call->rc == SQLITE_OK) {
        int rc = sqlite3_step(call->stmt);
        if (rc == SQLITE_ROW)
            return CADRE_OK;
        if (rc == SQLITE_DONE)
            return CADRE_DONE;
    }
    return cdr_sqlite_connection_fail(call->connection, "failed", err);
}

void cdr_sqlite_call_end(cdr_sqlite_call *call)
{
    if (call->stmt)
        sqlite3_reset(call->stmt); // says again what step said
}

cadre_status cdr_sqlite_call_run(cdr_sqlite_call *call, int *n_changed,
                                 cadre_error *err)
{
    cadre_status status = cdr_sqlite_call_next(call, err);
    assert(status != CADRE_OK);
    cdr_sqlite_call_end(call);
    if (status != CADRE_DONE)
        return status;
    if (n_changed)
        *n_changed = sqlite3_changes(call->connection->db);
    return CADRE_OK;
}

cadre_status cdr_sqlite_call_try(cdr_sqlite_call *call, int *n_changed,
                                 cadre_error *err)
{
    enum {
        PRIMARY = 0xff
    };
    if (cdr_sqlite_call_run(call, n_changed, NULL) == CADRE_OK)
        return CADRE_OK;
    if ((sqlite3_extended_errcode(call->connection->db) & PRIMARY) == SQLITE_CONSTRAINT)
        return CADRE_EREFUSED;
    return cdr_sqlite_connection_fail(call->connection, "failed", err);
}

const char *cdr_sqlite_take_text(cdr_sqlite_call *call)
{
    const unsigned char *text = sqlite3_column_text(call->stmt, ++call->column);
    return text ? (const char *)text : "";
}

int64_t cdr_sqlite_take_number(cdr_sqlite_call *call)
{
    return sqlite3_column_int64(call->stmt, ++call->column);
}

cadre_id cdr_sqlite_take_id(cdr_sqlite_call *call)
{
    cadre_id id = {0, 0};
    const char *text = cdr_sqlite_take_text(call);
    return text[0] && cadre_id_parse(text, &id) ? id : (cadre_id){0, 0};
}

bool cdr_sqlite_take_is_null(const cdr_sqlite_call *call)
{
    return sqlite3_column_type(call->stmt, call->column + 1) == SQLITE_NULL;
}
