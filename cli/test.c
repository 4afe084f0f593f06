// cadre test: runs a scripted team, then again from its journal, and compares.
#include "ui/command.h"
#include "ui/input.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/report.h"
#include "ui/request.h"
#include "ui/team_type.h"
#include "ui/text.h"

#include <cadre/cadre.h>

#include <stdlib.h>
#include <string.h>

// --- Differences ---

enum {
    SHOWN = 48,  // columns of a value
    BEFORE = 12, // bytes of it before the first that differs, when there are
    MANY = 24,   // or more
};

static bool is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

// Where to begin so that what differs is seen.
static size_t shown_from(const char *text, const char *other)
{
    size_t from = 0;

    if (other)
        while (text[from] && text[from] == other[from])
            from++;
    if (from < MANY)
        return 0;
    from -= BEFORE;
    while (from > 0 && is_inside_character(text[from]))
        from--;
    return from;
}

static void print_value(FILE *stream, const char *text, const char *other)
{
    if (!text) {
        fputs("nothing", stream);
        return;
    }
    size_t from = shown_from(text, other);
    fputs(from > 0 ? "\"..." : "\"", stream);
    cli_text_print_cut(stream, text + from, SHOWN);
    fputc('"', stream);
}

static void print_text(FILE *stream, const char *text)
{
    cli_text_print(stream, text, strlen(text), CLI_TEXT_ONE_LINE);
}

// "after commit 3: desk -> triage, key 1/0: output: "a", then "b""
static void print_difference(void *ctx, const cadre_difference *it)
{
    FILE *stream = ctx;

    if (it->commit > 0)
        fprintf(stream, "after commit %d: ", it->commit);
    print_text(stream, it->path);
    fputs(", key ", stream);
    print_text(stream, it->key);
    fprintf(stream, ": %s: ", it->field);
    print_value(stream, it->first, it->again);
    fputs(", then ", stream);
    print_value(stream, it->again, it->first);
    fputc('\n', stream);
}

// --- The summary ---

static void print_count(FILE *stream, size_t n, const char *what)
{
    fprintf(stream, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

static void print_summary(FILE *stream, const cadre_team *team,
                          const cadre_reenter_result *result)
{
    print_text(stream, cadre_team_name(team));
    fputs(": ", stream);
    if (result->status != CADRE_FRAME_COMPLETED)
        fprintf(stream, "%s, ", cadre_frame_status_name(result->status));
    print_count(stream, result->n_frames, "frame");
    fputs(", ", stream);
    print_count(stream, result->n_messages, "message");
    fputs(", entered again at its end", stream);
    if (result->n_commits > 0) {
        fputs(" and at ", stream);
        print_count(stream, result->n_commits, "commit");
    }
    fputs(": ", stream);
    if (result->n_differences == 0)
        fputs("no difference", stream);
    else
        print_count(stream, result->n_differences, "difference");
    fputc('\n', stream);
}

// --- The test ---

static int enter_again(cadre_team *team, const cadre_run_config *run, bool every_commit)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_reenter_result result;
    cli_page page;

    if (!cli_page_init(&page))
        return CLI_EXIT_FAILED;
    cadre_status status = cadre_reenter(
        team,
        CADRE_REENTER(.run = run, .every_commit = every_commit,
                      .on_difference = print_difference, .ctx = page.stream),
        &result, &err);
    if (status != CADRE_OK) {
        cli_report_problems(team, &err);
        return cli_page_finish(&page, cli_exit_of_error(&err));
    }
    if (result.status != CADRE_FRAME_COMPLETED)
        cli_report_note("note: the run did not complete: %s", result.error.text);
    print_summary(page.stream, team, &result);
    return cli_page_finish(&page,
                           result.n_differences == 0 ? CLI_EXIT_OK : CLI_EXIT_FAILED);
}

static int load_and_test(const cli_arguments *arguments, const char *type,
                         const cadre_run_config *run)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    int exit_status = CLI_EXIT_OK;

    cadre_status status = cadre_runtime_open(
        CADRE_RUNTIME(.store = "memory", .offline = true,
                      .script = cli_arguments_value(arguments, "script")),
        &runtime, &err);
    if (status == CADRE_OK)
        status = cadre_team_load_as(runtime, cli_arguments_text(arguments, 0),
                                    CADRE_LOAD(.type = type), &team, &err);
    if (status == CADRE_OK) {
        exit_status =
            enter_again(team, run, cli_arguments_has(arguments, "every-commit"));
    } else {
        cli_report_problems(team, &err);
        // A file that cannot be read is a mistake on the command line.
        exit_status = status == CADRE_EIO ? CLI_EXIT_USAGE : cli_exit_of_error(&err);
    }
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    return exit_status;
}

static int read_input(const cli_arguments *arguments, char **input)
{
    const char *text = cli_arguments_text(arguments, 1);

    if (text && strcmp(text, "-") == 0)
        return cli_input_read(input);
    if (text && !cli_text_is_utf8(text, strlen(text)))
        return cli_report_usage(arguments->command, "the input is not UTF-8");
    *input = strdup(text ? text : "");
    if (*input)
        return CLI_EXIT_OK;
    cli_report("out of memory");
    return CLI_EXIT_FAILED;
}

static int test_run(const cli_arguments *arguments)
{
    json_t *inputs = NULL;
    char *input = NULL;
    const char *type = NULL;

    if (!cli_arguments_has(arguments, "reenter"))
        return cli_report_usage(arguments->command,
                                "say what to test for: '--reenter'");
    int exit_status = cli_team_type_read(arguments, &type);
    if (exit_status == CLI_EXIT_OK)
        exit_status = cli_request_read_sets(arguments, &inputs);
    if (exit_status == CLI_EXIT_OK)
        exit_status = read_input(arguments, &input);
    if (exit_status == CLI_EXIT_OK)
        exit_status =
            load_and_test(arguments, type, CADRE_RUN(.input = input, .inputs = inputs));
    free(input);
    json_decref(inputs);
    return exit_status;
}

static const cli_option options[] = {
    {"reenter", NULL, "does it do the same when it is gone on with?"},
    {"every-commit", NULL, "go on after each commit too, not only at the end"},
    {"script", "FILE", "take the answers from this script"},
    CLI_TYPE_OPTION,
    {"set", "NAME=VALUE", "set an input of the team; may be given many times"},
};

const cadre_command cadre_command_test = {
    .name = "test",
    .summary = "Runs a scripted team twice and tells what differs",
    .arguments = "TEAM [INPUT]",
    .min_arguments = 1,
    .max_arguments = 2,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "Models answer from the team's script; nothing is recorded in a store.\n"
        "INPUT is a text; '-' reads stdin; without one it is empty.\n"
        "\n"
        "With --reenter the team runs once, then goes on from what was recorded of\n"
        "that, as `cadre resume` does after a crash: once without the end of the\n"
        "root, once without the ends of all agents, so that each agent's code is\n"
        "executed again. Recorded answers answer again; no model is asked and no\n"
        "tool runs. Frames, conversations and answers must then be the same, and\n"
        "each recorded call must be made again with the same input. Code that looks\n"
        "at a clock or a file by itself is found so.\n"
        "\n"
        "With --every-commit it also goes on from each commit. What was not recorded\n"
        "by then happens again, so tools that are not in the script run more than\n"
        "once, also those that the team file does not call `replay: safe`.\n"
        "\n"
        "A line on stdout for each difference, with frame, key, field, first and\n"
        "second value, then one with the counts. Exit status 1: something differs.\n",
    .run = test_run,
};
