// A sqlite store under test, in a file of a folder of its own.
//
// Running out of memory ends the program. Thread: as a store_case.
#ifndef SQLITE_CASE_H
#define SQLITE_CASE_H

#include "support/folder.h"
#include "support/sqlite_file.h"
#include "support/store_case.h"

typedef struct sqlite_case {
    test_folder folder;
    char path[FOLDER_PATH_SIZE]; // "store.db" in the folder
    store_case s;
} sqlite_case;

// Makes the folder; nothing is open, and there is no file.
void sqlite_case_make(sqlite_case *f);
void sqlite_case_remove(sqlite_case *f);

// Opens what the URL names. Without success nothing is open, and s->err says why.
cadre_status sqlite_case_open_url(store_case *s, const char *url);
void sqlite_case_open(sqlite_case *f); // the file
void sqlite_case_close(sqlite_case *f);
void sqlite_case_close_store(store_case *s);

// Leaves a store with one trace in the file, closed.
void sqlite_case_fill(sqlite_case *f);

#endif
