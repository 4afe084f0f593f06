// See watch.h.
#include "team/watch.h"

#include "team/runtime.h"

#include <search.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_EVERY_MS = 50,
    RENEW_EVERY_MS = 20000, // a third of a lease
    LEASE_SECONDS = 60
};

// --- Looking ---

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(cadre_id)); // an id is its run's first field
}

static cdr_watched *find_locked(const cdr_watch *watch, cadre_id trace)
{
    cdr_watched *const *found = tfind(&trace, &watch->runs, compare);
    return found == NULL ? NULL : *found;
}

static cadre_status take_mark(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    cdr_watch *watch = ctx;
    (void)err;
    cdr_mutex_lock(&watch->mu);
    cdr_watched *run = find_locked(watch, row->trace);
    if (run != NULL)
        run->on_mark(run, row->id, row->mark);
    cdr_mutex_unlock(&watch->mu);
    return CADRE_OK;
}

static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    cdr_watch *watch = ctx;
    (void)err;
    cdr_mutex_lock(&watch->mu);
    cdr_watched *run = find_locked(watch, row->trace);
    if (run != NULL)
        run->on_message(run, row);
    cdr_mutex_unlock(&watch->mu);
    return CADRE_OK;
}

cadre_status cdr_watch_look(cadre_runtime *runtime, cadre_error *err)
{
    const cadre_query query = {.kind = CADRE_QUERY_POSTED};
    const cadre_store_reader reader = {
        .frame = take_mark, .message = take_message, .ctx = &runtime->watch};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

// --- Leases ---

typedef struct renewal {
    int64_t now_ms;
    cadre_lease lease;
    bool is_found;
    char owner[512];
} renewal;

static void find_due(const void *node, VISIT visit, void *ctx)
{
    renewal *next = ctx;
    cdr_watched *run = *(cdr_watched *const *)node;
    if (next->is_found || (visit != postorder && visit != leaf) ||
        next->now_ms - run->renewed_ms < RENEW_EVERY_MS)
        return;
    run->renewed_ms = next->now_ms;
    size_t len = strnlen(run->lease_owner, sizeof next->owner - 1);
    memcpy(next->owner, run->lease_owner, len);
    next->owner[len] = '\0';
    next->lease.trace = run->trace;
    next->is_found = true;
}

// A lease that cannot be renewed is lost when it is over: the run's commits tell.
static void renew_leases(cadre_runtime *runtime)
{
    cdr_watch *watch = &runtime->watch;
    renewal next = {.now_ms = cdr_clock_now_ms(cdr_clock_real())};
    do {
        int64_t epoch;
        next.is_found = false;
        next.lease = (cadre_lease){.owner = next.owner, .seconds = LEASE_SECONDS};
        cdr_mutex_lock(&watch->mu);
        twalk_r(watch->runs, find_due, &next);
        cdr_mutex_unlock(&watch->mu);
        if (next.is_found)
            runtime->store_ops->lease(runtime->store, &next.lease, &epoch, NULL);
    } while (next.is_found);
}

// --- The thread ---

static void *watch_loop(void *arg)
{
    cadre_runtime *runtime = arg;
    cdr_watch *watch = &runtime->watch;
    int64_t renewed_ms = cdr_clock_now_ms(cdr_clock_real());
    cdr_mutex_lock(&watch->mu);
    while (!watch->is_stopping) {
        int64_t now_ms = cdr_clock_now_ms(cdr_clock_real());
        if (watch->n_runs == 0) {
            cdr_cond_wait(&watch->changed, &watch->mu);
            continue;
        }
        // Woken early by a run that comes or goes: there is no hurry to look for it.
        int64_t until_ms = now_ms + LOOK_EVERY_MS;
        while (!watch->is_stopping &&
               cdr_cond_wait_until(&watch->changed, &watch->mu, until_ms))
            ;
        if (watch->is_stopping)
            break;
        cdr_mutex_unlock(&watch->mu);
        cdr_watch_look(runtime, NULL); // a store that fails is told by the next commit
        if (now_ms - renewed_ms >= RENEW_EVERY_MS / 4) {
            renew_leases(runtime);
            renewed_ms = now_ms;
        }
        cdr_mutex_lock(&watch->mu);
    }
    cdr_mutex_unlock(&watch->mu);
    return NULL;
}

// Signals reach the program's own threads.
static int start_locked(cadre_runtime *runtime)
{
    cdr_watch *watch = &runtime->watch;
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int rc = pthread_create(&watch->thread, NULL, watch_loop, runtime);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc == 0)
        pthread_setname_np(watch->thread, "cadre-watch");
    watch->is_started = rc == 0;
    return rc;
}

// --- Life ---

void cdr_watch_init(cdr_watch *watch)
{
    *watch = (cdr_watch){.runs = NULL};
    cdr_mutex_init(&watch->mu);
    cdr_cond_init(&watch->changed);
}

void cdr_watch_fini(cdr_watch *watch)
{
    cdr_mutex_lock(&watch->mu);
    watch->is_stopping = true;
    bool is_started = watch->is_started;
    cdr_cond_broadcast(&watch->changed);
    cdr_mutex_unlock(&watch->mu);
    if (is_started)
        pthread_join(watch->thread, NULL);
    cdr_cond_fini(&watch->changed);
    cdr_mutex_fini(&watch->mu);
}

cadre_status cdr_watch_add(cadre_runtime *runtime, cdr_watched *run, cadre_error *err)
{
    cdr_watch *watch = &runtime->watch;
    cadre_status status = CADRE_OK;
    run->renewed_ms = cdr_clock_now_ms(cdr_clock_real());
    cdr_mutex_lock(&watch->mu);
    if (runtime->store_ops->is_shared && !watch->is_started &&
        start_locked(runtime) != 0)
        status = cadre_fail(err, CADRE_EBUSY, "no thread is free to watch the store");
    else if (tsearch(run, &watch->runs, compare) == NULL)
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    else if (watch->n_runs++ == 0)
        cdr_cond_signal(&watch->changed);
    cdr_mutex_unlock(&watch->mu);
    return status;
}

void cdr_watch_remove(cadre_runtime *runtime, cdr_watched *run)
{
    cdr_watch *watch = &runtime->watch;
    cdr_mutex_lock(&watch->mu);
    cdr_watched *const *found = tfind(run, &watch->runs, compare);
    if (found != NULL && *found == run) {
        (void)tdelete(run, &watch->runs, compare);
        watch->n_runs--;
    }
    cdr_mutex_unlock(&watch->mu);
}
