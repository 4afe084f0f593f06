// One tool call on its way to a result: hooks, approval, the start, the tool itself.
//
// Rules:
// 1. That it starts is recorded before it does, where it matters: of a call that must
//    not run twice, and of one that runs again, since that is counted.
// 2. It starts late when hooks see it before, or a person is asked: its time
//    begins then.
//
// Thread: the strand of the call.
#ifndef CDR_TOOL_CALL_H
#define CDR_TOOL_CALL_H

#include "run/tool_round.h"

// Does it start only when hooks have seen it, or a person has allowed it?
bool cdr_tool_starts_late(const cadre_frame *frame, const cdr_tool_entry *entry);

// pending -> running, and its time begins.
void cdr_tool_start(cadre_frame *frame, cdr_tool_entry *entry);

// Runs a tool between its hooks; one that has come to something already, before the run
// was cut, only settles. Then it has its result, has asked for something, or waits.
void cdr_tool_call_run(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand);

// Runs a call that only asks, on the frame's own strand.
void cdr_tool_call_control(cadre_frame *frame, cdr_tool_entry *entry);

// Takes the next result that the script has for this tool; NULL: it has none.
const char *cdr_tool_scripted(cadre_frame *frame, const cadre_tool *tool,
                              bool *is_error);

#endif
