// The memory store: keeps what a run writes as long as the process and somebody who
// looks at it; sessions to the end of the store.
//
// Invariants:
// 1. A batch is made true fact by fact under all locks it needs; at the first violation
//    what it did is undone in reverse order. So nobody sees half a batch.
// 2. What no operation reads back is not kept: team and options of a trace, owner and
//    base of a conversation, the last seq.
// 3. The reader is called with no lock held, on a picture taken under the lock. Frames
//    and messages never move and are freed only by release (nobody looks any more) and
//    fini.
//
// Locks, in this order: one trace shelf, then session shelves, lowest first. A trace
// and the conversations born in it without a name are guarded by the trace's shelf; a
// conversation with a name by the session shelf of its id; the name itself by the
// session shelf of the name. Shelves are many, so that runs do not meet.
#include "memory/conversation.h"
#include "memory/frame.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_SHELVES 64U // as many as a batch's set of locks has bits
#define FEW_FACTS 16U

typedef struct trace_shelf {
    pthread_mutex_t mu;
    cdr_memory_table traces; // guarded by mu, with all they hold; by id
} trace_shelf;

typedef struct session_shelf {
    pthread_mutex_t mu;
    cdr_memory_table conversations; // guarded by mu, with their messages; by id
    cdr_memory_table names;         // guarded by mu; conversations by name
} session_shelf;

typedef struct memory_store {
    trace_shelf traces[N_SHELVES];
    session_shelf sessions[N_SHELVES];
} memory_store;

// One commit under way.
typedef struct batch {
    memory_store *store;
    cadre_commit *commit;
    cdr_memory_trace *trace;
    bool is_new_trace;
    uint64_t locked; // session shelves, by bit
    cdr_memory_undo *undos;
    cdr_memory_undo few[FEW_FACTS];
} batch;

// The low bits of a tag count up with ids: neighbours stand on different shelves.
static unsigned shelf_of(uint32_t tag)
{
    return (tag ^ tag >> 16) % N_SHELVES;
}

static trace_shelf *trace_shelf_of(memory_store *store, cadre_id id)
{
    return &store->traces[shelf_of(cdr_memory_tag_of_id(id))];
}

static unsigned session_shelf_of_id(cadre_id id)
{
    return shelf_of(cdr_memory_tag_of_id(id));
}

static uint32_t tag_of_name(const char *name)
{
    return cdr_memory_tag_of_key((cadre_id){0, 0}, name);
}

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

static cdr_memory_trace *find_trace_locked(const trace_shelf *shelf, cadre_id id,
                                           uint32_t *number)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    while ((*number = cdr_memory_index_next(&shelf->traces.index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_trace *trace = shelf->traces.rows[*number];
        if (cadre_id_equal(trace->id, id))
            return trace;
    }
    return NULL;
}

static cdr_memory_conversation *find_conversation_locked(const cdr_memory_table *table,
                                                         cadre_id id)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&table->index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_conversation *conversation = table->rows[number];
        if (cadre_id_equal(conversation->id, id))
            return conversation;
    }
    return NULL;
}

static cdr_memory_conversation *find_name_locked(const session_shelf *shelf,
                                                 const char *name)
{
    uint32_t tag = tag_of_name(name);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&shelf->names.index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_conversation *conversation = shelf->names.rows[number];
        if (strcmp(conversation->session, name) == 0)
            return conversation;
    }
    return NULL;
}

static void trace_free(cdr_memory_trace *trace)
{
    for (uint32_t i = 0; i < trace->conversations.n_rows; i++)
        cdr_memory_conversation_free(trace->conversations.rows[i]);
    cdr_memory_table_fini(&trace->conversations);
    cdr_memory_table_fini(&trace->frames);
    cdr_memory_index_fini(&trace->keys);
    cdr_memory_region_fini(&trace->region);
    free(trace);
}

// Finds the batch's trace; makes a new one when the store has none.
static cadre_status open_trace_locked(batch *b, trace_shelf *shelf, cadre_error *err)
{
    cadre_id id = b->commit->trace;
    uint32_t number;
    b->trace = find_trace_locked(shelf, id, &number);
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
            b->locked |= 1ULL << session_shelf_of_id(fact->u.conversation.id);
            b->locked |= 1ULL << shelf_of(tag_of_name(name));
        } else if (fact->type == CADRE_FACT_MESSAGE) {
            cadre_id id = fact->u.message.conversation;
            if (!find_conversation_locked(&b->trace->conversations, id))
                b->locked |= 1ULL << session_shelf_of_id(id);
        }
    }
    for (unsigned i = 0; i < N_SHELVES && b->locked >> i != 0; i++) {
        if (b->locked >> i & 1)
            pthread_mutex_lock(&b->store->sessions[i].mu);
    }
}

static void unlock_sessions(batch *b)
{
    for (unsigned i = 0; i < N_SHELVES && b->locked >> i != 0; i++) {
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
    const session_shelf *shelf = &b->store->sessions[session_shelf_of_id(row->id)];
    if (cadre_id_is_none(row->id) ||
        find_conversation_locked(&b->trace->conversations, row->id) ||
        (has_name(row) && find_conversation_locked(&shelf->conversations, row->id)))
        return fail_id(err, row->id, "conversation", "has no id, or is born twice");
    return CADRE_OK;
}

static cadre_status apply_session(batch *b, const cadre_conversation_row *row,
                                  cdr_memory_undo *undo, cadre_error *err)
{
    uint32_t tag = tag_of_name(row->session);
    session_shelf *by_id = &b->store->sessions[session_shelf_of_id(row->id)];
    session_shelf *by_name = &b->store->sessions[shelf_of(tag)];
    if (find_name_locked(by_name, row->session))
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
    if (conversation->session[0]) {
        uint32_t name_tag = tag_of_name(conversation->session);
        session_shelf *shelves = b->store->sessions;
        cdr_memory_table_remove_last(&shelves[shelf_of(tag)].conversations, tag);
        cdr_memory_table_remove_last(&shelves[shelf_of(name_tag)].names, name_tag);
    } else {
        cdr_memory_table_remove_last(&b->trace->conversations, tag);
    }
    cdr_memory_conversation_free(conversation);
}

static cadre_status apply_message(batch *b, cadre_fact *fact, cdr_memory_undo *undo,
                                  cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    cdr_memory_conversation *conversation =
        find_conversation_locked(&b->trace->conversations, row->conversation);
    if (!conversation) {
        unsigned shelf = session_shelf_of_id(row->conversation);
        // A batch that has just opened it has locked its shelf too.
        conversation = find_conversation_locked(
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

static cadre_status commit_locked(batch *b, trace_shelf *shelf, cadre_error *err)
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
        trace_free(b->trace);
    }
    return status;
}

static cadre_status memory_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    if (commit->n_facts == 0)
        return CADRE_OK;
    batch b;
    b.store = state;
    b.commit = commit;
    b.trace = NULL;
    b.is_new_trace = false;
    b.locked = 0;
    b.undos = b.few;
    if (commit->n_facts > FEW_FACTS)
        b.undos = calloc(commit->n_facts, sizeof(*b.undos));
    if (!b.undos)
        return no_memory(err);
    trace_shelf *shelf = trace_shelf_of(b.store, commit->trace);
    pthread_mutex_lock(&shelf->mu);
    cadre_status status = commit_locked(&b, shelf, err);
    pthread_mutex_unlock(&shelf->mu);
    if (b.undos != b.few)
        free(b.undos);
    return status;
}

// Lists the messages of conversations, one after the other; free() it. NULL: no memory.
static const cadre_message_row **list_messages(void *const *conversations, size_t n,
                                               size_t *n_messages)
{
    size_t n_all = 0;
    for (size_t i = 0; i < n; i++)
        n_all += ((const cdr_memory_conversation *)conversations[i])->n_messages;
    // One more, so that an empty list is not mistaken for no memory.
    const cadre_message_row **messages = malloc((n_all + 1) * sizeof(*messages));
    if (!messages)
        return NULL;
    *n_messages = n_all;
    const cadre_message_row **to = messages;
    for (size_t i = 0; i < n; i++) {
        const cdr_memory_conversation *conversation = conversations[i];
        for (size_t k = 0; k < conversation->n_messages; k++)
            *to++ = conversation->messages[k];
    }
    return messages;
}

// What is read, as it was at one moment.
typedef struct picture {
    cdr_memory_view *views;
    size_t n_views;
    const cadre_message_row **messages;
    size_t n_messages;
} picture;

// Gives the picture to the reader and frees it.
static cadre_status give_take(picture *p, const cadre_store_reader *reader, void *ctx,
                              cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < p->n_views && status == CADRE_OK; i++) {
        cadre_frame_row row;
        cdr_memory_view_row(&p->views[i], &row);
        status = reader->frame(ctx, &row, err);
    }
    for (size_t i = 0; i < p->n_messages && status == CADRE_OK; i++)
        status = reader->message(ctx, p->messages[i], err);
    free(p->views);
    free(p->messages);
    return status;
}

static bool take_picture_locked(const cdr_memory_trace *trace,
                                const cadre_store_reader *reader, picture *p)
{
    if (reader->frame) {
        p->views = cdr_memory_frame_views(trace, &p->n_views);
        if (!p->views)
            return false;
    }
    if (reader->message) {
        p->messages = list_messages(trace->conversations.rows,
                                    trace->conversations.n_rows, &p->n_messages);
        if (!p->messages)
            return false;
    }
    return true;
}

static cadre_status memory_read_trace(void *state, cadre_id id,
                                      const cadre_store_reader *reader, void *ctx,
                                      cadre_error *err)
{
    trace_shelf *shelf = trace_shelf_of(state, id);
    picture p = {.views = NULL};
    uint32_t number;
    pthread_mutex_lock(&shelf->mu);
    const cdr_memory_trace *trace = find_trace_locked(shelf, id, &number);
    bool is_taken = !trace || take_picture_locked(trace, reader, &p);
    pthread_mutex_unlock(&shelf->mu);
    if (is_taken)
        return give_take(&p, reader, ctx, err);
    free(p.views);
    return no_memory(err);
}

static cadre_status memory_read_session(void *state, const char *session, cadre_id *id,
                                        const cadre_store_reader *reader, void *ctx,
                                        cadre_error *err)
{
    memory_store *store = state;
    session_shelf *shelf = &store->sessions[shelf_of(tag_of_name(session))];
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_conversation *conversation = find_name_locked(shelf, session);
    pthread_mutex_unlock(&shelf->mu);
    *id = conversation ? conversation->id : (cadre_id){0, 0};
    if (!conversation || !reader->message)
        return CADRE_OK;

    picture p = {.views = NULL};
    void *const one[] = {conversation};
    shelf = &store->sessions[session_shelf_of_id(conversation->id)];
    pthread_mutex_lock(&shelf->mu);
    p.messages = list_messages(one, 1, &p.n_messages);
    pthread_mutex_unlock(&shelf->mu);
    return p.messages ? give_take(&p, reader, ctx, err) : no_memory(err);
}

static void memory_release(void *state, cadre_id id)
{
    trace_shelf *shelf = trace_shelf_of(state, id);
    cdr_memory_table *traces = &shelf->traces;
    uint32_t number;
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_trace *trace = find_trace_locked(shelf, id, &number);
    if (trace) {
        const cdr_memory_trace *last = traces->rows[traces->n_rows - 1];
        cdr_memory_table_remove(traces, cdr_memory_tag_of_id(id), number,
                                cdr_memory_tag_of_id(last->id));
    }
    pthread_mutex_unlock(&shelf->mu);
    if (trace)
        trace_free(trace); // outside the lock: it may be large
}

static cadre_status memory_init(void *state, const char *url, cadre_error *err)
{
    if (url && url[0])
        return cadre_fail(err, CADRE_ECONFIG,
                          "store 'memory:%.200s': takes nothing after 'memory'", url);
    memory_store *store = state;
    memset(store, 0, sizeof(*store));
    for (unsigned i = 0; i < N_SHELVES; i++) {
        pthread_mutex_init(&store->traces[i].mu, NULL);
        pthread_mutex_init(&store->sessions[i].mu, NULL);
    }
    return CADRE_OK;
}

static void memory_fini(void *state)
{
    memory_store *store = state;
    for (unsigned i = 0; i < N_SHELVES; i++) {
        trace_shelf *traces = &store->traces[i];
        for (uint32_t k = 0; k < traces->traces.n_rows; k++)
            trace_free(traces->traces.rows[k]);
        cdr_memory_table_fini(&traces->traces);
        pthread_mutex_destroy(&traces->mu);
        session_shelf *sessions = &store->sessions[i];
        for (uint32_t k = 0; k < sessions->conversations.n_rows; k++)
            cdr_memory_conversation_free(sessions->conversations.rows[k]);
        cdr_memory_table_fini(&sessions->conversations);
        cdr_memory_table_fini(&sessions->names);
        pthread_mutex_destroy(&sessions->mu);
    }
}

const cadre_store_ops cadre_store_memory = {
    .struct_size = sizeof(cadre_store_ops),
    .type = "memory",
    .summary =
        "keeps runs while they are looked at, sessions until the end of the process",
    .state_size = sizeof(memory_store),
    .init = memory_init,
    .fini = memory_fini,
    .commit = memory_commit,
    .read_trace = memory_read_trace,
    .read_session = memory_read_session,
    .release = memory_release,
};
