// The lives of a run: one begins it, is cut at a commit, and others go on with it. On a
// store of memory all are in this process, and a cut is a store that is gone; on one
// that keeps a file each life that is to be cut is a process of its own, which ends
// there, and each other one opens the file anew.
//
//     lives l;
//     if (!lives_open(&l, "sqlite", make_team))
//         return;
//     lives_start(&l, CADRE_RUN(.input = "Go."), (store_cut){.at = 3});
//     if (lives_resume(&l, (store_cut){0}))
//         CHECK_OK(l.status, &l.err);
//     lives_close(&l);
//
// Thread: the test's; there is no other one when a life begins.
#ifndef LIVES_H
#define LIVES_H

#include "support/check.h"
#include "support/folder.h"
#include "support/mortal_store.h"

#include "cadre/cadre.h"

#include <stdatomic.h>

// How far a matrix of pairs of cuts goes: each how many-th place the first life is cut
// at, and how many of the second. A life under a sanitizer takes long.
#if defined __SANITIZE_THREAD__ // a fork takes longest there
#define LIVES_STEP 4
#define LIVES_MAX_AGAIN 1
#elif defined __SANITIZE_ADDRESS__
#define LIVES_STEP 3
#define LIVES_MAX_AGAIN 2
#else
#define LIVES_STEP 1
#define LIVES_MAX_AGAIN 40
#endif

// What happened in all lives of a test, whichever process they were in.
typedef struct lives_counts {
    atomic_int requests; // of models
    atomic_int safe, unsafe_ones, steps;
} lives_counts;

typedef cadre_team *(*lives_team)(cadre_runtime *runtime, const test_folder *folder);

typedef struct lives {
    test_folder folder;
    char url[FOLDER_PATH_SIZE];
    bool is_file;
    lives_team make;
    bool is_online; // models are those of the team; else they are scripted
    // Of the next life; forgotten by it:
    bool dies;              // it calls mortal_store_die somewhere
    int dies_in_request;    // it is cut in its nth request of a model; 0: in none
    cadre_runtime *runtime; // of the life in this process; NULL: none is open
    cadre_team *team;
    // What the last life left:
    char trace[64]; // of the first run
    cadre_status status;
    cadre_error err;
    char answer[200];
    int n_commits;
    bool was_cut;
} lives;

// In memory that forked processes share.
lives_counts *lives_count(void);

// A fresh store of that type; the counts are 0.
bool lives_open(lives *l, const char *type, lives_team make);
void lives_close(lives *l);

// Opens this process's runtime and team unless they are. Borrowed.
cadre_runtime *lives_runtime(lives *l);

// Begins a run and waits for its end, and that of what goes on in its background.
void lives_start(lives *l, const cadre_run_config *config, store_cut cut);

// Goes on with the first run. False: there is nothing to go on with, or left to do.
bool lives_resume(lives *l, store_cut cut);

// Goes on with each run that was cut, oldest first, as `cadre resume --all` does.
void lives_resume_all(lives *l, store_cut cut);

// Of the first run, as recorded_text. free() it.
char *lives_recorded(lives *l);

// Runs `check` for each registered store.
void lives_each_store(void (*check)(const char *type));

#endif
