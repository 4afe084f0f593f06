// The tool calls of one answer: made with it, run in parallel (tool_run.h), decided
// last (decide.h).
//
// Rules:
// 1. Each call has a frame, born pending in the commit that records the answer, and
//    exactly one result.
// 2. A result is recorded as it settles; the model gets them in call order.
// 3. A tool that asks for a transfer only marks it. Transfers are decided in call order
//    when the other tools are done, and written in one commit with the target's frame:
//    the first valid one wins. With an escalation it is the same.
//
// Thread: made and decided on the frame's strand; tools run on strands of their own.
#ifndef CDR_TOOL_ROUND_H
#define CDR_TOOL_ROUND_H

#include "run/offer.h"
#include "tree/ending.h"

typedef struct cdr_tool_entry {
    cadre_frame *frame;             // pending until it runs
    const cadre_tool *tool;         // NULL: there is none of that name
    const cadre_tool_call *call;    // in the answer's message
    _Atomic(cdr_message *) *result; // there too, once it has one
    bool is_named_target;           // a member's name was called as a tool
    json_t *arguments;
    json_t *delta;                 // what it added to the state; once it has a result
    char *target, *target_message; // it asked for a transfer
    char *escalation;              // it asked to escalate: why
    int64_t timeout_ms;            // 0: the tool's
    bool is_again;      // from the record: the run was cut before it had a result
    bool was_running;   // it had started when the run was cut
    bool was_waiting;   // it had started, and waited for a person
    bool is_parked;     // it waits for a person
    bool is_denied;     // by a person
    bool is_of_hook;    // its result, which a hook gave in place of the tool
    bool is_recorded;   // its result, by a recording: it was cut and noted then
    bool is_settled;    // also by its record
    bool has_escalated; // as its record has it
    cadre_result_code code;
    char *raw; // what it had come to when the run was cut, before its hooks; NULL
    cadre_result_code raw_code;
    cadre_error *hook_error; // a hook of the call failed; NULL: none did
    char *complaint; // what the model was told of a bad call; NULL when it was none
} cdr_tool_entry;

// Has it asked to end the agent's work, now or in the record?
static inline bool cdr_tool_escalates(const cdr_tool_entry *entry)
{
    return entry->escalation != NULL || entry->has_escalated;
}

// What a round repeats: see run/progress.h.
typedef struct cdr_recurrence {
    uint64_t calls;
    const struct cdr_past_round *before; // with the same calls; with `times` above 1
    int times;                           // so often, with this time
    bool is_counted;
    bool is_blocked; // none of its calls runs
} cdr_recurrence;

typedef struct cdr_round {
    cdr_message *message; // the answer; a reference
    char *offered;        // the names of the offered tools; made when one is unknown
    cdr_recurrence recurs;
    size_t n_entries;
    cdr_tool_entry entries[];
} cdr_round;

// Makes the round of an answer and the frames of its calls. Takes no reference of its
// own but to the message. NULL: no memory.
cdr_round *cdr_round_new_locked(cadre_frame *frame, cdr_message *message, int turn,
                                const cdr_offer *offer) CDR_REQUIRES(frame->tree->mu);

// Frees a round, as it is.
void cdr_round_free(cdr_round *round);

// Gives what a stopped round has left open its one result: that it was not done.
void cdr_round_settle_rest(cadre_frame *frame, cdr_round *round);

// Frees the frame's round; calls that nobody ran get the result that they were not.
void cdr_round_close(cadre_frame *frame);

// Frees it as it is: calls that wait for a person go on with the resume.
void cdr_round_drop(cadre_frame *frame);

// Ends the frame of a tool or a step below `frame` that was abandoned; a call gets its
// result.
void cdr_round_abandon_locked(cadre_frame *frame, cadre_frame *tool,
                              const cdr_ending *ending) CDR_REQUIRES(frame->tree->mu);

#endif
