// cadre resume: goes on with runs whose program ended before they did.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/recall.h"
#include "ui/report.h"
#include "ui/request.h"

#include <cadre/runtime.h>

#include <string.h>

static int resume_one(const cli_arguments *arguments, const char *trace, bool is_many,
                      bool *was_stopped)
{
    cli_request it;
    int exit_status =
        cli_request_init(&it, arguments, trace, cli_arguments_text(arguments, 1));

    it.accepts_changes = cli_arguments_has(arguments, "accept-changes");
    it.show.is_one_of_many = is_many;
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_run(&it);
    *was_stopped = it.was_stopped;
    cli_request_fini(&it);
    return exit_status;
}

static int worse(int a, int b)
{
    static const int order[] = {CLI_EXIT_OK,      CLI_EXIT_LIMIT, CLI_EXIT_WAITS,
                                CLI_EXIT_ABORTED, CLI_EXIT_USAGE, CLI_EXIT_FAILED,
                                CLI_EXIT_STORE};
    int worst = a;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        if (order[i] == a || order[i] == b)
            worst = order[i];
    return worst;
}

static int list_cut(const cli_arguments *arguments, char ***ids)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cli_store store;
    int exit_status = CLI_EXIT_FAILED;

    if (cli_store_init(&store, arguments))
        exit_status = cli_store_open_existing(&store, &runtime);
    if (exit_status == CLI_EXIT_OK) {
        *ids = cli_recall_cut(runtime, &err);
        if (!*ids) {
            cli_report("%s", err.text);
            exit_status = cli_exit_of_error(&err);
        }
    }
    cadre_runtime_close(runtime);
    cli_store_fini(&store);
    return exit_status;
}

// Who goes on with a run goes on with those it spawned: such a one is at its end when
// its turn comes.
static bool is_still_cut(const cli_arguments *arguments, const char *id)
{
    char **ids = NULL;
    bool is_there = list_cut(arguments, &ids) != CLI_EXIT_OK; // it is told again

    for (size_t i = 0; ids && ids[i] && !is_there; i++)
        is_there = strcmp(ids[i], id) == 0;
    cli_recall_free(ids);
    return is_there;
}

// One after the other; who stops one wants none of the others.
static int resume_all(const cli_arguments *arguments)
{
    char **ids = NULL;
    bool was_stopped = false;
    cli_output output;
    int exit_status = list_cut(arguments, &ids);

    if (exit_status == CLI_EXIT_OK && !ids[0] && !cli_arguments_has(arguments, "quiet"))
        cli_report_note("no run of this store was cut");
    for (size_t i = 0; ids && ids[i] && !was_stopped; i++) {
        if (i > 0 && !is_still_cut(arguments, ids[i]))
            continue;
        exit_status =
            worse(exit_status, resume_one(arguments, ids[i], true, &was_stopped));
    }
    cli_recall_free(ids);
    cli_output_init(&output);
    return cli_output_finish(&output, exit_status);
}

static int resume_run(const cli_arguments *arguments)
{
    const char *trace = cli_arguments_text(arguments, 0);
    bool was_stopped = false;

    if (trace)
        return resume_one(arguments, trace, false, &was_stopped);
    if (cli_arguments_has(arguments, "all") && cli_arguments_value(arguments, "record"))
        return cli_report_usage(arguments->command,
                                "'--record' is for one run: name its TRACE");
    if (cli_arguments_has(arguments, "all"))
        return resume_all(arguments);
    return cli_report_usage(arguments->command,
                            "too few arguments: TRACE [TEAM], or --all");
}

static const cli_option options[] = {
    CLI_REQUEST_OPTIONS("without TRACE: go on with all that were cut or are "
                        "answered; with TRACE as for run"),
    {"accept-changes", NULL, "go on with another shape of the team too"},
};

const cadre_command cadre_command_resume = {
    .name = "resume",
    .summary = "Goes on with runs that were cut, and prints their answers",
    .arguments = "[TRACE [TEAM]]",
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "TRACE is the id that the run told at its start; `cadre runs` lists those\n"
        "that are cut. The record says where the team file is, what was set, and\n"
        "whether the run is offline and by which script; TEAM, --offline and\n"
        "--script say it anew. An input cannot be set to something else.\n"
        "\n"
        "Texts of the team may have changed. When its shape has (agents, members,\n"
        "tools, handoffs), the run is left alone and the changes are named, unless\n"
        "--accept-changes is given.\n"
        "\n"
        "What is recorded is not done twice: no model is asked and no tool run\n"
        "again for it. A tool that was running at the cut runs again only if its\n"
        "team file says `replay: safe`; else the model is told that it was\n"
        "interrupted.\n"
        "\n"
        "A parked run goes on when `cadre answer` has answered it; without an answer\n"
        "its questions are told once more.\n"
        "\n"
        "Output and exit status are those of `cadre run`. Exit status 5: another\n"
        "program holds the run, or the store has no such run. With --all the runs\n"
        "follow one another, oldest first: answers on stdout, a line for each on\n"
        "stderr; the exit status is the worst.\n",
    .run = resume_run,
};
