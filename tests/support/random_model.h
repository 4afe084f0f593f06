// The model of a random team. See random_work.h.
//
// Thread: as there.
#ifndef SUPPORT_RANDOM_MODEL_H
#define SUPPORT_RANDOM_MODEL_H

#include "support/random_team.h"

void random_model_open(const random_team *plan, cadre_runtime *runtime);
void random_model_turn(uint64_t nth);
const random_team *random_model_plan(void);

// The dice for one purpose in a frame: of the seed and the keys on the way to it.
dice random_model_dice(const cadre_frame *frame, const char *what);

// One that the frame's agent may hand over to here; NULL: there is none.
const cadre_agent *random_model_peer(cadre_frame *frame, dice *d);

// Something has begun. Of random_work.c.
void random_work_note(void);

#endif
