// Help, made from the tables of the commands.
//
// Thread: any.
#ifndef CLI_USAGE_H
#define CLI_USAGE_H

#include "command.h"

#include <stdio.h>

void cli_usage_print_all(FILE *stream);
void cli_usage_print(FILE *stream, const cadre_command *command);

// NULL: no such command, told on stderr with the nearest name.
const cadre_command *cli_usage_find(const char *name);

#endif
