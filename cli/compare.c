// cadre compare: one input to a team under several topologies, side by side.
#include "ui/command.h"
#include "ui/input.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/questions.h"
#include "ui/report.h"
#include "ui/request.h"
#include "ui/team_type.h"
#include "ui/trial.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct compare {
    const cli_arguments *arguments;
    cli_request request; // options, store and runtime; its team is never loaded
    char *types_text;    // owned; "chain\0swarm"
    const char **types;  // owned; borrow from it
    size_t n_types;
    json_t *trials; // owned; an array
    bool was_stopped;
} compare;

static int no_memory(void)
{
    cli_report("out of memory");
    return CLI_EXIT_FAILED;
}

// --- The types ---

static bool is_among(const char *const *types, size_t n, const char *type)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(types[i], type) == 0)
            return true;
    return false;
}

// Cuts the list at its commas.
static int split_types(compare *it)
{
    size_t n = 0;
    int exit_status = CLI_EXIT_OK;

    for (char *type = it->types_text; type && exit_status == CLI_EXIT_OK;) {
        char *end = strchr(type, ',');
        if (end)
            *end = '\0';
        if (is_among(it->types, n, type))
            return cli_report_usage(it->arguments->command,
                                    "option '--types': '%s' stands there twice", type);
        exit_status = cli_team_type_check(it->arguments, "option '--types'", type);
        it->types[n++] = type;
        type = end ? end + 1 : NULL;
    }
    it->n_types = n;
    return exit_status;
}

static int read_types(compare *it)
{
    const char *given = cli_arguments_value(it->arguments, "types");

    if (!given || !*given)
        return cli_report_usage(it->arguments->command,
                                "say which: '--types chain,swarm' (`cadre list` tells "
                                "all topologies)");
    it->types_text = strdup(given);
    it->types = calloc(strlen(given) + 1, sizeof(*it->types));
    return it->types_text && it->types ? split_types(it) : no_memory();
}

// --- One trial ---

// Whom it waits for must know how to answer; no other run of this program does.
static void tell_questions(const cli_request *request, const cadre_result *result,
                           cli_frames frames)
{
    cli_questions questions;

    if (result->status != CADRE_FRAME_WAITING ||
        !cli_questions_init(&questions, frames))
        return;
    cli_questions_report(&questions, result->trace_id, request->options);
    if (!request->options)
        cli_report("nobody can answer: the store ends with this program");
    cli_questions_fini(&questions);
}

static json_t *finish_run(const cli_request *request, const char *type, cadre_run *run)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_result *result = NULL;
    cli_frames frames = {0};

    // How it ended stands in the result, also when the store is gone.
    cadre_run_wait(run, &result, NULL);
    if (cadre_run_frames(run, &frames.items, &frames.count, &err) != CADRE_OK)
        cli_report("%s", err.text);
    tell_questions(request, result, frames);
    return cli_trial_of_run(type, result, frames);
}

// Signals are held back already.
static json_t *run_team(compare *it, const char *type, cadre_team *team,
                        cli_signals *signals)
{
    const cli_request *request = &it->request;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;

    cadre_status status = cadre_run_start(
        team,
        CADRE_RUN(.input = request->input, .inputs = request->inputs,
                  .timeout_ms = request->timeout_ms, .metadata = request->metadata,
                  .no_events = true,
                  .budget = {.max_cost_usd_micros = request->max_cost_usd_micros}),
        &run, &err);
    if (status == CADRE_OK && !request->show.is_quiet)
        cli_report_note("%s: trace %s", type, cadre_run_trace_id(run));
    if (status == CADRE_OK)
        status = cli_signals_start(signals, run, &err);
    if (status != CADRE_OK) {
        cadre_run_free(run);
        return cli_trial_of_error(type, &err, team);
    }
    json_t *trial = finish_run(request, type, run);
    cli_background_add(&it->request.background, cadre_run_trace_id(run));
    cadre_run_free(run);
    return trial;
}

// A file that is not there is no matter of its type.
static int load_and_run(compare *it, const char *type, cli_signals *signals)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    json_t *trial = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cadre_team_load_as(it->request.opened, it->request.team_path,
                                             CADRE_LOAD(.type = type), &team, &err);
    if (status == CADRE_EIO && !team) {
        cli_report("%s", err.text);
        exit_status = CLI_EXIT_USAGE;
    } else {
        trial = status == CADRE_OK ? run_team(it, type, team, signals)
                                   : cli_trial_of_error(type, &err, team);
        if (json_array_append_new(it->trials, trial) != 0)
            exit_status = no_memory();
    }
    cli_signals_stop(signals);
    if (status == CADRE_OK)
        cli_background_wait(&it->request.background);
    cadre_team_free(team);
    return exit_status;
}

// One after the other; who stops one wants none of the others.
static int run_all(compare *it)
{
    int exit_status = CLI_EXIT_OK;

    it->trials = json_array();
    for (size_t i = 0; i < it->n_types && exit_status == CLI_EXIT_OK; i++) {
        cli_signals signals;
        cli_signals_init(&signals);
        exit_status = load_and_run(it, it->types[i], &signals);
        it->was_stopped = signals.was_stopped || signals.output_was_closed;
        if (it->was_stopped)
            break;
    }
    return exit_status;
}

// --- All of them ---

static int exit_of_trials(const compare *it)
{
    size_t i;
    json_t *trial;
    bool is_completed = true;

    if (it->was_stopped)
        return CLI_EXIT_ABORTED;
    json_array_foreach(it->trials, i, trial)
    {
        is_completed = is_completed && cli_trial_is_completed(trial);
    }
    return is_completed ? CLI_EXIT_OK : CLI_EXIT_FAILED;
}

static int print_table(const compare *it)
{
    cli_terminal terminal;
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    cli_terminal_init(&terminal, STDOUT_FILENO, it->request.show.is_plain);
    bool has_memory = cli_trials_print(page.stream, it->trials, &terminal);
    return cli_page_finish(&page, has_memory ? exit_of_trials(it) : no_memory());
}

static int print_json(const compare *it)
{
    cli_output output;

    cli_output_init(&output);
    cli_output_write_json(&output, it->trials, JSON_INDENT(2));
    return cli_output_finish(&output, exit_of_trials(it));
}

static int open_store(cli_request *request)
{
    cadre_error err = CADRE_ERROR_INIT;

    if (cli_store_open(&request->store, &request->runtime, &request->opened, &err) !=
        CADRE_OK) {
        cli_report("%s", err.text);
        return cli_exit_of_error(&err);
    }
    cli_background_init(&request->background, request->opened, request->options,
                        request->show.is_quiet);
    return CLI_EXIT_OK;
}

static int compare_types(compare *it)
{
    int exit_status = read_types(it);

    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_input_take(it->arguments, 1, &it->request.input);
    if (exit_status == CLI_EXIT_OK)
        exit_status = open_store(&it->request);
    if (exit_status == CLI_EXIT_OK)
        exit_status = run_all(it);
    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    return it->request.show.form == CLI_SHOW_JSON ? print_json(it) : print_table(it);
}

static int compare_run(const cli_arguments *arguments)
{
    compare it = {.arguments = arguments};
    int exit_status = cli_request_init(&it.request, arguments, NULL,
                                       cli_arguments_text(arguments, 0));

    if (exit_status == CLI_EXIT_OK)
        exit_status = compare_types(&it);
    cli_request_fini(&it.request);
    json_decref(it.trials);
    free(it.types);
    free(it.types_text);
    return exit_status;
}

static const cli_option options[] = {
    {"types", "TYPES", "the topologies, such as chain,swarm,coordinator"},
    {"json", NULL, "print a JSON array, an object for each type"},
    CLI_REQUEST_ANSWER_OPTIONS,
};

const cadre_command cadre_command_compare = {
    .name = "compare",
    .summary = "Runs a team under several topologies and compares",
    .arguments = "TEAM [INPUT]",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "INPUT is read as by `cadre run`. The types get it one after the other, as if\n"
        "each stood in the team file in the place of the root's. Each is a run of its\n"
        "own in the store: `cadre tree` and `cadre show` tell more of it by its "
        "trace.\n"
        "A type that the team cannot work with, and one that fails, is a line with\n"
        "the reason; the others go on.\n"
        "\n"
        "A line tells how the run ended, its model calls, tokens in and out, cost (-\n"
        "where no price is known), time, depth (of the deepest agent; handing over\n"
        "counts), trace, and the first line of the answer. With --json all of it.\n"
        "\n"
        "Offline one script serves all types: steps that one of them does not use are\n"
        "no mistake with `strict: false`.\n"
        "\n"
        "Exit status: 0 when all completed, 1 when one did not, 2 for a mistake on "
        "the\n"
        "command line, 4 when it was stopped: what is there by then is printed.\n",
    .run = compare_run,
};
