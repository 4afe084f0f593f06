// A lock between processes, around every write transaction and checkpoint.
//
// SQLite before 3.51.3 may damage a WAL file when two connections write or checkpoint
// at the same instant, so they must not. It is taken with newer ones too: the other
// process may have an older one, and it is fair, which SQLite's own waiting is not: who
// waits is next.
//
// Thread: one at a time; two locks of one file exclude each other, in one process too.
#ifndef CDR_SQLITE_FILE_LOCK_H
#define CDR_SQLITE_FILE_LOCK_H

#include "cadre/error.h"

typedef struct cdr_sqlite_file_lock {
    int fd;           // -1: not open
    const char *path; // of the database; borrowed, for errors
} cdr_sqlite_file_lock;

// Opens, or makes, the file "PATH.lock". Errors: ESTORE.
cadre_status cdr_sqlite_file_lock_open(cdr_sqlite_file_lock *lock, const char *path,
                                       cadre_error *err);

// Counts as one who has the database open, until close. Returns whether nobody else
// has. The lock must be held.
bool cdr_sqlite_file_lock_enter(cdr_sqlite_file_lock *lock);

void cdr_sqlite_file_lock_close(cdr_sqlite_file_lock *lock); // releases it too

// Waits up to 5 s. Errors: ESTORE.
cadre_status cdr_sqlite_file_lock_take(cdr_sqlite_file_lock *lock, cadre_error *err);
void cdr_sqlite_file_lock_release(cdr_sqlite_file_lock *lock);

#endif
