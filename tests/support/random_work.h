// What the agents of a random team do: a model that answers, calls, hands over, fails
// and stalls; tools that count what they did; code that calls others.
//
// All of it is drawn from the seed and the keys on the way to a frame, so it is the
// same whoever is faster, and the same again when a run is gone on with. The model
// checks what it is shown: each call of its own has one result right behind it.
//
// Thread: _open and _close while no run is under way; the rest any. One at a time.
#ifndef SUPPORT_RANDOM_WORK_H
#define SUPPORT_RANDOM_WORK_H

#include "support/random_team.h"

// Makes it ready for a team; registers the model. Forgets what was counted.
void random_work_open(const random_team *plan, cadre_runtime *runtime);
void random_work_close(void);

// Builds the team and seals it. NULL: it cannot be, and the test has failed.
cadre_team *random_work_build(const random_team *plan, cadre_runtime *runtime);

// From now on it is drawn anew, for another run of the same team.
void random_work_turn(uint64_t nth);

// How often the tool of that call, in its trace, began its work.
int random_work_count(const char *trace, const char *frame);

// Requests, tools and steps that began so far; grows as long as something happens.
uint64_t random_work_progress(void);

#endif
