// A lead that listens to what it calls: to a batch, a call or a delegate, as a test
// sets it, and everything it heard as text.
//
//     batch_case_open(&t, listen_lead);
//     listen_set(LISTEN_BATCH, CADRE_ALL, "alice", "quick");
//     batch_case_run(&t);
//     CHECK_CONTAINS(listen_text(), "0 alice alice frame_end completed final A\n");
//     listen_close(&t);
//
// Thread: the test's, when no run is under way; `listen_at` is called on the lead's.
#ifndef SUPPORT_LISTEN_CASE_H
#define SUPPORT_LISTEN_CASE_H

#include "support/batch_case.h"

typedef enum listen_how {
    LISTEN_BATCH,
    LISTEN_CALL,
    LISTEN_DELEGATE
} listen_how;

// What the lead does, and what came of it.
typedef struct listened_to {
    listen_how how;
    cadre_wait wait;
    const char *names[2];
    size_t n;
    unsigned flags; // cadre_call_flags
    cadre_status status;
    cadre_error err;
    char texts[2][300]; // "AGENT: TEXT" or "AGENT! ERROR"
    size_t winner;
} listened_to;

extern listened_to listened;

// Called with each event; may call others with the frame. False: stop. NULL: goes on.
extern bool (*listen_at)(const cadre_event *event);
extern cadre_frame *listen_frame; // the lead's

// The lead's work: it says "returned" whatever its calls came to, but for parking.
cadre_status listen_lead(void *ctx, cadre_frame *frame, cadre_error *err);

// `second` may be NULL. Forgets what was heard, and listen_at.
void listen_set(listen_how how, cadre_wait wait, const char *first, const char *second);

// Lines "INDEX CALLEE AGENT TYPE SAYS", the last part as in recorder.h, and "returned"
// where the calls returned. Borrowed.
const char *listen_text(void);
void listen_forget(void);

// Closes the case, too.
void listen_close(team_case *t);

#endif
