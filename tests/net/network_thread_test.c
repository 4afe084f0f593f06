// The network's threads: one until it is busy, then more.
#include "net/network.h"

#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <time.h>

static const http_step half[] = {
    HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), HTTP_HOLD,
    HTTP_SEND(" more"), HTTP_END};

typedef struct fixture {
    http_server *server;
    cdr_network *network;
} fixture;

static void setup(fixture *fix, const cdr_network_limits *limits)
{
    cadre_error err = CADRE_ERROR_INIT;
    const http_server_config config = {.repeat_last = true};
    fix->server = http_server_start(&config);
    (void)http_server_add(fix->server, half);
    fix->network = NULL;
    CHECK_OK(cdr_network_open_limited(limits, &fix->network, &err), &err);
}

static void teardown(fixture *fix)
{
    cdr_network_close(fix->network);
    http_server_stop(fix->server);
}

static void test_network__has_one_thread_while_that_is_idle(void)
{
    enum {
        N = 50
    };
    fixture fix;
    setup(&fix, NULL);
    transfer_probe probes[N];
    CHECK_INT(cdr_network_thread_count(fix.network), 1);
    for (int i = 0; i < N; i++) {
        probe_init(&probes[i], fix.network);
        CHECK(probe_get(&probes[i], http_server_url(fix.server)));
    }
    CHECK(http_server_await_held(fix.server, N));
    CHECK_INT(cdr_network_thread_count(fix.network), 1);
    http_server_release_all(fix.server);
    for (int i = 0; i < N; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_OK, 200);
        probe_fini(&probes[i]);
    }
    teardown(&fix);
}

// A handler that works for long, as one that reads many pieces does.
static cdr_flow work(transfer_probe *probe, const char *data, size_t len)
{
    struct timespec from;
    struct timespec now;
    int64_t ms = 0;
    (void)probe;
    (void)data;
    (void)len;
    (void)clock_gettime(CLOCK_MONOTONIC, &from);
    while (ms < 250) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        ms = (now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000;
    }
    return CDR_FLOW_GO;
}

// Starts transfers whose handlers work until there is a second thread. How many there
// are then.
static int start_until_two(const fixture *fix, transfer_probe *probes, int max)
{
    int n = 0;
    while (n < max && cdr_network_thread_count(fix->network) < 2) {
        probe_init(&probes[n], fix->network);
        probes[n].decide = work;
        CHECK(probe_get(&probes[n], http_server_url(fix->server)));
        CHECK(probe_await_bytes(&probes[n], 4));
        n++;
    }
    return n;
}

// Of the time 1 percent is busy, so that a loaded machine cannot hide it.
static const cdr_network_limits two_threads = {.max_threads = 2, .busy_percent = 1};

enum {
    MAX_PROBES = 20
};

static void test_network__starts_a_second_thread_when_the_first_is_busy(void)
{
    fixture fix;
    setup(&fix, &two_threads);
    transfer_probe probes[MAX_PROBES];
    int n = start_until_two(&fix, probes, MAX_PROBES);
    CHECK_INT(cdr_network_thread_count(fix.network), 2);
    http_server_release_all(fix.server);
    for (int i = 0; i < n; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_OK, 200);
        CHECK_TEXT(cdr_buf_text(&probes[i].body), "half more");
        probe_fini(&probes[i]);
    }
    teardown(&fix);
}

static void test_network__has_no_more_threads_than_it_may(void)
{
    static const cdr_network_limits one = {.max_threads = 1, .busy_percent = 1};
    fixture fix;
    setup(&fix, &one);
    transfer_probe probes[3];
    CHECK_INT(start_until_two(&fix, probes, 3), 3);
    CHECK_INT(cdr_network_thread_count(fix.network), 1);
    http_server_release_all(fix.server);
    for (int i = 0; i < 3; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_OK, 200);
        probe_fini(&probes[i]);
    }
    teardown(&fix);
}

static void test_network__cancels_on_each_thread_and_closes_all(void)
{
    fixture fix;
    setup(&fix, &two_threads);
    transfer_probe probes[MAX_PROBES];
    int n = start_until_two(&fix, probes, MAX_PROBES);
    CHECK(n >= 2); // the first of the first thread, the last of the second
    cdr_transfer_cancel(probes[0].transfer);
    cdr_transfer_cancel(probes[n - 1].transfer);
    probe_check_end(&probes[0], CDR_TRANSFER_CANCELLED, 200);
    probe_check_end(&probes[n - 1], CDR_TRANSFER_CANCELLED, 200);
    cdr_network_close(fix.network);
    for (int i = 0; i < n; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_CANCELLED, 200);
        cdr_transfer_cancel(probes[i].transfer); // allowed, and without effect
        probe_fini(&probes[i]);
    }
    http_server_stop(fix.server);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_network__has_one_thread_while_that_is_idle),
        CHECK_TEST(test_network__starts_a_second_thread_when_the_first_is_busy),
        CHECK_TEST(test_network__has_no_more_threads_than_it_may),
        CHECK_TEST(test_network__cancels_on_each_thread_and_closes_all),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network_thread", tests);
}
