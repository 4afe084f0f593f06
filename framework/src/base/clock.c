// Clocks.
//
// A cdr_clock is a handle that never changes; what moves is the state of a fake one.
// Invariants of a fake clock:
// 1. A waiter is in the list from before it lets go of its own mutex until it is
//    taken out: by itself when it was woken otherwise, or by cdr_clock_advance.
// 2. Who takes a waiter out to wake it keeps it from leaving (`is_pinned`) until it
//    has been signalled, so its condition and mutex live so long.
// 3. Lock order: a waiter's mutex before the clock's, and never the other way round.
#include "base/clock.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

typedef struct clock_waiter {
    struct clock_waiter *next;
    struct clock_waiter **link; // what points to this one; NULL: in no list
    cdr_cond *cond;
    cdr_mutex *mu;
    int64_t deadline_ms;
    bool is_pinned;
} clock_waiter;

typedef struct clock_fake {
    cdr_mutex mu;
    cdr_cond changed;      // guarded by mu: a waiter came, or one was let go
    int64_t now_ms;        // guarded by mu
    clock_waiter *waiters; // guarded by mu
    int n_waiters;         // guarded by mu; length of `waiters`
} clock_fake;

struct cdr_clock {
    clock_fake *fake; // NULL: the system's
};

static void link_waiter(clock_waiter **list, clock_waiter *waiter)
{
    waiter->next = *list;
    waiter->link = list;
    if (waiter->next)
        waiter->next->link = &waiter->next;
    *list = waiter;
}

static void unlink_waiter(clock_waiter *waiter)
{
    assert(waiter->link);
    *waiter->link = waiter->next;
    if (waiter->next)
        waiter->next->link = waiter->link;
    waiter->next = NULL;
    waiter->link = NULL;
}

static int64_t system_ns(clockid_t id)
{
    struct timespec now = {0, 0};
    int rc = clock_gettime(id, &now);
    assert(rc == 0);
    (void)rc;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t fake_now_ms(clock_fake *fake)
{
    cdr_mutex_lock(&fake->mu);
    int64_t now_ms = fake->now_ms;
    cdr_mutex_unlock(&fake->mu);
    return now_ms;
}

cdr_clock *cdr_clock_real(void)
{
    static const cdr_clock real = {NULL};
    // Handed out as the type of all clocks; nobody ever writes to a handle.
    return (cdr_clock *)(uintptr_t)&real;
}

cdr_clock *cdr_clock_fake_new(int64_t now_ms)
{
    cdr_clock *clock = calloc(1, sizeof(*clock));
    clock_fake *fake = calloc(1, sizeof(*fake));
    if (!clock || !fake) {
        free(clock);
        free(fake);
        return NULL;
    }
    cdr_mutex_init(&fake->mu);
    cdr_cond_init(&fake->changed);
    fake->now_ms = now_ms;
    clock->fake = fake;
    return clock;
}

void cdr_clock_fake_free(cdr_clock *clock)
{
    if (!clock)
        return;
    assert(clock->fake && clock->fake->n_waiters == 0);
    cdr_cond_fini(&clock->fake->changed);
    cdr_mutex_fini(&clock->fake->mu);
    free(clock->fake);
    free(clock);
}

// Moves the waiters whose deadline has come to the list `due`.
static void collect_due_locked(clock_fake *fake, clock_waiter **due)
    CDR_REQUIRES(&fake->mu)
{
    clock_waiter *next;
    for (clock_waiter *waiter = fake->waiters; waiter; waiter = next) {
        next = waiter->next;
        if (waiter->deadline_ms > fake->now_ms)
            continue;
        unlink_waiter(waiter);
        link_waiter(due, waiter);
        fake->n_waiters--;
        waiter->is_pinned = true;
    }
}

void cdr_clock_advance(cdr_clock *clock, int64_t by_ms)
{
    clock_fake *fake = clock->fake;
    assert(fake && by_ms >= 0);
    clock_waiter *due = NULL;
    cdr_mutex_lock(&fake->mu);
    fake->now_ms += by_ms;
    collect_due_locked(fake, &due);
    while (due) {
        clock_waiter *waiter = due;
        unlink_waiter(waiter);
        cdr_mutex_unlock(&fake->mu);
        // With its mutex held it is certain that it waits already.
        cdr_mutex_lock(waiter->mu);
        cdr_cond_broadcast(waiter->cond);
        cdr_mutex_unlock(waiter->mu);
        cdr_mutex_lock(&fake->mu);
        waiter->is_pinned = false;
        cdr_cond_broadcast(&fake->changed);
    }
    cdr_mutex_unlock(&fake->mu);
}

void cdr_clock_await_waiters(cdr_clock *clock, int n)
{
    clock_fake *fake = clock->fake;
    assert(fake);
    cdr_mutex_lock(&fake->mu);
    while (fake->n_waiters < n)
        cdr_cond_wait(&fake->changed, &fake->mu);
    cdr_mutex_unlock(&fake->mu);
}

int64_t cdr_clock_now_ms(cdr_clock *clock)
{
    return clock->fake ? fake_now_ms(clock->fake)
                       : system_ns(CLOCK_MONOTONIC) / 1000000;
}

int64_t cdr_clock_now_ns(cdr_clock *clock)
{
    return clock->fake ? fake_now_ms(clock->fake) * 1000000
                       : system_ns(CLOCK_MONOTONIC);
}

int64_t cdr_clock_wall_ms(cdr_clock *clock)
{
    return clock->fake ? fake_now_ms(clock->fake) : system_ns(CLOCK_REALTIME) / 1000000;
}

// False: the deadline has come already.
static bool join_waiters(clock_fake *fake, clock_waiter *waiter)
{
    cdr_mutex_lock(&fake->mu);
    bool is_early = fake->now_ms < waiter->deadline_ms;
    if (is_early) {
        link_waiter(&fake->waiters, waiter);
        fake->n_waiters++;
        cdr_cond_broadcast(&fake->changed);
    }
    cdr_mutex_unlock(&fake->mu);
    return is_early;
}

// True: it was in the list and is out now. False: cdr_clock_advance has it in hand.
static bool leave_waiters(clock_fake *fake, clock_waiter *waiter)
{
    cdr_mutex_lock(&fake->mu);
    bool is_free = !waiter->is_pinned;
    if (is_free && waiter->link) {
        unlink_waiter(waiter);
        fake->n_waiters--;
    }
    cdr_mutex_unlock(&fake->mu);
    return is_free;
}

static void await_unpinned(clock_fake *fake, const clock_waiter *waiter)
{
    cdr_mutex_lock(&fake->mu);
    while (waiter->is_pinned)
        cdr_cond_wait(&fake->changed, &fake->mu);
    cdr_mutex_unlock(&fake->mu);
}

static bool fake_wait(clock_fake *fake, cdr_cond *cond, cdr_mutex *mu,
                      int64_t deadline_ms) CDR_REQUIRES(mu)
{
    clock_waiter waiter = {.cond = cond, .mu = mu, .deadline_ms = deadline_ms};
    if (!join_waiters(fake, &waiter))
        return false;
    cdr_cond_wait(cond, mu);
    if (!leave_waiters(fake, &waiter)) {
        // Woken otherwise just when its deadline came: who advances the clock needs
        // `mu` to finish with this waiter.
        cdr_mutex_unlock(mu);
        await_unpinned(fake, &waiter);
        cdr_mutex_lock(mu);
    }
    return fake_now_ms(fake) < deadline_ms;
}

bool cdr_clock_wait(cdr_clock *clock, cdr_cond *cond, cdr_mutex *mu,
                    int64_t deadline_ms)
{
    if (deadline_ms == CDR_NEVER) {
        cdr_cond_wait(cond, mu);
        return true;
    }
    if (clock->fake)
        return fake_wait(clock->fake, cond, mu, deadline_ms);
    return cdr_cond_wait_until(cond, mu, deadline_ms);
}
