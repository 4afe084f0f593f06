// See report.h.
#include "report.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One write for one line: lines of several threads or processes do not mix.
static void print_line(const char *prefix, const char *text)
{
    char *line = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&line, &len);

    if (!stream)
        return;
    fputs(prefix, stream);
    cli_text_print(stream, text, strlen(text), CLI_TEXT_ONE_LINE);
    fputc('\n', stream);
    if (fclose(stream) == 0)
        fwrite(line, 1, len, stderr);
    free(line);
}

static void CADRE_PRINTF(2, 0)
    print_format(const char *prefix, const char *format, va_list args)
{
    char *text = NULL;
    int len = vasprintf(&text, format, args);

    print_line(prefix, len >= 0 ? text : "out of memory");
    if (len >= 0)
        free(text);
}

void cli_report(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_format("cadre: ", format, args);
    va_end(args);
}

void cli_report_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_format("", format, args);
    va_end(args);
}

int cli_report_usage(const cadre_command *command, const char *format, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        return CLI_EXIT_USAGE;
    bool asks = len > 0 && text[len - 1] == '?';
    const char *see = asks ? " See" : "; see";
    if (command)
        cli_report("%s: %s%s `cadre %s --help`", command->name, text, see,
                   command->name);
    else
        cli_report("%s%s `cadre help`", text, see);
    free(text);
    return CLI_EXIT_USAGE;
}

// "team.yaml: 2 problems; script.yaml: 1 problem": those of a file stand together, and
// so do those of none.
static void report_counts(const cadre_team *team, size_t n)
{
    char *text = NULL;
    size_t len = 0;
    size_t first = 0;
    FILE *stream = open_memstream(&text, &len);

    if (!stream)
        return;
    while (first < n) {
        const char *file = cadre_team_problem_file(team, first);
        size_t last = first;
        while (last < n && cadre_team_problem_file(team, last) == file)
            last++;
        fprintf(stream, "%s%s%s%zu problem%s", first > 0 ? "; " : "", file ? file : "",
                file ? ": " : "", last - first, last - first == 1 ? "" : "s");
        first = last;
    }
    if (fclose(stream) == 0)
        cli_report("%s", text);
    free(text);
}

void cli_report_notes(const cadre_team *team)
{
    size_t n = 0;
    const char *const *notes = cadre_team_notes(team, &n);

    for (size_t i = 0; i < n; i++)
        cli_report_note("%s", notes[i]);
}

// Lines with a place stay as compilers write them, so that editors find it.
void cli_report_problems(const cadre_team *team, const cadre_error *err)
{
    size_t n = 0;
    const char *const *problems = team ? cadre_team_problems(team, &n) : NULL;

    if (n == 0) {
        cli_report("%s", err->text);
        return;
    }
    for (size_t i = 0; i < n; i++)
        print_line(cadre_team_problem_file(team, i) ? "" : "cadre: ", problems[i]);
    if (n > 1 || cadre_team_problem_file(team, 0)) // else the line is all there is
        report_counts(team, n);
}

int cli_exit_of_error(const cadre_error *err)
{
    if (err->error_class == CADRE_CLASS_STORE || err->error_class == CADRE_CLASS_LEASE)
        return CLI_EXIT_STORE;
    switch (err->status) {
    case CADRE_ESTORE:
        return CLI_EXIT_STORE;
    case CADRE_ECONFIG:
    case CADRE_EINVAL:
        return CLI_EXIT_USAGE;
    case CADRE_EABORTED:
    case CADRE_ETIMEOUT:
        return CLI_EXIT_ABORTED;
    case CADRE_EPARKED:
        return CLI_EXIT_WAITS;
    default:
        return CLI_EXIT_FAILED;
    }
}

// No default: a new reason makes the compiler ask here. Some of these only come with a
// run that failed.
static int exit_of_completed(cadre_stop_reason reason)
{
    switch (reason) {
    case CADRE_STOP_MAX_TURNS:
    case CADRE_STOP_MAX_ITERATIONS:
    case CADRE_STOP_BUDGET:
    case CADRE_STOP_LIMIT: // the model's: its answer was cut
        return CLI_EXIT_LIMIT;
    case CADRE_STOP_NONE:
    case CADRE_STOP_FINAL:
    case CADRE_STOP_MAX_HANDOFFS:
    case CADRE_STOP_LOOP:
    case CADRE_STOP_TIMEOUT:
    case CADRE_STOP_ABORTED:
    case CADRE_STOP_DIVERGED:
    case CADRE_STOP_ERROR:
    case CADRE_STOP_INTERRUPTED:
    case CADRE_STOP_RESTART_LIMIT:
    case CADRE_STOP_ESCALATED:
    case CADRE_STOP_MAX_STEPS:
        break;
    }
    return CLI_EXIT_OK;
}

int cli_exit_of_run(cadre_frame_status status, cadre_stop_reason reason,
                    cadre_error_class error_class)
{
    switch (status) {
    case CADRE_FRAME_COMPLETED:
        return exit_of_completed(reason);
    case CADRE_FRAME_WAITING:
        return CLI_EXIT_WAITS;
    case CADRE_FRAME_TIMEOUT:
    case CADRE_FRAME_ABORTED:
        return CLI_EXIT_ABORTED;
    default:
        return error_class == CADRE_CLASS_STORE || error_class == CADRE_CLASS_LEASE
                   ? CLI_EXIT_STORE
                   : CLI_EXIT_FAILED;
    }
}
