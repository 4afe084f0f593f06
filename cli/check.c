// cadre check: finds every mistake of a team before a token is spent.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/report.h"
#include "ui/text.h"

#include <cadre/cadre.h>

#include <string.h>

static void print_summary(FILE *stream, const cadre_team *team)
{
    const cadre_agent *root = cadre_team_root(team);
    cadre_agents agents = cadre_team_agents(team);
    size_t n_topologies = 0;

    for (size_t i = 0; i < agents.count; i++)
        n_topologies += cadre_agent_members(agents.items[i]).count > 0;
    fprintf(stream, "ok: %zu agent%s, %zu of them over others", agents.count,
            agents.count == 1 ? "" : "s", n_topologies);
    if (root) {
        const cadre_agent_info *info = cadre_agent_get_info(root);
        fputs(", root ", stream);
        cli_text_print(stream, info->name, strlen(info->name), CLI_TEXT_ONE_LINE);
        fprintf(stream, " (%s)", info->type);
    }
    fputc('\n', stream);
}

static int report_ok(const cadre_team *team)
{
    cli_page page;

    cli_report_notes(team);
    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    print_summary(page.stream, team);
    return cli_page_finish(&page, CLI_EXIT_OK);
}

static int check_run(const cli_arguments *arguments)
{
    const char *path = cli_arguments_text(arguments, 0);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cadre_runtime_open(
        CADRE_RUNTIME(.offline = cli_arguments_has(arguments, "offline"),
                      .script = cli_arguments_value(arguments, "script")),
        &runtime, &err);
    if (status == CADRE_OK)
        status = cadre_team_load(runtime, path, &team, &err);
    if (status == CADRE_OK) {
        exit_status = report_ok(team);
    } else {
        cli_report_problems(team, &err);
        // A file that cannot be read is a mistake on the command line.
        exit_status = status == CADRE_EIO ? CLI_EXIT_USAGE : cli_exit_of_error(&err);
    }
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return exit_status;
}

static const cli_option options[] = {
    {"offline", NULL, "check the team's script of answers too"},
    {"script", "FILE", "check this script with the team; implies --offline"},
};

const cadre_command cadre_command_check = {
    .name = "check",
    .summary = "Checks a team file and tells all its mistakes at once",
    .arguments = "TEAM",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Mistakes go to stderr, one line each, with file, line and column;\n"
        "the exit status is 2 then. Notes tell of what is sound but never used,\n"
        "and of programs that are not there yet; the exit status stays 0.\n",
    .run = check_run,
};
