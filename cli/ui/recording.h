// --record FILE: the runs that a command makes, as a script that makes them again.
//
// The file is made whole beside its place and moved there, so nobody sees a part of it;
// only its owner may read it.
//
// Thread: one thread.
#ifndef CLI_RECORDING_H
#define CLI_RECORDING_H

#include "options.h"
#include "script_text.h"

#include <cadre/record.h>

// The options of a command that records.
#define CLI_RECORDING_OPTIONS                                                          \
    {"record", "FILE",                                                                 \
     "write all answers of the run to a script file: .yaml or .json"},                 \
    {                                                                                  \
        "force", NULL, "with --record: replace the file"                               \
    }

typedef struct cli_recording {
    const char *path; // NULL: nothing is recorded
    cli_script_form form;
    json_t *script;  // owned; NULL: no run yet
    bool is_partial; // a run could not be added, which was told
} cli_recording;

// Reads the options, which the command need not have, and looks whether the file can be
// written. CLI_EXIT_OK, or a failure told on stderr. Fini it in both cases.
int cli_recording_init(cli_recording *recording, const cli_arguments *arguments);
void cli_recording_fini(cli_recording *recording);

// Adds a run of the runtime's store, as far as it is recorded.
void cli_recording_add(cli_recording *recording, cadre_runtime *runtime,
                       const char *trace);

// Writes the file, if there was a run. Returns `exit_status`, or what a failure makes
// of it, told on stderr.
int cli_recording_write(cli_recording *recording, int exit_status);

#endif
