// What ends a run from outside while a server is still answering: signals, --timeout, a
// reader that goes away, a disk that is full. The transfer is closed at once, as the
// server sees it, and the exit status says what happened.
#include "support/online.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define PROMPT_NS ((int64_t)200 * 1000000)
#define OPTIONS(...)                                                                   \
    .options = (const char *const[])                                                   \
    {                                                                                  \
        __VA_ARGS__, NULL                                                              \
    }

// The beginning of an answer, then silence.
static const http_step fading[] = {HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half of it")),
                                   HTTP_HOLD, HTTP_CLOSE, HTTP_END};
// Silence from the start.
static const http_step mute[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};
static const http_step whole[] = {HTTP_SEND(ONLINE_HEAD ONLINE_ANSWER("It came.")),
                                  HTTP_CLOSE, HTTP_END};

static http_server *start_with(const http_step *steps)
{
    http_server *server = http_server_start(NULL);

    http_server_add(server, steps);
    return server;
}

// The server has seen the connection close within 200 ms of the action.
static void check_closed_at_once(http_server *server, const online_result *ran)
{
    int64_t closed_ns = 0;

    CHECK(ran->program.acted_ns > 0);
    if (CHECK(http_server_await_client_close(server, 0, &closed_ns)))
        CHECK(closed_ns - ran->program.acted_ns < PROMPT_NS);
    CHECK_INT(http_server_request_count(server), 1);
}

// The last line of --events.
static void check_end(const char *lines, const char *status, const char *stop_reason)
{
    json_t *end = online_event(lines, "stream_end", 0);

    CHECK_TEXT(json_string_value(json_object_get(end, "status")), status);
    CHECK_TEXT(json_string_value(json_object_get(end, "stop_reason")), stop_reason);
    CHECK_TEXT(json_string_value(json_object_get(end, "output")), "");
    json_decref(end);
}

static void check_signal(int signal, const char *reason)
{
    http_server *server = start_with(fading);
    online_result ran;
    const online_config config = {
        OPTIONS("--events"),
        .action = {.when = "\"text_delta\"", .is_on_stdout = true, .signal = signal}};

    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 4);
        CHECK_INT(ran.program.signal, 0);
        CHECK_CONTAINS(ran.program.err, "\nsolo  api  aborted ");
        CHECK_CONTAINS(ran.program.err, reason);
        check_end(ran.program.out, "aborted", "aborted");
        check_closed_at_once(server, &ran);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_bad_output__a_signal_closes_the_stream_within_200_ms(void)
{
    check_signal(SIGINT, "interrupted by SIGINT");
    check_signal(SIGTERM, "interrupted by SIGTERM");
}

static void test_bad_output__a_signal_in_the_wait_before_a_retry_asks_no_more(void)
{
    http_server *server = http_server_start(NULL);
    online_result ran;
    const online_config config = {
        OPTIONS("--events"),
        .action = {.when = "\"retry\"", .is_on_stdout = true, .signal = SIGINT}};

    http_server_add_answer(server, 429, "Retry-After: 2\r\n", "application/json", "{}");
    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 4);
        check_end(ran.program.out, "aborted", "aborted");
        check_closed_at_once(server, &ran);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

static void test_bad_output__a_timeout_of_the_run_exits_4(void)
{
    const http_step *const scripts[] = {fading, mute};

    for (size_t i = 0; i < N(scripts); i++) {
        http_server *server = start_with(scripts[i]);
        online_result ran;
        if (ONLINE_RUN(&ran, server, "--json", "--timeout", "1s")) {
            CHECK_INT(ran.program.exit_status, 4);
            CHECK_TEXT(ran.status, "timeout");
            CHECK_TEXT(ran.error_class, "timeout");
            CHECK_TEXT(ran.output, "");
            CHECK(http_server_await_client_close(server, 0, NULL));
            CHECK_INT(http_server_request_count(server), 1);
        }
        online_result_fini(&ran);
        http_server_stop(server);
    }
}

static void test_bad_output__a_reader_that_goes_away_aborts_the_run(void)
{
    http_server *server = start_with(fading);
    online_result ran;
    const online_config config = {OPTIONS("--events"),
                                  .action = {.when = "\"text_delta\"",
                                             .is_on_stdout = true,
                                             .closes_stdout = true}};

    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 4);
        CHECK_INT(ran.program.signal, 0);
        CHECK_CONTAINS(ran.program.err, "output closed");
        check_closed_at_once(server, &ran);
    }
    online_result_fini(&ran);
    http_server_stop(server);
}

// Makes the descriptor readable: the server has the request and says nothing.
static int tell(void *ctx, const http_request *request)
{
    const int *fd = ctx;

    (void)request;
    CHECK_INT(eventfd_write(*fd, 1), 0);
    return 0;
}

static void check_in_silence(const char *option, const program_action *action,
                             const char *reason)
{
    int fd = eventfd(0, EFD_CLOEXEC);
    http_server *server =
        http_server_start(&(http_server_config){.choose = tell, .ctx = &fd});
    online_result ran;
    online_config config = {OPTIONS(option), .action = *action};

    CHECK(fd > 0);
    config.action.when_fd = fd;
    http_server_add(server, mute);
    if (online_run(&config, server, &ran)) {
        CHECK_INT(ran.program.exit_status, 4);
        CHECK_INT(ran.program.signal, 0);
        CHECK_CONTAINS(ran.program.err, "\nsolo  api  aborted ");
        CHECK_CONTAINS(ran.program.err, reason);
        check_closed_at_once(server, &ran);
    }
    online_result_fini(&ran);
    http_server_stop(server);
    close(fd);
}

static void test_bad_output__a_silent_server_keeps_nobody_from_stopping(void)
{
    static const char *const options[] = {NULL, "--json", "--events"};

    for (size_t i = 0; i < N(options); i++) {
        check_in_silence(options[i], &(program_action){.signal = SIGINT},
                         "interrupted by SIGINT");
        check_in_silence(options[i], &(program_action){.signal = SIGTERM},
                         "interrupted by SIGTERM");
        check_in_silence(options[i], &(program_action){.closes_stdout = true},
                         "output closed");
    }
}

static void test_bad_output__a_full_disk_is_told_with_exit_1(void)
{
    static const char *const forms[] = {NULL, "--json", "--events"};

    for (size_t i = 0; i < N(forms); i++) {
        http_server *server = start_with(whole);
        online_result ran;
        const online_config config = {OPTIONS(forms[i]), .out = PROGRAM_STDOUT_FULL};
        if (online_run(&config, server, &ran)) {
            CHECK_INT(ran.program.exit_status, 1);
            CHECK_CONTAINS(ran.program.err,
                           "cadre: cannot write to stdout: No space left on device\n");
        }
        online_result_fini(&ran);
        http_server_stop(server);
    }
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_bad_output__a_signal_closes_the_stream_within_200_ms),
        CHECK_TEST(test_bad_output__a_signal_in_the_wait_before_a_retry_asks_no_more),
        CHECK_TEST(test_bad_output__a_timeout_of_the_run_exits_4),
        CHECK_TEST(test_bad_output__a_reader_that_goes_away_aborts_the_run),
        CHECK_TEST(test_bad_output__a_silent_server_keeps_nobody_from_stopping),
        CHECK_TEST(test_bad_output__a_full_disk_is_told_with_exit_1),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/bad_output", tests);
}
