// Recorded runs, for the commands that look at them.
//
// Thread: one thread.
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "json_output.h"
#include "options.h"

#include <cadre/record.h>

typedef struct cli_record {
    cadre_runtime *runtime;
    cadre_record *record;
    const cadre_record_info *info;
    cli_frames frames; // with the root first
} cli_record;

// Opens the run `trace` of the store of the command line; NULL: its newest one. Returns
// CLI_EXIT_OK, or a failure told on stderr. Close it in both cases.
int cli_record_open(cli_record *record, const cli_arguments *arguments,
                    const char *trace);
void cli_record_close(cli_record *record);

// Has it ended? One that waits for an answer has not.
bool cli_record_has_ended(const cadre_record_info *info);

// The status as people and programs read it: a run that nobody runs any more is "cut".
const char *cli_record_status(const cadre_record_info *info);

// The process that holds the run, or did last; 0: nobody knows.
long cli_record_process(const cadre_record_info *info);

// {trace_id, team, status, session, spawned_by, held_by, created_at, offline, inputs,
// metadata}; new reference, NULL: no memory.
json_t *cli_record_json(const cadre_record_info *info);

#endif
