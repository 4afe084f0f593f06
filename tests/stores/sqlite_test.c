// What only the sqlite store promises about what its file holds: which files it takes,
// who may read them, and what the tables refuse. Where the file stands is in
// sqlite_file_test.c; what every store must do is in tests/conformance.
#include "support/sqlite_case.h"

#include <stdio.h>
#include <sys/stat.h>

// Opening fails with that text, and the file is as it was.
static void check_refused(sqlite_case *f, const char *text)
{
    enum {
        MAX = 1 << 20
    };
    static char before[MAX];
    static char after[MAX];
    size_t len = sqlite_file_read(f->path, before, MAX);
    CHECK_STATUS(sqlite_case_open_url(&f->s, f->path), CADRE_ESTORE, &f->s.err);
    CHECK_CONTAINS(f->s.err.text, text);
    CHECK_CONTAINS(f->s.err.text, f->path);
    CHECK_BYTES(after, sqlite_file_read(f->path, after, MAX), before, len);
    CHECK(!sqlite_file_is_beside(f->path, "-journal") &&
          sqlite_file_count_transactions(f->path) <= 0);
}

// --- The file ---

static void test_sqlite__refuses_what_is_not_a_database(void)
{
    static const char text[] = "dear diary";
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_file_write(f.path, text, sizeof(text) - 1);
    check_refused(&f, "is not a database");
    CHECK(!sqlite_file_is_beside(f.path, ".lock"));
    static char page[4096] = "dear diary, long";
    sqlite_file_write(f.path, page, sizeof(page));
    check_refused(&f, "is not a database");
    sqlite_case_remove(&f);
}

static void test_sqlite__refuses_a_foreign_database(void)
{
    sqlite_case f;
    char said[256];
    sqlite_case_make(&f);
    sqlite_file_write(f.path, "", 0);
    sqlite_file_ask(f.path, "CREATE TABLE photos (name TEXT)", said, sizeof(said));
    check_refused(&f, "another program (application_id 0)");
    sqlite_file_ask(f.path, "PRAGMA application_id = 77", said, sizeof(said));
    check_refused(&f, "another program (application_id 77)");
    CHECK(!sqlite_file_is_beside(f.path, ".lock"));
    sqlite_case_remove(&f);
}

static void test_sqlite__refuses_a_newer_schema(void)
{
    sqlite_case f;
    char said[256];
    sqlite_case_make(&f);
    sqlite_case_fill(&f);
    sqlite_file_ask(f.path, "PRAGMA user_version = 1001", said, sizeof(said));
    check_refused(&f, "newer cadre (schema 1001, this one knows up to 4)");
    sqlite_case_remove(&f);
}

static void test_sqlite__refuses_a_damaged_file(void)
{
    enum {
        MAX = 1 << 20
    };
    static char bytes[MAX];
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_fill(&f);
    size_t len = sqlite_file_read(f.path, bytes, MAX);
    if (CHECK(len > 8192)) {
        for (size_t i = 4096; i < 8192; i++)
            bytes[i] = (char)(i * 2654435761U >> 13);
        sqlite_file_write(f.path, bytes, len);
        check_refused(&f, "damaged");
        sqlite_file_write(f.path, bytes, 4096 + 100); // cut
        check_refused(&f, "(");
    }
    sqlite_case_remove(&f);
}

static void test_sqlite__takes_an_empty_file_and_makes_a_new_one(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_file_write(f.path, "", 0);
    sqlite_case_fill(&f);
    sqlite_file_check(f.path, "SELECT count(*) FROM traces", "1");
    sqlite_file_check(f.path, "PRAGMA application_id", "1128350802");
    sqlite_file_check(f.path, "PRAGMA user_version", "4");
    sqlite_file_check(f.path, "PRAGMA journal_mode", "wal");
    char missing[FOLDER_PATH_SIZE + 16];
    snprintf(missing, sizeof(missing), "%s/none/store.db", f.folder.path);
    CHECK_STATUS(sqlite_case_open_url(&f.s, missing), CADRE_ESTORE, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, missing);
    sqlite_case_remove(&f);
}

// The first step of the schema is also a migration: of a file of ours without tables.
static void test_sqlite__brings_an_older_file_up_to_date(void)
{
    sqlite_case f;
    char said[256];
    sqlite_case_make(&f);
    sqlite_file_write(f.path, "", 0);
    sqlite_file_ask(f.path, "PRAGMA application_id = 1128350802", said, sizeof(said));
    sqlite_case_fill(&f);
    sqlite_file_check(f.path, "PRAGMA user_version", "4");
    sqlite_file_check(f.path, "SELECT status FROM frames", "running");
    sqlite_case_remove(&f);
}

static void check_mode(const char *path, const char *suffix)
{
    char name[FOLDER_PATH_SIZE + 16];
    struct stat found = {.st_mode = 0};
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    CHECK_INT(stat(name, &found), 0);
    CHECK_INT(found.st_mode & 0777, 0600);
}

static void test_sqlite__only_its_owner_reads_it(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    mode_t before = umask(0);
    sqlite_case_open(&f);
    store_start(&f.s);
    umask(before);
    check_mode(f.path, "");
    check_mode(f.path, "-wal");
    check_mode(f.path, "-shm");
    check_mode(f.path, ".lock");
    sqlite_case_close(&f);
    CHECK(!sqlite_file_is_beside(f.path, "-wal"));
    sqlite_case_remove(&f);
}

static void test_sqlite__copy_without_its_log_opens_as_older(void)
{
    enum {
        MAX = 1 << 20
    };
    static char bytes[MAX];
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    store_start(&f.s);
    size_t len = sqlite_file_read(f.path, bytes, MAX);
    sqlite_case_close(&f);
    snprintf(f.path, sizeof(f.path), "%s/copy.db", f.folder.path);
    sqlite_file_write(f.path, bytes, len);
    sqlite_case_open(&f);
    CHECK_TEXT(store_frames(&f.s, 1), "");
    store_start(&f.s);
    sqlite_case_close(&f);
    sqlite_file_check(f.path, "PRAGMA integrity_check", "ok");
    sqlite_case_remove(&f);
}

static void test_sqlite__url_names_a_file_and_a_durability(void)
{
    sqlite_case f;
    char url[FOLDER_PATH_SIZE + 32];
    sqlite_case_make(&f);
    CHECK_STATUS(sqlite_case_open_url(&f.s, ""), CADRE_ECONFIG, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "sqlite:FILE");
    CHECK_STATUS(sqlite_case_open_url(&f.s, ":memory:"), CADRE_ECONFIG, &f.s.err);
    snprintf(url, sizeof(url), "%s?durability=none", f.path);
    CHECK_STATUS(sqlite_case_open_url(&f.s, url), CADRE_ECONFIG, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "'durability=none'");
    CHECK(!sqlite_file_is_beside(f.path, ""));
    static const char *const known[] = {"normal", "full"};
    for (size_t i = 0; i < N_OF(known); i++) {
        snprintf(url, sizeof(url), "%s?durability=%s", f.path, known[i]);
        CHECK_OK(sqlite_case_open_url(&f.s, url), &f.s.err);
        CHECK_COMMIT(&f.s, 5 + i, fact_trace(5 + i));
        sqlite_case_close(&f);
    }
    sqlite_file_check(f.path, "SELECT count(*) FROM traces", "2");
    sqlite_case_remove(&f);
}

// --- The net below ---

static void test_sqlite__tables_refuse_what_is_forbidden(void)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"UPDATE frames SET output = 'x' WHERE status = 'completed'", "is final"},
        {"UPDATE frames SET status = 'completed', completed_at = 1 WHERE is_root",
         "before its children"},
        {"UPDATE frames SET key = 'x' WHERE is_root", "never changes"},
        {"UPDATE frames SET parent_id = NULL", "never changes"},
        {"UPDATE frames SET abort_reason = NULL WHERE key = 'b'", "first mark stays"},
        {"UPDATE frames SET status = 'completed' WHERE is_root", "CHECK"},
        {"INSERT INTO frames SELECT 'x', trace_id, id, 0, conversation_id, 'k', kind, "
         "name, referer, input, depth, 'running', 0, 0, 0, NULL, NULL, NULL, NULL, "
         "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
         "NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, "
         "NULL FROM frames WHERE key = 'a'",
         "no birth"},
        {"INSERT INTO frames SELECT 'x', trace_id, id, 0, conversation_id, 'k', kind, "
         "name, referer, input, depth, 'running', 0, 0, 0, NULL, NULL, NULL, NULL, "
         "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
         "NULL, NULL, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, "
         "NULL FROM frames WHERE key = 'b'",
         "no birth"},
        {"UPDATE conversations SET owner_frame_id = NULL, "
         "owner_conversation_id = NULL",
         "never changes"},
        {"UPDATE messages SET seq = 9 WHERE position = 0", "placed message is final"},
        {"UPDATE messages SET content = 'x' WHERE position IS NULL", "never changes"},
    };
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    store_start(&f.s);
    CHECK_COMMIT(&f.s, 1, fact_frame(2, 1, "a"), fact_end(2, "x"),
                 fact_frame(3, 1, "b"), fact_mark(3, "request"),
                 fact_message(100, 1, 0, "said"), fact_post(901, 100, "waits", NULL));
    for (size_t i = 0; i < N_OF(cases); i++) {
        char said[256];
        CHECK_CONTAINS(sqlite_file_ask(f.path, cases[i].sql, said, sizeof(said)),
                       cases[i].says);
    }
    CHECK_TEXT(store_frames(&f.s, 1),
               "1<0 running\n2<1 completed = x\n3<1 running marked request\n");
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite__refuses_what_is_not_a_database),
    CHECK_TEST(test_sqlite__refuses_a_foreign_database),
    CHECK_TEST(test_sqlite__refuses_a_newer_schema),
    CHECK_TEST(test_sqlite__refuses_a_damaged_file),
    CHECK_TEST(test_sqlite__takes_an_empty_file_and_makes_a_new_one),
    CHECK_TEST(test_sqlite__brings_an_older_file_up_to_date),
    CHECK_TEST(test_sqlite__only_its_owner_reads_it),
    CHECK_TEST(test_sqlite__copy_without_its_log_opens_as_older),
    CHECK_TEST(test_sqlite__url_names_a_file_and_a_durability),
    CHECK_TEST(test_sqlite__tables_refuse_what_is_forbidden),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite", tests);
}
