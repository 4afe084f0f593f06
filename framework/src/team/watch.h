// The watch: learns what others write to the runs of this process (marks, and messages
// for their inboxes) and tells each run what is for it.
//
// A store that other processes write to is looked at again and again, by a thread that
// lives from the first run on. One of this process alone is looked at when something
// was posted. The thread also renews the leases of runs, for holders that others
// cannot see; a run whose lease somebody else has is lost.
//
// What must not be missed is learnt with commits (rule 2 of ext/store.h); the watch
// makes it quick.
//
// Thread: any. A run's callbacks are called with the watch's lock held, one at a time;
// they take the tree's lock and nothing else, and never call the watch.
#ifndef CDR_WATCH_H
#define CDR_WATCH_H

#include "cadre/ext/store.h"
#include "cadre/runtime.h"

#include "base/mutex.h"

#include <pthread.h>

typedef struct cdr_watched {
    cadre_id trace;
    const char *lease_owner;
    int64_t renewed_ms;
    void (*on_mark)(struct cdr_watched *self, cadre_id frame, const char *reason);
    void (*on_message)(struct cdr_watched *self, const cadre_message_row *row);
    void (*on_lost)(struct cdr_watched *self, const cadre_error *why); // the lease is
    struct cdr_watched *next; // guarded by the watch's mu
} cdr_watched;

typedef struct cdr_watch {
    cdr_mutex mu;
    cdr_cond changed;
    cdr_watched **buckets; // guarded by mu, as all below; by trace
    size_t n_buckets, n_runs;
    uint64_t n_added;
    int64_t seen; // all messages up to this number were looked at, with these runs
    bool is_started, is_stopping;
    pthread_t thread;
} cdr_watch;

void cdr_watch_init(cdr_watch *watch);
void cdr_watch_fini(cdr_watch *watch); // joins the thread; all runs were removed

// Adds a run, borrowed until it is removed. Errors: EBUSY (no thread), ENOMEM.
cadre_status cdr_watch_add(cadre_runtime *runtime, cdr_watched *run, cadre_error *err);

// When it returns no callback of the run is under way, and none follows.
void cdr_watch_remove(cadre_runtime *runtime, cdr_watched *run);

// Looks now, on this thread. Errors: ESTORE.
cadre_status cdr_watch_look(cadre_runtime *runtime, cadre_error *err);

#endif
