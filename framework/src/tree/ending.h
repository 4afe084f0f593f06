// How a frame ends, or comes to wait, and leaves its parent.
//
// Rules:
// 1. It ends once; the first ending wins. Those below it that nobody works on are ended
//    first, bottom-up.
// 2. What it used is added to its parent, and what is told of it is in the same commit.
// 3. One that ended stays until its parent has the outcome; one with a key that was
//    given by name until the parent ends, since it may be asked for again.
//
// Thread: needs tree->mu.
#ifndef CDR_ENDING_H
#define CDR_ENDING_H

#include "tree/tree.h"

// Ends a frame that has no live children; open ones are ended first. A second ending
// changes nothing. `failure` is taken over; texts are referenced.
typedef struct cdr_ending {
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    cdr_text *output;
    cdr_failure *failure;
    cadre_usage own;
    int64_t seq; // of the event that told of it; 0: an agent's frame_end is told here
} cdr_ending;
void cdr_frame_end_locked(cadre_frame *frame, const cdr_ending *ending);

// An ended frame, also one from the record: was its agent stopped before its answer?
void cdr_frame_note_stopped(const cadre_frame *frame);

// A frame whose `run` has returned waits for a person, somewhere below it.
void cdr_frame_park_locked(cadre_frame *frame);

// The parent has the outcome: the frame leaves memory, or is kept for its name.
void cdr_frame_release_locked(cadre_frame *frame);

// Adds one usage to another; what is too large stays at the largest number.
void cdr_usage_add(cadre_usage *sum, const cadre_usage *more);

#endif
