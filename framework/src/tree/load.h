// A tree from the record: the frames, conversations and messages of a trace, so that a
// run goes on where it was cut.
//
// Ended frames answer from the record; open ones are live and wait to be entered again.
// What lies below an ended frame is not kept: nobody will ask for it.
//
// Thread: one; nobody else knows the tree yet.
#ifndef CDR_LOAD_H
#define CDR_LOAD_H

#include "tree/tree.h"

// Fills an empty tree with trace `tree->trace`. Errors: ENOTFOUND (no such trace),
// ESTORE, ECONFIG (the team has not the agents that the record names), EINVAL (the run
// has ended; the text says how), ENOMEM.
cadre_status cdr_tree_load(cdr_tree *tree, cadre_error *err);

// Where a scripted model call of the record stood with its last attempt, in ordered
// attempts of its agent: before it took its step, and after. "before after" of the
// first attempt is the frame's input; each retry took one more; going on takes none.
typedef struct cdr_script_place {
    int before, after;
} cdr_script_place;
cdr_script_place cdr_frame_script_place(const cadre_frame *record);

#endif
