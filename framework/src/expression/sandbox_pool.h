// A script that may run on any number of threads at once: sandboxes in which it is
// compiled.
//
// A run takes an idle sandbox, or makes one, and puts it back. As many as threads run
// it at once are made, and a few are kept.
//
// Thread: building is one thread's, running any; no lock is held while it runs.
#ifndef CDR_SANDBOX_POOL_H
#define CDR_SANDBOX_POOL_H

#include "base/mutex.h"
#include "expression/sandbox.h"

#define CDR_SANDBOX_MAX_IDLE 8

typedef struct cdr_sandbox_pool {
    const cdr_sandbox_names *names;
    cdr_script script; // text NULL: none yet
    cdr_mutex mu;
    cdr_sandbox *idle[CDR_SANDBOX_MAX_IDLE]; // guarded by mu
    size_t n_idle;                           // guarded by mu
} cdr_sandbox_pool;

void cdr_sandbox_pool_init(cdr_sandbox_pool *pool, const cdr_sandbox_names *names);
void cdr_sandbox_pool_fini(cdr_sandbox_pool *pool);

// Compiles the script, whose texts are borrowed, and keeps it. Errors: those of
// cdr_sandbox_load; then another one may be tried.
cadre_status cdr_sandbox_pool_load(cdr_sandbox_pool *pool, const cdr_script *script,
                                   cadre_error *err);

// As cdr_sandbox_run_script.
cadre_status cdr_sandbox_pool_run(cdr_sandbox_pool *pool, const cdr_sandbox_run *run,
                                  cadre_error *err);

#endif
