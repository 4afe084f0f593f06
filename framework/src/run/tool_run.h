// Running the tool calls of one answer.
//
// Rules:
// 1. Calls that are wrong get their result at once; those that only ask for something
//    run first, in order; the others in parallel, the first of them on this thread.
// 2. What is recorded of the answer and of the starts is committed before a tool runs.
// 3. A call that waits for a person makes its agent wait, after all others are done.
//
// Thread: the frame's strand.
#ifndef CDR_TOOL_RUN_H
#define CDR_TOOL_RUN_H

#include "run/tool_round.h"

// Runs all calls of the round. Errors: the frame's sticky status, ELIMIT, EPARKED, and
// that of the first hook that failed.
cadre_status cdr_tools_run(cadre_frame *frame, cdr_round *round, cadre_error *err);

#endif
