// A model inside the process for the bench `ledger`: it answers with a tool call each
// time, and tells when it was asked.
#ifndef CADRE_BENCH_LEDGER_MODEL_H
#define CADRE_BENCH_LEDGER_MODEL_H

#include "ledger.h"

// What the model does at its nth call (from 0) of the process. One run at a time.
typedef struct ledger_plan {
    int n_turns;               // with a tool call each; then it answers with text
    void (*asked)(int n_done); // before each answer; NULL: nothing
} ledger_plan;

// A runtime on this store with a team: `turns` is an llm that calls its tool over and
// over; `calls` a function that calls the llm `one`, which answers at once, `n_turns`
// times. The plan is borrowed.
typedef struct ledger_team {
    cadre_runtime *runtime;
    cadre_team *team;
} ledger_team;

void ledger_team_open(ledger_team *it, const char *store, const char *root,
                      const ledger_plan *plan);
void ledger_team_close(ledger_team *it);

// Without limits.
extern const cadre_run_config ledger_run_config;

#endif
