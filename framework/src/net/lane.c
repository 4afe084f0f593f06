// A lane: one multi handle of libcurl with its transfers.
#include "net/lane.h"

#include "net/loop.h"

#include <stdlib.h>
#include <sys/epoll.h>

// libcurl does not use a connection again that was idle for 118 s.
#define STALE_MS 120000

static int on_socket(CURL *handle, curl_socket_t fd, int what, void *ctx, void *unused)
{
    (void)unused;
    cdr_lane *lane = ctx;
    uint32_t events = 0;
    if (what == CURL_POLL_IN || what == CURL_POLL_INOUT)
        events |= EPOLLIN;
    if (what == CURL_POLL_OUT || what == CURL_POLL_INOUT)
        events |= EPOLLOUT;
    if (!cdr_loop_watch(lane->loop, lane, fd, events)) {
        // A failure reported here would kill all transfers of the lane.
        cdr_easy *easy = NULL;
        (void)curl_easy_getinfo(handle, CURLINFO_PRIVATE, &easy);
        if (easy && easy->transfer)
            cdr_loop_give_up(lane->loop, easy->transfer, CDR_STOP_ENOMEM);
    }
    return 0;
}

static int on_timeout(CURLM *multi, long timeout_ms, void *ctx)
{
    (void)multi;
    cdr_lane *lane = ctx;
    cdr_timers *timers = &lane->loop->timers;
    if (timeout_ms < 0)
        cdr_timers_clear(timers, &lane->timer);
    else
        cdr_timers_set(timers, &lane->timer, lane->loop->now_ms + timeout_ms);
    return 0;
}

static void on_timer(void *ctx)
{
    cdr_lane_act(ctx, CURL_SOCKET_TIMEOUT, 0);
}

static void on_expiry(void *ctx)
{
    cdr_lane *lane = ctx;
    cdr_loop_drop_lane(lane->loop, lane);
}

static void set_options(cdr_lane *lane)
{
    CURLM *multi = lane->multi;
    (void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, lane);
    (void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timeout);
    (void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, lane);
    // As many idle connections are kept as there were transfers, and one HTTP/2
    // connection may carry them all.
    long n = CDR_LANE_TRANSFERS;
    (void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, n);
    (void)curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    (void)curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, n);
}

cdr_lane *cdr_lane_new(cdr_loop *loop)
{
    cdr_lane *lane = calloc(1, sizeof *lane);
    if (!lane)
        return NULL;
    lane->loop = loop;
    lane->timer = (cdr_timer){.fire = on_timer, .ctx = lane};
    lane->expiry = (cdr_timer){.fire = on_expiry, .ctx = lane};
    lane->multi = curl_multi_init();
    bool timer_fits = cdr_timers_reserve(&loop->timers);
    bool expiry_fits = cdr_timers_reserve(&loop->timers);
    if (!lane->multi || !timer_fits || !expiry_fits) {
        (void)curl_multi_cleanup(lane->multi);
        if (timer_fits)
            cdr_timers_unreserve(&loop->timers);
        if (expiry_fits)
            cdr_timers_unreserve(&loop->timers);
        free(lane);
        return NULL;
    }
    set_options(lane);
    return lane;
}

void cdr_lane_free(cdr_lane *lane)
{
    if (!lane)
        return;
    cdr_timers *timers = &lane->loop->timers;
    (void)curl_multi_cleanup(lane->multi);
    cdr_timers_clear(timers, &lane->timer);
    cdr_timers_clear(timers, &lane->expiry);
    cdr_timers_unreserve(timers);
    cdr_timers_unreserve(timers);
    free(lane);
}

bool cdr_lane_add(cdr_lane *lane, cdr_transfer *transfer)
{
    if (curl_multi_add_handle(lane->multi, transfer->easy->handle) != CURLM_OK)
        return false;
    transfer->lane = lane;
    lane->n_transfers++;
    cdr_timers_clear(&lane->loop->timers, &lane->expiry);
    return true;
}

void cdr_lane_remove(cdr_lane *lane, cdr_transfer *transfer)
{
    (void)curl_multi_remove_handle(lane->multi, transfer->easy->handle);
    transfer->lane = NULL;
    if (--lane->n_transfers == 0)
        cdr_timers_set(&lane->loop->timers, &lane->expiry,
                       lane->loop->now_ms + STALE_MS);
}

void cdr_lane_act(cdr_lane *lane, curl_socket_t fd, int events)
{
    int n = 0;
    if (curl_multi_socket_action(lane->multi, fd, events, &n) == CURLM_OUT_OF_MEMORY)
        cdr_loop_give_lane_up(lane->loop, lane);
    for (;;) {
        CURLMsg *message = curl_multi_info_read(lane->multi, &n);
        if (!message)
            break;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result;
        cdr_easy *easy = NULL;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &easy);
        cdr_loop_finish(lane->loop, easy->transfer, code);
    }
}
