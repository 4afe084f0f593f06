// What an agent of a random team does that is a C function: it calls its members in all
// ways, asks, steps, hands over, sets state and fails, as the dice fall.
//
// Thread: any.
#ifndef SUPPORT_RANDOM_PROGRAM_H
#define SUPPORT_RANDOM_PROGRAM_H

#include "cadre/cadre.h"

cadre_status random_program_run(void *ctx, cadre_frame *frame, cadre_error *err);

#endif
