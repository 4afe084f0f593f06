// A team in which two members work at once, then a step is taken, and then a third
// member hears what they said. What is done counts in lives_count: its tool in `safe`.
//
// Thread: the test's.
#ifndef BRANCHES_H
#define BRANCHES_H

#include "support/lives.h"

typedef struct branches {
    int n_errors; // how often a model call of the second member fails before
    bool is_safe; // its tool may run again
} branches;

// Fills a team, with a script in that folder. False: the test has failed.
bool branches_fill(cadre_team *team, const test_folder *folder, branches plan);

// The step.
json_t *branches_step(void *ctx, cadre_frame *frame, cadre_error *err);

#endif
