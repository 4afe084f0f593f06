// The frames below a frame, and how they leave memory.
//
// Rules:
// 1. A frame is in its parent's live list until it ends, then in the kept one until
//    the parent has its outcome, or ends itself.
// 2. Nobody leaves who has frames below. Who is pinned (tree/abandon.h) is only
//    retired, and goes with the tree.
//
// Thread: needs tree->mu, but for freeing all.
#ifndef CDR_CHILDREN_H
#define CDR_CHILDREN_H

#include "tree/tree.h"

// Puts a frame into a list of its parent, or takes it out of the one it is in.
void cdr_child_add(cadre_frame **list, cadre_frame *frame);
void cdr_child_remove(cadre_frame *frame);

// Takes a frame out of the tree and frees it, or retires it. It is not the root.
void cdr_frame_drop_locked(cadre_frame *frame);

// Puts a frame from the record into its place: kept when it ended, else live.
void cdr_frame_put_loaded_locked(cadre_frame *frame) CDR_REQUIRES(frame->tree->mu);

// Takes a frame from the record out again: its parent ended, so nobody will ask.
// Takes tree->mu.
void cdr_frame_forget_loaded(cadre_frame *frame);

// Frees all frames of a tree that nobody uses any more.
void cdr_tree_free_frames(cdr_tree *tree);

#endif
