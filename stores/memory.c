// The memory store: keeps what a run writes as long as the process and somebody who
// looks at it; sessions to the end of the store.
//
// Invariants:
// 1. A batch is there whole or not at all (memory/batch.c).
// 2. What no operation reads back is not kept: team and options of a trace, owner and
//    base of a conversation, the last seq.
// 3. The reader is called with no lock held, on a picture taken under the lock. Frames
//    and messages never move and are freed only by release (nobody looks any more) and
//    fini.
#include "memory/batch.h"
#include "memory/shelf.h"

#include <stdlib.h>

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

static cadre_status memory_commit(void *state, cadre_commit *commit, cadre_error *err)
{
    return cdr_memory_batch_commit(state, commit, err);
}

// Lists the messages of conversations, one after the other; free() it. NULL: no memory.
static const cadre_message_row **list_messages(void *const *conversations, size_t n,
                                               size_t *n_messages)
{
    size_t n_all = 0;
    for (size_t i = 0; i < n; i++)
        n_all += ((const cdr_memory_conversation *)conversations[i])->n_messages;
    // One more, so that an empty list is not mistaken for no memory.
    const cadre_message_row **messages =
        malloc((n_all + 1) * sizeof(cadre_message_row *));
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
static cadre_status give_take(picture *p, const cadre_store_reader *reader,
                              cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < p->n_views && status == CADRE_OK; i++) {
        cadre_frame_row row;
        cdr_memory_view_row(&p->views[i], &row);
        status = reader->frame(reader->ctx, &row, err);
    }
    for (size_t i = 0; i < p->n_messages && status == CADRE_OK; i++)
        status = reader->message(reader->ctx, p->messages[i], err);
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
                                      const cadre_store_reader *reader,
                                      cadre_error *err)
{
    cdr_memory_trace_shelf *shelf = cdr_memory_shelf_of_trace(state, id);
    picture p = {.views = NULL};
    uint32_t number;
    pthread_mutex_lock(&shelf->mu);
    const cdr_memory_trace *trace = cdr_memory_find_trace_locked(shelf, id, &number);
    bool is_taken = !trace || take_picture_locked(trace, reader, &p);
    pthread_mutex_unlock(&shelf->mu);
    if (is_taken)
        return give_take(&p, reader, err);
    free(p.views);
    return no_memory(err);
}

static cadre_status memory_read_session(void *state, const char *session, cadre_id *id,
                                        const cadre_store_reader *reader,
                                        cadre_error *err)
{
    cdr_memory_store *store = state;
    cdr_memory_session_shelf *shelf =
        &store->sessions[cdr_memory_shelf_of_name(session)];
    pthread_mutex_lock(&shelf->mu);
    cdr_memory_conversation *conversation = cdr_memory_find_name_locked(shelf, session);
    pthread_mutex_unlock(&shelf->mu);
    *id = conversation ? conversation->id : (cadre_id){0, 0};
    if (!conversation || !reader->message)
        return CADRE_OK;

    picture p = {.views = NULL};
    void *const one[] = {conversation};
    shelf = &store->sessions[cdr_memory_shelf_of_id(conversation->id)];
    pthread_mutex_lock(&shelf->mu);
    p.messages = list_messages(one, 1, &p.n_messages);
    pthread_mutex_unlock(&shelf->mu);
    return p.messages ? give_take(&p, reader, err) : no_memory(err);
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
    if (trace)
        cdr_memory_trace_free(trace); // outside the lock: it may be large
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
    .read_trace = memory_read_trace,
    .read_session = memory_read_session,
    .release = memory_release,
};
