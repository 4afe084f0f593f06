// A team under test: a runtime whose models are driven, a fake clock when it is asked
// for, a tool that counts, and one run after the other with everything it told.
//
// Running out of memory ends the program. Thread: one at a time; the tool: any.
#ifndef SUPPORT_TEAM_CASE_H
#define SUPPORT_TEAM_CASE_H

#include "support/check.h"
#include "support/driven_model.h"
#include "support/recorder.h"

#include "base/clock.h"

#include <stdatomic.h>

#define DRIVEN_MODEL "driven/test"

typedef struct team_case {
    cadre_runtime *runtime;
    cadre_team *team;
    cdr_clock *clock; // a fake one; NULL: the real one
    // Of the last run; freed by the next one and by team_case_close.
    cadre_run *run;
    recorder recorder;
    const cadre_result *result;
    cadre_status status;
    cadre_error err;
} team_case;

// Opens a runtime with the driven model, and an empty team named "team".
void team_case_open(team_case *t);
void team_case_open_fake(team_case *t); // with a clock that stands still
void team_case_close(team_case *t);

// Starts a run and leaves it to the test. NULL: the test has failed.
cadre_run *team_case_start(team_case *t, const cadre_run_config *config);

// Reads the run to its end: recorder, result, status and err.
void team_case_finish(team_case *t);

// Both, with an input or a whole configuration.
void team_case_run(team_case *t, const char *input);
void team_case_run_with(team_case *t, const cadre_run_config *config);

// The stack tree of the last run: "KIND NAME KEY STATUS REASON", indented, a line each.
// Checks that parents come first and depths are right. free() it.
char *team_case_frames(team_case *t);

// A tool that adds a and b: "add({"a":3,"b":4})" is "7".
typedef struct adder {
    atomic_int n_runs;
} adder;
void team_case_add_adder(team_case *t, adder *counts);

// A handoff "desk" over alice, bob (both with the adder) and carol; edges: alice and
// bob to both others, carol to alice. `options`: the block of the desk, or NULL.
void team_case_add_desk(team_case *t, const char *options, adder *counts);

// The last run completed with that answer of that agent.
void team_case_check_answer(team_case *t, const char *agent, const char *text);

#endif
