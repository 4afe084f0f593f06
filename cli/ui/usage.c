// See usage.h.
#include "usage.h"

#include "report.h"
#include "suggest.h"

#include <string.h>

static const char *command_name(const void *table, size_t nth)
{
    const cadre_command *const *commands = table;

    return commands[nth] ? commands[nth]->name : NULL;
}

const cadre_command *cli_usage_find(const char *name)
{
    for (size_t i = 0; cadre_commands[i]; i++)
        if (strcmp(cadre_commands[i]->name, name) == 0)
            return cadre_commands[i];

    const char *nearest = cli_suggest(name, command_name, cadre_commands);
    if (nearest)
        cli_report_usage(NULL, "unknown command '%s'; did you mean '%s'?", name,
                         nearest);
    else
        cli_report_usage(NULL, "unknown command '%s'", name);
    return NULL;
}

void cli_usage_print_all(FILE *stream)
{
    fputs("Usage: cadre COMMAND [OPTION...] [ARGUMENT...]\n"
          "\n"
          "Runs teams of LLM agents. Answers go to stdout, everything else to stderr.\n"
          "\n"
          "Commands:\n",
          stream);
    for (size_t i = 0; cadre_commands[i]; i++)
        fprintf(stream, "  %-10s %s\n", cadre_commands[i]->name,
                cadre_commands[i]->summary);
    fputs(
        "\n"
        "`cadre COMMAND --help` says more about a command; `cadre --version` says\n"
        "what this program was built with.\n"
        "\n"
        "Exit status: 0 completed, 1 failed or stdout cannot be written, 2 mistake on\n"
        "the command line or in the team file, 3 waits for an answer, 4 aborted,\n"
        "timed out or stdout was closed by its reader, 5 refused by the store, 6\n"
        "ended by a limit with an answer.\n",
        stream);
}

static void print_option(FILE *stream, const cli_option *option)
{
    char left[40];

    snprintf(left, sizeof(left), "--%s%s%s", option->name, option->value ? " " : "",
             option->value ? option->value : "");
    fprintf(stream, "  %-18s %s\n", left, option->summary);
}

void cli_usage_print(FILE *stream, const cadre_command *command)
{
    static const cli_option help = {"help", NULL, "show this"};

    fprintf(stream, "Usage: cadre %s [OPTION...]%s%s\n\n%s.\n\nOptions:\n",
            command->name, *command->arguments ? " " : "", command->arguments,
            command->summary);
    for (size_t i = 0; i < command->n_options; i++)
        print_option(stream, &command->options[i]);
    print_option(stream, &help);
    if (command->details)
        fprintf(stream, "\n%s", command->details);
}
