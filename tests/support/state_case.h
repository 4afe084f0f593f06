// What the tests of a run's state share: setting it with JSON texts, seeing all of it,
// and what was recorded of a frame.
//
// Thread: that of the frame, or of the test.
#ifndef STATE_CASE_H
#define STATE_CASE_H

#include "support/team_case.h"

// What a frame sees, as JSON with its keys in order; in its arena.
const char *state_seen(cadre_frame *frame);

// Sets a key to a JSON text.
cadre_status state_put(cadre_frame *frame, const char *key, const char *text,
                       cadre_error *err);

// The first frame of that key in the last run added this; "": nothing.
void state_check_delta(team_case *t, const char *key, const char *expected);

#endif
