// The command line of one command, read by its table of options.
//
// Options may stand anywhere: --name, --name VALUE, --name=VALUE; "--" ends them;
// "-" is an argument. An option given twice: the last counts, unless the command
// asks for all.
//
// Thread: one thread; the texts are those of argv.
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "command.h"

#include <stdint.h>

typedef struct cli_given {
    const cli_option *option;
    const char *value; // NULL of a flag
} cli_given;

struct cli_arguments {
    const cadre_command *command;
    const char **texts; // what is no option, in order
    size_t n_texts;
    cli_given *given; // in order
    size_t n_given;
    bool wants_help; // nothing else was checked then
};

// Reads argv after the command's name. CLI_EXIT_OK, or a failure already told.
int cli_arguments_init(cli_arguments *arguments, const cadre_command *command,
                       char **argv, size_t n);
void cli_arguments_fini(cli_arguments *arguments);

// `name` must be in the command's table.
bool cli_arguments_has(const cli_arguments *arguments, const char *name);
// Is it given? The command may have no flag of this name.
bool cli_arguments_has_flag(const cli_arguments *arguments, const char *name);
const char *cli_arguments_value(const cli_arguments *arguments, const char *name);
// The same; the command may have no such option.
const char *cli_arguments_find(const cli_arguments *arguments, const char *name);

// The nth argument; NULL: not given.
const char *cli_arguments_text(const cli_arguments *arguments, size_t nth);

#endif
