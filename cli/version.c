// cadre version: what this program is and what it is built with.
#include "ui/command.h"
#include "ui/line_editor.h"
#include "ui/output.h"

#include <cadre/runtime.h>

static int version_run(const cli_arguments *arguments)
{
    cli_page page;

    (void)arguments;
    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    fprintf(page.stream, "cadre %s\n%s\n%s\n", cadre_version(), cadre_linked_versions(),
            cli_line_editor_version());
    return cli_page_finish(&page, CLI_EXIT_OK);
}

const cadre_command cadre_command_version = {
    .name = "version",
    .summary = "Says which version this is and which libraries it runs with",
    .arguments = "",
    .run = version_run,
};
