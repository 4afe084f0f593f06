// The case files of durability: runs that are killed, tools that hang, disks that are
// full, files that are damaged. Each is played in a folder of its own.
#include "support/case_files.h"
#include "support/check.h"
#include "support/command_tool.h"
#include "support/folder.h"
#include "support/program.h"

#include "cadre/cadre.h"
#include "cadre/ext/store.h"
#include "team/runtime.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE (FOLDER_PATH_SIZE + 32)

// A case in its folder, with a store beside its files.
typedef struct played {
    test_folder folder;
    char store[FOLDER_PATH_SIZE];
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_error err;
} played;

static const char *path_in(const played *p, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", p->folder.path, name);
    return path;
}

// Copies the files of the case; what can be run stays so.
static bool play(played *p, const char *name)
{
    char folder[CASE_PATH_BYTES];
    char path[PATH_SIZE];
    *p = (played){.err = CADRE_ERROR_INIT};
    DIR *files = opendir(case_folder(name, folder));
    if (!CHECK(files != NULL) || !CHECK(folder_make(&p->folder)))
        return false;
    snprintf(p->store, sizeof p->store, "%s/runs.db", p->folder.path);
    for (const struct dirent *at; (at = readdir(files)) != NULL;) {
        size_t len = 0;
        struct stat found;
        char *bytes =
            at->d_name[0] == '.' ? NULL : case_file_read(folder, at->d_name, &len);
        if (bytes == NULL)
            continue;
        FILE *copy = fopen(path_in(p, at->d_name, path), "wb");
        CHECK(copy != NULL && fwrite(bytes, 1, len, copy) == len && fclose(copy) == 0);
        if (fstatat(dirfd(files), at->d_name, &found, 0) == 0)
            CHECK_INT(chmod(path, found.st_mode & 0777), 0);
        free(bytes);
    }
    closedir(files);
    return true;
}

static bool open_team(played *p, const char *file)
{
    char path[PATH_SIZE];
    char url[PATH_SIZE];
    snprintf(url, sizeof url, "sqlite:%s", p->store);
    return cadre_runtime_open(CADRE_RUNTIME(.store = url, .offline = true), &p->runtime,
                              &p->err) == CADRE_OK &&
           cadre_team_load(p->runtime, path_in(p, file, path), &p->team, &p->err) ==
               CADRE_OK;
}

static void close_team(played *p)
{
    cadre_team_free(p->team);
    cadre_runtime_close(p->runtime);
    p->team = NULL;
    p->runtime = NULL;
}

// The first column of the first row; "" when there is none, or what is wrong.
static const char *ask(const played *p, const char *sql)
{
    static char said[512];
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_open_v2(p->store, &db, SQLITE_OPEN_READWRITE, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    const char *text =
        rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        text = sqlite3_errmsg(db);
    snprintf(said, sizeof said, "%s", text == NULL ? "" : text);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return said;
}

// Goes on with the run of the store, and checks that it ends with this answer.
static void check_resumes(played *p, const char *team, const char *answer)
{
    char trace[64];
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    snprintf(trace, sizeof trace, "%s", ask(p, "SELECT id FROM traces"));
    if (CHECK(open_team(p, team)) &&
        CHECK_OK(cadre_run_resume(p->team, trace, NULL, &run, &p->err), &p->err) &&
        CHECK_OK(cadre_run_wait(run, &result, &p->err), &p->err))
        CHECK_TEXT(result->text, answer);
    cadre_run_free(run);
    close_team(p);
    CHECK_TEXT(ask(p, "PRAGMA integrity_check"), "ok");
}

// The lines of the log, each without its end; how many there are.
static size_t read_log(const played *p, char lines[][64], size_t max)
{
    char path[PATH_SIZE];
    size_t n = 0;
    FILE *file = fopen(path_in(p, "log", path), "r");
    while (file != NULL && n < max && fgets(lines[n], 64, file) != NULL) {
        lines[n][strcspn(lines[n], "\n")] = '\0';
        n++;
    }
    if (file != NULL)
        fclose(file);
    return n;
}

static void check_model_calls(const played *p, const char *n)
{
    CHECK_TEXT(ask(p, "SELECT sum(attempts) FROM frames WHERE kind = 'model'"), n);
}

// --- d01: killed when the answer is stored and its tool has not started ---

static const cadre_store_ops *real_ops;

static cadre_status kill_at_answer(void *state, cadre_commit *commit, cadre_error *err)
{
    cadre_status status = real_ops->commit(state, commit, err);
    for (size_t i = 0; i < commit->n_facts && status == CADRE_OK; i++) {
        const cadre_fact *fact = &commit->facts[i];
        if (fact->type == CADRE_FACT_FRAME && strcmp(fact->u.frame.kind, "tool") == 0)
            raise(SIGKILL);
    }
    return status;
}

static void run_to_its_kill(played *p, const char *team)
{
    cadre_run *run = NULL;
    alarm(20);
    if (!open_team(p, team))
        _exit(1);
    real_ops = p->runtime->store_ops;
    cadre_store_ops ops = *real_ops;
    ops.commit = kill_at_answer;
    p->runtime->store_ops = &ops;
    if (cadre_run_start(p->team, CADRE_RUN(.input = "x"), &run, &p->err) == CADRE_OK)
        cadre_run_wait(run, NULL, &p->err);
    _exit(1); // it was not killed
}

static bool is_killed_at_the_answer(played *p, const char *team)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        run_to_its_kill(p, team);
    CHECK_INT(waitpid(child, &status, 0), child);
    return CHECK(WIFSIGNALED(status)) && CHECK_INT(WTERMSIG(status), SIGKILL);
}

static void test_d01__stored_answer_is_used_and_its_tool_runs_once(void)
{
    char lines[4][64];
    played p;
    if (play(&p, "d01-crash-after-answer") &&
        is_killed_at_the_answer(&p, "safe.yaml")) {
        CHECK_INT(read_log(&p, lines, 4), 0);
        check_model_calls(&p, "1");
        check_resumes(&p, "safe.yaml", "done");
        CHECK_INT(read_log(&p, lines, 4), 1);
        check_model_calls(&p, "2");
    }
    folder_remove(&p.folder);
}

// Answer and intent are one commit: nobody can tell any more that it has not started.
static void test_d01__tool_that_may_have_started_is_not_run_unless_safe(void)
{
    char lines[4][64];
    played p;
    if (play(&p, "d01-crash-after-answer") &&
        is_killed_at_the_answer(&p, "unsafe.yaml")) {
        check_resumes(&p, "unsafe.yaml", "done");
        CHECK_INT(read_log(&p, lines, 4), 0);
        check_model_calls(&p, "2");
        CHECK_TEXT(ask(&p, "SELECT result_code FROM messages WHERE role = 'tool'"),
                   "interrupted");
    }
    folder_remove(&p.folder);
}

// --- d02: killed when the tool has done its work, before its result is stored ---

static bool is_killed_at_the_tool(const played *p, const char *team)
{
    char ready[PATH_SIZE];
    program_result ran;
    CHECK_INT(mkfifo(path_in(p, "ready", ready), 0600), 0);
    int fd = open(ready, O_RDWR | O_CLOEXEC); // stays open: who is resumed tells too
    bool is_killed =
        CHECK(fd >= 0) &&
        PROGRAM_RUN(&ran, .directory = p->folder.path,
                    .arguments = (const char *[]){"run", team, "x", "--offline",
                                                  "--store", p->store, NULL},
                    .action = {.when_fd = fd, .signal = SIGKILL});
    if (is_killed) {
        CHECK_INT(ran.signal, SIGKILL);
        program_result_fini(&ran);
    }
    return is_killed;
}

static void test_d02__safe_tool_runs_again_with_the_same_key(void)
{
    char lines[4][64];
    played p;
    if (play(&p, "d02-tool-ran-result-lost") &&
        is_killed_at_the_tool(&p, "safe.yaml")) {
        CHECK_INT(read_log(&p, lines, 4), 1);
        check_resumes(&p, "safe.yaml", "done");
        CHECK_INT(read_log(&p, lines, 4), 2);
        CHECK(strlen(lines[0]) > 10);
        CHECK_TEXT(lines[1], lines[0]);
        check_model_calls(&p, "2");
    }
    folder_remove(&p.folder);
}

static void test_d02__unsafe_tool_runs_once_and_the_model_is_told(void)
{
    char lines[4][64];
    played p;
    if (play(&p, "d02-tool-ran-result-lost") &&
        is_killed_at_the_tool(&p, "unsafe.yaml")) {
        // A record that it started was there before it did.
        CHECK_TEXT(ask(&p, "SELECT status FROM frames WHERE kind = 'tool'"), "running");
        check_resumes(&p, "unsafe.yaml", "done");
        CHECK_INT(read_log(&p, lines, 4), 1);
        check_model_calls(&p, "2");
        CHECK_TEXT(ask(&p, "SELECT result_code FROM messages WHERE role = 'tool'"),
                   "interrupted");
        CHECK_CONTAINS(ask(&p, "SELECT content FROM messages WHERE role = 'tool'"),
                       "may");
    }
    folder_remove(&p.folder);
}

// --- d04: a tool whose child ignores TERM and holds its pipe ---

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Waits until so much time has passed since `from`: the case counts time.
static void wait_until(double until_s)
{
    double left_s = until_s - now_s();
    if (left_s > 0)
        nanosleep(
            &(struct timespec){.tv_sec = (time_t)left_s,
                               .tv_nsec =
                                   (long)((left_s - (double)(time_t)left_s) * 1e9)},
            NULL);
}

// The group that the tool led; none of it may be left a second after its call ended.
static void check_group_is_gone(const played *p)
{
    char path[PATH_SIZE];
    char text[32] = "";
    double until_s = now_s() + 1;
    FILE *file = fopen(path_in(p, "group", path), "r");
    if (!CHECK(file != NULL) || !CHECK(fgets(text, sizeof text, file) != NULL))
        return;
    fclose(file);
    pid_t group = (pid_t)strtol(text, NULL, 10);
    CHECK(group > 1);
    while (kill(-group, 0) == 0 && now_s() < until_s) {
        waitpid(-group, NULL, WNOHANG); // an orphan is this process's child
        wait_until(now_s() + 0.01);
    }
    CHECK(kill(-group, 0) != 0 && errno == ESRCH);
    unlink(path);
}

static cadre_run *start(played *p, const char *input)
{
    cadre_run *run = NULL;
    CHECK_OK(cadre_run_start(p->team, CADRE_RUN(.input = input), &run, &p->err),
             &p->err);
    return run;
}

// Reads events until the tool was called.
static void await_call(cadre_run *run, const char *tool)
{
    const cadre_event *event = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    while (CHECK_OK(cadre_run_next(run, &event, &err), &err))
        if (event->type == CADRE_EVENT_TOOL_CALL &&
            strcmp(event->u.tool_call.name, tool) == 0)
            return;
}

// Runs a tool to its end, or stops the run after `stop_s`; returns how long it took.
static double run_tool(played *p, const char *tool, double stop_s, const char *code)
{
    const cadre_result *result = NULL;
    cadre_run *run = start(p, tool);
    if (run == NULL)
        return -1;
    await_call(run, tool);
    double start_s = now_s();
    if (stop_s > 0) {
        wait_until(start_s + stop_s);
        cadre_run_cancel(run, NULL);
        cadre_status status = cadre_run_wait(run, &result, &p->err);
        CHECK_STATUS(status, CADRE_EABORTED, &p->err);
        cadre_error_clear(&p->err);
    } else if (CHECK_OK(cadre_run_wait(run, &result, &p->err), &p->err)) {
        CHECK_TEXT(result->text, "done");
    }
    double took_s = now_s() - start_s;
    check_group_is_gone(p);
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT ifnull(result_code, '') FROM messages WHERE tool_name = '%s' "
             "ORDER BY rowid DESC LIMIT 1",
             tool);
    CHECK_TEXT(ask(p, sql), code);
    cadre_run_free(run);
    return took_s;
}

static void test_d04__hanging_tool_returns_in_time_and_leaves_nobody(void)
{
    played p;
    const cadre_result *result = NULL;
    CHECK(command_tool_adopt_orphans());
    if (play(&p, "d04-abort-hanging-tool") && CHECK(open_team(&p, "team.yaml"))) {
        cadre_run *other = start(&p, "other");
        CHECK(run_tool(&p, "ends", 0, "ok") < 3.5); // timeout, grace and 0.5 s
        double took_s = run_tool(&p, "waits", 0, "timeout");
        CHECK(took_s > 1.9 && took_s < 3.5);
        took_s = run_tool(&p, "waits", 0.5, "aborted");
        CHECK(took_s > 0.4 && took_s < 2); // grace and 0.5 s
        // The other run has lived on all the time.
        CHECK_OK(cadre_run_wait(other, &result, &p.err), &p.err);
        CHECK_TEXT(result->text, "I live on and on.");
        cadre_run_free(other);
    }
    close_team(&p);
    folder_remove(&p.folder);
}

// --- d05: the disk fills up in the midst of a run ---

enum {
    N_TURNS = 120
};

// A turn calls the tool with half a kilobyte.
static void write_long_script(const played *p)
{
    char path[PATH_SIZE];
    FILE *file = fopen(path_in(p, "script.yaml", path), "w");
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
            CHECK_TEXT(ask(p, sql), "1");
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
    size_t n_lines = read_log(p, lines, sizeof lines / sizeof lines[0]);
    for (size_t i = 0; i < n_lines; i++)
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(lines[i], lines[k]) != 0); // each call has a key of its own
    snprintf(expected, sizeof expected, "%d", N_TURNS);
    CHECK_TEXT(ask(p, "SELECT count(*) FROM messages WHERE role = 'tool'"), expected);
    const char *n_cut =
        ask(p, "SELECT count(*) FROM messages WHERE result_code = 'interrupted'");
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
    if (!play(&p, "d05-disk-full"))
        return;
    write_long_script(&p);
    if (run_on_a_full_disk(&p, ROOM, &ran)) {
        CHECK_INT(ran.exit_status, 5);
        CHECK_CONTAINS(ran.out, "\"class\":\"store\"");
        CHECK_CONTAINS(ran.err, p.store);
        CHECK_TEXT(ask(&p, "PRAGMA integrity_check"), "ok");
        CHECK_TEXT(ask(&p, "SELECT count(*) FROM pragma_foreign_key_check"), "0");
        int n_told = check_acknowledged(&p, ran.out);
        CHECK(n_told > 10 && n_told < N_TURNS);
        program_result_fini(&ran);
        check_resumes(&p, "team.yaml", "done");
        check_effects(&p);
    }
    folder_remove(&p.folder);
}

// --- d15: files that are read-only, damaged, newer, or not all there ---

enum {
    FILE_MAX = 1 << 20
};

static size_t read_bytes(const char *path, char *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t len = file == NULL ? 0 : fread(bytes, 1, FILE_MAX, file);
    if (file != NULL)
        fclose(file);
    return len;
}

static void write_bytes(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "wb");
    if (CHECK(file != NULL)) {
        CHECK_INT(fwrite(bytes, 1, len, file), len);
        CHECK_INT(fclose(file), 0);
    }
}

// Lists the runs of a file; gives what was said of it. It is as it was.
static void check_refused(const char *path, const char *says)
{
    static char before[FILE_MAX];
    static char after[FILE_MAX];
    size_t len = read_bytes(path, before);
    program_result ran;
    if (!PROGRAM_RUN(&ran,
                     .arguments = (const char *[]){"runs", "--store", path, NULL}))
        return;
    CHECK_INT(ran.exit_status, 5);
    CHECK_CONTAINS(ran.err, says);
    CHECK_CONTAINS(ran.err, path);
    CHECK_BYTES(after, read_bytes(path, after), before, len);
    program_result_fini(&ran);
}

// A store with one run that is in its log alone: as a program that writes has it.
typedef struct written {
    char bytes[FILE_MAX], log[FILE_MAX];
    size_t len, log_len;
} written;

static void write_runs(played *p, written *w)
{
    char log[PATH_SIZE];
    const cadre_result *result = NULL;
    for (int i = 0; i < 2 && CHECK(open_team(p, "safe.yaml")); i++) {
        cadre_run *run = start(p, "x");
        CHECK_OK(cadre_run_wait(run, &result, &p->err), &p->err);
        cadre_run_free(run);
        if (i == 1) {
            w->len = read_bytes(p->store, w->bytes);
            w->log_len = read_bytes(path_in(p, "runs.db-wal", log), w->log);
        }
        close_team(p);
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
        char url[PATH_SIZE];
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
    char path[PATH_SIZE];
    char folder[CASE_PATH_BYTES];
    char log[PATH_SIZE + 8];
    played p;
    if (!play(&p, "d01-crash-after-answer"))
        return;
    write_runs(&p, &w);
    check_read_only(&p); // 1
    CHECK_INT(chmod(p.store, 0600), 0);

    case_folder("d15-read-only-and-damaged", folder); // 2
    write_bytes(path_in(&p, "2.db", path), damaged, 0);
    char *text = case_file_read(folder, "not_a_db.db", NULL);
    if (CHECK(text != NULL))
        write_bytes(path, text, strlen(text));
    free(text);
    check_refused(path, "is not a database");

    size_t len = read_bytes(p.store, damaged); // 3
    for (size_t i = 4096; i < 8192 && i < len; i++)
        damaged[i] = (char)(i * 2654435761U >> 13);
    write_bytes(path_in(&p, "3.db", path), damaged, len);
    check_refused(path, "is damaged");

    ask(&p, "PRAGMA user_version = 1002"); // 4
    check_refused(p.store, "newer cadre (schema 1002");
    ask(&p, "PRAGMA user_version = 3");

    write_bytes(path_in(&p, "5.db", path), w.bytes, w.len); // 5: an older state
    check_runs(path, 1);
    snprintf(log, sizeof log, "%s-wal", path);
    write_bytes(path, w.bytes, w.len);
    write_bytes(log, w.log, w.log_len);
    check_runs(path, 2); // with its log nothing is missing

    write_bytes(path_in(&p, "6.db", path), w.bytes, 0); // 6: as a new one
    check_runs(path, 0);
    check_runs(p.store, 2);
    folder_remove(&p.folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_d01__stored_answer_is_used_and_its_tool_runs_once),
    CHECK_TEST(test_d01__tool_that_may_have_started_is_not_run_unless_safe),
    CHECK_TEST(test_d02__safe_tool_runs_again_with_the_same_key),
    CHECK_TEST(test_d02__unsafe_tool_runs_once_and_the_model_is_told),
    CHECK_TEST(test_d04__hanging_tool_returns_in_time_and_leaves_nobody),
    CHECK_TEST(test_d05__full_disk_ends_the_run_and_room_lets_it_go_on),
    CHECK_TEST(test_d15__each_bad_file_is_told_and_left_alone),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/durability", tests);
}
