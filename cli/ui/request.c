// See request.h.
#include "request.h"

#include "cost.h"
#include "duration.h"
#include "json_output.h"
#include "output.h"
#include "recall.h"
#include "report.h"
#include "shell.h"
#include "team_type.h"
#include "text.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>

void cli_request_fini(cli_request *request)
{
    cli_recording_fini(&request->recording);
    cli_background_fini(&request->background);
    cadre_run_free(request->run);
    cadre_team_free(request->team);
    cadre_runtime_close(request->opened);
    free(request->input);
    cli_files_fini(&request->files);
    free(request->resume);
    free(request->options);
    free(request->recorded_type);
    json_decref(request->inputs);
    json_decref(request->metadata);
    cli_store_fini(&request->store);
}

static int no_memory(void)
{
    cli_report("out of memory");
    return CLI_EXIT_FAILED;
}

// The team knows the types of its inputs and reads the texts by them.
static int read_set(json_t *inputs, const cli_arguments *arguments, const char *pair)
{
    size_t len = strcspn(pair, "=");
    const char *value = pair + len + 1;

    if (len == 0 || pair[len] != '=')
        return cli_report_usage(arguments->command,
                                "option '--set': expected NAME=VALUE, not '%s'", pair);
    if (!cli_text_is_utf8(pair, strlen(pair)))
        return cli_report_usage(arguments->command, "option '--set': '%s' is not UTF-8",
                                pair);
    char *name = strndup(pair, len);
    int failure = name ? json_object_set_new(inputs, name, json_string(value)) : -1;
    free(name);
    return failure ? no_memory() : CLI_EXIT_OK;
}

int cli_request_read_name(const cli_arguments *arguments, const char *option,
                          const char **name)
{
    *name = cli_arguments_value(arguments, option);
    if (*name && !**name)
        return cli_report_usage(arguments->command, "option '--%s': the name is empty",
                                option);
    if (*name && !cli_text_is_utf8(*name, strlen(*name)))
        return cli_report_usage(arguments->command,
                                "option '--%s': the name is not UTF-8", option);
    return CLI_EXIT_OK;
}

int cli_request_read_sets(const cli_arguments *arguments, json_t **inputs)
{
    int exit_status = CLI_EXIT_OK;

    *inputs = json_object();
    for (size_t i = 0; i < arguments->n_given && exit_status == CLI_EXIT_OK; i++)
        if (strcmp(arguments->given[i].option->name, "set") == 0)
            exit_status = read_set(*inputs, arguments, arguments->given[i].value);
    return exit_status;
}

// A command that shows answers only has none of the other forms.
static int read_form(cli_request *it, const cli_arguments *arguments)
{
    bool is_json = cli_arguments_has_flag(arguments, "json");
    bool is_events = cli_arguments_has_flag(arguments, "events");
    bool wants_all = cli_arguments_has_flag(arguments, "all");

    if (is_json && is_events)
        return cli_report_usage(arguments->command,
                                "'--json' and '--events' exclude each other");
    if (wants_all && !is_json && !it->trace)
        return cli_report_usage(arguments->command, "'--all' goes with '--json'");
    it->show = (cli_show_config){
        .form = is_json     ? CLI_SHOW_JSON
                : is_events ? CLI_SHOW_EVENTS
                            : CLI_SHOW_ANSWER,
        .is_quiet = cli_arguments_has(arguments, "quiet"),
        .is_plain = cli_arguments_has(arguments, "plain"),
        .wants_all_frames = wants_all,
        .timeout = cli_arguments_value(arguments, "timeout"),
        .timeout_ms = it->timeout_ms,
    };
    return CLI_EXIT_OK;
}

int cli_request_read_timeout(const cli_arguments *arguments, int64_t *timeout_ms)
{
    const char *timeout = cli_arguments_value(arguments, "timeout");

    if (!timeout)
        return CLI_EXIT_OK;
    if (!cli_duration_parse(timeout, timeout_ms))
        return cli_report_usage(arguments->command,
                                "option '--timeout': expected a duration such as "
                                "250ms, 10s, 5m or 2h, not '%s'",
                                timeout);
    if (*timeout_ms == 0)
        return cli_report_usage(
            arguments->command,
            "option '--timeout': 0 is no limit; leave the option out");
    return CLI_EXIT_OK;
}

static int read_max_cost(const cli_arguments *arguments, int64_t *usd_micros)
{
    const char *cost = cli_arguments_value(arguments, "max-cost");

    if (!cost || cli_cost_parse(cost, usd_micros))
        return CLI_EXIT_OK;
    return cli_report_usage(arguments->command,
                            "option '--max-cost': expected dollars from 0.000001 to "
                            "1000000, such as 0.50, not '%s'",
                            cost);
}

// What the record does not say must be said again: the store, and what a resume was
// told otherwise; how a run was shown is a matter of each time.
static bool write_options(cli_request *it, const cli_arguments *arguments)
{
    static const char *const kept[] = {"store", "offline", "script"};
    size_t n_kept = it->trace ? sizeof(kept) / sizeof(kept[0]) : 1;
    size_t len = 0;
    FILE *stream = it->store.file ? open_memstream(&it->options, &len) : NULL;

    if (!stream)
        return !it->store.file;
    cli_shell_print_options(stream, arguments, kept, n_kept);
    return fclose(stream) == 0;
}

static bool write_resume(cli_request *it)
{
    bool names_team = it->team_path && (it->trace || !cli_recall_team(it->metadata));
    size_t len = 0;
    FILE *stream = it->options ? open_memstream(&it->resume, &len) : NULL;

    if (!stream)
        return !it->options;
    if (names_team) {
        fputc(' ', stream);
        cli_shell_print(stream, it->team_path);
    }
    fputs(it->options, stream);
    return fclose(stream) == 0;
}

int cli_request_init(cli_request *request, const cli_arguments *arguments,
                     const char *trace, const char *team_path)
{
    *request = (cli_request){.trace = trace, .team_path = team_path};
    request->runtime =
        *CADRE_RUNTIME(.offline = cli_arguments_has(arguments, "offline"),
                       .script = cli_arguments_value(arguments, "script"));
    int exit_status = cli_request_read_timeout(arguments, &request->timeout_ms);
    if (exit_status == CLI_EXIT_OK)
        exit_status = read_max_cost(arguments, &request->max_cost_usd_micros);
    if (exit_status == CLI_EXIT_OK)
        exit_status = read_form(request, arguments);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_read_sets(arguments, &request->inputs);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_team_type_read(arguments, &request->type);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_recording_init(&request->recording, arguments);
    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    if (!cli_store_init(&request->store, arguments))
        return CLI_EXIT_FAILED;
    if (!trace)
        request->metadata = cli_recall_metadata(team_path, request->runtime.script);
    if (!write_options(request, arguments) || !write_resume(request))
        return no_memory();
    request->show.resume = request->resume;
    request->show.options = request->options;
    return CLI_EXIT_OK;
}

int cli_request_report(const cli_request *it, const cadre_error *err, int exit_status)
{
    cli_output output;

    if (it->show.is_one_of_many)
        cli_report("run %s: %s", it->trace, err->text);
    else
        cli_report_problems(it->team, err);
    if (it->show.form == CLI_SHOW_ANSWER)
        return exit_status;
    bool is_json = it->show.form == CLI_SHOW_JSON;
    json_t *object =
        is_json ? cli_json_no_run(err, it->team) : cli_json_no_run_event(err);
    cli_output_init(&output);
    cli_output_write_json(&output, object, is_json ? JSON_INDENT(2) : JSON_COMPACT);
    json_decref(object);
    return it->show.is_one_of_many ? cli_output_leave(&output, exit_status)
                                   : cli_output_finish(&output, exit_status);
}

static cadre_status start(const cli_request *it, cadre_run **run, cadre_error *err)
{
    const cadre_run_config *config =
        CADRE_RUN(.input = it->input, .inputs = it->inputs, .session = it->session,
                  .timeout_ms = it->timeout_ms, .metadata = it->metadata,
                  .request_id = it->id, .accept_changes = it->accepts_changes,
                  .files = it->files.items, .n_files = it->files.count,
                  .budget = {.max_cost_usd_micros = it->max_cost_usd_micros});

    return it->trace ? cadre_run_resume(it->team, it->trace, config, run, err)
                     : cadre_run_start(it->team, config, run, err);
}

// Another program has the run or the session: a matter of the store.
static int exit_of_no_run(const cli_request *it, const cadre_error *err)
{
    bool is_shared = it->trace || it->session || it->id;

    return err->status == CADRE_EBUSY && is_shared ? CLI_EXIT_STORE
                                                   : cli_exit_of_error(err);
}

int cli_request_run_on(cli_request *request)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cli_signals signals;

    request->was_stopped = false;
    request->stopped_by = 0;
    cli_signals_init(&signals);
    request->not_started = start(request, &run, &err);
    if (request->not_started != CADRE_OK) {
        cli_signals_stop(&signals);
        if (request->may_be_held && err.status == CADRE_EBUSY) {
            cli_report_note("%s", err.text);
            return CLI_EXIT_OK;
        }
        return cli_request_report(request, &err, exit_of_no_run(request, &err));
    }
    int exit_status = cli_show_run(run, &signals, &request->show);
    request->was_stopped = signals.was_stopped || signals.output_was_closed;
    request->stopped_by = signals.stopped_by;
    cadre_run_free(request->run);
    request->run = run;
    cli_recording_add(&request->recording, request->opened, cadre_run_trace_id(run));
    cli_background_add(&request->background, cadre_run_trace_id(run));
    return exit_status;
}

static int load_team(cli_request *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_team_load_as(
        it->opened, it->team_path, CADRE_LOAD(.type = it->type), &it->team, &err);

    if (status == CADRE_OK)
        return CLI_EXIT_OK;
    if (status == CADRE_EIO && !it->team) // the file that was named cannot be read
        return cli_request_report(it, &err, CLI_EXIT_USAGE);
    return cli_request_report(it, &err, cli_exit_of_error(&err));
}

// What the command line does not say, the record does.
static int take_record(cli_request *it, const cadre_record_info *info, cadre_error *err)
{
    int exit_status = cli_recall_check(info, err);

    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    it->metadata = json_deep_copy(info->metadata);
    if (*info->type && !it->type)
        it->type = it->recorded_type = strdup(info->type);
    if (!it->runtime.offline && !it->runtime.script) {
        it->runtime.offline = info->offline;
        it->runtime.script = cli_recall_script(it->metadata);
    }
    if (!it->team_path)
        it->team_path = cli_recall_team(it->metadata);
    if (it->team_path)
        return CLI_EXIT_OK;
    cadre_fail(err, CADRE_EINVAL,
               "run %s does not say where its team file is: name it after the trace",
               it->trace);
    return CLI_EXIT_USAGE;
}

// Reads the record before the team is loaded: it says how.
static int recall(cli_request *it, cadre_error *err)
{
    cadre_runtime *runtime = NULL;
    cadre_record *record = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cli_store_find(&it->store, err);
    if (status == CADRE_OK)
        status = cli_store_open(&it->store, CADRE_RUNTIME(0), &runtime, err);
    if (status == CADRE_OK)
        status = cadre_record_open(runtime, it->trace, &record, err);
    if (status == CADRE_OK)
        exit_status = take_record(it, cadre_record_get_info(record), err);
    else
        exit_status =
            status == CADRE_ENOTFOUND ? CLI_EXIT_STORE : cli_exit_of_error(err);
    cadre_record_close(record);
    cadre_runtime_close(runtime);
    return exit_status;
}

int cli_request_open(cli_request *request)
{
    cadre_error err = CADRE_ERROR_INIT;
    int exit_status = request->trace ? recall(request, &err) : CLI_EXIT_OK;

    if (exit_status != CLI_EXIT_OK)
        return cli_request_report(request, &err, exit_status);
    if (cli_store_open(&request->store, &request->runtime, &request->opened, &err) !=
        CADRE_OK)
        return cli_request_report(request, &err, cli_exit_of_error(&err));
    cli_background_init(&request->background, request->opened, request->options,
                        request->show.is_quiet);
    return load_team(request);
}

int cli_request_run(cli_request *request)
{
    int exit_status = cli_request_open(request);

    if (exit_status == CLI_EXIT_OK) {
        exit_status = cli_request_run_on(request);
        cli_background_wait(&request->background);
        exit_status = cli_recording_write(&request->recording, exit_status);
    }
    return exit_status;
}
