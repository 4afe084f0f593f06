// The result of one tool call: its frame ends and the conversation has it, in one
// commit, once.
//
// Thread: any that works for the frame.
#ifndef CDR_TOOL_RESULT_H
#define CDR_TOOL_RESULT_H

#include "run/tool_round.h"

typedef struct cdr_tool_result {
    cadre_result_code code;
    const char *text;
    const char *to;                // of a transfer that was done; else "" or NULL
    bool is_escalation;            // one that has its way: it ends the agent's work
    bool is_of_hook;               // a hook gave it in place of the tool
    const cadre_error *hook_error; // a hook of the call failed, with the code `aborted`
} cdr_tool_result;

// Is it the result of a call that the model should not have made like this?
static inline bool cdr_tool_is_bad_call(cadre_result_code code)
{
    return code == CADRE_RESULT_UNKNOWN_TOOL || code == CADRE_RESULT_INVALID_ARGUMENTS;
}

// A result that is too long, cut at a character, which it says; free() it. NULL: it is
// as it may be, or no memory.
char *cdr_tool_cap(const char *text);

// Ends the call's frame and says its result in the conversation. Once for each entry.
void cdr_tool_settle_locked(cadre_frame *frame, cdr_tool_entry *entry,
                            const cdr_tool_result *result)
    CDR_REQUIRES(frame->tree->mu);

// The same with the lock taken, of a result that the call itself came to.
void cdr_tool_settle(cadre_frame *frame, cdr_tool_entry *entry, cadre_result_code code,
                     const char *text);

// Says that a call was stopped whose frame ends without it. Gives the seq of that.
int64_t cdr_tool_tell_abandoned_locked(const cdr_tool_entry *entry)
    CDR_REQUIRES(entry->frame->tree->mu);

#endif
