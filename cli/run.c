// cadre run: one input to a team, one answer.
#include "ui/command.h"
#include "ui/input.h"
#include "ui/options.h"
#include "ui/request.h"
#include "ui/team_type.h"

// The input may have to be waited for: it is read when all else is right.
static int run_run(const cli_arguments *arguments)
{
    cli_request it;
    int exit_status =
        cli_request_init(&it, arguments, NULL, cli_arguments_text(arguments, 0));

    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_read_name(arguments, "session", &it.session);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_read_name(arguments, "request-id", &it.id);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_files_read(arguments, &it.files);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_input_take(arguments, 1, &it.input);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_run(&it);
    cli_request_fini(&it);
    return exit_status;
}

static const cli_option options[] = {
    CLI_REQUEST_OPTIONS("with --json: the frames of models and tools too"),
    CLI_TYPE_OPTION,
    CLI_FILE_OPTION,
    {"session", "NAME", "go on in the conversation of this name"},
    {"request-id", "ID",
     "run a request of this name once in its session; without --session it is one"},
};

const cadre_command cadre_command_run = {
    .name = "run",
    .summary = "Runs a team on an input and prints its answer",
    .arguments = "TEAM [INPUT]",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "INPUT is a text; '-', or none when stdin is no terminal, reads stdin\n"
        "(UTF-8, up to 16 MiB, without the line end at its end).\n"
        "\n"
        "The answer goes to stdout, on a terminal while it is written; trace id,\n"
        "live tree, stack tree and summary go to stderr. With --json a run that\n"
        "could not start prints {\"error\": ..., \"problems\": [...]} instead, with\n"
        "--events one line of type error.\n"
        "\n"
        "The run is recorded in --store, else in the one that CADRE_STORE names,\n"
        "else in $XDG_STATE_HOME/cadre/cadre.db, which is\n"
        "~/.local/state/cadre/cadre.db where nothing else is said. `cadre runs`\n"
        "lists what is there; `cadre resume` goes on with a run whose program was\n"
        "killed.\n"
        "\n"
        "A run in which all that is left waits for a person is parked: its questions\n"
        "and the commands that answer them go to stderr, and the exit status is 3.\n"
        "\n"
        "With --request-id a command may be given again: when its run has ended,\n"
        "the recorded answer is printed; when it was cut, it goes on; while another\n"
        "program runs it, the exit status is 5; with another input it is 2.\n"
        "\n"
        "Ctrl-C stops the run and everything below it; a second one ends at once\n"
        "and kills the tools that run.\n",
    .run = run_run,
};
