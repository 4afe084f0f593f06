// A run inside: its tree and what its consumer holds.
//
// Thread: the consumer's, but for `ran`, `result` and `session`, which the root's
// thread writes before it settles `pending`.
#ifndef CDR_RUN_H
#define CDR_RUN_H

#include "run/execute.h"
#include "tree/tree.h"

// The stack tree as it was read from the store.
typedef struct cdr_run_listing {
    cadre_frame_info *frames;
    size_t n_frames, capacity;
    cdr_arena texts;
} cdr_run_listing;

void cdr_run_listing_fini(cdr_run_listing *listing);

// Who gave the root's answer: what it handed over to, or the delegate whose answer it
// took. In the listing; NULL: no memory.
const char *cdr_run_listing_speaker(const cdr_run_listing *listing);

// Reads the stack tree of a trace anew. Errors: ESTORE, ENOMEM.
cadre_status cdr_run_listing_read(cdr_run_listing *listing, cadre_runtime *runtime,
                                  cadre_id trace, cadre_error *err);

struct cadre_run {
    cdr_tree *tree;
    cdr_event_node *events; // taken, not yet given
    cdr_event_node *spent;  // given last
    cdr_ran ran;
    cadre_result result;
    char *session; // taken by this run; NULL: none, or given back
    cdr_strand owner;
    bool is_record; // it has ended before: nothing is done, its record answers
    int pending;    // 1 while the root's thread is at work; guarded by owner.mu
    cdr_run_listing listing;
    cdr_watched watched;           // while the root's thread is at work
    struct cdr_detached *detached; // of a background run; else NULL
};

// What is started: more than a program outside can say.
typedef struct cdr_start {
    cadre_team *team;
    const cadre_agent *root; // NULL: the team's; a resume takes that of the record
    const cadre_run_config *config;
    const char *parts;        // of the files; set by cdr_run_start
    const char *request_hash; // of the content; with a request id only
    cdr_spawn spawn;
    cadre_id *background_trace; // NULL: not in the background; else set before it runs
} cdr_start;

// As cadre_run_start and cadre_run_resume. `out` NULL: it goes on by itself, in the
// background, and frees itself.
cadre_status cdr_run_start(const cdr_start *start, cadre_run **out, cadre_error *err);
cadre_status cdr_run_resume(cadre_team *team, cadre_id trace,
                            const cadre_run_config *config, cadre_run **out,
                            cadre_error *err);

// Posts how a spawned run has ended to where it reports, with the next commit.
void cdr_run_report(cadre_run *run);

// Lets nobody hold the run: it frees itself when it has ended. Before it is launched.
// Errors: ENOMEM.
cadre_status cdr_run_detach(cadre_run *run, cadre_error *err);

// Frees a run that is not under way. NULL ok.
void cdr_run_destroy(cadre_run *run);

// Gives the root its thread. Errors: EBUSY.
cadre_status cdr_run_launch(cadre_run *run, cadre_error *err);

#endif
