// A store that a test cuts at a commit: nothing is committed or posted any more, as
// after the end of a process. Who goes on later does so under a new cut.
//
// There is one cut at a time, for all runtimes that were wrapped. Leases can still be
// given back: in one process nobody else could take them from who is dead.
//
// Thread: _wrap and _cut while no run is under way; the rest any.
#ifndef MORTAL_STORE_H
#define MORTAL_STORE_H

#include "cadre/ext/store.h"
#include "cadre/runtime.h"

#include <stdbool.h>

typedef struct store_cut {
    int at;        // the nth commit from now, from 1; 0: never
    bool is_after; // it is kept, but who made it does not hear of it
    bool exits;    // the process ends there with MORTAL_EXIT instead
    int of_trace;  // counts and cuts only the nth trace that was committed to since
                   // _wrap, from 1; 0: counts and cuts all
    // Called after each commit that is kept and counts, on its thread, before its maker
    // hears of it; NULL: nobody.
    void (*on_commit)(void *ctx, const cadre_commit *commit, int n);
    void *ctx;
} store_cut;

enum {
    MORTAL_EXIT = 9
};

// Puts it over the runtime's store, before any run, and forgets the traces it saw.
// Runs leave their records there, also in a store of memory.
void mortal_store_wrap(cadre_runtime *runtime);

void mortal_store_cut(store_cut cut); // counts from 0 again

// Cuts here and now, at no commit.
void mortal_store_die(void);

int mortal_store_count(void); // commits since then

// The nth trace that was committed to, from 1; "" when there was none. Static storage.
const char *mortal_store_trace(int nth);

#endif
