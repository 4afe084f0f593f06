// Mutexes and conditions: pthread's, in a shape clang's thread-safety check reads.
//
// Conditions use the monotonic clock. Who waits names a deadline in monotonic
// milliseconds, or CDR_NEVER.
//
// Thread: any; init and fini the owner's.
#ifndef CDR_MUTEX_H
#define CDR_MUTEX_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__clang__)
#define CDR_CAPABILITY(name) __attribute__((capability(name)))
#define CDR_ACQUIRE(...) __attribute__((acquire_capability(__VA_ARGS__)))
#define CDR_RELEASE(...) __attribute__((release_capability(__VA_ARGS__)))
#define CDR_REQUIRES(...) __attribute__((requires_capability(__VA_ARGS__)))
#define CDR_EXCLUDES(...) __attribute__((locks_excluded(__VA_ARGS__)))
#define CDR_NO_THREAD_SAFETY __attribute__((no_thread_safety_analysis))
#else
#define CDR_CAPABILITY(name)
#define CDR_ACQUIRE(...)
#define CDR_RELEASE(...)
#define CDR_REQUIRES(...)
#define CDR_EXCLUDES(...)
#define CDR_NO_THREAD_SAFETY
#endif

#define CDR_NEVER INT64_MAX

typedef struct CDR_CAPABILITY("mutex") cdr_mutex {
    pthread_mutex_t native;
} cdr_mutex;

typedef struct cdr_cond {
    pthread_cond_t native;
} cdr_cond;

void cdr_mutex_init(cdr_mutex *mu);
void cdr_mutex_fini(cdr_mutex *mu);
void cdr_mutex_lock(cdr_mutex *mu) CDR_ACQUIRE(mu);
void cdr_mutex_unlock(cdr_mutex *mu) CDR_RELEASE(mu);

void cdr_cond_init(cdr_cond *cond);
void cdr_cond_fini(cdr_cond *cond);
void cdr_cond_wait(cdr_cond *cond, cdr_mutex *mu) CDR_REQUIRES(mu);

// Waits until signalled or until `deadline_ms` of the monotonic clock. Returns
// false when the deadline has passed. Spurious returns of true happen.
bool cdr_cond_wait_until(cdr_cond *cond, cdr_mutex *mu, int64_t deadline_ms)
    CDR_REQUIRES(mu);
void cdr_cond_signal(cdr_cond *cond);
void cdr_cond_broadcast(cdr_cond *cond);

#endif
