// The server that the benchmarks ask: one epoll loop, so that it costs little beside
// what is measured. A request is answered by a chunked event stream of `pieces` deltas,
// the first at once and the last, with the finish reason, after `spread_ms`.
#include "bench.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TICK_MS = 10,
    MAX_FDS = 20000,
    HEAD_BYTES = 8192
};

typedef struct peer {
    bool is_open, is_due;
    size_t body_left; // of the request being read
    size_t n_head;
    char head[HEAD_BYTES];
    int pieces_left;
    int ticks_left; // to the next piece
    int next_due;   // list of those that stream; -1: the last
} peer;

typedef struct server {
    int listener, epoll, timer;
    int pieces, spread_ms;
    int first_due;
    peer *peers[MAX_FDS];
} server;

static const char response_head[] = "HTTP/1.1 200 OK\r\n"
                                    "Content-Type: text/event-stream\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n";
static const char delta[] =
    "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},"
    "\"finish_reason\":null}]}\n\n";
static const char ending[] =
    "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}"
    "]}"
    "\n\ndata: "
    "{\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":5}}"
    "\n\ndata: [DONE]\n\n";

static void send_all(int fd, const char *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(fd, data, len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        data += n;
        len -= (size_t)n;
    }
}

static size_t add_chunk(char *to, size_t size, const char *text)
{
    return (size_t)snprintf(to, size, "%zx\r\n%s\r\n", strlen(text), text);
}

static void send_piece(const server *s, int fd, bool is_first)
{
    char out[4096];
    size_t n = 0;
    peer *p = s->peers[fd];
    if (is_first)
        n = (size_t)snprintf(out, sizeof out, "%s", response_head);
    n += add_chunk(out + n, sizeof out - n, delta);
    if (--p->pieces_left == 0) {
        n += add_chunk(out + n, sizeof out - n, ending);
        n += (size_t)snprintf(out + n, sizeof out - n, "0\r\n\r\n");
    }
    send_all(fd, out, n);
}

static int ticks_between(const server *s)
{
    int gaps = s->pieces > 1 ? s->pieces - 1 : 1;
    int ticks = s->spread_ms / TICK_MS / gaps;
    return ticks > 0 ? ticks : 1;
}

static void answer(server *s, int fd)
{
    peer *p = s->peers[fd];
    p->pieces_left = s->pieces;
    send_piece(s, fd, true);
    while (s->spread_ms == 0 && p->pieces_left > 0)
        send_piece(s, fd, false);
    if (p->pieces_left == 0 || p->is_due)
        return;
    p->ticks_left = ticks_between(s);
    p->is_due = true;
    p->next_due = s->first_due;
    s->first_due = fd;
}

static void close_peer(server *s, int fd)
{
    s->peers[fd]->is_open = false;
    close(fd);
}

static void on_tick(server *s)
{
    int *at = &s->first_due;
    while (*at >= 0) {
        int fd = *at;
        peer *p = s->peers[fd];
        if (p->is_open && --p->ticks_left <= 0) {
            send_piece(s, fd, false);
            p->ticks_left = ticks_between(s);
        }
        if (!p->is_open || p->pieces_left == 0) {
            p->is_due = false;
            *at = p->next_due;
        } else {
            at = &p->next_due;
        }
    }
}

// Takes bytes of requests: the head up to its blank line, then the body by its length.
static void take(server *s, int fd, const char *data, size_t len)
{
    peer *p = s->peers[fd];
    while (len > 0) {
        if (p->body_left > 0) {
            size_t n = len < p->body_left ? len : p->body_left;
            p->body_left -= n;
            data += n;
            len -= n;
            if (p->body_left == 0)
                answer(s, fd);
            continue;
        }
        if (p->n_head + 1 >= HEAD_BYTES) {
            close_peer(s, fd);
            return;
        }
        p->head[p->n_head++] = *data++;
        len--;
        p->head[p->n_head] = '\0';
        if (p->n_head < 4 || memcmp(p->head + p->n_head - 4, "\r\n\r\n", 4) != 0)
            continue;
        const char *length = strcasestr(p->head, "content-length:");
        p->body_left = length == NULL ? 0 : strtoul(length + 15, NULL, 10);
        p->n_head = 0;
        if (p->body_left == 0)
            answer(s, fd);
    }
}

static void on_readable(server *s, int fd)
{
    char data[65536];
    ssize_t n = recv(fd, data, sizeof data, 0);
    if (n <= 0 && (n == 0 || errno != EAGAIN))
        close_peer(s, fd);
    else if (n > 0)
        take(s, fd, data, (size_t)n);
}

static void on_connection(server *s)
{
    int one = 1;
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (fd < MAX_FDS && s->peers[fd] == NULL)
        s->peers[fd] = calloc(1, sizeof(peer));
    if (fd >= MAX_FDS || s->peers[fd] == NULL) {
        close(fd);
        return;
    }
    peer *p = s->peers[fd];
    p->is_open = true;
    p->n_head = p->body_left = 0;
    p->pieces_left = 0;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event);
}

static void serve(server *s)
{
    struct epoll_event events[512];
    for (;;) {
        int n = epoll_wait(s->epoll, events, 512, -1);
        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            uint64_t ticks = 0;
            if (fd == s->listener) {
                on_connection(s);
            } else if (fd == s->timer) {
                if (read(s->timer, &ticks, sizeof ticks) == (ssize_t)sizeof ticks)
                    while (ticks-- > 0)
                        on_tick(s);
            } else {
                on_readable(s, fd);
            }
        }
    }
}

static void watch(int epoll, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static int listen_on_loopback(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        perror("cadre-bench: listen");
        exit(1);
    }
    *port = ntohs(address.sin_port);
    return fd;
}

void bench_server_start(bench_server *out, int pieces, int spread_ms)
{
    static server s;
    struct rlimit files;
    s = (server){.pieces = pieces, .spread_ms = spread_ms, .first_due = -1};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    s.listener = listen_on_loopback(&out->port);
    out->pid = fork();
    if (out->pid == 0) {
        struct itimerspec tick = {{0, TICK_MS * 1000000L}, {0, TICK_MS * 1000000L}};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        s.epoll = epoll_create1(EPOLL_CLOEXEC);
        s.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        timerfd_settime(s.timer, 0, &tick, NULL);
        watch(s.epoll, s.listener);
        watch(s.epoll, s.timer);
        serve(&s);
    }
    close(s.listener);
}

void bench_server_stop(bench_server *stopped)
{
    kill(stopped->pid, SIGKILL);
    waitpid(stopped->pid, NULL, 0);
}
