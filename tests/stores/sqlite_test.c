// What only the sqlite store promises: about its file, its durability, its readers and
// writers in other processes. What every store must do is in tests/conformance.
#include "support/folder.h"
#include "support/store_case.h"

#include "team/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    store_case s;
} fixture;

static const cadre_store_ops *find_ops(void)
{
    const cadre_store_ops *const *at = cdr_kinds_stores;
    while (*at && strcmp((*at)->type, "sqlite") != 0)
        at++;
    return *at;
}

static void set_up(fixture *f)
{
    *f = (fixture){.s = {.ops = find_ops()}};
    CHECK(f->s.ops != NULL && folder_make(&f->folder));
    snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder.path);
}

static void tear_down(fixture *f)
{
    folder_remove(&f->folder);
}

static cadre_status open_url(store_case *s, const char *url)
{
    cadre_error_clear(&s->err);
    s->state = calloc(1, s->ops->state_size);
    cadre_status status = s->ops->init(s->state, url, &s->err);
    if (status != CADRE_OK) {
        free(s->state);
        s->state = NULL;
    }
    return status;
}

static void open_store(fixture *f)
{
    CHECK_OK(open_url(&f->s, f->path), &f->s.err);
}

static void close_store(fixture *f)
{
    f->s.ops->fini(f->s.state);
    free(f->s.state);
    f->s.state = NULL;
}

// Gives the first column of the first row as text, "" when there is none; or what
// SQLite says is wrong.
static const char *ask(const char *path, const char *sql, char said[256])
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
    said[0] = '\0';
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        snprintf(said, 256, "%s", (const char *)sqlite3_column_text(stmt, 0));
    else if (rc != SQLITE_DONE)
        snprintf(said, 256, "%s", sqlite3_errmsg(db));
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return said;
}

static int ask_number(const char *path, const char *sql)
{
    char said[256];
    return (int)strtol(ask(path, sql, said), NULL, 10);
}

static void check_asks(const char *path, const char *sql, const char *expected)
{
    char said[256];
    CHECK_TEXT(ask(path, sql, said), expected);
}

static size_t read_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return 0;
    size_t len = fread(bytes, 1, size, file);
    fclose(file);
    return len;
}

static void write_file(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    if (!CHECK(file != NULL))
        return;
    CHECK_INT(fwrite(bytes, 1, len, file), len);
    CHECK_INT(fclose(file), 0);
}

static bool is_file(const char *path, const char *suffix)
{
    char name[FOLDER_PATH_SIZE + 16];
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return access(name, F_OK) == 0;
}

// Counts the transactions in the write-ahead log: frames that tell a size of the file.
static int count_transactions(const char *path)
{
    char name[FOLDER_PATH_SIZE + 8];
    unsigned char head[24];
    int n = 0;
    snprintf(name, sizeof(name), "%s-wal", path);
    FILE *file = fopen(name, "rb");
    if (!file)
        return -1;
    fseek(file, 32, SEEK_SET);
    while (fread(head, 1, sizeof(head), file) == sizeof(head)) {
        n += (head[4] | head[5] | head[6] | head[7]) != 0;
        fseek(file, 4096, SEEK_CUR);
    }
    fclose(file);
    return n;
}

// Opening fails with that text, and the file is as it was.
static void check_refused(fixture *f, const char *text)
{
    enum {
        MAX = 1 << 20
    };
    static char before[MAX];
    static char after[MAX];
    size_t len = read_file(f->path, before, MAX);
    CHECK_STATUS(open_url(&f->s, f->path), CADRE_ESTORE, &f->s.err);
    CHECK_CONTAINS(f->s.err.text, text);
    CHECK_CONTAINS(f->s.err.text, f->path);
    CHECK_BYTES(after, read_file(f->path, after, MAX), before, len);
    CHECK(!is_file(f->path, "-journal") && count_transactions(f->path) <= 0);
}

// A store with a trace in its file, closed.
static void make_store(fixture *f)
{
    open_store(f);
    store_start(&f->s);
    close_store(f);
}

// --- The file ---

static void test_sqlite__refuses_what_is_not_a_database(void)
{
    static const char text[] = "dear diary";
    fixture f;
    set_up(&f);
    write_file(f.path, text, sizeof(text) - 1);
    check_refused(&f, "is not a database");
    CHECK(!is_file(f.path, ".lock"));
    static char page[4096] = "dear diary, long";
    write_file(f.path, page, sizeof(page));
    check_refused(&f, "is not a database");
    tear_down(&f);
}

static void test_sqlite__refuses_a_foreign_database(void)
{
    fixture f;
    char said[256];
    set_up(&f);
    write_file(f.path, "", 0);
    ask(f.path, "CREATE TABLE photos (name TEXT)", said);
    check_refused(&f, "another program (application_id 0)");
    ask(f.path, "PRAGMA application_id = 77", said);
    check_refused(&f, "another program (application_id 77)");
    CHECK(!is_file(f.path, ".lock"));
    tear_down(&f);
}

static void test_sqlite__refuses_a_newer_schema(void)
{
    fixture f;
    char said[256];
    set_up(&f);
    make_store(&f);
    ask(f.path, "PRAGMA user_version = 1001", said);
    check_refused(&f, "newer cadre (schema 1001, this one knows up to 3)");
    tear_down(&f);
}

static void test_sqlite__refuses_a_damaged_file(void)
{
    enum {
        MAX = 1 << 20
    };
    static char bytes[MAX];
    fixture f;
    set_up(&f);
    make_store(&f);
    size_t len = read_file(f.path, bytes, MAX);
    if (CHECK(len > 8192)) {
        for (size_t i = 4096; i < 8192; i++)
            bytes[i] = (char)(i * 2654435761U >> 13);
        write_file(f.path, bytes, len);
        check_refused(&f, "damaged");
        write_file(f.path, bytes, 4096 + 100); // cut
        check_refused(&f, "(");
    }
    tear_down(&f);
}

// Nothing is made beside it either.
static void check_refused_path(fixture *f, const char *path, const char *text)
{
    bool has_lock = is_file(path, ".lock");
    bool has_journal = is_file(path, "-journal");
    CHECK_STATUS(open_url(&f->s, path), CADRE_ESTORE, &f->s.err);
    CHECK_CONTAINS(f->s.err.text, path);
    CHECK_CONTAINS(f->s.err.text, text);
    CHECK_INT(is_file(path, ".lock"), has_lock);
    CHECK_INT(is_file(path, "-journal"), has_journal);
}

static void test_sqlite__refuses_what_is_no_ordinary_file(void)
{
    fixture f;
    set_up(&f);
    check_refused_path(&f, f.folder.path, "is a folder");
    check_refused_path(&f, "/dev/null", "is no ordinary file");
    check_refused_path(&f, "/dev/full", "is no ordinary file");
    CHECK_INT(mkfifo(f.path, 0600), 0);
    check_refused_path(&f, f.path, "is no ordinary file");
    tear_down(&f);
}

static void test_sqlite__follows_a_link_that_leads_to_nothing_yet(void)
{
    char target[FOLDER_PATH_SIZE + 16];
    fixture f;
    set_up(&f);
    CHECK_INT(symlink("target.db", f.path), 0);
    make_store(&f);
    snprintf(target, sizeof(target), "%s/target.db", f.folder.path);
    check_asks(target, "SELECT count(*) FROM traces", "1");
    CHECK(!is_file(f.path, ".lock")); // it stands where the file is
    CHECK_INT(unlink(target), 0);
    CHECK_INT(unlink(f.path), 0);
    CHECK_INT(symlink("nowhere/target.db", f.path), 0);
    CHECK_STATUS(open_url(&f.s, f.path), CADRE_ESTORE, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "/nowhere/target.db: cannot be made: No such file");
    tear_down(&f);
}

// One that is removed, and one that another stands in place of.
static void test_sqlite__writes_no_more_to_a_file_that_is_gone(void)
{
    for (int is_replaced = 0; is_replaced < 2; is_replaced++) {
        fixture f, other;
        set_up(&f);
        open_store(&f);
        store_start(&f.s);
        CHECK_COMMIT(&f.s, 1, fact_running(1, 1));
        CHECK_INT(unlink(f.path), 0);
        if (is_replaced) {
            other = f;
            make_store(&other);
        }
        CHECK_STATUS(COMMIT(&f.s, 1, fact_running(1, 2)), CADRE_ESTORE, &f.s.err);
        CHECK_CONTAINS(f.s.err.text, "was removed or replaced");
        close_store(&f);
        if (is_replaced) // it is as its own program left it
            check_asks(f.path, "SELECT count(*) FROM traces", "1");
        tear_down(&f);
    }
}

// Runs as nobody in a process of its own when root, to whom nothing is read-only.
static void test_sqlite__refuses_a_read_only_file(void)
{
    fixture f;
    set_up(&f);
    make_store(&f);
    CHECK_INT(chmod(f.path, 0444), 0);
    CHECK_INT(chmod(f.folder.path, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        bool is_other = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        bool is_refused = open_url(&f.s, f.path) == CADRE_ESTORE &&
                          strstr(f.s.err.text, "is read-only") != NULL;
        _exit(is_other && is_refused ? 0 : 1);
    }
    int status = -1;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
    tear_down(&f);
}

static void test_sqlite__takes_an_empty_file_and_makes_a_new_one(void)
{
    fixture f;
    set_up(&f);
    write_file(f.path, "", 0);
    make_store(&f);
    check_asks(f.path, "SELECT count(*) FROM traces", "1");
    check_asks(f.path, "PRAGMA application_id", "1128350802");
    check_asks(f.path, "PRAGMA user_version", "3");
    check_asks(f.path, "PRAGMA journal_mode", "wal");
    char missing[FOLDER_PATH_SIZE + 16];
    snprintf(missing, sizeof(missing), "%s/none/store.db", f.folder.path);
    CHECK_STATUS(open_url(&f.s, missing), CADRE_ESTORE, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, missing);
    tear_down(&f);
}

// The first step of the schema is also a migration: of a file of ours without tables.
static void test_sqlite__brings_an_older_file_up_to_date(void)
{
    fixture f;
    char said[256];
    set_up(&f);
    write_file(f.path, "", 0);
    ask(f.path, "PRAGMA application_id = 1128350802", said);
    make_store(&f);
    check_asks(f.path, "PRAGMA user_version", "3");
    check_asks(f.path, "SELECT status FROM frames", "running");
    tear_down(&f);
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
    fixture f;
    set_up(&f);
    mode_t before = umask(0);
    open_store(&f);
    store_start(&f.s);
    umask(before);
    check_mode(f.path, "");
    check_mode(f.path, "-wal");
    check_mode(f.path, "-shm");
    check_mode(f.path, ".lock");
    close_store(&f);
    CHECK(!is_file(f.path, "-wal"));
    tear_down(&f);
}

static void test_sqlite__copy_without_its_log_opens_as_older(void)
{
    enum {
        MAX = 1 << 20
    };
    static char bytes[MAX];
    fixture f;
    set_up(&f);
    open_store(&f);
    store_start(&f.s);
    size_t len = read_file(f.path, bytes, MAX);
    close_store(&f);
    snprintf(f.path, sizeof(f.path), "%s/copy.db", f.folder.path);
    write_file(f.path, bytes, len);
    open_store(&f);
    CHECK_TEXT(store_frames(&f.s, 1), "");
    store_start(&f.s);
    close_store(&f);
    check_asks(f.path, "PRAGMA integrity_check", "ok");
    tear_down(&f);
}

static void test_sqlite__url_names_a_file_and_a_durability(void)
{
    fixture f;
    char url[FOLDER_PATH_SIZE + 32];
    set_up(&f);
    CHECK_STATUS(open_url(&f.s, ""), CADRE_ECONFIG, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "sqlite:FILE");
    CHECK_STATUS(open_url(&f.s, ":memory:"), CADRE_ECONFIG, &f.s.err);
    snprintf(url, sizeof(url), "%s?durability=none", f.path);
    CHECK_STATUS(open_url(&f.s, url), CADRE_ECONFIG, &f.s.err);
    CHECK_CONTAINS(f.s.err.text, "'durability=none'");
    CHECK(!is_file(f.path, ""));
    static const char *const known[] = {"normal", "full"};
    for (size_t i = 0; i < N_OF(known); i++) {
        snprintf(url, sizeof(url), "%s?durability=%s", f.path, known[i]);
        CHECK_OK(open_url(&f.s, url), &f.s.err);
        CHECK_COMMIT(&f.s, 5 + i, fact_trace(5 + i));
        close_store(&f);
    }
    check_asks(f.path, "SELECT count(*) FROM traces", "2");
    tear_down(&f);
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
         "NULL, NULL, 0, NULL, 0, NULL, NULL, NULL FROM frames WHERE key = 'a'",
         "no birth"},
        {"INSERT INTO frames SELECT 'x', trace_id, id, 0, conversation_id, 'k', kind, "
         "name, referer, input, depth, 'running', 0, 0, 0, NULL, NULL, NULL, NULL, "
         "NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
         "NULL, NULL, 0, NULL, 0, NULL, NULL, NULL FROM frames WHERE key = 'b'",
         "no birth"},
        {"UPDATE conversations SET owner_frame_id = NULL, "
         "owner_conversation_id = NULL",
         "never changes"},
        {"UPDATE messages SET seq = 9 WHERE position = 0", "placed message is final"},
        {"UPDATE messages SET content = 'x' WHERE position IS NULL", "never changes"},
    };
    fixture f;
    set_up(&f);
    open_store(&f);
    store_start(&f.s);
    CHECK_COMMIT(&f.s, 1, fact_frame(2, 1, "a"), fact_end(2, "x"),
                 fact_frame(3, 1, "b"), fact_mark(3, "request"),
                 fact_message(100, 1, 0, "said"), fact_post(901, 100, "waits", NULL));
    for (size_t i = 0; i < N_OF(cases); i++) {
        char said[256];
        CHECK_CONTAINS(ask(f.path, cases[i].sql, said), cases[i].says);
    }
    CHECK_TEXT(store_frames(&f.s, 1),
               "1<0 running\n2<1 completed = x\n3<1 running marked request\n");
    close_store(&f);
    tear_down(&f);
}

// --- Group commit ---

static void test_sqlite__lone_run_has_a_transaction_a_batch(void)
{
    fixture f;
    set_up(&f);
    open_store(&f);
    store_start(&f.s);
    int before = count_transactions(f.path);
    for (int i = 1; i <= 20; i++)
        CHECK_COMMIT(&f.s, 1, fact_running(1, i));
    CHECK_INT(count_transactions(f.path) - before, 20);
    close_store(&f);
    tear_down(&f);
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

static void test_sqlite__runs_share_transactions(void)
{
    static companion companions[N_THREADS];
    pthread_t threads[N_THREADS];
    pthread_barrier_t all;
    fixture f;
    set_up(&f);
    open_store(&f);
    pthread_barrier_init(&all, NULL, N_THREADS);
    for (uint64_t i = 0; i < N_THREADS; i++) {
        uint64_t id = i + 1;
        CHECK_COMMIT(&f.s, id, fact_conversation(id * 100, ""), fact_trace(id),
                     fact_in(fact_frame(id * 100, 0, "root"), id * 100));
        companions[i] = (companion){.s = f.s, .number = id, .all = &all};
    }
    int before = count_transactions(f.path);
    for (int i = 0; i < N_THREADS; i++)
        pthread_create(&threads[i], NULL, write_in_company, &companions[i]);
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
    int n = count_transactions(f.path) - before;
    CHECK(n >= N_BATCHES && n < N_THREADS * N_BATCHES);
    pthread_barrier_destroy(&all);
    close_store(&f);
    tear_down(&f);
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

static void test_sqlite__kill_loses_no_acknowledged_row(void)
{
    enum {
        N_ROUNDS = 25
    };
    fixture f;
    char sql[128];
    set_up(&f);
    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        int ends[2];
        char byte[64];
        CHECK_INT(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            open_store(&f);
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
        open_store(&f);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM frames WHERE status = 'completed' AND trace_id "
                 "= (SELECT id FROM traces ORDER BY rowid DESC LIMIT 1)");
        int n_there = n_wanted > 0 ? ask_number(f.path, sql) : 0;
        CHECK(n_there >= n_told && n_there <= n_told + 1);
        close_store(&f);
    }
    check_asks(f.path, "PRAGMA integrity_check", "ok");
    check_asks(f.path, "SELECT count(*) FROM pragma_foreign_key_check", "0");
    tear_down(&f);
}

static void test_sqlite__two_processes_write_at_once(void)
{
    enum {
        N_CHILDREN = 300
    };
    fixture f;
    pid_t children[2];
    set_up(&f);
    for (uint64_t i = 0; i < N_OF(children); i++) {
        children[i] = fork();
        if (children[i] == 0) {
            open_store(&f);
            int n = write_children(&f.s, i + 1, N_CHILDREN, -1);
            close_store(&f);
            _exit(n == N_CHILDREN ? 0 : 1);
        }
    }
    for (size_t i = 0; i < N_OF(children); i++) {
        int status = -1;
        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK_INT(status, 0);
    }
    check_asks(f.path, "PRAGMA integrity_check", "ok");
    check_asks(f.path, "SELECT count(*) FROM frames WHERE NOT is_root", "600");
    tear_down(&f);
}

// A mark of another process is what the holder's next batch meets.
static void test_sqlite__other_process_marks_and_takes_over(void)
{
    fixture f;
    int ends[2];
    char byte = 0;
    set_up(&f);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork(); // before there are threads
    if (child == 0) {
        bool is_ok = read(ends[0], &byte, 1) == 1;
        open_store(&f);
        is_ok = is_ok && POST(&f.s, fact_mark(1, "request")) == CADRE_OK;
        is_ok = is_ok && store_lease(&f.s, "bob", 60, NULL) == -1;
        is_ok = is_ok && store_lease(&f.s, "bob", 60, "ann") == 2;
        close_store(&f);
        _exit(is_ok ? 0 : 1);
    }
    open_store(&f);
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
    close_store(&f);
    tear_down(&f);
}

// A limit on the size of files is a disk that is full, without one.
static void test_sqlite__full_disk_is_no_success(void)
{
    fixture f;
    int ends[2];
    set_up(&f);
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit limit = {300000, 300000};
        signal(SIGXFSZ, SIG_IGN);
        open_store(&f);
        setrlimit(RLIMIT_FSIZE, &limit);
        write_children(&f.s, 1, 0, ends[1]);
        bool is_told = f.s.err.status == CADRE_ESTORE && strstr(f.s.err.text, "(code ");
        // It goes on to fail, and to read.
        is_told = is_told && COMMIT(&f.s, 1, fact_end(1000000, "x")) == CADRE_ESTORE;
        close_store(&f);
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
    check_asks(f.path, "PRAGMA integrity_check", "ok");
    open_store(&f);
    int n_there = ask_number(f.path, "SELECT count(*) FROM frames WHERE NOT is_root");
    CHECK(n_there >= n_told && n_there <= n_told + 1);
    CHECK_COMMIT(&f.s, 1, fact_end(1000000, "with room again"));
    close_store(&f);
    tear_down(&f);
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

static void test_sqlite__reader_sees_one_moment_and_writers_go_on(void)
{
    fixture f;
    set_up(&f);
    open_store(&f);
    store_start(&f.s);
    CHECK_COMMIT(&f.s, 1, fact_frame(2, 1, "a"));
    nested n = {.s = &f.s};
    const cadre_store_reader reader = {.frame = commit_meanwhile, .ctx = &n};
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = store_id(1)};
    CHECK_OK(f.s.ops->read(f.s.state, &query, &reader, NULL), NULL);
    CHECK_INT(n.n_rows, 2);
    CHECK_INT(n_children(&f.s, 1), 3);
    close_store(&f);
    tear_down(&f);
}

static void test_sqlite__resumes_from_what_is_stored(void)
{
    fixture f;
    set_up(&f);
    open_store(&f);
    CHECK_COMMIT(&f.s, 1, fact_conversation(100, "chat"), fact_trace(1),
                 fact_frame(1, 0, "root"), fact_message(100, 1, 0, "hi"),
                 fact_frame(2, 1, "a"), fact_mark(2, "timeout"));
    close_store(&f);
    open_store(&f);
    CHECK_TEXT(store_frames(&f.s, 1), "1<0 running\n2<1 running marked timeout\n");
    CHECK_TEXT(store_session(&f.s, "chat"), "0 hi\nin 100\n");
    CHECK_BUSY(&f.s, 2, fact_trace(2), fact_frame(21, 0, "root"));
    CHECK_INT(store_lease(&f.s, "ann", 60, NULL), 1);
    f.s.epoch = 1;
    CHECK_COMMIT(&f.s, 1, fact_message(100, 1, 1, "on"), fact_end(2, ""),
                 fact_end(1, ""));
    close_store(&f);
    tear_down(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite__refuses_what_is_not_a_database),
    CHECK_TEST(test_sqlite__refuses_a_foreign_database),
    CHECK_TEST(test_sqlite__refuses_a_newer_schema),
    CHECK_TEST(test_sqlite__refuses_a_damaged_file),
    CHECK_TEST(test_sqlite__refuses_what_is_no_ordinary_file),
    CHECK_TEST(test_sqlite__follows_a_link_that_leads_to_nothing_yet),
    CHECK_TEST(test_sqlite__writes_no_more_to_a_file_that_is_gone),
    CHECK_TEST(test_sqlite__refuses_a_read_only_file),
    CHECK_TEST(test_sqlite__takes_an_empty_file_and_makes_a_new_one),
    CHECK_TEST(test_sqlite__brings_an_older_file_up_to_date),
    CHECK_TEST(test_sqlite__only_its_owner_reads_it),
    CHECK_TEST(test_sqlite__copy_without_its_log_opens_as_older),
    CHECK_TEST(test_sqlite__url_names_a_file_and_a_durability),
    CHECK_TEST(test_sqlite__tables_refuse_what_is_forbidden),
    CHECK_TEST(test_sqlite__lone_run_has_a_transaction_a_batch),
    CHECK_TEST(test_sqlite__runs_share_transactions),
    CHECK_TEST(test_sqlite__kill_loses_no_acknowledged_row),
    CHECK_TEST(test_sqlite__two_processes_write_at_once),
    CHECK_TEST(test_sqlite__other_process_marks_and_takes_over),
    CHECK_TEST(test_sqlite__full_disk_is_no_success),
    CHECK_TEST(test_sqlite__reader_sees_one_moment_and_writers_go_on),
    CHECK_TEST(test_sqlite__resumes_from_what_is_stored),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("stores/sqlite", tests);
}
