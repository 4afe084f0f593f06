// What is done to a run while it works: it is cut at a commit, and after other commits
// it, or a part of it, is stopped, told something, or answered.
//
// Thread: the test's; what is done is done on a thread of its own.
#ifndef SUPPORT_RANDOM_TROUBLE_H
#define SUPPORT_RANDOM_TROUBLE_H

#include "support/random_trial.h"

// Draws what will be done in the next life, and sets the store's cut.
void random_trouble_plan(random_trial *t, bool cuts);

// The life has begun; it is over.
void random_trouble_begin(random_trial *t, cadre_run *run);
void random_trouble_end(void);

// Answers questions that are open: all, or those that are drawn. Of random_trial.c.
void random_trial_answer(random_trial *t, bool all, dice *d);

#endif
