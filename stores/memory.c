// The memory store: keeps what a run writes as long as the process and somebody who
// looks at it; sessions to the end of the store.
//
// Invariants:
// 1. A batch is there whole or not at all (memory/batch.c).
// 2. A reader is called with no lock held, on a picture taken under the locks
//    (memory/read.c). Frames and messages never move and are freed only by release,
//    once nobody reads, and fini.
#include "memory/batch.h"
#include "memory/lease.h"
#include "memory/read.h"
#include "memory/shelf.h"

static cadre_status memory_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    return cdr_memory_batch_commit(state, commit, err);
}

static cadre_status memory_post(void *state, cadre_fact *facts, size_t n_facts,
                                cadre_error *err)
{
    return cdr_memory_batch_post(state, facts, n_facts, err);
}

static cadre_status memory_lease(void *state, const cadre_lease *wanted, int64_t *epoch,
                                 cadre_error *err)
{
    return cdr_memory_lease(state, wanted, epoch, err);
}

static cadre_status memory_read(void *state, const cadre_query *query,
                                const cadre_store_reader *reader, cadre_error *err)
{
    return cdr_memory_read(state, query, reader, err);
}

// A root that is forgotten while it lives works in no conversation any more.
static void leave_session(cdr_memory_store *store, const cdr_memory_trace *trace)
{
    cdr_memory_conversation *session = trace->session;
    if (!session)
        return;
    pthread_mutex_t *mu = &store->sessions[cdr_memory_shelf_of_id(session->row.id)].mu;
    pthread_mutex_lock(mu);
    if (cdr_memory_frame_is_live_root(trace, session->live_root))
        session->live_root = (cadre_id){0, 0};
    pthread_mutex_unlock(mu);
}

static void memory_release(void *state, cadre_id id)
{
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(state, id);
    cdr_memory_table *traces = &shelf->traces;
    uint32_t number;
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_trace *trace = cdr_memory_find_trace_locked(shelf, id, &number);
    if (trace) {
        const cdr_memory_trace *last = traces->rows[traces->n_rows - 1];
        cdr_memory_table_remove(traces, cdr_memory_tag_of_id(id), number,
                                cdr_memory_tag_of_id(last->id));
    }
    pthread_mutex_unlock(&shelf->mu);
    if (trace) {
        leave_session(state, trace);
        cdr_memory_bury(state, trace); // outside the lock: it may be large
    }
}

static cadre_status memory_init(void *state, const char *url, cadre_error *err)
{
    cdr_memory_store_init(state); // fini comes after a failure too
    if (url && url[0])
        return cadre_fail(err, CADRE_ECONFIG,
                          "store 'memory:%.200s': nothing may stand after 'memory'; "
                          "write memory alone",
                          url);
    return CADRE_OK;
}

static void memory_fini(void *state)
{
    cdr_memory_store_fini(state);
}

const cadre_store_ops cadre_store_memory = {
    .struct_size = sizeof(cadre_store_ops),
    .type = "memory",
    .summary =
        "keeps runs while they are looked at, sessions until the end of the process",
    .state_size = sizeof(cdr_memory_store),
    .init = memory_init,
    .fini = memory_fini,
    .commit = memory_commit,
    .post = memory_post,
    .lease = memory_lease,
    .read = memory_read,
    .release = memory_release,
};
