// Tool calls in the record: what the ones that ended say again, and what becomes of
// those that the run was cut in.
//
// Rules:
// 1. A call that ended is not made again, but what it asked for counts once more.
// 2. One that had come to something, while its hooks ran, keeps that.
// 3. One that had started runs again only where that does no harm, and not for ever;
//    else its result says that it may have run.
//
// Thread: the frame's strand.
#ifndef CDR_TOOL_RECORD_H
#define CDR_TOOL_RECORD_H

#include "run/tool_round.h"
#include "tree/birth.h"

// Fills in what the record says of a call whose frame was found there.
void cdr_tool_record_take(cdr_tool_entry *entry, cdr_entered how);

// Finds out once more what a call that ended asked for.
void cdr_tool_record_again(cadre_frame *frame, cdr_tool_entry *entry);

// Finds out once more which transfers the calls of a recorded round asked for.
cadre_status cdr_tools_replay(cadre_frame *frame, cdr_round *round, cadre_error *err);

// Finds what a call had come to, or comes to because the run was cut: it is settled
// here, or by a job when it has hooks. False: it is to be done.
bool cdr_tool_record_use_cut(cadre_frame *frame, cdr_tool_entry *entry, bool *is_job);

#endif
