// See shell.h.
#include "shell.h"

#include <string.h>

void cli_shell_print(FILE *stream, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./:=,@%+-";

    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, stream);
        return;
    }
    fputc('\'', stream);
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            fputc(*word, stream);
    }
    fputc('\'', stream);
}

void cli_shell_print_options(FILE *stream, const cli_arguments *arguments,
                             const char *const *names, size_t n)
{
    for (size_t i = 0; i < arguments->n_given; i++) {
        const cli_given *given = &arguments->given[i];
        for (size_t k = 0; k < n; k++) {
            if (strcmp(given->option->name, names[k]) != 0)
                continue;
            fprintf(stream, " --%s", names[k]);
            if (given->value) {
                fputc(' ', stream);
                cli_shell_print(stream, given->value);
            }
        }
    }
}
