// The sessions that runs of this process go on with: one run of each at a time. Two at
// once would both speak after the same last message, and neither would know.
//
// Thread: any.
#ifndef CDR_SESSION_H
#define CDR_SESSION_H

#include "team/runtime.h"

// Takes the session for a run; `name` is borrowed until it is released. Errors: EBUSY:
// another run has it; ENOMEM.
cadre_status cdr_session_claim(cadre_runtime *runtime, const char *name,
                               cadre_error *err);
void cdr_session_release(cadre_runtime *runtime, const char *name);

#endif
