// What frames see of the state of a run, and what they add to it: their deltas.
//
// Rules:
// 1. `frame->state` is what a frame sees, NULL: the team's defaults; `frame->delta` is
//    what it and those it heard from added, NULL: nothing. Nobody who sets nothing pays
//    more than a reference.
// 2. A delta is an object: by key the last value (replace), the list of what was added
//    (append), the object of what was set (merge), the sum, or the list of updates
//    (custom). Deltas follow one another without knowing what they are added to.
// 3. A value that somebody else has too never changes; one that only its owner has is
//    changed in place, so that adding to a list costs what is added.
//
// Thread: state and delta belong to the thread that the frame's `run` is on, and to its
// caller once it has ended. Counts of references are atomic. No lock is held where a
// reducer is called.
#ifndef CDR_DELTA_H
#define CDR_DELTA_H

#include "team/state_keys.h"
#include "tree/tree.h"

// References that may be taken and given back by any thread. NULL ok.
json_t *cdr_json_share(json_t *value);
void cdr_json_unshare(json_t *value);

// Makes the delta of one update; the value is copied. New reference; NULL: `err`.
// Errors: EINVAL naming the key and what was given; ENOMEM.
json_t *cdr_delta_new(const cadre_team *team, const char *key, const json_t *value,
                      cadre_error *err);

// Adds a delta to what the frame sees and to its own. NULL: nothing to add. Errors:
// EINVAL (a sum that is too large, a value its reducer does not take), EFAILED (a
// custom reducer refused it): nothing was added. ENOMEM: a part may have been.
cadre_status cdr_delta_add(cadre_frame *frame, json_t *delta, cadre_error *err);

// Adds a delta behind those in `*sum` (NULL: none yet), of which the caller has a
// reference. False: no memory, or a sum is too large.
bool cdr_delta_append(const cadre_team *team, json_t **sum, json_t *delta);

// Reads a recorded delta; "" gives NULL. Errors: ESTORE (it is none), ENOMEM.
cadre_status cdr_delta_read(const char *text, json_t **out, cadre_error *err);

#endif
