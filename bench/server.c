// The server that the benchmarks ask: one epoll loop, so that it costs little beside
// what is measured. A request is answered by a chunked event stream of `pieces` deltas,
// the first at once and the last, with the call and the finish reason, after
// `spread_ms`. Those that stream hang in a wheel of ticks, so a tick costs nothing for
// those whose turn it is not.
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
    HEAD_BYTES = 8192,
    WHEEL = 128 // ticks; no gap between two pieces is longer
};

typedef struct peer {
    bool is_open, is_due;
    size_t body_left; // of the request being read
    size_t n_head;
    char head[HEAD_BYTES];
    int pieces_left;
    int call;     // the number of the call it is answered with; -1: text alone
    int next_due; // list of those due in the same tick; -1: the last
} peer;

typedef struct server {
    int listener, epoll, timer;
    bench_answers answers;
    int n_answered;
    int tick;
    int due[WHEEL]; // the first of those whose next piece is due in that tick
    peer *peers[MAX_FDS];
} server;

static const char response_head[] = "HTTP/1.1 200 OK\r\n"
                                    "Content-Type: text/event-stream\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n";
static const char delta[] =
    "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},"
    "\"finish_reason\":null}]}\n\n";
static const char call_delta[] =
    "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,"
    "\"id\":\"call_%d\",\"type\":\"function\",\"function\":{\"name\":\"note\","
    "\"arguments\":\"{\\\"n\\\": %d}\"}}]},\"finish_reason\":null}]}\n\n";
static const char ending[] =
    "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
    "\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"%s\"}"
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

static size_t add_ending(char *to, size_t size, const peer *p)
{
    char text[1024];
    size_t n = 0;
    if (p->call >= 0) {
        snprintf(text, sizeof text, call_delta, p->call, p->call);
        n = add_chunk(to, size, text);
    }
    snprintf(text, sizeof text, ending, p->call >= 0 ? "tool_calls" : "stop");
    n += add_chunk(to + n, size - n, text);
    return n + (size_t)snprintf(to + n, size - n, "0\r\n\r\n");
}

static void send_piece(const server *s, int fd, bool is_first)
{
    char out[4096];
    size_t n = 0;
    peer *p = s->peers[fd];
    if (is_first)
        n = (size_t)snprintf(out, sizeof out, "%s", response_head);
    n += add_chunk(out + n, sizeof out - n, delta);
    if (--p->pieces_left == 0)
        n += add_ending(out + n, sizeof out - n, p);
    send_all(fd, out, n);
}

static int ticks_between(const server *s)
{
    int gaps = s->answers.pieces > 1 ? s->answers.pieces - 1 : 1;
    int ticks = s->answers.spread_ms / TICK_MS / gaps;
    return ticks < 1 ? 1 : ticks < WHEEL ? ticks : WHEEL - 1;
}

static void set_due(server *s, int fd)
{
    int *first = &s->due[(s->tick + ticks_between(s)) % WHEEL];
    s->peers[fd]->is_due = true;
    s->peers[fd]->next_due = *first;
    *first = fd;
}

static void answer(server *s, int fd)
{
    peer *p = s->peers[fd];
    int nth = s->n_answered++ % (s->answers.n_calls + 1);
    p->call = nth < s->answers.n_calls ? nth : -1;
    p->pieces_left = s->answers.pieces;
    send_piece(s, fd, true);
    while (s->answers.spread_ms == 0 && p->pieces_left > 0)
        send_piece(s, fd, false);
    if (p->pieces_left > 0 && !p->is_due)
        set_due(s, fd);
}

static void close_peer(server *s, int fd)
{
    s->peers[fd]->is_open = false;
    close(fd);
}

static void on_tick(server *s)
{
    s->tick = (s->tick + 1) % WHEEL;
    int fd = s->due[s->tick];
    s->due[s->tick] = -1;
    while (fd >= 0) {
        peer *p = s->peers[fd];
        int next = p->next_due;
        p->is_due = false;
        if (p->is_open && p->pieces_left > 0)
            send_piece(s, fd, false);
        if (p->is_open && p->pieces_left > 0)
            set_due(s, fd);
        fd = next;
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

static void add_peer(server *s, int fd)
{
    int one = 1;
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

// Takes all that wait: were the backlog to overflow, a client would lose a second.
static void on_connection(server *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    for (; fd >= 0; fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC))
        add_peer(s, fd);
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
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(fd, 4096) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) != 0) {
        perror("cadre-bench: listen");
        exit(1);
    }
    *port = ntohs(address.sin_port);
    return fd;
}

void bench_server_start(bench_server *out, const bench_answers *answers)
{
    static server s;
    struct rlimit files;
    s = (server){.answers = *answers};
    for (int i = 0; i < WHEEL; i++)
        s.due[i] = -1;
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
