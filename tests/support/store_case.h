// What the tests of stores share: facts with ids made by hand, and what was read as
// text.
//
// Frame 3 whose parent is 1 reads "3<1 running", ended or marked "3<1 aborted marked
// request = its output"; one that added to the state ends with " + " and that. Message
// 0 of a conversation "0 its text", one in the inbox "-1 its text".
//
// Thread: one at a time; a copy of a store_case is the same store with an error and a
// text of its own.
#ifndef STORE_CASE_H
#define STORE_CASE_H

#include "support/check.h"

#include "cadre/ext/store.h"

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

typedef struct store_case {
    const cadre_store_ops *ops;
    void *state;
    int64_t epoch;         // of all commits
    cadre_error err;       // of the last call
    uint64_t conversation; // of the session that was read last
    char folder[64];       // for a store that keeps files
    cadre_frame_row frame; // that was read last; its texts are gone
    char seen[4096];       // what was read last, a line a row
} store_case;

// The store of the running test: a fresh one for each test, of each implementation.
extern store_case tested;

// Runs a table of tests (as check_main does) once for each registered store.
int store_case_main(const char *suite, const CU_TestInfo *tests);

cadre_id store_id(uint64_t n); // 0: no id

cadre_fact fact_trace(uint64_t id);
cadre_fact fact_conversation(uint64_t id, const char *session);
cadre_fact fact_frame(uint64_t id, uint64_t parent, const char *key); // running
cadre_fact fact_running(uint64_t id, int attempts);
cadre_fact fact_mark(uint64_t id, const char *reason);
cadre_fact fact_end(uint64_t id, const char *output);       // completed
cadre_fact fact_added(cadre_fact frame, const char *delta); // of RUNNING and END
cadre_fact fact_message(uint64_t in, uint64_t of, int64_t position, const char *text);

// The same frame in another conversation than 100.
cadre_fact fact_in(cadre_fact frame, uint64_t conversation);

// A conversation with an owner.
cadre_fact fact_owned(uint64_t id, uint64_t owner_conversation, uint64_t owner_frame);

// For an inbox; ids of such messages are told. NULL request: it has none.
cadre_fact fact_post(uint64_t id, uint64_t in, const char *text, const char *request);

cadre_status store_commit(store_case *s, uint64_t trace, cadre_fact *facts, size_t n);

// Commits the facts that are named, all in one batch.
#define COMMIT(s, trace, ...)                                                          \
    store_commit((s), (trace), (cadre_fact[]){__VA_ARGS__},                            \
                 N_OF(((cadre_fact[]){__VA_ARGS__})))

#define CHECK_COMMIT(s, trace, ...) CHECK_OK(COMMIT(s, trace, __VA_ARGS__), &(s)->err)

#define CHECK_VIOLATION(s, trace, ...)                                                 \
    CHECK_STATUS(COMMIT(s, trace, __VA_ARGS__), CADRE_ESTORE, &(s)->err)

#define CHECK_BUSY(s, trace, ...)                                                      \
    CHECK_STATUS(COMMIT(s, trace, __VA_ARGS__), CADRE_EBUSY, &(s)->err)

cadre_status store_post(store_case *s, cadre_fact *facts, size_t n);

#define POST(s, ...)                                                                   \
    store_post((s), (cadre_fact[]){__VA_ARGS__}, N_OF(((cadre_fact[]){__VA_ARGS__})))

#define CHECK_POST(s, ...) CHECK_OK(POST(s, __VA_ARGS__), &(s)->err)

// Posts one fact that must be taken; is it refused?
bool store_refuses_post(store_case *s, cadre_fact fact);

// Asks for the lease of trace 1, from a holder who is gone (NULL: none); gives its
// epoch, -1 with the error in `err`.
int64_t store_lease(store_case *s, const char *owner, int seconds, const char *from);

// Commits trace 1 with conversation 100 and root 1.
void store_start(store_case *s);

// What is read, as text; borrowed until the next read. Of a session the last line is
// "in " and the number of its conversation.
extern const cadre_store_reader store_messages_only;
const char *store_read_trace(store_case *s, uint64_t id,
                             const cadre_store_reader *reader);
const char *store_frames(store_case *s, uint64_t id);
const char *store_live(store_case *s, uint64_t id);
const char *store_session(store_case *s, const char *name);

#endif
