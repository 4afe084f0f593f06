// See sandbox_pool.h.
//
// A sandbox that failed is not kept: an error is rare, and leaves more behind than it
// should.
#include "expression/sandbox_pool.h"

void cdr_sandbox_pool_init(cdr_sandbox_pool *pool, const cdr_sandbox_names *names)
{
    *pool = (cdr_sandbox_pool){.names = names};
    cdr_mutex_init(&pool->mu);
}

void cdr_sandbox_pool_fini(cdr_sandbox_pool *pool)
{
    for (size_t i = 0; i < pool->n_idle; i++)
        cdr_sandbox_free(pool->idle[i]);
    cdr_mutex_fini(&pool->mu);
}

static cadre_status make(const cdr_sandbox_pool *pool, const cdr_script *script,
                         cdr_sandbox **out, cadre_error *err)
{
    cdr_sandbox *sandbox = NULL;
    cadre_status status = cdr_sandbox_new(pool->names, &sandbox, err);
    if (status == CADRE_OK)
        status = cdr_sandbox_load(sandbox, script, err);
    if (status == CADRE_OK)
        *out = sandbox;
    else
        cdr_sandbox_free(sandbox);
    return status;
}

static cadre_status take(cdr_sandbox_pool *pool, cdr_sandbox **out, cadre_error *err)
{
    cdr_sandbox *sandbox = NULL;
    cdr_mutex_lock(&pool->mu);
    if (pool->n_idle > 0)
        sandbox = pool->idle[--pool->n_idle];
    cdr_mutex_unlock(&pool->mu);
    if (!sandbox)
        return make(pool, &pool->script, out, err);
    *out = sandbox;
    return CADRE_OK;
}

static void put(cdr_sandbox_pool *pool, cdr_sandbox *sandbox)
{
    cdr_mutex_lock(&pool->mu);
    if (pool->n_idle < CDR_SANDBOX_MAX_IDLE) {
        pool->idle[pool->n_idle++] = sandbox;
        sandbox = NULL;
    }
    cdr_mutex_unlock(&pool->mu);
    cdr_sandbox_free(sandbox);
}

cadre_status cdr_sandbox_pool_load(cdr_sandbox_pool *pool, const cdr_script *script,
                                   cadre_error *err)
{
    cdr_sandbox *sandbox = NULL;
    cadre_status status = make(pool, script, &sandbox, err);
    if (status != CADRE_OK)
        return status;
    pool->script = *script;
    put(pool, sandbox);
    return CADRE_OK;
}

cadre_status cdr_sandbox_pool_run(cdr_sandbox_pool *pool, const cdr_sandbox_run *run,
                                  cadre_error *err)
{
    cdr_sandbox *sandbox = NULL;
    cadre_status status = take(pool, &sandbox, err);
    if (status != CADRE_OK)
        return status;
    status = cdr_sandbox_run_script(sandbox, run, err);
    if (status == CADRE_OK)
        put(pool, sandbox);
    else
        cdr_sandbox_free(sandbox);
    return status;
}
