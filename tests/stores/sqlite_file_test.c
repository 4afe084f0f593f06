// The file of the sqlite store: what may stand at its path, and what becomes of one
// that is removed or replaced while it is open.
#include "support/sqlite_case.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const companions[] = {".lock", "-journal", "-wal", "-shm"};

// It is refused, with the path and the reason, and nothing is made beside it.
static bool is_refused(store_case *s, const char *path, const char *reason)
{
    bool was_beside[N_OF(companions)];
    for (size_t i = 0; i < N_OF(companions); i++)
        was_beside[i] = sqlite_file_is_beside(path, companions[i]);
    bool is_well = sqlite_case_open_url(s, path) == CADRE_ESTORE &&
                   strstr(s->err.text, path) != NULL &&
                   strstr(s->err.text, reason) != NULL;
    for (size_t i = 0; i < N_OF(companions); i++)
        is_well =
            is_well && sqlite_file_is_beside(path, companions[i]) == was_beside[i];
    if (!is_well)
        fprintf(stderr, "%s: expected '%s', got: %s\n", path, reason, s->err.text);
    return is_well;
}

// --- What stands there ---

static void test_sqlite_file__refuses_what_is_no_file(void)
{
    sqlite_case f;
    char other[FOLDER_PATH_SIZE + 16];
    sqlite_case_make(&f);
    CHECK(is_refused(&f.s, f.folder.path, "is a folder"));
    CHECK(is_refused(&f.s, "/dev/null", "is no ordinary file"));
    CHECK(is_refused(&f.s, "/dev/full", "is no ordinary file"));
    snprintf(other, sizeof(other), "%s/pipe", f.folder.path);
    CHECK_INT(mkfifo(other, 0600), 0);
    CHECK(is_refused(&f.s, other, "is no ordinary file"));
    CHECK(folder_write(&f.folder, "text", "dear diary", f.path));
    snprintf(other, sizeof(other), "%s/store.db", f.path);
    CHECK(is_refused(&f.s, other, "Not a directory"));
    snprintf(other, sizeof(other), "%s/circle", f.folder.path);
    CHECK_INT(symlink(other, other), 0);
    CHECK(is_refused(&f.s, other, "symbolic links"));
    sqlite_case_remove(&f);
}

static void test_sqlite_file__opens_what_a_link_names(void)
{
    sqlite_case f;
    char link[FOLDER_PATH_SIZE + 16];
    sqlite_case_make(&f);
    CHECK_OK(sqlite_case_open_url(&f.s, f.path), &f.s.err);
    store_start(&f.s);
    sqlite_case_close_store(&f.s);
    snprintf(link, sizeof(link), "%s/link", f.folder.path);
    CHECK_INT(symlink(f.path, link), 0);
    CHECK_OK(sqlite_case_open_url(&f.s, link), &f.s.err);
    CHECK_TEXT(store_frames(&f.s, 1), "1<0 running\n");
    CHECK(sqlite_file_is_beside(f.path, ".lock") &&
          !sqlite_file_is_beside(link, ".lock"));
    sqlite_case_close_store(&f.s);
    sqlite_case_remove(&f);
}

static void test_sqlite_file__follows_a_link_that_leads_to_nothing_yet(void)
{
    char target[FOLDER_PATH_SIZE + 16];
    sqlite_case f;
    sqlite_case_make(&f);
    CHECK_INT(symlink("target.db", f.path), 0);
    sqlite_case_fill(&f);
    snprintf(target, sizeof(target), "%s/target.db", f.folder.path);
    sqlite_file_check(target, "SELECT count(*) FROM traces", "1");
    CHECK(!sqlite_file_is_beside(f.path, ".lock")); // it stands where the file is
    CHECK_INT(unlink(target), 0);
    CHECK_INT(unlink(f.path), 0);
    CHECK_INT(symlink("nowhere/target.db", f.path), 0);
    CHECK_STATUS(sqlite_case_open_url(&f.s, f.path), CADRE_ESTORE, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "/nowhere/target.db: cannot be made: No such file");
    sqlite_case_remove(&f);
}

// In a process of its own, without the rights of root.
static void check_refused_to_nobody(sqlite_case *f, const char *reason)
{
    int status = -1;
    CHECK_INT(chmod(f->folder.path, 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        bool is_other = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        _exit(is_other && is_refused(&f->s, f->path, reason) ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static void test_sqlite_file__refuses_one_without_rights(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    CHECK(folder_write(&f.folder, "store.db", "", f.path));
    CHECK_INT(chmod(f.path, 0000), 0);
    check_refused_to_nobody(&f, "Permission denied");
    CHECK_INT(chmod(f.path, 0444), 0);
    check_refused_to_nobody(&f, "is read-only");
    sqlite_case_remove(&f);
}

// Runs as nobody in a process of its own when root, to whom nothing is read-only.
static void test_sqlite_file__refuses_a_read_only_file(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_fill(&f);
    CHECK_INT(chmod(f.path, 0444), 0);
    CHECK_INT(chmod(f.folder.path, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        bool is_other = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        bool is_refused = sqlite_case_open_url(&f.s, f.path) == CADRE_ESTORE &&
                          strstr(f.s.err.text, "is read-only") != NULL;
        _exit(is_other && is_refused ? 0 : 1);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    sqlite_case_remove(&f);
}

// --- Removed or replaced ---

// Nothing is written any more, and nothing is read from what another put there.
static void check_lost(sqlite_case *f)
{
    static const char said[] = "was removed or replaced";
    cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    cadre_error *err = &f->s.err;
    for (int i = 0; i < 2; i++) { // it stays so
        CHECK_STATUS(COMMIT(&f->s, 1, fact_frame(9, 1, "late")), CADRE_ESTORE, err);
        CHECK_CONTAINS(err->text, said);
        CHECK_CONTAINS(err->text, f->path);
        CHECK_STATUS(POST(&f->s, fact_mark(1, "request")), CADRE_ESTORE, err);
        CHECK_CONTAINS(err->text, said);
        CHECK_INT(store_lease(&f->s, "ann", 60, NULL), -1);
        CHECK_CONTAINS(err->text, said);
        cadre_error_clear(err);
        CHECK_STATUS(
            f->s.ops->read(f->s.state, &query, &(cadre_store_reader){.ctx = NULL}, err),
            CADRE_ESTORE, err);
        CHECK_CONTAINS(err->text, said);
    }
}

static void start(sqlite_case *f)
{
    sqlite_case_make(f);
    CHECK_OK(sqlite_case_open_url(&f->s, f->path), &f->s.err);
    store_start(&f->s);
}

static void test_sqlite_file__one_that_was_removed_takes_no_more(void)
{
    sqlite_case f;
    start(&f);
    CHECK_INT(unlink(f.path), 0);
    check_lost(&f);
    sqlite_case_close_store(&f.s);
    CHECK(!sqlite_file_is_beside(f.path, ""));
    sqlite_case_remove(&f);
}

static void move_all(const char *from, const char *to)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < N_OF(ends); i++) {
        char old[FOLDER_PATH_SIZE + 16];
        char new[FOLDER_PATH_SIZE + 16];
        snprintf(old, sizeof(old), "%s%s", from, ends[i]);
        snprintf(new, sizeof(new), "%s%s", to, ends[i]);
        CHECK_INT(rename(old, new), 0);
    }
}

static void test_sqlite_file__one_that_was_put_back_goes_on(void)
{
    sqlite_case f;
    char away[FOLDER_PATH_SIZE + 16];
    start(&f);
    snprintf(away, sizeof(away), "%s/away.db", f.folder.path);
    move_all(f.path, away);
    check_lost(&f);
    move_all(away, f.path);
    CHECK_COMMIT(&f.s, 1, fact_frame(2, 1, "a"));
    sqlite_case_close_store(&f.s);
    CHECK_OK(sqlite_case_open_url(&f.s, f.path), &f.s.err);
    CHECK_TEXT(store_frames(&f.s, 1), "1<0 running\n2<1 running\n");
    sqlite_case_close_store(&f.s);
    sqlite_case_remove(&f);
}

// Whoever has the old one open does no harm to the new one, when it closes either.
static void test_sqlite_file__new_one_in_its_place_is_left_alone(void)
{
    sqlite_case f;
    start(&f);
    store_case later = {.ops = f.s.ops};
    for (size_t i = 0; i < N_OF(companions); i++) {
        char name[FOLDER_PATH_SIZE + 16];
        snprintf(name, sizeof(name), "%s%s", f.path, companions[i]);
        unlink(name);
    }
    CHECK_INT(unlink(f.path), 0);
    CHECK_OK(sqlite_case_open_url(&later, f.path), &later.err);
    CHECK_COMMIT(&later, 7, fact_conversation(700, ""), fact_trace(7),
                 fact_in(fact_frame(70, 0, "root"), 700));
    check_lost(&f);
    sqlite_case_close_store(&f.s);
    CHECK(sqlite_file_is_beside(f.path, "-wal") &&
          sqlite_file_is_beside(f.path, "-shm"));
    CHECK_COMMIT(&later, 7, fact_in(fact_frame(71, 70, "a"), 700));
    sqlite_case_close_store(&later);
    CHECK_OK(sqlite_case_open_url(&later, f.path), &later.err);
    CHECK_TEXT(store_frames(&later, 7), "70<0 running\n71<70 running\n");
    CHECK_TEXT(store_frames(&later, 1), "");
    sqlite_case_close_store(&later);
    sqlite_case_remove(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_file__refuses_what_is_no_file),
    CHECK_TEST(test_sqlite_file__opens_what_a_link_names),
    CHECK_TEST(test_sqlite_file__follows_a_link_that_leads_to_nothing_yet),
    CHECK_TEST(test_sqlite_file__refuses_one_without_rights),
    CHECK_TEST(test_sqlite_file__refuses_a_read_only_file),
    CHECK_TEST(test_sqlite_file__one_that_was_removed_takes_no_more),
    CHECK_TEST(test_sqlite_file__one_that_was_put_back_goes_on),
    CHECK_TEST(test_sqlite_file__new_one_in_its_place_is_left_alone),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite_file", tests);
}
