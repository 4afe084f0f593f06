// See background.h.
#include "team/background.h"

void cdr_background_init(cdr_background *background)
{
    cdr_mutex_init(&background->mu);
    cdr_cond_init(&background->changed);
    background->first = NULL;
}

void cdr_background_fini(cdr_background *background)
{
    cdr_cond_fini(&background->changed);
    cdr_mutex_fini(&background->mu);
}

void cdr_background_add(cdr_background *background, cdr_background_run *run)
{
    cdr_mutex_lock(&background->mu);
    run->next = background->first;
    background->first = run;
    cdr_mutex_unlock(&background->mu);
}

void cdr_background_end(cdr_background *background, cdr_background_run *run)
{
    cdr_mutex_lock(&background->mu);
    run->cancel = NULL;
    cdr_mutex_unlock(&background->mu);
}

void cdr_background_remove(cdr_background *background, cdr_background_run *run)
{
    cdr_mutex_lock(&background->mu);
    cdr_background_run **at = &background->first;
    while (*at != run)
        at = &(*at)->next;
    *at = run->next;
    cdr_cond_broadcast(&background->changed);
    cdr_mutex_unlock(&background->mu);
}

bool cdr_background_wait(cdr_background *background, int64_t deadline_ms)
{
    bool is_in_time = true;
    cdr_mutex_lock(&background->mu);
    while (background->first != NULL && is_in_time)
        is_in_time =
            cdr_cond_wait_until(&background->changed, &background->mu, deadline_ms);
    bool is_empty = background->first == NULL;
    cdr_mutex_unlock(&background->mu);
    return is_empty;
}

static bool cancel_locked(const cdr_background *background, const cadre_team *team)
{
    bool is_there = false;
    for (cdr_background_run *run = background->first; run != NULL; run = run->next) {
        if (run->team != team)
            continue;
        is_there = true;
        if (run->cancel != NULL)
            run->cancel(run);
    }
    return is_there;
}

// Again after each change: one that ends may have spawned another meanwhile.
void cdr_background_stop(cdr_background *background, const cadre_team *team)
{
    cdr_mutex_lock(&background->mu);
    while (cancel_locked(background, team))
        cdr_cond_wait(&background->changed, &background->mu);
    cdr_mutex_unlock(&background->mu);
}
