// Writers that are killed, and writers of two processes at once: what was acknowledged
// is there, and the file is whole.
//
// CADRE_TEST_SECONDS is how long two processes write (3), and how long the killing may
// take (40, or that many if it is more) before it ends early. CADRE_TEST_SEED repeats a
// series of moments.
#include "support/folder.h"
#include "support/store_writers.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds_of_test(double otherwise)
{
    const char *given = getenv("CADRE_TEST_SECONDS"); // NOLINT(concurrency-mt-unsafe)
    return given ? strtod(given, NULL) : otherwise;
}

static unsigned seed_of_test(void)
{
    const char *given = getenv("CADRE_TEST_SEED"); // NOLINT(concurrency-mt-unsafe)
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);
    printf("CADRE_TEST_SEED=%u ", seed);
    return seed;
}

// Starts a process that writes. Gives the end of the pipe it tells on.
static pid_t start_writers(store_writers plan, int *fd)
{
    int ends[2];
    if (!CHECK(pipe(ends) == 0))
        return -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        plan.fd = ends[1];
        _exit(store_writers_run(&plan) ? 0 : 1);
    }
    close(ends[1]);
    *fd = ends[0];
    return child;
}

static void check_whole(const char *path)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    CHECK_INT(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &stmt, NULL),
              SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_ROW);
    CHECK_TEXT((const char *)sqlite3_column_text(stmt, 0), "ok");
    sqlite3_finalize(stmt);
    CHECK_INT(sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &stmt, NULL),
              SQLITE_OK);
    CHECK_INT(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

// --- Killed ---

enum {
    N_KILLS = 500,
    PER_FILE = 25
};

static void kill_once(const char *url, told_commits *told, uint64_t first,
                      double after_s)
{
    int fd = -1;
    int status = 0;
    pid_t child = start_writers((store_writers){.url = url, .first_trace = first}, &fd);
    if (child < 0)
        return;
    bool has_ended = told_commits_read(told, fd, after_s);
    kill(child, SIGKILL);
    told_commits_read(told, fd, -1);
    close(fd);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(!has_ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// Kills writers of one file, one after the other. Returns how many commits were told.
static uint64_t kill_at_one_file(bool is_full, double longest_s, unsigned *seed)
{
    enum {
        N_TRACES = PER_FILE * STORE_WRITERS_THREADS
    };
    uint64_t n[N_TRACES] = {0};
    told_commits told = {.first = 1, .n_traces = N_TRACES, .n = n};
    char path[FOLDER_PATH_SIZE];
    char url[FOLDER_PATH_SIZE + 24];
    test_folder folder;
    if (!CHECK(folder_make(&folder)))
        return 0;
    snprintf(path, sizeof(path), "%s/store.db", folder.path);
    snprintf(url, sizeof(url), "%s?durability=%s", path, is_full ? "full" : "normal");
    for (uint64_t i = 0; i < PER_FILE; i++) {
        kill_once(url, &told, 1 + i * STORE_WRITERS_THREADS,
                  longest_s * (rand_r(seed) % 1000) / 1000);
        told_commits_check(&told, path);
    }
    check_whole(path);
    told_commits_check(&told, path);
    folder_remove(&folder);
    return told.total;
}

// How long writers take from their start to the first commit: some times that is how
// long those may live that are killed.
static double start_s(void)
{
    uint64_t n[STORE_WRITERS_THREADS] = {0};
    told_commits told = {.first = 1, .n_traces = STORE_WRITERS_THREADS, .n = n};
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    if (!CHECK(folder_make(&folder)))
        return 0;
    snprintf(path, sizeof(path), "%s/store.db", folder.path);
    int fd = -1;
    double start = monotonic_s();
    pid_t child = start_writers((store_writers){.url = path, .first_trace = 1}, &fd);
    while (told.total == 0 && !told_commits_read(&told, fd, 0.0005))
        continue;
    double took = monotonic_s() - start;
    CHECK(child > 0 && told.total > 0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fd);
    folder_remove(&folder);
    return took;
}

static void test_sqlite_crowd__no_kill_loses_an_acknowledged_row(void)
{
    unsigned seed = seed_of_test();
    double seconds = seconds_of_test(40);
    double until = monotonic_s() + (seconds < 40 ? 40 : seconds);
    double longest = 2.5 * start_s();
    uint64_t n_told = 0;
    int n_kills = 0;
    while (n_kills < N_KILLS && monotonic_s() < until) {
        n_told += kill_at_one_file(n_kills / PER_FILE % 2 == 0, longest, &seed);
        n_kills += PER_FILE;
    }
    CHECK(n_told > (uint64_t)n_kills);
    printf("%d kills, %llu commits ", n_kills, (unsigned long long)n_told);
}

// --- At once ---

// Between opening and closing the store; the last to close takes the log with it.
static void test_sqlite_crowd__two_processes_write_at_once(void)
{
    enum {
        N_PROCESSES = 2,
        N_TRACES = 100000,
        N_EACH = 40
    };
    static uint64_t n[N_PROCESSES][N_TRACES];
    told_commits told[N_PROCESSES];
    pid_t children[N_PROCESSES];
    int fds[N_PROCESSES] = {-1, -1};
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    double seconds = seconds_of_test(3);
    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(path, sizeof(path), "%s/store.db", folder.path);
    for (int i = 0; i < N_PROCESSES; i++) {
        uint64_t first = 1 + (uint64_t)i * N_TRACES;
        told[i] = (told_commits){.first = first, .n_traces = N_TRACES, .n = n[i]};
        children[i] = start_writers((store_writers){.url = path,
                                                    .first_trace = first,
                                                    .n_each = N_EACH,
                                                    .seconds = seconds},
                                    &fds[i]);
    }
    // In turn: a pipe that is full makes its process wait.
    bool is_open[N_PROCESSES] = {true, true};
    while (is_open[0] || is_open[1])
        for (int i = 0; i < N_PROCESSES; i++)
            if (is_open[i])
                is_open[i] = !told_commits_read(&told[i], fds[i], 0.01);
    for (int i = 0; i < N_PROCESSES; i++) {
        int status = -1;
        close(fds[i]);
        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK_INT(status, 0);
        told_commits_check(&told[i], path);
        CHECK(told[i].total >= (uint64_t)N_EACH * STORE_WRITERS_THREADS);
        printf("%llu commits ", (unsigned long long)told[i].total);
    }
    check_whole(path);
    folder_remove(&folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_crowd__no_kill_loses_an_acknowledged_row),
    CHECK_TEST(test_sqlite_crowd__two_processes_write_at_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite_crowd", tests);
}
