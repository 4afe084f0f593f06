// To add a store: one const table of this kind, in a file of its own in stores/.
//
// A run writes facts, in order, a batch at a time, with one batch of a trace under way
// at once. A fact is never changed: a frame is born, starts, ends once; a message is
// said. What a store must keep true by itself:
// 1. A batch is whole or not there. When commit returns OK it survives what the store
//    promises to survive.
// 2. No birth under a parent that ended or is marked: that fact is refused (flag), its
//    batch goes on; what depends on a refused birth is refused too.
// 3. (parent, key) is unique, a trace has one root, a conversation's positions count
//    from 0 (that of a refused message stays empty), no frame ends before its children,
//    and what a fact names (trace, frame, conversation of a message) was there before
//    it. A violation fails the batch with ESTORE.
// 4. A frame ends once; a second end is ignored. Its first mark stays.
//
// Texts may hold any UTF-8. A NULL text is "".
#ifndef CADRE_EXT_STORE_H
#define CADRE_EXT_STORE_H

#include "cadre/ext/id.h"
#include "cadre/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cadre_fact_type {
    CADRE_FACT_CONVERSATION,
    CADRE_FACT_TRACE,
    CADRE_FACT_FRAME,   // a birth; pending or running
    CADRE_FACT_RUNNING, // pending to running: an intent, or another attempt; uses id,
                        // attempts and, unless 0, start_seq
    CADRE_FACT_MARK,    // this frame and all live ones below must end; uses id, mark
    CADRE_FACT_END,     // uses id, status, attempts unless 0, the fields of an end
    CADRE_FACT_MESSAGE
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
    const char *team;
    const char *options; // JSON of the run's settings; never a secret
} cadre_trace_row;

typedef struct cadre_frame_row {
    cadre_id id, parent; // no parent: the root
    cadre_id conversation;
    const char *key, *kind, *name, *referer;
    const char *input;
    int depth;
    cadre_frame_status status; // when born: PENDING or RUNNING
    int attempts;
    bool replay_safe;
    const char *mark; // reason; "" when it has none
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
    cadre_id id, conversation, frame;
    cadre_message message; // its id and frame_id are not used
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

typedef struct cadre_commit {
    cadre_id trace;
    int64_t last_seq;
    cadre_fact *facts;
    size_t n_facts;
} cadre_commit;

// Gets rows, parents before children and messages by position. Borrowed for the call.
// Anything but CADRE_OK ends the reading and is returned by it. NULL: not wanted.
typedef struct cadre_store_reader {
    cadre_status (*frame)(void *ctx, const cadre_frame_row *row, cadre_error *err);
    cadre_status (*message)(void *ctx, const cadre_message_row *row, cadre_error *err);
    void *ctx;
} cadre_store_reader;

// Thread: all but init and fini are called by many threads at once; no framework lock
// is held, so all may block.
typedef struct cadre_store_ops {
    size_t struct_size;
    const char *type, *summary;
    size_t state_size;

    // Required. `url` is what stands after "type:", "" when nothing does. Errors:
    // ECONFIG (the url), ESTORE, ENOMEM. After failure fini is called. May block.
    cadre_status (*init)(void *state, const char *url, cadre_error *err);
    void (*fini)(void *state);

    // Required. Makes a batch of facts true. Errors: ESTORE; then the outcome is
    // unknown and the trace stops.
    cadre_status (*commit)(void *state, cadre_commit *commit, cadre_error *err);

    // Required. Gives all frames of a trace, then the messages of the conversations
    // born in it that have no name. Errors: ESTORE; an unknown trace has none.
    cadre_status (*read_trace)(void *state, cadre_id trace,
                               const cadre_store_reader *reader, cadre_error *err);

    // Required. Finds a session's conversation (`id` none: there is none yet) and gives
    // its messages.
    cadre_status (*read_session)(void *state, const char *session, cadre_id *id,
                                 const cadre_store_reader *reader, cadre_error *err);

    // Optional. Nobody in this process looks at the trace any more: a store that lives
    // in memory may forget it, but not the conversation of a session.
    void (*release)(void *state, cadre_id trace);
} cadre_store_ops;

#ifdef __cplusplus
}
#endif

#endif
