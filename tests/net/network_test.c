// The network: requests and answers over kept connections.
#include "net/network.h"

#include "support/case_files.h"
#include "support/check.h"
#include "support/http_server.h"
#include "support/transfer_probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

typedef struct fixture {
    http_server *server;
    cdr_network *network;
} fixture;

static void setup(fixture *fix, const http_server_config *config)
{
    cadre_error err = CADRE_ERROR_INIT;
    fix->server = http_server_start(config);
    fix->network = NULL;
    CHECK_OK(cdr_network_open(&fix->network, &err), &err);
}

static void teardown(fixture *fix)
{
    cdr_network_close(fix->network);
    http_server_stop(fix->server);
}

static void test_network__posts_a_body_and_gives_head_body_and_end(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 200, NULL, "application/json",
                                 "{\"a\":1}");
    char url[128];
    (void)snprintf(url, sizeof url, "%s/v1/chat?x=1", http_server_url(fix.server));
    const cdr_http_header headers[] = {{"Authorization", "Bearer k"},
                                       {"Content-Type", "application/json"},
                                       {"X-Empty", ""}};
    const cdr_http_request request = {.url = url,
                                      .headers = headers,
                                      .n_headers = 3,
                                      .body = "{\"q\":\"hello\"}",
                                      .body_len = 13};
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_start(&probe, &request));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    CHECK_INT(probe.n_heads, 1);
    CHECK_INT(probe.head_status, 200);
    CHECK_INT(probe.retry_after_ms, -1);
    CHECK_TEXT(probe.content_type, "application/json");
    CHECK_TEXT(probe.location, "");
    CHECK_TEXT(cdr_buf_text(&probe.body), "{\"a\":1}");
    CHECK_TEXT(probe.message, "");
    const http_request *seen = http_server_request(fix.server, 0);
    char value[128];
    CHECK_TEXT(seen->method, "POST");
    CHECK_TEXT(seen->path, "/v1/chat?x=1");
    CHECK_TEXT(seen->body, "{\"q\":\"hello\"}");
    CHECK_TEXT(http_request_header(seen, "authorization", value, sizeof value),
               "Bearer k");
    CHECK_TEXT(http_request_header(seen, "content-type", value, sizeof value),
               "application/json");
    CHECK_CONTAINS(seen->headers, "X-Empty:");
    CHECK_LACKS(seen->headers, "Expect");
    probe_fini(&probe);
    teardown(&fix);
}

static void test_network__gets_when_there_is_no_body(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "first");
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "second");
    const cdr_http_request post = {
        .url = http_server_url(fix.server), .body = "", .body_len = 0};
    transfer_probe probes[2];
    probe_init(&probes[0], fix.network);
    probe_init(&probes[1], fix.network);
    CHECK(probe_start(&probes[0], &post));
    probe_check_end(&probes[0], CDR_TRANSFER_OK, 200);
    CHECK(probe_get(&probes[1], http_server_url(fix.server)));
    probe_check_end(&probes[1], CDR_TRANSFER_OK, 200);
    CHECK_TEXT(http_server_request(fix.server, 0)->method, "POST");
    CHECK_TEXT(http_server_request(fix.server, 1)->method, "GET");
    CHECK_TEXT(http_server_request(fix.server, 1)->body, "");
    probe_fini(&probes[0]);
    probe_fini(&probes[1]);
    teardown(&fix);
}

static void test_network__sends_a_big_body_at_once(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    size_t len = (size_t)3 * 1024 * 1024;
    char *body = malloc(len);
    for (size_t i = 0; i < len; i++)
        body[i] = (char)('a' + i % 23);
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .body = body, .body_len = len};
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_start(&probe, &request));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    const http_request *seen = http_server_request(fix.server, 0);
    CHECK_BYTES(seen->body, seen->body_len, body, len);
    CHECK_LACKS(seen->headers, "Expect"); // it would wait a second for a 100
    probe_fini(&probe);
    free(body);
    teardown(&fix);
}

static void test_network__keeps_the_connection(void)
{
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add_stream(fix.server, "data: a\n\ndata: b\n\n", 18, "9");
    for (int i = 0; i < 5; i++) {
        transfer_probe probe;
        probe_init(&probe, fix.network);
        CHECK(probe_get(&probe, http_server_url(fix.server)));
        probe_check_end(&probe, CDR_TRANSFER_OK, 200);
        CHECK_TEXT(cdr_buf_text(&probe.body), "data: a\n\ndata: b\n\n");
        probe_fini(&probe);
    }
    CHECK_INT(http_server_request_count(fix.server), 5);
    CHECK_INT(http_server_connection_count(fix.server), 1);
    teardown(&fix);
}

// libcurl finds out by itself, and only where no byte of an answer has come.
static void test_network__repeats_on_a_kept_connection_that_was_closed(void)
{
    static const http_step close_it[] = {HTTP_CLOSE, HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "first");
    (void)http_server_add(fix.server, close_it);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "second");
    const cdr_http_request request = {
        .url = http_server_url(fix.server), .body = "question", .body_len = 8};
    for (int i = 0; i < 2; i++) {
        transfer_probe probe;
        probe_init(&probe, fix.network);
        CHECK(probe_start(&probe, &request));
        probe_check_end(&probe, CDR_TRANSFER_OK, 200);
        CHECK_TEXT(cdr_buf_text(&probe.body), i == 0 ? "first" : "second");
        probe_fini(&probe);
    }
    CHECK_INT(http_server_request_count(fix.server), 3);
    CHECK_TEXT(http_server_request(fix.server, 2)->body, "question");
    CHECK_INT(http_server_connection_count(fix.server), 2);
    teardown(&fix);
}

static void test_network__does_not_wait_for_the_answer_of_another(void)
{
    static const http_step held[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, held);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    transfer_probe first;
    transfer_probe second;
    probe_init(&first, fix.network);
    probe_init(&second, fix.network);
    CHECK(probe_get(&first, http_server_url(fix.server)));
    CHECK(http_server_await_held(fix.server, 1));
    CHECK(probe_get(&second, http_server_url(fix.server)));
    probe_check_end(&second, CDR_TRANSFER_OK, 200);
    CHECK_INT(first.n_done, 0);
    cdr_transfer_cancel(first.transfer);
    probe_check_end(&first, CDR_TRANSFER_CANCELLED, 0);
    probe_fini(&first);
    probe_fini(&second);
    teardown(&fix);
}

static void check_case_body(const char *name)
{
    fixture fix;
    const http_server_config config = {.pace_us = 200};
    char folder[CASE_PATH_BYTES];
    size_t len = 0;
    setup(&fix, &config);
    char *stream = case_file_read(case_folder(name, folder), "stream.sse", &len);
    CHECK_INT(http_server_add_case(fix.server, folder), 1);
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    CHECK_TEXT(probe.content_type, "text/event-stream");
    CHECK_BYTES(cdr_buf_text(&probe.body), probe.body.len, stream, len);
    probe_fini(&probe);
    free(stream);
    teardown(&fix);
}

static void test_network__passes_bodies_on_as_they_come(void)
{
    check_case_body("w01-crlf-split");
    check_case_body("w06-utf8-one-byte");
    check_case_body("w11-long-line");
}

static void test_network__sees_the_final_response_only(void)
{
    fixture fix;
    char folder[CASE_PATH_BYTES];
    setup(&fix, NULL);
    CHECK_INT(
        http_server_add_case(fix.server, case_folder("w48-interim-responses", folder)),
        1);
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    CHECK_INT(probe.n_heads, 1);
    CHECK_TEXT(probe.content_type, "text/event-stream");
    CHECK_INT(probe.retry_after_ms, -1);
    CHECK_CONTAINS(cdr_buf_text(&probe.body), "final");
    probe_fini(&probe);
    teardown(&fix);
}

static void test_network__tells_how_long_to_wait(void)
{
    fixture fix;
    char folder[CASE_PATH_BYTES];
    setup(&fix, NULL);
    CHECK_INT(http_server_add_case(fix.server,
                                   case_folder("w43-retry-after-past-date", folder)),
              2);
    (void)http_server_add_answer(fix.server, 503, "Retry-After: 7\r\n", "text/plain",
                                 "");
    const int statuses[] = {429, 200, 503};
    const int64_t waits_ms[] = {0, -1, 7000};
    for (int i = 0; i < 3; i++) {
        transfer_probe probe;
        probe_init(&probe, fix.network);
        CHECK(probe_get(&probe, http_server_url(fix.server)));
        probe_check_end(&probe, CDR_TRANSFER_OK, statuses[i]);
        CHECK_INT(probe.retry_after_ms, waits_ms[i]);
        probe_fini(&probe);
    }
    teardown(&fix);
}

static void test_network__does_not_follow_a_redirect(void)
{
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add_answer(fix.server, 302, "Location: http://10.0.0.1/x\r\n",
                                 "text/plain", "moved");
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    probe_check_end(&probe, CDR_TRANSFER_OK, 302);
    CHECK_TEXT(probe.location, "http://10.0.0.1/x");
    CHECK_TEXT(cdr_buf_text(&probe.body), "moved");
    CHECK_INT(http_server_request_count(fix.server), 1);
    probe_fini(&probe);
    teardown(&fix);
}

static void test_network__ignores_trailers(void)
{
    static const http_step trailed[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                  "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"
                  "Content-Type: text/html\r\nRetry-After: 9\r\n\r\n"),
        HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, trailed);
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    CHECK_INT(probe.n_heads, 1);
    CHECK_TEXT(probe.content_type, "text/plain");
    probe_fini(&probe);
    teardown(&fix);
}

static void test_network__reads_what_is_compressed_unasked(void)
{
    static const char zipped[] =
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7"
        "\x51\xc8\x00\x51\x00\xff\xc5\xcc\xf3\x0c\x00\x00\x00";
    const http_step steps[] = {HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                                         "Connection: close\r\n\r\n"),
                               {HTTP_STEP_SEND, zipped, sizeof(zipped) - 1, NULL},
                               HTTP_CLOSE,
                               HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, steps);
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    probe_check_end(&probe, CDR_TRANSFER_OK, 200);
    CHECK_TEXT(cdr_buf_text(&probe.body), "hello, hello");
    char asked[32];
    CHECK_TEXT(http_request_header(http_server_request(fix.server, 0),
                                   "Accept-Encoding", asked, sizeof asked),
               "identity");
    probe_fini(&probe);
    teardown(&fix);
}

static void check_refused(cdr_network *network, const char *url, const char *name,
                          const char *value, const char *text)
{
    const cdr_http_header header = {name, value};
    const cdr_http_request request = {.url = url, .headers = &header, .n_headers = 1};
    static const cdr_transfer_handler handler = {NULL, NULL, NULL};
    cdr_transfer *transfer = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_network_start(network, &request, &handler, NULL, &transfer, &err),
                 CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, text);
    CHECK_LACKS(err.text, "secret");
    CHECK(transfer == NULL);
}

static void test_network__refuses_urls_and_headers_that_are_none(void)
{
    fixture fix;
    setup(&fix, NULL);
    const char *good = http_server_url(fix.server);
    check_refused(fix.network, "", "A", "b", "http://host/");
    check_refused(fix.network, "file:///etc/passwd", "A", "b", "file:///etc/passwd");
    check_refused(fix.network, "ftp://host/", "A", "b", "ftp://host/");
    check_refused(fix.network, "http:///path", "A", "b", "http:///path");
    check_refused(fix.network, "http://u:secret@host/\r\nX: y", "A", "b", "host");
    check_refused(fix.network, good, "Authorization", "secret\r\nX: y",
                  "'Authorization'");
    check_refused(fix.network, good, "Authorization", "secret\n", "line end");
    check_refused(fix.network, good, "A\r\nB", "secret", "name");
    check_refused(fix.network, good, "A:", "secret", "name");
    check_refused(fix.network, good, "", "secret", "without a name");
    CHECK_INT(http_server_connection_count(fix.server), 0);
    teardown(&fix);
}

static void test_network__reaches_this_machine_without_a_proxy(void)
{
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add_answer(fix.server, 200, NULL, "text/plain", "ok");
    http_server *proxy = http_server_start(NULL);
    (void)http_server_add_answer(proxy, 200, NULL, "text/plain", "of the proxy");
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    (void)setenv("http_proxy", http_server_url(proxy), 1);
    const char *port = strrchr(http_server_url(fix.server), ':');
    char local[64];
    (void)snprintf(local, sizeof local, "http://LocalHost%s/", port);
    const char *urls[] = {http_server_url(fix.server), local, "http://model.test/v1"};
    const char *bodies[] = {"ok", "ok", "of the proxy"};
    for (int i = 0; i < 3; i++) {
        transfer_probe probe;
        probe_init(&probe, fix.network);
        CHECK(probe_get(&probe, urls[i]));
        probe_check_end(&probe, CDR_TRANSFER_OK, 200);
        CHECK_TEXT(cdr_buf_text(&probe.body), bodies[i]);
        probe_fini(&probe);
    }
    (void)unsetenv("http_proxy"); // NOLINT(concurrency-mt-unsafe)
    CHECK_INT(http_server_request_count(proxy), 1);
    CHECK_TEXT(http_server_request(proxy, 0)->path, "http://model.test/v1");
    teardown(&fix);
    http_server_stop(proxy);
}

// Calls `check` for each descriptor that is open. Returns how many there are.
static int each_descriptor(void (*check)(int fd))
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;
    for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        int fd = (int)strtol(entry->d_name, NULL, 10);
        if (entry->d_name[0] == '.' || fd == dirfd(folder))
            continue;
        if (check)
            check(fd);
        n++;
    }
    (void)closedir(folder);
    return n;
}

static void check_closes_on_exec(int fd)
{
    struct sockaddr_storage address = {0};
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) == 0 &&
        address.ss_family == AF_INET)
        CHECK((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
}

static void test_network__leaves_no_socket_to_child_processes(void)
{
    static const http_step held[] = {HTTP_HOLD, HTTP_CLOSE, HTTP_END};
    fixture fix;
    setup(&fix, NULL);
    (void)http_server_add(fix.server, held);
    transfer_probe probe;
    probe_init(&probe, fix.network);
    CHECK(probe_get(&probe, http_server_url(fix.server)));
    CHECK(http_server_await_held(fix.server, 1));
    (void)each_descriptor(check_closes_on_exec);
    cdr_transfer_cancel(probe.transfer);
    probe_fini(&probe);
    teardown(&fix);
}

static void test_network__raises_the_limit_of_descriptors(void)
{
    struct rlimit before;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit low = before;
    low.rlim_cur = before.rlim_max > 256 ? 256 : before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &low), 0);
    fixture fix;
    setup(&fix, NULL);
    struct rlimit after;
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &after), 0);
    rlim_t wanted = before.rlim_max < 1048576 ? before.rlim_max : 1048576;
    CHECK(after.rlim_cur == wanted);
    teardown(&fix);
}

static void test_network__handles_no_signal_on_its_thread(void)
{
    fixture fix;
    setup(&fix, NULL);
    DIR *folder = opendir("/proc/self/task");
    int n_found = 0;
    for (const struct dirent *task = readdir(folder); task; task = readdir(folder)) {
        char path[300];
        char name[64] = "";
        size_t len = 0;
        (void)snprintf(path, sizeof path, "/proc/self/task/%s", task->d_name);
        char *comm = case_file_read(path, "comm", &len);
        (void)snprintf(name, sizeof name, "%s", comm ? comm : "");
        free(comm);
        if (strcmp(name, "cadre-network\n") != 0)
            continue;
        n_found++;
        char *status = case_file_read(path, "status", &len);
        const char *blocked = strstr(status, "SigBlk:\t");
        uint64_t mask = blocked ? strtoull(blocked + 8, NULL, 16) : 0;
        // All but KILL, STOP and the two that glibc keeps for itself (32, 33).
        CHECK((mask | 0x180040100) == UINT64_MAX);
        free(status);
    }
    (void)closedir(folder);
    CHECK_INT(n_found, 1);
    teardown(&fix);
}

static void test_network__closes_with_transfers_under_way(void)
{
    static const http_step held[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), HTTP_HOLD,
        HTTP_END};
    int n_before = each_descriptor(NULL);
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add(fix.server, held);
    transfer_probe probes[3];
    for (int i = 0; i < 3; i++) {
        probe_init(&probes[i], fix.network);
        CHECK(probe_get(&probes[i], http_server_url(fix.server)));
    }
    CHECK(probe_await_bytes(&probes[0], 4));
    cdr_network_close(fix.network);
    for (int i = 0; i < 3; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_CANCELLED, probes[i].end.status);
        cdr_transfer_cancel(probes[i].transfer); // allowed, and without effect
        cdr_transfer_resume(probes[i].transfer);
        probe_fini(&probes[i]);
    }
    http_server_stop(fix.server);
    CHECK_INT(each_descriptor(NULL), n_before);
}

static void test_network__runs_more_than_two_lanes_of_transfers(void)
{
    enum {
        N = 2100
    };
    static const http_step held[] = {
        HTTP_SEND("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nfir"), HTTP_HOLD,
        HTTP_SEND("st!"), HTTP_END};
    fixture fix;
    const http_server_config config = {.repeat_last = true};
    setup(&fix, &config);
    (void)http_server_add(fix.server, held);
    transfer_probe *probes = calloc(N, sizeof *probes);
    for (int i = 0; i < N; i++) {
        probe_init(&probes[i], fix.network);
        CHECK(probe_get(&probes[i], http_server_url(fix.server)));
    }
    CHECK(http_server_await_held(fix.server, N));
    CHECK_INT(http_server_connection_count(fix.server), N);
    http_server_release_all(fix.server);
    for (int i = 0; i < N; i++) {
        probe_check_end(&probes[i], CDR_TRANSFER_OK, 200);
        CHECK_TEXT(cdr_buf_text(&probes[i].body), "first!");
        probe_fini(&probes[i]);
    }
    free(probes);
    teardown(&fix);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_network__posts_a_body_and_gives_head_body_and_end),
        CHECK_TEST(test_network__gets_when_there_is_no_body),
        CHECK_TEST(test_network__sends_a_big_body_at_once),
        CHECK_TEST(test_network__keeps_the_connection),
        CHECK_TEST(test_network__repeats_on_a_kept_connection_that_was_closed),
        CHECK_TEST(test_network__does_not_wait_for_the_answer_of_another),
        CHECK_TEST(test_network__passes_bodies_on_as_they_come),
        CHECK_TEST(test_network__sees_the_final_response_only),
        CHECK_TEST(test_network__tells_how_long_to_wait),
        CHECK_TEST(test_network__does_not_follow_a_redirect),
        CHECK_TEST(test_network__ignores_trailers),
        CHECK_TEST(test_network__reads_what_is_compressed_unasked),
        CHECK_TEST(test_network__refuses_urls_and_headers_that_are_none),
        CHECK_TEST(test_network__reaches_this_machine_without_a_proxy),
        CHECK_TEST(test_network__leaves_no_socket_to_child_processes),
        CHECK_TEST(test_network__raises_the_limit_of_descriptors),
        CHECK_TEST(test_network__handles_no_signal_on_its_thread),
        CHECK_TEST(test_network__closes_with_transfers_under_way),
        CHECK_TEST(test_network__runs_more_than_two_lanes_of_transfers),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/network", tests);
}
