// See watch.h.
#include "team/watch.h"

#include "team/runtime.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOOK_EVERY_MS = 50,
    HALTED_MS = 250,        // so late it is only after a halt, or on a crowded machine
    CALM_MS = 1000,         // between two renewals, however late it is
    RENEW_EVERY_MS = 20000, // a third of a lease
    LEASE_SECONDS = 60,
    FIRST_BUCKETS = 16
};

// --- The runs ---

static cdr_watched **bucket_of(cdr_watched **buckets, size_t n_buckets, cadre_id trace)
{
    uint64_t hash = (trace.prefix ^ trace.counter) * 0x9E3779B97F4A7C15u;
    return &buckets[(hash >> 32) & (n_buckets - 1)];
}

static cdr_watched *find_from(cdr_watched *run, cadre_id trace)
{
    while (run != NULL && !cadre_id_equal(run->trace, trace))
        run = run->next;
    return run;
}

// The run of the trace; the newest, when another one has lost it.
static cdr_watched *find_locked(const cdr_watch *watch, cadre_id trace)
{
    if (watch->n_buckets == 0)
        return NULL;
    return find_from(*bucket_of(watch->buckets, watch->n_buckets, trace), trace);
}

static void link_to(cdr_watched **bucket, cdr_watched *run)
{
    run->next = *bucket;
    *bucket = run;
}

// False: no memory, and there are no buckets yet; else the chains get longer.
static bool grow_locked(cdr_watch *watch)
{
    size_t n = watch->n_buckets == 0 ? FIRST_BUCKETS : watch->n_buckets * 2;
    cdr_watched **grown = calloc(n, sizeof(*grown));
    if (grown == NULL)
        return watch->n_buckets > 0;
    for (size_t i = 0; i < watch->n_buckets; i++) {
        for (cdr_watched *run = watch->buckets[i], *next; run != NULL; run = next) {
            next = run->next;
            link_to(bucket_of(grown, n, run->trace), run);
        }
    }
    free(watch->buckets);
    watch->buckets = grown;
    watch->n_buckets = n;
    return true;
}

static bool add_locked(cdr_watch *watch, cdr_watched *run)
{
    if (watch->n_runs >= watch->n_buckets && !grow_locked(watch))
        return false;
    link_to(bucket_of(watch->buckets, watch->n_buckets, run->trace), run);
    return true;
}

// --- Looking ---

// One look: what it has seen counts only if no run came meanwhile, which it may have
// missed.
typedef struct glance {
    cdr_watch *watch;
    uint64_t n_added;
    int64_t seen;
} glance;

static cadre_status take_mark(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    cdr_watch *watch = ((glance *)ctx)->watch;
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
    glance *look = ctx;
    cdr_watch *watch = look->watch;
    (void)err;
    if (row->number > look->seen)
        look->seen = row->number;
    cdr_mutex_lock(&watch->mu);
    cdr_watched *run = find_locked(watch, row->trace);
    if (run != NULL)
        run->on_message(run, row);
    cdr_mutex_unlock(&watch->mu);
    return CADRE_OK;
}

cadre_status cdr_watch_look(cadre_runtime *runtime, cadre_error *err)
{
    cdr_watch *watch = &runtime->watch;
    glance look = {.watch = watch};
    cdr_mutex_lock(&watch->mu);
    look.n_added = watch->n_added;
    look.seen = watch->seen;
    cdr_mutex_unlock(&watch->mu);
    const cadre_query query = {.kind = CADRE_QUERY_POSTED, .after = look.seen};
    const cadre_store_reader reader = {
        .frame = take_mark, .message = take_message, .ctx = &look};
    cadre_status status =
        runtime->store_ops->read(runtime->store, &query, &reader, err);
    cdr_mutex_lock(&watch->mu);
    if (status == CADRE_OK && watch->n_added == look.n_added)
        watch->seen = look.seen;
    cdr_mutex_unlock(&watch->mu);
    return status;
}

// --- Leases ---

typedef struct due_lease {
    cadre_id trace;
    char *owner;
} due_lease;

typedef struct renewal {
    int64_t now_ms;
    bool wants_all;
    due_lease *due;
    size_t n_due, capacity;
} renewal;

// Without memory it is tried again next time.
static void note_due(renewal *list, cdr_watched *run)
{
    if (!list->wants_all && list->now_ms - run->renewed_ms < RENEW_EVERY_MS)
        return;
    if (list->n_due == list->capacity) {
        size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        void *grown = realloc(list->due, capacity * sizeof(*list->due));
        if (grown == NULL)
            return;
        list->due = grown;
        list->capacity = capacity;
    }
    char *owner = strdup(run->lease_owner);
    if (owner == NULL)
        return;
    run->renewed_ms = list->now_ms;
    list->due[list->n_due++] = (due_lease){run->trace, owner};
}

// A run that has ended meanwhile gave its lease back.
static void tell_lost(cdr_watch *watch, const due_lease *due, const cadre_error *why)
{
    cdr_mutex_lock(&watch->mu);
    cdr_watched *run = find_locked(watch, due->trace);
    while (run != NULL && strcmp(run->lease_owner, due->owner) != 0)
        run = find_from(run->next, due->trace);
    if (run != NULL)
        run->on_lost(run, why);
    cdr_mutex_unlock(&watch->mu);
}

// A store that cannot be written to is told by the next commit.
static void renew_leases(cadre_runtime *runtime, bool wants_all)
{
    cdr_watch *watch = &runtime->watch;
    renewal list = {.now_ms = cdr_clock_now_ms(cdr_clock_real()),
                    .wants_all = wants_all};
    cdr_mutex_lock(&watch->mu);
    for (size_t i = 0; i < watch->n_buckets; i++)
        for (cdr_watched *run = watch->buckets[i]; run != NULL; run = run->next)
            note_due(&list, run);
    cdr_mutex_unlock(&watch->mu);
    for (size_t i = 0; i < list.n_due; i++) {
        int64_t epoch;
        const cadre_lease lease = {.trace = list.due[i].trace,
                                   .owner = list.due[i].owner,
                                   .seconds = LEASE_SECONDS,
                                   .only_renew = true};
        cadre_error why = CADRE_ERROR_INIT;
        cadre_status status =
            runtime->store_ops->lease(runtime->store, &lease, &epoch, &why);
        if (status == CADRE_ELOST)
            tell_lost(watch, &list.due[i], &why);
        free(list.due[i].owner);
    }
    free(list.due);
}

// --- The thread ---

static void *watch_loop(void *arg)
{
    cadre_runtime *runtime = arg;
    cdr_watch *watch = &runtime->watch;
    int64_t renewed_ms = cdr_clock_now_ms(cdr_clock_real());
    int64_t last_ms = renewed_ms; // when it was at work last
    cdr_mutex_lock(&watch->mu);
    while (!watch->is_stopping) {
        int64_t now_ms = cdr_clock_now_ms(cdr_clock_real());
        if (watch->n_runs == 0) {
            cdr_cond_wait(&watch->changed, &watch->mu);
            last_ms = cdr_clock_now_ms(cdr_clock_real());
            continue;
        }
        // Woken early by a run that comes or goes: there is no hurry to look for it.
        int64_t until_ms = now_ms + LOOK_EVERY_MS;
        while (!watch->is_stopping &&
               cdr_cond_wait_until(&watch->changed, &watch->mu, until_ms))
            ;
        if (watch->is_stopping)
            break;
        int64_t woken_ms = cdr_clock_now_ms(cdr_clock_real());
        cdr_mutex_unlock(&watch->mu);
        cdr_watch_look(runtime, NULL); // a store that fails is told by the next commit
        // After a halt others may have taken over what this process holds.
        bool was_halted = woken_ms - last_ms > LOOK_EVERY_MS + HALTED_MS;
        if (woken_ms - renewed_ms >= (was_halted ? CALM_MS : RENEW_EVERY_MS / 4)) {
            renew_leases(runtime, was_halted);
            renewed_ms = cdr_clock_now_ms(cdr_clock_real());
        }
        last_ms = woken_ms;
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
    *watch = (cdr_watch){.buckets = NULL};
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
    free(watch->buckets);
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
    else if (!add_locked(watch, run))
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
    else if (watch->n_runs++ == 0)
        cdr_cond_signal(&watch->changed);
    watch->n_added++;
    watch->seen = 0; // what came for this run before it was here
    cdr_mutex_unlock(&watch->mu);
    return status;
}

void cdr_watch_remove(cadre_runtime *runtime, cdr_watched *run)
{
    cdr_watch *watch = &runtime->watch;
    cdr_mutex_lock(&watch->mu);
    cdr_watched **at = bucket_of(watch->buckets, watch->n_buckets, run->trace);
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    watch->n_runs--;
    cdr_mutex_unlock(&watch->mu);
}
