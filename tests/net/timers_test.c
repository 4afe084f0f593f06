// Timers: they fire in order, can be moved and cleared, and cost O(log n).
#include "net/timers.h"

#include "support/check.h"

#include "base/mutex.h"

#include <stdlib.h>

enum {
    N = 2000
};

typedef struct clockwork {
    cdr_timers timers;
    cdr_timer all[N];
    int64_t last_due_ms;
    int n_fired;
    bool set_again;
} clockwork;

typedef struct tooth {
    clockwork *work;
    int i;
} tooth;

static void on_fire(void *ctx)
{
    const tooth *which = ctx;
    clockwork *work = which->work;
    int64_t due_ms = work->all[which->i].due_ms;
    CHECK(due_ms >= work->last_due_ms);
    work->last_due_ms = due_ms;
    work->n_fired++;
    if (work->set_again)
        cdr_timers_set(&work->timers, &work->all[which->i], 0);
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

// Sets n timers at random times, moves and clears some.
static void set_some(clockwork *work, tooth *teeth, int n, uint32_t *seed)
{
    for (int i = 0; i < n; i++) {
        teeth[i] = (tooth){work, i};
        work->all[i] = (cdr_timer){.fire = on_fire, .ctx = &teeth[i]};
        CHECK(cdr_timers_reserve(&work->timers));
        cdr_timers_set(&work->timers, &work->all[i], next_random(seed) % 1000);
    }
    for (int i = 0; i < n; i += 3)
        cdr_timers_set(&work->timers, &work->all[i], next_random(seed) % 1000);
    for (int i = 0; i < n; i += 7)
        cdr_timers_clear(&work->timers, &work->all[i]);
}

static void test_timers__fire_in_order_what_is_due(void)
{
    clockwork *work = calloc(1, sizeof *work);
    tooth *teeth = calloc(N, sizeof *teeth);
    uint32_t seed = 7;
    CHECK(cdr_timers_next_ms(&work->timers) == CDR_NEVER);
    set_some(work, teeth, N, &seed);
    int n_set = 0;
    int n_due = 0;
    for (int i = 0; i < N; i++) {
        n_set += work->all[i].place != 0;
        n_due += work->all[i].place != 0 && work->all[i].due_ms <= 500;
    }
    CHECK_INT(n_set, N - (N + 6) / 7);
    cdr_timers_fire(&work->timers, 500);
    CHECK_INT(work->n_fired, n_due);
    CHECK(cdr_timers_next_ms(&work->timers) > 500);
    cdr_timers_fire(&work->timers, 1000);
    CHECK_INT(work->n_fired, n_set);
    CHECK(cdr_timers_next_ms(&work->timers) == CDR_NEVER);
    cdr_timers_fini(&work->timers);
    free(teeth);
    free(work);
}

static void test_timers__set_while_firing_do_not_fire_for_ever(void)
{
    clockwork *work = calloc(1, sizeof *work);
    tooth *teeth = calloc(10, sizeof *teeth);
    uint32_t seed = 7;
    set_some(work, teeth, 10, &seed);
    size_t n_set = work->timers.n;
    work->set_again = true;
    work->last_due_ms = -1;
    for (int i = 0; i < 10; i++)
        cdr_timers_set(&work->timers, &work->all[i], 0);
    CHECK_INT(n_set, 8);
    cdr_timers_fire(&work->timers, 0);
    CHECK_INT(work->n_fired, 10);
    CHECK_INT(work->timers.n, 10);
    for (int i = 0; i < 10; i++) {
        cdr_timers_clear(&work->timers, &work->all[i]);
        cdr_timers_clear(&work->timers, &work->all[i]); // no matter
        cdr_timers_unreserve(&work->timers);
    }
    cdr_timers_fini(&work->timers);
    free(teeth);
    free(work);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_timers__fire_in_order_what_is_due),
        CHECK_TEST(test_timers__set_while_firing_do_not_fire_for_ever),
        CU_TEST_INFO_NULL,
    };
    return check_main("net/timers", tests);
}
