// The file: whether it is ours, and the tables in it. Their description for people is
// docs/ledger.md.
//
// Thread: one at a time for one file; init holds the lock of writers.
#ifndef CDR_SQLITE_SCHEMA_H
#define CDR_SQLITE_SCHEMA_H

#include "connection.h"

// Looks at a file, if it is there, and refuses what is no file, or by its first bytes
// not a database of ours or of a newer version. One without bytes is as good as new.
// Changes nothing. Errors: ESTORE.
cadre_status cdr_sqlite_schema_check_file(const char *path, bool *exists,
                                          cadre_error *err);

// Brings the tables up to this version; makes them in an empty file. Errors: ESTORE;
// an older file is as it was then.
cadre_status cdr_sqlite_schema_migrate(cdr_sqlite_connection *writer, cadre_error *err);

// Switches the file to write-ahead logging, where it stays. Errors: ESTORE.
cadre_status cdr_sqlite_schema_use_wal(cdr_sqlite_connection *writer, cadre_error *err);

// Looks for damage where that costs little: always for a small file, up to a limit
// after a crash (`is_unclean`). Errors: ESTORE.
cadre_status cdr_sqlite_schema_check_pages(cdr_sqlite_connection *writer,
                                           bool is_unclean, cadre_error *err);

#endif
