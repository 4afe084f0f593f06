// A network thread: its loop, and the transfers that others submit, cancel and resume.
//
// Submissions and commands come by two lists and an eventfd; a cancel may overtake its
// submission. Private to the network.
//
// Invariants:
// 1. The thread is owned by its network and by each transfer submitted to it; the last
//    owner frees it. So a transfer may be cancelled, to no effect, after the network
//    has closed.
// 2. A transfer stays with its thread.
// 3. `mu` is a leaf, held for a few instructions, never while libcurl or a handler
// runs.
//
// Thread: submit, cancel, resume: any; start and stop: the network's owner.
#ifndef CDR_NETWORK_THREAD_H
#define CDR_NETWORK_THREAD_H

#include "net/loop.h"
#include "net/transfer.h"

#include "base/mutex.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct cdr_network_thread {
    cdr_loop loop; // of the thread, but for its wake_fd
    pthread_t thread;
    atomic_int n_transfers;  // who submits adds one; less when `done` has returned
    atomic_int busy_percent; // of the time, of late
    int64_t since_ms;        // of the thread: since when that is measured anew,
    int64_t since_cpu_us;    // and its CPU time then

    cdr_mutex mu;
    cdr_transfer *incoming; // guarded by mu, as is all below
    cdr_transfer **incoming_end;
    cdr_transfer *commands; // transfers to cancel or to resume
    cdr_transfer **commands_end;
    bool is_quitting;
    bool is_closed; // it takes nothing any more
    int n_owners;
} cdr_network_thread;

// Errors: EBUSY (the system has no thread), EIO, ENOMEM.
cadre_status cdr_network_thread_start(cdr_network_thread **out, cadre_error *err);

// Cancels what runs, waits for the thread, closes the connections, gives the network's
// part of it back.
void cdr_network_thread_stop(cdr_network_thread *thread);

// Hands a transfer over; `done` may be called before this returns.
void cdr_network_thread_submit(cdr_network_thread *thread, cdr_transfer *transfer);

#endif
