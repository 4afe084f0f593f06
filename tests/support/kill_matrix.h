// The kill matrix: a run is cut at each commit, once before it and once after it, and
// goes on from the record; then it is cut twice, at each pair of commits. What is
// recorded in the end must be what the undisturbed run left, which must complete, and
// what was done meanwhile (lives_count) is bounded by what a cut may repeat.
//
// Thread: the test's.
#ifndef KILL_MATRIX_H
#define KILL_MATRIX_H

#include "support/lives.h"

// Checks a team on a store of that type. Its tools count in lives_count, and none but
// `safe` ones run.
void kill_matrix_check(lives_team make, const char *type);

// What its runs are started with: "I want to return order 1042".
const cadre_run_config *kill_matrix_request(void);

#endif
