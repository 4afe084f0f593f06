// One run of a comparison, and the table of all of them.
//
// A trial is what --json prints of it: {type, status, stop_reason, output, error,
// usage, cost, duration_ms, depth, trace_id}. One that could not start has "failed" and
// an error, and null in the rest. Thread: one thread.
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include "json_output.h"
#include "terminal.h"

#include <cadre/run.h>
#include <stdio.h>

// Of a run that has ended. New reference; NULL: no memory.
json_t *cli_trial_of_run(const char *type, const cadre_result *result,
                         cli_frames frames);

// Of one that could not be loaded or started; `team` may be NULL. The same, with
// {problems} too.
json_t *cli_trial_of_error(const char *type, const cadre_error *err,
                           const cadre_team *team);

bool cli_trial_is_completed(const json_t *trial);

// A line for each, under a line of headings; answers are cut to what is left of the
// terminal's width. False: no memory.
bool cli_trials_print(FILE *stream, const json_t *trials, const cli_terminal *terminal);

#endif
