// The network: which of its threads runs a transfer.
//
// Invariants:
// 1. threads[0..n_threads) run from their start until the network closes.
// 2. A transfer goes to the first thread that is not busy, so that kept connections are
//    found again; when all are, one more is started; when there are as many as there
//    may be, it goes to the one with the fewest. Busy is who has worked, not who has
//    many: a second thread that is not needed makes all batches smaller, so it costs.
#include "net/network.h"

#include "net/network_thread.h"

#include "base/clock.h"
#include "base/mutex.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_DESCRIPTORS ((rlim_t)1024 * 1024)
#define MAX_THREADS 16

#define BUSY_PERCENT 70

struct cdr_network {
    cdr_network_limits limits; // immutable
    cdr_mutex mu;
    int n_threads;                            // guarded by mu
    cdr_network_thread *threads[MAX_THREADS]; // guarded by mu
};

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

// More threads than processors would only take turns.
static int processor_count(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n > 1 ? n : 1;
}

static cdr_network_limits complete(const cdr_network_limits *given)
{
    cdr_network_limits limits = {0, 0};
    if (given)
        limits = *given;
    if (limits.max_threads <= 0)
        limits.max_threads = processor_count();
    if (limits.max_threads > MAX_THREADS)
        limits.max_threads = MAX_THREADS;
    if (limits.busy_percent <= 0)
        limits.busy_percent = BUSY_PERCENT;
    return limits;
}

static cadre_status add_thread_locked(cdr_network *network, cadre_error *err)
    CDR_REQUIRES(network->mu)
{
    cadre_status status =
        cdr_network_thread_start(&network->threads[network->n_threads], err);
    if (status == CADRE_OK)
        network->n_threads++;
    return status;
}

cadre_status cdr_network_open(cdr_network **out, cadre_error *err)
{
    return cdr_network_open_limited(NULL, out, err);
}

cadre_status cdr_network_open_limited(const cdr_network_limits *limits,
                                      cdr_network **out, cadre_error *err)
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
    network->limits = complete(limits);
    cdr_mutex_init(&network->mu);
    cdr_mutex_lock(&network->mu);
    status = add_thread_locked(network, err);
    cdr_mutex_unlock(&network->mu);
    if (status != CADRE_OK)
        goto out;
    *out = network;
    return CADRE_OK;
out:
    if (network)
        cdr_mutex_fini(&network->mu);
    free(network);
    curl_global_cleanup();
    return status;
}

void cdr_network_close(cdr_network *network)
{
    if (!network)
        return;
    for (int i = 0; i < network->n_threads; i++)
        cdr_network_thread_stop(network->threads[i]);
    curl_global_cleanup();
    cdr_mutex_fini(&network->mu);
    free(network);
}

int cdr_network_thread_count(cdr_network *network)
{
    cdr_mutex_lock(&network->mu);
    int n = network->n_threads;
    cdr_mutex_unlock(&network->mu);
    return n;
}

static bool has_room(const cdr_network *network, int nth)
{
    const cdr_network_thread *thread = network->threads[nth];
    // Who has nothing to do measures nothing either.
    return atomic_load(&thread->n_transfers) == 0 ||
           atomic_load(&thread->busy_percent) < network->limits.busy_percent;
}

static int find_place_locked(cdr_network *network) CDR_REQUIRES(network->mu)
{
    int place = 0;
    for (int i = 0; i < network->n_threads; i++) {
        if (has_room(network, i))
            return i;
        if (atomic_load(&network->threads[i]->n_transfers) <
            atomic_load(&network->threads[place]->n_transfers))
            place = i;
    }
    // Where the system has no thread more, the others do it.
    bool may_add = network->n_threads < network->limits.max_threads;
    return may_add && add_thread_locked(network, NULL) == CADRE_OK
               ? network->n_threads - 1
               : place;
}

// Chooses a thread for one transfer, which it counts at once.
static cdr_network_thread *choose_thread(cdr_network *network)
{
    cdr_mutex_lock(&network->mu);
    cdr_network_thread *thread = network->threads[find_place_locked(network)];
    atomic_fetch_add(&thread->n_transfers, 1);
    cdr_mutex_unlock(&network->mu);
    return thread;
}

cadre_status cdr_network_start(cdr_network *network, const cdr_http_request *request,
                               const cdr_transfer_handler *handler, void *ctx,
                               cdr_transfer **out, cadre_error *err)
{
    cdr_transfer *transfer = NULL;
    cadre_status status = cdr_transfer_new(request, &transfer, err);
    if (status != CADRE_OK)
        return status;
    transfer->handler = *handler;
    transfer->ctx = ctx;
    transfer->started_ms = cdr_clock_now_ms(cdr_clock_real());
    *out = transfer; // `done` may come before this function has returned
    cdr_network_thread_submit(choose_thread(network), transfer);
    return CADRE_OK;
}
