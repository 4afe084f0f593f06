// Where the file is: a path leads to it for as long as nobody removes it or puts
// another one there. What is written to it after that is lost with it.
//
// Thread: any, after init.
#ifndef CDR_SQLITE_PLACE_H
#define CDR_SQLITE_PLACE_H

#include "cadre/error.h"

#include <sys/stat.h>

typedef struct cdr_sqlite_place {
    const char *path; // borrowed
    dev_t device;
    ino_t inode;
} cdr_sqlite_place;

// Takes the file that is there now. Errors: ESTORE.
cadre_status cdr_sqlite_place_init(cdr_sqlite_place *place, const char *path,
                                   cadre_error *err);

// Is it still that one? Costs one call of the system. Errors: ESTORE, when not.
cadre_status cdr_sqlite_place_check(const cdr_sqlite_place *place, cadre_error *err);

#endif
