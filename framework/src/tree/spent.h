// What the record of a run says that was used, when it goes on: its budgets are kept
// over all lives.
//
// Tokens and money are those of the rows; of a call that was cut nothing stands there,
// and who makes it again pays for it. Time is what the ended frames were at work,
// together: while nobody held the run none went by.
//
// Thread: of a tree that is being loaded, by one thread.
#ifndef CDR_SPENT_H
#define CDR_SPENT_H

#include "tree/pot.h"

typedef struct cdr_spending {
    int64_t work_ms;    // of the frames so far
    int64_t work_to_ms; // up to this wall time
} cdr_spending;

// Takes the row of each frame in the order of births. False: no memory.
bool cdr_spending_note(cdr_spending *spending, cadre_frame *frame,
                       const cadre_frame_row *row);

// Takes the row of a run that `spawner` started, which may be below one that has ended
// and so is not there (NULL): what was split off for it is used up.
void cdr_spending_note_spawned(cdr_tree *tree, cadre_frame *spawner,
                               const cadre_trace_row *row);

// How long a frame has been there: of the root over all lives of the run, as far as its
// record tells; of others in this one.
int64_t cdr_frame_lasted_ms(const cadre_frame *frame, int64_t now_ns);

// Gives what a frame has used to who it works for; children before parents.
void cdr_spending_add_up(const cdr_spending *spending, cadre_frame *frame);

#endif
