// The user's input from stdin.
//
// Thread: any; blocks.
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "command.h"

// Reads stdin to its end: UTF-8 without NUL, up to 16 MiB; one line end at the end is
// dropped. `out` is allocated with malloc. CLI_EXIT_OK, or a failure already told.
int cli_input_read(char **out);

#endif
