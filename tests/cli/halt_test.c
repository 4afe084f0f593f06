// A program that is halted (SIGSTOP) while it holds a run: once its lease is up another
// one takes the run over and ends it. The first, when it wakes, writes nothing more and
// says so.
#include "support/folder.h"
#include "support/program.h"

#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char team[] =
    "version: 1\n"
    "name: halted\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {model: openai/test, description: Notes, tools: [note]}\n"
    "tools:\n"
    "  note: {type: command, description: Notes, argv: [/bin/sh, ./note.sh]}\n";

static const char script[] = "agents:\n"
                             "  desk:\n"
                             "    - {tool_calls: [{name: note}]}\n"
                             "    - {text: All is noted.}\n";

// Tells that it has started, then waits to be let go on.
static const char tool[] = "echo started > ./started\n"
                           "read -r line < ./go\n"
                           "echo noted\n";

typedef struct lab {
    test_folder folder;
    char team[FOLDER_PATH_SIZE], store[FOLDER_PATH_SIZE], out[FOLDER_PATH_SIZE],
        err[FOLDER_PATH_SIZE], started[FOLDER_PATH_SIZE], go[FOLDER_PATH_SIZE];
    char trace[64];
    pid_t holder;
} lab;

static void name_file(const lab *it, const char *name, char path[FOLDER_PATH_SIZE])
{
    snprintf(path, FOLDER_PATH_SIZE, "%s/%s", it->folder.path, name);
}

static bool lab_make(lab *it)
{
    char path[FOLDER_PATH_SIZE];
    memset(it, 0, sizeof(*it));
    if (!CHECK(folder_make(&it->folder)))
        return false;
    name_file(it, "runs.db", it->store);
    name_file(it, "out", it->out);
    name_file(it, "err", it->err);
    name_file(it, "started", it->started);
    name_file(it, "go", it->go);
    return CHECK_INT(mkfifo(it->started, 0600), 0) &&
           CHECK_INT(mkfifo(it->go, 0600), 0) &&
           folder_write(&it->folder, "team.yaml", team, it->team) &&
           folder_write(&it->folder, "script.yaml", script, path) &&
           folder_write(&it->folder, "note.sh", tool, path);
}

static void become_holder(const lab *it)
{
    const char *program = getenv("CADRE_BIN"); // NOLINT(concurrency-mt-unsafe)
    int out = open(it->out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    int err = open(it->err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (program == NULL || out < 0 || err < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
        _exit(99);
    execl(program, program, "run", it->team, "Note it.", "--store", it->store,
          "--offline", "--json", (char *)NULL);
    _exit(99);
}

// Starts the holder and halts it while its tool runs.
static bool halt_holder(lab *it)
{
    char text[16];
    int status = 0;
    it->holder = fork();
    if (it->holder == 0)
        become_holder(it);
    if (!CHECK(it->holder > 0))
        return false;
    int fd = open(it->started, O_RDONLY | O_CLOEXEC); // waits for the tool
    bool has_started = CHECK(fd >= 0 && read(fd, text, sizeof(text)) > 0);
    close(fd);
    CHECK_INT(kill(it->holder, SIGSTOP), 0);
    CHECK_INT(waitpid(it->holder, &status, WUNTRACED), it->holder);
    return CHECK(WIFSTOPPED(status)) && has_started;
}

// --- The file ---

// All rows of all tables, or one value, as text. free() it.
static char *query(const lab *it, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *stmt = NULL;
    size_t size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    CHECK_INT(sqlite3_open(it->store, &db), SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    if (!CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK))
        printf("%s\n", sqlite3_errmsg(db));
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const unsigned char *value = sqlite3_column_text(stmt, i);
            fprintf(out, "%s|", value ? (const char *)value : "NULL");
        }
        fprintf(out, "\n");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    fclose(out);
    return text;
}

static char *all_rows(const lab *it)
{
    static const char *const queries[] = {
        "SELECT * FROM traces ORDER BY id", "SELECT * FROM conversations ORDER BY id",
        "SELECT * FROM frames ORDER BY id", "SELECT * FROM messages ORDER BY id"};
    size_t size = 0;
    char *text = NULL;
    FILE *out = open_memstream(&text, &size);
    for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
        char *rows = query(it, queries[i]);
        fputs(rows, out);
        free(rows);
    }
    fclose(out);
    return text;
}

static void take_trace(lab *it)
{
    char *id = query(it, "SELECT id FROM traces");
    snprintf(it->trace, sizeof(it->trace), "%.*s", (int)strcspn(id, "|"), id);
    free(id);
}

static void check_value(const lab *it, const char *sql, const char *expected)
{
    char *value = query(it, sql);
    CHECK_TEXT(value, expected);
    free(value);
}

// --- The others ---

static bool resume(const lab *it, program_result *ran)
{
    const char *arguments[] = {"resume",  it->trace, it->team,    "--store",
                               it->store, "--quiet", "--offline", NULL};
    return PROGRAM_RUN(ran, .arguments = arguments);
}

static void check_refused(const lab *it)
{
    program_result ran;
    if (!resume(it, &ran))
        return;
    CHECK_INT(ran.exit_status, 5);
    CHECK_CONTAINS(ran.err, "which a signal has halted");
    program_result_fini(&ran);
}

static void check_taken_over(const lab *it)
{
    program_result ran;
    if (!resume(it, &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "All is noted.\n");
    program_result_fini(&ran);
}

static void check_woken(const lab *it, int status)
{
    json_t *told = json_load_file(it->out, 0, NULL);
    const json_t *error = json_object_get(told, "error");
    const char *class = json_string_value(json_object_get(error, "class"));
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 5);
    if (CHECK(class != NULL))
        CHECK(strcmp(class, "store") == 0 || strcmp(class, "lease") == 0);
    json_decref(told);
}

static void let_tool_go(const lab *it)
{
    int fd = open(it->go, O_WRONLY | O_CLOEXEC); // waits for the tool
    CHECK(fd >= 0 && write(fd, "go\n", 3) == 3);
    close(fd);
}

// A tool that is still at work is stopped: nobody tells it to go on.
static void wake_holder(lab *it, bool is_tool_done)
{
    int status = 0;
    if (is_tool_done)
        let_tool_go(it);
    CHECK_INT(kill(it->holder, SIGCONT), 0);
    CHECK_INT(waitpid(it->holder, &status, 0), it->holder);
    it->holder = 0;
    check_woken(it, status);
}

static void lab_end(lab *it)
{
    if (it->holder > 0) {
        kill(it->holder, SIGKILL);
        waitpid(it->holder, NULL, 0);
    }
    folder_remove(&it->folder);
}

static bool has_passed(const struct timespec *since, long ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - since->tv_sec) * 1000 +
               (now.tv_nsec - since->tv_nsec) / 1000000 >=
           ms;
}

// When it wakes its tool is done and has a result to write, or is still at work.
static void check_halted(bool is_tool_done)
{
    lab it;
    struct timespec halted;
    if (lab_make(&it) && halt_holder(&it)) {
        clock_gettime(CLOCK_MONOTONIC, &halted);
        take_trace(&it);
        do
            check_refused(&it); // its lease is good
        while (!has_passed(&halted, 1000));
        check_value(&it, "UPDATE traces SET lease_expires_at = 0 RETURNING lease_epoch",
                    "1|\n");
        check_taken_over(&it);
        check_value(&it,
                    "SELECT count(*) FROM frames WHERE status IN ('pending', "
                    "'running', 'waiting')",
                    "0|\n");
        check_value(&it,
                    "SELECT count(*) FROM messages WHERE content LIKE '%nterrupted%'",
                    "1|\n");
        char *before = all_rows(&it);
        wake_holder(&it, is_tool_done);
        char *after = all_rows(&it);
        CHECK_TEXT(after, before);
        check_value(&it, "PRAGMA integrity_check", "ok|\n");
        free(before);
        free(after);
    }
    lab_end(&it);
}

static void test_halt__wakes_with_a_result_and_writes_nothing(void)
{
    check_halted(true);
}

static void test_halt__wakes_and_stops_its_tool_and_writes_nothing(void)
{
    check_halted(false);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_halt__wakes_with_a_result_and_writes_nothing),
    CHECK_TEST(test_halt__wakes_and_stops_its_tool_and_writes_nothing),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/halt", tests);
}
