// cadre abort: stops a run, or a part of it, from any process.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/store.h"

#include <cadre/cadre.h>

#include <stdio.h>
#include <string.h>

// What is stopped, as people name it.
typedef struct target {
    const char *trace, *frame, *conversation;
    bool background;
} target;

static const cadre_frame_info *find_frame(const cadre_record *record, const char *id)
{
    size_t n = 0;
    const cadre_frame_info *frames = cadre_record_frames(record, &n);

    for (size_t i = 0; id && i < n; i++)
        if (strcmp(frames[i].id, id) == 0)
            return &frames[i];
    return NULL;
}

static bool has_ended(const cadre_frame_info *frame)
{
    return frame && frame->completed_at > 0;
}

// Mistakes on the command line, runs and frames that are over, what is not there.
static int report_failure(cadre_runtime *runtime, const target *it,
                          const cadre_error *err)
{
    cadre_record *record = NULL;
    int exit_status =
        err->status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(err);

    cli_report("%s", err->text);
    if (err->status != CADRE_ENOTFOUND && err->status != CADRE_EINVAL)
        return exit_status;
    if (cadre_record_open(runtime, it->trace, &record, NULL) == CADRE_OK) {
        bool is_over = cli_record_has_ended(cadre_record_get_info(record));
        const cadre_frame_info *frame = find_frame(record, it->frame);
        if ((err->status == CADRE_EINVAL && is_over) || has_ended(frame))
            exit_status = CLI_EXIT_FAILED;
    }
    cadre_record_close(record);
    return exit_status;
}

// Who holds the run ends it, soon; what nobody holds has ended by now.
static int report_done(cadre_runtime *runtime, const target *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_record *record = NULL;

    if (cadre_record_open(runtime, it->trace, &record, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return cli_exit_of_error(&err);
    }
    const cadre_record_info *info = cadre_record_get_info(record);
    bool is_over = it->frame ? has_ended(find_frame(record, it->frame))
                             : cli_record_has_ended(info);
    char holder[64] = "";
    if (!is_over && info->is_held && cli_record_process(info) > 0)
        snprintf(holder, sizeof(holder), "; process %ld holds it",
                 cli_record_process(info));
    const char *part = it->conversation ? "conversation " : "frame ";
    const char *id = it->conversation ? it->conversation : it->frame;
    cli_report_note("%s%s%srun %s%s: %s%s", id ? part : "", id ? id : "",
                    id ? " of " : "", it->trace,
                    it->background ? " and what it spawned" : "",
                    is_over && !it->background ? "stopped" : "told to stop", holder);
    cadre_record_close(record);
    return CLI_EXIT_OK;
}

static int stop(cadre_runtime *runtime, const target *it, const char *reason)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_trace_abort(
        runtime, it->trace,
        CADRE_ABORT(.frame = it->frame, .conversation = it->conversation,
                    .reason = reason, .background = it->background),
        &err);

    return status == CADRE_OK ? report_done(runtime, it)
                              : report_failure(runtime, it, &err);
}

static int abort_run(const cli_arguments *arguments)
{
    const target it = {.trace = cli_arguments_text(arguments, 0),
                       .frame = cli_arguments_text(arguments, 1),
                       .conversation = cli_arguments_value(arguments, "conversation"),
                       .background = cli_arguments_has(arguments, "background")};
    cadre_runtime *runtime = NULL;
    cli_store store;
    int exit_status = CLI_EXIT_FAILED;

    if (it.frame && it.conversation)
        return cli_report_usage(arguments->command,
                                "FRAME and '--conversation' exclude each other");
    if (cli_store_init(&store, arguments))
        exit_status = cli_store_open_existing(&store, &runtime);
    if (exit_status == CLI_EXIT_OK)
        exit_status = stop(runtime, &it, cli_arguments_value(arguments, "reason"));
    cadre_runtime_close(runtime);
    cli_store_fini(&store);
    return exit_status;
}

static const cli_option options[] = {
    {"conversation", "ID", "only those who work in this conversation"},
    {"background", NULL, "also the runs that it spawned"},
    {"reason", "TEXT", "why; it is kept with what was stopped"},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
};

const cadre_command cadre_command_abort = {
    .name = "abort",
    .summary = "Stops a run, or a part of it, in whatever program it is",
    .arguments = "TRACE [FRAME]",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "With FRAME only that call and all below it are stopped; their ids stand in\n"
        "`cadre tree --all --json`. Returns when it is recorded: a program that\n"
        "holds the run sees it within about 50 ms, sends nothing more, ends its\n"
        "tools, and exits with status 4. `cadre wait` waits for that. A run that\n"
        "nobody holds, parked or cut, has ended when this returns.\n"
        "\n"
        "Exit status 1: it has ended already; 5: it is not there.\n",
    .run = abort_run,
};
