// The end of a run's stream: its result, its last event and its last commit.
//
// A file of its own, so that the thread of a run that waits does not hold the room that
// this needs on its stack.
//
// Thread: the root's.
#ifndef CDR_STREAM_END_H
#define CDR_STREAM_END_H

#include "run/run.h"

// Fills the result, shows the last event and closes the queue. The event is shown even
// when nothing can be stored any more; then without a seq.
void cdr_run_end_stream(cadre_run *run);

// The session that the run has taken, if any, is free again.
void cdr_run_give_session_back(cadre_run *run);

// The last event of a run whose result is there.
cadre_event cdr_run_end_event(const cadre_run *run);

#endif
