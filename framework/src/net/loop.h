// A network thread's own state: sockets, timers, lanes and the transfers that run.
//
// Rules:
// 1. Nothing here is touched by another thread after cdr_loop_init and before
//    cdr_loop_fini.
// 2. Transfers are removed only from the loop, never inside a callback of libcurl.
// 3. A socket that libcurl does not watch for the moment stays in the epoll set (a
//    kept connection is watched again at the next request); it is taken out when it
//    reports something or closes.
//
// Thread: the network thread whose it is.
#ifndef CDR_LOOP_H
#define CDR_LOOP_H

#include "net/easy.h"
#include "net/lane.h"
#include "net/timers.h"
#include "net/transfer.h"

typedef struct cdr_socket {
    cdr_lane *lane;
    uint32_t registered; // what epoll watches; 0: not in the set
    uint32_t wanted;     // what libcurl wants watched
    bool is_kept;        // libcurl tells when it closes it
} cdr_socket;

typedef struct cdr_loop {
    int epoll_fd;
    int wake_fd;    // an eventfd; any thread may write to it
    char *ca_file;  // from the environment; NULL: libcurl's
    int64_t now_ms; // read once a round
    cdr_timers timers;
    cdr_socket *sockets; // by descriptor
    size_t n_sockets;
    cdr_lane **lanes; // an entry may be NULL
    size_t n_lanes;
    cdr_easy *idle_easies;
    int n_idle_easies;
    cdr_transfer *running;
    int n_running;
} cdr_loop;

cadre_status cdr_loop_init(cdr_loop *loop, cadre_error *err);

// Closes all connections and frees all but the wake_fd, which others may still write
// to. Nothing may run.
void cdr_loop_close(cdr_loop *loop);

// Closes the wake_fd too. A second call, or one after a failed init, does nothing.
void cdr_loop_fini(cdr_loop *loop);

// Starts a transfer; on failure it ends at once (`done` is called).
void cdr_loop_start(cdr_loop *loop, cdr_transfer *transfer);

// Ends one that runs.
void cdr_loop_cancel(cdr_loop *loop, cdr_transfer *transfer);
void cdr_loop_resume(cdr_loop *loop, cdr_transfer *transfer);

// Waits for sockets, a wake-up or a timer, and serves the sockets.
void cdr_loop_wait(cdr_loop *loop);

// Fires the timers that are due.
void cdr_loop_fire_timers(cdr_loop *loop);

// Ends a transfer with libcurl's code, or with the reason in transfer->stop.
void cdr_loop_finish(cdr_loop *loop, cdr_transfer *transfer, CURLcode code);

// Has a transfer ended soon, from inside a callback of libcurl.
void cdr_loop_give_up(cdr_loop *loop, cdr_transfer *transfer, cdr_transfer_stop stop);

// The same for all of a lane: one of them is not watched any more for want of memory,
// and libcurl does not say which.
void cdr_loop_give_lane_up(cdr_loop *loop, const cdr_lane *lane);

// Moves a transfer's timer to its earliest deadline, if that is earlier.
void cdr_loop_set_timer(cdr_loop *loop, cdr_transfer *transfer);

// Watches a socket for a lane (0: not for now). False: no memory.
bool cdr_loop_watch(cdr_loop *loop, cdr_lane *lane, int fd, uint32_t events);

// Closes a lane in which nothing runs.
void cdr_loop_drop_lane(cdr_loop *loop, cdr_lane *lane);

// Opens and closes a socket for libcurl.
curl_socket_t cdr_loop_open_socket(void *loop, curlsocktype purpose,
                                   struct curl_sockaddr *address);
int cdr_loop_close_socket(void *loop, curl_socket_t fd);

// Drops the network thread's hold on a transfer (network_thread.c).
void cdr_network_forget(cdr_transfer *transfer);

#endif
