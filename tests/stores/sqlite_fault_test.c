// A short run on a disk that fails: at each write, flush, cut, open, read and removal
// of its database in turn, once or from then on. What cadre reports is what the file
// says, the file is whole, and on a disk that is well again the run ends with the
// answer of the run that nothing disturbed.
//
// Each life is a process of its own. A test that takes longer than its part of
// CADRE_TEST_SECONDS (40) ends early; the places it had are spread over all.
#include "support/check.h"
#include "support/faulty_disk.h"
#include "support/folder.h"
#include "support/sqlite_file.h"

#include "cadre/cadre.h"

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

// --- The run ---

static const char script_text[] =
    "agents:\n"
    "  first:\n"
    "    - {tool_calls: [{name: look, arguments: {}}, {name: look, arguments: {}}]}\n"
    "    - {handoff: {to: second, message: Go on.}}\n"
    "  second:\n"
    "    - {tool_calls: [{name: look, arguments: {}}]}\n"
    "    - {text: \"All is seen.\"}\n";

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "seen", err);
}

static cadre_team *make_team(cadre_runtime *runtime)
{
    cadre_team *team = cadre_team_new(runtime, "lookers");
    cadre_team_add_llm(team, CADRE_LLM(.name = "first", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "second", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("first", "second")));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    cadre_team_set_root(team, "desk");
    return team;
}

// What all rows say, but for ids and times.
static const char rows_sql[] =
    "SELECT group_concat(line, char(10)) FROM ("
    "SELECT depth || ' ' || key || ' ' || kind || ' ' || name || ' ' || status || ' ' "
    "||"
    " iif(kind = 'model', '', ifnull(output, '')) || ifnull(error, '') AS line"
    " FROM frames UNION ALL "
    "SELECT position || ' ' || role || ' ' || agent || ' ' || tool_name || ' ' ||"
    " content FROM messages ORDER BY line)";

// --- A life ---

typedef struct life_plan {
    const char *store, *script;
    disk_plan disk;
    rlim_t max_file; // 0: no limit
    bool is_nobody;  // without the rights of root
    char trace[64];  // goes on with this run; "": a new one
} life_plan;

typedef struct life_report {
    cadre_status opened, started, waited; // what was not reached: CADRE_DONE
    char trace[64];
    char text[64];
    char error[512];
    int n_calls, n_failed;
} life_report;

static void live(const life_plan *plan, cadre_runtime *runtime, life_report *report,
                 cadre_error *err)
{
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_team *team = make_team(runtime);
    report->started =
        plan->trace[0] != '\0'
            ? cadre_run_resume(team, plan->trace, NULL, &run, err)
            : cadre_run_start(team, CADRE_RUN(.input = "Look."), &run, err);
    if (report->started == CADRE_OK) {
        snprintf(report->trace, sizeof report->trace, "%s", cadre_run_trace_id(run));
        report->waited = cadre_run_wait(run, &result, err);
        snprintf(report->text, sizeof report->text, "%s", result->text);
        cadre_run_free(run);
    }
    cadre_team_free(team);
}

static bool give_up_rights(void)
{
    return geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0);
}

static void live_in_child(const life_plan *plan, int fd)
{
    char url[FOLDER_PATH_SIZE + 8];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    life_report report = {CADRE_DONE, CADRE_DONE, CADRE_DONE, .trace = ""};
    alarm(20); // a life that hangs fails its test
    signal(SIGXFSZ, SIG_IGN);
    if (plan->max_file > 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){plan->max_file, plan->max_file});
    if (plan->is_nobody && !give_up_rights())
        _exit(1);
    snprintf(url, sizeof url, "sqlite:%s", plan->store);
    faulty_disk_plan(&plan->disk);
    report.opened = cadre_runtime_open(
        CADRE_RUNTIME(.store = url, .script = plan->script), &runtime, &err);
    if (report.opened == CADRE_OK)
        live(plan, runtime, &report, &err);
    cadre_runtime_close(runtime);
    report.n_calls = faulty_disk_count();
    report.n_failed = faulty_disk_failed();
    snprintf(report.error, sizeof report.error, "%s", err.text);
    bool is_told = write(fd, &report, sizeof report) == sizeof report;
    // No _exit, so that a leak is found. NOLINTNEXTLINE(concurrency-mt-unsafe)
    exit(is_told ? 0 : 1);
}

// False: it did not end by itself.
static bool run_life(const life_plan *plan, life_report *report)
{
    int ends[2];
    int status = -1;
    if (!CHECK(pipe(ends) == 0))
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        live_in_child(plan, ends[1]);
    }
    close(ends[1]);
    bool is_told = read(ends[0], report, sizeof *report) == sizeof *report;
    close(ends[0]);
    CHECK_INT(waitpid(child, &status, 0), child);
    return CHECK_INT(status, 0) && CHECK(is_told);
}

// --- What the file says ---

#define ROWS_SIZE 4096

static void check_whole(const char *path)
{
    char said[ROWS_SIZE];
    if (access(path, F_OK) != 0)
        return;
    sqlite_file_ask(path, "PRAGMA integrity_check", said, sizeof said);
    CHECK_TEXT(said, "ok");
    sqlite_file_ask(path, "SELECT count(*) FROM pragma_foreign_key_check", said,
                    sizeof said);
    CHECK_TEXT(said, "0");
}

// --- A lab: one file, one script, what the undisturbed run leaves ---

typedef struct lab {
    test_folder folder;
    char script[FOLDER_PATH_SIZE], store[FOLDER_PATH_SIZE];
    char expected[ROWS_SIZE];
} lab;

static void forget_store(const lab *it)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char path[FOLDER_PATH_SIZE + 16];
        snprintf(path, sizeof path, "%s%s", it->store, ends[i]);
        unlink(path);
    }
}

static life_plan plan_of(const lab *it)
{
    return (life_plan){.store = it->store, .script = it->script};
}

static bool lab_make(lab *it)
{
    life_report report = {.trace = ""};
    if (!CHECK(folder_make(&it->folder)) ||
        !folder_write(&it->folder, "script.yaml", script_text, it->script))
        return false;
    snprintf(it->store, sizeof it->store, "%s/runs.db", it->folder.path);
    life_plan plan = plan_of(it);
    if (!run_life(&plan, &report))
        return false;
    CHECK_INT(report.waited, CADRE_OK);
    CHECK_TEXT(report.text, "All is seen.");
    sqlite_file_ask(it->store, rows_sql, it->expected, ROWS_SIZE);
    return CHECK_CONTAINS(it->expected, " second completed All is seen.\n");
}

// After a life that something disturbed: what it told is true, and another one, which
// nothing disturbs, gets to the end.
static void check_goes_on(const lab *it, const life_report *before)
{
    char rows[ROWS_SIZE] = "";
    life_report after = {.trace = ""};
    life_plan plan = plan_of(it);
    check_whole(it->store);
    if (before->waited == CADRE_OK) {
        sqlite_file_ask(it->store, rows_sql, rows, ROWS_SIZE);
        CHECK_TEXT(rows, it->expected);
        CHECK_TEXT(before->text, "All is seen.");
        return;
    }
    memcpy(plan.trace, before->trace, sizeof plan.trace);
    if (!run_life(&plan, &after))
        return;
    if (plan.trace[0] != '\0' && after.started == CADRE_ENOTFOUND) {
        plan.trace[0] = '\0'; // its first commit failed
        if (!run_life(&plan, &after))
            return;
    }
    // It had ended, and only to say so had failed: else it ends now.
    if (after.started != CADRE_EINVAL && !CHECK_INT(after.waited, CADRE_OK))
        fprintf(stderr, "first: %s\nthen: %s\n", before->error, after.error);
    sqlite_file_ask(it->store, rows_sql, rows, ROWS_SIZE);
    CHECK_TEXT(rows, it->expected);
    check_whole(it->store);
}

// Whoever failed said so, as an error of the store that names the file.
static void check_told(const lab *it, const life_report *report)
{
    cadre_status last = report->opened;
    if (last == CADRE_OK)
        last = report->started;
    if (last == CADRE_OK)
        last = report->waited;
    if (last == CADRE_OK)
        return;
    CHECK_INT(last, CADRE_ESTORE);
    CHECK(report->n_failed > 0);
    CHECK_CONTAINS(report->error, "store 'sqlite': ");
    CHECK_CONTAINS(report->error, it->store);
}

// --- At each place ---

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// What a test may take: eight of them share the time.
static double share_s(void)
{
    const char *given = getenv("CADRE_TEST_SECONDS"); // NOLINT(concurrency-mt-unsafe)
    return (given != NULL ? strtod(given, NULL) : 40) / 8;
}

static void check_fault(const lab *it, const disk_plan *disk)
{
    life_report report = {.trace = ""};
    life_plan plan = plan_of(it);
    forget_store(it);
    plan.disk = *disk;
    if (!run_life(&plan, &report))
        return;
    check_told(it, &report);
    check_goes_on(it, &report);
}

static int count_calls(const lab *it, unsigned calls)
{
    life_report report = {.n_calls = 0};
    life_plan plan = plan_of(it);
    forget_store(it);
    plan.disk = (disk_plan){.calls = calls};
    run_life(&plan, &report);
    return report.n_calls;
}

// Every place, in an order that is spread over all of them at each of its points.
static void check_each(unsigned calls, disk_fault fault, bool is_lasting)
{
    enum {
        STRIDE = 97
    };
    lab it = {.expected = ""};
    double until = now_s() + share_s();
    int n_done = 0;
    if (!lab_make(&it))
        return;
    int n = count_calls(&it, calls);
    int step = n % STRIDE == 0 ? 1 : STRIDE; // a prime: all places are met
    unsigned before = CU_get_number_of_failures();
    CHECK(n > 0);
    for (int place = 0; n_done < n && now_s() < until; n_done++) {
        const disk_plan disk = {calls, place + 1, is_lasting, fault};
        check_fault(&it, &disk);
        if (CU_get_number_of_failures() > before) {
            fprintf(stderr, "at place %d of %d\n", place + 1, n);
            break;
        }
        place = (place + step) % n;
    }
    CHECK(n_done > 0);
    printf("%d of %d places ", n_done, n);
    folder_remove(&it.folder);
}

static void test_sqlite_fault__write_fails_once(void)
{
    check_each(DISK_WRITE, DISK_FAULT_IO, false);
}

static void test_sqlite_fault__disk_is_full_for_once(void)
{
    check_each(DISK_WRITE, DISK_FAULT_SHORT, false);
}

static void test_sqlite_fault__disk_stays_full(void)
{
    check_each(DISK_WRITE | DISK_TRUNCATE, DISK_FAULT_FULL, true);
}

static void test_sqlite_fault__flush_and_cut_fail_once(void)
{
    check_each(DISK_SYNC | DISK_TRUNCATE, DISK_FAULT_IO, false);
}

static void test_sqlite_fault__open_and_removal_fail_once(void)
{
    check_each(DISK_OPEN | DISK_DELETE, DISK_FAULT_IO, false);
}

static void test_sqlite_fault__read_fails_once(void)
{
    check_each(DISK_READ, DISK_FAULT_IO, false);
}

static void test_sqlite_fault__disk_is_gone_from_then_on(void)
{
    check_each(DISK_OPEN | DISK_READ | DISK_WRITE | DISK_SYNC | DISK_TRUNCATE |
                   DISK_DELETE,
               DISK_FAULT_IO, true);
}

// --- Limits of the system ---

// A limit on the size of files is a full disk that SQLite sees by itself.
static void test_sqlite_fault__no_file_may_grow_further(void)
{
    enum {
        PAGE = 4096
    };
    lab it = {.expected = ""};
    life_report report = {.trace = ""};
    int n_failed = 0;
    if (!lab_make(&it))
        return;
    for (rlim_t size = 100;; size += PAGE) {
        life_plan plan = plan_of(&it);
        forget_store(&it);
        plan.max_file = size;
        if (!CHECK(size < (rlim_t)2000 * PAGE) || !run_life(&plan, &report))
            break;
        if (report.waited == CADRE_OK)
            break;
        n_failed++;
        CHECK_INT(report.opened == CADRE_OK ? report.waited : report.opened,
                  CADRE_ESTORE);
        CHECK_CONTAINS(report.error, "store 'sqlite': ");
        CHECK_CONTAINS(report.error, it.store);
        check_goes_on(&it, &report);
    }
    CHECK(n_failed > 10);
    printf("%d sizes ", n_failed);
    check_goes_on(&it, &report);
    folder_remove(&it.folder);
}

// Its folder may be read only: neither a new file nor what stands beside one that is
// there can be made. As nobody, to whom the folder of the test is read-only.
static void check_read_only_folder(const lab *it)
{
    life_report report = {.trace = ""};
    life_plan plan = plan_of(it);
    plan.is_nobody = true;
    CHECK_INT(chmod(it->folder.path, 0555), 0);
    if (run_life(&plan, &report)) {
        CHECK_INT(report.opened, CADRE_ESTORE);
        CHECK_CONTAINS(report.error, it->store);
        CHECK_CONTAINS(report.error, "ermission denied");
    }
    CHECK_INT(chmod(it->folder.path, 0755), 0);
    check_goes_on(it, &report);
}

static void test_sqlite_fault__its_folder_is_read_only(void)
{
    lab it = {.expected = ""};
    if (!lab_make(&it))
        return;
    forget_store(&it);
    check_read_only_folder(&it);
    forget_store(&it);
    CHECK(folder_write(&it.folder, "runs.db", "", it.store));
    CHECK_INT(chmod(it.store, 0666), 0);
    check_read_only_folder(&it);
    folder_remove(&it.folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_sqlite_fault__write_fails_once),
    CHECK_TEST(test_sqlite_fault__disk_is_full_for_once),
    CHECK_TEST(test_sqlite_fault__disk_stays_full),
    CHECK_TEST(test_sqlite_fault__flush_and_cut_fail_once),
    CHECK_TEST(test_sqlite_fault__open_and_removal_fail_once),
    CHECK_TEST(test_sqlite_fault__read_fails_once),
    CHECK_TEST(test_sqlite_fault__disk_is_gone_from_then_on),
    CHECK_TEST(test_sqlite_fault__no_file_may_grow_further),
    CHECK_TEST(test_sqlite_fault__its_folder_is_read_only),
    CU_TEST_INFO_NULL,
};

// The log is put into the file in the midst of the run too, not only at its end. Set at
// each commit, since opening sets another number last.
static int checkpoint_often(void *db)
{
    sqlite3_wal_autocheckpoint(db, 24);
    return 0;
}

static int watch(sqlite3 *db, char **message, const struct sqlite3_api_routines *api)
{
    (void)message;
    (void)api;
    sqlite3_commit_hook(db, checkpoint_often, db);
    return SQLITE_OK;
}

int main(void)
{
    if (!faulty_disk_start() ||
        sqlite3_auto_extension((void (*)(void))watch) != SQLITE_OK)
        return EXIT_FAILURE;
    return check_main("stores/sqlite_fault", tests);
}
