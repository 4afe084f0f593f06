// The network: how broken connections and strange servers are reported.
#include "net/network.h"

#include "support/case_files.h"
#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fault {
    const char *name;
    http_step steps[4];
    cdr_transfer_result result;
    int status;
    const char *body;
    const char *message; // a part of it
} fault;

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

static const fault faults[] = {
    {"closed before an answer",
     {HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_CUT,
     0,
     "",
     "closed the connection without an answer"},
    {"reset before an answer",
     {HTTP_RESET, HTTP_END},
     CDR_TRANSFER_CUT,
     0,
     "",
     "127.0.0.1:"},
    {"closed in the head",
     {HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Ty"), HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_CUT,
     0,
     "",
     "inside the head: 127.0.0.1:"},
    {"closed after an interim response",
     {HTTP_SEND("HTTP/1.1 103 Early\r\nRetry-After: 9\r\n\r\n"), HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_CUT,
     0,
     "",
     "127.0.0.1:"},
    {"fewer bytes than announced",
     {HTTP_SEND(OK_HEAD "Content-Length: 9\r\n\r\nhalf"), HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_CUT,
     200,
     "half",
     "cut short"},
    {"no last chunk",
     {HTTP_SEND(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"), HTTP_CLOSE,
      HTTP_END},
     CDR_TRANSFER_CUT,
     200,
     "half",
     "cut short"},
    {"cut inside a chunk",
     {HTTP_SEND(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n8\r\nhalf"), HTTP_CLOSE,
      HTTP_END},
     CDR_TRANSFER_CUT,
     200,
     "half",
     "cut short"},
    {"a chunk without a size",
     {HTTP_SEND(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n"),
      HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_CUT,
     200,
     "half",
     "127.0.0.1:"},
    {"an end that only the close marks",
     {HTTP_SEND(OK_HEAD "\r\nall"), HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_OK,
     200,
     "all",
     ""},
    {"no body at all",
     {HTTP_SEND("HTTP/1.1 204 No Content\r\n\r\n"), HTTP_END},
     CDR_TRANSFER_OK,
     204,
     "",
     ""},
    {"a server that speaks another language",
     {HTTP_SEND("220 mail.example ESMTP\r\n"), HTTP_CLOSE, HTTP_END},
     CDR_TRANSFER_FAILED,
     0,
     "",
     "not HTTP"},
};

static void check_fault(const fault *given)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    http_server *server = http_server_start(NULL);
    CHECK_OK(cdr_network_open(&network, &err), &err);
    (void)http_server_add(server, given->steps);
    const cdr_http_request request = {
        .url = http_server_url(server), .body = "question", .body_len = 8};
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_start(&probe, &request));
    CHECK(probe_await_done(&probe));
    if (probe.end.result != given->result)
        CHECK_TEXT(probe.message, given->name);
    probe_check_end(&probe, given->result, given->status);
    CHECK_TEXT(cdr_buf_text(&probe.body), given->body);
    CHECK_CONTAINS(probe.message, given->message);
    CHECK_INT(probe.n_heads, given->status != 0 ? 1 : 0);
    CHECK_INT(http_server_request_count(server), 1); // nothing was sent twice
    probe_fini(&probe);
    cdr_network_close(network);
    http_server_stop(server);
}

static void test_fault__of_every_kind_has_its_result(void)
{
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        check_fault(&faults[i]);
}

// A reset may destroy bytes that are not read yet; what was read stands.
static void test_fault__reset_in_the_middle_keeps_what_came(void)
{
    static const http_step steps[] = {
        HTTP_SEND(OK_HEAD "Content-Length: 9\r\n\r\nhalf"), HTTP_HOLD, HTTP_RESET,
        HTTP_END};
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    http_server *server = http_server_start(NULL);
    CHECK_OK(cdr_network_open(&network, &err), &err);
    (void)http_server_add(server, steps);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, http_server_url(server)));
    CHECK(probe_await_bytes(&probe, 4));
    http_server_release(server);
    probe_check_end(&probe, CDR_TRANSFER_CUT, 200);
    CHECK_TEXT(cdr_buf_text(&probe.body), "half");
    CHECK_CONTAINS(probe.message, "127.0.0.1:");
    probe_fini(&probe);
    cdr_network_close(network);
    http_server_stop(server);
}

static void test_fault__truncated_case_gives_its_bytes_and_a_cut(void)
{
    char folder[CASE_PATH_BYTES];
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    http_server *server = http_server_start(NULL);
    CHECK_OK(cdr_network_open(&network, &err), &err);
    CHECK_INT(http_server_add_case(server, case_folder("w47-chunked-cut", folder)), 1);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, http_server_url(server)));
    probe_check_end(&probe, CDR_TRANSFER_CUT, 200);
    CHECK_CONTAINS(cdr_buf_text(&probe.body), "half");
    CHECK_TEXT(probe.content_type, "text/event-stream");
    probe_fini(&probe);
    cdr_network_close(network);
    http_server_stop(server);
}

static void check_fails(const char *url, cdr_transfer_result result,
                        const char *message)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, url));
    probe_check_end(&probe, result, 0);
    CHECK_CONTAINS(probe.message, message);
    CHECK_LACKS(probe.message, "secret");
    probe_fini(&probe);
    cdr_network_close(network);
}

static void test_fault__refused_connection_names_host_and_port(void)
{
    const http_server_config config = {.mode = HTTP_SERVER_REFUSE};
    http_server *server = http_server_start(&config);
    const char *address = http_server_url(server) + strlen("http://");
    char url[128];
    char message[128];
    (void)snprintf(url, sizeof url, "http://user:secret@%s/v1?key=secret", address);
    (void)snprintf(message, sizeof message, "connection refused: %s", address);
    check_fails(url, CDR_TRANSFER_UNREACHABLE, message);
    http_server_stop(server);
}

static void test_fault__a_proxy_that_refuses_is_named(void)
{
    const http_server_config config = {.mode = HTTP_SERVER_REFUSE};
    http_server *proxy = http_server_start(&config);
    const char *url = http_server_url(proxy);
    char message[128];
    (void)setenv("http_proxy", url, 1); // NOLINT(concurrency-mt-unsafe)
    (void)snprintf(message, sizeof message,
                   "connection refused: model.test (by a proxy: Failed to connect to "
                   "127.0.0.1 port %s",
                   strrchr(url, ':') + 1);
    check_fails("http://model.test/v1?key=secret", CDR_TRANSFER_UNREACHABLE, message);
    (void)unsetenv("http_proxy"); // NOLINT(concurrency-mt-unsafe)
    http_server_stop(proxy);
}

static void test_fault__a_proxy_that_lets_nobody_through_is_asked_once(void)
{
    static const struct {
        int status;
        cdr_transfer_result result;
    } cases[] = {{407, CDR_TRANSFER_FAILED},
                 {403, CDR_TRANSFER_FAILED},
                 {502, CDR_TRANSFER_UNREACHABLE}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        http_server *proxy = http_server_start(NULL);
        char status[32];
        http_server_add_answer(proxy, cases[i].status, NULL, "text/plain", "no");
        (void)snprintf(status, sizeof status, "response %d", cases[i].status);
        // NOLINTNEXTLINE(concurrency-mt-unsafe)
        (void)setenv("https_proxy", http_server_url(proxy), 1);
        check_fails("https://model.test/v1?key=secret", cases[i].result, status);
        (void)unsetenv("https_proxy"); // NOLINT(concurrency-mt-unsafe)
        http_server_stop(proxy);
    }
}

static void test_fault__url_that_libcurl_refuses_fails(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cdr_network *network = NULL;
    CHECK_OK(cdr_network_open(&network, &err), &err);
    transfer_probe probe;
    probe_init(&probe, network);
    CHECK(probe_get(&probe, "http://127.0.0.1:99999999/"));
    probe_check_end(&probe, CDR_TRANSFER_FAILED, 0);
    CHECK_CONTAINS(probe.message, "127.0.0.1:99999999");
    probe_fini(&probe);
    cdr_network_close(network);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_fault__of_every_kind_has_its_result),
        CHECK_TEST(test_fault__reset_in_the_middle_keeps_what_came),
        CHECK_TEST(test_fault__truncated_case_gives_its_bytes_and_a_cut),
        CHECK_TEST(test_fault__refused_connection_names_host_and_port),
        CHECK_TEST(test_fault__a_proxy_that_refuses_is_named),
        CHECK_TEST(test_fault__a_proxy_that_lets_nobody_through_is_asked_once),
        CHECK_TEST(test_fault__url_that_libcurl_refuses_fails),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network_fault", tests);
}
