// Running the tools of one answer and recording their results.
#ifndef CDR_TOOL_RUN_H
#define CDR_TOOL_RUN_H

#include "run/tool_round.h"

typedef struct cdr_tool_result {
    cadre_result_code code;
    const char *text;
    const char *to;                // of a transfer that was done; else "" or NULL
    bool is_of_hook;               // a hook gave it in place of the tool
    const cadre_error *hook_error; // a hook of the call failed, with the code `aborted`
} cdr_tool_result;

// Is it the result of a call that the model should not have made like this?
static inline bool cdr_tool_is_bad_call(cadre_result_code code)
{
    return code == CADRE_RESULT_UNKNOWN_TOOL || code == CADRE_RESULT_INVALID_ARGUMENTS;
}

// Does the call only hand over?
bool cdr_tool_is_control(const cdr_tool_entry *entry);

// A result that is too long, cut at a character, which it says; free() it. NULL: it is
// as it may be, or no memory.
char *cdr_tool_cap(const char *text);

// Ends the call's frame and says its result in the conversation. Once for each entry.
void cdr_tool_settle_locked(cadre_frame *frame, cdr_tool_entry *entry,
                            const cdr_tool_result *result)
    CDR_REQUIRES(frame->tree->mu);

// Runs all calls of the round: those that are wrong get their result at once; tools
// that may ask for a transfer run first, in order; the others in parallel. Errors: the
// frame's sticky status, ELIMIT.
cadre_status cdr_tools_run(cadre_frame *frame, cdr_round *round, cadre_error *err);

// Finds out once more which transfers the calls of a recorded round asked for.
cadre_status cdr_tools_replay(cadre_frame *frame, cdr_round *round, cadre_error *err);

// Enters the target of a decided transfer, in the commit of its decision.
cadre_status cdr_enter_target_locked(cadre_frame *frame,
                                     const cdr_transfer_decision *decision,
                                     const char *message, cadre_error *err)
    CDR_REQUIRES(frame->tree->mu);

#endif
