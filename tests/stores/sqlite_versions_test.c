// Files of earlier schema versions: what they hold is there, and what was cut goes on.
// Each version that was released stays here as a dump.
#include "support/check.h"
#include "support/folder.h"
#include "support/program.h"

#include "cadre/cadre.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER                                                                         \
    "Order 1042 was delivered on Monday, so you can return it. Your return label is "  \
    "on its way."

typedef struct fixture {
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime;
    cadre_error err;
} fixture;

// Runs SQL on a file. False, and what is wrong on stderr, when it fails.
static bool execute(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    char *wrong = NULL;
    int rc = sqlite3_open(path, &db);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db, sql, NULL, NULL, &wrong);
    if (rc != SQLITE_OK)
        fprintf(stderr, "%s: %s\n", path, wrong ? wrong : sqlite3_errstr(rc));
    sqlite3_free(wrong);
    sqlite3_close(db);
    return rc == SQLITE_OK;
}

static void check_asks(const char *path, const char *sql, const char *expected)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    CHECK_TEXT((const char *)sqlite3_column_text(stmt, 0), expected);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

// The file that a dump in tests/stores made, in the journal mode of a store.
static bool load(fixture *f, const char *dump)
{
    static char sql[64 * 1024];
    char path[1024];
    char name[64];
    *f = (fixture){.err = CADRE_ERROR_INIT};
    CHECK(folder_make(&f->folder));
    snprintf(f->path, sizeof f->path, "%s/old.db", f->folder.path);
    snprintf(name, sizeof name, "tests/stores/%s", dump);
    FILE *file = fopen(program_source_path(name, path, sizeof path), "rb");
    if (!CHECK(file != NULL))
        return false;
    size_t len = fread(sql, 1, sizeof sql - 1, file);
    sql[len] = '\0';
    CHECK(feof(file) != 0);
    fclose(file);
    return CHECK(execute(f->path, sql)) &&
           CHECK(execute(f->path, "PRAGMA journal_mode = WAL"));
}

static bool open_runtime(fixture *f)
{
    char url[FOLDER_PATH_SIZE + 8];
    snprintf(url, sizeof url, "sqlite:%s", f->path);
    return CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url, .offline = true),
                                       &f->runtime, &f->err),
                    &f->err);
}

static void close_runtime(fixture *f)
{
    cadre_runtime_close(f->runtime);
    f->runtime = NULL;
}

static cadre_status note_run(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    char *seen = ctx;
    size_t len = strlen(seen);
    (void)err;
    snprintf(seen + len, 256 - len, "%s %s %s%s\n", info->trace_id, info->team,
             cadre_frame_status_name(info->status), info->is_held ? " held" : "");
    return CADRE_OK;
}

static void check_listed(fixture *f, const char *expected)
{
    char seen[256] = "";
    CHECK_OK(cadre_record_list(f->runtime, 0, note_run, seen, &f->err), &f->err);
    CHECK_TEXT(seen, expected);
}

static cadre_team *load_desk(fixture *f)
{
    char path[1024];
    cadre_team *team = NULL;
    CHECK_OK(cadre_team_load(f->runtime,
                             program_source_path("samples/customer-desk/team.yaml",
                                                 path, sizeof path),
                             &team, &f->err),
             &f->err);
    return team;
}

static void check_answers(fixture *f, cadre_run *run)
{
    const cadre_result *result = NULL;
    CHECK_OK(cadre_run_wait(run, &result, &f->err), &f->err);
    if (CHECK(result != NULL)) {
        CHECK_TEXT(result->text, ANSWER);
        CHECK_INT(result->status, CADRE_FRAME_COMPLETED);
    }
    cadre_run_free(run);
}

// --- Each version ---

// What a dump holds: samples/customer-desk, run three times.
typedef struct old_file {
    const char *dump, *version;
    const char *alone, *session, *cut; // ids of the runs
} old_file;

static const old_file old_files[] = {
    {"v1.sql", "1", "0rfxrt124pv3-1", "bs0sqjs7cxxq-1", "y25cf9zewrmc-1"},
    {"v2.sql", "2", "g96jkxr0yba5-1", "3ka5aeny0fsy-1", "w32e9ssw58t8-1"},
    {"v3.sql", "3", "9mb0fqhcq1he-1", "j6z919g90awv-1", "anrb4c6mktc5-1"},
};

#define NEWEST "4"

static void check_runs(fixture *f, const old_file *old, const char *cut)
{
    char expected[256];
    snprintf(expected, sizeof expected,
             "%s customer-desk %s\n%s customer-desk completed\n"
             "%s customer-desk completed\n",
             old->cut, cut, old->session, old->alone);
    check_listed(f, expected);
}

static void for_each_file(void (*check)(const old_file *old))
{
    for (size_t i = 0; i < sizeof old_files / sizeof old_files[0]; i++)
        check(&old_files[i]);
}

static const char schema_sql[] =
    "SELECT group_concat(type || ' ' || name || ' ' || tbl_name || ' ' || "
    "ifnull(sql, ''), char(10)) FROM (SELECT * FROM sqlite_schema ORDER BY name)";

static void check_as_new(const old_file *old)
{
    static char fresh[32 * 1024];
    fixture f;
    if (!load(&f, old->dump))
        return;
    char path[FOLDER_PATH_SIZE];
    memcpy(path, f.path, sizeof path);
    check_asks(f.path, "PRAGMA user_version", old->version);
    open_runtime(&f);
    close_runtime(&f);
    check_asks(path, "PRAGMA user_version", NEWEST);
    check_asks(path, "PRAGMA application_id", "1128350802");
    check_asks(path, "PRAGMA integrity_check", "ok");
    check_asks(path, "SELECT count(*) FROM frames", "23");
    check_asks(path, "SELECT count(*) FROM frames WHERE delta IS NULL", "23");
    snprintf(f.path, sizeof f.path, "%s/new.db", f.folder.path);
    open_runtime(&f);
    close_runtime(&f);
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    CHECK_INT(sqlite3_open_v2(f.path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, schema_sql, -1, &stmt, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    snprintf(fresh, sizeof fresh, "%s", (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    check_asks(path, schema_sql, fresh);
    folder_remove(&f.folder);
}

// Tables, indexes, triggers and views are those of a new file.
static void test_sqlite_versions__an_old_file_becomes_as_a_new_one(void)
{
    for_each_file(check_as_new);
}

static void check_shown(const old_file *old)
{
    fixture f;
    cadre_record *record = NULL;
    size_t n = 0;
    if (!load(&f, old->dump) || !open_runtime(&f))
        return;
    check_runs(&f, old, "running");
    CHECK_OK(cadre_record_open(f.runtime, old->session, &record, &f.err), &f.err);
    const cadre_frame_info *frames = cadre_record_frames(record, &n);
    CHECK_INT(n, 8);
    if (n > 0) {
        CHECK_TEXT(frames[0].output, ANSWER);
        CHECK_TEXT(frames[0].delta, "");
    }
    const cadre_record_message *messages = cadre_record_messages(record, &n);
    if (CHECK(n > 0))
        CHECK_TEXT(messages[0].message->text, "I want to return order 1042");
    cadre_record_close(record);
    close_runtime(&f);
    folder_remove(&f.folder);
}

static void test_sqlite_versions__its_runs_are_listed_and_shown(void)
{
    for_each_file(check_shown);
}

static void check_goes_on(const old_file *old)
{
    fixture f;
    cadre_run *run = NULL;
    char sql[400];
    if (!load(&f, old->dump) || !open_runtime(&f))
        return;
    cadre_team *team = load_desk(&f);
    if (CHECK_OK(cadre_run_resume(team, old->cut, NULL, &run, &f.err), &f.err))
        check_answers(&f, run);
    check_runs(&f, old, "completed");
    cadre_team_free(team);
    close_runtime(&f);
    // No model was asked again for what was recorded.
    snprintf(sql, sizeof sql,
             "SELECT group_concat(kind || ' ' || name || ' ' || attempts || ' ' || "
             "restarts, ', ') FROM frames WHERE trace_id = '%s' AND kind <> 'agent'",
             old->cut);
    check_asks(f.path, sql,
               "model fast 1 0, tool transfer_to_agent 1 0, model fast 1 0, "
               "tool order_status 1 0, model fast 1 0");
    folder_remove(&f.folder);
}

static void test_sqlite_versions__its_run_that_was_cut_goes_on(void)
{
    for_each_file(check_goes_on);
}

static void check_session(const old_file *old)
{
    fixture f;
    cadre_run *run = NULL;
    if (!load(&f, old->dump) || !open_runtime(&f))
        return;
    cadre_team *team = load_desk(&f);
    if (CHECK_OK(cadre_run_start(team,
                                 CADRE_RUN(.input = "And 1043?", .session = "kiosk"),
                                 &run, &f.err),
                 &f.err)) {
        cadre_run_wait(run, NULL, NULL); // the script has no turn for it
        cadre_run_free(run);
    }
    cadre_team_free(team);
    close_runtime(&f);
    check_asks(f.path,
               "SELECT group_concat(content, ' | ') FROM (SELECT content FROM messages "
               "JOIN conversations ON conversations.id = conversation_id "
               "WHERE session = 'kiosk' AND role = 'user' ORDER BY position)",
               "I want to return order 1042 | The customer wants to return order 1042. "
               "| And 1043?");
    folder_remove(&f.folder);
}

static void test_sqlite_versions__its_session_goes_on(void)
{
    for_each_file(check_session);
}

// A step that fails leaves the file as it was, `with` what is in its way; without it
// the file is brought up.
static void check_stays(const old_file *old, const char *with, const char *without,
                        const char *said, const char *stays_at)
{
    fixture f;
    char url[FOLDER_PATH_SIZE + 8];
    if (!load(&f, old->dump))
        return;
    CHECK(execute(f.path, with));
    snprintf(url, sizeof url, "sqlite:%s", f.path);
    CHECK_STATUS(cadre_runtime_open(CADRE_RUNTIME(.store = url), &f.runtime, &f.err),
                 CADRE_ESTORE, &f.err);
    CHECK_CONTAINS(f.err.text, said);
    CHECK_CONTAINS(f.err.text, f.path);
    check_asks(f.path, "PRAGMA user_version", stays_at);
    check_asks(f.path,
               "SELECT count(*) FROM sqlite_schema WHERE name = 'frames_marked'"
               " AND type = 'index'",
               stays_at[0] == '1' ? "0" : "1");
    CHECK(execute(f.path, without));
    cadre_error_clear(&f.err);
    if (open_runtime(&f))
        close_runtime(&f);
    check_asks(f.path, "PRAGMA user_version", NEWEST);
    folder_remove(&f.folder);
}

static void test_sqlite_versions__it_stays_when_it_cannot_be_brought_up(void)
{
    check_stays(&old_files[0], "CREATE TABLE messages_inbox (of_somebody_else TEXT)",
                "DROP TABLE messages_inbox", "messages_inbox", "1");
    check_stays(&old_files[1], "ALTER TABLE frames ADD COLUMN delta TEXT",
                "ALTER TABLE frames DROP COLUMN delta", "delta", "2");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_versions__an_old_file_becomes_as_a_new_one),
    CHECK_TEST(test_sqlite_versions__its_runs_are_listed_and_shown),
    CHECK_TEST(test_sqlite_versions__its_run_that_was_cut_goes_on),
    CHECK_TEST(test_sqlite_versions__its_session_goes_on),
    CHECK_TEST(test_sqlite_versions__it_stays_when_it_cannot_be_brought_up),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite_versions", tests);
}
