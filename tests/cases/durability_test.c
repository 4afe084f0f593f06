// The case files of durability that end a program or hang: runs that are killed, tools
// that do not return. Each is played in a folder of its own.
#include "support/command_tool.h"
#include "support/played.h"
#include "support/program.h"

#include "cadre/ext/store.h"
#include "team/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void check_model_calls(const played *p, const char *n)
{
    CHECK_TEXT(played_ask(p, "SELECT sum(attempts) FROM frames WHERE kind = 'model'"),
               n);
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
    if (!played_open(p, team))
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
    if (played_begin(&p, "d01-crash-after-answer") &&
        is_killed_at_the_answer(&p, "safe.yaml")) {
        CHECK_INT(played_log(&p, lines, 4), 0);
        check_model_calls(&p, "1");
        played_check_resumes(&p, "safe.yaml", "done");
        CHECK_INT(played_log(&p, lines, 4), 1);
        check_model_calls(&p, "2");
    }
    played_end(&p);
}

// Answer and intent are one commit: nobody can tell any more that it has not started.
static void test_d01__tool_that_may_have_started_is_not_run_unless_safe(void)
{
    char lines[4][64];
    played p;
    if (played_begin(&p, "d01-crash-after-answer") &&
        is_killed_at_the_answer(&p, "unsafe.yaml")) {
        played_check_resumes(&p, "unsafe.yaml", "done");
        CHECK_INT(played_log(&p, lines, 4), 0);
        check_model_calls(&p, "2");
        CHECK_TEXT(
            played_ask(&p, "SELECT result_code FROM messages WHERE role = 'tool'"),
            "interrupted");
    }
    played_end(&p);
}

// --- d02: killed when the tool has done its work, before its result is stored ---

static bool is_killed_at_the_tool(const played *p, const char *team)
{
    char ready[PLAYED_PATH_SIZE];
    program_result ran;
    CHECK_INT(mkfifo(played_path(p, "ready", ready), 0600), 0);
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
    if (played_begin(&p, "d02-tool-ran-result-lost") &&
        is_killed_at_the_tool(&p, "safe.yaml")) {
        CHECK_INT(played_log(&p, lines, 4), 1);
        played_check_resumes(&p, "safe.yaml", "done");
        CHECK_INT(played_log(&p, lines, 4), 2);
        CHECK(strlen(lines[0]) > 10);
        CHECK_TEXT(lines[1], lines[0]);
        check_model_calls(&p, "2");
    }
    played_end(&p);
}

static void test_d02__unsafe_tool_runs_once_and_the_model_is_told(void)
{
    char lines[4][64];
    played p;
    if (played_begin(&p, "d02-tool-ran-result-lost") &&
        is_killed_at_the_tool(&p, "unsafe.yaml")) {
        // A record that it started was there before it did.
        CHECK_TEXT(played_ask(&p, "SELECT status FROM frames WHERE kind = 'tool'"),
                   "running");
        played_check_resumes(&p, "unsafe.yaml", "done");
        CHECK_INT(played_log(&p, lines, 4), 1);
        check_model_calls(&p, "2");
        CHECK_TEXT(
            played_ask(&p, "SELECT result_code FROM messages WHERE role = 'tool'"),
            "interrupted");
        CHECK_CONTAINS(
            played_ask(&p, "SELECT content FROM messages WHERE role = 'tool'"), "may");
    }
    played_end(&p);
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
    char path[PLAYED_PATH_SIZE];
    char text[32] = "";
    double until_s = now_s() + 1;
    FILE *file = fopen(played_path(p, "group", path), "r");
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
    cadre_run *run = played_start(p, tool);
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
    CHECK_TEXT(played_ask(p, sql), code);
    cadre_run_free(run);
    return took_s;
}

static void test_d04__hanging_tool_returns_in_time_and_leaves_nobody(void)
{
    played p;
    const cadre_result *result = NULL;
    CHECK(command_tool_adopt_orphans());
    if (played_begin(&p, "d04-abort-hanging-tool") &&
        CHECK(played_open(&p, "team.yaml"))) {
        cadre_run *other = played_start(&p, "other");
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
    played_close(&p);
    played_end(&p);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_d01__stored_answer_is_used_and_its_tool_runs_once),
    CHECK_TEST(test_d01__tool_that_may_have_started_is_not_run_unless_safe),
    CHECK_TEST(test_d02__safe_tool_runs_again_with_the_same_key),
    CHECK_TEST(test_d02__unsafe_tool_runs_once_and_the_model_is_told),
    CHECK_TEST(test_d04__hanging_tool_returns_in_time_and_leaves_nobody),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/durability", tests);
}
