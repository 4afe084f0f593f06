// See trial.h.
#include "trial.h"

#include "cost.h"
#include "duration.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// --- What is known of a run ---

static int deepest_agent(cli_frames frames)
{
    int depth = 0;

    for (size_t i = 0; i < frames.count; i++)
        if (strcmp(frames.items[i].kind, "agent") == 0 && frames.items[i].depth > depth)
            depth = frames.items[i].depth;
    return depth;
}

// Keeps the order in which the fields are told.
static void take(json_t *trial, const char *key, const json_t *from)
{
    json_t *value = json_object_get(from, key);

    json_object_set_new(trial, key, value ? json_incref(value) : json_null());
}

static json_t *make(const char *type, const json_t *from)
{
    static const char *const keys[] = {"status", "stop_reason", "output",     "error",
                                       "usage",  "cost",        "duration_ms"};
    json_t *trial = json_object();

    json_object_set_new(trial, "type", cli_json_text(type));
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        take(trial, keys[i], from);
    return trial;
}

json_t *cli_trial_of_run(const char *type, const cadre_result *result,
                         cli_frames frames)
{
    json_t *object = cli_json_result(result, (cli_frames){0}, false);
    json_t *trial = make(type, object);

    json_object_set_new(trial, "depth", json_integer(deepest_agent(frames)));
    take(trial, "trace_id", object);
    json_decref(object);
    return trial;
}

json_t *cli_trial_of_error(const char *type, const cadre_error *err,
                           const cadre_team *team)
{
    json_t *object = cli_json_no_run(err, team);

    json_object_set_new(object, "status",
                        cli_json_text(cadre_frame_status_name(CADRE_FRAME_FAILED)));
    json_t *trial = make(type, object);
    json_object_set_new(trial, "depth", json_null());
    json_object_set_new(trial, "trace_id", json_null());
    take(trial, "problems", object);
    json_decref(object);
    return trial;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

bool cli_trial_is_completed(const json_t *trial)
{
    return strcmp(text_of(trial, "status"),
                  cadre_frame_status_name(CADRE_FRAME_COMPLETED)) == 0;
}

// --- The table ---

enum {
    COLUMN_TYPE,
    COLUMN_STATUS,
    COLUMN_CALLS,
    COLUMN_IN,
    COLUMN_OUT,
    COLUMN_COST,
    COLUMN_TIME,
    COLUMN_DEPTH,
    COLUMN_TRACE,
    COLUMN_ANSWER,
    N_COLUMNS
};

enum {
    GAP = 2,           // between columns
    LEAST_ANSWER = 20, // columns of an answer, however narrow the terminal is
    PLAIN_ANSWER = 60  // where nobody knows a width
};

typedef struct row {
    char *cells[N_COLUMNS]; // owned
} row;

typedef struct table {
    row *rows; // headings first
    size_t n;
    size_t widths[N_COLUMNS];
} table;

static bool is_number(int column)
{
    return column >= COLUMN_CALLS && column <= COLUMN_DEPTH;
}

static char *number_cell(const json_t *value)
{
    char digits[24];

    if (!json_is_integer(value))
        return strdup("-");
    snprintf(digits, sizeof(digits), "%" JSON_INTEGER_FORMAT,
             json_integer_value(value));
    return strdup(digits);
}

// A dash where a call has no price.
static char *cost_cell(const json_t *cost)
{
    char text[32] = "-";

    if (json_is_number(cost))
        cli_cost_format((int64_t)(json_number_value(cost) * 1e6 + 0.5), text,
                        sizeof(text));
    return strdup(text);
}

// "completed", "failed (loop)".
static char *status_cell(const json_t *trial)
{
    const char *reason = text_of(trial, "stop_reason");
    bool is_usual = !*reason || strcmp(reason, "final") == 0 ||
                    strcmp(reason, text_of(trial, "status")) == 0 ||
                    strcmp(reason, "error") == 0;
    char *cell = NULL;
    int len =
        asprintf(&cell, "%s%s%s%s", text_of(trial, "status"), is_usual ? "" : " (",
                 is_usual ? "" : reason, is_usual ? "" : ")");

    return len < 0 ? NULL : cell;
}

static char *time_cell(const json_t *trial)
{
    const json_t *ms = json_object_get(trial, "duration_ms");
    char time[24] = "-";

    if (json_is_integer(ms))
        cli_duration_format(json_integer_value(ms), time, sizeof(time));
    return strdup(time);
}

// The first line of the answer, or of why there is none.
static char *answer_cell(const json_t *trial)
{
    const json_t *error = json_object_get(trial, "error");
    const char *text = cli_trial_is_completed(trial) ? text_of(trial, "output")
                                                     : text_of(error, "message");

    text += strspn(text, "\r\n");
    return strndup(text, strcspn(text, "\r\n"));
}

static bool fill_row(row *it, const json_t *trial)
{
    const json_t *usage = json_object_get(trial, "usage");
    const char *trace = text_of(trial, "trace_id");
    bool is_whole = true;

    it->cells[COLUMN_TYPE] = strdup(text_of(trial, "type"));
    it->cells[COLUMN_STATUS] = status_cell(trial);
    it->cells[COLUMN_CALLS] = number_cell(json_object_get(usage, "model_calls"));
    it->cells[COLUMN_IN] = number_cell(json_object_get(usage, "input_tokens"));
    it->cells[COLUMN_OUT] = number_cell(json_object_get(usage, "output_tokens"));
    it->cells[COLUMN_COST] = cost_cell(json_object_get(trial, "cost"));
    it->cells[COLUMN_TIME] = time_cell(trial);
    it->cells[COLUMN_DEPTH] = number_cell(json_object_get(trial, "depth"));
    it->cells[COLUMN_TRACE] = strdup(*trace ? trace : "-");
    it->cells[COLUMN_ANSWER] = answer_cell(trial);
    for (int i = 0; i < N_COLUMNS; i++)
        is_whole &= it->cells[i] != NULL;
    return is_whole;
}

static bool fill_headings(row *it)
{
    static const char *const names[N_COLUMNS] = {"type",  "status", "calls", "in",
                                                 "out",   "cost",   "time",  "depth",
                                                 "trace", "answer"};
    bool is_whole = true;

    for (int i = 0; i < N_COLUMNS; i++) {
        it->cells[i] = strdup(names[i]);
        is_whole &= it->cells[i] != NULL;
    }
    return is_whole;
}

static void table_fini(table *it)
{
    for (size_t i = 0; it->rows && i < it->n; i++)
        for (int k = 0; k < N_COLUMNS; k++)
            free(it->rows[i].cells[k]);
    free(it->rows);
}

static bool table_init(table *it, const json_t *trials)
{
    size_t i;
    json_t *trial;

    *it = (table){.n = json_array_size(trials) + 1};
    it->rows = calloc(it->n, sizeof(*it->rows));
    bool is_whole = it->rows && fill_headings(&it->rows[0]);
    json_array_foreach(trials, i, trial)
    {
        is_whole = is_whole && fill_row(&it->rows[i + 1], trial);
    }
    for (i = 0; is_whole && i < it->n; i++) {
        for (int k = 0; k < N_COLUMNS; k++) {
            size_t width = cli_text_width(it->rows[i].cells[k]);
            if (width > it->widths[k])
                it->widths[k] = width;
        }
    }
    if (!is_whole)
        table_fini(it);
    return is_whole;
}

static void limit_answers(table *it, const cli_terminal *terminal)
{
    size_t columns = 0, rows = 0, used = 0, left = PLAIN_ANSWER;

    for (int i = 0; i < COLUMN_ANSWER; i++)
        used += it->widths[i] + GAP;
    if (terminal->is_terminal) {
        cli_terminal_size(terminal, &columns, &rows);
        left = columns > used + LEAST_ANSWER ? columns - used : LEAST_ANSWER;
    }
    if (it->widths[COLUMN_ANSWER] > left)
        it->widths[COLUMN_ANSWER] = left;
}

static void print_row(FILE *stream, const table *it, const row *cells)
{
    for (int i = 0; i < N_COLUMNS; i++) {
        size_t width = cli_text_width(cells->cells[i]);
        size_t blanks = width < it->widths[i] ? it->widths[i] - width : 0;
        if (is_number(i))
            fprintf(stream, "%*s", (int)blanks, "");
        cli_text_print_cut(stream, cells->cells[i], it->widths[i]);
        if (i + 1 < N_COLUMNS)
            fprintf(stream, "%*s", (int)(is_number(i) ? GAP : blanks + GAP), "");
    }
    fputc('\n', stream);
}

bool cli_trials_print(FILE *stream, const json_t *trials, const cli_terminal *terminal)
{
    table it;

    if (!table_init(&it, trials))
        return false;
    limit_answers(&it, terminal);
    for (size_t i = 0; i < it.n; i++)
        print_row(stream, &it, &it.rows[i]);
    table_fini(&it);
    return true;
}
