// See governor.h.
//
// Invariants:
// 1. Only the first in line is served, and it is woken whenever that may have become
//    possible: when it became the first, and when a turn was given back. What only time
//    makes possible it waits for itself.
// 2. `begun` is a ring of the last `capacity` times at which turns were taken, and
//    `capacity` is the largest rpm that anybody asked with, so the turn that must be a
//    minute old is in it.
#include "net/governor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS INT64_C(60000)
#define LONG_AGO_MS (INT64_MIN / 2)

struct cdr_governor {
    cdr_clock *clock;
    char *provider, *base_url, *model, *api_key_env;
    cdr_governor *next; // guarded by all.mu, as `refs`
    int refs;
    cdr_mutex mu;
    cdr_turn *line, **line_end; // guarded by mu, as all below
    int n_taken;
    int64_t *begun;
    size_t capacity;
    uint64_t n_begun;
    int64_t paused_until_ms;
    int64_t cools_until_ms;
    cadre_error_class cools_for;
};

// All of the process. `n_refs` are the runtimes that are open.
static struct {
    pthread_once_t once;
    cdr_mutex mu;
    int n_refs; // guarded by mu, as below
    cdr_governor *first;
} all = {.once = PTHREAD_ONCE_INIT};

static void init_all(void)
{
    cdr_mutex_init(&all.mu);
}

// --- Which there are ---

static void governor_free(cdr_governor *governor)
{
    if (governor == NULL)
        return;
    assert(governor->line == NULL && governor->n_taken == 0);
    cdr_mutex_fini(&governor->mu);
    free(governor->provider);
    free(governor->base_url);
    free(governor->model);
    free(governor->api_key_env);
    free(governor->begun);
    free(governor);
}

static cdr_governor *governor_new(const cdr_governor_name *name)
{
    cdr_governor *governor = calloc(1, sizeof *governor);
    if (governor == NULL)
        return NULL;
    cdr_mutex_init(&governor->mu);
    governor->clock = name->clock;
    governor->line_end = &governor->line;
    governor->provider = strdup(name->provider);
    governor->base_url = strdup(name->base_url);
    governor->model = strdup(name->model);
    governor->api_key_env = strdup(name->api_key_env);
    if (governor->provider && governor->base_url && governor->model &&
        governor->api_key_env)
        return governor;
    governor_free(governor);
    return NULL;
}

static bool is_named(const cdr_governor *governor, const cdr_governor_name *name)
{
    return governor->clock == name->clock &&
           strcmp(governor->model, name->model) == 0 &&
           strcmp(governor->provider, name->provider) == 0 &&
           strcmp(governor->base_url, name->base_url) == 0 &&
           strcmp(governor->api_key_env, name->api_key_env) == 0;
}

static int64_t last_begun_locked(const cdr_governor *governor)
{
    if (governor->capacity == 0 || governor->n_begun == 0)
        return LONG_AGO_MS;
    return governor->begun[(governor->n_begun - 1) % governor->capacity];
}

// Would one that is made anew behave otherwise? A fake clock may be gone already.
static bool remembers(cdr_governor *governor)
{
    if (governor->clock != cdr_clock_real())
        return false;
    int64_t now = cdr_clock_now_ms(governor->clock);
    cdr_mutex_lock(&governor->mu);
    bool is_fresh = last_begun_locked(governor) + MINUTE_MS > now ||
                    governor->paused_until_ms > now || governor->cools_until_ms > now;
    cdr_mutex_unlock(&governor->mu);
    return is_fresh;
}

// Frees those that nobody has and that remember nothing.
static void sweep_locked(void) CDR_REQUIRES(&all.mu)
{
    cdr_governor **link = &all.first;
    while (*link != NULL) {
        cdr_governor *governor = *link;
        if (governor->refs > 0 || remembers(governor)) {
            link = &governor->next;
            continue;
        }
        *link = governor->next;
        governor_free(governor);
    }
}

void cdr_governors_ref(void)
{
    pthread_once(&all.once, init_all);
    cdr_mutex_lock(&all.mu);
    all.n_refs++;
    cdr_mutex_unlock(&all.mu);
}

void cdr_governors_unref(void)
{
    cdr_mutex_lock(&all.mu);
    all.n_refs--;
    while (all.n_refs == 0 && all.first != NULL) {
        cdr_governor *governor = all.first;
        assert(governor->refs == 0);
        all.first = governor->next;
        governor_free(governor);
    }
    cdr_mutex_unlock(&all.mu);
}

// Makes room for the times of so many turns. False: no memory.
static bool remember_locked(cdr_governor *governor, size_t capacity)
{
    if (capacity <= governor->capacity)
        return true;
    int64_t *begun = malloc(capacity * sizeof *begun);
    if (begun == NULL)
        return false;
    for (size_t i = 0; i < capacity; i++)
        begun[i] = LONG_AGO_MS; // of those before the old ring nothing is known
    for (size_t i = 1; i <= governor->capacity && i <= governor->n_begun; i++) {
        uint64_t nth = governor->n_begun - i;
        begun[nth % capacity] = governor->begun[nth % governor->capacity];
    }
    free(governor->begun);
    governor->begun = begun;
    governor->capacity = capacity;
    return true;
}

static cdr_governor *find_locked(const cdr_governor_name *name) CDR_REQUIRES(&all.mu)
{
    cdr_governor *governor = all.first;
    while (governor != NULL && !is_named(governor, name))
        governor = governor->next;
    return governor;
}

cdr_governor *cdr_governor_ref(const cdr_governor_name *name, int rpm)
{
    cdr_mutex_lock(&all.mu);
    assert(all.n_refs > 0);
    cdr_governor *governor = find_locked(name);
    if (governor == NULL) {
        sweep_locked();
        governor = governor_new(name);
        if (governor != NULL) {
            governor->next = all.first;
            all.first = governor;
        }
    }
    if (governor != NULL) {
        cdr_mutex_lock(&governor->mu);
        bool has_room = remember_locked(governor, rpm > 0 ? (size_t)rpm : 0);
        cdr_mutex_unlock(&governor->mu);
        governor->refs += has_room;
        governor = has_room ? governor : NULL;
    }
    cdr_mutex_unlock(&all.mu);
    return governor;
}

void cdr_governor_unref(cdr_governor *governor)
{
    if (governor == NULL)
        return;
    cdr_mutex_lock(&all.mu);
    if (--governor->refs == 0)
        sweep_locked();
    cdr_mutex_unlock(&all.mu);
}

// --- Turns ---

static void append_locked(cdr_governor *governor, cdr_turn *turn)
{
    turn->next = NULL;
    turn->link = governor->line_end;
    *governor->line_end = turn;
    governor->line_end = &turn->next;
}

static void wake_first_locked(const cdr_governor *governor)
{
    if (governor->line != NULL)
        governor->line->wake(governor->line->ctx);
}

static void leave_line_locked(cdr_governor *governor, cdr_turn *turn)
{
    bool was_first = governor->line == turn;
    *turn->link = turn->next;
    if (turn->next != NULL)
        turn->next->link = turn->link;
    else
        governor->line_end = turn->link;
    turn->next = NULL;
    turn->link = NULL;
    if (was_first)
        wake_first_locked(governor);
}

// When `rpm` allows another turn.
static int64_t opens_at_locked(const cdr_governor *governor, int rpm)
{
    if (rpm == 0 || governor->n_begun < (uint64_t)rpm)
        return LONG_AGO_MS;
    assert((size_t)rpm <= governor->capacity);
    uint64_t nth = governor->n_begun - (uint64_t)rpm;
    return governor->begun[nth % governor->capacity] + MINUTE_MS;
}

// Of the first in line, or of who stands in none. False: nothing is in the way at
// `now`.
static bool must_wait_locked(const cdr_governor *governor, const cdr_turn *turn,
                             int64_t now, cdr_turn_delay *delay)
{
    int64_t opens_at = opens_at_locked(governor, turn->rpm);
    if (turn->max_concurrency > 0 && governor->n_taken >= turn->max_concurrency)
        *delay = (cdr_turn_delay){CDR_TURN_CONCURRENCY, CDR_NEVER};
    else if (governor->paused_until_ms > now && governor->paused_until_ms >= opens_at)
        *delay = (cdr_turn_delay){CDR_TURN_PAUSE, governor->paused_until_ms};
    else if (opens_at > now)
        *delay = (cdr_turn_delay){CDR_TURN_RPM, opens_at};
    else
        return false;
    return true;
}

static bool must_stay_in_line_locked(const cdr_governor *governor, const cdr_turn *turn,
                                     int64_t now, cdr_turn_delay *delay)
{
    if (turn->link == NULL || governor->line == turn)
        return must_wait_locked(governor, turn, now, delay);
    if (!must_wait_locked(governor, governor->line, now, delay)) // it is about to go
        delay->why = turn->rpm > 0 ? CDR_TURN_RPM : CDR_TURN_CONCURRENCY;
    delay->until_ms = CDR_NEVER;
    return true;
}

static void begin_locked(cdr_governor *governor, cdr_turn *turn, int64_t now)
{
    turn->is_taken = true;
    governor->n_taken++;
    if (governor->capacity > 0)
        governor->begun[governor->n_begun % governor->capacity] = now;
    governor->n_begun += governor->capacity > 0;
    if (turn->link != NULL)
        leave_line_locked(governor, turn);
}

bool cdr_turn_take(cdr_governor *governor, cdr_turn *turn, cdr_turn_delay *delay)
{
    cdr_mutex_lock(&governor->mu);
    int64_t now = cdr_clock_now_ms(governor->clock);
    bool has_limit = turn->rpm > 0 || turn->max_concurrency > 0;
    if (has_limit && turn->link == NULL && !turn->is_taken)
        append_locked(governor, turn);
    if (!turn->is_taken && !must_stay_in_line_locked(governor, turn, now, delay))
        begin_locked(governor, turn, now);
    bool is_taken = turn->is_taken;
    cdr_mutex_unlock(&governor->mu);
    return is_taken;
}

void cdr_turn_end(cdr_governor *governor, cdr_turn *turn)
{
    cdr_mutex_lock(&governor->mu);
    if (turn->link != NULL)
        leave_line_locked(governor, turn);
    if (turn->is_taken) {
        turn->is_taken = false;
        governor->n_taken--;
        wake_first_locked(governor);
    }
    cdr_mutex_unlock(&governor->mu);
}

// --- Pauses and cool-downs ---

void cdr_governor_pause(cdr_governor *governor, int64_t ms)
{
    cdr_mutex_lock(&governor->mu);
    int64_t until = cdr_clock_now_ms(governor->clock) + ms;
    if (until > governor->paused_until_ms)
        governor->paused_until_ms = until;
    cdr_mutex_unlock(&governor->mu);
}

void cdr_governor_cool(cdr_governor *governor, int64_t ms, cadre_error_class why)
{
    cdr_mutex_lock(&governor->mu);
    governor->cools_until_ms = cdr_clock_now_ms(governor->clock) + ms;
    governor->cools_for = why;
    cdr_mutex_unlock(&governor->mu);
}

int64_t cdr_governor_cools_ms(cdr_governor *governor, cadre_error_class *why)
{
    cdr_mutex_lock(&governor->mu);
    int64_t left = governor->cools_until_ms - cdr_clock_now_ms(governor->clock);
    *why = governor->cools_for;
    cdr_mutex_unlock(&governor->mu);
    return left > 0 ? left : 0;
}
