// Work that does not heed its mark: its frames end without it, and its thread goes on
// until it notices.
//
// Rules:
// 1. An abandoned frame and all below end as their marks say, in the record too,
//    bottom-up.
// 2. Whatever the thread may still look at, those frames and all above them, stays in
//    memory until the tree goes: it is *pinned*, and *retired* where it would be freed.
// 3. The thread can do nothing any more: its calls are refused by the mark, what it
//    says and shows is dropped, an ending was the first one.
// 4. The tree does not go before the thread has left it, and the run does not park.
//
// Thread: _locked needs tree->mu; the others take it.
#ifndef CDR_ABANDON_H
#define CDR_ABANDON_H

#include "tree/ending.h"

// Ends one frame and tells what is to be told of it; takes the failure over.
typedef void (*cdr_end_straggler)(cadre_frame *frame, const cdr_ending *ending);

// Ends a frame that runs on another thread, which leaves by cdr_straggler_leave. `end`
// is called for each frame below it, bottom-up, and for it.
void cdr_frame_abandon_locked(cadre_frame *frame, cdr_end_straggler end);

// The last thing such a thread does: nothing of the tree may be touched afterwards.
void cdr_straggler_leave(cdr_tree *tree);

// Waits until all of them have left.
void cdr_straggler_await(cdr_tree *tree);

#endif
