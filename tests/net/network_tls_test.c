// The network: TLS without a TLS server. The test server answers a client's hello with
// an alert; at this libcurl reads its CA bundle, and that can be counted.
#include "net/network.h"

#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#define N_CONNECTIONS 5

// Self-signed, of nobody.
static const char certificate[] =
    "-----BEGIN CERTIFICATE-----\n"
    "MIIBgjCCASegAwIBAgIUMPSgBRmlxm3OcxHH7/a6XtuZHS8wCgYIKoZIzj0EAwIw\n"
    "FTETMBEGA1UEAwwKY2FkcmUtdGVzdDAgFw0yNjExMzAxMzQxMjdaGA8yMTI2MTEw\n"
    "NjEzNDEyN1owFTETMBEGA1UEAwwKY2FkcmUtdGVzdDBZMBMGByqGSM49AgEGCCqG\n"
    "SM49AwEHA0IABHeTJIvIZ4ptavK/j6P/oMPSpc4971PmQGGYvm4cAKEgfwze8g59\n"
    "KgCfNHwephayG0nupW1aFy8kFgAWngLg0zGjUzBRMB0GA1UdDgQWBBQNF7A2FfeU\n"
    "rog36u6MUf4xZMcqKjAfBgNVHSMEGDAWgBQNF7A2FfeUrog36u6MUf4xZMcqKjAP\n"
    "BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDfCG8Nr/ie/EJ3RvID\n"
    "n8E+sxyKb07THRvKYCSrJwhamgIhAJJD/v1bI9H59RIs/fukRIpejwGP/bgTP/k8\n"
    "XchShm2t\n"
    "-----END CERTIFICATE-----\n";

// How often a file that is watched was opened.
static int count_opens(int watch_fd)
{
    char events[4096] __attribute__((aligned(8)));
    int n = 0;
    ssize_t len = 0;
    while ((len = read(watch_fd, events, sizeof events)) > 0) {
        for (ssize_t at = 0; at < len; n++) {
            struct inotify_event event;
            memcpy(&event, events + at, sizeof event);
            at += (ssize_t)(sizeof event + event.len);
        }
    }
    return n;
}

// Makes connections with TLS one after the other. Returns how often the bundle was
// opened for them; -1 when it cannot be watched.
static int count_opens_of(const char *bundle)
{
    int watch_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch_fd < 0 || inotify_add_watch(watch_fd, bundle, IN_OPEN) < 0) {
        (void)close(watch_fd);
        return -1;
    }
    http_server *server = http_server_start(NULL);
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    char url[128];
    (void)snprintf(url, sizeof url, "https%s/", http_server_url(server) + 4);
    int n = 0;
    for (int i = 0; i < N_CONNECTIONS; i++) {
        transfer_probe probe;
        probe_init(&probe, network);
        CHECK(probe_get(&probe, url));
        probe_check_end(&probe, CDR_TRANSFER_UNREACHABLE, 0);
        CHECK_CONTAINS(probe.message, "127.0.0.1:");
        probe_fini(&probe);
        n += count_opens(watch_fd); // now: equal events that wait are merged
    }
    CHECK_INT(http_server_connection_count(server), N_CONNECTIONS);
    cdr_network_close(network);
    http_server_stop(server);
    (void)close(watch_fd);
    return n;
}

static void test_tls__parses_the_default_bundle_once(void)
{
    char *path = NULL;
    CURL *handle = curl_easy_init();
    (void)curl_easy_getinfo(handle, CURLINFO_CAINFO, &path);
    if (path && access(path, R_OK) == 0)
        CHECK_INT(count_opens_of(path), 1);
    curl_easy_cleanup(handle);
}

static void test_tls__takes_the_bundle_that_the_environment_names(void)
{
    char path[] = "/tmp/cadre-bundle-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, certificate, sizeof certificate - 1) ==
                         (ssize_t)sizeof certificate - 1);
    (void)close(fd);
    static const char *const names[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE"};
    for (int i = 0; i < 2; i++) {
        (void)setenv(names[i], path, 1); // NOLINT(concurrency-mt-unsafe)
        CHECK_INT(count_opens_of(path), 1);
        (void)unsetenv(names[i]); // NOLINT(concurrency-mt-unsafe)
    }
    (void)unlink(path);
}

static void test_tls__names_a_bundle_that_cannot_be_read(void)
{
    http_server *server = http_server_start(NULL);
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    (void)setenv("CURL_CA_BUNDLE", "/nowhere/bundle.pem", 1);
    CHECK_OK(cdr_network_open(&network, &err), &err);
    (void)unsetenv("CURL_CA_BUNDLE"); // NOLINT(concurrency-mt-unsafe)
    char url[128];
    (void)snprintf(url, sizeof url, "https%s/", http_server_url(server) + 4);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, url));
    probe_check_end(&probe, CDR_TRANSFER_FAILED, 0);
    CHECK_CONTAINS(probe.message, "/nowhere/bundle.pem");
    probe_fini(&probe);
    cdr_network_close(network);
    http_server_stop(server);
}

int main(void)
{
    (void)unsetenv("SSL_CERT_FILE");  // NOLINT(concurrency-mt-unsafe)
    (void)unsetenv("CURL_CA_BUNDLE"); // NOLINT(concurrency-mt-unsafe)
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_tls__parses_the_default_bundle_once),
        CHECK_TEST(test_tls__takes_the_bundle_that_the_environment_names),
        CHECK_TEST(test_tls__names_a_bundle_that_cannot_be_read),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network_tls", tests);
}
