// A team that is looked at and not run: what `cadre check` and `cadre draw` share.
//
// Thread: one thread.
#ifndef CLI_TEAM_FILE_H
#define CLI_TEAM_FILE_H

#include "options.h"

#include <cadre/cadre.h>

typedef struct cli_team_file {
    cadre_runtime *runtime;
    cadre_team *team; // with its mistakes; NULL: it cannot be read
    cadre_error err;  // why it is not sound
    bool is_told;     // on stderr already
} cli_team_file;

// Loads the command's first argument, as its options --offline, --script and --type
// say. CLI_EXIT_OK, or what the program exits with. Close it in both cases.
int cli_team_file_open(cli_team_file *file, const cli_arguments *arguments);
void cli_team_file_close(cli_team_file *file);

// The same, with failures told on stderr.
int cli_team_file_open_or_tell(cli_team_file *file, const cli_arguments *arguments);

#endif
