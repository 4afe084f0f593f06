// A probe: a transfer of the network with everything its handler saw, for tests.
//
//     transfer_probe probe;
//     probe_init(&probe, network);
//     if (probe_start(&probe, &request) && probe_await_done(&probe)) ...
//     probe_fini(&probe);
//
// Waits give up after 10 s and return false. Thread: any.
#ifndef SUPPORT_TRANSFER_PROBE_H
#define SUPPORT_TRANSFER_PROBE_H

#include "base/buf.h"
#include "base/mutex.h"
#include "net/network.h"

typedef struct transfer_probe transfer_probe;
struct transfer_probe {
    cdr_network *network;
    cdr_transfer *transfer;
    // Says what data() answers, with the lock held; NULL: go on.
    cdr_flow (*decide)(transfer_probe *probe, const char *data, size_t len);

    cdr_mutex mu;
    cdr_cond changed;
    cdr_buf body; // guarded by mu, as is all below
    int n_heads;
    int n_data;
    int n_done;
    int head_status;
    int64_t retry_after_ms;
    char content_type[128];
    char location[128];
    cdr_transfer_end end; // its message is the copy below
    char message[512];
    int64_t done_ns; // monotonic
};

void probe_init(transfer_probe *probe, cdr_network *network);

// Waits for `done` if it was started, gives the transfer back.
void probe_fini(transfer_probe *probe);

// Starts the request; checks that it could be started.
bool probe_start(transfer_probe *probe, const cdr_http_request *request);

// The same for a GET of `url`, with nothing set.
bool probe_get(transfer_probe *probe, const char *url);

bool probe_await_done(transfer_probe *probe);
bool probe_await_bytes(transfer_probe *probe, size_t n);

// Checks that it ends so, and shows the message when not.
void probe_check_end(transfer_probe *probe, cdr_transfer_result result, int status);

int64_t probe_now_ns(void);

#endif
