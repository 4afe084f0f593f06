// cadre help: the commands, or one of them.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/usage.h"

static int help_run(const cli_arguments *arguments)
{
    const char *name = cli_arguments_text(arguments, 0);
    const cadre_command *command = name ? cli_usage_find(name) : NULL;
    cli_page page;

    if (name && !command)
        return CLI_EXIT_USAGE;
    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    if (command)
        cli_usage_print(page.stream, command);
    else
        cli_usage_print_all(page.stream);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

const cadre_command cadre_command_help = {
    .name = "help",
    .summary = "Lists the commands, or explains one",
    .arguments = "[COMMAND]",
    .max_arguments = 1,
    .run = help_run,
};
