// See session.h.
#include "run/session.h"

#include "tree/outbox.h"

#include <search.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

cadre_status cdr_session_claim(cadre_runtime *runtime, const char *name,
                               cadre_error *err)
{
    cdr_mutex_lock(&runtime->mu);
    const char *const *found = tsearch(name, &runtime->sessions, compare);
    bool is_ours = found != NULL && *found == name;
    cdr_mutex_unlock(&runtime->mu);
    if (found == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    if (!is_ours)
        return cadre_fail(err, CADRE_EBUSY,
                          "session '%s': another run goes on with it; wait for its end",
                          name);
    return CADRE_OK;
}

void cdr_session_release(cadre_runtime *runtime, const char *name)
{
    cdr_mutex_lock(&runtime->mu);
    (void)tdelete(name, &runtime->sessions, compare);
    cdr_mutex_unlock(&runtime->mu);
}

// --- What was said ---

// A session's earlier messages, as they come from the store.
typedef struct session_reader {
    cdr_tree *tree;
    cdr_conversation *conversation;
    bool is_there;
} session_reader;

static void count_spoken(cdr_tree *tree, const cadre_message *m)
{
    const cadre_agent *agent = cadre_team_find(tree->team, m->agent);
    bool is_whole = m->mark == NULL || m->mark[0] == '\0';
    if (m->role == CADRE_ROLE_ASSISTANT && is_whole && agent != NULL)
        tree->script_used[agent->index]++;
}

static cadre_status take_row(void *ctx, const cadre_message_row *row, cadre_error *err)
{
    session_reader *reader = ctx;
    cadre_message m = row->message;
    if (m.position < 0) {
        if (cadre_id_is_none(row->frame)) // else it answers what is asked no more
            cdr_inbox_put(reader->tree, row);
        return CADRE_OK;
    }
    m.seq = 0;
    cdr_message *message = cdr_message_new(&m, row->id, row->frame);
    if (message == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    if (m.is_input) {
        const cadre_agent *to = cadre_team_find(reader->tree->team, m.to);
        message->is_to_team = to != NULL && to->members.count > 0;
    }
    if (!cdr_conversation_append_take(reader->conversation, message))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a session");
    count_spoken(reader->tree, &message->m);
    return CADRE_OK;
}

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    session_reader *reader = ctx;
    (void)err;
    reader->conversation->id = row->id;
    reader->is_there = true;
    return CADRE_OK;
}

cadre_status cdr_session_read(cdr_tree *tree, const char *name,
                              cdr_conversation *conversation, cdr_session_size *size,
                              cadre_error *err)
{
    session_reader reader = {tree, conversation, false};
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = name};
    const cadre_store_reader ops = {
        .conversation = take_conversation, .message = take_row, .ctx = &reader};
    const cadre_store_ops *store = tree->runtime->store_ops;
    tree->is_session = true;
    cadre_status status = store->read(tree->runtime->store, &query, &ops, err);
    *size = (cdr_session_size){conversation->n_messages, reader.is_there};
    return status;
}

// --- Its start ---

// A session as it is now.
typedef struct session_look {
    cdr_session_size size;
    const char *request_id; // NULL: none is looked for
    bool has_request;
} session_look;

static cadre_status count_row(void *ctx, const cadre_message_row *row, cadre_error *err)
{
    session_look *look = ctx;
    (void)err;
    if (row->message.position < 0)
        return CADRE_OK;
    look->size.n_messages++;
    look->has_request |=
        look->request_id != NULL && strcmp(row->request_id, look->request_id) == 0;
    return CADRE_OK;
}

static cadre_status note_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    (void)row;
    (void)err;
    ((session_look *)ctx)->size.is_there = true;
    return CADRE_OK;
}

static cadre_status note_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    (void)row;
    (void)err;
    *(bool *)ctx = true;
    return CADRE_OK;
}

// Was the first commit kept, though it was reported as failed? It was as a whole, or
// nothing of it.
static bool has_begun(const cdr_tree *tree)
{
    bool is_there = false;
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = tree->trace};
    const cadre_store_reader reader = {.trace = note_trace, .ctx = &is_there};
    const cadre_store_ops *store = tree->runtime->store_ops;
    return store->read(tree->runtime->store, &query, &reader, NULL) == CADRE_OK &&
           is_there;
}

// Has another process gone on with the session since this one read it, or made the same
// request since it was looked for?
static bool has_moved(cdr_tree *tree, const char *name, const char *request_id,
                      const cdr_session_size *read)
{
    session_look now = {.request_id = request_id};
    const cadre_query query = {.kind = CADRE_QUERY_SESSION, .session = name};
    const cadre_store_reader reader = {
        .conversation = note_conversation, .message = count_row, .ctx = &now};
    const cadre_store_ops *store = tree->runtime->store_ops;
    return store->read(tree->runtime->store, &query, &reader, NULL) == CADRE_OK &&
           (now.has_request || now.size.is_there != read->is_there ||
            now.size.n_messages != read->n_messages);
}

cadre_status cdr_session_store_start(cdr_tree *tree, const char *name,
                                     const char *request_id,
                                     const cdr_session_size *read, cadre_error *err)
{
    if (name == NULL || cdr_tree_flush(tree, NULL) == CADRE_OK)
        return CADRE_OK;
    if (tree->lost.status == CADRE_EBUSY)
        return cadre_fail(err, CADRE_EBUSY,
                          "session '%s': %s and is not at its end: wait for it, answer "
                          "what it asks, or resume it if it was cut",
                          name, tree->lost.text);
    if (!has_begun(tree) && has_moved(tree, name, request_id, read))
        return cadre_fail_class(err, CADRE_EBUSY, CADRE_CLASS_ERROR, true,
                                "session '%s': another run went on with it at the same "
                                "moment; try again",
                                name);
    return CADRE_OK;
}
