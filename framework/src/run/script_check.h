// What a script says at the end of a run: steps left over of a strict one fail it, and
// so does a replay that differs from its recording.
//
// Thread: on the strand of the frame.
#ifndef CDR_SCRIPT_CHECK_H
#define CDR_SCRIPT_CHECK_H

#include "tree/tree.h"

// For the root about to end with `status`, whose failure `err` holds: gives what it
// ends with. A difference from a recording comes before any other failure. EFAILED
// names the agent and how many steps are left; those of an agent that the run stopped,
// or of one below it, may be left. `status` itself for other frames, scripts that are
// not strict and, of what is left over, sessions.
cadre_status cdr_script_check(const cadre_frame *frame, cadre_status status,
                              cadre_error *err);

#endif
