// The network: its thread, and what comes to it from others.
//
// Lock: `mu` guards the two lists and the counts of owners; it is a leaf, held for a
// few instructions, never while libcurl or a handler runs.
#include "net/network.h"

#include "net/loop.h"
#include "net/transfer.h"

#include "base/clock.h"
#include "base/mutex.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_BYTES ((size_t)1024 * 1024)
#define MAX_DESCRIPTORS ((rlim_t)1024 * 1024)

struct cdr_network {
    cdr_loop loop; // of the thread, but for its wake_fd
    pthread_t thread;

    cdr_mutex mu;
    cdr_transfer *incoming; // guarded by mu, as is all below
    cdr_transfer **incoming_end;
    cdr_transfer *commands; // transfers to cancel or to resume
    cdr_transfer **commands_end;
    bool is_quitting;
    bool is_closed; // the thread takes nothing any more
    int n_owners;   // the opener, and each transfer
};

static void wake(cdr_network *network)
{
    uint64_t one = 1;
    ssize_t n = write(network->loop.wake_fd, &one, sizeof one);
    (void)n; // fails only when 2^64 wake-ups are on their way
}

static void network_free(cdr_network *network)
{
    cdr_loop_fini(&network->loop);
    cdr_mutex_fini(&network->mu);
    free(network);
}

// One owner less; the last one frees, and so it goes for the network.
static void release(cdr_transfer *transfer)
{
    cdr_network *network = transfer->network;
    cdr_mutex_lock(&network->mu);
    bool is_last = --transfer->n_owners == 0;
    bool is_network_last = is_last && --network->n_owners == 0;
    cdr_mutex_unlock(&network->mu);
    if (is_last)
        free(transfer);
    if (is_network_last)
        network_free(network);
}

void cdr_network_forget(cdr_transfer *transfer)
{
    release(transfer);
}

static cdr_transfer *take_incoming(cdr_network *network)
{
    cdr_mutex_lock(&network->mu);
    cdr_transfer *first = network->incoming;
    network->incoming = NULL;
    network->incoming_end = &network->incoming;
    cdr_mutex_unlock(&network->mu);
    return first;
}

static void start_incoming(cdr_network *network)
{
    cdr_transfer *transfer = take_incoming(network);
    while (transfer) {
        cdr_transfer *next = transfer->next_incoming;
        cdr_loop_start(&network->loop, transfer);
        transfer = next;
    }
}

static cdr_transfer *take_command(cdr_network *network, bool *resume)
{
    cdr_mutex_lock(&network->mu);
    cdr_transfer *transfer = network->commands;
    if (transfer) {
        network->commands = transfer->next_command;
        if (!network->commands)
            network->commands_end = &network->commands;
        *resume = transfer->wants_resume;
        transfer->wants_resume = false;
        transfer->is_commanded = false;
    }
    cdr_mutex_unlock(&network->mu);
    return transfer;
}

static void obey_commands(cdr_network *network)
{
    cdr_transfer *transfer = NULL;
    bool resume = false;
    while ((transfer = take_command(network, &resume))) {
        if (atomic_load(&transfer->cancelled))
            cdr_loop_cancel(&network->loop, transfer);
        else if (resume)
            cdr_loop_resume(&network->loop, transfer);
        release(transfer);
    }
}

static bool is_quitting(cdr_network *network)
{
    cdr_mutex_lock(&network->mu);
    bool quitting = network->is_quitting;
    cdr_mutex_unlock(&network->mu);
    return quitting;
}

// Cancels all there is; commands that come from now on are dropped.
static void shut_down(cdr_network *network)
{
    cdr_transfer *next = NULL;
    for (cdr_transfer *transfer = take_incoming(network); transfer; transfer = next) {
        next = transfer->next_incoming;
        atomic_store(&transfer->cancelled, true);
        cdr_loop_start(&network->loop, transfer);
    }
    while (network->loop.running)
        cdr_loop_cancel(&network->loop, network->loop.running);
    cdr_mutex_lock(&network->mu);
    network->is_closed = true;
    cdr_mutex_unlock(&network->mu);
    obey_commands(network);
}

static void *run(void *arg)
{
    cdr_network *network = arg;
    while (!is_quitting(network)) {
        cdr_loop_wait(&network->loop);
        start_incoming(network);
        obey_commands(network);
        cdr_loop_fire_timers(&network->loop);
    }
    shut_down(network);
    return NULL;
}

static cadre_status check_tls(cadre_error *err)
{
    const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
    const char *tls = info->ssl_version ? info->ssl_version : "no TLS";
    if (strncmp(tls, "OpenSSL/", 8) == 0)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EIO,
                      "libcurl %s was built with %s: install the flavour with OpenSSL "
                      "(libcurl4-openssl-dev), others parse the CA bundle for each "
                      "connection",
                      info->version, tls);
}

// A thousand transfers need a thousand descriptors; the usual soft limit is 1,024.
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    rlim_t wanted = limit.rlim_max < MAX_DESCRIPTORS ? limit.rlim_max : MAX_DESCRIPTORS;
    if (limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

// No signal is handled on the network's thread, nor on those libcurl starts from it.
static int start_thread(cdr_network *network)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0)
        return rc;
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_attr_setstacksize(&attr, STACK_BYTES);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&network->thread, &attr, run, network);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)pthread_attr_destroy(&attr);
    if (rc == 0)
        (void)pthread_setname_np(network->thread, "cadre-network");
    return rc;
}

cadre_status cdr_network_open(cdr_network **out, cadre_error *err)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return cadre_fail(err, CADRE_EIO, "libcurl cannot be initialised");
    cdr_network *network = NULL;
    cadre_status status = check_tls(err);
    if (status != CADRE_OK)
        goto out;
    raise_descriptor_limit();
    network = calloc(1, sizeof *network);
    if (!network) {
        status = cadre_fail(err, CADRE_ENOMEM, "network: no memory");
        goto out;
    }
    cdr_mutex_init(&network->mu);
    network->incoming_end = &network->incoming;
    network->commands_end = &network->commands;
    network->n_owners = 1;
    status = cdr_loop_init(&network->loop, err);
    if (status != CADRE_OK)
        goto out;
    int rc = start_thread(network);
    if (rc != 0) {
        char text[128];
        status = cadre_fail(err, CADRE_EBUSY, "network: cannot start a thread: %s",
                            strerror_r(rc, text, sizeof text));
        goto out;
    }
    *out = network;
    return CADRE_OK;
out:
    if (network)
        network_free(network);
    curl_global_cleanup();
    return status;
}

void cdr_network_close(cdr_network *network)
{
    if (!network)
        return;
    cdr_mutex_lock(&network->mu);
    network->is_quitting = true;
    cdr_mutex_unlock(&network->mu);
    wake(network);
    (void)pthread_join(network->thread, NULL);
    // libcurl's part goes now; transfers that are not given back yet may still be
    // cancelled, to no effect.
    cdr_loop_close(&network->loop);
    curl_global_cleanup();
    cdr_mutex_lock(&network->mu);
    bool is_last = --network->n_owners == 0;
    cdr_mutex_unlock(&network->mu);
    if (is_last)
        network_free(network);
}

cadre_status cdr_network_start(cdr_network *network, const cdr_http_request *request,
                               const cdr_transfer_handler *handler, void *ctx,
                               cdr_transfer **out, cadre_error *err)
{
    cdr_transfer *transfer = NULL;
    cadre_status status = cdr_transfer_new(request, &transfer, err);
    if (status != CADRE_OK)
        return status;
    transfer->network = network;
    transfer->handler = *handler;
    transfer->ctx = ctx;
    transfer->started_ms = cdr_clock_now_ms(cdr_clock_real());
    transfer->n_owners = 2; // the caller and the network thread
    *out = transfer;        // `done` may come before this function has returned
    cdr_mutex_lock(&network->mu);
    bool was_empty = network->incoming == NULL;
    *network->incoming_end = transfer;
    network->incoming_end = &transfer->next_incoming;
    network->n_owners++;
    cdr_mutex_unlock(&network->mu);
    if (was_empty)
        wake(network);
    return CADRE_OK;
}

// Puts a transfer on the list of commands, once.
static void command(cdr_transfer *transfer, bool resume)
{
    cdr_network *network = transfer->network;
    bool must_wake = false;
    cdr_mutex_lock(&network->mu);
    transfer->wants_resume |= resume;
    if (!network->is_closed && !transfer->is_commanded) {
        must_wake = network->commands == NULL;
        transfer->next_command = NULL;
        *network->commands_end = transfer;
        network->commands_end = &transfer->next_command;
        transfer->is_commanded = true;
        transfer->n_owners++;
    }
    cdr_mutex_unlock(&network->mu);
    if (must_wake)
        wake(network);
}

void cdr_transfer_cancel(cdr_transfer *transfer)
{
    if (!atomic_exchange(&transfer->cancelled, true))
        command(transfer, false);
}

void cdr_transfer_resume(cdr_transfer *transfer)
{
    command(transfer, true);
}

void cdr_transfer_free(cdr_transfer *transfer)
{
    if (transfer)
        release(transfer);
}
