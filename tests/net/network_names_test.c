// The network: host names. This program brings its own getaddrinfo, which libcurl's
// resolver threads call in place of the system's.
#include "net/network.h"

#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <netdb.h>
#include <pthread.h>
#include <string.h>

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int n_waiting; // lookups of "slow.test"
static int n_left;    // of those, still inside
static bool go_on;

// "slow.test" waits until the test lets it go on; no name is found.
__attribute__((visibility("default"))) int getaddrinfo(const char *name,
                                                       const char *service,
                                                       const struct addrinfo *hints,
                                                       struct addrinfo **out)
{
    (void)service;
    (void)hints;
    (void)out;
    if (name && strcmp(name, "slow.test") == 0) {
        pthread_mutex_lock(&mu);
        n_waiting++;
        n_left++;
        pthread_cond_broadcast(&changed);
        while (!go_on)
            pthread_cond_wait(&changed, &mu);
        n_left--;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mu);
    }
    return EAI_NONAME;
}

static void await_lookup(int n)
{
    pthread_mutex_lock(&mu);
    while (n_waiting < n)
        pthread_cond_wait(&changed, &mu);
    pthread_mutex_unlock(&mu);
}

static void let_lookups_go(void)
{
    pthread_mutex_lock(&mu);
    go_on = true;
    pthread_cond_broadcast(&changed);
    while (n_left > 0)
        pthread_cond_wait(&changed, &mu);
    go_on = false;
    n_waiting = 0;
    pthread_mutex_unlock(&mu);
}

static void test_names__unknown_host_is_named(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, "https://gone.test/v1/messages?key=secret"));
    probe_check_end(&probe, CDR_TRANSFER_UNREACHABLE, 0);
    CHECK_TEXT(probe.message, "host not found: gone.test");
    probe_fini(&probe);
    cdr_network_close(network);
}

static void test_names__slow_lookup_can_be_cancelled_and_holds_nobody_up(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    http_server *server = http_server_start(NULL);
    (void)http_server_add_answer(server, 200, NULL, "text/plain", "ok");
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe slow;
    transfer_probe quick;
    probe_init(&slow, network);
    probe_init(&quick, network);
    CHECK(probe_get(&slow, "http://slow.test/"));
    await_lookup(1);
    int64_t start_ns = probe_now_ns();
    cdr_transfer_cancel(slow.transfer);
    probe_check_end(&slow, CDR_TRANSFER_CANCELLED, 0);
    CHECK(slow.done_ns - start_ns < 200000000);
    CHECK(probe_get(&quick, http_server_url(server)));
    probe_check_end(&quick, CDR_TRANSFER_OK, 200);
    probe_fini(&slow);
    probe_fini(&quick);
    let_lookups_go();
    cdr_network_close(network);
    http_server_stop(server);
}

static void test_names__slow_lookup_falls_under_the_connect_timeout(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe probe;
    probe_init(&probe, network);
    const cdr_http_request request = {.url = "http://slow.test/",
                                      .connect_timeout_ms = 50};
    CHECK(probe_start(&probe, &request));
    probe_check_end(&probe, CDR_TRANSFER_TIMEOUT, 0);
    CHECK_TEXT(probe.message, "no connection within 50 ms: slow.test");
    probe_fini(&probe);
    let_lookups_go();
    cdr_network_close(network);
}

static void test_names__slow_lookup_does_not_hold_the_close_up(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, "http://slow.test/"));
    await_lookup(1);
    cdr_network_close(network); // would never return
    probe_check_end(&probe, CDR_TRANSFER_CANCELLED, 0);
    probe_fini(&probe);
    let_lookups_go();
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_names__unknown_host_is_named),
        CHECK_TEST(test_names__slow_lookup_can_be_cancelled_and_holds_nobody_up),
        CHECK_TEST(test_names__slow_lookup_falls_under_the_connect_timeout),
        CHECK_TEST(test_names__slow_lookup_does_not_hold_the_close_up),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network_names", tests);
}
