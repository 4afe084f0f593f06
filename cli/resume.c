// cadre resume: goes on with a run whose program ended before it did.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/request.h"

static int resume_run(const cli_arguments *arguments)
{
    cli_request it;
    int exit_status =
        cli_request_init(&it, arguments, cli_arguments_text(arguments, 1));

    it.trace = cli_arguments_text(arguments, 0);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_run(&it);
    cli_request_fini(&it);
    return exit_status;
}

static const cli_option options[] = {CLI_REQUEST_OPTIONS};

const cadre_command cadre_command_resume = {
    .name = "resume",
    .summary = "Goes on with a run that was cut, and prints its answer",
    .arguments = "TRACE TEAM",
    .min_arguments = 2,
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "TRACE is the id that the run told at its start; `cadre runs` lists those\n"
        "that are cut. The store does not keep where the team file is: TEAM names\n"
        "it again, and so do --offline, --script and --set if the run had them.\n"
        "\n"
        "What is recorded is not done twice: no model is asked and no tool run\n"
        "again for it. A tool that was running at the cut runs again only if its\n"
        "team file says `replay: safe`; else the model is told that it was\n"
        "interrupted.\n"
        "\n"
        "Output and exit status are those of `cadre run`. Exit status 5: another\n"
        "program holds the run, or the store has no such run.\n",
    .run = resume_run,
};
