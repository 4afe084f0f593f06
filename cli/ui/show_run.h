// What people and programs see of a run: answer, JSON or events on stdout; the trace
// id, the live tree, the stack tree and a summary on stderr.
//
// Thread: one thread; blocks until the run has ended.
#ifndef CLI_SHOW_RUN_H
#define CLI_SHOW_RUN_H

#include "output.h"
#include "signals.h"

#include <cadre/run.h>

typedef enum cli_show_form {
    CLI_SHOW_ANSWER,
    CLI_SHOW_JSON,
    CLI_SHOW_EVENTS
} cli_show_form;

typedef struct cli_show_config {
    cli_show_form form;
    bool is_quiet;         // stderr: failures only
    bool is_plain;         // no colours, nothing is drawn again
    bool wants_all_frames; // --json: models and tools too
    const char *timeout;   // of the run, as it was given; NULL: none
    int64_t timeout_ms;
    const char *resume; // what stands after "cadre resume TRACE" to go on with the run
                        // if this program ends before it; NULL: nobody can
    const char
        *options; // what stands at the end of other commands on the run; the same
    bool is_one_of_many; // stdout stays open, stderr gets one line
    cli_output *output;  // of the conversation whose turn it is: stdout stays open, and
                         // stderr gets the summary alone; NULL: it is no turn
} cli_show_config;

// Shows the run to its end, closes stdout unless more will be written, and returns what
// the program exits with. The run is stopped by `signals`, which were initialised
// before it started.
int cli_show_run(cadre_run *run, cli_signals *signals, const cli_show_config *config);

#endif
