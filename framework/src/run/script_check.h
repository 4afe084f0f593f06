// A strict script must be used up: steps left over fail the run.
#ifndef CDR_SCRIPT_CHECK_H
#define CDR_SCRIPT_CHECK_H

#include "tree/tree.h"

// For the root about to complete: EFAILED naming the agent and how many steps are left.
// CADRE_OK for other frames, scripts that are not strict and sessions.
cadre_status cdr_script_check(const cadre_frame *frame, cadre_error *err);

#endif
