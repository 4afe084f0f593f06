// See options.h.
#include "options.h"

#include "report.h"
#include "suggest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const cli_option help_option = {.name = "help"};

static const char *option_name(const void *table, size_t nth)
{
    const cadre_command *command = table;

    if (nth < command->n_options)
        return command->options[nth].name;
    return nth == command->n_options ? help_option.name : NULL;
}

static const cli_option *find_option(const cadre_command *command, const char *name,
                                     size_t len)
{
    for (size_t i = 0; i < command->n_options; i++) {
        const char *known = command->options[i].name;
        if (strlen(known) == len && strncmp(known, name, len) == 0)
            return &command->options[i];
    }
    return len == 4 && strncmp(name, "help", 4) == 0 ? &help_option : NULL;
}

static int unknown_option(const cadre_command *command, const char *word, size_t len)
{
    char name[64] = "";

    if (strncmp(word, "--", 2) == 0 && len - 2 < sizeof(name))
        memcpy(name, word + 2, len - 2);
    const char *nearest = cli_suggest(name, option_name, command);
    if (nearest)
        return cli_report_usage(command, "unknown option '%.*s'; did you mean '--%s'?",
                                (int)len, word, nearest);
    return cli_report_usage(command, "unknown option '%.*s'", (int)len, word);
}

// Reads the option in argv[*i], and its value, which may be the word after it.
static int read_option(cli_arguments *arguments, char **argv, size_t n, size_t *i)
{
    const cadre_command *command = arguments->command;
    const char *word = argv[*i];
    size_t len = strcspn(word, "=");
    const char *value = word[len] == '=' ? word + len + 1 : NULL;
    const cli_option *option = NULL;

    if (strcmp(word, "-h") == 0)
        option = &help_option;
    else if (strncmp(word, "--", 2) == 0)
        option = find_option(command, word + 2, len - 2);
    if (!option)
        return unknown_option(command, word, len);
    if (option == &help_option) {
        arguments->wants_help = true;
        return CLI_EXIT_OK;
    }
    if (!option->value && value)
        return cli_report_usage(command, "option '--%s' takes no value", option->name);
    if (option->value && !value && *i + 1 == n)
        return cli_report_usage(command, "option '--%s' needs a value: %s",
                                option->name, option->value);
    if (option->value && !value)
        value = argv[++*i];
    arguments->given[arguments->n_given++] = (cli_given){option, value};
    return CLI_EXIT_OK;
}

static int check_count(const cli_arguments *arguments)
{
    const cadre_command *command = arguments->command;

    if (arguments->n_texts < command->min_arguments)
        return cli_report_usage(command, "too few arguments: %s", command->arguments);
    if (arguments->n_texts > command->max_arguments && command->max_arguments == 0)
        return cli_report_usage(command, "takes no arguments, not '%s'",
                                arguments->texts[0]);
    if (arguments->n_texts > command->max_arguments)
        return cli_report_usage(command,
                                "one argument too many: '%s' (quote a text "
                                "that has blanks)",
                                arguments->texts[command->max_arguments]);
    return CLI_EXIT_OK;
}

int cli_arguments_init(cli_arguments *arguments, const cadre_command *command,
                       char **argv, size_t n)
{
    bool options_ended = false;
    int exit_status = CLI_EXIT_OK;

    *arguments = (cli_arguments){.command = command};
    arguments->texts = calloc(n + 1, sizeof(*arguments->texts));
    arguments->given = calloc(n + 1, sizeof(*arguments->given));
    if (!arguments->texts || !arguments->given) {
        cli_report("out of memory");
        return CLI_EXIT_FAILED;
    }
    for (size_t i = 0; i < n && exit_status == CLI_EXIT_OK; i++) {
        if (!options_ended && strcmp(argv[i], "--") == 0)
            options_ended = true;
        else if (!options_ended && argv[i][0] == '-' && argv[i][1])
            exit_status = read_option(arguments, argv, n, &i);
        else
            arguments->texts[arguments->n_texts++] = argv[i];
    }
    if (exit_status == CLI_EXIT_OK && !arguments->wants_help)
        exit_status = check_count(arguments);
    return exit_status;
}

void cli_arguments_fini(cli_arguments *arguments)
{
    free(arguments->texts);
    free(arguments->given);
}

static const cli_given *last_given(const cli_arguments *arguments, const char *name)
{
    assert(find_option(arguments->command, name, strlen(name)));
    for (size_t i = arguments->n_given; i > 0; i--)
        if (strcmp(arguments->given[i - 1].option->name, name) == 0)
            return &arguments->given[i - 1];
    return NULL;
}

bool cli_arguments_has(const cli_arguments *arguments, const char *name)
{
    return last_given(arguments, name) != NULL;
}

bool cli_arguments_has_flag(const cli_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->n_given; i++) {
        const cli_option *option = arguments->given[i].option;
        if (!option->value && strcmp(option->name, name) == 0)
            return true;
    }
    return false;
}

const char *cli_arguments_value(const cli_arguments *arguments, const char *name)
{
    const cli_given *given = last_given(arguments, name);

    return given ? given->value : NULL;
}

const char *cli_arguments_find(const cli_arguments *arguments, const char *name)
{
    bool is_known = find_option(arguments->command, name, strlen(name)) != NULL;

    return is_known ? cli_arguments_value(arguments, name) : NULL;
}

const char *cli_arguments_text(const cli_arguments *arguments, size_t nth)
{
    return nth < arguments->n_texts ? arguments->texts[nth] : NULL;
}
