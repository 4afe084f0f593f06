// The user's input from stdin.
//
// Thread: any; blocks.
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "options.h"

// Reads stdin to its end: UTF-8 without NUL, up to 16 MiB; one line end at the end is
// dropped. `out` is allocated with malloc. CLI_EXIT_OK, or a failure already told.
int cli_input_read(char **out);

// Reads the nth argument as an input: a text, or stdin for '-' and, where stdin is no
// terminal, for none. The same.
int cli_input_take(const cli_arguments *arguments, size_t nth, char **out);

#endif
