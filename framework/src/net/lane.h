// A lane: one multi handle of libcurl with its transfers, in the network's loop.
//
// A multi handle is not flat in its number of transfers, so there is one for about
// CDR_LANE_TRANSFERS of them: 250 cost a tenth less than 1,000, fewer save nothing more
// (bench crowd). Thread: its loop's.
#ifndef CDR_LANE_H
#define CDR_LANE_H

#include "net/timers.h"
#include "net/transfer.h"

#define CDR_LANE_TRANSFERS 250

typedef struct cdr_lane {
    struct cdr_loop *loop;
    CURLM *multi;
    int n_transfers;
    cdr_timer timer;  // libcurl's
    cdr_timer expiry; // set while no transfer runs: then its connections grow stale
} cdr_lane;

// NULL: no memory.
cdr_lane *cdr_lane_new(struct cdr_loop *loop);

// Closes its connections; no transfer may be in it. NULL ok.
void cdr_lane_free(cdr_lane *lane);

// Adds a prepared transfer. False: no memory.
bool cdr_lane_add(cdr_lane *lane, cdr_transfer *transfer);

// Takes it out; unless it has come to its end, this closes its connection or stream.
void cdr_lane_remove(cdr_lane *lane, cdr_transfer *transfer);

// Lets libcurl work on a socket, or (CURL_SOCKET_TIMEOUT) on its timers; transfers
// that end are finished.
void cdr_lane_act(cdr_lane *lane, curl_socket_t fd, int events);

#endif
