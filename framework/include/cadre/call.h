// Calls: what one agent asks of another, and how it ended.
//
// Thread: plain data, used by one thread at a time.
#ifndef CADRE_CALL_H
#define CADRE_CALL_H

#include "cadre/agent.h"
#include "cadre/message.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_scope cadre_scope; // cadre/ext/scope.h

typedef enum cadre_frame_status {
    CADRE_FRAME_PENDING,
    CADRE_FRAME_RUNNING,
    CADRE_FRAME_WAITING,
    CADRE_FRAME_COMPLETED,
    CADRE_FRAME_FAILED,
    CADRE_FRAME_TIMEOUT,
    CADRE_FRAME_ABORTED
} cadre_frame_status;

typedef enum cadre_stop_reason {
    CADRE_STOP_NONE,
    CADRE_STOP_FINAL,
    CADRE_STOP_MAX_TURNS,
    CADRE_STOP_MAX_HANDOFFS,
    CADRE_STOP_LOOP,
    CADRE_STOP_LIMIT,
    CADRE_STOP_TIMEOUT,
    CADRE_STOP_ABORTED,
    CADRE_STOP_DIVERGED,
    CADRE_STOP_ERROR,
    CADRE_STOP_INTERRUPTED,   // cut while it ran, and not run again
    CADRE_STOP_RESTART_LIMIT, // cut again and again while it ran
    CADRE_STOP_ESCALATED,     // it ended the cycle around it
    CADRE_STOP_MAX_ITERATIONS,
    CADRE_STOP_MAX_STEPS,
    CADRE_STOP_BUDGET // what it may use is used up
} cadre_stop_reason;

typedef enum cadre_call_flags {
    CADRE_CALL_QUIET = 1, // nothing of the callee is shown; its outcome is the same
    CADRE_CALL_ONCE = 2,  // its key is used once, so its frame need not be kept for it
    CADRE_CALL_FINAL = 4  // its answer is the caller's: it must fit what that must fit
} cadre_call_flags;

typedef struct cadre_event cadre_event; // cadre/event.h

// Hears an event of the callee, or of what is below it, on the calling thread, while
// that waits for the call. `index`: which call of the batch; 0 for a single one. May
// itself call other agents with the frame. False: stop; callees that have not ended end
// aborted, and the call fails, class aborted, unless one of them has won. What answers
// from the record is not told again: after a cut it may stop them later, or not at all.
typedef bool (*cadre_listener)(void *ctx, const cadre_agent *agent, size_t index,
                               const cadre_event *event);

// One call of an agent. Make it with CADRE_CALL(.agent = ..., ...).
typedef struct cadre_call {
    size_t struct_size;
    const cadre_agent *agent;
    const char *input;        // NULL: nothing is added
    const json_t *json;       // in place of `input`
    const char *key;          // NULL: "<agent>#<nth call of it in this frame>"
    const cadre_scope *scope; // where the callee may transfer to; NULL: nowhere
    int64_t timeout_ms;       // 0: none beyond the caller's
    cadre_history history;    // call and batch: NONE (default), or ALL: a read-only
                              // look at the caller's conversation up to now
    unsigned flags;           // cadre_call_flags
    cadre_tools tools; // offered to the callee's model beside its own; not to those it
                       // calls; they outlive the call
    cadre_listener listener; // NULL: nobody; not in a batch, which has its own
    void *listener_ctx;
    // Of the callee, all below it and all whom it hands over to; narrows only, since
    // what they use up counts in the budgets around it as well.
    cadre_budget budget;
} cadre_call;

#define CADRE_CALL(...)                                                                \
    (&(const cadre_call){.struct_size = sizeof(cadre_call), __VA_ARGS__})

// How a call ended. Cleared on entry, also when the call is refused.
typedef struct cadre_outcome {
    const char *text;  // its answer; "" when there is none
    const char *agent; // who gave it, after transfers
    const char *error; // one line; "" when it completed
    cadre_error_class error_class;
    cadre_frame_status status;
    cadre_stop_reason stop_reason;
    cadre_usage usage; // of the whole subtree
} cadre_outcome;

// Outcomes are in call order in any case, each with its own error.
typedef enum cadre_wait {
    CADRE_ALL, // returns when all have ended
    CADRE_ANY, // at the first success; fails when none succeeds
    CADRE_RACE // at the first ending, also by a failure
} cadre_wait;

// With ANY and RACE the others are stopped: their frames end aborted, what they have
// cost is charged, and nothing is heard of them after the return. What does not heed
// cadre_frame_is_stopped is waited for 2 s.
typedef struct cadre_batch {
    size_t struct_size;
    cadre_wait wait;
    const cadre_call *const *calls;
    size_t n_calls;
    const char *key; // NULL: "b<n>", the nth batch of this frame; its calls have the
                     // keys "<key>/<i>", from 1, unless they give their own
    size_t *winner;  // any, race: gets the index of who won; n_calls: nobody. Or NULL
    cadre_listener listener; // or NULL
    void *listener_ctx;
} cadre_batch;

#define CADRE_BATCH(...)                                                               \
    (&(const cadre_batch){.struct_size = sizeof(cadre_batch), __VA_ARGS__})

// A side effect that is recorded: run at least once, its value kept once.
typedef struct cadre_step {
    size_t struct_size;
    const char *name; // shown in the tree; also its key, with the nth of it appended
    // Does the work and gives a value (new reference). NULL with `err`: it failed.
    // Locks: none. May block; heed cadre_frame_is_stopped.
    json_t *(*run)(void *ctx, cadre_frame *frame, cadre_error *err);
    void *ctx;
} cadre_step;

#define CADRE_STEP(...)                                                                \
    (&(const cadre_step){.struct_size = sizeof(cadre_step), __VA_ARGS__})

CADRE_API const char *cadre_frame_status_name(cadre_frame_status status);
CADRE_API const char *cadre_stop_reason_name(cadre_stop_reason reason);

#ifdef __cplusplus
}
#endif

#endif
