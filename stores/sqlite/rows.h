// The queries of ext/store.h: rows of the tables as the structs of ext/rows.h.
//
// Thread: one at a time for a connection.
#ifndef CDR_SQLITE_ROWS_H
#define CDR_SQLITE_ROWS_H

#include "cadre/ext/store.h"

#include "connection.h"

// Gives the rows that are asked for. The caller has begun a transaction. Errors:
// ESTORE, and what the reader returns.
cadre_status cdr_sqlite_rows_give(cdr_sqlite_connection *connection,
                                  const cadre_query *query,
                                  const cadre_store_reader *reader, cadre_error *err);

#endif
