// What starting a run and going on with one have in common.
//
// Thread: one at a time.
#ifndef CDR_START_H
#define CDR_START_H

#include "run/run.h"

// May a run be made of these? Seals the team. Errors: as of cadre_run_start.
cadre_status cdr_start_check(cadre_team *team, const cadre_run_config *config,
                             cadre_error *err);

// A run with an empty tree. `inputs` are taken over. NULL: `err`.
cadre_run *cdr_start_run_take(cadre_team *team, const cadre_run_config *config,
                              json_t *inputs, cadre_error *err);

// The time a run has whose root is this agent, in ms; 0: no end.
int64_t cdr_start_timeout(const cadre_agent *root, const cadre_run_config *config);

// Fails at the public door with what went wrong behind it.
cadre_status cdr_start_fail(cadre_error *err, cadre_status status,
                            const cadre_error *why);

#endif
