// cadre wait: waits for the end of a run of whatever program.
#include "ui/command.h"
#include "ui/options.h"
#include "ui/questions.h"
#include "ui/record.h"
#include "ui/report.h"
#include "ui/request.h"
#include "ui/shell.h"
#include "ui/store.h"
#include "ui/summary.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>

// Where the run is, for commands that go on with it.
static char *write_options(const cli_arguments *arguments)
{
    static const char *const kept[] = {"store"};
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);

    if (stream)
        cli_shell_print_options(stream, arguments, kept, 1);
    if (stream && fclose(stream) == 0)
        return text;
    cli_report("out of memory");
    return NULL;
}

static int report_end(const cadre_record *record)
{
    cli_frames frames;
    frames.items = cadre_record_frames(record, &frames.count);
    const cadre_frame_info *root = &frames.items[0];

    cli_summary_print_record(stderr, cadre_record_get_info(record), frames);
    if (root->status != CADRE_FRAME_COMPLETED && *root->error.message)
        cli_report("%s", root->error.message);
    return cli_exit_of_run(root->status, root->stop_reason, root->error.error_class);
}

// Its own questions; one that it spawned may have asked instead.
static int report_parked(const cadre_record *record, const char *options,
                         const cadre_error *err)
{
    const char *trace = cadre_record_get_info(record)->trace_id;
    cli_questions questions;

    if (!cli_questions_init_record(&questions, record))
        return CLI_EXIT_FAILED;
    bool is_answered = questions.n > 0 && questions.n_open == 0;
    if (is_answered)
        cli_report("run %s is answered, and nobody works on it: `cadre resume %s%s` "
                   "goes on with it",
                   trace, trace, options);
    else if (questions.n == 0) // it is one that it spawned
        cli_report("%s; `cadre wait` of that one tells its questions", err->text);
    else
        cli_report("%s", err->text);
    cli_questions_report(&questions, trace, options);
    cli_questions_fini(&questions);
    return CLI_EXIT_WAITS;
}

static int report_lost(const cadre_record *record, const char *options,
                       const cadre_error *err)
{
    const cadre_record_info *info = cadre_record_get_info(record);

    if (cli_record_has_ended(info)) // it is one that it spawned
        cli_report("%s", err->text);
    else
        cli_report("run %s was cut, and nobody works on it: `cadre resume %s%s` goes "
                   "on with it",
                   info->trace_id, info->trace_id, options);
    return CLI_EXIT_STORE;
}

static int report(cadre_runtime *runtime, const char *trace, const char *options,
                  const cadre_error *waited)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_record *record = NULL;
    int exit_status = CLI_EXIT_OK;

    if (cadre_record_open(runtime, trace, &record, &err) != CADRE_OK) {
        cli_report("%s", err.text);
        return err.status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(&err);
    }
    if (waited->status == CADRE_OK)
        exit_status = report_end(record);
    else if (waited->status == CADRE_EPARKED)
        exit_status = report_parked(record, options, waited);
    else
        exit_status = report_lost(record, options, waited);
    cadre_record_close(record);
    return exit_status;
}

static int wait_for(cadre_runtime *runtime, const cli_arguments *arguments,
                    int64_t timeout_ms)
{
    const char *trace = cli_arguments_text(arguments, 0);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_trace_wait(
        runtime, trace, cli_arguments_has(arguments, "background"), timeout_ms, &err);

    if (status != CADRE_OK && status != CADRE_EPARKED && status != CADRE_ELOST) {
        cli_report("%s", err.text);
        return status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(&err);
    }
    char *options = write_options(arguments);
    int exit_status = options ? report(runtime, trace, options, &err) : CLI_EXIT_FAILED;
    free(options);
    return exit_status;
}

static int wait_run(const cli_arguments *arguments)
{
    int64_t timeout_ms = 0;
    cadre_runtime *runtime = NULL;
    cli_store store;
    int exit_status = cli_request_read_timeout(arguments, &timeout_ms);

    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    if (!cli_store_init(&store, arguments))
        return CLI_EXIT_FAILED;
    exit_status = cli_store_open_existing(&store, &runtime);
    if (exit_status == CLI_EXIT_OK)
        exit_status = wait_for(runtime, arguments, timeout_ms);
    cadre_runtime_close(runtime);
    cli_store_fini(&store);
    return exit_status;
}

static const cli_option options[] = {
    {"timeout", "TIME", "wait for so long: 250ms, 10s, 5m, 2h"},
    {"background", NULL, "also for the runs that it spawned"},
    {"store", "URL", "where runs are recorded: " CLI_STORE_OPTION},
};

const cadre_command cadre_command_wait = {
    .name = "wait",
    .summary = "Waits until nothing of a run works any more",
    .arguments = "TRACE",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Stops nothing, not even when its time is up. A line on stderr tells how the\n"
        "run ended, and the exit status is that of `cadre run`. 3: it waits for an\n"
        "answer, and its questions are told; 4: it was aborted or timed out, or it\n"
        "still works when --timeout is up; 5: it was cut, and nobody works on it.\n",
    .run = wait_run,
};
