// cadre run: one input to a team, one answer.
#include "ui/command.h"
#include "ui/duration.h"
#include "ui/input.h"
#include "ui/json_output.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/report.h"
#include "ui/show_run.h"
#include "ui/text.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What the command line asks for.
typedef struct request {
    const char *team_path;
    char *input;    // owned
    json_t *inputs; // owned; an object
    int64_t timeout_ms;
    cadre_runtime_config runtime;
    cli_show_config show;
} request;

static void request_fini(request *it)
{
    free(it->input);
    json_decref(it->inputs);
}

static int no_memory(void)
{
    cli_report("out of memory");
    return CLI_EXIT_FAILED;
}

static int read_input(request *it, const cli_arguments *arguments)
{
    const char *text = cli_arguments_text(arguments, 1);

    if (!text && isatty(STDIN_FILENO) == 1)
        return cli_report_usage(arguments->command,
                                "no input: give a text, or pipe one into it");
    if (text && strcmp(text, "-") != 0) {
        if (!cli_text_is_utf8(text, strlen(text)))
            return cli_report_usage(arguments->command, "the input is not UTF-8");
        it->input = strdup(text);
        return it->input ? CLI_EXIT_OK : no_memory();
    }
    int exit_status = cli_input_read(&it->input);
    if (exit_status == CLI_EXIT_OK && !*it->input)
        return cli_report_usage(arguments->command, "no input: stdin is empty");
    return exit_status;
}

// The team knows the types of its inputs and reads the texts by them.
static int read_set(request *it, const cli_arguments *arguments, const char *pair)
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
    int failure = name ? json_object_set_new(it->inputs, name, json_string(value)) : -1;
    free(name);
    return failure ? no_memory() : CLI_EXIT_OK;
}

static int read_sets(request *it, const cli_arguments *arguments)
{
    int exit_status = CLI_EXIT_OK;

    it->inputs = json_object();
    for (size_t i = 0; i < arguments->n_given && exit_status == CLI_EXIT_OK; i++)
        if (strcmp(arguments->given[i].option->name, "set") == 0)
            exit_status = read_set(it, arguments, arguments->given[i].value);
    return exit_status;
}

static int read_form(request *it, const cli_arguments *arguments)
{
    bool is_json = cli_arguments_has(arguments, "json");
    bool is_events = cli_arguments_has(arguments, "events");

    if (is_json && is_events)
        return cli_report_usage(arguments->command,
                                "'--json' and '--events' exclude each other");
    if (cli_arguments_has(arguments, "all") && !is_json)
        return cli_report_usage(arguments->command, "'--all' goes with '--json'");
    it->show = (cli_show_config){
        .form = is_json     ? CLI_SHOW_JSON
                : is_events ? CLI_SHOW_EVENTS
                            : CLI_SHOW_ANSWER,
        .is_quiet = cli_arguments_has(arguments, "quiet"),
        .is_plain = cli_arguments_has(arguments, "plain"),
        .wants_all_frames = cli_arguments_has(arguments, "all"),
        .timeout = cli_arguments_value(arguments, "timeout"),
        .timeout_ms = it->timeout_ms,
    };
    return CLI_EXIT_OK;
}

static int read_timeout(request *it, const cli_arguments *arguments)
{
    const char *timeout = cli_arguments_value(arguments, "timeout");

    if (!timeout)
        return CLI_EXIT_OK;
    if (!cli_duration_parse(timeout, &it->timeout_ms))
        return cli_report_usage(arguments->command,
                                "option '--timeout': expected a duration such as "
                                "250ms, 10s, 5m or 2h, not '%s'",
                                timeout);
    if (it->timeout_ms == 0)
        return cli_report_usage(
            arguments->command,
            "option '--timeout': 0 is no limit; leave the option out");
    return CLI_EXIT_OK;
}

// Reads everything but the input, which may have to be waited for.
static int request_init(request *it, const cli_arguments *arguments)
{
    *it = (request){.team_path = cli_arguments_text(arguments, 0)};
    it->runtime = *CADRE_RUNTIME(.store = cli_arguments_value(arguments, "store"),
                                 .offline = cli_arguments_has(arguments, "offline"),
                                 .script = cli_arguments_value(arguments, "script"));
    int exit_status = read_timeout(it, arguments);
    if (exit_status == CLI_EXIT_OK)
        exit_status = read_form(it, arguments);
    return exit_status == CLI_EXIT_OK ? read_sets(it, arguments) : exit_status;
}

// There is no run: tells why, in the form that was asked for.
static int report_no_run(const request *it, const cadre_team *team,
                         const cadre_error *err)
{
    int exit_status = cli_exit_of_error(err);
    cli_output output;

    if (err->status == CADRE_EIO && !team)
        exit_status =
            CLI_EXIT_USAGE; // the file named on the command line cannot be read
    cli_report_problems(team, err);
    if (it->show.form == CLI_SHOW_ANSWER)
        return exit_status;
    bool is_json = it->show.form == CLI_SHOW_JSON;
    json_t *object = is_json ? cli_json_no_run(err, team) : cli_json_no_run_event(err);
    cli_output_init(&output);
    cli_output_write_json(&output, object, is_json ? JSON_INDENT(2) : JSON_COMPACT);
    json_decref(object);
    return cli_output_finish(&output, exit_status);
}

static int run_team(const request *it, cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    cli_signals signals;

    cli_signals_init(&signals);
    if (cadre_run_start(team,
                        CADRE_RUN(.input = it->input, .inputs = it->inputs,
                                  .timeout_ms = it->timeout_ms),
                        &run, &err) != CADRE_OK) {
        cli_signals_stop(&signals);
        return report_no_run(it, team, &err);
    }
    int exit_status = cli_show_run(run, &signals, &it->show);
    cadre_run_free(run);
    return exit_status;
}

static int run_request(const request *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cadre_runtime_open(&it->runtime, &runtime, &err);
    if (status == CADRE_OK)
        status = cadre_team_load(runtime, it->team_path, &team, &err);
    exit_status =
        status == CADRE_OK ? run_team(it, team) : report_no_run(it, team, &err);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return exit_status;
}

static int run_run(const cli_arguments *arguments)
{
    request it;
    int exit_status = request_init(&it, arguments);

    if (exit_status == CLI_EXIT_OK)
        exit_status = read_input(&it, arguments);
    if (exit_status == CLI_EXIT_OK)
        exit_status = run_request(&it);
    request_fini(&it);
    return exit_status;
}

static const cli_option options[] = {
    {"json", NULL, "print one JSON object: answer, usage, frames"},
    {"events", NULL, "print what happens as JSON, one object a line"},
    {"all", NULL, "with --json: the frames of models and tools too"},
    {"offline", NULL, "take all answers from the team's script, ask no model"},
    {"script", "FILE", "take the answers from this script; implies --offline"},
    {"set", "NAME=VALUE", "set an input of the team; may be given many times"},
    {"timeout", "TIME", "end the run after so long: 250ms, 10s, 5m, 2h"},
    {"store", "URL", "where the run is recorded: memory"},
    {"plain", NULL, "no colours and no live tree on a terminal"},
    {"quiet", NULL, "print nothing on stderr but failures"},
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
        "INPUT is a text; '-', or none when stdin is no terminal, reads stdin (UTF-8, "
        "up\n"
        "to 16 MiB, without the line end at its end).\n"
        "\n"
        "The answer goes to stdout, on a terminal while it is written; trace id, live\n"
        "tree, stack tree and summary go to stderr. With --json a run that could not\n"
        "start prints {\"error\": ..., \"problems\": [...]} instead, with --events one "
        "line\n"
        "of type error.\n"
        "\n"
        "Ctrl-C stops the run and everything below it; a second one ends at once and\n"
        "kills the tools that run.\n",
    .run = run_run,
};
