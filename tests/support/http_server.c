// The loopback server of the tests: its thread, and what tests ask of it.
//
// Records of connections and requests live until the server stops, so that a test can
// look at them afterwards.
#include "support/http_server.h"

#include "support/http_connection.h"
#include "support/http_script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define N_EVENTS 64
#define N_FILLERS 4
#define PATIENCE_S 10

static const http_step no_script[] = {
    HTTP_SEND("HTTP/1.1 500 No script left\r\nContent-Type: text/plain\r\n"
              "Content-Length: 42\r\n\r\nthe test server has no script left for it\n"),
    HTTP_END};

static void wake(http_server *server)
{
    uint64_t one = 1;
    if (write(server->wake_fd, &one, sizeof one) < 0 && errno != EAGAIN)
        http_die("eventfd");
}

static void on_event(http_server *server, const struct epoll_event *event)
{
    if (event->data.ptr == &server->listen_fd) {
        int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            http_connection_add(server, fd);
    } else if (event->data.ptr == &server->wake_fd) {
        uint64_t count = 0;
        if (read(server->wake_fd, &count, sizeof count) < 0 && errno != EAGAIN)
            http_die("eventfd");
    } else {
        http_connection_on_event(server, event->data.ptr, event->events);
    }
}

static void pass_holds(http_server *server)
{
    while (server->n_held > 0 && (server->release_all || server->releases > 0)) {
        http_connection *first = NULL;
        for (int i = 0; i < server->n_connections; i++) {
            http_connection *conn = server->connections[i];
            if (conn->held != 0 && (!first || conn->held < first->held))
                first = conn;
        }
        http_connection_go_on(server, first);
    }
}

// Sends what is due. Returns when the next send is, INT64_MAX: never.
static int64_t send_due(http_server *server)
{
    int64_t next = INT64_MAX;
    int64_t now = server->n_due > 0 ? http_now_ns() : 0;
    for (int i = 0; i < server->n_connections && server->n_due > 0; i++) {
        http_connection *conn = server->connections[i];
        if (conn->due_ns != 0 && conn->due_ns <= now)
            http_connection_go_on(server, conn);
        if (conn->due_ns != 0 && conn->due_ns < next)
            next = conn->due_ns;
    }
    return next;
}

// epoll_wait counts milliseconds only; pacing is finer.
static int await_events(http_server *server, struct epoll_event *events, int64_t due_ns)
{
    struct pollfd self = {.fd = server->epoll_fd, .events = POLLIN};
    struct timespec left = {0, 0};
    int64_t wait_ns = due_ns == INT64_MAX ? 0 : due_ns - http_now_ns();
    if (wait_ns > 0) {
        left.tv_sec = wait_ns / 1000000000;
        left.tv_nsec = wait_ns % 1000000000;
    }
    (void)ppoll(&self, 1, due_ns == INT64_MAX ? NULL : &left, NULL);
    return epoll_wait(server->epoll_fd, events, N_EVENTS, 0);
}

static void *serve(void *arg)
{
    http_server *server = arg;
    struct epoll_event events[N_EVENTS];
    int64_t due_ns = INT64_MAX;
    pthread_mutex_lock(&server->mu);
    while (!server->quit) {
        pthread_mutex_unlock(&server->mu);
        int n = await_events(server, events, due_ns);
        pthread_mutex_lock(&server->mu);
        for (int i = 0; i < n; i++)
            on_event(server, &events[i]);
        pass_holds(server);
        due_ns = send_due(server);
    }
    pthread_mutex_unlock(&server->mu);
    return NULL;
}

// Fills the queue of those who wait for accept, so that further connects hang.
static void fill_backlog(http_server *server, const struct sockaddr_in *address)
{
    server->fillers = http_alloc(NULL, N_FILLERS * sizeof(int));
    for (int i = 0; i < N_FILLERS; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0)
            http_die("socket");
        (void)connect(fd, (const struct sockaddr *)address, sizeof *address);
        server->fillers[server->n_fillers++] = fd;
    }
}

static void open_port(http_server *server)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        http_die("bind");
    server->listen_fd = fd;
    bool hole = server->config.mode == HTTP_SERVER_BLACKHOLE;
    if (server->config.mode != HTTP_SERVER_REFUSE && listen(fd, hole ? 0 : 4096) != 0)
        http_die("listen");
    if (hole)
        fill_backlog(server, &address);
    (void)snprintf(server->url, sizeof server->url, "http://127.0.0.1:%d",
                   ntohs(address.sin_port));
}

static void watch_own(http_server *server, int *fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = fd};
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, *fd, &event) != 0)
        http_die("epoll_ctl");
}

static void init_sync(http_server *server)
{
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&server->changed, &attr);
    (void)pthread_condattr_destroy(&attr);
    (void)pthread_mutex_init(&server->mu, NULL);
}

http_server *http_server_start(const http_server_config *config)
{
    http_server *server = http_alloc(NULL, sizeof *server);
    *server = (http_server){.fallback = http_script_new(no_script)};
    if (config)
        server->config = *config;
    init_sync(server);
    open_port(server);
    server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    server->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (server->epoll_fd < 0 || server->wake_fd < 0)
        http_die("epoll");
    watch_own(server, &server->wake_fd);
    if (server->config.mode == HTTP_SERVER_ANSWER)
        watch_own(server, &server->listen_fd);
    if (pthread_create(&server->thread, NULL, serve, server) != 0)
        http_die("pthread_create");
    return server;
}

static void free_records(http_server *server)
{
    for (int i = 0; i < server->n_connections; i++)
        http_connection_free(server->connections[i]);
    for (int i = 0; i < server->n_records; i++)
        http_record_free(server->records[i]);
    for (int i = 0; i < server->n_scripts; i++)
        http_script_free(server->scripts[i]);
    http_script_free(server->fallback);
    free(server->connections);
    free(server->records);
    free(server->scripts);
}

void http_server_stop(http_server *server)
{
    if (!server)
        return;
    pthread_mutex_lock(&server->mu);
    server->quit = true;
    pthread_mutex_unlock(&server->mu);
    wake(server);
    (void)pthread_join(server->thread, NULL);
    free_records(server);
    for (int i = 0; i < server->n_fillers; i++)
        (void)close(server->fillers[i]);
    free(server->fillers);
    (void)close(server->listen_fd);
    (void)close(server->epoll_fd);
    (void)close(server->wake_fd);
    (void)pthread_cond_destroy(&server->changed);
    (void)pthread_mutex_destroy(&server->mu);
    free(server);
}

const char *http_server_url(const http_server *server)
{
    return server->url;
}

static int add_script(http_server *server, http_script *script)
{
    pthread_mutex_lock(&server->mu);
    int i = server->n_scripts++;
    server->scripts =
        http_alloc(server->scripts, (size_t)server->n_scripts * sizeof(void *));
    server->scripts[i] = script;
    pthread_mutex_unlock(&server->mu);
    return i;
}

int http_server_add(http_server *server, const http_step *steps)
{
    return add_script(server, http_script_new(steps));
}

int http_server_add_answer(http_server *server, int status, const char *headers,
                           const char *content_type, const char *body)
{
    return add_script(server,
                      http_script_new_answer(status, headers, content_type, body));
}

int http_server_add_stream(http_server *server, const char *body, size_t len,
                           const char *chunks)
{
    return add_script(server, http_script_new_stream(body, len, chunks));
}

int http_server_add_case(http_server *server, const char *folder)
{
    int n = 0;
    for (;;) {
        http_script *script = http_script_new_case(folder, n + 1);
        if (!script)
            return n;
        (void)add_script(server, script);
        n++;
    }
}

void http_server_release(http_server *server)
{
    pthread_mutex_lock(&server->mu);
    server->releases++;
    pthread_mutex_unlock(&server->mu);
    wake(server);
}

void http_server_release_all(http_server *server)
{
    pthread_mutex_lock(&server->mu);
    server->release_all = true;
    pthread_mutex_unlock(&server->mu);
    wake(server);
}

// Waits until the counter reaches `n`.
static bool await_count(http_server *server, const int *counter, int n)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&server->mu);
    int rc = 0;
    while (*counter < n && rc == 0)
        rc = pthread_cond_timedwait(&server->changed, &server->mu, &until);
    bool reached = *counter >= n;
    pthread_mutex_unlock(&server->mu);
    return reached;
}

bool http_server_await_held(http_server *server, int n)
{
    return await_count(server, &server->n_held, n);
}

bool http_server_await_scripts(http_server *server, int n)
{
    return await_count(server, &server->n_played, n);
}

bool http_server_await_client_close(http_server *server, int connection, int64_t *at_ns)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&server->mu);
    int rc = 0;
    int64_t closed_ns = 0;
    while (closed_ns == 0 && rc == 0) {
        if (connection < server->n_connections)
            closed_ns = server->connections[connection]->closed_ns;
        if (closed_ns == 0)
            rc = pthread_cond_timedwait(&server->changed, &server->mu, &until);
    }
    pthread_mutex_unlock(&server->mu);
    if (closed_ns != 0 && at_ns)
        *at_ns = closed_ns;
    return closed_ns != 0;
}

static int read_count(http_server *server, const int *counter)
{
    pthread_mutex_lock(&server->mu);
    int n = *counter;
    pthread_mutex_unlock(&server->mu);
    return n;
}

int http_server_request_count(http_server *server)
{
    return read_count(server, &server->n_whole);
}

int http_server_connection_count(http_server *server)
{
    return read_count(server, &server->n_connections);
}

int http_server_played_count(http_server *server)
{
    return read_count(server, &server->n_played);
}

const http_request *http_server_request(http_server *server, int i)
{
    const http_request *request = NULL;
    pthread_mutex_lock(&server->mu);
    if (i >= 0 && i < server->n_records && server->records[i]->whole)
        request = &server->records[i]->request;
    pthread_mutex_unlock(&server->mu);
    return request;
}

const char *http_request_header(const http_request *request, const char *name,
                                char *out, size_t out_size)
{
    size_t name_len = strlen(name);
    const char *line = request->headers;
    out[0] = '\0';
    while (*line != '\0') {
        const char *end = strstr(line, "\r\n");
        size_t len = end ? (size_t)(end - line) : strlen(line);
        if (len > name_len && line[name_len] == ':' &&
            strncasecmp(line, name, name_len) == 0) {
            const char *value = line + name_len + 1;
            value += strspn(value, " \t");
            (void)snprintf(out, out_size, "%.*s", (int)(line + len - value), value);
            return out;
        }
        line += end ? len + 2 : len;
    }
    return out;
}
