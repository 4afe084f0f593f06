// aimock: its process and its journal.
#include "support/aimock.h"

#include "support/program.h"

#include "base/buf.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define START_MS 30000
#define STOP_MS 5000
#define PAUSE_MS 20 // between two attempts to connect
#define MAX_STARTS 3
#define MAX_ARGUMENTS 24

static const char *program_path(char buf[4096])
{
    return program_source_path("tests/aimock/node_modules/.bin/llmock", buf, 4096);
}

bool aimock_is_there(void)
{
    static char check[] =
        "const [major, minor] = process.versions.node.split('.').map(Number);"
        "process.exit(major > 20 || (major === 20 && minor >= 15) ? 0 : 1);";
    char node[] = "node", option[] = "-e", path[4096];
    char *const arguments[] = {node, option, check, NULL};
    pid_t pid = 0;
    int status = -1;

    if (access(program_path(path), R_OK) != 0) {
        fputs("aimock is not installed: run scripts/aimock-install\n", stderr);
        return false;
    }
    if (posix_spawnp(&pid, node, NULL, NULL, arguments, environ) != 0 ||
        waitpid(pid, &status, 0) != pid || status != 0) {
        fputs("aimock needs Node.js 20.15 or newer: run scripts/aimock-install\n",
              stderr);
        return false;
    }
    return true;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct sockaddr_in address_of(int port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

// A port that nobody has at this moment; 0: none could be had.
static int find_port(void)
{
    struct sockaddr_in address = address_of(0);
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool has_port = fd >= 0 && bind(fd, (struct sockaddr *)&address, len) == 0 &&
                    getsockname(fd, (struct sockaddr *)&address, &len) == 0;

    if (fd >= 0)
        close(fd);
    return has_port ? ntohs(address.sin_port) : 0;
}

static bool is_listening(int port)
{
    struct sockaddr_in address = address_of(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_connected =
        fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

    if (fd >= 0)
        close(fd);
    return is_connected;
}

// From fork to exec: only what is safe there.
static _Noreturn void become_mock(char *const *arguments, pid_t parent)
{
    int quiet = open("/dev/null", O_RDWR | O_CLOEXEC);

    // A test that crashes leaves no server behind.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(quiet, STDIN_FILENO) < 0 ||
        dup2(quiet, STDOUT_FILENO) < 0)
        _exit(126);
    execvp(arguments[0], arguments);
    _exit(127);
}

static bool start_process(aimock *mock, const char *const *options)
{
    char path[4096], fixtures[4096], port[16];
    const char *arguments[MAX_ARGUMENTS] = {
        "node",
        program_path(path),
        "-p",
        port,
        "-f",
        program_source_path("tests/aimock/fixtures", fixtures, sizeof(fixtures)),
        "--strict",
        "--chunk-size",
        "6",
        "--log-level",
        "warn"};
    size_t n = 11;
    char *copied[MAX_ARGUMENTS];
    pid_t parent = getpid();

    (void)snprintf(port, sizeof(port), "%d", mock->port);
    for (size_t i = 0; options && options[i] && CHECK(n + 1 < MAX_ARGUMENTS); i++)
        arguments[n++] = options[i];
    memcpy(copied, arguments, sizeof(copied)); // exec wants them without const
    mock->pid = fork();
    if (mock->pid == 0)
        become_mock(copied, parent);
    if (mock->pid < 0)
        mock->pid = 0;
    mock->pidfd = mock->pid > 0 ? pidfd_open(mock->pid, 0) : -1;
    return mock->pidfd >= 0;
}

// Waits until it has ended; false: it still runs.
static bool await_end(const aimock *mock, int timeout_ms)
{
    struct pollfd end = {.fd = mock->pidfd, .events = POLLIN};

    return poll(&end, 1, timeout_ms) > 0;
}

static bool await_listening(const aimock *mock)
{
    int64_t deadline = now_ms() + START_MS;

    while (!is_listening(mock->port))
        if (await_end(mock, PAUSE_MS) || now_ms() > deadline)
            return false;
    return true;
}

bool aimock_start(aimock *mock, const char *const *options)
{
    bool is_started = false;

    // Between the finding of a port and its use another program may take it.
    for (int i = 0; i < MAX_STARTS && !is_started; i++) {
        *mock = (aimock){.pidfd = -1, .port = find_port()};
        (void)snprintf(mock->base_url, sizeof(mock->base_url), "http://127.0.0.1:%d/v1",
                       mock->port);
        is_started =
            mock->port && start_process(mock, options) && await_listening(mock);
        if (!is_started)
            aimock_stop(mock);
    }
    return CHECK(is_started);
}

void aimock_stop(aimock *mock)
{
    if (mock->pid > 0) {
        kill(mock->pid, SIGTERM);
        if (!await_end(mock, STOP_MS))
            kill(mock->pid, SIGKILL);
        waitpid(mock->pid, NULL, 0);
    }
    if (mock->pidfd >= 0)
        close(mock->pidfd);
    *mock = (aimock){.pidfd = -1};
}

static size_t keep(char *data, size_t size, size_t n, void *ctx)
{
    cdr_buf_append(ctx, data, size * n);
    return size * n;
}

json_t *aimock_journal(const aimock *mock)
{
    char url[96];
    cdr_buf text = CDR_BUF_INIT;
    json_t *journal = NULL;
    CURL *easy = curl_easy_init();

    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d/__aimock/journal",
                   mock->port);
    if (easy && curl_easy_setopt(easy, CURLOPT_URL, url) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &text) == CURLE_OK &&
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 10000L) == CURLE_OK &&
        curl_easy_perform(easy) == CURLE_OK)
        journal = json_loads(cdr_buf_text(&text), 0, NULL);
    curl_easy_cleanup(easy);
    cdr_buf_fini(&text);
    CHECK(json_is_array(journal));
    return journal;
}
