// Rows and facts: what a run leaves in a store, one struct a table.
//
// Texts may hold any UTF-8; a NULL text is "". All pointers are borrowed for the call
// they are given to.
// Thread: plain data.
#ifndef CADRE_EXT_ROWS_H
#define CADRE_EXT_ROWS_H

#include "cadre/ext/id.h"
#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cadre_fact_type {
    CADRE_FACT_CONVERSATION,
    CADRE_FACT_TRACE,
    CADRE_FACT_FRAME,   // a birth; pending, running or, of a question, waiting
    CADRE_FACT_RUNNING, // an intent, another attempt, or (status WAITING) it waits for
                        // a person; uses id, status, attempts, restarts and, unless
                        // 0 or "", start_seq and delta
    CADRE_FACT_MARK,    // this frame and all live ones below must end; uses id, mark
    CADRE_FACT_END,     // uses id, status, attempts unless 0, the fields of an end
    CADRE_FACT_MESSAGE  // said, or placed from the inbox when the id is there
} cadre_fact_type;

typedef struct cadre_conversation_row {
    cadre_id id;
    const char *session;         // "" when it has no name
    cadre_id owner_conversation; // both or none
    cadre_id owner_frame;
    cadre_id base; // a fork: reads this one up to base_position
    int64_t base_position;
} cadre_conversation_row;

typedef struct cadre_trace_row {
    cadre_id id;
    cadre_id spawned_by; // a frame of another trace; none
    const char *team;
    const char *shape_digest, *text_digest; // of the team that ran it
    const char *options; // JSON of the run's settings; never a secret
    // Written by the store:
    int64_t last_seq;
    const char *lease_owner; // who holds it; "" when nobody does
    int64_t lease_epoch;
    int64_t lease_expires_at; // by the store's clock, ms since 1970
    int64_t created_at;
    cadre_frame_status status;               // of its root
    int64_t cost_usd_micros, unpriced_calls; // the same, once that has ended; else 0
} cadre_trace_row;

typedef struct cadre_frame_row {
    cadre_id id, parent; // no parent: the root
    cadre_id trace;      // when read; a fact's is that of its batch
    cadre_id conversation;
    const char *key, *kind, *name, *referer;
    const char *input;
    int depth;
    cadre_frame_status status; // when born: PENDING, RUNNING or WAITING
    int attempts;
    int restarts; // times it was found running, since its last progress
    bool replay_safe;
    const char *mark;  // reason; "" when it has none
    const char *delta; // JSON: what it added to the state; "" when nothing, or it did
                       // not complete. Of an end, and of what has handed over
    // Of an end:
    const char *output;
    cadre_stop_reason stop_reason;
    const char *error;
    cadre_error_class error_class;
    bool error_retryable;
    cadre_usage own, usage;
    int64_t start_seq, end_seq;
    int64_t created_at, completed_at; // wall time, for people
    int64_t duration_ms;
} cadre_frame_row;

typedef struct cadre_message_row {
    cadre_id id, conversation;
    cadre_id frame; // whose work it was; in the inbox: the question it answers, or none
    cadre_id trace; // when read by CADRE_QUERY_POSTED: which works there; else of one
                    // that is said and has a request id: that of its frame; none
    int64_t number; // when read by CADRE_QUERY_POSTED: of the posting, growing; or 0
    cadre_message
        message; // its id and frame_id are not used; position -1: in the inbox
    const char *request_id;   // "" when it has none
    const char *request_hash; // of the content, to tell a repeat from a mistake
} cadre_message_row;

typedef struct cadre_fact {
    cadre_fact_type type;
    bool refused; // set by the store: a birth under a mark or an end
    union {
        cadre_conversation_row conversation;
        cadre_trace_row trace;
        cadre_frame_row frame; // FRAME, RUNNING, MARK, END; the others use a part
        cadre_message_row message;
    } u;
} cadre_fact;

#ifdef __cplusplus
}
#endif

#endif
