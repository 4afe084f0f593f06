// Parking: a run of which nothing can go on but by the answer of a person stops, and
// what waits stays as it is, in the store.
//
// Rules:
// 1. `n_active` counts the strands that can run. One that waits for its branches, or
//    for a person, is none; it becomes one again in the hands of who wakes it: its last
//    branch, an answer, a mark. So the count never says 0 of a run that goes on.
// 2. One who waits for its branches and for more, and was woken but does not run yet,
//    is about to count itself: nothing is parked before it has looked.
// 3. At 0, with a question open, the run is parked, for good: all who ask are woken,
//    their calls return EPARKED, and the stacks unwind. An answer that comes later
//    waits in the inbox for the resume.
// 4. At 0, when calls of a replay wait for others, these come no more, and the replay
//    goes on without.
//
// Thread: _locked needs tree->mu; the others take it.
#ifndef CDR_PARK_H
#define CDR_PARK_H

#include "cadre/ext/id.h"
#include "cadre/frame.h"

#include "base/mutex.h"
#include "tree/strand.h"

typedef struct cdr_tree cdr_tree;

// One who asks; on its stack while it waits.
typedef struct cdr_asking {
    cadre_frame *frame;
    cdr_strand *strand;
    struct cdr_asking *next;
    bool is_woken;
} cdr_asking;

// One who waits in cdr_park_wait or cdr_park_idle; on its stack.
typedef struct cdr_waiting {
    cdr_strand *strand;
    unsigned seen;
    struct cdr_waiting *next;
} cdr_waiting;

typedef struct cdr_park {
    int n_active;
    int n_idle; // who wait in cdr_park_idle
    bool is_parked;
    cdr_asking *asking;
    cdr_waiting *waiting;
} cdr_park;

// Before a branch gets its thread, and in place of cdr_strand_settle at its end.
void cdr_park_enter(cdr_tree *tree, cdr_strand *parent, int *pending);
void cdr_park_settle(cdr_tree *tree, cdr_strand *parent, int *pending);

// In place of cdr_strand_join.
void cdr_park_join(cdr_tree *tree, cdr_strand *strand, int *pending);

// In place of cdr_strand_wait, for one who waits for its branches and for more. Who
// wakes it for something else can run, so it is counted again by its own hands.
void cdr_park_wait(cdr_tree *tree, cdr_strand *strand, int *pending, unsigned seen,
                   int64_t deadline_ms);

// In place of cdr_frame_wait, for a call of a replay that waits for what others do.
void cdr_park_idle(cadre_frame *frame, unsigned seen);

// A branch that nobody waits for any more can no longer run.
void cdr_park_drop_locked(cdr_tree *tree);

// One who asks waits; wake it once, for whatever reason.
void cdr_park_ask_locked(cdr_tree *tree, cdr_asking *asking);
void cdr_park_forget_locked(cdr_tree *tree, cdr_asking *asking);
void cdr_park_wake_locked(cdr_tree *tree, const cadre_frame *question);
void cdr_park_answered_locked(cdr_tree *tree, cadre_id question);

#endif
