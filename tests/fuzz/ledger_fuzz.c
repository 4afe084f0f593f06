// A ledger whose rows were damaged behind cadre's back: it is listed, looked at and
// gone on with, or refused with a text; never taken for something else than it is.
//
// The ledger is that of a run that handed over, ran a tool and waits for a person.
// Bytes are edits of single values: which column of which table, which row, what.
#include "fuzz/fuzz.h"

#include "cadre/cadre.h"

#include "fuzz/input_file.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define URL_SIZE 300
#define MAX_EDITS 16
#define MAX_TEXT 64
#define SQL_SIZE 600

static const char team_text[] =
    "name: desk\n"
    "state: {topic: {default: none}}\n"
    "tools: {refund: {type: command, argv: [/bin/true], approval: ask}}\n"
    "models: {m: {model: script/m}}\n"
    "agents:\n"
    "  desk: {type: handoff, members: [triage, clerk]}\n"
    "  triage: {model: m, handoffs: [clerk], output_key: topic}\n"
    "  clerk: {model: m, tools: [refund]}\n"
    "script: ledger.yaml\n";
static const char script_text[] =
    "agents:\n"
    "  triage: [{handoff: {to: clerk, message: pay}}]\n"
    "  clerk: [{tool_calls: [{name: refund, arguments: {}}, {name: refund, arguments: "
    "{}}]}, {text: Done.}]\n";

// What each input starts from.
typedef struct ledger {
    uint8_t *bytes;
    size_t len;
    char team[URL_SIZE], path[URL_SIZE], url[URL_SIZE + 8];
    char trace[64];
} ledger;

// --- The ledger ---

static const char *write_text(const char *name, const char *text)
{
    return input_file_write(name, (const uint8_t *)text, strlen(text));
}

static cadre_runtime *open_runtime(const ledger *from, cadre_error *err)
{
    cadre_runtime *runtime = NULL;
    (void)cadre_runtime_open(CADRE_RUNTIME(.store = from->url, .offline = true),
                             &runtime, err);
    return runtime;
}

static void record_run(ledger *to)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_runtime *runtime = fuzz_must(open_runtime(to, &err));
    FUZZ_CHECK(cadre_team_load(runtime, to->team, &team, &err) == CADRE_OK);
    FUZZ_CHECK(cadre_run_start(team, CADRE_RUN(.input = "Money back"), &run, &err) ==
               CADRE_OK);
    FUZZ_CHECK(cadre_run_wait(run, &result, &err) == CADRE_EPARKED);
    (void)snprintf(to->trace, sizeof to->trace, "%s", cadre_run_trace_id(run));
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void read_bytes(ledger *to)
{
    FILE *file = fuzz_must(fopen(to->path, "rbe"));
    FUZZ_CHECK(fseek(file, 0, SEEK_END) == 0);
    to->len = (size_t)ftell(file);
    to->bytes = fuzz_must(malloc(to->len));
    rewind(file);
    FUZZ_CHECK(fread(to->bytes, 1, to->len, file) == to->len);
    (void)fclose(file);
}

// Made once; the same for all inputs but for ids and times.
static const ledger *sound_ledger(void)
{
    static ledger made;
    if (made.bytes)
        return &made;
    (void)write_text("ledger.yaml", script_text);
    (void)snprintf(made.team, sizeof made.team, "%s",
                   write_text("ledger_team.yaml", team_text));
    (void)snprintf(made.path, sizeof made.path, "%s", write_text("ledger.db", ""));
    (void)unlink(made.path);
    (void)snprintf(made.url, sizeof made.url, "sqlite:%s", made.path);
    record_run(&made);
    read_bytes(&made);
    return &made;
}

static void remove_beside(const ledger *of, const char *suffix)
{
    char path[URL_SIZE + 8];
    (void)snprintf(path, sizeof path, "%.*s%s", URL_SIZE - 1, of->path, suffix);
    (void)unlink(path);
}

static void restore(const ledger *from)
{
    remove_beside(from, "-wal");
    remove_beside(from, "-shm");
    (void)input_file_write("ledger.db", from->bytes, from->len);
}

// --- Edits ---

typedef struct editor {
    sqlite3 *db;
    const uint8_t *at;
    size_t left;
} editor;

static unsigned next(editor *e)
{
    if (e->left == 0)
        return 0;
    e->left--;
    return *e->at++;
}

// Names the column of that number, counted over all tables.
static bool find_column(editor *e, unsigned number, char table[64], char column[64])
{
    static const char sql[] =
        "SELECT m.name, c.name, count(*) OVER () FROM sqlite_schema m, "
        "pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid "
        "LIMIT 1 OFFSET ?";
    sqlite3_stmt *stmt = NULL;
    FUZZ_CHECK(sqlite3_prepare_v2(e->db, sql, -1, &stmt, NULL) == SQLITE_OK);
    (void)sqlite3_bind_int(stmt, 1, (int)number);
    bool is_found = sqlite3_step(stmt) == SQLITE_ROW;
    if (is_found) {
        (void)snprintf(table, 64, "%s", (const char *)sqlite3_column_text(stmt, 0));
        (void)snprintf(column, 64, "%s", (const char *)sqlite3_column_text(stmt, 1));
    }
    (void)sqlite3_finalize(stmt);
    return is_found;
}

static void bind_text(editor *e, sqlite3_stmt *stmt)
{
    size_t len = next(e) % MAX_TEXT;
    len = len < e->left ? len : e->left;
    (void)sqlite3_bind_text(stmt, 1, (const char *)e->at, (int)len, SQLITE_TRANSIENT);
    e->at += len;
    e->left -= len;
}

static void bind_number(editor *e, sqlite3_stmt *stmt)
{
    static const int64_t numbers[] = {0,         1,         -1,        INT32_MAX,
                                      INT64_MAX, INT64_MIN, 1LL << 53, 127};
    (void)sqlite3_bind_int64(stmt, 1, numbers[next(e) % 8]);
}

typedef enum edit_kind {
    EDIT_TEXT,
    EDIT_NUMBER,
    EDIT_NULL,
    EDIT_LIKE_LAST, // the value of the last row
    EDIT_HALF,
    EDIT_DELETE,
    N_EDIT_KINDS
} edit_kind;

typedef struct target {
    char table[64], column[64];
    unsigned row;
} target;

static void write_edit(const target *at, edit_kind kind, char sql[SQL_SIZE])
{
    char value[SQL_SIZE / 2] = "?1";
    const char *column = at->column;
    if (kind == EDIT_NULL)
        (void)snprintf(value, sizeof value, "NULL");
    if (kind == EDIT_LIKE_LAST)
        (void)snprintf(value, sizeof value,
                       "(SELECT %s FROM %s ORDER BY rowid DESC LIMIT 1)", column,
                       at->table);
    if (kind == EDIT_HALF)
        (void)snprintf(value, sizeof value, "substr(%s, 1, length(%s) / 2)", column,
                       column);
    int len = kind == EDIT_DELETE ? snprintf(sql, SQL_SIZE, "DELETE FROM %s", at->table)
                                  : snprintf(sql, SQL_SIZE, "UPDATE %s SET %s = %s",
                                             at->table, column, value);
    (void)snprintf(sql + len, SQL_SIZE - (size_t)len,
                   " WHERE rowid = (SELECT rowid FROM %s LIMIT 1 OFFSET %u)", at->table,
                   at->row);
}

// What does not fit the table's own rules is refused by SQLite, and nothing changes.
static void edit(editor *e)
{
    char sql[SQL_SIZE];
    target at;
    sqlite3_stmt *stmt = NULL;
    if (!find_column(e, next(e), at.table, at.column))
        return;
    at.row = next(e) % 16;
    edit_kind kind = (edit_kind)(next(e) % N_EDIT_KINDS);
    write_edit(&at, kind, sql);
    if (sqlite3_prepare_v2(e->db, sql, -1, &stmt, NULL) == SQLITE_OK) {
        if (kind == EDIT_TEXT)
            bind_text(e, stmt);
        if (kind == EDIT_NUMBER)
            bind_number(e, stmt);
        (void)sqlite3_step(stmt);
    }
    (void)sqlite3_finalize(stmt);
}

static void damage(const ledger *of, const uint8_t *data, size_t len)
{
    editor e = {.at = data, .left = len};
    FUZZ_CHECK(sqlite3_open_v2(of->path, &e.db, SQLITE_OPEN_READWRITE, NULL) ==
               SQLITE_OK);
    (void)sqlite3_exec(
        e.db,
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;"
        "PRAGMA synchronous = OFF; BEGIN",
        NULL, NULL, NULL);
    for (int i = 0; i < MAX_EDITS && e.left > 0; i++)
        edit(&e);
    (void)sqlite3_exec(e.db, "COMMIT", NULL, NULL, NULL);
    FUZZ_CHECK(sqlite3_close(e.db) == SQLITE_OK);
}

// --- Looking ---

static cadre_status on_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    int *n = ctx;
    (void)err;
    FUZZ_CHECK(info->trace_id && info->team && info->session);
    ++*n;
    return CADRE_OK;
}

static void look(cadre_runtime *runtime, const char *trace)
{
    cadre_record *record = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    int n_runs = 0;
    cadre_status status = cadre_record_list(runtime, 0, on_run, &n_runs, &err);
    FUZZ_CHECK(status == CADRE_OK || err.text[0] != '\0');
    cadre_error_clear(&err);
    status = cadre_record_open(runtime, trace, &record, &err);
    FUZZ_CHECK((status == CADRE_OK) == (record != NULL));
    FUZZ_CHECK(record || err.text[0] != '\0');
    if (!record)
        return;
    const cadre_frame_info *frames = cadre_record_frames(record, &n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(frames[i].parent < (int)i && frames[i].id && frames[i].output);
    const cadre_record_message *messages = cadre_record_messages(record, &n);
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(messages[i].message->text && messages[i].conversation_id);
    cadre_record_close(record);
}

static void go_on(cadre_runtime *runtime, const ledger *of)
{
    cadre_team *team = NULL;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    FUZZ_CHECK(cadre_team_load(runtime, of->team, &team, &err) == CADRE_OK);
    cadre_status status = cadre_run_resume(
        team, of->trace, CADRE_RUN(.accept_changes = true), &run, &err);
    FUZZ_CHECK((status == CADRE_OK) == (run != NULL));
    FUZZ_CHECK(run || err.text[0] != '\0');
    if (run) {
        status = cadre_run_wait(run, &result, &err);
        FUZZ_CHECK(result != NULL);
        FUZZ_CHECK(status == CADRE_OK || err.text[0] != '\0');
    }
    cadre_run_free(run);
    cadre_team_free(team);
}

void fuzz_one(const uint8_t *data, size_t len)
{
    const ledger *of = sound_ledger();
    cadre_error err = CADRE_ERROR_INIT;
    restore(of);
    damage(of, data, len);
    cadre_runtime *runtime = open_runtime(of, &err);
    FUZZ_CHECK(runtime || err.text[0] != '\0');
    if (!runtime)
        return;
    look(runtime, of->trace);
    go_on(runtime, of);
    look(runtime, of->trace);
    cadre_runtime_close(runtime);
}
