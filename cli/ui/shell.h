// Words of a command line, printed so that a shell reads them as they were.
//
// Thread: any.
#ifndef CLI_SHELL_H
#define CLI_SHELL_H

#include "options.h"

#include <stdio.h>

// One word, quoted where it needs it.
void cli_shell_print(FILE *stream, const char *word);

// Those of the `n` named options that were given, each with a blank before it:
// " --store FILE --offline". The command may lack some of them.
void cli_shell_print_options(FILE *stream, const cli_arguments *arguments,
                             const char *const *names, size_t n);

#endif
