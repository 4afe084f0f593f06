// A file of the sqlite store, looked at beside cadre: by questions in SQL, and byte by
// byte.
//
// Thread: any.
#ifndef SQLITE_FILE_H
#define SQLITE_FILE_H

#include <stdbool.h>
#include <stddef.h>

// Gives the first column of the first row as text, "" when there is none; or what
// SQLite says is wrong. In `said`.
const char *sqlite_file_ask(const char *path, const char *sql, char *said, size_t size);
int sqlite_file_number(const char *path, const char *sql);
void sqlite_file_check(const char *path, const char *sql, const char *expected);

// Reads at most `size` bytes of a file; gives how many, 0 when there is no file.
size_t sqlite_file_read(const char *path, char *bytes, size_t size);
void sqlite_file_write(const char *path, const char *bytes, size_t len);

// Is there a file whose name goes on like this, as "-wal"?
bool sqlite_file_is_beside(const char *path, const char *suffix);

// Counts the transactions in the write-ahead log: frames that tell a size of the file.
// -1: there is no log.
int sqlite_file_count_transactions(const char *path);

#endif
