// See batch.h.
#include "batch.h"

#include <stdlib.h>

#define FEW_FACTS 16U

// One commit under way.
typedef struct batch {
    cdr_memory_store *store;
    cadre_commit *commit;
    cdr_memory_trace *trace;
    bool is_new_trace;
    uint64_t locked; // session shelves, by bit
    cdr_memory_undo *undos;
    cdr_memory_undo few[FEW_FACTS];
} batch;

static bool has_name(const cadre_conversation_row *row)
{
    return row->session && row->session[0];
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

// Fails with "noun 'id' what".
static cadre_status fail_id(cadre_error *err, cadre_id id, const char *noun,
                            const char *what)
{
    char text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, text);
    return cadre_fail(err, CADRE_ESTORE, "%s '%s' %s", noun, text, what);
}

// Finds the batch's trace; makes a new one when the store has none.
static cadre_status open_trace_locked(batch *b, cdr_memory_trace_shelf *shelf,
                                      cadre_error *err)
{
    cadre_id id = b->commit->trace;
    uint32_t number;
    b->trace = cdr_memory_find_trace_locked(shelf, id, &number);
    if (b->trace)
        return CADRE_OK;
    if (!cdr_memory_table_reserve(&shelf->traces))
        return no_memory(err);
    b->trace = calloc(1, sizeof(*b->trace));
    if (!b->trace)
        return no_memory(err);
    b->trace->id = id;
    b->is_new_trace = true;
    cdr_memory_table_add(&shelf->traces, cdr_memory_tag_of_id(id), b->trace);
    return CADRE_OK;
}

// Locks the session shelves the batch may need: for each conversation with a name that
// it opens or, as far as can be told before, speaks in.
static void lock_sessions(batch *b)
{
    for (size_t i = 0; i < b->commit->n_facts; i++) {
        const cadre_fact *fact = &b->commit->facts[i];
        if (fact->type == CADRE_FACT_CONVERSATION && has_name(&fact->u.conversation)) {
            const char *name = fact->u.conversation.session;
            b->locked |= 1ULL << cdr_memory_shelf_of_id(fact->u.conversation.id);
            b->locked |= 1ULL << cdr_memory_shelf_of_name(name);
        } else if (fact->type == CADRE_FACT_MESSAGE) {
            cadre_id id = fact->u.message.conversation;
            if (!cdr_memory_find_conversation_locked(&b->trace->conversations, id))
                b->locked |= 1ULL << cdr_memory_shelf_of_id(id);
        }
    }
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && b->locked >> i != 0; i++) {
        if (b->locked >> i & 1)
            pthread_mutex_lock(&b->store->sessions[i].mu);
    }
}

static void unlock_sessions(batch *b)
{
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && b->locked >> i != 0; i++) {
        if (b->locked >> i & 1)
            pthread_mutex_unlock(&b->store->sessions[i].mu);
    }
}

static cadre_status apply_trace(batch *b, const cadre_fact *fact, cdr_memory_undo *undo,
                                cadre_error *err)
{
    cadre_id id = fact->u.trace.id;
    if (cadre_id_is_none(id) || !cadre_id_equal(id, b->trace->id))
        return fail_id(err, id, "trace", "is written in a batch of another trace");
    if (b->trace->is_born)
        return fail_id(err, id, "trace", "is born twice");
    b->trace->is_born = true;
    undo->what = b->trace;
    return CADRE_OK;
}

static cadre_status
check_conversation(const batch *b, const cadre_conversation_row *row, cadre_error *err)
{
    if (cadre_id_is_none(row->owner_conversation) != cadre_id_is_none(row->owner_frame))
        return fail_id(err, row->id, "conversation",
                       "has half an owner; it needs conversation and frame, or none");
    const cdr_memory_session_shelf *shelf =
        &b->store->sessions[cdr_memory_shelf_of_id(row->id)];
    if (cadre_id_is_none(row->id) ||
        cdr_memory_find_conversation_locked(&b->trace->conversations, row->id) ||
        (has_name(row) &&
         cdr_memory_find_conversation_locked(&shelf->conversations, row->id)))
        return fail_id(err, row->id, "conversation", "has no id, or is born twice");
    return CADRE_OK;
}

static cadre_status apply_session(batch *b, const cadre_conversation_row *row,
                                  cdr_memory_undo *undo, cadre_error *err)
{
    uint32_t tag = cdr_memory_tag_of_name(row->session);
    cdr_memory_session_shelf *by_id =
        &b->store->sessions[cdr_memory_shelf_of_id(row->id)];
    cdr_memory_session_shelf *by_name =
        &b->store->sessions[cdr_memory_shelf_of_name(row->session)];
    if (cdr_memory_find_name_locked(by_name, row->session))
        return cadre_fail(err, CADRE_ESTORE, "session '%.100s' has a conversation",
                          row->session);
    cdr_memory_conversation *conversation = NULL;
    if (cdr_memory_table_reserve(&by_id->conversations) &&
        cdr_memory_table_reserve(&by_name->names))
        conversation = cdr_memory_conversation_new(row->id, row->session);
    if (!conversation)
        return no_memory(err);
    cdr_memory_table_add(&by_id->conversations, cdr_memory_tag_of_id(row->id),
                         conversation);
    cdr_memory_table_add(&by_name->names, tag, conversation);
    undo->what = conversation;
    return CADRE_OK;
}

static cadre_status apply_conversation(batch *b, const cadre_fact *fact,
                                       cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_conversation_row *row = &fact->u.conversation;
    cadre_status status = check_conversation(b, row, err);
    if (status != CADRE_OK || has_name(row))
        return status == CADRE_OK ? apply_session(b, row, undo, err) : status;
    cdr_memory_conversation *conversation = NULL;
    if (cdr_memory_table_reserve(&b->trace->conversations))
        conversation = cdr_memory_conversation_new(row->id, NULL);
    if (!conversation)
        return no_memory(err);
    cdr_memory_table_add(&b->trace->conversations, cdr_memory_tag_of_id(row->id),
                         conversation);
    undo->what = conversation;
    return CADRE_OK;
}

static void undo_conversation(batch *b, cdr_memory_conversation *conversation)
{
    uint32_t tag = cdr_memory_tag_of_id(conversation->id);
    const char *name = conversation->session;
    if (name[0]) {
        cdr_memory_session_shelf *shelves = b->store->sessions;
        cdr_memory_table_remove_last(
            &shelves[cdr_memory_shelf_of_id(conversation->id)].conversations, tag);
        cdr_memory_table_remove_last(&shelves[cdr_memory_shelf_of_name(name)].names,
                                     cdr_memory_tag_of_name(name));
    } else {
        cdr_memory_table_remove_last(&b->trace->conversations, tag);
    }
    cdr_memory_conversation_free(conversation);
}

static cadre_status apply_message(batch *b, cadre_fact *fact, cdr_memory_undo *undo,
                                  cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    cdr_memory_conversation *conversation = cdr_memory_find_conversation_locked(
        &b->trace->conversations, row->conversation);
    if (!conversation) {
        unsigned shelf = cdr_memory_shelf_of_id(row->conversation);
        // A batch that has just opened it has locked its shelf too.
        conversation = cdr_memory_find_conversation_locked(
            &b->store->sessions[shelf].conversations, row->conversation);
    }
    if (!conversation)
        return fail_id(err, row->conversation, "conversation", "is not known");
    if (!cadre_id_is_none(row->frame) &&
        !cdr_memory_frame_find(b->trace, row->frame, &fact->refused))
        return fail_id(err, row->frame, "frame", "of a message is not in the trace");
    undo->what = conversation;
    return cdr_memory_conversation_append(conversation, row, fact->refused, err);
}

static cadre_status apply(batch *b, cadre_fact *fact, cdr_memory_undo *undo,
                          cadre_error *err)
{
    fact->refused = false;
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        return apply_conversation(b, fact, undo, err);
    case CADRE_FACT_TRACE:
        return apply_trace(b, fact, undo, err);
    case CADRE_FACT_MESSAGE:
        return apply_message(b, fact, undo, err);
    case CADRE_FACT_FRAME:
        if (!b->trace->is_born)
            return fail_id(err, b->trace->id, "trace", "is not known");
        return cdr_memory_frame_birth(b->trace, fact, undo, err);
    case CADRE_FACT_RUNNING:
        return cdr_memory_frame_running(b->trace, fact, undo, err);
    case CADRE_FACT_MARK:
        return cdr_memory_frame_mark(b->trace, fact, undo, err);
    case CADRE_FACT_END:
        return cdr_memory_frame_end(b->trace, fact, undo, err);
    }
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': unknown type of fact %d",
                      (int)fact->type);
}

static void undo_fact(batch *b, const cadre_fact *fact, const cdr_memory_undo *undo)
{
    if (!undo->what)
        return;
    if (fact->type == CADRE_FACT_CONVERSATION)
        undo_conversation(b, undo->what);
    else if (fact->type == CADRE_FACT_TRACE)
        b->trace->is_born = false;
    else if (fact->type == CADRE_FACT_MESSAGE)
        cdr_memory_conversation_undo_append(undo->what, fact->refused);
    else
        cdr_memory_frame_undo(b->trace, fact, undo);
}

// Makes all facts true, or none.
static cadre_status apply_all(batch *b, cadre_error *err)
{
    cadre_commit *commit = b->commit;
    const cdr_memory_region mark = b->trace->region;
    cadre_status status = CADRE_OK;
    size_t n_done = 0;
    while (n_done < commit->n_facts) {
        b->undos[n_done].what = NULL;
        status = apply(b, &commit->facts[n_done], &b->undos[n_done], err);
        if (status != CADRE_OK)
            break;
        n_done++;
    }
    if (status == CADRE_OK && !b->trace->is_born)
        status = fail_id(err, b->trace->id, "trace", "is not known");
    if (status == CADRE_OK)
        return CADRE_OK;
    while (n_done-- > 0)
        undo_fact(b, &commit->facts[n_done], &b->undos[n_done]);
    cdr_memory_region_rewind(&b->trace->region, &mark);
    return status;
}

static cadre_status commit_locked(batch *b, cdr_memory_trace_shelf *shelf,
                                  cadre_error *err)
{
    cadre_status status = open_trace_locked(b, shelf, err);
    if (status != CADRE_OK)
        return status;
    lock_sessions(b);
    status = apply_all(b, err);
    unlock_sessions(b);
    if (status != CADRE_OK && b->is_new_trace) {
        cdr_memory_table_remove_last(&shelf->traces,
                                     cdr_memory_tag_of_id(b->trace->id));
        cdr_memory_trace_free(b->trace);
    }
    return status;
}

cadre_status cdr_memory_batch_commit(cdr_memory_store *store, cadre_commit *commit,
                                     cadre_error *err)
{
    if (commit->n_facts == 0)
        return CADRE_OK;
    batch b;
    b.store = store;
    b.commit = commit;
    b.trace = NULL;
    b.is_new_trace = false;
    b.locked = 0;
    b.undos = b.few;
    if (commit->n_facts > FEW_FACTS)
        b.undos = calloc(commit->n_facts, sizeof(*b.undos));
    if (!b.undos)
        return no_memory(err);
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(b.store, commit->trace);
    pthread_mutex_lock(&shelf->mu);
    cadre_status status = commit_locked(&b, shelf, err);
    pthread_mutex_unlock(&shelf->mu);
    if (b.undos != b.few)
        free(b.undos);
    return status;
}
