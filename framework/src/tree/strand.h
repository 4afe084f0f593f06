// A strand: one thread at work in the tree, and how it is woken.
//
// An event count. Who waits reads `signals`, looks at what it waits for, then waits
// until the count has moved; who makes something true wakes the strand afterwards. The
// waker holds no lock the waiter needs.
//
// Thread: wake from any; wait by the strand's own thread.
#ifndef CDR_STRAND_H
#define CDR_STRAND_H

#include "base/clock.h"

#include <stdatomic.h>

typedef struct cdr_strand {
    cdr_mutex mu;
    cdr_cond cond;
    atomic_uint signals; // moved under mu
    const int *joining;  // what it waits for; guarded by the tree's mutex; see park.h
} cdr_strand;

void cdr_strand_init(cdr_strand *strand);
void cdr_strand_fini(cdr_strand *strand);
unsigned cdr_strand_seen(cdr_strand *strand);
void cdr_strand_wake(cdr_strand *strand);

// Waits until the count differs from `seen` or the clock reaches the deadline.
void cdr_strand_wait(cdr_strand *strand, unsigned seen, cdr_clock *clock,
                     int64_t deadline_ms);

// One of the things a strand waits for is done: counts `*pending` down and wakes. Both
// under the strand's mutex, so that a waiter who saw zero may end the strand, even
// before this call has returned from its unlock. POSIX allows that: a mutex may be
// destroyed as soon as it is unlocked, a condition as soon as nobody waits on it.
// helgrind does not know it and warns. Nothing of the strand is touched after the
// unlock.
void cdr_strand_settle(cdr_strand *strand, int *pending);
bool cdr_strand_is_settled(cdr_strand *strand, const int *pending);

// Waits until `*pending` is zero.
void cdr_strand_join(cdr_strand *strand, const int *pending);

#endif
