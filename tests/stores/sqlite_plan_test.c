// How the sqlite store finds rows: what is done again and again, whatever is stored,
// walks indexes that have only what lives, or waits, and no table.
#include "support/folder.h"
#include "support/store_case.h"

#include "team/kinds.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- What is asked of SQLite ---

enum {
    MAX_STATEMENTS = 16
};

static struct {
    char *sql[MAX_STATEMENTS]; // with the values in it
    size_t n;
    bool is_on;
} heard;

static int hear(unsigned what, void *ctx, void *stmt, void *text)
{
    (void)what;
    (void)ctx;
    bool is_trigger = strncmp(text, "--", 2) == 0;
    if (!heard.is_on || is_trigger || heard.n == MAX_STATEMENTS)
        return 0;
    char *sql = sqlite3_expanded_sql(stmt);
    if (strstr(sql, "FROM") || strstr(sql, "UPDATE"))
        heard.sql[heard.n++] = sql;
    else
        sqlite3_free(sql);
    return 0;
}

static int listen_to(sqlite3 *db, char **message,
                     const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, hear, NULL);
}

static void start_hearing(void)
{
    heard.n = 0;
    heard.is_on = true;
}

static void forget(void)
{
    heard.is_on = false;
    while (heard.n > 0)
        sqlite3_free(heard.sql[--heard.n]);
}

// --- How it would do that ---

// Indexes of which a walk from end to end is short.
static bool is_short(const char *step)
{
    static const char *const walks[] = {"SCAN frames USING INDEX frames_marked",
                                        "USING INDEX messages_inbox",
                                        "SCAN CONSTANT ROW",
                                        "SCAN below",
                                        "SCAN tree",
                                        "SCAN open"};
    for (size_t i = 0; i < N_OF(walks); i++) {
        if (strstr(step, walks[i]))
            return true;
    }
    return false;
}

// Notes the steps of a statement. Each is a search, or a short walk.
static void check_plan(sqlite3 *db, const char *sql, char *steps, size_t size)
{
    sqlite3_stmt *stmt = NULL;
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    CHECK_INT(sqlite3_prepare_v2(db, explain, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        size_t len = strlen(steps);
        snprintf(steps + len, size - len, "%s\n", step);
        if (strncmp(step, "SCAN", 4) == 0 && !CHECK(is_short(step)))
            fprintf(stderr, "%s: %s\n", sql, step);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(explain);
}

// Explains all that was heard; `steps` are those of all.
static void check_plans(const char *path, char *steps, size_t size)
{
    sqlite3 *db = NULL;
    heard.is_on = false;
    steps[0] = '\0';
    CHECK(heard.n > 0 && heard.n < MAX_STATEMENTS);
    CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (size_t i = 0; i < heard.n; i++)
        check_plan(db, heard.sql[i], steps, size);
    sqlite3_close(db);
    forget();
}

// --- Tests ---

typedef struct fixture {
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    store_case s;
    char steps[2048];
} fixture;

static void set_up(fixture *f)
{
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at && strcmp((*at)->type, "sqlite") != 0)
        at++;
    *f = (fixture){.s = {.ops = *at}};
    CHECK(folder_make(&f->folder));
    snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder.path);
    f->s.state = calloc(1, f->s.ops->state_size);
    CHECK_OK(f->s.ops->init(f->s.state, f->path, &f->s.err), &f->s.err);
    store_start(&f->s);
    CHECK_COMMIT(&f->s, 1, fact_frame(2, 1, "a"), fact_frame(3, 2, "b"),
                 fact_mark(3, "request"), fact_message(100, 1, 0, "said"),
                 fact_post(901, 100, "letter", NULL));
}

static void tear_down(fixture *f)
{
    f->s.ops->fini(f->s.state);
    free(f->s.state);
    folder_remove(&f->folder);
}

static cadre_status skip_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    (void)ctx;
    (void)row;
    (void)err;
    return CADRE_OK;
}

static cadre_status skip_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    (void)ctx;
    (void)row;
    (void)err;
    return CADRE_OK;
}

static cadre_status skip_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    (void)ctx;
    (void)row;
    (void)err;
    return CADRE_OK;
}

static void check_read(fixture *f, const cadre_query *query)
{
    const cadre_store_reader reader = {
        .trace = skip_trace, .frame = skip_frame, .message = skip_message};
    start_hearing();
    CHECK_OK(f->s.ops->read(f->s.state, query, &reader, &f->s.err), &f->s.err);
    check_plans(f->path, f->steps, sizeof(f->steps));
}

// Each process with runs under way does this 20 times a second.
static void test_sqlite_plan__posted_walks_only_what_waits(void)
{
    fixture f;
    set_up(&f);
    check_read(&f, &(cadre_query){.kind = CADRE_QUERY_POSTED, .after = 7});
    CHECK_CONTAINS(f.steps, "SCAN frames USING INDEX frames_marked\n");
    CHECK_CONTAINS(f.steps, "SEARCH messages USING INDEX messages_inbox "
                            "(position=? AND rowid>?)\n");
    CHECK_LACKS(f.steps, "TEMP B-TREE");
    tear_down(&f);
}

static void test_sqlite_plan__live_walks_only_what_lives(void)
{
    fixture f;
    set_up(&f);
    check_read(&f, &(cadre_query){.kind = CADRE_QUERY_LIVE, .trace = store_id(1)});
    CHECK_CONTAINS(f.steps, "SEARCH frames USING INDEX frames_live (trace_id=?)\n");
    tear_down(&f);
}

static void test_sqlite_plan__spawned_and_trace_are_searches(void)
{
    fixture f;
    set_up(&f);
    check_read(&f, &(cadre_query){.kind = CADRE_QUERY_SPAWNED, .frame = store_id(2)});
    CHECK_CONTAINS(f.steps, "USING INDEX traces_spawned (spawned_by=?)");
    check_read(&f, &(cadre_query){.kind = CADRE_QUERY_SPAWNED, .trace = store_id(1)});
    CHECK_CONTAINS(f.steps, "USING INDEX traces_spawned (spawned_by=?)");
    cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    check_read(&f, &query);
    query.only_open = true;
    check_read(&f, &query);
    CHECK_CONTAINS(f.steps, "USING INDEX frames_live (trace_id=?)");
    tear_down(&f);
}

static void test_sqlite_plan__marking_walks_only_what_lives(void)
{
    fixture f;
    set_up(&f);
    start_hearing();
    CHECK_POST(&f.s, fact_mark(1, "request"), fact_post(902, 100, "x", "r"));
    check_plans(f.path, f.steps, sizeof(f.steps));
    CHECK_CONTAINS(f.steps, "frames_live (trace_id=? AND parent_id=?)");
    tear_down(&f);
}

static void test_sqlite_plan__a_batch_is_all_searches(void)
{
    fixture f;
    set_up(&f);
    start_hearing();
    CHECK_COMMIT(&f.s, 1, fact_frame(4, 1, "c"), fact_running(4, 1),
                 fact_message(100, 4, 1, "on"), fact_end(4, "x"));
    heard.is_on = false;
    // Its temporary tables are of its connection alone.
    for (size_t i = 0; i < heard.n; i++) {
        char *at = heard.sql[i];
        while ((at = strstr(at, "temp.skipped")) != NULL)
            for (size_t k = 0; k < 4; k++)
                at[k] = "main"[k];
    }
    sqlite3 *db = NULL;
    CHECK_INT(sqlite3_open(f.path, &db), SQLITE_OK);
    CHECK_INT(
        sqlite3_exec(db,
                     "CREATE TABLE skipped (conversation_id TEXT PRIMARY KEY, "
                     "trace_id TEXT, next_position INTEGER) WITHOUT ROWID, STRICT",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
    check_plans(f.path, f.steps, sizeof(f.steps));
    CHECK_CONTAINS(f.steps, "frames_live (trace_id=? AND parent_id=?)");
    tear_down(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_plan__posted_walks_only_what_waits),
    CHECK_TEST(test_sqlite_plan__live_walks_only_what_lives),
    CHECK_TEST(test_sqlite_plan__spawned_and_trace_are_searches),
    CHECK_TEST(test_sqlite_plan__marking_walks_only_what_lives),
    CHECK_TEST(test_sqlite_plan__a_batch_is_all_searches),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (sqlite3_auto_extension((void (*)(void))listen_to) != SQLITE_OK)
        return EXIT_FAILURE;
    return check_main("stores/sqlite_plan", tests);
}
