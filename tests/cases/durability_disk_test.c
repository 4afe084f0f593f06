// The case files of durability that are about files: a disk that fills up, and files
// that are read-only, damaged, newer, or not all there.
#include "support/case_files.h"
#include "support/played.h"
#include "support/program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// --- d05: the disk fills up in the midst of a run ---

enum {
    N_TURNS = 120
};

// A turn calls the tool with half a kilobyte.
static void write_long_script(const played *p)
{
    char path[PLAYED_PATH_SIZE];
    FILE *file = fopen(played_path(p, "script.yaml", path), "w");
    if (!CHECK(file != NULL))
        return;
    fprintf(file, "strict: true\nagents:\n  a:\n");
    for (int i = 0; i < N_TURNS; i++)
        fprintf(file,
                "    - tool_calls: [{name: append, arguments: {l: \"%0500d\"}}]\n", i);
    fprintf(file, "    - text: done\n");
    CHECK_INT(fclose(file), 0);
}

// Every event with a seq tells of a row: of a message, or of a frame.
static int check_acknowledged(const played *p, const char *events)
{
    char sql[256];
    int n = 0;
    for (const char *at = events; at != NULL && *at != '\0';) {
        const char *end = strchr(at, '\n');
        size_t len = end == NULL ? strlen(at) : (size_t)(end - at);
        json_t *event = json_loadb(at, len, 0, NULL);
        const char *type = json_string_value(json_object_get(event, "type"));
        long long seq = json_integer_value(json_object_get(event, "seq"));
        if (type != NULL && strcmp(type, "tool_result") == 0 && seq > 0) {
            snprintf(sql, sizeof sql,
                     "SELECT count(*) FROM messages WHERE role = 'tool' AND seq = %lld",
                     seq);
            CHECK_TEXT(played_ask(p, sql), "1");
            n++;
        }
        json_decref(event);
        at = end == NULL ? NULL : end + 1;
    }
    return n;
}

// A limit on the size of files is a full disk; a program that is started inherits it.
static bool run_on_a_full_disk(const played *p, rlim_t size, program_result *ran)
{
    struct rlimit before;
    getrlimit(RLIMIT_FSIZE, &before);
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){size, before.rlim_max});
    bool is_run = PROGRAM_RUN(ran, .directory = p->folder.path,
                              .arguments = (const char *[]){"run", "team.yaml", "x",
                                                            "--offline", "--events",
                                                            "--store", p->store, NULL});
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    return is_run;
}

// Nothing was done twice, and what was not done was told so to the model.
static void check_effects(const played *p)
{
    static char lines[2 * N_TURNS][64];
    char expected[16];
    size_t n_lines = played_log(p, lines, sizeof lines / sizeof lines[0]);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(lines[i], lines[k]) != 0); // each call has a key of its own
    snprintf(expected, sizeof expected, "%d", N_TURNS);
    CHECK_TEXT(played_ask(p, "SELECT count(*) FROM messages WHERE role = 'tool'"),
               expected);
    const char *n_cut = played_ask(
        p, "SELECT count(*) FROM messages WHERE result_code = 'interrupted'");
    CHECK(strcmp(n_cut, "0") == 0 || strcmp(n_cut, "1") == 0);
    CHECK(n_lines == N_TURNS || (n_lines == N_TURNS - 1 && n_cut[0] == '1'));
}

static void test_d05__full_disk_ends_the_run_and_room_lets_it_go_on(void)
{
    enum {
        ROOM = 2000000
    };
    played p;
    program_result ran;
    if (!played_begin(&p, "d05-disk-full"))
        return;
    write_long_script(&p);
    if (run_on_a_full_disk(&p, ROOM, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_CONTAINS(ran.out, "\"class\":\"store\"");
        CHECK_CONTAINS(ran.err, p.store);
        CHECK_TEXT(played_ask(&p, "PRAGMA integrity_check"), "ok");
        CHECK_TEXT(played_ask(&p, "SELECT count(*) FROM pragma_foreign_key_check"),
                   "0");
        int n_told = check_acknowledged(&p, ran.out);
        CHECK(n_told > 10 && n_told < N_TURNS);
        program_result_fini(&ran);
        played_check_resumes(&p, "team.yaml", "done");
        check_effects(&p);
    }
    played_end(&p);
}

// --- d15: files that are read-only, damaged, newer, or not all there ---

enum {
    FILE_MAX = 1 << 20
};

// Lists the runs of a file; gives what was said of it. It is as it was.
static void check_refused(const char *path, const char *says)
{
    static char before[FILE_MAX];
    static char after[FILE_MAX];
    size_t len = sqlite_file_read(path, before, FILE_MAX);
    program_result ran;
    if (!PROGRAM_RUN(&ran,
                     .arguments = (const char *[]){"runs", "--store", path, NULL}))
        return;
    CHECK_INT(ran.exit_status, 5);
    CHECK_CONTAINS(ran.err, says);
    CHECK_CONTAINS(ran.err, path);
    CHECK_BYTES(after, sqlite_file_read(path, after, FILE_MAX), before, len);
    program_result_fini(&ran);
}

// A store with one run that is in its log alone: as a program that writes has it.
typedef struct written {
    char bytes[FILE_MAX], log[FILE_MAX];
    size_t len, log_len;
} written;

static void write_runs(played *p, written *w)
{
    char log[PLAYED_PATH_SIZE];
    const cadre_result *result = NULL;
    for (int i = 0; i < 2 && CHECK(played_open(p, "safe.yaml")); i++) {
        cadre_run *run = played_start(p, "x");
        CHECK_OK(cadre_run_wait(run, &result, &p->err), &p->err);
        cadre_run_free(run);
        if (i == 1) {
            w->len = sqlite_file_read(p->store, w->bytes, FILE_MAX);
            w->log_len =
                sqlite_file_read(played_path(p, "runs.db-wal", log), w->log, FILE_MAX);
        }
        played_close(p);
    }
    CHECK(w->len > 8192 && w->log_len > 0);
}

static void check_read_only(const played *p)
{
    int status = -1;
    CHECK_INT(chmod(p->store, 0444), 0);
    CHECK_INT(chmod(p->folder.path, 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        char url[PLAYED_PATH_SIZE];
        cadre_runtime *runtime = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        bool is_other = geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
        snprintf(url, sizeof url, "sqlite:%s", p->store);
        bool is_refused = cadre_runtime_open(CADRE_RUNTIME(.store = url), &runtime,
                                             &err) == CADRE_ESTORE &&
                          strstr(err.text, "is read-only") != NULL &&
                          strstr(err.text, p->store) != NULL;
        _exit(is_other && is_refused ? 0 : 1);
    }
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

static void check_runs(const char *path, int n_wanted)
{
    program_result ran;
    int n = 0;
    if (!PROGRAM_RUN(&ran,
                     .arguments = (const char *[]){"runs", "--store", path, NULL}))
        return;
    CHECK_INT(ran.exit_status, 0);
    for (const char *at = ran.out; (at = strstr(at, "completed")) != NULL; at++)
        n++;
    CHECK_INT(n, n_wanted);
    program_result_fini(&ran);
}

static void test_d15__each_bad_file_is_told_and_left_alone(void)
{
    static written w;
    static char damaged[FILE_MAX];
    char path[PLAYED_PATH_SIZE];
    char folder[CASE_PATH_BYTES];
    char log[PLAYED_PATH_SIZE + 8];
    played p;
    if (!played_begin(&p, "d01-crash-after-answer"))
        return;
    write_runs(&p, &w);
    check_read_only(&p); // 1
    CHECK_INT(chmod(p.store, 0600), 0);

    case_folder("d15-read-only-and-damaged", folder); // 2
    sqlite_file_write(played_path(&p, "2.db", path), damaged, 0);
    char *text = case_file_read(folder, "not_a_db.db", NULL);
    if (CHECK(text != NULL))
        sqlite_file_write(path, text, strlen(text));
    free(text);
    check_refused(path, "is not a database");

    size_t len = sqlite_file_read(p.store, damaged, FILE_MAX); // 3
    for (size_t i = 4096; i < 8192 && i < len; i++)
        damaged[i] = (char)(i * 2654435761U >> 13);
    sqlite_file_write(played_path(&p, "3.db", path), damaged, len);
    check_refused(path, "is damaged");

    played_ask(&p, "PRAGMA user_version = 1002"); // 4
    check_refused(p.store, "newer cadre (schema 1002");
    played_ask(&p, "PRAGMA user_version = 4");

    sqlite_file_write(played_path(&p, "5.db", path), w.bytes,
                      w.len); // 5: an older state
    check_runs(path, 1);
    snprintf(log, sizeof log, "%s-wal", path);
    sqlite_file_write(path, w.bytes, w.len);
    sqlite_file_write(log, w.log, w.log_len);
    check_runs(path, 2); // with its log nothing is missing

    sqlite_file_write(played_path(&p, "6.db", path), w.bytes, 0); // 6: as a new one
    check_runs(path, 0);
    check_runs(p.store, 2);
    played_end(&p);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_d05__full_disk_ends_the_run_and_room_lets_it_go_on),
    CHECK_TEST(test_d15__each_bad_file_is_told_and_left_alone),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/durability_disk", tests);
}
