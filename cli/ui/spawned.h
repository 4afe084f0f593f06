// The background runs that a run spawned, as the store knows them now.
//
// Thread: one thread.
#ifndef CLI_SPAWNED_H
#define CLI_SPAWNED_H

#include <cadre/record.h>

typedef struct cli_spawned_run {
    char *trace;
    char *by; // the id of the frame that spawned it
    cadre_frame_status status;
    const char *state; // the status as people and programs read it
} cli_spawned_run;

typedef struct cli_spawned {
    cli_spawned_run *items;
    size_t n;
} cli_spawned;

// What the run itself spawned, oldest first. False: told on stderr; there are none
// then.
bool cli_spawned_init(cli_spawned *spawned, cadre_runtime *runtime, const char *trace);
void cli_spawned_fini(cli_spawned *spawned);

// The same, and then what these spawned.
bool cli_spawned_init_deep(cli_spawned *spawned, cadre_runtime *runtime,
                           const char *trace);

// [{trace_id, spawned_by, status}]; new reference, NULL: no memory.
json_t *cli_spawned_json(const cli_spawned *spawned);

#endif
