// A batch of which one branch wins: any (the first success) or race (the first ending).
//
// Rules:
// 1. Decided under the tree's mutex at the moment of an ending, so two at one instant
//    give one winner. The marks of the losers are facts of the same commit.
// 2. A branch that was marked because another one won is no winner, so the record of a
//    decided batch says who won. So does that of a failure which ends a race: whether
//    it is tried again is known at that moment.
// 3. Once it is decided nothing is tried again.
//
// Thread: _locked needs tree->mu.
#ifndef CDR_RACE_H
#define CDR_RACE_H

#include "tree/tree.h"

typedef struct cdr_race {
    cadre_frame **branches; // NULL where an entry was refused
    size_t n_branches;
    size_t winner;   // n_branches: none yet
    bool takes_any;  // only a success wins; else any ending
    bool takes_none; // nobody wins: it is only stopped, by who listens
    // Is the call of a branch that has just failed tried again?
    bool (*is_tried_again)(void *ctx, size_t branch);
    void *ctx;
    bool is_decided;  // somebody won, or it was stopped
    int64_t until_ms; // when decided: how long losers are waited for
} cdr_race;

// Says of which race the branches are; before they run.
void cdr_race_set_locked(cdr_race *race);

// An ending of one of the branches. A failure that may be tried again is not the end.
void cdr_race_look_locked(cadre_frame *ended);

// It is the end: nothing is tried again.
void cdr_race_settle_locked(cadre_frame *ended);

// Another attempt runs in place of one that failed.
void cdr_race_replace_locked(cadre_frame *ended, cadre_frame *next);

// Is nothing to follow this frame, because its race is decided or it was abandoned?
bool cdr_race_is_over_locked(const cadre_frame *ended);

// The race goes away, and its branches may stay.
void cdr_race_leave_locked(cdr_race *race);

// Marks all branches that have not ended; nobody wins any more.
void cdr_race_stop_locked(cdr_race *race);

#endif
