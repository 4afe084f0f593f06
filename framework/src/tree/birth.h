// How a frame comes to be, or goes on from the record.
//
// Rules:
// 1. Entering is find-or-create by (parent, key): an ended frame answers, a cut one
//    goes on, one that is not there is born.
// 2. Nothing is born under a mark, nor deeper than the limit and the stack allow.
// 3. What a birth opens and tells are facts of the same commit.
//
// Thread: needs tree->mu.
#ifndef CDR_BIRTH_H
#define CDR_BIRTH_H

#include "tree/pot.h"

typedef struct cdr_birth {
    cdr_frame_kind kind;
    const char *name;
    const cadre_agent *agent;
    const char *key;                // NULL: "<name>#<n>"
    bool is_named;                  // the key was given by the agent's own code
    cdr_conversation *conversation; // a reference is taken; NULL: the parent's
    cdr_conversation *opens;        // the same, when it is born with the frame
    cdr_text *input;                // a reference is taken
    cdr_scope_state *scope;
    cadre_tools tools;
    const json_t *demanded; // see cadre_frame
    const cdr_ear *ear;     // NULL: the parent's
    int64_t deadline_ms;    // 0: the parent's; else in its place, as after a transfer
    int64_t timeout_ms;     // 0: none of its own
    int64_t started_ns;     // from when its time counts; 0: now
    const cadre_budget *budget; // of the run or the call; NULL: none
    cdr_amount budget_used;     // of it, by attempts before
    cadre_history history;
    const char *session; // of the root: the name of its conversation; NULL: none
    cadre_event *event;  // told instead of frame_start; a tool's call
    bool reads_parent;   // a fork that may look at its parent's conversation
    bool is_blocking, is_fork, is_quiet, is_transfer, is_pending, is_waiting;
    bool replay_safe;
} cdr_birth;

// What entering found: nothing, a record that ended, or one that was cut and goes on.
typedef enum cdr_entered {
    CDR_ENTERED_NEW,
    CDR_ENTERED_AGAIN, // its input and conversation are there
    CDR_ENTERED_RECORD // it answers from the record
} cdr_entered;

// Finds or makes a frame.
// Errors: the parent's sticky status, ELIMIT (depth, with the path), EDIVERGED, EINVAL
// (its key is in use), ENOMEM.
cadre_status cdr_frame_enter_locked(cadre_frame *parent, const cdr_birth *birth,
                                    cadre_frame **out, cdr_entered *how,
                                    cadre_error *err) CDR_REQUIRES(parent->tree->mu);

// Tells the runtime's witness, if there is one, that a call with this input has found
// its frame. What enters a frame does so; for who looks it up by itself.
void cdr_frame_witness_locked(const cadre_frame *record, const char *input);

// Makes the root, and starts the stream. NULL: no memory.
cadre_frame *cdr_frame_new_root_locked(cdr_tree *tree, const cdr_birth *birth)
    CDR_REQUIRES(tree->mu);

// The root of a loaded tree goes on; the stream starts once more. Of `birth` its time
// and its budget count. False: no memory.
bool cdr_frame_resume_root_locked(cdr_tree *tree, const cdr_birth *birth)
    CDR_REQUIRES(tree->mu);

// pending -> running; a fact when `tell`.
void cdr_frame_start_locked(cadre_frame *frame, bool tell);

#endif
