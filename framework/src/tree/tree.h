// The tree: all calls of one run, who owns whom, and what is written of them.
//
// Invariants (asserted in this folder; a store enforces the same on its rows):
//  1. Every call has one frame, registered before it runs, in the commit that creates
//     what it owns.
//  2. One root, by a flag set at birth.
//  3. Identity is (parent, key); the parent gives the key; entering is find-or-create.
//  4. A frame ends once; the first ending wins; leaving twice is harmless.
//  5. A frame ends after the frames below it. A stop is one mark with a reason on a
//     frame and all live ones below; children left open are ended first, bottom-up.
//  6. Only the root opens and closes the stream and records the user's input.
//  7. The main conversation holds what the user, the root and its delegates said.
//  8. Nothing is born under a mark.
//  9. Ids are unique; durable events are totally ordered by `seq`.
// 10. Order never depends on the wall clock.
//
// Frames are born in birth.h and end in ending.h; how they are kept is in children.h.
//
// Facts go to the outbox in order, under the tree's mutex. It is flushed before every
// outside effect, before a strand stops or waits while others run, and before anyone is
// told. One batch of a tree is under way at a time; who finds its facts in it waits.
//
// Thread: functions that end in _locked need tree->mu; the others take it.
#ifndef CDR_TREE_H
#define CDR_TREE_H

#include "cadre/ext/scope.h"
#include "cadre/ext/store.h"
#include "cadre/ext/turn.h"

#include "base/arena.h"
#include "team/runtime.h"
#include "team/team.h"
#include "tree/conversation.h"
#include "tree/ear.h"
#include "tree/inbox.h"
#include "tree/park.h"
#include "tree/queue.h"
#include "tree/replay.h"
#include "tree/strand.h"
#include "tree/text.h"

typedef enum cdr_frame_kind {
    CDR_FRAME_AGENT,
    CDR_FRAME_MODEL,
    CDR_FRAME_TOOL,
    CDR_FRAME_ASK // a question to a person
} cdr_frame_kind;

// How often a call that was cut while it ran is begun again, without progress between.
#define CDR_RESTART_LIMIT 3

// Why a frame and all below it must end.
typedef enum cdr_mark {
    CDR_MARK_NONE,
    CDR_MARK_REQUEST, // somebody asked for it
    CDR_MARK_OWNER,   // what owns it stops
    CDR_MARK_TIMEOUT,
    CDR_MARK_LOST,  // the store is gone
    CDR_MARK_BUDGET // the time of its budget is up
} cdr_mark;

typedef struct cdr_work cdr_work;
typedef struct cdr_scope_state cdr_scope_state; // run/scope.h
typedef struct cdr_pot cdr_pot;                 // tree/pot.h
typedef struct cdr_spent cdr_spent;             // the same

struct cadre_frame {
    cdr_tree *tree;
    cadre_frame *parent; // NULL: the root
    cadre_frame *live_children, *kept_children;
    cadre_frame *next, **link; // in its parent's live or kept list
    cadre_frame *hash_next;
    cadre_id id;
    cdr_keypath keypath;      // of a replay; tree/replay.h
    const char *name;         // of agent, model or tool
    const cadre_agent *agent; // the frame's own, else that of the nearest agent frame
    cdr_conversation *conversation;
    cdr_scope_state *scope; // NULL: no transfers from here
    const json_t *demanded; // by its caller of its answer, which is that one's; or NULL
    cadre_tools tools;      // that its caller lends its model
    cdr_work *work;         // while its `run` is under way
    struct cdr_race *race;  // of a branch, one of which wins; tree/race.h
    const cdr_ear *ear;     // its caller listens, or one further up
    cdr_pot *pot;           // what its calls of models are paid from; NULL: no budget
    cdr_spent *spent;       // by it and all below, in the record; NULL: nothing
    cdr_text *input, *output;
    json_t *state, *delta; // of the run, see tree/delta.h; NULL: the defaults, nothing
    cdr_failure *failure;
    // Its own and all above; CDR_NEVER. Read without a lock.
    _Atomic int64_t deadline_ms;
    int64_t waited_until_ms; // so far the time people took was added to it
    int64_t started_ns;
    cadre_usage usage;               // of the subtree
    int depth;                       // agent frames above
    unsigned n_before;               // messages its conversation had when it was born
    unsigned hidden_from, hidden_to; // messages there that are hidden from it, and from
                                     // all below it there: see run/retry.h
    const cadre_frame *hider; // the nearest such frame: itself, or one above; or NULL
    short blocking;           // blocking calls above
    short attempts, restarts;
    unsigned char kind, status, stop_reason, history;
    unsigned char n_pots; // of its own
    _Atomic unsigned char mark;
    bool is_main;        // works in the main conversation
    bool is_fork;        // or below one
    bool is_quiet;       // or below one
    bool is_named;       // the parent named its key
    bool is_transfer;    // entered by a transfer
    bool is_scoped;      // by a call that gave it a scope, also when its record answers
    bool is_loaded;      // from the record, not entered again yet
    bool was_running;    // and it had started when the run was cut
    bool was_waiting;    // and it had started, and waited for a person
    bool was_unsafe;     // and it is a tool that was not safe to run again
    bool is_pinned;      // a straggler may still look at it; tree/abandon.h
    bool is_retired;     // freed but for that
    bool is_silent;      // nothing of it is told any more
    bool is_budget_time; // its deadline is that of a budget of its own
    bool is_refused;     // its birth was: somebody outside had stopped what it is below
    bool is_given_up;    // ended; its thread went on, and owns its state and delta
    union {
        cadre_frame *source;     // live: who transferred to it, for return_to_source
        const char *answered_by; // ended, with a named key: whose answer it gave
    };
    char key[];
};

// While hooks run: what they call has keys of its own, so that the agent's do not
// depend on which hooks ran and which answered from the record.
typedef struct cdr_hook_keys {
    char prefix[40]; // "before_model/2"
    unsigned long n; // keys given so far
    bool may_answer; // they may set the output and hand over
} cdr_hook_keys;

// What a frame has sent its model, for its next call.
typedef struct cdr_known_input {
    unsigned edition; // of the window that it was
    size_t n_items;
    int64_t tokens;        // as the server told, else by their length
    int64_t length_tokens; // by their length alone
} cdr_known_input;

// What a frame needs only while its `run` is under way.
struct cdr_work {
    cdr_arena arena;
    cdr_strand *strand;
    struct cdr_call_count *counts; // calls by callee, for automatic keys
    size_t n_counts, counts_capacity;
    cdr_hook_keys *hook_keys;      // of the hooks that run now; NULL: none do
    cadre_error *hook_error;       // a hook failed, so the frame does; in the arena
    cadre_frame *transfer;         // entered when `run` returns
    cdr_text *output;              // its answer so far
    cdr_text *fitting;             // the answer that was found to fit; NULL: none yet
    const char *answered_by;       // whose answer that is
    cdr_failure *child_failure;    // of the last child that failed
    unsigned char child_reason;    // why that one stopped; 0: its own matter
    unsigned char answer_reason;   // why who gave `output` stopped; 0: its own matter
    struct cdr_round *round;       // run/tool_round.h; calls of the last answer
    struct cdr_progress *progress; // run/progress.h; the rounds before; in the arena
    cdr_known_input known_input;   // run/model_budget.h
    struct cdr_prompt *prompt;     // run/prompt.h; of its next model call, or NULL
    json_t *input_json;
    struct cdr_state_join *join;   // run/state.h; while a batch is taken
    char *target, *target_message; // of a tool frame: the transfer it asks for
    char *escalation;              // of a tool frame: why it asks to escalate
    const char *call_id;           // of a tool frame
    cadre_id open_message;         // its pieces are shown; ended by the next output
    int turn;
    int64_t history_limit; // run/model_window.h; tokens that its turns keep to; 0: none
    size_t n_spawned;      // runs of its own
    unsigned n_batches;    // for automatic keys
    size_t n_read;         // messages of the conversation read again from the record
    size_t n_recorded;     // those that it held when `run` began
    int cancel_fd;         // -1: none yet
    cadre_status sticky;   // EDIVERGED, once a call differed from its record; EPARKED
    unsigned char stop_reason;
    char id_text[CADRE_ID_TEXT_SIZE];
};

typedef struct cdr_outbox {
    cadre_fact *facts;
    size_t n_facts, capacity;
    cdr_arena texts;
    cdr_message **messages; // references, for the texts of message facts
    size_t n_messages, messages_capacity;
    cdr_event_node *events, **events_end;
} cdr_outbox;

// Of a run that another one spawned.
typedef struct cdr_spawn {
    cadre_id by; // a frame of that one; none: it was not spawned
    cadre_id report_to;
    const char *within; // type of the tool that it was spawned below; "": of none
} cdr_spawn;

struct cdr_tree {
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_id trace;
    char trace_text[CADRE_ID_TEXT_SIZE];
    cadre_limits limits;
    json_t *inputs;
    const char *options; // what it was started with, see run/options.h; in the arena
    bool texts_changed;  // since then
    bool has_budgets;    // of the team, or given with the run; of tokens or money
    int64_t lease_epoch; // of this run's hold on the trace
    const char *lease_owner; // names this run; in the arena
    cdr_queue queue;
    bool is_session;
    cdr_spawn spawn;
    cdr_mutex mu;
    cdr_cond flushed;
    cadre_frame *root;
    cadre_frame **buckets; // guarded by mu, as all below; by (parent, key)
    size_t n_buckets, n_frames;
    int64_t last_seq;
    int64_t n_model_calls, n_tool_calls;
    int64_t largest_output; // tokens of one answer so far, where budgets are kept
    int *script_used;       // by agent index
    bool *is_agent_stopped; // the same: it was, once, before it came to an answer
    int *script_results;    // by tool index
    cdr_replay *replay;     // NULL: the script is no recording, or there is none
    cdr_outbox outbox, spare;
    uint64_t n_appended, n_committed; // facts and events
    bool is_flushing;
    bool is_shown;          // a batch was committed, so its stream_start was told
    cadre_error lost;       // the store failed: nothing more is written
    int64_t marked_ns;      // when the root was marked; 0: never
    int64_t wall_offset_ns; // from the monotonic clock to the wall's, for people
    // Who asked for it; in the arena below. Read without a lock.
    _Atomic(const char *) mark_text;
    cdr_arena arena;
    cdr_inbox inbox;
    cdr_park park;
    int n_stragglers;            // threads that do not heed their mark
    cadre_frame *retired;        // what they may still look at; by `next`
    cdr_hearing *hearings_ended; // and those that they may still tell
};

static inline bool cdr_frame_is_ended(const cadre_frame *frame)
{
    return frame->status >= CADRE_FRAME_COMPLETED;
}

// The shorter of two times in ms, of which 0 is none.
static inline int64_t cdr_shorter_ms(int64_t a, int64_t b)
{
    return b > 0 && (a == 0 || b < a) ? b : a;
}

// When a time that began at `started_ns` is up; CDR_NEVER when that is too far off.
static inline int64_t cdr_deadline_ms(int64_t started_ns, int64_t timeout_ms)
{
    int64_t started_ms = started_ns / 1000000;
    return timeout_ms > CDR_NEVER - started_ms ? CDR_NEVER : started_ms + timeout_ms;
}

cdr_tree *cdr_tree_new(cadre_team *team, cadre_error *err);
void cdr_tree_free(cdr_tree *tree); // when no strand is left in it

// A child by its key, as far as it is in memory; NULL: there is none.
cadre_frame *cdr_frame_child_locked(cadre_frame *parent, const char *key)
    CDR_REQUIRES(parent->tree->mu);

// Is the message at this position of the frame's conversation hidden from it?
bool cdr_frame_is_hidden(const cadre_frame *frame, size_t position);

// What a frame that was stopped must end as, and its sticky status.
cadre_status cdr_frame_stopped(const cadre_frame *frame, cadre_error *err);

// Marks a frame and all live ones below and wakes their strands.
void cdr_frame_mark_locked(cadre_frame *frame, cdr_mark mark);

// Keeps the why of "request: why"; the first one stays. Needs tree->mu once the tree is
// in use.
void cdr_tree_keep_reason(cdr_tree *tree, const char *reason);

// Somebody outside has marked a frame of this tree: "request", "request: why". One that
// is not there any more has ended.
void cdr_tree_take_mark(cdr_tree *tree, cadre_id frame, const char *reason);

// Notes which frames the store has refused, since somebody outside had stopped what
// they are below: what they would have used is not counted.
void cdr_tree_note_refused_locked(cdr_tree *tree, const cadre_fact *facts, size_t n);

// The word of a mark in the store, and what a word there stands for.
const char *cdr_mark_name(cdr_mark mark);
cdr_mark cdr_mark_of(const char *name);

// Marks the topmost frame on the way up whose time is up. False: none is.
bool cdr_frame_expire(cadre_frame *frame);

// Waits on the frame's strand until woken, marked or late; `seen` from before looking.
void cdr_frame_wait(cadre_frame *frame, unsigned seen, int64_t deadline_ms);

cdr_work *cdr_work_new(cdr_strand *strand);
void cdr_work_free(cdr_work *work);

const char *cdr_frame_id_text(cadre_frame *frame);       // in its work
const char *cdr_frame_referer(const cadre_frame *frame); // api, agent, agent_fork

// The agent frame a frame works for: itself, or the nearest one above a model or tool.
const cadre_frame *cdr_frame_nearest_agent(const cadre_frame *frame);
char *cdr_frame_path_text(const cadre_frame *frame, cdr_arena *arena);
int64_t cdr_tree_now_ms(const cdr_tree *tree);

#endif
