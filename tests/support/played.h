// A case file that is played: its files in a folder of their own, with a store beside
// them, in this process or by the program.
//
// Running out of memory ends the program. Thread: the test's.
#ifndef PLAYED_H
#define PLAYED_H

#include "support/folder.h"
#include "support/sqlite_file.h"

#include "cadre/cadre.h"

#define PLAYED_PATH_SIZE (FOLDER_PATH_SIZE + 32)

typedef struct played {
    test_folder folder;
    char store[FOLDER_PATH_SIZE];
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_error err;
} played;

// Copies the files of the case; what can be run stays so. False: the test has failed.
bool played_begin(played *p, const char *name);
void played_end(played *p);

const char *played_path(const played *p, const char *name, char path[PLAYED_PATH_SIZE]);

// Opens the store and a team of the case, whose answers are scripted.
bool played_open(played *p, const char *file);
void played_close(played *p);
cadre_run *played_start(played *p, const char *input); // NULL: the test has failed

// Goes on with the run of the store, and checks that it ends with this answer.
void played_check_resumes(played *p, const char *team, const char *answer);

// What the store's file says, as sqlite_file_ask; static storage.
const char *played_ask(const played *p, const char *sql);

// The lines that its tools wrote to the log, each without its end; how many there are.
size_t played_log(const played *p, char lines[][64], size_t max);

#endif
