// What stops a run from outside: signals, a reader that goes away, a full disk.
#include "support/program.h"

#include <jansson.h>
#include <signal.h>
#include <string.h>

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
        CHECK_TEST(test_stop__a_reader_that_goes_away_is_noticed_in_silence),
        CHECK_TEST(test_stop__a_pipe_closed_before_exits_4),
        CHECK_TEST(test_stop__a_full_disk_is_told_and_exits_1),
        CHECK_TEST(test_stop__a_closed_stdout_is_told_and_exits_1),
        CHECK_TEST(test_stop__help_that_cannot_be_written_exits_1),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/stop", tests);
}
