// A connection of the test server: it reads a request, plays a script, and reads the
// next one, until a step or the client closes it.
#include "support/http_connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TLS_HELLO 0x16 // the first byte a TLS client sends

// What a TLS server sends that wants nothing of it: a fatal alert, handshake_failure.
static const char tls_refusal[] = {0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x28};

int64_t http_now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void http_die(const char *what)
{
    (void)fputs("test server: ", stderr);
    perror(what);
    abort();
}

static void watch(http_server *server, http_connection *conn, uint32_t interest)
{
    if (conn->interest == interest)
        return;
    struct epoll_event event = {.events = interest, .data.ptr = conn};
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_MOD, conn->fd, &event) != 0)
        http_die("epoll_ctl");
    conn->interest = interest;
}

void http_connection_add(http_server *server, int fd)
{
    int yes = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    http_connection *conn = http_alloc(NULL, sizeof *conn);
    *conn = (http_connection){.fd = fd, .number = server->n_connections++};
    conn->interest = EPOLLIN | EPOLLRDHUP;
    server->connections =
        http_alloc(server->connections, (size_t)server->n_connections * sizeof(void *));
    server->connections[conn->number] = conn;
    struct epoll_event event = {.events = conn->interest, .data.ptr = conn};
    if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        http_die("epoll_ctl");
    pthread_cond_broadcast(&server->changed);
}

void http_record_free(http_record *record)
{
    if (!record)
        return;
    free(record->head);
    free(record->body);
    free(record);
}

void http_connection_free(http_connection *conn)
{
    if (conn->fd >= 0)
        (void)close(conn->fd);
    free(conn->in);
    free(conn);
}

static void set_due(http_server *server, http_connection *conn, int64_t due_ns)
{
    server->n_due += (due_ns != 0) - (conn->due_ns != 0);
    conn->due_ns = due_ns;
}

static void set_held(http_server *server, http_connection *conn, int64_t held)
{
    server->n_held += (held != 0) - (conn->held != 0);
    conn->held = held;
}

static void close_connection(http_server *server, http_connection *conn)
{
    set_due(server, conn, 0);
    set_held(server, conn, 0);
    (void)close(conn->fd);
    conn->fd = -1;
    conn->state = HTTP_CONNECTION_CLOSED;
    pthread_cond_broadcast(&server->changed);
}

static void client_closed(http_server *server, http_connection *conn)
{
    conn->closed_ns = http_now_ns();
    close_connection(server, conn);
}

static void reset_connection(http_server *server, http_connection *conn)
{
    struct linger hard = {1, 0};
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close_connection(server, conn);
}

// Sends what the step still has. False: the rest waits, or the client is gone.
static bool send_some(http_server *server, http_connection *conn, const http_play *play)
{
    while (conn->sent < play->len) {
        size_t size = http_play_size(play, conn->n_sends);
        size = size < play->len - conn->sent ? size : play->len - conn->sent;
        ssize_t n = send(conn->fd, play->data + conn->sent, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            watch(server, conn, conn->interest | EPOLLOUT);
            return false;
        }
        if (n < 0) {
            client_closed(server, conn);
            return false;
        }
        conn->sent += (size_t)n;
        conn->n_sends++;
        if (server->config.pace_us > 0) {
            int64_t pace_ns = (int64_t)server->config.pace_us * 1000;
            set_due(server, conn, http_now_ns() + pace_ns);
            return false;
        }
    }
    return true;
}

static bool pass_hold(http_server *server, http_connection *conn)
{
    if (!server->release_all && server->releases == 0) {
        if (conn->held == 0) {
            set_held(server, conn, ++server->next_hold);
            pthread_cond_broadcast(&server->changed);
        }
        return false;
    }
    if (!server->release_all)
        server->releases--;
    set_held(server, conn, 0);
    return true;
}

// One step. False: it waits, or the script has come to its end.
static bool play_step(http_server *server, http_connection *conn, const http_play *play)
{
    switch (play->kind) {
    case HTTP_STEP_SEND:
        return send_some(server, conn, play);
    case HTTP_STEP_HOLD:
        return pass_hold(server, conn);
    case HTTP_STEP_SKIP_BODY:
        return true;
    case HTTP_STEP_DEAF:
        conn->deaf = true;
        watch(server, conn, EPOLLRDHUP);
        return true;
    case HTTP_STEP_CLOSE:
        (void)shutdown(conn->fd, SHUT_WR);
        conn->state = HTTP_CONNECTION_DRAINING;
        break;
    case HTTP_STEP_RESET:
        reset_connection(server, conn);
        break;
    case HTTP_STEP_END:
        conn->state = HTTP_CONNECTION_READING;
        break;
    }
    server->n_played++;
    pthread_cond_broadcast(&server->changed);
    return false;
}

static void play_script(http_server *server, http_connection *conn)
{
    while (play_step(server, conn, &conn->script->plays[conn->step])) {
        conn->step++;
        conn->sent = 0;
        conn->n_sends = 0;
    }
}

static void drop_input(http_connection *conn, size_t len)
{
    if (!conn->in || len == 0)
        return;
    memmove(conn->in, conn->in + len, conn->in_len - len);
    conn->in_len -= len;
}

static char *copy_text(const char *data, size_t len)
{
    char *copy = http_alloc(NULL, len + 1);
    memcpy(copy, data, len);
    copy[len] = '\0';
    return copy;
}

// Ends a word in place; returns what follows the separator.
static char *cut(char *text, const char *separator)
{
    char *at = strstr(text, separator);
    if (!at)
        return text + strlen(text);
    *at = '\0';
    return at + strlen(separator);
}

// Takes the head of a request off the input. NULL: it is not whole yet.
static http_record *read_head(http_server *server, http_connection *conn)
{
    const char *end =
        conn->in_len > 0 ? memmem(conn->in, conn->in_len, "\r\n\r\n", 4) : NULL;
    if (!end)
        return NULL;
    size_t len = (size_t)(end - conn->in) + 2;
    http_record *record = http_alloc(NULL, sizeof *record);
    *record = (http_record){.head = copy_text(conn->in, len), .body = copy_text("", 0)};
    drop_input(conn, len + 2);
    http_request *request = &record->request;
    char *headers = cut(record->head, "\r\n");
    char *path = cut(record->head, " ");
    (void)cut(path, " ");
    request->method = record->head;
    request->path = path;
    request->headers = headers;
    request->body = record->body;
    request->connection = conn->number;
    request->at_ns = http_now_ns();
    request->number = server->n_records++;
    server->records =
        http_alloc(server->records, (size_t)server->n_records * sizeof(void *));
    server->records[request->number] = record;
    char length[32];
    (void)http_request_header(request, "Content-Length", length, sizeof length);
    record->body_len = strtoul(length, NULL, 10);
    return record;
}

static const http_script *script_at(http_server *server, int i)
{
    if (i >= server->n_scripts && server->config.repeat_last)
        i = server->n_scripts - 1;
    return i >= 0 && i < server->n_scripts ? server->scripts[i] : server->fallback;
}

static const http_script *choose_script(http_server *server,
                                        const http_request *request)
{
    if (!server->config.choose)
        return script_at(server, request->number);
    pthread_mutex_unlock(&server->mu);
    int i = server->config.choose(server->config.ctx, request);
    pthread_mutex_lock(&server->mu);
    return script_at(server, i);
}

static bool skips_body(http_server *server, const http_record *record)
{
    return !server->config.choose &&
           script_at(server, record->request.number)->plays[0].kind ==
               HTTP_STEP_SKIP_BODY;
}

// Reads a request and takes up its script. False: it is not whole yet.
static bool read_request(http_server *server, http_connection *conn)
{
    if (!conn->record)
        conn->record = read_head(server, conn);
    http_record *record = conn->record;
    if (!record)
        return false;
    if (!skips_body(server, record)) {
        if (conn->in_len < record->body_len)
            return false;
        free(record->body);
        record->body = copy_text(conn->in ? conn->in : "", record->body_len);
        record->request.body = record->body;
        record->request.body_len = record->body_len;
        drop_input(conn, record->body_len);
    }
    conn->record = NULL;
    conn->script = choose_script(server, &record->request);
    conn->state = HTTP_CONNECTION_PLAYING;
    conn->step = 0;
    conn->sent = 0;
    conn->n_sends = 0;
    record->whole = true;
    server->n_whole++;
    pthread_cond_broadcast(&server->changed);
    return true;
}

void http_connection_go_on(http_server *server, http_connection *conn)
{
    if (conn->state == HTTP_CONNECTION_PLAYING) {
        set_due(server, conn, 0);
        play_script(server, conn);
    }
    while (conn->state == HTTP_CONNECTION_READING && read_request(server, conn))
        play_script(server, conn);
}

static void keep_input(http_connection *conn, const char *data, size_t len)
{
    if (conn->in_len + len > conn->in_capacity) {
        conn->in_capacity = 2 * (conn->in_len + len);
        conn->in = http_alloc(conn->in, conn->in_capacity);
    }
    memcpy(conn->in + conn->in_len, data, len);
    conn->in_len += len;
}

static void read_input(http_server *server, http_connection *conn)
{
    char part[16384];
    ssize_t n = recv(conn->fd, part, sizeof part, 0);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        client_closed(server, conn);
        return;
    }
    if (conn->state == HTTP_CONNECTION_READING && !conn->record && conn->in_len == 0 &&
        part[0] == TLS_HELLO) {
        (void)send(conn->fd, tls_refusal, sizeof tls_refusal, MSG_NOSIGNAL);
        close_connection(server, conn);
        return;
    }
    if (conn->state != HTTP_CONNECTION_DRAINING)
        keep_input(conn, part, (size_t)n);
    if (conn->state == HTTP_CONNECTION_READING)
        http_connection_go_on(server, conn);
}

void http_connection_on_event(http_server *server, http_connection *conn,
                              uint32_t events)
{
    const uint32_t gone = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    if (conn->state == HTTP_CONNECTION_CLOSED)
        return;
    if (conn->deaf && (events & gone)) {
        client_closed(server, conn);
        return;
    }
    if (!conn->deaf && (events & (EPOLLIN | gone)))
        read_input(server, conn);
    if (conn->state == HTTP_CONNECTION_PLAYING && (events & EPOLLOUT)) {
        watch(server, conn, conn->interest & ~(uint32_t)EPOLLOUT);
        http_connection_go_on(server, conn);
    }
}
