// The parts of a batch: calls that are made at once.
//
// Its course is in batch.c, what one of its branches does in batch_branch.c, what comes
// of all of them in batch_outcome.c.
//
// Thread: the strand that calls, and for each branch that is started one of its own.
#ifndef CDR_BATCH_H
#define CDR_BATCH_H

#include "run/retry.h"
#include "tree/ear.h"
#include "tree/race.h"

// What a thread has of its branch. Its caller frees it, or it does when abandoned.
typedef struct cdr_branch {
    cadre_frame *caller;
    cadre_call call; // a copy
    cdr_attempts attempts;
    cdr_strand *parent; // the caller's
    int *pending;
    bool is_done;      // guarded by tree->mu, as is:
    bool is_abandoned; // nobody waits for it any more
} cdr_branch;

// What the caller has of one.
typedef struct cdr_batch_entry {
    cdr_branch *branch;     // NULL: was refused, or abandoned
    cadre_error err;        // of one that was refused, or got no thread
    cadre_frame *abandoned; // NULL: was not
    bool is_started;        // on a thread of its own
} cdr_batch_entry;

typedef struct cdr_batch {
    cadre_frame *frame;
    const cadre_batch *asked;
    cdr_batch_entry *entries;
    size_t n;
    int pending;
    cdr_race race;
    cdr_hearing *hearing; // NULL: nobody listens
    bool is_one;          // a single call that is listened to
    bool is_deaf;         // who listens has said stop
    bool is_stopped;      // so some of it did, now or in the record
    bool may_go_on;       // something of it is left, which may still tell
} cdr_batch;

// Enters the callee. Without a branch the entry's `err` says why.
void cdr_branch_enter(cdr_batch *batch, cdr_batch_entry *entry,
                      const cdr_callee *callee);

// Its frame; NULL: there is no branch.
cadre_frame *cdr_branch_frame(const cdr_batch_entry *entry);

// Is it there, and not answered by the record?
bool cdr_branch_must_run(const cdr_batch_entry *entry);

// Starts it on a thread of its own. One that gets none fails with `busy`.
void cdr_branch_start(cdr_batch *batch, cdr_batch_entry *entry);

// Ends it before it begins: another one has won.
void cdr_branch_lose(cdr_batch_entry *entry);

// Leaves it to itself when its thread has not ended it: its frames end now, and the
// thread frees it. False: it has ended, or was not started.
bool cdr_branch_abandon_locked(cadre_frame *caller, cdr_batch_entry *entry)
    CDR_REQUIRES(caller->tree->mu);

// Gives the caller all outcomes, in call order. Returns what the batch returns.
cadre_status cdr_batch_collect(cdr_batch *batch, cadre_outcome *out, cadre_error *err);

// Is the outcome that of one of them?
static inline bool cdr_batch_has_winner(const cdr_batch *batch)
{
    return batch->asked->wait != CADRE_ALL;
}

#endif
