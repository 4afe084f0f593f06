// Mutexes and conditions over pthread.
//
// None of these calls can fail on an initialised object that is used by the rules,
// so a failure is a programming mistake and asserted.
#include "base/mutex.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <time.h>

static void expect_done(int rc)
{
    assert(rc == 0);
    (void)rc;
}

void cdr_mutex_init(cdr_mutex *mu)
{
    expect_done(pthread_mutex_init(&mu->native, NULL));
}

void cdr_mutex_fini(cdr_mutex *mu)
{
    expect_done(pthread_mutex_destroy(&mu->native));
}

void cdr_mutex_lock(cdr_mutex *mu) CDR_NO_THREAD_SAFETY
{
    expect_done(pthread_mutex_lock(&mu->native));
}

void cdr_mutex_unlock(cdr_mutex *mu) CDR_NO_THREAD_SAFETY
{
    expect_done(pthread_mutex_unlock(&mu->native));
}

void cdr_cond_init(cdr_cond *cond)
{
    pthread_condattr_t attr;
    expect_done(pthread_condattr_init(&attr));
    expect_done(pthread_condattr_setclock(&attr, CLOCK_MONOTONIC));
    expect_done(pthread_cond_init(&cond->native, &attr));
    expect_done(pthread_condattr_destroy(&attr));
}

void cdr_cond_fini(cdr_cond *cond)
{
    expect_done(pthread_cond_destroy(&cond->native));
}

void cdr_cond_wait(cdr_cond *cond, cdr_mutex *mu)
{
    expect_done(pthread_cond_wait(&cond->native, &mu->native));
}

bool cdr_cond_wait_until(cdr_cond *cond, cdr_mutex *mu, int64_t deadline_ms)
{
    if (deadline_ms == CDR_NEVER) {
        cdr_cond_wait(cond, mu);
        return true;
    }
    int64_t at_ms = deadline_ms > 0 ? deadline_ms : 0;
    struct timespec at = {
        .tv_sec = (time_t)(at_ms / 1000),
        .tv_nsec = (long)(at_ms % 1000) * 1000000,
    };
    int rc = pthread_cond_timedwait(&cond->native, &mu->native, &at);
    assert(rc == 0 || rc == ETIMEDOUT);
    return rc != ETIMEDOUT;
}

void cdr_cond_signal(cdr_cond *cond)
{
    expect_done(pthread_cond_signal(&cond->native));
}

void cdr_cond_broadcast(cdr_cond *cond)
{
    expect_done(pthread_cond_broadcast(&cond->native));
}
