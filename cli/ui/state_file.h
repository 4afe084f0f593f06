// The files that the program keeps for its user: below $XDG_STATE_HOME/cadre, else
// below ~/.local/state/cadre.
//
// Thread: one thread.
#ifndef CLI_STATE_FILE_H
#define CLI_STATE_FILE_H

#include <cadre/error.h>
#include <stdbool.h>
#include <stddef.h>

// An environment variable; NULL: not set, or empty.
const char *cli_state_variable(const char *name);

// Gives the path of the file. False: nobody says where, or the path is too long.
bool cli_state_file(const char *name, char *path, size_t size_bytes);

// Makes the folders above a file; those that are there stay as they are. Errors:
// ESTORE naming the file and the folder.
cadre_status cli_state_make_folders(const char *file, cadre_error *err);

#endif
