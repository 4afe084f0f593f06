// See read.h. Frames, messages and conversations do not move and stay; a trace's row
// changes and is copied.
#include "read.h"

#include "frame_view.h"
#include "posted.h"

#include <stdlib.h>
#include <string.h>

// A trace's row at one moment, with its texts in the same allocation.
typedef struct trace_view {
    cadre_trace_row row;
    uint64_t number;
    char texts[];
} trace_view;

// What is read, as it was at one moment.
typedef struct picture {
    trace_view **traces;
    size_t n_traces, traces_capacity;
    const cadre_conversation_row **conversations;
    size_t n_conversations;
    cdr_memory_view *frames;
    size_t n_frames;
    cadre_id frames_of; // a trace
    const cadre_message_row **messages;
    size_t n_messages, messages_capacity;
} picture;

static void picture_fini(picture *p)
{
    for (size_t i = 0; i < p->n_traces; i++)
        free(p->traces[i]);
    free(p->traces);
    free(p->conversations);
    free(p->frames);
    free(p->messages);
}

// Gives the picture to the reader and frees it.
static cadre_status give_take(picture *p, const cadre_store_reader *reader,
                              cadre_error *err)
{
    void *ctx = reader->ctx;
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < p->n_traces && status == CADRE_OK; i++)
        status = reader->trace(ctx, &p->traces[i]->row, err);
    for (size_t i = 0; i < p->n_conversations && status == CADRE_OK; i++)
        status = reader->conversation(ctx, p->conversations[i], err);
    for (size_t i = 0; i < p->n_frames && status == CADRE_OK; i++) {
        cadre_frame_row row;
        cdr_memory_view_row(&p->frames[i], &row);
        row.trace = p->frames_of;
        status = reader->frame(ctx, &row, err);
    }
    for (size_t i = 0; i < p->n_messages && status == CADRE_OK; i++)
        status = reader->message(ctx, p->messages[i], err);
    picture_fini(p);
    return status;
}

// --- Taking pictures; false: no memory ---

static const char *put_text(char **to, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memcpy(*to, text, size);
    *to += size;
    return copy;
}

static bool add_trace_locked(picture *p, const cdr_memory_trace *trace)
{
    const cadre_trace_row *row = &trace->row;
    const char *owner = trace->lease_owner ? trace->lease_owner : "";
    if (!trace->is_born)
        return true;
    if (p->n_traces == p->traces_capacity) {
        size_t capacity = p->traces_capacity ? p->traces_capacity * 2 : 4;
        trace_view **traces = realloc(p->traces, capacity * sizeof(trace_view *));
        if (!traces)
            return false;
        p->traces = traces;
        p->traces_capacity = capacity;
    }
    trace_view *view =
        malloc(sizeof(*view) + strlen(row->team) + strlen(row->shape_digest) +
               strlen(row->text_digest) + strlen(row->options) + strlen(owner) + 5);
    if (!view)
        return false;
    char *to = view->texts;
    view->number = trace->number;
    view->row = *row;
    view->row.team = put_text(&to, row->team);
    view->row.shape_digest = put_text(&to, row->shape_digest);
    view->row.text_digest = put_text(&to, row->text_digest);
    view->row.options = put_text(&to, row->options);
    view->row.lease_owner = put_text(&to, owner);
    cdr_memory_view_root(trace, &view->row);
    p->traces[p->n_traces++] = view;
    return true;
}

static bool add_message(picture *p, const cadre_message_row *row)
{
    if (p->n_messages == p->messages_capacity) {
        size_t capacity = p->messages_capacity ? p->messages_capacity * 2 : 16;
        const cadre_message_row **messages =
            realloc(p->messages, capacity * sizeof(cadre_message_row *));
        if (!messages)
            return false;
        p->messages = messages;
        p->messages_capacity = capacity;
    }
    p->messages[p->n_messages++] = row;
    return true;
}

static bool add_said_locked(picture *p, const cdr_memory_conversation *conversation)
{
    bool is_ok = true;
    for (size_t i = 0; i < conversation->n_messages && is_ok; i++)
        is_ok = add_message(p, conversation->messages[i]);
    return is_ok;
}

static bool add_inbox_locked(picture *p, const cdr_memory_conversation *conversation)
{
    bool is_ok = true;
    for (uint32_t i = 0; i < conversation->n_notes && is_ok; i++) {
        if (conversation->notes[i].in_inbox)
            is_ok = add_message(p, conversation->notes[i].row);
    }
    return is_ok;
}

// The conversations of a trace: that of its session, and those born in it.
typedef struct conversations {
    cdr_memory_conversation *const *rows;
    size_t n_rows;
} conversations;

static bool add_conversations_locked(picture *p, const conversations *of,
                                     const cadre_store_reader *reader)
{
    bool is_ok = true;
    if (reader->conversation) {
        p->conversations = malloc((of->n_rows + 1) * sizeof(cadre_conversation_row *));
        is_ok = p->conversations != NULL;
        for (size_t i = 0; i < of->n_rows && is_ok; i++)
            p->conversations[p->n_conversations++] = &of->rows[i]->row;
    }
    for (size_t i = 0; i < of->n_rows && is_ok && reader->message; i++)
        is_ok = add_said_locked(p, of->rows[i]);
    for (size_t i = 0; i < of->n_rows && is_ok && reader->message; i++)
        is_ok = add_inbox_locked(p, of->rows[i]);
    return is_ok;
}

static bool take_conversations_locked(cdr_memory_store *store,
                                      const cdr_memory_trace *trace, picture *p,
                                      const cadre_store_reader *reader)
{
    cdr_memory_conversation **rows =
        malloc((trace->conversations.n_rows + 1) * sizeof(cdr_memory_conversation *));
    conversations all = {.rows = rows};
    if (!rows)
        return false;
    if (trace->session)
        rows[all.n_rows++] = trace->session;
    for (uint32_t i = 0; i < trace->conversations.n_rows; i++) {
        cdr_memory_conversation *conversation = trace->conversations.rows[i];
        if (!conversation->is_refused)
            rows[all.n_rows++] = conversation;
    }
    pthread_mutex_t *mu =
        trace->session
            ? &store->sessions[cdr_memory_shelf_of_id(trace->session->row.id)].mu
            : NULL;
    if (mu)
        pthread_mutex_lock(mu);
    bool is_ok = add_conversations_locked(p, &all, reader);
    if (mu)
        pthread_mutex_unlock(mu);
    free(rows);
    return is_ok;
}

static bool take_trace_locked(cdr_memory_store *store, const cdr_memory_trace *trace,
                              const cadre_store_reader *reader, picture *p)
{
    bool is_ok = !reader->trace || add_trace_locked(p, trace);
    if (is_ok && reader->frame) {
        p->frames = cdr_memory_frame_views(trace, false, &p->n_frames);
        is_ok = p->frames != NULL;
    }
    if (is_ok && (reader->conversation || reader->message))
        is_ok = take_conversations_locked(store, trace, p, reader);
    return is_ok;
}

static bool take_trace(cdr_memory_store *store, const cadre_query *query,
                       const cadre_store_reader *reader, picture *p)
{
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(store, query->trace);
    uint32_t number;
    bool is_ok = true;
    pthread_mutex_lock(&shelf->mu);
    const cdr_memory_trace *trace =
        cdr_memory_find_trace_locked(shelf, query->trace, &number);
    if (trace && query->kind == CADRE_QUERY_TRACE) {
        is_ok = take_trace_locked(store, trace, reader, p);
    } else if (trace && reader->frame) {
        p->frames = cdr_memory_frame_views(trace, true, &p->n_frames);
        is_ok = p->frames != NULL;
    }
    pthread_mutex_unlock(&shelf->mu);
    return is_ok;
}

static bool take_session(cdr_memory_store *store, const char *session,
                         const cadre_store_reader *reader, picture *p)
{
    const char *name = session ? session : "";
    cdr_memory_session_shelf *shelf = &store->sessions[cdr_memory_shelf_of_name(name)];
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_conversation *conversation = cdr_memory_find_name_locked(shelf, name);
    pthread_mutex_unlock(&shelf->mu);
    if (!conversation)
        return true;
    const conversations one = {.rows = &conversation, .n_rows = 1};
    shelf = &store->sessions[cdr_memory_shelf_of_id(conversation->row.id)];
    pthread_mutex_lock(&shelf->mu);
    bool is_ok = add_conversations_locked(p, &one, reader);
    pthread_mutex_unlock(&shelf->mu);
    return is_ok;
}

static int newest_first(const void *a, const void *b)
{
    const trace_view *const *one = a;
    const trace_view *const *other = b;
    return ((*one)->number < (*other)->number) - ((*one)->number > (*other)->number);
}

static bool take_traces(cdr_memory_store *store, int limit, picture *p)
{
    bool is_ok = true;
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && is_ok; i++) {
        cdr_memory_trace_shelf *shelf = &store->traces[i];
        pthread_mutex_lock(&shelf->mu);
        for (uint32_t k = 0; k < shelf->traces.n_rows && is_ok; k++)
            is_ok = add_trace_locked(p, shelf->traces.rows[k]);
        pthread_mutex_unlock(&shelf->mu);
    }
    if (!is_ok || p->n_traces == 0)
        return is_ok;
    qsort(p->traces, p->n_traces, sizeof(trace_view *), newest_first);
    while (limit > 0 && p->n_traces > (size_t)limit)
        free(p->traces[--p->n_traces]);
    return true;
}

static int oldest_first(const void *a, const void *b)
{
    return newest_first(b, a);
}

// Keeps of the traces those that a frame of `trace` spawned.
static void keep_spawned(cdr_memory_store *store, cadre_id trace, picture *p)
{
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(store, trace);
    uint32_t number;
    size_t n_kept = 0;
    pthread_mutex_lock(&shelf->mu);
    const cdr_memory_trace *spawner =
        cdr_memory_find_trace_locked(shelf, trace, &number);
    for (size_t i = 0; i < p->n_traces; i++) {
        if (spawner && cdr_memory_frame_look(spawner, p->traces[i]->row.spawned_by) !=
                           CDR_MEMORY_FRAME_UNKNOWN)
            p->traces[n_kept++] = p->traces[i];
        else
            free(p->traces[i]);
    }
    pthread_mutex_unlock(&shelf->mu);
    p->n_traces = n_kept;
}

static bool take_spawned(cdr_memory_store *store, const cadre_query *query, picture *p)
{
    bool is_ok = true;
    bool by_frame = !cadre_id_is_none(query->frame);
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && is_ok; i++) {
        cdr_memory_trace_shelf *shelf = &store->traces[i];
        pthread_mutex_lock(&shelf->mu);
        for (uint32_t k = 0; k < shelf->traces.n_rows && is_ok; k++) {
            const cdr_memory_trace *trace = shelf->traces.rows[k];
            bool is_wanted = by_frame
                                 ? cadre_id_equal(trace->row.spawned_by, query->frame)
                                 : !cadre_id_is_none(trace->row.spawned_by);
            is_ok = !trace->is_born || !is_wanted || add_trace_locked(p, trace);
        }
        pthread_mutex_unlock(&shelf->mu);
    }
    if (is_ok && !by_frame)
        keep_spawned(store, query->trace, p);
    if (is_ok && p->n_traces > 0)
        qsort(p->traces, p->n_traces, sizeof(trace_view *), oldest_first);
    return is_ok;
}

static cadre_status take_and_give(cdr_memory_store *store, const cadre_query *query,
                                  const cadre_store_reader *reader, cadre_error *err)
{
    picture p = {.frames_of = query->trace};
    bool is_taken = true;
    switch (query->kind) {
    case CADRE_QUERY_TRACE:
    case CADRE_QUERY_LIVE:
        is_taken = take_trace(store, query, reader, &p);
        break;
    case CADRE_QUERY_SESSION:
        is_taken = take_session(store, query->session, reader, &p);
        break;
    case CADRE_QUERY_TRACES:
        is_taken = !reader->trace || take_traces(store, query->limit, &p);
        break;
    case CADRE_QUERY_SPAWNED:
        is_taken = !reader->trace || take_spawned(store, query, &p);
        break;
    case CADRE_QUERY_POSTED:
        return cdr_memory_posted_read(store, reader, err);
    }
    if (is_taken)
        return give_take(&p, reader, err);
    picture_fini(&p);
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

cadre_status cdr_memory_read(cdr_memory_store *store, const cadre_query *query,
                             const cadre_store_reader *reader, cadre_error *err)
{
    cdr_memory_reader_enter(store);
    cadre_status status = take_and_give(store, query, reader, err);
    cdr_memory_reader_leave(store);
    return status;
}
