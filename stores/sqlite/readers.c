// See readers.h.
#include "readers.h"

#include "rows.h"

#include <stdlib.h>

void cdr_sqlite_readers_init(cdr_sqlite_readers *readers, const cdr_sqlite_place *place)
{
    *readers = (cdr_sqlite_readers){.place = *place};
    pthread_mutex_init(&readers->mu, NULL);
}

static void connection_free(cdr_sqlite_connection *connection)
{
    cdr_sqlite_connection_close(connection);
    free(connection);
}

void cdr_sqlite_readers_fini(cdr_sqlite_readers *readers)
{
    while (readers->n_idle > 0)
        connection_free(readers->idle[--readers->n_idle]);
    pthread_mutex_destroy(&readers->mu);
}

static cadre_status borrow(cdr_sqlite_readers *readers, cdr_sqlite_connection **out,
                           cadre_error *err)
{
    pthread_mutex_lock(&readers->mu);
    cdr_sqlite_connection *connection =
        readers->n_idle > 0 ? readers->idle[--readers->n_idle] : NULL;
    pthread_mutex_unlock(&readers->mu);
    if (!connection) {
        connection = malloc(sizeof(*connection));
        if (!connection)
            return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': no memory to read");
        cadre_status status = cdr_sqlite_connection_open(
            connection, readers->place.path, CDR_SQLITE_READER, err);
        if (status != CADRE_OK) {
            free(connection);
            return status;
        }
    }
    *out = connection;
    return CADRE_OK;
}

static void give_back(cdr_sqlite_readers *readers, cdr_sqlite_connection *connection)
{
    pthread_mutex_lock(&readers->mu);
    bool is_kept = readers->n_idle < CDR_SQLITE_IDLE_READERS;
    if (is_kept)
        readers->idle[readers->n_idle++] = connection;
    pthread_mutex_unlock(&readers->mu);
    if (!is_kept)
        connection_free(connection);
}

cadre_status cdr_sqlite_readers_read(cdr_sqlite_readers *readers,
                                     const cadre_query *query,
                                     const cadre_store_reader *reader, cadre_error *err)
{
    cdr_sqlite_connection *connection = NULL;
    cadre_status status = cdr_sqlite_place_check(&readers->place, err);
    if (status == CADRE_OK)
        status = borrow(readers, &connection, err);
    if (status != CADRE_OK)
        return status;
    // One that was opened just now has the file that is there now.
    status = cdr_sqlite_place_check(&readers->place, err);
    if (status == CADRE_OK)
        status = cdr_sqlite_connection_exec(connection, "BEGIN", err);
    if (status == CADRE_OK) {
        status = cdr_sqlite_rows_give(connection, query, reader, err);
        cdr_sqlite_connection_exec(connection, "COMMIT", NULL);
    }
    give_back(readers, connection);
    return status;
}
