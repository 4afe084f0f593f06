// How the sqlite store writes: runs that share transactions, other processes, ends of
// this one, a disk that is full; and who reads meanwhile.
#include "support/sqlite_case.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// --- Group commit ---

static void test_sqlite_write__lone_run_has_a_transaction_a_batch(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    store_start(&f.s);
    int before = sqlite_file_count_transactions(f.path);
    for (int i = 1; i <= 20; i++)
        CHECK_COMMIT(&f.s, 1, fact_running(1, i));
    CHECK_INT(sqlite_file_count_transactions(f.path) - before, 20);
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

enum {
    N_THREADS = 16,
    N_BATCHES = 5
};

typedef struct companion {
    store_case s;
    uint64_t number;
    pthread_barrier_t *all;
} companion;

static void *write_in_company(void *arg)
{
    companion *c = arg;
    pthread_barrier_wait(c->all);
    for (int i = 1; i <= N_BATCHES; i++)
        CHECK_COMMIT(&c->s, c->number, fact_running(c->number * 100, i));
    return NULL;
}

static void test_sqlite_write__runs_share_transactions(void)
{
    static companion companions[N_THREADS];
    pthread_t threads[N_THREADS];
    pthread_barrier_t all;
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    pthread_barrier_init(&all, NULL, N_THREADS);
    for (uint64_t i = 0; i < N_THREADS; i++) {
        uint64_t id = i + 1;
        CHECK_COMMIT(&f.s, id, fact_conversation(id * 100, ""), fact_trace(id),
                     fact_in(fact_frame(id * 100, 0, "root"), id * 100));
        companions[i] = (companion){.s = f.s, .number = id, .all = &all};
    }
    int before = sqlite_file_count_transactions(f.path);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, write_in_company, &companions[i]);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    int n = sqlite_file_count_transactions(f.path) - before;
    CHECK(n >= N_BATCHES && n < N_THREADS * N_BATCHES);
    pthread_barrier_destroy(&all);
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

// --- Other processes, and ends of this one ---

// Begins trace and root `id` and adds children, one a batch, up to `n` of them or for
// ever (0); tells each that is acknowledged on the descriptor, unless -1. Returns how
// many there are when a commit fails.
static int write_children(store_case *s, uint64_t id, int n, int fd)
{
    char key[16];
    int done = 0;
    CHECK_COMMIT(s, id, fact_conversation(id * 1000000, ""), fact_trace(id),
                 fact_in(fact_frame(id * 1000000, 0, "root"), id * 1000000));
    for (; n == 0 || done < n; done++) {
        snprintf(key, sizeof(key), "%d", done);
        uint64_t child = id * 1000000 + 1 + (uint64_t)done;
        cadre_fact birth = fact_in(fact_frame(child, id * 1000000, key), id * 1000000);
        if (COMMIT(s, id, birth, fact_end(child, key)) != CADRE_OK)
            break;
        if (fd >= 0 && write(fd, "x", 1) != 1)
            break;
    }
    return done;
}

static int n_children(store_case *s, uint64_t id)
{
    int n = -1;
    for (const char *at = store_frames(s, id); *at; at++)
        n += *at == '\n';
    return n;
}

static void test_sqlite_write__kill_loses_no_acknowledged_row(void)
{
    enum {
        N_ROUNDS = 25
    };
    sqlite_case f;
    char sql[128];
    sqlite_case_make(&f);
    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        int ends[2];
        char byte[64];
        CHECK_INT(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            sqlite_case_open(&f);
            write_children(&f.s, round, 0, ends[1]);
            _exit(1);
        }
        close(ends[1]);
        // Kills at another place each round: after so many, in the midst of the next.
        int n_told = 0;
        int n_wanted = (int)(round * 7 % 20);
        while (n_told < n_wanted) {
            ssize_t n = read(ends[0], byte, 1);
            if (!CHECK(n == 1))
                break;
            n_told++;
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        for (ssize_t n; (n = read(ends[0], byte, sizeof(byte))) > 0;)
            n_told += (int)n;
        close(ends[0]);
        sqlite_case_open(&f);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM frames WHERE status = 'completed' AND trace_id "
                 "= (SELECT id FROM traces ORDER BY rowid DESC LIMIT 1)");
        int n_there = n_wanted > 0 ? sqlite_file_number(f.path, sql) : 0;
        CHECK(n_there >= n_told && n_there <= n_told + 1);
        sqlite_case_close(&f);
    }
    sqlite_file_check(f.path, "PRAGMA integrity_check", "ok");
    sqlite_file_check(f.path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    sqlite_case_remove(&f);
}

static void test_sqlite_write__two_processes_write_at_once(void)
{
    enum {
        N_CHILDREN = 300
    };
    sqlite_case f;
    pid_t children[2];
    sqlite_case_make(&f);
    for (uint64_t i = 0; i < N_OF(children); i++) {
        children[i] = fork();
        if (children[i] == 0) {
            sqlite_case_open(&f);
            int n = write_children(&f.s, i + 1, N_CHILDREN, -1);
            sqlite_case_close(&f);
            _exit(n == N_CHILDREN ? 0 : 1);
        }
    }
    for (size_t i = 0; i < N_OF(children); i++) {
        int status = -1;
        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK_INT(status, 0);
    }
    sqlite_file_check(f.path, "PRAGMA integrity_check", "ok");
    sqlite_file_check(f.path, "SELECT count(*) FROM frames WHERE NOT is_root", "600");
    sqlite_case_remove(&f);
}

// A mark of another process is what the holder's next batch meets.
static void test_sqlite_write__other_process_marks_and_takes_over(void)
{
    sqlite_case f;
    int ends[2];
    char byte = 0;
    sqlite_case_make(&f);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork(); // before there are threads
    if (child == 0) {
        bool is_ok = read(ends[0], &byte, 1) == 1;
        sqlite_case_open(&f);
        is_ok = is_ok && POST(&f.s, fact_mark(1, "request")) == CADRE_OK;
        is_ok = is_ok && store_lease(&f.s, "bob", 60, NULL) == -1;
        is_ok = is_ok && store_lease(&f.s, "bob", 60, "ann") == 2;
        sqlite_case_close(&f);
        _exit(is_ok ? 0 : 1);
    }
    sqlite_case_open(&f);
    store_start(&f.s);
    CHECK_INT(store_lease(&f.s, "ann", 60, NULL), 1);
    CHECK_INT(write(ends[1], "x", 1), 1);
    close(ends[0]);
    close(ends[1]);
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    f.s.epoch = 1;
    CHECK_STATUS(COMMIT(&f.s, 1, fact_end(1, "late")), CADRE_ELOST, &f.s.err);
    f.s.epoch = 2;
    cadre_fact birth = fact_frame(2, 1, "a");
    CHECK_OK(store_commit(&f.s, 1, &birth, 1), &f.s.err);
    CHECK(birth.refused);
    CHECK_TEXT(store_frames(&f.s, 1), "1<0 running marked request\n");
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

// A limit on the size of files is a disk that is full, without one.
static void test_sqlite_write__full_disk_is_no_success(void)
{
    sqlite_case f;
    int ends[2];
    sqlite_case_make(&f);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {300000, 300000};
        signal(SIGXFSZ, SIG_IGN);
        sqlite_case_open(&f);
        setrlimit(RLIMIT_FSIZE, &limit);
        write_children(&f.s, 1, 0, ends[1]);
        bool is_told = f.s.err.status == CADRE_ESTORE && strstr(f.s.err.text, "(code ");
        // It goes on to fail, and to read.
        is_told = is_told && COMMIT(&f.s, 1, fact_end(1000000, "x")) == CADRE_ESTORE;
        sqlite_case_close(&f);
        _exit(is_told ? 0 : 1);
    }
    close(ends[1]);
    int n_told = 0;
    char bytes[64];
    for (ssize_t n; (n = read(ends[0], bytes, sizeof(bytes))) > 0;)
        n_told += (int)n;
    close(ends[0]);
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    CHECK(n_told > 10);
    sqlite_file_check(f.path, "PRAGMA integrity_check", "ok");
    sqlite_case_open(&f);
    int n_there =
        sqlite_file_number(f.path, "SELECT count(*) FROM frames WHERE NOT is_root");
    CHECK(n_there >= n_told && n_there <= n_told + 1);
    CHECK_COMMIT(&f.s, 1, fact_end(1000000, "with room again"));
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

// --- Reading ---

typedef struct nested {
    store_case *s;
    int n_rows;
} nested;

static cadre_status commit_meanwhile(void *ctx, const cadre_frame_row *row,
                                     cadre_error *err)
{
    nested *n = ctx;
    char key[16];
    (void)row;
    (void)err;
    snprintf(key, sizeof(key), "%d", n->n_rows++);
    CHECK_COMMIT(n->s, 1, fact_frame((uint64_t)(100 + n->n_rows), 1, key));
    return CADRE_OK;
}

static void test_sqlite_write__reader_sees_one_moment_and_writers_go_on(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    store_start(&f.s);
    CHECK_COMMIT(&f.s, 1, fact_frame(2, 1, "a"));
    nested n = {.s = &f.s};
    const cadre_store_reader reader = {.frame = commit_meanwhile, .ctx = &n};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_OK(f.s.ops->read(f.s.state, &query, &reader, NULL), NULL);
    CHECK_INT(n.n_rows, 2);
    CHECK_INT(n_children(&f.s, 1), 3);
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

static void test_sqlite_write__resumes_from_what_is_stored(void)
{
    sqlite_case f;
    sqlite_case_make(&f);
    sqlite_case_open(&f);
    CHECK_COMMIT(&f.s, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_message(100, 1, 0, "hi"),
                 fact_frame(2, 1, "a"), fact_mark(2, "timeout"));
    sqlite_case_close(&f);
    sqlite_case_open(&f);
    CHECK_TEXT(store_frames(&f.s, 1), "1<0 running\n2<1 running marked timeout\n");
    CHECK_TEXT(store_session(&f.s, "chat"), "0 hi\nin 100\n");
    CHECK_BUSY(&f.s, 2, fact_trace(2), fact_frame(21, 0, "root"));
    CHECK_INT(store_lease(&f.s, "ann", 60, NULL), 1);
    f.s.epoch = 1;
    CHECK_COMMIT(&f.s, 1, fact_message(100, 1, 1, "on"), fact_end(2, ""),
                 fact_end(1, ""));
    sqlite_case_close(&f);
    sqlite_case_remove(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_write__lone_run_has_a_transaction_a_batch),
    CHECK_TEST(test_sqlite_write__runs_share_transactions),
    CHECK_TEST(test_sqlite_write__kill_loses_no_acknowledged_row),
    CHECK_TEST(test_sqlite_write__two_processes_write_at_once),
    CHECK_TEST(test_sqlite_write__other_process_marks_and_takes_over),
    CHECK_TEST(test_sqlite_write__full_disk_is_no_success),
    CHECK_TEST(test_sqlite_write__reader_sees_one_moment_and_writers_go_on),
    CHECK_TEST(test_sqlite_write__resumes_from_what_is_stored),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite_write", tests);
}
