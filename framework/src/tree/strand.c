// See strand.h.
#include "tree/strand.h"

void cdr_strand_init(cdr_strand *strand)
{
    cdr_mutex_init(&strand->mu);
    cdr_cond_init(&strand->cond);
    atomic_init(&strand->signals, 0);
    strand->joining = NULL;
}

void cdr_strand_fini(cdr_strand *strand)
{
    cdr_cond_fini(&strand->cond);
    cdr_mutex_fini(&strand->mu);
}

unsigned cdr_strand_seen(cdr_strand *strand)
{
    return atomic_load_explicit(&strand->signals, memory_order_acquire);
}

void cdr_strand_wake(cdr_strand *strand)
{
    cdr_mutex_lock(&strand->mu);
    atomic_fetch_add_explicit(&strand->signals, 1, memory_order_release);
    cdr_cond_signal(&strand->cond);
    cdr_mutex_unlock(&strand->mu);
}

void cdr_strand_wait(cdr_strand *strand, unsigned seen, cdr_clock *clock,
                     int64_t deadline_ms)
{
    cdr_mutex_lock(&strand->mu);
    while (cdr_strand_seen(strand) == seen) {
        if (!cdr_clock_wait(clock, &strand->cond, &strand->mu, deadline_ms))
            break;
    }
    cdr_mutex_unlock(&strand->mu);
}

void cdr_strand_settle(cdr_strand *strand, int *pending)
{
    cdr_mutex_lock(&strand->mu);
    (*pending)--;
    atomic_fetch_add_explicit(&strand->signals, 1, memory_order_release);
    cdr_cond_signal(&strand->cond);
    cdr_mutex_unlock(&strand->mu);
}

bool cdr_strand_is_settled(cdr_strand *strand, const int *pending)
{
    cdr_mutex_lock(&strand->mu);
    bool is_settled = *pending == 0;
    cdr_mutex_unlock(&strand->mu);
    return is_settled;
}

void cdr_strand_join(cdr_strand *strand, const int *pending)
{
    cdr_mutex_lock(&strand->mu);
    while (*pending > 0)
        cdr_cond_wait(&strand->cond, &strand->mu);
    cdr_mutex_unlock(&strand->mu);
}
