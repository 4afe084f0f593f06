// See mortal_store.h.
#include "mortal_store.h"

#include "team/runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_TRACES = 64
};

static struct {
    cadre_store_ops ops; // of the real one, but for some
    const cadre_store_ops *real;
    pthread_mutex_t mu;
    store_cut cut;
    int n_commits;
    bool is_dead;
    char traces[MAX_TRACES][CADRE_ID_TEXT_SIZE];
    int n_traces;
} mortal = {.mu = PTHREAD_MUTEX_INITIALIZER};

static int place_locked(cadre_id trace)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, id);
    for (int i = 0; i < mortal.n_traces; i++)
        if (strcmp(mortal.traces[i], id) == 0)
            return i + 1;
    if (mortal.n_traces == MAX_TRACES)
        abort();
    memcpy(mortal.traces[mortal.n_traces++], id, sizeof id);
    return mortal.n_traces;
}

// The number of this commit; 0: it does not count. `dies`: it comes too late.
static int count(cadre_id trace, bool *dies)
{
    int n = 0;
    pthread_mutex_lock(&mortal.mu);
    const store_cut *cut = &mortal.cut;
    int place = place_locked(trace);
    if (cut->of_trace == 0 || cut->of_trace == place) {
        n = ++mortal.n_commits;
        *dies = mortal.is_dead;
        if (cut->at > 0 && n >= cut->at)
            mortal.is_dead = true;
        *dies = *dies || (mortal.is_dead && !cut->is_after);
    }
    pthread_mutex_unlock(&mortal.mu);
    return n;
}

static cadre_status cut_off(cadre_error *err)
{
    if (mortal.cut.exits)
        _exit(MORTAL_EXIT);
    return cadre_fail(err, CADRE_ESTORE, "cut");
}

static cadre_status mortal_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    bool dies = false;
    int n = count(commit->trace, &dies);
    if (dies)
        return cut_off(err);
    cadre_status status = mortal.real->commit(state, commit, err);
    if (n == 0 || status != CADRE_OK)
        return status;
    if (mortal.cut.on_commit != NULL)
        mortal.cut.on_commit(mortal.cut.ctx, commit, n);
    return mortal.cut.at == n ? cut_off(err) : CADRE_OK;
}

static cadre_status mortal_post(void *state, cadre_fact *facts, size_t n_facts,
                                cadre_error *err)
{
    pthread_mutex_lock(&mortal.mu);
    bool dies = mortal.is_dead && mortal.cut.of_trace == 0;
    pthread_mutex_unlock(&mortal.mu);
    return dies ? cut_off(err) : mortal.real->post(state, facts, n_facts, err);
}

void mortal_store_wrap(cadre_runtime *runtime)
{
    mortal.real = runtime->store_ops;
    mortal.ops = *mortal.real;
    mortal.ops.commit = mortal_commit;
    mortal.ops.post = mortal_post;
    mortal.ops.release = NULL;
    mortal.n_traces = 0;
    runtime->store_ops = &mortal.ops;
    mortal_store_cut((store_cut){0});
}

void mortal_store_cut(store_cut cut)
{
    pthread_mutex_lock(&mortal.mu);
    mortal.cut = cut;
    mortal.n_commits = 0;
    mortal.is_dead = false;
    pthread_mutex_unlock(&mortal.mu);
}

void mortal_store_die(void)
{
    if (mortal.cut.exits)
        _exit(MORTAL_EXIT);
    pthread_mutex_lock(&mortal.mu);
    mortal.is_dead = true;
    pthread_mutex_unlock(&mortal.mu);
}

int mortal_store_count(void)
{
    pthread_mutex_lock(&mortal.mu);
    int n = mortal.n_commits;
    pthread_mutex_unlock(&mortal.mu);
    return n;
}

const char *mortal_store_trace(int nth)
{
    pthread_mutex_lock(&mortal.mu);
    const char *id = nth <= mortal.n_traces ? mortal.traces[nth - 1] : "";
    pthread_mutex_unlock(&mortal.mu);
    return id;
}
