// A transfer scope at work: the transfers asked for so far and the standard controller.
//
// Rules:
// 1. The state is a function of the transfers of the scope, in order, refused ones too.
// 2. A decision costs the same however many there were.
// 3. The first hit of a rule refuses, the next hit of any rule stops.
//
// Thread: the transfers of a scope follow one another; one thread at a time.
#ifndef CDR_SCOPE_H
#define CDR_SCOPE_H

#include "cadre/ext/scope.h"

#include "tree/tree.h"

struct cdr_scope_state {
    const cadre_scope *scope;
    cadre_transfer_limits limits; // with defaults
    cadre_transfer_record *records;
    size_t n_records, capacity;
    struct cdr_seen *seen; // (from, to, message) and how often; open addressing
    size_t n_seen, seen_capacity;
    int64_t deadline_ms; // of the whole chain, however often it is handed over
    int *in_window;      // by agent index: how often in the window
    int unique;          // agents in the window
    int n_hits;
};

typedef enum cdr_transfer_kind {
    CDR_TRANSFER_DONE,
    CDR_TRANSFER_REFUSED,
    CDR_TRANSFER_UNKNOWN,
    CDR_TRANSFER_SELF,
    CDR_TRANSFER_STOP
} cdr_transfer_kind;

enum {
    CDR_DECISION_SIZE = 1200
};

typedef struct cdr_transfer_decision {
    cdr_transfer_kind kind;
    const cadre_agent *to; // known targets only
    cadre_history history;
    int64_t timeout_ms;
    bool is_quiet; // asked for by who hands over
    bool
        is_fallback; // run/fallback.h: not asked for by a model, and no scope is needed
    cadre_stop_reason stop_reason;
    char text[CDR_DECISION_SIZE]; // what the model reads
} cdr_transfer_decision;

// Is the scope that a call in this frame gives usable? Errors: EINVAL.
cadre_status cdr_scope_check(const cadre_scope *scope, const cadre_frame *frame,
                             cadre_error *err);

// Copies nothing: `scope`, which was checked, must outlive the state. NULL: no memory.
cdr_scope_state *cdr_scope_new(const cadre_scope *scope, const cadre_team *team,
                               cadre_error *err);
void cdr_scope_free(cdr_scope_state *state); // NULL ok

// May `from` hand over to `to`? No, when it has no such edge.
cadre_edge cdr_scope_edge(const cdr_scope_state *state, const cadre_agent *from,
                          const cadre_agent *to);

// The member a model meant: case, blanks and quotes are forgiven. NULL: none.
const cadre_agent *cdr_scope_find(const cdr_scope_state *state, const char *name);

// Is the agent a member?
bool cdr_scope_has(const cdr_scope_state *state, const cadre_agent *agent);

// Decides on a transfer that `from` asks for and counts it. Errors: ENOMEM.
cadre_status cdr_scope_decide(cdr_scope_state *state, const cadre_agent *from,
                              const char *target, const char *message,
                              cdr_transfer_decision *decision, cadre_error *err);

#endif
