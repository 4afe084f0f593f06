// The one result of a tool's call: the event that tells it, and its message in the
// conversation of the agent that called.
//
// Rules:
// 1. A call that was told of has exactly one result, also when its frame ends though
//    nobody works on it any more: what waited for a person, or was left by a run that
//    was cut.
// 2. The result and the end of the call's frame are in one commit.
//
// Thread: needs tree->mu.
#ifndef CDR_CALL_RESULT_H
#define CDR_CALL_RESULT_H

#include "tree/tree.h"

typedef struct cdr_call_result {
    const cadre_tool_call *call;
    cadre_result_code code;
    const char *text;
    const char *to; // of a transfer that was done; else "" or NULL
} cdr_call_result;

// Tells and says the result of a call's frame, which is still to be ended. No memory:
// the tree is lost, for without its result the model would take the call for an
// interrupted one. Returns the event's seq.
int64_t cdr_call_result_say_locked(cadre_frame *frame, const cdr_call_result *result)
    CDR_REQUIRES(frame->tree->mu);

// The call of an open frame, as the agent's last answer has it; NULL: it is of none, as
// a step or a question.
const cadre_tool_call *cdr_call_of_locked(const cadre_frame *frame)
    CDR_REQUIRES(frame->tree->mu);

#endif
