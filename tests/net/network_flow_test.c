// The network: pause, linger, stop, cancel, and its timers.
#include "net/network.h"

#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define MS ((int64_t)1000000)

typedef struct fixture {
    http_server *server;
    cdr_network *network;
    transfer_probe probe;
} fixture;

static void setup(fixture *fix, const http_server_config *config)
{
    cadre_error err = CADRE_ERROR_INIT;
    fix->server = http_server_start(config);
    fix->network = NULL;
    CHECK_OK(cdr_network_open(&fix->network, &err), &err);
    probe_init(&fix->probe, fix->network);
}

static void teardown(fixture *fix)
{
    probe_fini(&fix->probe);
    cdr_network_close(fix->network);
    http_server_stop(fix->server);
}

#define HALF "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"

static const http_step half[] = {HTTP_SEND(HALF), HTTP_HOLD, HTTP_SEND("other"),
                                 HTTP_END};
static const http_step silent[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};

// Cancels, and checks that `done` and the end of the connection follow soon.
static void check_cancels(fixture *fix, int status)
{
    int64_t start_ns = probe_now_ns();
    int64_t closed_ns = 0;
    cdr_transfer_cancel(fix->probe.transfer);
    probe_check_end(&fix->probe, CDR_TRANSFER_CANCELLED, status);
    CHECK(http_server_await_client_close(fix->server, 0, &closed_ns));
    CHECK(fix->probe.done_ns - start_ns < 200 * MS);
    CHECK(closed_ns - start_ns < 200 * MS);
}

static void test_cancel__closes_a_connection_without_an_answer(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, silent);
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(http_server_await_held(fix.server, 1));
    check_cancels(&fix, 0);
    CHECK_INT(fix.probe.n_heads, 0);
    teardown(&fix);
}

static void test_cancel__closes_a_connection_in_the_middle_of_an_answer(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(probe_await_bytes(&fix.probe, 4));
    check_cancels(&fix, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "half");
    teardown(&fix);
}

static void test_cancel__ends_an_upload_that_the_server_does_not_read(void)
{
    static const http_step deaf[] = {HTTP_SKIP_BODY, HTTP_DEAF, HTTP_HOLD, HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, deaf);
    size_t len = (size_t)32 * 1024 * 1024;
    char *body = calloc(1, len);
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .body = body, .body_len = len};
    CHECK(probe_start(&fix.probe, &request));
    CHECK(http_server_await_held(fix.server, 1));
    // The server cannot see the end of a connection that it does not read.
    int64_t start_ns = probe_now_ns();
    cdr_transfer_cancel(fix.probe.transfer);
    probe_check_end(&fix.probe, CDR_TRANSFER_CANCELLED, 0);
    CHECK(fix.probe.done_ns - start_ns < 200 * MS);
    free(body);
    teardown(&fix);
}

static void test_cancel__may_overtake_the_start(void)
{
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    for (int i = 0; i < 500; i++) {
        transfer_probe probe;
        probe_init(&probe, fix.network);
        CHECK(probe_get(&probe, http_server_url(fix.server)));
        cdr_transfer_cancel(probe.transfer);
        cdr_transfer_cancel(probe.transfer);
        cdr_transfer_resume(probe.transfer);
        CHECK(probe_await_done(&probe));
        CHECK(probe.end.result == CDR_TRANSFER_CANCELLED ||
              probe.end.result == CDR_TRANSFER_OK);
        probe_fini(&probe);
    }
    teardown(&fix);
}

static cdr_flow cancel_itself(transfer_probe *probe, const char *data, size_t len)
{
    (void)data;
    (void)len;
    cdr_transfer_cancel(probe->transfer);
    return CDR_FLOW_GO;
}

static void test_cancel__works_inside_the_handler(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = cancel_itself;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    probe_check_end(&fix.probe, CDR_TRANSFER_CANCELLED, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "half");
    teardown(&fix);
}

static void test_cancel__does_nothing_after_the_end(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    cdr_transfer_cancel(fix.probe.transfer);
    cdr_transfer_resume(fix.probe.transfer);
    transfer_probe next; // after it, the commands above have been looked at
    probe_init(&next, fix.network);
    CHECK(probe_get(&next, http_server_url(fix.server)));
    probe_check_end(&next, CDR_TRANSFER_OK, 200);
    probe_fini(&next);
    CHECK_INT(fix.probe.n_done, 1);
    CHECK_INT(fix.probe.end.result, CDR_TRANSFER_OK);
    teardown(&fix);
}

static cdr_flow stop_at_once(transfer_probe *probe, const char *data, size_t len)
{
    (void)probe;
    (void)data;
    (void)len;
    return CDR_FLOW_STOP;
}

static void test_stop__closes_and_gives_nothing_more(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = stop_at_once;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    probe_check_end(&fix.probe, CDR_TRANSFER_STOPPED, 200);
    CHECK_INT(fix.probe.n_data, 1);
    CHECK(http_server_await_client_close(fix.server, 0, NULL));
    teardown(&fix);
}

static cdr_flow linger(transfer_probe *probe, const char *data, size_t len)
{
    (void)probe;
    (void)data;
    (void)len;
    return CDR_FLOW_LINGER;
}

static void test_linger__reads_to_the_end_when_it_comes(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = linger;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(probe_await_bytes(&fix.probe, 4));
    http_server_release(fix.server);
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "halfother");
    teardown(&fix);
}

static void test_linger__ends_after_its_time(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = linger;
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .linger_ms = 60};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_STOPPED, 200);
    CHECK(fix.probe.done_ns - start_ns >= 60 * MS);
    CHECK(fix.probe.done_ns - start_ns < 2000 * MS);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "half");
    teardown(&fix);
}

static cdr_flow go_on(transfer_probe *probe, const char *data, size_t len)
{
    (void)data;
    (void)len;
    return probe->n_data == 1 ? CDR_FLOW_LINGER : CDR_FLOW_GO;
}

static cdr_flow linger_anew(transfer_probe *probe, const char *data, size_t len)
{
    (void)data;
    (void)len;
    return probe->n_data == 1 ? CDR_FLOW_LINGER : CDR_FLOW_LINGER_ANEW;
}

#define LINGER_FOR 200 // ms

// What is said behind a finish, by a server that then says nothing more.
static void check_goes_on(cdr_flow (*decide)(transfer_probe *, const char *, size_t),
                          cdr_transfer_result result)
{
    static const http_step goes_on[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf"), HTTP_HOLD,
        HTTP_SEND("other"), HTTP_HOLD, HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, goes_on);
    fix.probe.decide = decide;
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .linger_ms = LINGER_FOR,
                                      .idle_timeout_ms = 2 * LINGER_FOR};
    CHECK(probe_start(&fix.probe, &request));
    CHECK(probe_await_bytes(&fix.probe, 4));
    int64_t released_ns = probe_now_ns();
    http_server_release(fix.server);
    probe_check_end(&fix.probe, result, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "halfother");
    CHECK(fix.probe.done_ns - released_ns >= LINGER_FOR * MS);
    teardown(&fix);
}

static void test_linger__ends_when_the_answer_goes_on(void)
{
    check_goes_on(go_on, CDR_TRANSFER_IDLE_TIMEOUT);
}

static void test_linger__counts_anew_when_it_was_not_whole(void)
{
    check_goes_on(linger_anew, CDR_TRANSFER_STOPPED);
}

static cdr_flow drain(transfer_probe *probe, const char *data, size_t len)
{
    (void)probe;
    (void)data;
    (void)len;
    return CDR_FLOW_DRAIN;
}

static void test_drain__ends_soon_whatever_the_linger_time(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = drain;
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .linger_ms = 60000};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_STOPPED, 200);
    CHECK(fix.probe.done_ns - start_ns >= 100 * MS);
    CHECK(fix.probe.done_ns - start_ns < 5000 * MS);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "half");
    teardown(&fix);
}

static void test_timeout__names_the_attempt(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, silent);
    // Without a byte of the body the idle time does not count.
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .timeout_ms = 80, .idle_timeout_ms = 10};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_TIMEOUT, 0);
    CHECK(fix.probe.done_ns - start_ns >= 80 * MS);
    CHECK_CONTAINS(fix.probe.message, "80 ms");
    CHECK_CONTAINS(fix.probe.message, http_server_url(fix.server) + 7);
    CHECK(http_server_await_client_close(fix.server, 0, NULL));
    teardown(&fix);
}

static void test_timeout__names_the_idle_time(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .timeout_ms = 60000, .idle_timeout_ms = 50};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_IDLE_TIMEOUT, 200);
    CHECK(fix.probe.done_ns - start_ns >= 50 * MS);
    CHECK(fix.probe.done_ns - start_ns < 5000 * MS);
    CHECK_CONTAINS(fix.probe.message, "50 ms");
    teardown(&fix);
}

static void test_timeout__of_idling_starts_anew_with_every_byte(void)
{
    static const http_step trickle[] = {
        HTTP_SEND_CHUNKS("HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n"
                         "............................................................",
                         "39 1"),
        HTTP_END};
    fixture fix;
    const http_server_config config = {.pace_us = 20000};
    setup(&fix, &config);
    (void)http_server_add(fix.server, trickle);
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .idle_timeout_ms = 600};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    CHECK(fix.probe.done_ns - start_ns > 600 * MS);
    teardown(&fix);
}

static void test_timeout__of_connecting(void)
{
    fixture fix;
    const http_server_config config = {.mode = HTTP_SERVER_BLACKHOLE};
    setup(&fix, &config);
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .connect_timeout_ms = 100};
    int64_t start_ns = probe_now_ns();
    CHECK(probe_start(&fix.probe, &request));
    probe_check_end(&fix.probe, CDR_TRANSFER_TIMEOUT, 0);
    CHECK(fix.probe.done_ns - start_ns >= 100 * MS);
    CHECK(fix.probe.done_ns - start_ns < 3000 * MS);
    CHECK_CONTAINS(fix.probe.message, "100 ms");
    CHECK_CONTAINS(fix.probe.message, "connection");
    teardown(&fix);
}

static cdr_flow pause_at_first(transfer_probe *probe, const char *data, size_t len)
{
    (void)data;
    (void)len;
    return probe->n_data == 1 ? CDR_FLOW_PAUSE : CDR_FLOW_GO;
}

// Waits for the timeout of another transfer, which the server leaves without an answer.
static void let_time_pass(fixture *fix, int ms)
{
    transfer_probe clock;
    const cdr_http_request request = {.url = http_server_url(fix->server),
                                      .timeout_ms = ms};
    probe_init(&clock, fix->network);
    CHECK(probe_start(&clock, &request));
    probe_check_end(&clock, CDR_TRANSFER_TIMEOUT, 0);
    probe_fini(&clock);
}

static void test_pause__stops_bytes_and_timers(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    (void)http_server_add(fix.server, silent);
    fix.probe.decide = pause_at_first;
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .timeout_ms = 150, .idle_timeout_ms = 50};
    CHECK(probe_start(&fix.probe, &request));
    CHECK(probe_await_bytes(&fix.probe, 4));
    http_server_release(fix.server); // "other" is sent, but not taken
    let_time_pass(&fix, 300);
    cdr_mutex_lock(&fix.probe.mu);
    CHECK_INT(fix.probe.n_done, 0);
    CHECK_INT(fix.probe.body.len, 4);
    cdr_mutex_unlock(&fix.probe.mu);
    cdr_transfer_resume(fix.probe.transfer);
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "halfother");
    teardown(&fix);
}

static void test_pause__gives_the_timers_what_was_left(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    (void)http_server_add(fix.server, silent);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    fix.probe.decide = pause_at_first;
    const cdr_http_request request = {.url = http_server_url(fix.server),
                                      .idle_timeout_ms = 400};
    CHECK(probe_start(&fix.probe, &request));
    CHECK(probe_await_bytes(&fix.probe, 4));
    let_time_pass(&fix, 500);
    cdr_transfer_resume(fix.probe.transfer);
    transfer_probe next; // after it, the resume has been obeyed
    probe_init(&next, fix.network);
    CHECK(probe_get(&next, http_server_url(fix.server)));
    probe_check_end(&next, CDR_TRANSFER_OK, 200);
    probe_fini(&next);
    cdr_mutex_lock(&fix.probe.mu);
    CHECK_INT(fix.probe.n_done, 0);
    cdr_mutex_unlock(&fix.probe.mu);
    probe_check_end(&fix.probe, CDR_TRANSFER_IDLE_TIMEOUT, 200);
    teardown(&fix);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000 * MS + now.tv_nsec;
}

// Level-triggered sockets that nobody reads must not keep the thread busy: one with
// bytes for a paused transfer, and a kept one that the server has closed.
static void test_pause__costs_no_time(void)
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n";
    static const http_step closed[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), HTTP_CLOSE,
        HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    char *body = calloc(1, 300000);
    const http_step big[] = {{HTTP_STEP_SEND, head, sizeof head - 1, NULL},
                             {HTTP_STEP_SEND, body, 300000, "4 299996"},
                             HTTP_END};
    (void)http_server_add(fix.server, big);
    (void)http_server_add(fix.server, closed);
    (void)http_server_add(fix.server, silent);
    fix.probe.decide = pause_at_first;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(probe_await_bytes(&fix.probe, 4));
    transfer_probe other;
    probe_init(&other, fix.network);
    CHECK(probe_get(&other, http_server_url(fix.server)));
    probe_check_end(&other, CDR_TRANSFER_OK, 200);
    probe_fini(&other);
    int64_t start_ns = cpu_ns();
    let_time_pass(&fix, 400);
    CHECK(cpu_ns() - start_ns < 200 * MS);
    cdr_transfer_resume(fix.probe.transfer);
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    CHECK_BYTES(cdr_buf_text(&fix.probe.body), fix.probe.body.len, body, 300000);
    free(body);
    teardown(&fix);
}

static void test_pause__can_be_cancelled(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = pause_at_first;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(probe_await_bytes(&fix.probe, 4));
    check_cancels(&fix, 200);
    teardown(&fix);
}

static cdr_flow pause_always(transfer_probe *probe, const char *data, size_t len)
{
    (void)probe;
    (void)data;
    (void)len;
    return CDR_FLOW_PAUSE;
}

// Resumes for each delivery until the end.
static void resume_to_the_end(transfer_probe *probe)
{
    int n_resumed = 0;
    cdr_mutex_lock(&probe->mu);
    while (probe->n_done == 0) {
        if (probe->n_data > n_resumed) {
            n_resumed = probe->n_data;
            cdr_mutex_unlock(&probe->mu);
            cdr_transfer_resume(probe->transfer);
            cdr_mutex_lock(&probe->mu);
        } else {
            cdr_cond_wait(&probe->changed, &probe->mu);
        }
    }
    cdr_mutex_unlock(&probe->mu);
}

static void check_paused_stream(const char *body, size_t len, const char *chunks)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_stream(fix.server, body, len, chunks);
    fix.probe.decide = pause_always;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    resume_to_the_end(&fix.probe);
    probe_check_end(&fix.probe, CDR_TRANSFER_OK, 200);
    CHECK_BYTES(cdr_buf_text(&fix.probe.body), fix.probe.body.len, body, len);
    CHECK(fix.probe.n_data > 1);
    teardown(&fix);
}

static void test_pause__neither_loses_nor_doubles_a_byte(void)
{
    size_t len = (size_t)400 * 1024;
    char *body = malloc(len);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)(i * 2654435761U >> 24);
    check_paused_stream(body, len, NULL); // one chunk of 400 KiB
    check_paused_stream(body, len, "1 16384 16383 16385 70000 3 5 17");
    check_paused_stream(body, 3000, "1"); // hundreds of chunks in one read
    free(body);
}

static void test_pause__may_end_in_a_stop(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, half);
    fix.probe.decide = pause_at_first;
    CHECK(probe_get(&fix.probe, http_server_url(fix.server)));
    CHECK(probe_await_bytes(&fix.probe, 4));
    http_server_release(fix.server);
    CHECK(http_server_await_scripts(fix.server, 1));
    cdr_mutex_lock(&fix.probe.mu);
    fix.probe.decide = stop_at_once;
    cdr_mutex_unlock(&fix.probe.mu);
    cdr_transfer_resume(fix.probe.transfer);
    probe_check_end(&fix.probe, CDR_TRANSFER_STOPPED, 200);
    CHECK_TEXT(cdr_buf_text(&fix.probe.body), "halfother");
    teardown(&fix);
}

// Transfers from several threads, each ended by its own thread in some way.
static void *use_the_network(void *arg)
{
    fixture *fix = arg;
    for (int i = 0; i < 60; i++) {
        transfer_probe probe;
        probe_init(&probe, fix->network);
        probe.decide = i % 4 == 1 ? pause_always : i % 4 == 2 ? stop_at_once : NULL;
        if (!probe_get(&probe, http_server_url(fix->server)))
            return NULL;
        if (i % 4 == 3)
            cdr_transfer_cancel(probe.transfer);
        if (i % 4 == 1)
            resume_to_the_end(&probe);
        CHECK(probe_await_done(&probe));
        CHECK(i % 4 == 3 || probe.end.status == 200);
        CHECK_INT(probe.n_done, 1);
        probe_fini(&probe);
    }
    return NULL;
}

static void test_network__serves_many_threads(void)
{
    enum {
        N = 8
    };
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add_stream(fix.server, "data: a\n\ndata: b\n\n", 18, "9");
    pthread_t threads[N];
    for (int i = 0; i < N; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, use_the_network, &fix), 0);
    for (int i = 0; i < N; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    teardown(&fix);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_cancel__closes_a_connection_without_an_answer),
        CHECK_TEST(test_cancel__closes_a_connection_in_the_middle_of_an_answer),
        CHECK_TEST(test_cancel__ends_an_upload_that_the_server_does_not_read),
        CHECK_TEST(test_cancel__may_overtake_the_start),
        CHECK_TEST(test_cancel__works_inside_the_handler),
        CHECK_TEST(test_cancel__does_nothing_after_the_end),
        CHECK_TEST(test_stop__closes_and_gives_nothing_more),
        CHECK_TEST(test_linger__reads_to_the_end_when_it_comes),
        CHECK_TEST(test_linger__ends_after_its_time),
        CHECK_TEST(test_linger__ends_when_the_answer_goes_on),
        CHECK_TEST(test_linger__counts_anew_when_it_was_not_whole),
        CHECK_TEST(test_drain__ends_soon_whatever_the_linger_time),
        CHECK_TEST(test_timeout__names_the_attempt),
        CHECK_TEST(test_timeout__names_the_idle_time),
        CHECK_TEST(test_timeout__of_idling_starts_anew_with_every_byte),
        CHECK_TEST(test_timeout__of_connecting),
        CHECK_TEST(test_pause__stops_bytes_and_timers),
        CHECK_TEST(test_pause__gives_the_timers_what_was_left),
        CHECK_TEST(test_pause__costs_no_time),
        CHECK_TEST(test_pause__can_be_cancelled),
        CHECK_TEST(test_pause__neither_loses_nor_doubles_a_byte),
        CHECK_TEST(test_pause__may_end_in_a_stop),
        CHECK_TEST(test_network__serves_many_threads),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network_flow", tests);
}
