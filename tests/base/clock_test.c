// Clocks: a fake one stands until it is moved, and loses nobody who waits on it.
#include "support/check.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

// One thread that waits with a deadline until it comes or `is_signalled` is set.
typedef struct sleeper {
    cdr_clock *clock;
    int64_t deadline_ms;
    cdr_mutex mu;
    cdr_cond cond;
    bool is_signalled; // guarded by mu
    bool is_late;      // set by the thread: the deadline came
    int64_t woken_at_ms;
    pthread_t thread;
} sleeper;

static void *sleep_until(void *arg)
{
    sleeper *self = arg;
    cdr_mutex_lock(&self->mu);
    bool is_early = true;
    while (is_early && !self->is_signalled)
        is_early =
            cdr_clock_wait(self->clock, &self->cond, &self->mu, self->deadline_ms);
    cdr_mutex_unlock(&self->mu);
    self->is_late = !is_early;
    self->woken_at_ms = cdr_clock_now_ms(self->clock);
    return NULL;
}

static void sleeper_start(sleeper *self, cdr_clock *clock, int64_t deadline_ms)
{
    *self = (sleeper){.clock = clock, .deadline_ms = deadline_ms};
    cdr_mutex_init(&self->mu);
    cdr_cond_init(&self->cond);
    pthread_create(&self->thread, NULL, sleep_until, self);
}

static void sleeper_signal(sleeper *self)
{
    cdr_mutex_lock(&self->mu);
    self->is_signalled = true;
    cdr_cond_signal(&self->cond);
    cdr_mutex_unlock(&self->mu);
}

static void sleeper_join(sleeper *self)
{
    pthread_join(self->thread, NULL);
    cdr_cond_fini(&self->cond);
    cdr_mutex_fini(&self->mu);
}

static void test_clock__real_one_moves_forward(void)
{
    cdr_clock *clock = cdr_clock_real();
    CHECK(clock == cdr_clock_real());
    int64_t ms = cdr_clock_now_ms(clock);
    int64_t ns = cdr_clock_now_ns(clock);
    CHECK(ns / 1000000 >= ms && ns / 1000000 < ms + 60000);
    CHECK(cdr_clock_now_ns(clock) >= ns);
    int64_t wall_s = cdr_clock_wall_ms(clock) / 1000;
    CHECK(wall_s >= time(NULL) - 60 && wall_s <= time(NULL) + 60);
}

static void test_clock__real_wait_ends_at_the_deadline(void)
{
    cdr_clock *clock = cdr_clock_real();
    cdr_mutex mu;
    cdr_cond cond;
    cdr_mutex_init(&mu);
    cdr_cond_init(&cond);
    cdr_mutex_lock(&mu);
    CHECK(!cdr_clock_wait(clock, &cond, &mu, INT64_MIN));
    CHECK(!cdr_clock_wait(clock, &cond, &mu, 0));
    int64_t deadline_ms = cdr_clock_now_ms(clock) + 5;
    while (cdr_clock_wait(clock, &cond, &mu, deadline_ms))
        continue;
    CHECK(cdr_clock_now_ms(clock) >= deadline_ms);
    cdr_mutex_unlock(&mu);
    cdr_cond_fini(&cond);
    cdr_mutex_fini(&mu);
}

static void test_clock__real_wait_is_woken_by_a_signal(void)
{
    static const int64_t deadlines[] = {CDR_NEVER, CDR_NEVER - 1};
    for (int i = 0; i < 2; i++) {
        sleeper one;
        sleeper_start(&one, cdr_clock_real(), deadlines[i]);
        sleeper_signal(&one);
        sleeper_join(&one);
        CHECK(!one.is_late);
    }
}

static void test_clock__fake_one_stands_until_it_is_moved(void)
{
    cdr_clock *clock = cdr_clock_fake_new(1000);
    if (!CHECK(clock != NULL))
        return;
    CHECK_INT(cdr_clock_now_ms(clock), 1000);
    CHECK_INT(cdr_clock_now_ns(clock), 1000000000);
    CHECK_INT(cdr_clock_wall_ms(clock), 1000);
    cdr_clock_advance(clock, 0);
    CHECK_INT(cdr_clock_now_ms(clock), 1000);
    cdr_clock_advance(clock, 3600000);
    CHECK_INT(cdr_clock_now_ms(clock), 3601000);
    cdr_clock_fake_free(clock);
    cdr_clock_fake_free(NULL);
}

static void test_clock__fake_wait_returns_at_once_when_the_deadline_has_come(void)
{
    cdr_clock *clock = cdr_clock_fake_new(1000);
    cdr_mutex mu;
    cdr_cond cond;
    cdr_mutex_init(&mu);
    cdr_cond_init(&cond);
    cdr_mutex_lock(&mu);
    CHECK(!cdr_clock_wait(clock, &cond, &mu, 1000));
    CHECK(!cdr_clock_wait(clock, &cond, &mu, -1));
    cdr_mutex_unlock(&mu);
    cdr_cond_fini(&cond);
    cdr_mutex_fini(&mu);
    cdr_clock_fake_free(clock);
}

static void test_clock__advance_wakes_those_whose_deadline_has_come(void)
{
    cdr_clock *clock = cdr_clock_fake_new(0);
    sleeper early;
    sleeper late;
    sleeper_start(&early, clock, 100);
    sleeper_start(&late, clock, 101);
    cdr_clock_await_waiters(clock, 2);
    cdr_clock_advance(clock, 99);
    cdr_clock_await_waiters(clock, 2); // nobody is due
    cdr_clock_advance(clock, 1);
    sleeper_join(&early);
    CHECK(early.is_late);
    CHECK_INT(early.woken_at_ms, 100);
    cdr_clock_await_waiters(clock, 1);
    cdr_clock_advance(clock, 1);
    sleeper_join(&late);
    CHECK(late.is_late);
    CHECK_INT(late.woken_at_ms, 101);
    cdr_clock_fake_free(clock);
}

static void test_clock__signal_wakes_before_the_deadline(void)
{
    cdr_clock *clock = cdr_clock_fake_new(0);
    sleeper one;
    sleeper_start(&one, clock, 100);
    cdr_clock_await_waiters(clock, 1);
    sleeper_signal(&one);
    sleeper_join(&one);
    CHECK(!one.is_late);
    CHECK_INT(one.woken_at_ms, 0);
    cdr_clock_advance(clock, 1000); // nobody is left to be touched
    cdr_clock_fake_free(clock);
}

static void test_clock__waiter_without_deadline_is_not_counted(void)
{
    cdr_clock *clock = cdr_clock_fake_new(0);
    sleeper forever;
    sleeper timed;
    sleeper_start(&forever, clock, CDR_NEVER);
    sleeper_start(&timed, clock, 10);
    cdr_clock_await_waiters(clock, 1);
    cdr_clock_advance(clock, 10);
    sleeper_join(&timed);
    sleeper_signal(&forever);
    sleeper_join(&forever);
    CHECK(!forever.is_late);
    cdr_clock_fake_free(clock);
}

// Signals and deadlines that meet: every sleeper ends, once, for a reason that is true.
static void test_clock__deadline_and_signal_may_meet(void)
{
    enum {
        N_SLEEPERS = 8,
        N_ROUNDS = 100
    };
    cdr_clock *clock = cdr_clock_fake_new(0);
    int n_wrong = 0;
    for (int round = 0; round < N_ROUNDS; round++) {
        sleeper all[N_SLEEPERS];
        int64_t start_ms = cdr_clock_now_ms(clock);
        for (int i = 0; i < N_SLEEPERS; i++)
            sleeper_start(&all[i], clock, start_ms + 1 + i % 2);
        if (round % 2)
            cdr_clock_await_waiters(clock, N_SLEEPERS);
        for (int i = 0; i < N_SLEEPERS / 2; i++)
            sleeper_signal(&all[i]);
        cdr_clock_advance(clock, 1);
        cdr_clock_advance(clock, 1);
        for (int i = 0; i < N_SLEEPERS; i++) {
            sleeper_join(&all[i]);
            n_wrong += !all[i].is_signalled && !all[i].is_late;
            n_wrong += all[i].is_late && all[i].woken_at_ms < all[i].deadline_ms;
        }
    }
    CHECK_INT(n_wrong, 0);
    cdr_clock_fake_free(clock);
}

// A sleeper whose condition and mutex are gone as soon as its wait has returned.
static void *sleep_and_vanish(void *arg)
{
    sleeper *self = arg;
    sleep_until(self);
    cdr_cond_fini(&self->cond);
    cdr_mutex_fini(&self->mu);
    free(self);
    return NULL;
}

static void test_clock__advance_leaves_the_woken_alone(void)
{
    enum {
        N_ROUNDS = 200,
        N_SLEEPERS = 4
    };
    cdr_clock *clock = cdr_clock_fake_new(0);
    for (int round = 0; round < N_ROUNDS; round++) {
        pthread_t threads[N_SLEEPERS];
        for (int i = 0; i < N_SLEEPERS; i++) {
            sleeper *one = calloc(1, sizeof(*one));
            if (!CHECK(one != NULL))
                abort();
            one->clock = clock;
            one->deadline_ms = cdr_clock_now_ms(clock) + 1;
            cdr_mutex_init(&one->mu);
            cdr_cond_init(&one->cond);
            pthread_create(&threads[i], NULL, sleep_and_vanish, one);
        }
        cdr_clock_await_waiters(clock, N_SLEEPERS);
        cdr_clock_advance(clock, 1);
        for (int i = 0; i < N_SLEEPERS; i++)
            pthread_join(threads[i], NULL);
    }
    CHECK_INT(cdr_clock_now_ms(clock), N_ROUNDS);
    cdr_clock_fake_free(clock);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_clock__real_one_moves_forward),
    CHECK_TEST(test_clock__real_wait_ends_at_the_deadline),
    CHECK_TEST(test_clock__real_wait_is_woken_by_a_signal),
    CHECK_TEST(test_clock__fake_one_stands_until_it_is_moved),
    CHECK_TEST(test_clock__fake_wait_returns_at_once_when_the_deadline_has_come),
    CHECK_TEST(test_clock__advance_wakes_those_whose_deadline_has_come),
    CHECK_TEST(test_clock__signal_wakes_before_the_deadline),
    CHECK_TEST(test_clock__waiter_without_deadline_is_not_counted),
    CHECK_TEST(test_clock__deadline_and_signal_may_meet),
    CHECK_TEST(test_clock__advance_leaves_the_woken_alone),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("base/clock", tests);
}
