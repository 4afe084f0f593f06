// See print_tree.h.
#include "print_tree.h"

#include "cost.h"
#include "duration.h"
#include "questions.h"
#include "text.h"
#include "tree_layout.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// A name longer than this does not push the columns of all others to the right.
#define MAX_LABEL 48

// On a screen narrower than this the referers make room for what changes.
#define COLUMNS_WITH_REFERER 64

typedef enum tree_column {
    COLUMN_LABEL,
    COLUMN_REFERER,
    COLUMN_STATE,
    COLUMN_TIME,
    COLUMN_INPUT,
    COLUMN_OUTPUT,
    COLUMN_COST,
    N_COLUMNS
} tree_column;

// What a tool said may be long; it is cut to this where nobody knows a width.
#define REMARK_COLUMNS 160

// A line that is being printed, up to its last column.
typedef struct tree_line {
    const cli_terminal *terminal;
    FILE *stream;
    size_t left;   // columns
    size_t used;   // up to the last text
    size_t blanks; // written once a text follows
} tree_line;

typedef struct tree_cell {
    const char *text;
    size_t width;
    bool is_number; // stands at the right
    cli_colour colour;
} tree_cell;

// Moves on to a column, were it not for what is there already.
static void move_to(tree_line *line, size_t column)
{
    if (line->used + line->blanks < column)
        line->blanks = column - line->used;
}

static void put_text(tree_line *line, const char *text, cli_colour colour)
{
    assert(text); // of every row and cell: "" when there is nothing
    if (!*text || line->left <= line->blanks)
        return;
    fprintf(line->stream, "%*s", (int)line->blanks, "");
    line->left -= line->blanks;
    line->used += line->blanks;
    line->blanks = 0;
    if (colour != CLI_COLOUR_NONE)
        cli_terminal_colour(line->terminal, line->stream, colour);
    size_t n = cli_text_print_cut(line->stream, text, line->left);
    if (colour != CLI_COLOUR_NONE)
        cli_terminal_colour(line->terminal, line->stream, CLI_COLOUR_NONE);
    line->left -= n;
    line->used += n;
}

// A cell of no width is a column that no row has.
static void put_cell(tree_line *line, const tree_cell *cell)
{
    size_t width = cli_text_width(cell->text);
    size_t start = line->used + line->blanks + 2;

    if (cell->width == 0)
        return;
    move_to(line, start + (cell->is_number ? cell->width - width : 0));
    put_text(line, cell->text, cell->colour);
    if (!cell->is_number)
        move_to(line, start + cell->width);
}

// The texts of a row that have to be made.
typedef struct row_texts {
    char time[24], input[32], output[32], cost[32];
} row_texts;

static row_texts texts_of(const cli_tree_row *row)
{
    row_texts texts = {"", "", "", ""};

    cli_duration_format(row->duration_ms, texts.time, sizeof(texts.time));
    if (row->input_tokens > 0 || row->output_tokens > 0) {
        snprintf(texts.input, sizeof(texts.input), "%" PRId64 " in", row->input_tokens);
        snprintf(texts.output, sizeof(texts.output), "%" PRId64 " out",
                 row->output_tokens);
    }
    if (row->cost_usd_micros > 0)
        cli_cost_format(row->cost_usd_micros, texts.cost, sizeof(texts.cost));
    return texts;
}

static void widen(size_t *width, const char *text)
{
    size_t needed = cli_text_width(text);

    if (needed > *width)
        *width = needed;
}

// On a screen half of a line at most, and the name is cut to it.
static size_t label_limit(const cli_tree_page *page)
{
    return page->columns > 0 && page->columns / 2 < MAX_LABEL ? page->columns / 2
                                                              : MAX_LABEL;
}

static void measure(const cli_tree_page *page, const cli_tree_layout *layout,
                    size_t first, size_t widths[N_COLUMNS])
{
    for (size_t i = first; i < layout->n; i++) {
        int at = layout->order[i];
        const cli_tree_row *row = &page->rows[at];
        row_texts texts = texts_of(row);
        if (row->is_remark)
            continue;
        size_t label = cli_tree_layout_indent(layout, at) + cli_text_width(row->name);
        if (label > label_limit(page))
            label = label_limit(page);
        if (label > widths[COLUMN_LABEL])
            widths[COLUMN_LABEL] = label;
        widen(&widths[COLUMN_REFERER], row->referer);
        widen(&widths[COLUMN_STATE], row->state);
        widen(&widths[COLUMN_TIME], texts.time);
        widen(&widths[COLUMN_INPUT], texts.input);
        widen(&widths[COLUMN_OUTPUT], texts.output);
        widen(&widths[COLUMN_COST], texts.cost);
    }
    if (page->columns > 0 && page->columns < COLUMNS_WITH_REFERER)
        widths[COLUMN_REFERER] = 0;
}

static void put_branches(tree_line *line, const cli_tree_layout *layout, int at)
{
    size_t indent = cli_tree_layout_indent(layout, at);

    if (indent == 0 || indent >= line->left)
        return;
    cli_terminal_colour(line->terminal, line->stream, CLI_COLOUR_DIM);
    cli_tree_layout_print(layout, at, line->terminal->has_utf8, line->stream);
    cli_terminal_colour(line->terminal, line->stream, CLI_COLOUR_NONE);
    line->left -= indent;
    line->used += indent;
}

// `width` 0: the name is printed as long as it is.
static void put_label(tree_line *line, const char *name, size_t width)
{
    size_t left = line->left + line->used;

    if (width > line->used && width - line->used < line->left)
        line->left = width - line->used;
    put_text(line, name, CLI_COLOUR_NONE);
    line->left = left - line->used;
}

static void put_remark(tree_line *line, const cli_tree_row *row)
{
    if (line->left == SIZE_MAX - line->used)
        line->left = REMARK_COLUMNS;
    put_text(line, "! ", CLI_COLOUR_RED);
    put_text(line, row->name, CLI_COLOUR_NONE);
    line->blanks = 2;
    put_text(line, row->note, CLI_COLOUR_NONE);
}

static void put_row(tree_line *line, const cli_tree_row *row, const size_t *widths)
{
    row_texts texts = texts_of(row);
    const tree_cell cells[] = {
        {row->referer, widths[COLUMN_REFERER], false, CLI_COLOUR_DIM},
        {row->state, widths[COLUMN_STATE], false, row->colour},
        {texts.time, widths[COLUMN_TIME], true, CLI_COLOUR_NONE},
        {texts.input, widths[COLUMN_INPUT], true, CLI_COLOUR_DIM},
        {texts.output, widths[COLUMN_OUTPUT], true, CLI_COLOUR_DIM},
        {texts.cost, widths[COLUMN_COST], true, CLI_COLOUR_DIM},
        {row->note, cli_text_width(row->note), false, CLI_COLOUR_NONE},
    };

    move_to(line, widths[COLUMN_LABEL]);
    for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
        put_cell(line, &cells[i]);
}

static size_t print_rows(const cli_tree_page *page, const cli_tree_layout *layout,
                         const tree_line *empty, size_t *line_widths)
{
    size_t widths[N_COLUMNS] = {0}, n_lines = 0, first = 0;

    if (page->max_rows > 0 && layout->n > page->max_rows) {
        char more[48];
        tree_line line = *empty;
        first = layout->n - page->max_rows + 1;
        snprintf(more, sizeof(more), "... %zu more", first);
        put_text(&line, more, CLI_COLOUR_DIM);
        fputc('\n', line.stream);
        if (line_widths)
            line_widths[n_lines] = line.used;
        n_lines++;
    }
    measure(page, layout, first, widths);
    for (size_t i = first; i < layout->n; i++, n_lines++) {
        int at = layout->order[i];
        tree_line line = *empty;
        const cli_tree_row *row = &page->rows[at];
        put_branches(&line, layout, at);
        if (row->is_remark) {
            put_remark(&line, row);
        } else {
            put_label(&line, row->name, page->columns > 0 ? widths[COLUMN_LABEL] : 0);
            put_row(&line, row, widths);
        }
        fputc('\n', line.stream);
        if (line_widths)
            line_widths[n_lines] = line.used;
    }
    return n_lines;
}

size_t cli_tree_print(const cli_tree_page *page, const cli_terminal *terminal,
                      FILE *stream, size_t *widths)
{
    cli_tree_layout layout;
    tree_line empty = {.terminal = terminal,
                       .stream = stream,
                       .left = page->columns > 0 ? page->columns : SIZE_MAX};

    if (!cli_tree_layout_init(&layout, page->parents, page->n))
        return 0;
    size_t n_lines = print_rows(page, &layout, &empty, widths);
    cli_tree_layout_fini(&layout);
    return n_lines;
}

cli_colour cli_tree_status_colour(cadre_frame_status status)
{
    switch (status) {
    case CADRE_FRAME_COMPLETED:
        return CLI_COLOUR_GREEN;
    case CADRE_FRAME_FAILED:
        return CLI_COLOUR_RED;
    case CADRE_FRAME_TIMEOUT:
    case CADRE_FRAME_ABORTED:
        return CLI_COLOUR_YELLOW;
    default:
        return CLI_COLOUR_CYAN;
    }
}

// What stands behind a row: how it was reached where that is no plain call, and why it
// did not end well, where that happened and not on all rows above.
static const char *note_of(const cadre_frame_info *frame)
{
    bool is_cut = frame->stop_reason == CADRE_STOP_BUDGET && *frame->error.message;
    if ((frame->status != CADRE_FRAME_COMPLETED || is_cut) &&
        strcmp(frame->error.frame_id, frame->id) == 0)
        return frame->error.message;
    if (frame->stop_reason != CADRE_STOP_NONE &&
        frame->stop_reason != CADRE_STOP_FINAL &&
        frame->status == CADRE_FRAME_COMPLETED)
        return cadre_stop_reason_name(frame->stop_reason);
    return strcmp(frame->key, "transfer") == 0 ? "(transfer)" : "";
}

// "Which one? -> the first".
static char *make_question_note(const cadre_frame_info *frame)
{
    char *question = cli_question_text(frame);
    char *answer = cli_question_said(frame->output);
    char *note = NULL;

    if (!question || !answer ||
        asprintf(&note, "%s%s%s", question, *answer ? " -> " : "", answer) < 0)
        note = NULL;
    free(question);
    free(answer);
    return note;
}

// "3 attempts", before what else there is to say.
static char *make_attempts_note(const cadre_frame_info *frame)
{
    const char *note = note_of(frame);
    char *text = NULL;

    if (asprintf(&text, "%d attempts%s%s", frame->attempts, *note ? ": " : "", note) <
        0)
        text = NULL;
    return text;
}

// A note that has to be made. NULL: what stands there is enough.
static char *make_note(const cadre_frame_info *frame)
{
    if (strcmp(frame->kind, "ask") == 0)
        return make_question_note(frame);
    return strcmp(frame->kind, "model") == 0 && frame->attempts > 1
               ? make_attempts_note(frame)
               : NULL;
}

static bool is_agent(const cadre_frame_info *frame)
{
    return strcmp(frame->kind, "agent") == 0;
}

static void fill_row(cli_tree_row *row, const cadre_frame_info *frame)
{
    bool is_over = frame->completed_at > 0;

    row->name = frame->name;
    row->referer = is_agent(frame) ? frame->referer : frame->kind;
    row->state = cadre_frame_status_name(frame->status);
    row->note = note_of(frame);
    row->colour = cli_tree_status_colour(frame->status);
    row->duration_ms = is_over ? frame->duration_ms : -1;
    row->input_tokens += frame->usage.input_tokens;
    row->output_tokens += frame->usage.output_tokens;
    row->cost_usd_micros += frame->usage.cost_usd_micros;
}

bool cli_tree_is_failed_tool(const cadre_frame_info *frame)
{
    return strcmp(frame->kind, "tool") == 0 && (frame->status == CADRE_FRAME_FAILED ||
                                                frame->status == CADRE_FRAME_TIMEOUT);
}

// What rows are made of: the frames, and the nearest agent above each.
typedef struct row_source {
    cli_frames frames;
    cli_tree_scope scope;
    const int *agent_parents;
    int *row_of;  // of each frame
    char **notes; // the same, where they had to be made; owned
} row_source;

static int parent_of(const row_source *source, size_t i)
{
    return source->scope == CLI_TREE_ALL ? source->frames.items[i].parent
                                         : source->agent_parents[i];
}

// What a frame used itself is what its subtree used without the subtrees of the rows
// below.
static size_t fill_rows(const row_source *source, cli_tree_row *rows, int *parents)
{
    size_t n = 0;

    for (size_t i = 0; i < source->frames.count; i++) {
        const cadre_frame_info *frame = &source->frames.items[i];
        bool is_row = source->scope == CLI_TREE_ALL || is_agent(frame);
        int parent = parent_of(source, i);
        int above = parent < 0 ? -1 : source->row_of[parent];
        if (!is_row && !cli_tree_is_failed_tool(frame))
            continue;
        if (is_row && above >= 0) {
            rows[above].input_tokens -= frame->usage.input_tokens;
            rows[above].output_tokens -= frame->usage.output_tokens;
            rows[above].cost_usd_micros -= frame->usage.cost_usd_micros;
        }
        if (is_row) {
            fill_row(&rows[n], frame);
            source->notes[i] = make_note(frame);
            if (source->notes[i])
                rows[n].note = source->notes[i];
        } else {
            rows[n] = (cli_tree_row){
                .name = frame->name, .note = frame->error.message, .is_remark = true};
        }
        parents[n] = above;
        source->row_of[i] = (int)n++;
    }
    return n;
}

// The row that stands for a frame; that of an agent where its tools have none.
static int row_at(const row_source *source, const char *frame_id)
{
    int at = -1;

    for (size_t i = 0; i < source->frames.count && at < 0; i++)
        if (strcmp(source->frames.items[i].id, frame_id) == 0)
            at = (int)i;
    if (at >= 0 && source->scope == CLI_TREE_AGENTS &&
        !is_agent(&source->frames.items[at]))
        at = source->agent_parents[at];
    return at < 0 ? -1 : source->row_of[at];
}

static size_t add_spawned(const row_source *source, const cli_spawned *spawned,
                          cli_tree_row *rows, int *parents, size_t n)
{
    for (size_t i = 0; i < spawned->n; i++) {
        const cli_spawned_run *run = &spawned->items[i];
        parents[n] = row_at(source, run->by);
        rows[n++] = (cli_tree_row){.name = run->trace,
                                   .referer = "background",
                                   .state = run->state,
                                   .note = "",
                                   .colour = cli_tree_status_colour(run->status),
                                   .duration_ms = -1};
    }
    return n;
}

bool cli_tree_print_run(const cli_tree *tree, const cli_terminal *terminal,
                        FILE *stream)
{
    cli_frames frames = tree->frames;
    size_t n_rows = frames.count + tree->spawned.n + 1;
    int *agent_parents = cli_json_agent_parents(frames);
    int *row_of = calloc(frames.count + 1, sizeof(*row_of));
    int *parents = calloc(n_rows, sizeof(*parents));
    cli_tree_row *rows = calloc(n_rows, sizeof(*rows));
    char **notes = calloc(frames.count + 1, sizeof(*notes));
    bool has_memory = agent_parents && row_of && parents && rows && notes;

    if (has_memory) {
        const row_source source = {frames, tree->scope, agent_parents, row_of, notes};
        cli_tree_page page = {.rows = rows, .parents = parents};
        size_t screen_rows = 0;
        page.n = fill_rows(&source, rows, parents);
        page.n = add_spawned(&source, &tree->spawned, rows, parents, page.n);
        if (terminal->is_terminal)
            cli_terminal_size(terminal, &page.columns, &screen_rows);
        cli_tree_print(&page, terminal, stream, NULL);
    }
    for (size_t i = 0; notes && i < frames.count; i++)
        free(notes[i]);
    free(notes);
    free(agent_parents);
    free(row_of);
    free(parents);
    free(rows);
    return has_memory;
}
