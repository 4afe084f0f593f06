// The pool: jobs start at once or not at all, threads are reused, all are joined.
#include "support/check.h"

#include "base/mutex.h"
#include "base/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// 960 KiB of stack, nearly all that a job may use.
#define DIVE_LEVELS 60

// A gate at which jobs wait, and which counts those that came.
typedef struct job_gate {
    cdr_mutex mu;
    cdr_cond changed;
    bool is_open;  // guarded by mu
    int n_waiting; // guarded by mu
    int n_through; // guarded by mu
} job_gate;

static void gate_init(job_gate *self)
{
    *self = (job_gate){.is_open = false};
    cdr_mutex_init(&self->mu);
    cdr_cond_init(&self->changed);
}

static void gate_fini(job_gate *self)
{
    cdr_cond_fini(&self->changed);
    cdr_mutex_fini(&self->mu);
}

static void wait_at_gate(void *arg)
{
    job_gate *self = arg;
    cdr_mutex_lock(&self->mu);
    self->n_waiting++;
    cdr_cond_broadcast(&self->changed);
    while (!self->is_open)
        cdr_cond_wait(&self->changed, &self->mu);
    self->n_waiting--;
    self->n_through++;
    cdr_cond_broadcast(&self->changed);
    cdr_mutex_unlock(&self->mu);
}

static void gate_await_waiting(job_gate *self, int n)
{
    cdr_mutex_lock(&self->mu);
    while (self->n_waiting < n)
        cdr_cond_wait(&self->changed, &self->mu);
    cdr_mutex_unlock(&self->mu);
}

static void gate_open(job_gate *self)
{
    cdr_mutex_lock(&self->mu);
    self->is_open = true;
    cdr_cond_broadcast(&self->changed);
    cdr_mutex_unlock(&self->mu);
}

static cdr_pool *pool_or_abort(int max_threads, int max_idle)
{
    cdr_pool *pool = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cdr_pool_open(max_threads, max_idle, &pool, &err), &err))
        abort();
    return pool;
}

// Runs on a full pool as soon as it has a thread again.
static void run_when_free(cdr_pool *pool, void (*job)(void *arg), void *arg)
{
    while (cdr_pool_run(pool, job, arg, NULL) == CADRE_EBUSY)
        sched_yield();
}

static void count_one(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_pool__runs_each_job_once(void)
{
    cdr_pool *pool = pool_or_abort(10, 2);
    atomic_int count = 0;
    for (int i = 0; i < 1000; i++)
        run_when_free(pool, count_one, &count);
    cdr_pool_close(pool);
    CHECK_INT(atomic_load(&count), 1000);
}

static void test_pool__refuses_senseless_sizes(void)
{
    cdr_pool *pool = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cdr_pool_open(0, 0, &pool, &err), CADRE_EINVAL, &err);
    CHECK_INT(cdr_pool_open(1, -1, &pool, NULL), CADRE_EINVAL);
    CHECK(pool == NULL);
    cdr_pool_close(NULL);
}

static void note_thread(void *arg)
{
    *(pthread_t *)arg = pthread_self();
}

static void test_pool__reuses_an_idle_thread(void)
{
    enum {
        N_JOBS = 50
    };
    cdr_pool *pool = pool_or_abort(1, 1);
    pthread_t threads[N_JOBS];
    for (int i = 0; i < N_JOBS; i++)
        run_when_free(pool, note_thread, &threads[i]);
    CHECK_INT(cdr_pool_thread_count(pool), 1);
    cdr_pool_close(pool);
    int n_others = 0;
    for (int i = 1; i < N_JOBS; i++)
        n_others += !pthread_equal(threads[i], threads[0]);
    CHECK_INT(n_others, 0);
}

static void test_pool__refuses_at_the_ceiling(void)
{
    cdr_pool *pool = pool_or_abort(2, 2);
    job_gate gate;
    gate_init(&gate);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_pool_run(pool, wait_at_gate, &gate, &err), &err);
    CHECK_OK(cdr_pool_run(pool, wait_at_gate, &gate, &err), &err);
    atomic_int count = 0;
    CHECK_STATUS(cdr_pool_run(pool, count_one, &count, &err), CADRE_EBUSY, &err);
    CHECK_TEXT(err.text, "all 2 threads are busy");
    gate_open(&gate);
    run_when_free(pool, count_one, &count);
    cdr_pool_close(pool);
    CHECK_INT(atomic_load(&count), 1);
    gate_fini(&gate);
}

static void test_pool__threads_beyond_max_idle_end(void)
{
    enum {
        N_JOBS = 40,
        N_KEPT = 3
    };
    cdr_pool *pool = pool_or_abort(N_JOBS, N_KEPT);
    job_gate gate;
    gate_init(&gate);
    for (int i = 0; i < N_JOBS; i++)
        CHECK_OK(cdr_pool_run(pool, wait_at_gate, &gate, NULL), NULL);
    CHECK_INT(cdr_pool_thread_count(pool), N_JOBS);
    gate_open(&gate);
    while (cdr_pool_thread_count(pool) > N_KEPT)
        sched_yield();
    // The rest is idle or about to be; all of it serves again.
    atomic_int count = 0;
    for (int i = 0; i < N_JOBS; i++)
        run_when_free(pool, count_one, &count);
    cdr_pool_close(pool);
    CHECK_INT(atomic_load(&count), N_JOBS);
    gate_fini(&gate);
}

static void finish_late(void *arg)
{
    for (int i = 0; i < 2000; i++)
        sched_yield();
    count_one(arg);
}

static void test_pool__close_waits_for_jobs(void)
{
    for (int max_idle = 0; max_idle < 3; max_idle++) {
        cdr_pool *pool = pool_or_abort(4, max_idle);
        atomic_int count = 0;
        for (int i = 0; i < 3; i++)
            CHECK_OK(cdr_pool_run(pool, finish_late, &count, NULL), NULL);
        cdr_pool_close(pool);
        CHECK_INT(atomic_load(&count), 3);
    }
}

typedef struct job_chain {
    cdr_pool *pool;
    atomic_int left;
    job_gate done;
} job_chain;

static void run_next(void *arg)
{
    job_chain *self = arg;
    if (atomic_fetch_sub(&self->left, 1) > 1)
        run_when_free(self->pool, run_next, self);
    else
        gate_open(&self->done);
}

static void test_pool__a_job_may_start_the_next(void)
{
    job_chain chain = {.pool = pool_or_abort(3, 1), .left = 200};
    gate_init(&chain.done);
    CHECK_OK(cdr_pool_run(chain.pool, run_next, &chain, NULL), NULL);
    wait_at_gate(&chain.done);
    cdr_pool_close(chain.pool);
    CHECK_INT(atomic_load(&chain.left), 0);
    gate_fini(&chain.done);
}

static void note_signals(void *arg)
{
    pthread_sigmask(SIG_SETMASK, NULL, arg);
}

static void test_pool__signals_go_to_other_threads(void)
{
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    cdr_pool *pool = pool_or_abort(1, 1);
    sigset_t blocked;
    sigemptyset(&blocked);
    CHECK_OK(cdr_pool_run(pool, note_signals, &blocked, NULL), NULL);
    cdr_pool_close(pool);
    static const int others[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGCHLD, SIGUSR1};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        CHECK(sigismember(&blocked, others[i]) == 1);
    CHECK(sigismember(&blocked, SIGSEGV) == 0);
    sigset_t after;
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    CHECK_INT(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
    CHECK_INT(sigismember(&after, SIGPIPE), sigismember(&before, SIGPIPE));
}

// Each level uses 16 KiB of stack.
static size_t use_stack(int depth)
{
    volatile char frame[16 * 1024];
    for (size_t i = 0; i < sizeof(frame); i += 512)
        frame[i] = (char)depth;
    return depth == 0 ? 0 : use_stack(depth - 1) + (size_t)(frame[512] == (char)depth);
}

static void dive(void *arg)
{
    *(size_t *)arg = use_stack(DIVE_LEVELS);
}

typedef struct stack_report {
    size_t size_bytes;
    size_t n_pages;
    size_t n_present; // pages that are in memory
} stack_report;

static void report_stack(void *arg)
{
    stack_report *report = arg;
    pthread_attr_t attr;
    void *bottom = NULL;
    size_t size = 0;
    pthread_getattr_np(pthread_self(), &attr);
    pthread_attr_getstack(&attr, &bottom, &size);
    pthread_attr_destroy(&attr);
    unsigned char present[1024] = {0};
    report->size_bytes = size;
    report->n_pages = size / (size_t)sysconf(_SC_PAGESIZE);
    if (report->n_pages > sizeof(present) || mincore(bottom, size, present) != 0)
        return;
    for (size_t i = 0; i < report->n_pages; i++)
        report->n_present += present[i] & 1;
}

static void test_pool__deep_stack_is_there_and_given_back(void)
{
    cdr_pool *pool = pool_or_abort(1, 1);
    size_t depth = 0;
    stack_report before = {0, 0, 0};
    stack_report after = {0, 0, 0};
    CHECK_OK(cdr_pool_run(pool, report_stack, &before, NULL), NULL);
    run_when_free(pool, dive, &depth);
    run_when_free(pool, report_stack, &after);
    cdr_pool_close(pool);
    CHECK_INT(depth, DIVE_LEVELS);
    CHECK(before.size_bytes >= 1000U << 10);
    CHECK(before.n_present > 0);
    CHECK(after.n_present < before.n_present + 20); // of 240 that the dive used
}

static void test_pool__a_thousand_jobs_block_at_once(void)
{
    enum {
        N_JOBS = 1000
    };
    cdr_pool *pool = pool_or_abort(N_JOBS, 100);
    job_gate gate;
    gate_init(&gate);
    cadre_error err = CADRE_ERROR_INIT;
    for (int i = 0; i < N_JOBS; i++)
        CHECK_OK(cdr_pool_run(pool, wait_at_gate, &gate, &err), &err);
    gate_await_waiting(&gate, N_JOBS);
    CHECK_INT(cdr_pool_thread_count(pool), N_JOBS);
    gate_open(&gate);
    cdr_pool_close(pool);
    CHECK_INT(gate.n_through, N_JOBS);
    gate_fini(&gate);
}

typedef struct starter {
    cdr_pool *pool;
    atomic_int *count;
    pthread_t thread;
} starter;

static void *start_many(void *arg)
{
    starter *self = arg;
    for (int i = 0; i < 500; i++)
        run_when_free(self->pool, count_one, self->count);
    return NULL;
}

static void test_pool__many_threads_start_jobs_while_others_end(void)
{
    enum {
        N_STARTERS = 4
    };
    for (int max_idle = 0; max_idle < 3; max_idle++) {
        cdr_pool *pool = pool_or_abort(6, max_idle);
        atomic_int count = 0;
        starter starters[N_STARTERS];
        for (int i = 0; i < N_STARTERS; i++) {
            starters[i] = (starter){.pool = pool, .count = &count};
            pthread_create(&starters[i].thread, NULL, start_many, &starters[i]);
        }
        for (int i = 0; i < N_STARTERS; i++)
            pthread_join(starters[i].thread, NULL);
        cdr_pool_close(pool);
        CHECK_INT(atomic_load(&count), N_STARTERS * 500);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_pool__runs_each_job_once),
    CHECK_TEST(test_pool__refuses_senseless_sizes),
    CHECK_TEST(test_pool__reuses_an_idle_thread),
    CHECK_TEST(test_pool__refuses_at_the_ceiling),
    CHECK_TEST(test_pool__threads_beyond_max_idle_end),
    CHECK_TEST(test_pool__close_waits_for_jobs),
    CHECK_TEST(test_pool__a_job_may_start_the_next),
    CHECK_TEST(test_pool__signals_go_to_other_threads),
    CHECK_TEST(test_pool__deep_stack_is_there_and_given_back),
    CHECK_TEST(test_pool__a_thousand_jobs_block_at_once),
    CHECK_TEST(test_pool__many_threads_start_jobs_while_others_end),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/pool", tests);
}
