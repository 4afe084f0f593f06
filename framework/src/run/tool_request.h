// What a tool call asks for instead of a result: to hand over, or to escalate.
//
// Thread: the strand of the call.
#ifndef CDR_TOOL_REQUEST_H
#define CDR_TOOL_REQUEST_H

#include "run/tool_round.h"

// Does the call do nothing but ask?
bool cdr_tool_is_control(const cdr_tool_entry *entry);

// Of a member's name that was called as a tool: asks to hand over, with what looks like
// the message. Without memory the call is settled.
void cdr_tool_request_by_name(cadre_frame *frame, cdr_tool_entry *entry);

// Takes what the tool's `run` asked for out of its work. Whoever hands over leaves the
// state as it is: whether it may is decided later.
void cdr_tool_request_take(cdr_tool_entry *entry, cdr_work *work);

#endif
