// A network thread's own state: sockets, timers, lanes and the transfers that run.
#include "net/loop.h"

#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define N_EVENTS 64
#define IDLE_EASIES 128 // 16 KiB each; kept beyond as many as run

static int64_t now_ms(void)
{
    return cdr_clock_now_ms(cdr_clock_real());
}

// The variables curl's command line program and OpenSSL's read.
static cadre_status find_ca_file(cdr_loop *loop, cadre_error *err)
{
    const char *path = getenv("CURL_CA_BUNDLE");
    if (!path || *path == '\0')
        path = getenv("SSL_CERT_FILE");
    if (!path || *path == '\0')
        return CADRE_OK;
    loop->ca_file = strdup(path);
    return loop->ca_file ? CADRE_OK
                         : cadre_fail(err, CADRE_ENOMEM, "network: no memory");
}

// Edge-triggered, so that a wake-up needs no read: each write is an edge.
static bool watch_wake_fd(cdr_loop *loop)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = loop->wake_fd};
    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, loop->wake_fd, &event) == 0;
}

cadre_status cdr_loop_init(cdr_loop *loop, cadre_error *err)
{
    *loop = (cdr_loop){.epoll_fd = -1, .wake_fd = -1, .now_ms = now_ms()};
    cadre_status status = find_ca_file(loop, err);
    if (status != CADRE_OK)
        return status;
    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    loop->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (loop->epoll_fd < 0 || loop->wake_fd < 0 || !watch_wake_fd(loop)) {
        char text[128];
        status = cadre_fail(err, CADRE_EIO, "network: cannot make an epoll set: %s",
                            strerror_r(errno, text, sizeof text));
        cdr_loop_fini(loop);
    }
    return status;
}

void cdr_loop_close(cdr_loop *loop)
{
    assert(!loop->running);
    for (size_t i = 0; i < loop->n_lanes; i++)
        cdr_lane_free(loop->lanes[i]);
    free(loop->lanes);
    loop->lanes = NULL;
    loop->n_lanes = 0;
    while (loop->idle_easies) {
        cdr_easy *easy = loop->idle_easies;
        loop->idle_easies = easy->next_idle;
        cdr_easy_free(easy);
    }
    cdr_timers_fini(&loop->timers);
    free(loop->sockets);
    loop->sockets = NULL;
    loop->n_sockets = 0;
    free(loop->ca_file);
    loop->ca_file = NULL;
    if (loop->epoll_fd >= 0)
        (void)close(loop->epoll_fd);
    loop->epoll_fd = -1;
}

void cdr_loop_fini(cdr_loop *loop)
{
    cdr_loop_close(loop);
    if (loop->wake_fd >= 0)
        (void)close(loop->wake_fd);
    loop->wake_fd = -1;
}

// The entry of a descriptor. NULL: no memory.
static cdr_socket *socket_at(cdr_loop *loop, int fd)
{
    size_t i = (size_t)fd;
    if (i >= loop->n_sockets) {
        size_t n = 2 * (i + 32);
        cdr_socket *sockets = realloc(loop->sockets, n * sizeof *sockets);
        if (!sockets)
            return NULL;
        memset(sockets + loop->n_sockets, 0, (n - loop->n_sockets) * sizeof *sockets);
        loop->sockets = sockets;
        loop->n_sockets = n;
    }
    return &loop->sockets[i];
}

static bool set_registered(cdr_loop *loop, cdr_socket *entry, int fd, uint32_t events)
{
    if (entry->registered == events)
        return true;
    int operation = events == 0              ? EPOLL_CTL_DEL
                    : entry->registered == 0 ? EPOLL_CTL_ADD
                                             : EPOLL_CTL_MOD;
    struct epoll_event event = {.events = events, .data.fd = fd};
    if (epoll_ctl(loop->epoll_fd, operation, fd, &event) != 0 && events != 0)
        return false;
    entry->registered = events;
    return true;
}

bool cdr_loop_watch(cdr_loop *loop, cdr_lane *lane, int fd, uint32_t events)
{
    cdr_socket *entry = socket_at(loop, fd);
    if (!entry)
        return events == 0;
    entry->lane = lane;
    entry->wanted = events;
    if (events == 0 && entry->is_kept)
        return true;
    return set_registered(loop, entry, fd, events);
}

curl_socket_t cdr_loop_open_socket(void *ctx, curlsocktype purpose,
                                   struct curl_sockaddr *address)
{
    (void)purpose;
    // libcurl's own way leaves it open in the programs that tools start.
    int fd =
        socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0)
        return CURL_SOCKET_BAD;
    cdr_socket *entry = socket_at(ctx, fd);
    if (!entry) {
        (void)close(fd);
        return CURL_SOCKET_BAD;
    }
    *entry = (cdr_socket){.is_kept = true};
    return fd;
}

int cdr_loop_close_socket(void *ctx, curl_socket_t fd)
{
    cdr_loop *loop = ctx;
    cdr_socket *entry = socket_at(loop, fd);
    if (entry) {
        // Closing would do, were no child between its fork and its exec.
        (void)set_registered(loop, entry, fd, 0);
        *entry = (cdr_socket){.is_kept = false};
    }
    return close(fd);
}

static void on_ready(cdr_loop *loop, int fd, uint32_t events)
{
    cdr_socket *entry = socket_at(loop, fd);
    if (!entry || entry->registered == 0)
        return;
    if (entry->wanted == 0) {
        (void)set_registered(loop, entry, fd, 0);
        return;
    }
    // An error shows at the next read or write; libcurl finds and names it there.
    if (events & (EPOLLERR | EPOLLHUP))
        events |= entry->wanted;
    int mask = (events & EPOLLIN ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0);
    cdr_lane_act(entry->lane, fd, mask);
}

void cdr_loop_wait(cdr_loop *loop)
{
    struct epoll_event events[N_EVENTS];
    int64_t due_ms = cdr_timers_next_ms(&loop->timers);
    int wait_ms = -1;
    if (due_ms != CDR_NEVER) {
        int64_t left_ms = due_ms - now_ms();
        wait_ms = left_ms < 0 ? 0 : left_ms > INT_MAX ? INT_MAX : (int)left_ms;
    }
    int n = epoll_wait(loop->epoll_fd, events, N_EVENTS, wait_ms);
    loop->now_ms = now_ms();
    for (int i = 0; i < n; i++) {
        if (events[i].data.fd != loop->wake_fd)
            on_ready(loop, events[i].data.fd, events[i].events);
    }
}

void cdr_loop_fire_timers(cdr_loop *loop)
{
    cdr_timers_fire(&loop->timers, loop->now_ms);
}

void cdr_loop_set_timer(cdr_loop *loop, cdr_transfer *transfer)
{
    int64_t due_ms = cdr_transfer_due_ms(transfer);
    const cdr_timer *timer = &transfer->timer;
    if (due_ms != CDR_NEVER && (timer->place == 0 || due_ms < timer->due_ms))
        cdr_timers_set(&loop->timers, &transfer->timer, due_ms);
}

void cdr_loop_give_up(cdr_loop *loop, cdr_transfer *transfer, cdr_transfer_stop stop)
{
    transfer->stop = stop;
    cdr_timers_set(&loop->timers, &transfer->timer, loop->now_ms);
}

void cdr_loop_give_lane_up(cdr_loop *loop, const cdr_lane *lane)
{
    for (cdr_transfer *transfer = loop->running; transfer; transfer = transfer->next)
        if (transfer->lane == lane && transfer->stop == CDR_STOP_NONE)
            cdr_loop_give_up(loop, transfer, CDR_STOP_ENOMEM);
}

static void on_transfer_timer(void *ctx)
{
    cdr_transfer *transfer = ctx;
    cdr_loop *loop = transfer->loop;
    if (transfer->stop == CDR_STOP_NONE) {
        if (transfer->paused_ms != 0)
            return; // its time stands still; the resume sets the timer
        transfer->stop = cdr_transfer_overdue(transfer, loop->now_ms);
    }
    if (transfer->stop != CDR_STOP_NONE)
        cdr_loop_finish(loop, transfer, CURLE_OK);
    else
        cdr_loop_set_timer(loop, transfer);
}

// The first lane that is not full, so that kept connections are found again.
static cdr_lane *find_lane(cdr_loop *loop)
{
    size_t hole = loop->n_lanes;
    for (size_t i = 0; i < loop->n_lanes; i++) {
        if (!loop->lanes[i])
            hole = hole < i ? hole : i;
        else if (loop->lanes[i]->n_transfers < CDR_LANE_TRANSFERS)
            return loop->lanes[i];
    }
    if (hole == loop->n_lanes) {
        size_t size = (loop->n_lanes + 1) * sizeof(cdr_lane *);
        cdr_lane **lanes = realloc(loop->lanes, size);
        if (!lanes)
            return NULL;
        loop->lanes = lanes;
        loop->lanes[loop->n_lanes++] = NULL;
    }
    loop->lanes[hole] = cdr_lane_new(loop);
    return loop->lanes[hole];
}

void cdr_loop_drop_lane(cdr_loop *loop, cdr_lane *lane)
{
    for (size_t i = 0; i < loop->n_lanes; i++)
        if (loop->lanes[i] == lane)
            loop->lanes[i] = NULL;
    cdr_lane_free(lane);
}

static cdr_easy *take_easy(cdr_loop *loop)
{
    cdr_easy *easy = loop->idle_easies;
    if (!easy)
        return cdr_easy_new(loop);
    loop->idle_easies = easy->next_idle;
    loop->n_idle_easies--;
    return easy;
}

static void give_easy_back(cdr_loop *loop, cdr_easy *easy)
{
    cdr_easy_release(easy);
    if (loop->n_idle_easies >= IDLE_EASIES + loop->n_running) {
        cdr_easy_free(easy);
        return;
    }
    easy->next_idle = loop->idle_easies;
    loop->idle_easies = easy;
    loop->n_idle_easies++;
}

static void end(cdr_transfer *transfer, const cdr_transfer_outcome *outcome,
                cdr_easy *easy, cdr_loop *loop)
{
    char message[CDR_END_MESSAGE_BYTES];
    cdr_transfer_end result;
    cdr_transfer_conclude(transfer, outcome, message, &result);
    if (easy)
        give_easy_back(loop, easy);
    transfer->handler.done(transfer->ctx, &result);
    cdr_network_forget(transfer);
}

static void end_unstarted(cdr_loop *loop, cdr_transfer *transfer,
                          cdr_transfer_stop stop)
{
    cdr_transfer_outcome outcome = {.code = CURLE_OK, .text = ""};
    cdr_easy *easy = transfer->easy;
    transfer->easy = NULL;
    transfer->stop = stop;
    end(transfer, &outcome, easy, loop);
}

void cdr_loop_start(cdr_loop *loop, cdr_transfer *transfer)
{
    if (atomic_load(&transfer->cancelled)) {
        end_unstarted(loop, transfer, CDR_STOP_CANCEL);
        return;
    }
    transfer->easy = take_easy(loop);
    cdr_lane *lane = find_lane(loop);
    if (!transfer->easy || !lane || !cdr_timers_reserve(&loop->timers)) {
        end_unstarted(loop, transfer, CDR_STOP_ENOMEM);
        return;
    }
    transfer->loop = loop;
    transfer->timer = (cdr_timer){.fire = on_transfer_timer, .ctx = transfer};
    if (!cdr_easy_prepare(transfer->easy, transfer) || !cdr_lane_add(lane, transfer)) {
        transfer->loop = NULL;
        cdr_timers_unreserve(&loop->timers);
        end_unstarted(loop, transfer, CDR_STOP_ENOMEM);
        return;
    }
    transfer->next = loop->running;
    if (loop->running)
        loop->running->previous = transfer;
    loop->running = transfer;
    loop->n_running++;
    cdr_loop_set_timer(loop, transfer);
}

void cdr_loop_finish(cdr_loop *loop, cdr_transfer *transfer, CURLcode code)
{
    cdr_easy *easy = transfer->easy;
    cdr_transfer_outcome outcome = {
        .code = code,
        .text = easy->error,
        .status = easy->head.is_final ? easy->head.status : 0,
    };
    (void)curl_easy_getinfo(easy->handle, CURLINFO_OS_ERRNO, &outcome.os_errno);
    (void)curl_easy_getinfo(easy->handle, CURLINFO_HTTP_CONNECTCODE,
                            &outcome.proxy_status);
    cdr_lane_remove(transfer->lane, transfer);
    cdr_timers_clear(&loop->timers, &transfer->timer);
    cdr_timers_unreserve(&loop->timers);
    if (transfer->previous)
        transfer->previous->next = transfer->next;
    else
        loop->running = transfer->next;
    if (transfer->next)
        transfer->next->previous = transfer->previous;
    loop->n_running--;
    transfer->easy = NULL;
    transfer->loop = NULL;
    end(transfer, &outcome, easy, loop);
}

void cdr_loop_cancel(cdr_loop *loop, cdr_transfer *transfer)
{
    if (transfer->loop != loop)
        return; // it has ended, or has not begun and sees the mark when it does
    transfer->stop = CDR_STOP_CANCEL;
    cdr_loop_finish(loop, transfer, CURLE_OK);
}

void cdr_loop_resume(cdr_loop *loop, cdr_transfer *transfer)
{
    if (transfer->loop != loop || transfer->paused_ms == 0)
        return;
    int64_t stood_ms = loop->now_ms - transfer->paused_ms;
    transfer->paused_ms = 0;
    transfer->started_ms += stood_ms;
    transfer->last_byte_ms += stood_ms;
    if (transfer->linger_due_ms != 0)
        transfer->linger_due_ms += stood_ms;
    cdr_loop_set_timer(loop, transfer);
    // This hands over, at once, what libcurl kept.
    CURLcode code = curl_easy_pause(transfer->easy->handle, CURLPAUSE_CONT);
    if (code != CURLE_OK)
        cdr_loop_finish(loop, transfer, code);
}
