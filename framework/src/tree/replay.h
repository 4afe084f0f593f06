// A replay: a run whose script is a recording. Which of the recorded calls were made,
// who waits for others, and the first difference.
//
// Rules:
// 1. A frame of a replay has its keypath from its birth on; so has one of the record.
// 2. A recorded call serves once. One that the record of this run has is served.
// 3. What is waited for has come when its frame has ended; a call that was stopped when
//    it has begun, with the part of an answer that it had got.
// 4. The first difference stays. From then on all calls fail with it, and whoever waits
//    is woken.
//
// Thread: _locked needs tree->mu; the others take it.
#ifndef CDR_REPLAY_H
#define CDR_REPLAY_H

#include "base/mutex.h"
#include "team/script.h"
#include "tree/strand.h"

typedef struct cdr_tree cdr_tree;

// One who waits; on its stack. It stands in the list of the frame that it waits for.
typedef struct cdr_replay_waiting {
    cdr_strand *strand;
    struct cdr_replay_waiting *next, **link;
    const struct cdr_replay_wait *wait;
    size_t n_come; // of those it waits for, the first so many
    bool is_in_vain;
} cdr_replay_waiting;

typedef struct cdr_replay {
    const cadre_script *script;
    const cdr_recording *recording;
    bool *is_taken;               // by place in recording->calls
    bool *has_come;               // by number in recording->awaited
    cdr_replay_waiting **waiting; // the same; the last list is of who waits for a stop
    cadre_error difference;
} cdr_replay;

// NULL: no memory.
cdr_replay *cdr_replay_new(const cadre_script *script);
void cdr_replay_free(cdr_replay *replay); // NULL ok

// A frame of the tree has ended; a recorded call that it stands for is taken.
void cdr_replay_note_end_locked(cadre_frame *frame);

// A call has begun that was stopped then.
void cdr_replay_note_begun_locked(const cadre_frame *frame);

// A frame of the tree, from this run's record: gives it its keypath, parents first.
// `n_before` is of the root.
void cdr_replay_note_loaded_locked(cadre_frame *frame, uint64_t n_before);

// What the recording has for the frame's child of that key; NULL: nothing.
const cdr_recorded *cdr_replay_find(const cadre_frame *frame, const char *key);

// The first in the order of the file that was not made and had to be; NULL: there is
// none. How far one came that was stopped is chance, so nothing below it had to be.
const cdr_recorded *cdr_replay_first_left(const cdr_replay *replay);
void cdr_replay_take_locked(cdr_tree *tree, const cdr_recorded *recorded);

// Keeps the first difference and returns it: EDIVERGED.
cadre_status cdr_replay_differ_locked(cdr_tree *tree, const cadre_error *difference,
                                      cadre_error *err);

// Nothing can go on any more but who waits for others: one of these does, or there is a
// difference.
void cdr_replay_go_on_locked(cdr_tree *tree);

// Waits, on the frame's strand, until all of these have come that still may. With
// `until_stopped` it waits until the frame is stopped, and never says OK. Errors: the
// sticky ones; EDIVERGED: there is a difference, also when nothing is left that could
// stop it.
typedef struct cdr_replay_wait {
    const size_t *after; // numbers in recording->awaited
    size_t n_after;
    bool until_stopped;
    const char *by;  // what stopped it then, " by a timeout"; "": another call
    const char *who; // "agent 'writer' step 2", for what is said of it
} cdr_replay_wait;
cadre_status cdr_replay_await(cadre_frame *frame, const cdr_replay_wait *wait,
                              cadre_error *err);

#endif
