// What stops a run from outside: signals, a reader that goes away, a full disk.
#include "support/folder.h"
#include "support/program.h"

#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEAMS program_source_path("tests/cli/teams", (char[4096]){""}, 4096)
#define SLOW "run", "solo.yaml", "hello", "--script=slow_script.yaml"
#define FAST "run", "desk.yaml", "hello", "--offline"
#define WORDS(...)                                                                     \
    .arguments = (const char *const[])                                                 \
    {                                                                                  \
        __VA_ARGS__, NULL                                                              \
    }

static void check_signal(int signal, const char *reason)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS(SLOW, "--json"), .directory = TEAMS,
                     .action = {.when = "trace ", .signal = signal}))
        return;
    CHECK_INT(ran.exit_status, 4);
    json_t *object = json_loads(ran.out, 0, NULL);
    CHECK_TEXT(json_string_value(json_object_get(object, "status")), "aborted");
    CHECK_TEXT(json_string_value(json_object_get(object, "stop_reason")), "aborted");
    CHECK(json_is_integer(json_object_get(object, "stop_ms")));
    CHECK_CONTAINS(ran.err, "\nsolo ");
    CHECK_CONTAINS(ran.err, " aborted ");
    CHECK_CONTAINS(ran.err, reason);
    json_decref(object);
    program_result_fini(&ran);
}

static void test_stop__signals_abort_the_run_in_order(void)
{
    check_signal(SIGINT, "interrupted by SIGINT");
    check_signal(SIGTERM, "interrupted by SIGTERM");
    check_signal(SIGHUP, "interrupted by SIGHUP");
}

// Waits for the end of a process, which must come soon; then it is ended.
static void check_gone(pid_t pid)
{
    int fd = pid > 1 ? pidfd_open(pid, 0) : -1;
    struct pollfd slot = {.fd = fd, .events = POLLIN};

    if (!CHECK(pid > 1) || fd < 0)
        return; // nobody has that number any more
    if (!CHECK_INT(poll(&slot, 1, 5000), 1))
        kill(pid, SIGKILL);
    close(fd);
}

// A tool that does not end when it is told to, and neither does what it started. It
// says in a FIFO beside its team that it was told.
static const char stubborn[] = "script: ./script.yaml\n"
                               "agents:\n"
                               "  solo: {model: openai/test, tools: [wait]}\n"
                               "tools:\n"
                               "  wait:\n"
                               "    type: command\n"
                               "    description: Waits\n"
                               "    grace: 10m\n"
                               "    argv:\n"
                               "      - /bin/sh\n"
                               "      - -c\n"
                               "      - |\n"
                               "        trap 'echo >told' TERM\n"
                               "        (trap '' TERM; exec sleep 3600) &\n"
                               "        echo \"started $$ $!\" >&2\n"
                               "        while :; do wait; done\n";

static int open_fifo(const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE + 8];

    snprintf(path, sizeof(path), "%s/told", folder->path);
    return mkfifo(path, 0600) == 0 ? open(path, O_RDWR | O_CLOEXEC) : -1;
}

static void check_tools_end(const test_folder *folder, int told)
{
    const program_action again = {.when_fd = told, .signal = SIGINT};
    program_result ran;
    int tool = 0, below = 0;

    if (!PROGRAM_RUN(&ran, WORDS("run", "team.yaml", "hello", "--offline", "--events"),
                     .directory = folder->path,
                     .action = {.when = "\"text\":\"started ",
                                .is_on_stdout = true,
                                .signal = SIGINT,
                                .then = &again}))
        return;
    CHECK_INT(ran.exit_status, 4);
    const char *line = strstr(ran.out, "\"text\":\"started ");
    if (CHECK(line != NULL)) {
        char *end = NULL;
        tool = (int)strtol(line + strlen("\"text\":\"started "), &end, 10);
        below = (int)strtol(end, NULL, 10);
    }
    CHECK(tool > 0 && below > 0);
    check_gone(tool);
    check_gone(below);
    program_result_fini(&ran);
}

static void test_stop__a_second_signal_takes_the_tools_along(void)
{
    char path[FOLDER_PATH_SIZE];
    test_folder folder;

    if (!CHECK(folder_make(&folder)))
        return;
    int told = open_fifo(&folder);
    if (CHECK(told > 0) && folder_write(&folder, "team.yaml", stubborn, path) &&
        folder_write(&folder, "script.yaml",
                     "agents: {solo: [{tool_calls: [{name: wait}]}]}\n", path))
        check_tools_end(&folder, told);
    if (told > 0)
        close(told);
    folder_remove(&folder);
}

static void test_stop__a_reader_that_goes_away_is_noticed_in_silence(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS(SLOW), .directory = TEAMS,
                     .action = {.when = "trace ", .closes_stdout = true}))
        return;
    CHECK_INT(ran.exit_status, 4);
    CHECK_CONTAINS(ran.err, "output closed");
    program_result_fini(&ran);
}

static void test_stop__a_pipe_closed_before_exits_4(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS(FAST, "--events"), .directory = TEAMS,
                     .out = PROGRAM_STDOUT_GONE))
        return;
    CHECK_INT(ran.exit_status, 4);
    CHECK_INT(ran.signal, 0);
    program_result_fini(&ran);
}

static void check_unwritable(program_stdout out, const char *option, const char *text)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS(FAST, option), .directory = TEAMS, .out = out))
        return;
    CHECK_INT(ran.exit_status, 1);
    CHECK_CONTAINS(ran.err, text);
    program_result_fini(&ran);
}

static void test_stop__a_full_disk_is_told_and_exits_1(void)
{
    static const char full[] =
        "cadre: cannot write to stdout: No space left on device\n";

    check_unwritable(PROGRAM_STDOUT_FULL, NULL, full);
    check_unwritable(PROGRAM_STDOUT_FULL, "--json", full);
    check_unwritable(PROGRAM_STDOUT_FULL, "--events", full);
}

static void test_stop__a_closed_stdout_is_told_and_exits_1(void)
{
    check_unwritable(PROGRAM_STDOUT_CLOSED, NULL,
                     "cadre: cannot write to stdout: Bad file descriptor\n");
}

static void test_stop__help_that_cannot_be_written_exits_1(void)
{
    program_result ran;

    if (!PROGRAM_RUN(&ran, WORDS("help"), .out = PROGRAM_STDOUT_FULL))
        return;
    CHECK_INT(ran.exit_status, 1);
    CHECK_TEXT(ran.err, "cadre: cannot write to stdout: No space left on device\n");
    program_result_fini(&ran);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_stop__signals_abort_the_run_in_order),
        CHECK_TEST(test_stop__a_second_signal_takes_the_tools_along),
        CHECK_TEST(test_stop__a_reader_that_goes_away_is_noticed_in_silence),
        CHECK_TEST(test_stop__a_pipe_closed_before_exits_4),
        CHECK_TEST(test_stop__a_full_disk_is_told_and_exits_1),
        CHECK_TEST(test_stop__a_closed_stdout_is_told_and_exits_1),
        CHECK_TEST(test_stop__help_that_cannot_be_written_exits_1),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/stop", tests);
}
