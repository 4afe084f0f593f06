// To add a store: one const table of this kind, in a file of its own in stores/.
//
// A trace's holder (who has its lease) writes facts, in order, a batch at a time, with
// one batch of a trace under way at once. From outside a trace (no lease) only marks
// and rows of an inbox are written, by `post`. A fact is never changed: a frame is
// born, starts, ends once; a message is said. What a store must keep true by itself:
// 1. A batch is whole or not there. When commit returns OK it survives what the store
//    promises to survive.
// 2. No birth of a frame under a parent, or of a conversation under an owner, that
//    ended or is marked, and no RUNNING of a frame that is marked: that fact is refused
//    (flag), its batch goes on; what depends on a refused birth is refused too. So a
//    holder learns of a mark with the commit that reserves a call. A trace spawned by
//    a frame that ended or is marked is not born: EREFUSED.
// 3. (parent, key) is unique, a trace has one root, a conversation one live root, its
//    positions count from 0 (that of a refused message stays empty), no frame ends
//    before its children, and what a fact names (trace, frame, conversation, owner) was
//    there before it. A violation fails the batch with ESTORE.
// 4. A frame ends once; a second end is ignored. Its first mark stays.
// 5. A batch whose epoch is not that of the trace's lease changes nothing: ELOST.
// 6. A request id is unique in its conversation.
//
// A conversation's owner (both columns or none) never changes. A message without a
// position (-1) is in the inbox, of any trace's conversation; the holder of that one
// places it by a MESSAGE fact of the same id: it keeps its content. One with a frame
// answers the question which that is, so only while it lives. The same request posted
// again is taken, and changes nothing.
//
// Texts may hold any UTF-8. A NULL text is "".
#ifndef CADRE_EXT_STORE_H
#define CADRE_EXT_STORE_H

#include "cadre/ext/rows.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_commit {
    cadre_id trace;
    int64_t epoch;     // of the holder's lease; the batch with the TRACE fact makes
                       // it, for 60 s
    const char *owner; // who holds the new trace; with the TRACE fact only
    int64_t last_seq;
    cadre_fact *facts;
    size_t n_facts;
} cadre_commit;

// Gets rows, parents before children and messages by position. Borrowed for the call.
// Anything but CADRE_OK ends the reading and is returned by it. NULL: not wanted.
typedef struct cadre_store_reader {
    cadre_status (*trace)(void *ctx, const cadre_trace_row *row, cadre_error *err);
    cadre_status (*conversation)(void *ctx, const cadre_conversation_row *row,
                                 cadre_error *err);
    cadre_status (*frame)(void *ctx, const cadre_frame_row *row, cadre_error *err);
    cadre_status (*message)(void *ctx, const cadre_message_row *row, cadre_error *err);
    void *ctx;
} cadre_store_reader;

typedef enum cadre_query_kind {
    CADRE_QUERY_TRACE,   // its row, the conversations its frames work in, frames (by
                         // birth), messages (by conversation and position, inboxes
                         // last)
    CADRE_QUERY_SESSION, // a named conversation and its messages
    CADRE_QUERY_TRACES,  // trace rows, newest first
    CADRE_QUERY_LIVE,    // frames of a trace that have not ended
    CADRE_QUERY_POSTED,  // of all traces: frames that live and are marked, then the
                         // inboxes from number `after` on; what a holder looks at for
                         // what others wrote
    CADRE_QUERY_SPAWNED  // traces spawned by frame `frame`, or by any of `trace`;
                         // oldest first
} cadre_query_kind;

typedef struct cadre_query {
    cadre_query_kind kind;
    cadre_id trace, frame;
    const char *session;
    int limit;     // of traces; 0: all
    int64_t after; // of POSTED: messages with a higher number only; a hint
    // Of TRACE: messages are wanted where a live frame works, and those they are forks
    // of; the others may be left out.
    bool only_open;
} cadre_query;

typedef struct cadre_lease {
    cadre_id trace;
    const char *owner; // names a run of a process, see run/lease.h
    const char *from;  // who is known to be gone; NULL, "": only a free lease is taken
    int seconds;
    bool only_renew; // what the owner does not hold is not taken: ELOST
} cadre_lease;

// Thread: all but init and fini are called by many threads at once; no framework lock
// is held, so all may block.
typedef struct cadre_store_ops {
    size_t struct_size;
    const char *type, *summary;
    size_t state_size;
    // What it is linked to, for cadre_linked_versions: "SQLite", "3.40.1". NULL:
    // nothing.
    const char *library, *library_version;
    bool is_shared; // other processes may write to it too

    // Required. `url` is what stands after "type:", "" when nothing does. Errors:
    // ECONFIG (the url), ESTORE, ENOMEM. After failure fini is called. May block.
    cadre_status (*init)(void *state, const char *url, cadre_error *err);
    void (*fini)(void *state);

    // Required. Makes a batch of facts true. Errors: EBUSY when a root is born into a
    // conversation in which that of another trace lives; EREFUSED (rule 2); ESTORE,
    // then the outcome is unknown and the trace stops.
    cadre_status (*commit)(void *state, cadre_commit *commit, cadre_error *err);

    // Required. Writes marks (MARK facts) and inbox rows (MESSAGE facts with position
    // -1) from any process, without a lease. New work under a marked or ended owner, an
    // answer to a question that is not open, a request id used with other content:
    // refused (flag). Errors: ESTORE.
    cadre_status (*post)(void *state, cadre_fact *facts, size_t n_facts,
                         cadre_error *err);

    // Required. Takes, renews (same owner) or gives back (`seconds` 0) the lease of a
    // trace; taking it raises the epoch. Errors: EBUSY naming the holder; ENOTFOUND;
    // ELOST.
    cadre_status (*lease)(void *state, const cadre_lease *wanted, int64_t *epoch,
                          cadre_error *err);

    // Required. Gives the rows that were asked for. Errors: ESTORE; what is not there
    // gives no rows.
    cadre_status (*read)(void *state, const cadre_query *query,
                         const cadre_store_reader *reader, cadre_error *err);

    // Optional. Nobody in this process looks at the trace any more: a store that lives
    // in memory may forget it, but not the conversation of a session.
    void (*release)(void *state, cadre_id trace);
} cadre_store_ops;

#ifdef __cplusplus
}
#endif

#endif
