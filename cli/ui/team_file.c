// See team_file.h.
#include "team_file.h"

#include "report.h"
#include "team_type.h"

int cli_team_file_open(cli_team_file *file, const cli_arguments *arguments)
{
    const char *type = NULL;

    *file = (cli_team_file){.err = CADRE_ERROR_INIT};
    if (cli_team_type_read(arguments, &type) != CLI_EXIT_OK) {
        file->is_told = true;
        return CLI_EXIT_USAGE;
    }
    cadre_status status = cadre_runtime_open(
        CADRE_RUNTIME(.offline = cli_arguments_has_flag(arguments, "offline"),
                      .script = cli_arguments_find(arguments, "script")),
        &file->runtime, &file->err);
    if (status == CADRE_OK)
        status = cadre_team_load_as(file->runtime, cli_arguments_text(arguments, 0),
                                    CADRE_LOAD(.type = type), &file->team, &file->err);
    if (status == CADRE_OK)
        return CLI_EXIT_OK;
    // A file that cannot be read is a mistake on the command line.
    return status == CADRE_EIO ? CLI_EXIT_USAGE : cli_exit_of_error(&file->err);
}

int cli_team_file_open_or_tell(cli_team_file *file, const cli_arguments *arguments)
{
    int exit_status = cli_team_file_open(file, arguments);

    if (exit_status != CLI_EXIT_OK && !file->is_told)
        cli_report_problems(file->team, &file->err);
    return exit_status;
}

void cli_team_file_close(cli_team_file *file)
{
    cadre_team_free(file->team);
    cadre_runtime_close(file->runtime);
}
