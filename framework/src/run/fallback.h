// Loop fallback: when an agent's loop of model calls and tools comes to no end, another
// agent answers in its place.
//
// Rules:
// 1. It is a transfer: the target is a child with the key `transfer`, entered
//    when `run` has returned, and the frame takes its outcome. So it happens once
//    in a frame.
// 2. It is neither asked of a controller nor counted in the scope. What answers hands
//    back, with return_to_source, to who had handed over to the agent that gave up.
// 3. The target is told, as one user message, what the agent's model was shown, with
//    all calls and results of its rounds, and nothing else.
// 4. A record of a fallback is known by what came before: the last model call failed,
//    or none of the last answer's calls handed over.
//
// Thread: the frame's strand.
#ifndef CDR_FALLBACK_H
#define CDR_FALLBACK_H

#include "tree/tree.h"

// Is the transfer in the frame's record a fallback?
bool cdr_has_fallen_back(cadre_frame *frame);

// Enters the target of a recorded fallback again. Errors: those of entering.
cadre_status cdr_fall_back_again(cadre_frame *frame, cadre_error *err);

#endif
