// A replay: a run whose script is a recording. Which of the recorded calls were made,
// who waits for a frame to end, and the first difference.
//
// Rules:
// 1. A frame of a replay has its keypath from its birth on; so has one of the record.
// 2. A recorded call serves once. One that the record of this run has is served.
// 3. The first difference stays. From then on all calls fail with it, and whoever waits
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
    int64_t until_ms;
    size_t n_ended; // of those it waits for, the first so many
} cdr_replay_waiting;

typedef struct cdr_replay {
    const cadre_script *script;
    const cdr_recording *recording;
    bool *is_taken;               // by place in recording->calls
    bool *has_ended;              // by number in recording->awaited
    cdr_replay_waiting **waiting; // the same; the last list is of who waits for a stop
    cadre_error difference;
} cdr_replay;

// NULL: no memory.
cdr_replay *cdr_replay_new(const cadre_script *script);
void cdr_replay_free(cdr_replay *replay); // NULL ok

// A frame of the tree has ended; a recorded call that it stands for is taken.
void cdr_replay_note_end_locked(cadre_frame *frame);

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

// Waits, on the frame's strand, until all of these have ended. With `until_stopped` it
// waits until the frame is stopped, and never says OK. Errors: the sticky ones;
// EDIVERGED: there is a difference, also when nothing of it came for so long that it
// never will.
typedef struct cdr_replay_wait {
    const size_t *after; // numbers in recording->awaited
    size_t n_after;
    bool until_stopped;
    const char *who; // "agent 'writer' step 2", for what is said of it
} cdr_replay_wait;
cadre_status cdr_replay_await(cadre_frame *frame, const cdr_replay_wait *wait,
                              cadre_error *err);

#endif
