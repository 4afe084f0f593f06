// See batch.h.
#include "batch.h"

#include "facts.h"

#include <stdlib.h>

#define FEW_FACTS 8U
#define ALL_SHELVES UINT64_MAX

// One commit or post under way.
typedef struct batch {
    cdr_memory_scope scope;
    cadre_commit *commit; // NULL: a post
    cadre_fact *facts;
    size_t n_facts;
    bool is_new_trace;
    uint64_t traces, sessions; // shelves that are locked, by bit
    cdr_memory_undo *undos;
    cdr_memory_undo few[FEW_FACTS];
} batch;

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

// --- Locks ---

static void lock_traces(const batch *b)
{
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES; i++) {
        if (b->traces >> i & 1)
            pthread_mutex_lock(&b->scope.store->traces[i].mu);
    }
}

static void unlock_traces(const batch *b)
{
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES; i++) {
        if (b->traces >> i & 1)
            pthread_mutex_unlock(&b->scope.store->traces[i].mu);
    }
}

// The shelf of a conversation that may have a name, as far as can be told before.
static uint64_t session_of(const batch *b, cadre_id id)
{
    const cdr_memory_trace *trace = b->scope.trace;
    bool is_own =
        trace && cdr_memory_find_conversation_locked(&trace->conversations, id);
    return is_own ? 0 : 1ULL << cdr_memory_shelf_of_id(id);
}

// The session shelves a fact needs: for a conversation with a name that it opens,
// speaks in, or has a root in.
static uint64_t sessions_of(const batch *b, const cadre_fact *fact)
{
    const cdr_memory_trace *trace = b->scope.trace;
    const cdr_memory_conversation *session = trace ? trace->session : NULL;
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        if (!fact->u.conversation.session || !fact->u.conversation.session[0])
            return 0;
        return 1ULL << cdr_memory_shelf_of_id(fact->u.conversation.id) |
               1ULL << cdr_memory_shelf_of_name(fact->u.conversation.session);
    case CADRE_FACT_MESSAGE:
        return session_of(b, fact->u.message.conversation);
    case CADRE_FACT_FRAME:
        // What never changes of the root's conversation is read without its lock.
        if (session && cadre_id_equal(session->row.id, fact->u.frame.conversation))
            return 0;
        return session_of(b, fact->u.frame.conversation);
    case CADRE_FACT_END:
        if (!session || !cdr_memory_frame_is_live_root(trace, fact->u.frame.id))
            return 0;
        return 1ULL << cdr_memory_shelf_of_id(session->row.id);
    default:
        return 0;
    }
}

static void lock_sessions(batch *b)
{
    b->sessions = 0;
    for (size_t i = 0; i < b->n_facts; i++)
        b->sessions |= sessions_of(b, &b->facts[i]);
    // The root's end in the batch of its birth.
    for (size_t i = 0; i < b->n_facts; i++) {
        const cadre_fact *fact = &b->facts[i];
        if (fact->type == CADRE_FACT_FRAME && cadre_id_is_none(fact->u.frame.parent))
            b->sessions |= session_of(b, fact->u.frame.conversation);
    }
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && b->sessions >> i != 0; i++) {
        if (b->sessions >> i & 1)
            pthread_mutex_lock(&b->scope.store->sessions[i].mu);
    }
}

static void unlock_sessions(const batch *b)
{
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && b->sessions >> i != 0; i++) {
        if (b->sessions >> i & 1)
            pthread_mutex_unlock(&b->scope.store->sessions[i].mu);
    }
}

// --- Facts ---

static cadre_status apply(batch *b, cadre_fact *fact, cdr_memory_undo *undo,
                          cadre_error *err)
{
    cdr_memory_scope *scope = &b->scope;
    fact->refused = false;
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        return cdr_memory_apply_conversation(scope, fact, undo, err);
    case CADRE_FACT_TRACE:
        return cdr_memory_apply_trace(scope, b->commit, fact, undo, err);
    case CADRE_FACT_MESSAGE:
        return cdr_memory_apply_message(scope, fact, undo, err);
    case CADRE_FACT_FRAME:
        return cdr_memory_apply_birth(scope, fact, undo, err);
    case CADRE_FACT_RUNNING:
        return cdr_memory_frame_running(scope->trace, fact, undo, err);
    case CADRE_FACT_MARK:
        return cdr_memory_apply_mark(scope, fact, undo, err);
    case CADRE_FACT_END:
        return cdr_memory_apply_end(scope, fact, undo, err);
    }
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': unknown type of fact %d",
                      (int)fact->type);
}

static bool may_be_posted(const cadre_fact *fact)
{
    return fact->type == CADRE_FACT_MARK ||
           (fact->type == CADRE_FACT_MESSAGE && fact->u.message.message.position < 0);
}

// Makes all facts true, or none.
static cadre_status apply_all(batch *b, cadre_error *err)
{
    cdr_memory_trace *trace = b->scope.trace;
    const cdr_memory_region mark =
        trace ? trace->region : (cdr_memory_region){.newest = NULL};
    cadre_status status = CADRE_OK;
    size_t n_done = 0;
    while (n_done < b->n_facts) {
        cadre_fact *fact = &b->facts[n_done];
        b->undos[n_done] = (cdr_memory_undo){.what = NULL};
        if (!trace && !may_be_posted(fact))
            status = cadre_fail(err, CADRE_ESTORE,
                                "only marks and messages for an inbox are written "
                                "without a lease");
        else
            status = apply(b, fact, &b->undos[n_done], err);
        if (status != CADRE_OK)
            break;
        n_done++;
    }
    if (status == CADRE_OK && trace && !trace->is_born)
        status = cdr_memory_fail_id(err, trace->id, "trace", "is not known");
    if (status == CADRE_OK)
        return CADRE_OK;
    while (n_done-- > 0)
        cdr_memory_undo_fact(&b->scope, &b->facts[n_done], &b->undos[n_done]);
    if (trace)
        cdr_memory_region_rewind(&trace->region, &mark);
    return status;
}

// --- The trace ---

// Finds the batch's trace; makes a new one when the store has none. NULL: no memory.
static cdr_memory_trace *open_trace_locked(batch *b)
{
    cadre_id id = b->commit->trace;
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(b->scope.store, id);
    uint32_t number;
    cdr_memory_trace *trace = cdr_memory_find_trace_locked(shelf, id, &number);
    b->is_new_trace = !trace;
    if (trace)
        return trace;
    if (cdr_memory_table_reserve(&shelf->traces))
        trace = calloc(1, sizeof(*trace));
    if (trace) {
        trace->id = id;
        cdr_memory_table_add(&shelf->traces, cdr_memory_tag_of_id(id), trace);
    }
    return trace;
}

static void close_trace_locked(const batch *b, cdr_memory_trace *trace)
{
    cdr_memory_trace_shelf *shelf =
        cdr_memory_shelf_of_trace(b->scope.store, trace->id);
    cdr_memory_table_remove_last(&shelf->traces, cdr_memory_tag_of_id(trace->id));
    cdr_memory_trace_free(trace);
}

static cadre_status check_lease(const batch *b, const cdr_memory_trace *trace,
                                cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    if (!trace->is_born || trace->row.lease_epoch == b->commit->epoch)
        return CADRE_OK;
    for (size_t i = 0; i < b->n_facts; i++) {
        if (b->facts[i].type == CADRE_FACT_TRACE)
            return CADRE_OK; // born twice, which is another mistake
    }
    cadre_id_text(trace->id, id);
    return cadre_fail(
        err, CADRE_ELOST, "trace '%s': the lease was taken by '%.100s'", id,
        trace->lease_owner ? trace->lease_owner : "nobody who still has it");
}

static cadre_status commit_locked(batch *b, cadre_error *err)
{
    cdr_memory_trace *trace = open_trace_locked(b);
    if (!trace)
        return no_memory(err);
    b->scope.trace = trace;
    cadre_status status = check_lease(b, trace, err);
    if (status == CADRE_OK) {
        lock_sessions(b);
        status = apply_all(b, err);
        unlock_sessions(b);
    }
    if (status == CADRE_OK)
        trace->row.last_seq = b->commit->last_seq;
    else if (b->is_new_trace)
        close_trace_locked(b, trace);
    return status;
}

static cadre_status post_locked(batch *b, cadre_error *err)
{
    lock_sessions(b);
    cadre_status status = apply_all(b, err);
    unlock_sessions(b);
    return status;
}

static cadre_status run(batch *b, cadre_error *err)
{
    b->undos = b->few;
    if (b->n_facts > FEW_FACTS)
        b->undos = calloc(b->n_facts, sizeof(*b->undos));
    if (!b->undos)
        return no_memory(err);
    cadre_status status;
    do {
        b->scope.has_all = b->traces == ALL_SHELVES;
        b->scope.needs_all = false;
        b->scope.trace = NULL;
        lock_traces(b);
        status = b->commit ? commit_locked(b, err) : post_locked(b, err);
        unlock_traces(b);
        b->traces = ALL_SHELVES;
    } while (b->scope.needs_all);
    if (b->undos != b->few)
        free(b->undos);
    return status;
}

cadre_status cdr_memory_batch_commit(cdr_memory_store *store, cadre_commit *commit,
                                     cadre_error *err)
{
    if (commit->n_facts == 0)
        return CADRE_OK;
    batch b;
    b.scope = (cdr_memory_scope){.store = store};
    b.commit = commit;
    b.facts = commit->facts;
    b.n_facts = commit->n_facts;
    b.traces = 1ULL << cdr_memory_shelf_number(commit->trace);
    return run(&b, err);
}

cadre_status cdr_memory_batch_post(cdr_memory_store *store, cadre_fact *facts,
                                   size_t n_facts, cadre_error *err)
{
    if (n_facts == 0)
        return CADRE_OK;
    batch b;
    b.scope = (cdr_memory_scope){.store = store};
    b.commit = NULL;
    b.facts = facts;
    b.n_facts = n_facts;
    b.traces = ALL_SHELVES;
    return run(&b, err);
}
