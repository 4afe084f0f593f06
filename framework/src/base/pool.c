// A pool of threads.
//
// Invariants:
// 1. A worker is in one place: on the stack `idle`, running a job, in `ended`, or in
//    `spare` (its thread joined). Workers are freed only by close, so a wake that
//    comes late falls on a live one.
// 2. `n_threads` counts idle and running workers, and those being created.
// 3. A thread that ends joins those that ended before it when they are MANY_ENDED: by
//    then they are gone, so it does not wait. Close joins the last. So few stacks are
//    held by threads that are no more, and none is detached.
// 4. The pool's mutex is never held across a system call.
#include "base/pool.h"

#include "base/stacks.h"

#include <assert.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define STACK_SIZE ((size_t)1024 * 1024) // for the job alone

// A job with so many page faults may have used much stack; what lies deeper than
// STACK_KEPT is given back. A miss costs a few system calls.
#define STACK_FAULTS 24
#define STACK_KEPT ((uintptr_t)16 * 1024)

#define MANY_ENDED 16

// Since Linux 6.16 the futexes of a process share a table sized by its processors;
// with 10,000 sleepers in 32 buckets a wake costs four times as much. Enlarging it
// takes the kernel some milliseconds, so a small pool, as of one run, goes without.
#define MANY_THREADS 128
#define FUTEX_HASH 78 // PR_FUTEX_HASH
#define FUTEX_HASH_SET_SLOTS 1
#define FUTEX_HASH_GET_SLOTS 2
#define FUTEX_HASH_SLOTS 16384

typedef struct worker {
    cdr_pool *pool;
    sem_t wake;
    struct worker *next;
    cdr_stack *stack;       // NULL: a spare one
    pthread_t thread;       // set by the thread itself before it is in `ended`
    long faults;            // of its thread, when its stack was last looked at
    void (*job)(void *arg); // NULL: end
    void *arg;
} worker;

struct cdr_pool {
    int max_threads;
    int max_idle;
    cdr_stacks stacks;
    cdr_mutex mu;
    cdr_cond all_ended; // guarded by mu: n_threads became 0 while closing
    worker *idle;       // guarded by mu; the last in stands first
    worker *ended;      // guarded by mu
    worker *spare;      // guarded by mu
    int n_idle;         // guarded by mu
    int n_ended;        // guarded by mu
    int n_threads;      // guarded by mu
    bool has_grown;     // guarded by mu; it has had many threads
    bool is_closing;    // guarded by mu
};

static void push(worker **list, worker *item)
{
    item->next = *list;
    *list = item;
}

static worker *pop(worker **list)
{
    worker *item = *list;
    if (item)
        *list = item->next;
    return item;
}

static void enlarge_futex_table(void)
{
    int slots = prctl(FUTEX_HASH, FUTEX_HASH_GET_SLOTS, 0, 0, 0);
    if (slots >= 0 && slots < FUTEX_HASH_SLOTS) // else too old, or large enough
        (void)prctl(FUTEX_HASH, FUTEX_HASH_SET_SLOTS, FUTEX_HASH_SLOTS, 0, 0);
}

// Signals stay with the program's threads, but a fault must find its handler.
static void pool_signals(sigset_t *blocked)
{
    static const int faults[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                                 SIGTRAP, SIGABRT, SIGSYS};
    sigfillset(blocked);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(blocked, faults[i]);
}

static long thread_faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_minflt : 0;
}

// Gives back the pages of a deep use: an idle thread, or its stack, would hold them
// for long.
static void trim_stack(worker *self)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t bottom = (uintptr_t)self->stack->bottom;
    uintptr_t to = (here - STACK_KEPT) & ~(page - 1);
    long faults = thread_faults();
    if (faults - self->faults >= STACK_FAULTS && bottom < to)
        (void)madvise(self->stack->bottom, to - bottom, MADV_DONTNEED);
    self->faults = faults;
}

// Puts the worker on the idle stack. False: there are enough, or the pool closes.
static bool go_idle(worker *self)
{
    cdr_pool *pool = self->pool;
    cdr_mutex_lock(&pool->mu);
    bool is_wanted = !pool->is_closing && pool->n_idle < pool->max_idle;
    if (is_wanted) {
        self->job = NULL;
        push(&pool->idle, self);
        pool->n_idle++;
    }
    cdr_mutex_unlock(&pool->mu);
    return is_wanted;
}

static bool await_job(worker *self)
{
    while (sem_wait(&self->wake) != 0)
        assert(errno == EINTR);
    return self->job != NULL;
}

// Joins the threads of a list taken from `ended` and keeps the workers as spares.
static void reap(cdr_pool *pool, worker *ended)
{
    worker *item;
    while ((item = pop(&ended))) {
        int rc = pthread_join(item->thread, NULL);
        assert(rc == 0);
        (void)rc;
        cdr_stacks_give(&pool->stacks, item->stack);
        item->stack = NULL;
        cdr_mutex_lock(&pool->mu);
        push(&pool->spare, item);
        cdr_mutex_unlock(&pool->mu);
    }
}

// The last thing a thread does.
static void retire(worker *self)
{
    cdr_pool *pool = self->pool;
    self->thread = pthread_self();
    cdr_mutex_lock(&pool->mu);
    worker *before = NULL;
    if (pool->n_ended >= MANY_ENDED) {
        before = pool->ended;
        pool->ended = NULL;
        pool->n_ended = 0;
    }
    push(&pool->ended, self);
    pool->n_ended++;
    pool->n_threads--;
    if (pool->is_closing && pool->n_threads == 0)
        cdr_cond_signal(&pool->all_ended);
    cdr_mutex_unlock(&pool->mu);
    reap(pool, before);
}

static void *worker_main(void *arg)
{
    worker *self = arg;
    (void)prctl(PR_SET_NAME, "cadre-pool");
    do {
        self->job(self->arg);
        trim_stack(self);
    } while (go_idle(self) && await_job(self));
    retire(self);
    return NULL;
}

static worker *worker_new(cdr_pool *pool)
{
    worker *item = calloc(1, sizeof(*item));
    if (!item)
        return NULL;
    int rc = sem_init(&item->wake, 0, 0);
    assert(rc == 0);
    (void)rc;
    item->pool = pool;
    return item;
}

static void free_workers(worker *list)
{
    worker *item;
    while ((item = pop(&list))) {
        sem_destroy(&item->wake);
        free(item);
    }
}

static int add_tls_size(struct dl_phdr_info *info, size_t info_size, void *total)
{
    (void)info_size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)total += info->dlpi_phdr[i].p_memsz;
    }
    return 0;
}

// The C library cuts thread-local data out of the stack: little as a rule, but more
// than half a megabyte under the thread sanitizer.
static size_t whole_stack_size(void)
{
    size_t tls_size = 0;
    dl_iterate_phdr(add_tls_size, &tls_size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (STACK_SIZE + tls_size + page - 1) & ~(page - 1);
}

cadre_status cdr_pool_open(int max_threads, int max_idle, cdr_pool **out,
                           cadre_error *err)
{
    if (max_threads < 1 || max_idle < 0)
        return cadre_fail(err, CADRE_EINVAL,
                          "thread pool: %d threads with %d idle; there must be at "
                          "least one, and not less than none idle",
                          max_threads, max_idle);
    cdr_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a thread pool");
    cdr_stacks_init(&pool->stacks, whole_stack_size());
    pool->max_threads = max_threads;
    pool->max_idle = max_idle;
    cdr_mutex_init(&pool->mu);
    cdr_cond_init(&pool->all_ended);
    *out = pool;
    return CADRE_OK;
}

static void end_idle_threads(worker *idle)
{
    worker *item;
    while ((item = pop(&idle)))
        sem_post(&item->wake); // its job is NULL
}

void cdr_pool_close(cdr_pool *pool)
{
    if (!pool)
        return;
    cdr_mutex_lock(&pool->mu);
    pool->is_closing = true;
    worker *idle = pool->idle;
    pool->idle = NULL;
    pool->n_idle = 0;
    cdr_mutex_unlock(&pool->mu);
    end_idle_threads(idle);
    cdr_mutex_lock(&pool->mu);
    while (pool->n_threads > 0)
        cdr_cond_wait(&pool->all_ended, &pool->mu);
    worker *ended = pool->ended;
    pool->ended = NULL;
    cdr_mutex_unlock(&pool->mu);
    reap(pool, ended);
    free_workers(pool->spare);
    cdr_cond_fini(&pool->all_ended);
    cdr_mutex_fini(&pool->mu);
    cdr_stacks_fini(&pool->stacks);
    free(pool);
}

static int start_on_stack(const cdr_pool *pool, worker *item)
{
    pthread_attr_t attr;
    int rc = pthread_attr_init(&attr);
    if (rc != 0)
        return rc;
    sigset_t blocked;
    sigset_t before;
    pool_signals(&blocked);
    (void)pthread_attr_setstack(&attr, item->stack->bottom, pool->stacks.stack_size);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    pthread_t thread; // a thread that ends at once may be joined before this is set
    rc = pthread_create(&thread, &attr, worker_main, item);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return rc;
}

static int start_thread(cdr_pool *pool, worker *item)
{
    item->stack = cdr_stacks_take(&pool->stacks);
    if (!item->stack)
        return ENOMEM;
    item->faults = 0;
    int rc = start_on_stack(pool, item);
    if (rc != 0) {
        cdr_stacks_give(&pool->stacks, item->stack);
        item->stack = NULL;
    }
    return rc;
}

static void give_up_thread(cdr_pool *pool, worker *item)
{
    cdr_mutex_lock(&pool->mu);
    pool->n_threads--;
    if (item)
        push(&pool->spare, item);
    cdr_mutex_unlock(&pool->mu);
}

// Runs the job on a new thread, whose place in n_threads is taken already.
static cadre_status run_on_new(cdr_pool *pool, worker *spare, void (*job)(void *arg),
                               void *arg, cadre_error *err)
{
    worker *item = spare ? spare : worker_new(pool);
    if (!item) {
        give_up_thread(pool, NULL);
        return cadre_fail(err, CADRE_EBUSY, "no memory for one more thread");
    }
    item->job = job;
    item->arg = arg;
    int rc = start_thread(pool, item);
    if (rc == 0)
        return CADRE_OK;
    give_up_thread(pool, item);
    char text[128];
    return cadre_fail(err, CADRE_EBUSY, "the system gives no more threads (%d run): %s",
                      cdr_pool_thread_count(pool), strerror_r(rc, text, sizeof(text)));
}

cadre_status cdr_pool_run(cdr_pool *pool, void (*job)(void *arg), void *arg,
                          cadre_error *err)
{
    cdr_mutex_lock(&pool->mu);
    assert(!pool->is_closing);
    worker *cached = pop(&pool->idle);
    worker *spare = NULL;
    bool is_full = !cached && pool->n_threads >= pool->max_threads;
    if (cached) {
        pool->n_idle--;
    } else if (!is_full) {
        pool->n_threads++;
        spare = pop(&pool->spare);
    }
    bool grows = !pool->has_grown && pool->n_threads >= MANY_THREADS;
    pool->has_grown |= grows;
    cdr_mutex_unlock(&pool->mu);
    if (grows)
        enlarge_futex_table();
    if (is_full)
        return cadre_fail(err, CADRE_EBUSY, "all %d threads are busy",
                          pool->max_threads);
    if (!cached)
        return run_on_new(pool, spare, job, arg, err);
    cached->job = job;
    cached->arg = arg;
    sem_post(&cached->wake);
    return CADRE_OK;
}

// The lowest address of the calling thread's stack, 0 if that is not known.
static uintptr_t stack_bottom(void)
{
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr) != 0)
        return 0;
    void *bottom = NULL;
    size_t size = 0;
    if (pthread_attr_getstack(&attr, &bottom, &size) != 0)
        bottom = NULL;
    pthread_attr_destroy(&attr);
    return (uintptr_t)bottom;
}

size_t cdr_pool_stack_left(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    uintptr_t bottom = stack_bottom();
    return bottom != 0 && here > bottom ? here - bottom : SIZE_MAX;
}

int cdr_pool_thread_count(cdr_pool *pool)
{
    cdr_mutex_lock(&pool->mu);
    int n = pool->n_threads;
    cdr_mutex_unlock(&pool->mu);
    return n;
}
