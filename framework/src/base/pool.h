// A pool of threads: blocking jobs run on cached threads with 1 MiB stacks.
//
// A job starts at once or not at all: it never waits for another to end, since
// jobs block for long and on one another. Threads that are idle are reused last
// in, first out; those idle beyond `max_idle` end.
//
// Signals are blocked on the pool's threads (but those of faults: SIGSEGV and the
// like), so that they reach the program's own; who starts a process from a job gives
// it a signal mask of its own.
//
// Thread: any. Nobody's lock is held while a job runs.
#ifndef CDR_POOL_H
#define CDR_POOL_H

#include "cadre/error.h"

typedef struct cdr_pool cdr_pool;

// Opens a pool that runs at most `max_threads` jobs at once and caches `max_idle`
// threads. Enlarges the process's futex table (PR_FUTEX_HASH) when it has had many
// threads, where the kernel can.
cadre_status cdr_pool_open(int max_threads, int max_idle, cdr_pool **out,
                           cadre_error *err);

// Waits for all jobs and frees the pool. NULL ok. No job may be started meanwhile, and
// no job may call it.
void cdr_pool_close(cdr_pool *pool);

// Runs `job(arg)` on a thread of the pool. Errors: EBUSY at the ceiling or when the
// system has no thread; then the job was not run. A job counts until it has returned.
cadre_status cdr_pool_run(cdr_pool *pool, void (*job)(void *arg), void *arg,
                          cadre_error *err);

// Returns how many bytes of its stack the calling thread has left, of the pool or not;
// SIZE_MAX: not known. Costs some system calls.
size_t cdr_pool_stack_left(void);

// Returns how many threads exist now: those that run a job, and the idle ones.
int cdr_pool_thread_count(cdr_pool *pool);

#endif
