// Timers of one thread: a binary heap.
//
// Invariants:
// 1. heap[timer->place].timer == timer for every timer that is set, with its due_ms
//    beside it; place 0 for others.
// 2. No timer is due before its parent heap[place / 2].
// 3. n <= n_reserved < capacity.
#include "net/timers.h"

#include "base/mutex.h"

#include <assert.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

void cdr_timers_fini(cdr_timers *timers)
{
    assert(timers->n == 0);
    free(timers->heap);
    *timers = (cdr_timers){NULL, 0, 0, 0};
}

bool cdr_timers_reserve(cdr_timers *timers)
{
    if (timers->n_reserved + 1 >= timers->capacity) {
        size_t capacity = timers->capacity ? 2 * timers->capacity : FIRST_CAPACITY;
        void *heap = realloc(timers->heap, capacity * sizeof(*timers->heap));
        if (!heap)
            return false;
        timers->heap = heap;
        timers->capacity = capacity;
    }
    timers->n_reserved++;
    return true;
}

void cdr_timers_unreserve(cdr_timers *timers)
{
    assert(timers->n_reserved > timers->n);
    timers->n_reserved--;
}

static void put(cdr_timers *timers, cdr_timer_slot what, size_t place)
{
    timers->heap[place] = what;
    what.timer->place = place;
}

// Puts it into the free place, or above.
static void put_up(cdr_timers *timers, cdr_timer_slot what, size_t place)
{
    while (place > 1 && timers->heap[place / 2].due_ms > what.due_ms) {
        put(timers, timers->heap[place / 2], place);
        place /= 2;
    }
    put(timers, what, place);
}

// Puts it into the free place, or below.
static void put_down(cdr_timers *timers, cdr_timer_slot what, size_t place)
{
    for (size_t child = 2 * place; child <= timers->n; child = 2 * place) {
        if (child < timers->n &&
            timers->heap[child + 1].due_ms < timers->heap[child].due_ms)
            child++;
        if (timers->heap[child].due_ms >= what.due_ms)
            break;
        put(timers, timers->heap[child], place);
        place = child;
    }
    put(timers, what, place);
}

static void put_near(cdr_timers *timers, cdr_timer_slot what, size_t place)
{
    if (place > 1 && timers->heap[place / 2].due_ms > what.due_ms)
        put_up(timers, what, place);
    else
        put_down(timers, what, place);
}

void cdr_timers_set(cdr_timers *timers, cdr_timer *timer, int64_t due_ms)
{
    if (timer->place == 0) {
        assert(timers->n < timers->n_reserved);
        timer->place = ++timers->n;
    }
    timer->due_ms = due_ms;
    put_near(timers, (cdr_timer_slot){due_ms, timer}, timer->place);
}

void cdr_timers_clear(cdr_timers *timers, cdr_timer *timer)
{
    if (timer->place == 0)
        return;
    cdr_timer_slot last = timers->heap[timers->n--];
    if (last.timer != timer)
        put_near(timers, last, timer->place);
    timer->place = 0;
}

void cdr_timers_fire(cdr_timers *timers, int64_t now_ms)
{
    for (size_t left = timers->n; left > 0 && timers->n > 0; left--) {
        cdr_timer *first = timers->heap[1].timer;
        if (timers->heap[1].due_ms > now_ms)
            break;
        cdr_timers_clear(timers, first);
        first->fire(first->ctx);
    }
}

int64_t cdr_timers_next_ms(const cdr_timers *timers)
{
    return timers->n > 0 ? timers->heap[1].due_ms : CDR_NEVER;
}
