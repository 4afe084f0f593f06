// A run whose calls own others: an agent `main` with the tools `work` (a subagent) and
// `start` (which spawns the agent `aide`), driven, on each store.
//
// Thread: one at a time.
#ifndef OWNER_CASE_H
#define OWNER_CASE_H

#include "support/driven_model.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/trace.h"

// Of the running test.
extern lives owner_lives; // of one run after the other
extern cadre_run *owner_run;
extern const cadre_agent *owner_aide;

typedef cadre_status (*owner_tool)(void *ctx, cadre_frame *frame,
                                   const json_t *arguments, cadre_error *err);

// Opens the team with one more tool, `late`; NULL: without.
bool owner_case_open(const char *type, owner_tool late);
void owner_case_close(void);

// Starts a run in the session "s". False: the test has failed.
bool owner_case_begin(const char *input);

// Waits for its end, and that nothing of it is live any more.
void owner_case_finish(cadre_status expected);

// So many rows of what was recorded begin like this, or have this part.
void owner_case_check_row(const char *text, const char *part, int n);

// What the run spawned.
typedef struct owner_child {
    char id[64]; // the last one
    cadre_frame_status status;
    int count;
} owner_child;

owner_child owner_case_child(void);

#endif
