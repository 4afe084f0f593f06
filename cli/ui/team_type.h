// --type: the root of a team under another topology than its file says.
//
// Thread: one thread.
#ifndef CLI_TEAM_TYPE_H
#define CLI_TEAM_TYPE_H

#include "options.h"

#include <cadre/team.h>

// For a table of options.
#define CLI_TYPE_OPTION                                                                \
    {                                                                                  \
        "type", "TYPE", "run the root under another topology than its file says"       \
    }

// Is there a topology of this name? CLI_EXIT_OK, or a failure told on stderr with the
// nearest name and all there are. `what`: where it was given ("option '--type'").
int cli_team_type_check(const cli_arguments *arguments, const char *what,
                        const char *type);

// Reads --type; NULL: not given, or the command has no such option. The same.
int cli_team_type_read(const cli_arguments *arguments, const char **type);

#endif
