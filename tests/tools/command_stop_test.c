// Tools of type command that are stopped, leave processes behind, or are many.
#include "support/command_tool.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    // Beyond its grace, from the abort to the end of the run.
    MAX_STOP_MS = 200,
    // For what must not wait for a process that sleeps for a minute.
    SOON_MS = 20 * 1000
};

// --- Stopping ---

// A process that the tool left: it is this one's child now, since this one is the
// reaper of orphans. Waits for its end.
static void check_killed(const char *pid_text, int signal)
{
    int wait_status = 0;
    pid_t pid = (pid_t)strtol(pid_text, NULL, 10);
    if (!CHECK(pid > 0))
        return;
    CHECK_INT(waitpid(pid, &wait_status, 0), pid);
    CHECK(WIFSIGNALED(wait_status));
    CHECK_INT(WTERMSIG(wait_status), signal);
}

static void test_command__kills_what_it_left_in_the_background(void)
{
    command_tool_ran ran;
    if (!command_tool_run(&(command_tool_setup){.program = "#!/bin/sh\n"
                                                           "sleep 60 &\n"
                                                           "echo $!\n"},
                          &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK(ran.duration_ms < SOON_MS);
    check_killed(ran.results[0], SIGKILL);
    command_tool_await_orphans();
    command_tool_fini(&ran);
}

static void test_command__does_not_wait_for_a_pipe_held_outside_its_group(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "mkfifo left\n"
                                             "setsid sh -c 'echo >left; exec yes' &\n"
                                             "read line <left\n"
                                             "echo $! >&2\n",
                                  .options =
                                      "    argv: [./tool]\n    max_output: 1KiB"},
            &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_OK);
    CHECK(ran.duration_ms < SOON_MS);
    // Nobody reads what it writes any more.
    check_killed(ran.progress, SIGPIPE);
    command_tool_await_orphans();
    command_tool_fini(&ran);
}

static void test_command__abort_kills_a_group_that_ignores_term(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "trap '' TERM\n"
                                             "sleep 60 &\n"
                                             "echo \"ready $!\" >&2\n"
                                             "wait\n",
                                  .options = "    argv: [./tool]\n    grace: 100ms",
                                  .cancel_on = "ready "},
            &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
    CHECK(ran.stop_ms >= 100);
    CHECK(ran.stop_ms < 100 + MAX_STOP_MS);
    check_killed(ran.progress + strlen("ready "), SIGKILL);
    command_tool_await_orphans();
    command_tool_fini(&ran);
}

static void test_command__abort_does_not_wait_for_a_pipe_held_outside(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program =
                                      "#!/bin/sh\n"
                                      "mkfifo left\n"
                                      "setsid sh -c 'echo >left; exec sleep 60' &\n"
                                      "read line <left\n"
                                      "echo \"ready $!\" >&2\n"
                                      "sleep 60\n",
                                  .options = "    argv: [./tool]\n    grace: 100ms",
                                  .cancel_on = "ready "},
            &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
    CHECK(ran.stop_ms < 100 + MAX_STOP_MS);
    pid_t outside = (pid_t)strtol(ran.progress + strlen("ready "), NULL, 10);
    CHECK(outside > 0 && kill(outside, SIGUSR1) == 0); // it was left alone
    check_killed(ran.progress + strlen("ready "), SIGUSR1);
    command_tool_await_orphans();
    command_tool_fini(&ran);
}

// The shell ends at TERM at once, its child cleans up: that has the grace, no more.
static void test_command__abort_lets_the_group_clean_up(void)
{
    command_tool_ran ran;
    int ends[2];
    if (!CHECK(pipe2(ends, O_CLOEXEC) == 0))
        return;
    char program[512];
    (void)snprintf(program, sizeof(program),
                   "#!/bin/sh\n"
                   "sh -c 'trap \"echo cleaned >/proc/%d/fd/%d; exit 7\" TERM\n"
                   "    echo \"ready $$\" >&2\n"
                   "    while :; do sleep 0.01; done' &\n"
                   "wait\n",
                   getpid(), ends[1]);
    if (command_tool_run(
            &(command_tool_setup){.program = program,
                                  .options = "    argv: [./tool]\n    grace: 10m",
                                  .cancel_on = "ready "},
            &ran)) {
        char read_back[16] = {0};
        CHECK_INT(ran.codes[0], CADRE_RESULT_ABORTED);
        CHECK(ran.stop_ms < SOON_MS);
        CHECK_INT(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
        CHECK_INT(read(ends[0], read_back, sizeof(read_back) - 1), 8);
        CHECK_TEXT(read_back, "cleaned\n");
        command_tool_await_orphans();
        command_tool_fini(&ran);
    }
    close(ends[0]);
    close(ends[1]);
}

static void test_command__time_up_is_a_timeout_with_its_last_words(void)
{
    command_tool_ran ran;
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "trap '' TERM\n"
                                             "echo waiting for the till >&2\n"
                                             "sleep 60 &\n"
                                             "echo $! >&2\n"
                                             "wait\n",
                                  .options = "    argv: [./tool]\n"
                                             "    timeout: 300ms\n    grace: 50ms"},
            &ran))
        return;
    CHECK_INT(ran.codes[0], CADRE_RESULT_TIMEOUT);
    CHECK_CONTAINS(ran.results[0],
                   "tool was stopped: its time is up: waiting for the till\\n");
    CHECK(ran.duration_ms >= 350);
    CHECK(ran.duration_ms < SOON_MS);
    check_killed(strchr(ran.progress, '|') + 1, SIGKILL);
    command_tool_await_orphans();
    command_tool_fini(&ran);
}

// --- Many ---

static void test_command__runs_fifty_at_once(void)
{
    command_tool_ran ran;
    // Each waits until all are there, so that they do run at once.
    if (!command_tool_run(
            &(command_tool_setup){.program = "#!/bin/sh\n"
                                             "echo here >>counted\n"
                                             "while [ $(wc -l <counted) -lt 50 ]; do\n"
                                             "    sleep 0.05\n"
                                             "done\n"
                                             "cat\n",
                                  .arguments = "{a: 1}",
                                  .n_calls = COMMAND_TOOL_MAX_CALLS},
            &ran))
        return;
    for (int i = 0; i < COMMAND_TOOL_MAX_CALLS; i++) {
        CHECK_INT(ran.codes[i], CADRE_RESULT_OK);
        CHECK_TEXT(ran.results[i], "{\"a\":1}");
    }
    command_tool_check_no_child();
    command_tool_fini(&ran);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_command__kills_what_it_left_in_the_background),
    CHECK_TEST(test_command__does_not_wait_for_a_pipe_held_outside_its_group),
    CHECK_TEST(test_command__abort_kills_a_group_that_ignores_term),
    CHECK_TEST(test_command__abort_does_not_wait_for_a_pipe_held_outside),
    CHECK_TEST(test_command__abort_lets_the_group_clean_up),
    CHECK_TEST(test_command__time_up_is_a_timeout_with_its_last_words),
    CHECK_TEST(test_command__runs_fifty_at_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return command_tool_adopt_orphans() ? check_main("tools/command_stop", tests) : 1;
}
