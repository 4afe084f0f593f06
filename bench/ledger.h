// What the parts of the bench `ledger` share: a folder on a real disk, and the sqlite
// store in a file there.
#ifndef CADRE_BENCH_LEDGER_H
#define CADRE_BENCH_LEDGER_H

#include "bench.h"
#include "cadre/ext/store.h"

// The parts, each with rows of its own.
void ledger_commits(void);
void ledger_size(void);
void ledger_live(void);
void ledger_resume(void);

#define LEDGER_PATH_SIZE 128

// In /var/tmp, since /tmp may be in memory, where a flush costs nothing.
typedef struct ledger_folder {
    char path[64];
} ledger_folder;

void ledger_folder_make(ledger_folder *folder);
void ledger_folder_path(const ledger_folder *folder, const char *name,
                        char path[LEDGER_PATH_SIZE]);
void ledger_folder_remove(ledger_folder *folder);

typedef struct ledger_store {
    const cadre_store_ops *ops;
    void *state;
} ledger_store;

void ledger_open(ledger_store *store, const char *url);
void ledger_close(ledger_store *store);

// Commits a batch of the trace; a failure ends the program.
void ledger_write(const ledger_store *store, cadre_id trace, cadre_fact *facts,
                  size_t n_facts);

// A trace with its conversation and its root frame.
typedef struct ledger_trace {
    cadre_id id, conversation, root;
} ledger_trace;

ledger_trace ledger_begin(const ledger_store *store);

cadre_fact ledger_birth(const ledger_trace *trace, cadre_id id, cadre_id parent,
                        const char *key);
cadre_fact ledger_end(cadre_id id);

// The middle one; sorts them.
double ledger_median(double *values, size_t n);

#endif
