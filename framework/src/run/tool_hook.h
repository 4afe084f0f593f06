// The hooks of one tool call: before it runs, and before its result is recorded.
//
// Thread: on the strand of the call.
#ifndef CDR_TOOL_HOOK_H
#define CDR_TOOL_HOOK_H

#include "run/tool_round.h"

// What a call came to, before its after_tool hooks.
typedef struct cdr_tool_raw {
    cadre_result_code code;
    const char *text;
} cdr_tool_raw;

// Has a call of this frame such hooks? Control calls have no after_tool.
bool cdr_tool_hook_has_before(const cadre_frame *frame);
bool cdr_tool_hook_has_after(const cadre_frame *frame, const cdr_tool_entry *entry);

// Calls before_tool. True: the call goes on, with the arguments it has now. False: it
// has its result, waits for a person, or its hook failed.
bool cdr_tool_hook_before(cadre_frame *frame, cdr_tool_entry *entry,
                          cdr_strand *strand);

// Settles the call, after its after_tool hooks where it has some: then the call has no
// work of its own any more. It may wait for a person instead.
void cdr_tool_hook_settle(cadre_frame *frame, cdr_tool_entry *entry, cdr_strand *strand,
                          const cdr_tool_raw *raw);

// Finds what a call had come to when the run was cut while its after_tool hooks ran;
// that becomes its result in `entry->raw`. False: it had not.
bool cdr_tool_hook_recall(cadre_frame *frame, cdr_tool_entry *entry);

#endif
