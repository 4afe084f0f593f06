// Timers of one thread: a binary heap of deadlines, O(log n) to set or clear.
//
// Whose deadline moves later all the time (idle timers) leaves the heap alone: the
// timer fires too early, now and then, and its owner sets it again.
//
// Thread: one.
#ifndef CDR_TIMERS_H
#define CDR_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cdr_timer {
    void (*fire)(void *ctx); // may set and clear any timer
    void *ctx;
    int64_t due_ms;
    size_t place; // in the heap, from 1; 0: not set
} cdr_timer;

// The time stands beside the pointer: timers lie far apart in memory.
typedef struct cdr_timer_slot {
    int64_t due_ms;
    cdr_timer *timer;
} cdr_timer_slot;

typedef struct cdr_timers {
    cdr_timer_slot *heap; // heap[0] is not used
    size_t n;
    size_t n_reserved;
    size_t capacity;
} cdr_timers;

void cdr_timers_fini(cdr_timers *timers);

// Makes room for one timer more, so that setting it never fails. False: no memory.
bool cdr_timers_reserve(cdr_timers *timers);

// Gives the room of one timer back; it must not be set.
void cdr_timers_unreserve(cdr_timers *timers);

// Sets the timer, or moves it.
void cdr_timers_set(cdr_timers *timers, cdr_timer *timer, int64_t due_ms);

void cdr_timers_clear(cdr_timers *timers, cdr_timer *timer);

// Fires what is due at `now_ms`, at most as many as are set: so it comes to an end
// even when firing sets timers that are due at once.
void cdr_timers_fire(cdr_timers *timers, int64_t now_ms);

// When the first is due; CDR_NEVER (mutex.h): none is set.
int64_t cdr_timers_next_ms(const cdr_timers *timers);

#endif
