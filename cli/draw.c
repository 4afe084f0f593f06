// cadre draw: the shape of a team, for people, documents and Graphviz.
#include "ui/command.h"
#include "ui/draw.h"
#include "ui/graphviz.h"
#include "ui/options.h"
#include "ui/output.h"
#include "ui/report.h"
#include "ui/suggest.h"
#include "ui/team_file.h"
#include "ui/team_type.h"
#include "ui/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum draw_format {
    DRAW_TEXT,
    DRAW_MERMAID,
    DRAW_DOT,
    DRAW_SVG
} draw_format;

static const char *format_at(const void *table, size_t nth)
{
    static const char *const names[] = {"text", "mermaid", "dot", "svg"};

    (void)table;
    return nth < sizeof(names) / sizeof(names[0]) ? names[nth] : NULL;
}

static int read_format(const cli_arguments *arguments, draw_format *format)
{
    const char *given = cli_arguments_value(arguments, "format");
    const char *known;

    *format = DRAW_TEXT;
    if (!given)
        return CLI_EXIT_OK;
    for (size_t i = 0; (known = format_at(NULL, i)) != NULL; i++) {
        *format = (draw_format)i;
        if (strcmp(known, given) == 0)
            return CLI_EXIT_OK;
    }
    const char *nearest = cli_suggest(given, format_at, NULL);
    return cli_report_usage(
        arguments->command,
        "option '--format': expected text, mermaid, dot or svg, not '%s'%s%s%s", given,
        nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
}

static bool draw_graph(FILE *stream, const cli_places *places, draw_format format)
{
    cli_terminal terminal;

    if (format == DRAW_TEXT) {
        cli_terminal_init(&terminal, STDOUT_FILENO, true);
        return cli_draw_text(stream, places, terminal.has_utf8);
    }
    if (format == DRAW_MERMAID)
        cli_draw_mermaid(stream, places);
    else
        cli_draw_dot(stream, places);
    return true;
}

static int write_out(const char *text, size_t len)
{
    cli_output output;

    cli_output_init(&output);
    cli_output_write(&output, text, len);
    return cli_output_finish(&output, CLI_EXIT_OK);
}

static int write_svg(const char *graph, size_t graph_len)
{
    char *svg = NULL;
    size_t len = 0;
    int exit_status = cli_graphviz_svg(graph, graph_len, &svg, &len);

    if (exit_status == CLI_EXIT_OK)
        exit_status = write_out(svg, len);
    free(svg);
    return exit_status;
}

static int draw_places(const cli_places *places, draw_format format)
{
    char *text = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&text, &len);
    int exit_status = CLI_EXIT_FAILED;

    bool is_drawn = stream && draw_graph(stream, places, format);
    is_drawn = stream && fclose(stream) == 0 && is_drawn;
    if (!is_drawn)
        cli_report("out of memory");
    else
        exit_status = format == DRAW_SVG ? write_svg(text, len) : write_out(text, len);
    free(text);
    return exit_status;
}

static int draw_team(const cadre_team *team, draw_format format)
{
    cadre_error err = CADRE_ERROR_INIT;
    cli_places places;
    int exit_status = CLI_EXIT_FAILED;

    if (cli_places_init(&places, team, &err) == CADRE_OK)
        exit_status = draw_places(&places, format);
    else
        cli_report("%s", err.text);
    cli_places_fini(&places);
    return exit_status;
}

static int draw_run(const cli_arguments *arguments)
{
    draw_format format;
    cli_team_file file;
    int exit_status = read_format(arguments, &format);

    if (exit_status != CLI_EXIT_OK)
        return exit_status;
    exit_status = cli_team_file_open_or_tell(&file, arguments);
    if (exit_status == CLI_EXIT_OK)
        exit_status = draw_team(file.team, format);
    cli_team_file_close(&file);
    return exit_status;
}

static const cli_option options[] = {
    {"format", "FORMAT", "text, mermaid, dot or svg; without: text"},
    CLI_TYPE_OPTION,
};

const cadre_command cadre_command_draw = {
    .name = "draw",
    .summary = "Draws a team: who is in it, and who goes on to whom",
    .arguments = "TEAM",
    .min_arguments = 1,
    .max_arguments = 1,
    .options = options,
    .n_options = sizeof(options) / sizeof(options[0]),
    .details =
        "As text a team is a tree. Behind a member stand its type, its tools in\n"
        "brackets, and where the work goes on from it: `->` always, `~>` when a model\n"
        "or a condition wants it, `(back)` to where it came from. `entry` gets the\n"
        "input; `end` gives the answer, where not everybody may.\n"
        "\n"
        "mermaid is for Markdown, dot for Graphviz; svg is made by its program `dot`,\n"
        "which must be in PATH (package graphviz). Nothing runs, and no key is "
        "needed.\n",
    .run = draw_run,
};
