// Background runs that the runs of this program spawned: waited for before it ends, and
// told of where they need somebody.
//
// Thread: one thread.
#ifndef CLI_BACKGROUND_H
#define CLI_BACKGROUND_H

#include <cadre/runtime.h>
#include <stdbool.h>

typedef struct cli_background {
    cadre_runtime *runtime;
    const char *options; // as in cli_show_config
    bool is_quiet;
    json_t *spawners; // owned, a set: runs some of whose background runs are not over
    json_t *told;     // owned, a set: "TRACE STATUS"
} cli_background;

// Runtime and options must outlive it.
void cli_background_init(cli_background *background, cadre_runtime *runtime,
                         const char *options, bool is_quiet);
void cli_background_fini(cli_background *background); // all zero is ok

// Takes note of a run that was made here and may have spawned others.
void cli_background_add(cli_background *background, const char *trace);

// Tells those that wait for a person, with their questions, and those that failed,
// each once. Also of what was spawned by these.
void cli_background_tell(cli_background *background);

// Waits until none is under way; says so on stderr unless it is quiet, and then tells.
// Ctrl-C ends the program and leaves them cut, for `cadre resume --all`. Blocks.
void cli_background_wait(cli_background *background);

#endif
