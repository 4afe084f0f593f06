// Clocks: monotonic milliseconds for durations and deadlines, wall time for
// display only. A fake clock stands still until it is advanced, so tests of
// timeouts wait for nothing.
//
// Thread: all functions may be called from any thread.
#ifndef CDR_CLOCK_H
#define CDR_CLOCK_H

#include "base/mutex.h"

#include <stdint.h>

typedef struct cdr_clock cdr_clock;

// The system's clock. Static storage; nothing to free.
cdr_clock *cdr_clock_real(void);

// A clock that starts at `now_ms` and moves only by cdr_clock_advance. NULL: no
// memory. Free it when nobody waits on it any more.
cdr_clock *cdr_clock_fake_new(int64_t now_ms);
void cdr_clock_fake_free(cdr_clock *clock);

// Moves a fake clock on and wakes everybody whose deadline on it has come. The caller
// holds no mutex that is waited with.
void cdr_clock_advance(cdr_clock *clock, int64_t by_ms);

// Waits (really) until `n` threads wait on this fake clock with a deadline that has
// not come; how a test knows that it may advance.
void cdr_clock_await_waiters(cdr_clock *clock, int n);

int64_t cdr_clock_now_ms(cdr_clock *clock);  // monotonic
int64_t cdr_clock_now_ns(cdr_clock *clock);  // monotonic
int64_t cdr_clock_wall_ms(cdr_clock *clock); // since 1970, UTC; fake: as now_ms

// Waits on `cond` until it is signalled or the clock reaches `deadline_ms`
// (CDR_NEVER: no deadline). False: the deadline has passed. Spurious returns of true
// happen.
bool cdr_clock_wait(cdr_clock *clock, cdr_cond *cond, cdr_mutex *mu,
                    int64_t deadline_ms) CDR_REQUIRES(mu);

#endif
