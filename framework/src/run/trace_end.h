// Ending a run that was stopped and that nobody holds, from its record alone: no team
// is needed, since nothing of it is to go on.
//
// Thread: any; takes the run's lease meanwhile.
#ifndef CDR_TRACE_END_H
#define CDR_TRACE_END_H

#include "team/runtime.h"

// Ends all frames that live, bottom-up, if the root is marked. Errors: EBUSY: it is
// held, so its holder ends it; ESTORE, ENOMEM.
cadre_status cdr_trace_end(cadre_runtime *runtime, cadre_id trace, cadre_error *err);

// The same for who has given the lease back: a mark that came before that, and that
// nobody has heeded. Costs a look at the live frames; a store that fails is not told.
void cdr_trace_end_marked(cadre_runtime *runtime, cadre_id trace);

#endif
