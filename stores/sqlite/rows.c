// See rows.h.
#include "rows.h"

#include "names.h"
#include "tool_calls.h"

#include <stdlib.h>

// The conversations of a trace: to find them is a walk over all of its frames.
typedef struct id_list {
    cadre_id *ids;
    size_t n_ids, capacity;
} id_list;

// A read that is under way.
typedef struct reading {
    cdr_sqlite_connection *connection;
    const cadre_store_reader *to;
    id_list *conversations; // of a whole trace
} reading;

// Gives one row of a call to the reader.
typedef cadre_status give_row(const reading *r, cdr_sqlite_call *call,
                              cadre_error *err);

// Gives the rows of a call that has its parameters, and ends it.
static cadre_status give_all(const reading *r, cdr_sqlite_call *call, give_row *give,
                             cadre_error *err)
{
    cadre_status status;
    while ((status = cdr_sqlite_call_next(call, err)) == CADRE_OK) {
        status = give(r, call, err);
        if (status != CADRE_OK)
            break;
    }
    cdr_sqlite_call_end(call);
    return status == CADRE_DONE ? CADRE_OK : status;
}

static cadre_status give_trace(const reading *r, cdr_sqlite_call *call,
                               cadre_error *err)
{
    cadre_trace_row row = {.id = cdr_sqlite_take_id(call)};
    row.spawned_by = cdr_sqlite_take_id(call);
    row.team = cdr_sqlite_take_text(call);
    row.shape_digest = cdr_sqlite_take_text(call);
    row.text_digest = cdr_sqlite_take_text(call);
    row.options = cdr_sqlite_take_text(call);
    row.last_seq = cdr_sqlite_take_number(call);
    row.lease_owner = cdr_sqlite_take_text(call);
    row.lease_epoch = cdr_sqlite_take_number(call);
    row.lease_expires_at = cdr_sqlite_take_number(call);
    row.created_at = cdr_sqlite_take_number(call);
    row.status = cdr_sqlite_frame_status(cdr_sqlite_take_text(call));
    row.cost_usd_micros = cdr_sqlite_take_number(call);
    row.unpriced_calls = cdr_sqlite_take_number(call);
    return r->to->trace(r->to->ctx, &row, err);
}

static cadre_status give_conversation(const reading *r, cdr_sqlite_call *call,
                                      cadre_error *err)
{
    cadre_conversation_row row = {.id = cdr_sqlite_take_id(call)};
    row.session = cdr_sqlite_take_text(call);
    row.owner_conversation = cdr_sqlite_take_id(call);
    row.owner_frame = cdr_sqlite_take_id(call);
    row.base = cdr_sqlite_take_id(call);
    row.base_position = cdr_sqlite_take_number(call);
    return r->to->conversation(r->to->ctx, &row, err);
}

static void take_usage(cdr_sqlite_call *call, cadre_usage *usage)
{
    usage->model_calls = cdr_sqlite_take_number(call);
    usage->tool_calls = cdr_sqlite_take_number(call);
    usage->input_tokens = cdr_sqlite_take_number(call);
    usage->output_tokens = cdr_sqlite_take_number(call);
    usage->cached_input_tokens = cdr_sqlite_take_number(call);
    usage->reasoning_tokens = cdr_sqlite_take_number(call);
    usage->cost_usd_micros = cdr_sqlite_take_number(call);
    usage->unpriced_calls = cdr_sqlite_take_number(call);
}

static cadre_status give_frame(const reading *r, cdr_sqlite_call *call,
                               cadre_error *err)
{
    cadre_frame_row row = {.id = cdr_sqlite_take_id(call)};
    row.parent = cdr_sqlite_take_id(call);
    row.trace = cdr_sqlite_take_id(call);
    row.conversation = cdr_sqlite_take_id(call);
    row.key = cdr_sqlite_take_text(call);
    row.kind = cdr_sqlite_take_text(call);
    row.name = cdr_sqlite_take_text(call);
    row.referer = cdr_sqlite_take_text(call);
    row.input = cdr_sqlite_take_text(call);
    row.depth = (int)cdr_sqlite_take_number(call);
    row.status = cdr_sqlite_frame_status(cdr_sqlite_take_text(call));
    row.attempts = (int)cdr_sqlite_take_number(call);
    row.restarts = (int)cdr_sqlite_take_number(call);
    row.replay_safe = cdr_sqlite_take_number(call) != 0;
    row.mark = cdr_sqlite_take_text(call);
    row.output = cdr_sqlite_take_text(call);
    row.stop_reason = cdr_sqlite_stop_reason(cdr_sqlite_take_text(call));
    row.error = cdr_sqlite_take_text(call);
    row.error_class = cadre_error_class_from_name(cdr_sqlite_take_text(call));
    row.error_retryable = cdr_sqlite_take_number(call) != 0;
    take_usage(call, &row.own);
    take_usage(call, &row.usage);
    row.start_seq = cdr_sqlite_take_number(call);
    row.end_seq = cdr_sqlite_take_number(call);
    row.created_at = cdr_sqlite_take_number(call);
    row.completed_at = cdr_sqlite_take_number(call);
    row.duration_ms = cdr_sqlite_take_number(call);
    row.delta = cdr_sqlite_take_text(call);
    return r->to->frame(r->to->ctx, &row, err);
}

static cadre_status give_message_row(const reading *r, cdr_sqlite_call *call,
                                     bool is_posted, cadre_error *err)
{
    cdr_sqlite_tool_calls calls;
    cadre_message_row row = {.id = cdr_sqlite_take_id(call)};
    cadre_message *m = &row.message;
    row.conversation = cdr_sqlite_take_id(call);
    row.frame = cdr_sqlite_take_id(call);
    bool is_placed = !cdr_sqlite_take_is_null(call);
    m->id = m->frame_id = "";
    m->position = cdr_sqlite_take_number(call);
    if (!is_placed)
        m->position = -1;
    m->seq = cdr_sqlite_take_number(call);
    m->role = cdr_sqlite_role(cdr_sqlite_take_text(call));
    m->agent = cdr_sqlite_take_text(call);
    m->to = cdr_sqlite_take_text(call);
    m->text = cdr_sqlite_take_text(call);
    m->reasoning = cdr_sqlite_take_text(call);
    cadre_status status =
        cdr_sqlite_tool_calls_read(&calls, cdr_sqlite_take_text(call), err);
    m->tool_calls = calls.calls;
    m->n_tool_calls = calls.n_calls;
    m->call_id = cdr_sqlite_take_text(call);
    m->tool_name = cdr_sqlite_take_text(call);
    m->code = cdr_sqlite_result_code(cdr_sqlite_take_text(call));
    m->is_input = cdr_sqlite_take_number(call) != 0;
    row.request_id = cdr_sqlite_take_text(call);
    row.request_hash = cdr_sqlite_take_text(call);
    m->model = cdr_sqlite_take_text(call);
    m->mark = cdr_sqlite_take_text(call);
    m->parts = cdr_sqlite_take_text(call);
    m->items = cdr_sqlite_take_text(call);
    row.trace = cdr_sqlite_take_id(call);
    if (is_posted)
        row.number = cdr_sqlite_take_number(call);
    if (status == CADRE_OK)
        status = r->to->message(r->to->ctx, &row, err);
    cdr_sqlite_tool_calls_fini(&calls);
    return status;
}

static cadre_status give_message(const reading *r, cdr_sqlite_call *call,
                                 cadre_error *err)
{
    return give_message_row(r, call, false, err);
}

static cadre_status give_posted(const reading *r, cdr_sqlite_call *call,
                                cadre_error *err)
{
    return give_message_row(r, call, true, err);
}

static cadre_status note_id(const reading *r, cadre_id id, cadre_error *err)
{
    id_list *list = r->conversations;
    if (list->n_ids == list->capacity) {
        size_t capacity = list->n_ids == 0 ? 8 : list->n_ids * 2;
        cadre_id *grown = realloc(list->ids, capacity * sizeof(*grown));
        if (!grown)
            return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': no memory to read");
        list->ids = grown;
        list->capacity = capacity;
    }
    list->ids[list->n_ids++] = id;
    return CADRE_OK;
}

static cadre_status note_open(const reading *r, cdr_sqlite_call *call, cadre_error *err)
{
    return note_id(r, cdr_sqlite_take_id(call), err);
}

static cadre_status note_conversation(const reading *r, cdr_sqlite_call *call,
                                      cadre_error *err)
{
    cadre_status status = note_id(r, cdr_sqlite_take_id(call), err);
    call->column = -1; // the row is read again
    return status == CADRE_OK && r->to->conversation ? give_conversation(r, call, err)
                                                     : status;
}

static cadre_status give_by_id(const reading *r, cdr_sqlite_statement statement,
                               cadre_id id, give_row *give, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, r->connection, statement);
    cdr_sqlite_call_id(&call, id);
    return give_all(r, &call, give, err);
}

static cadre_status give_messages_of(const reading *r, cdr_sqlite_call *call,
                                     cadre_error *err)
{
    return give_by_id(r, CDR_SQLITE_READ_MESSAGES, cdr_sqlite_take_id(call),
                      give_message, err);
}

static cadre_status give_inbox_of(const reading *r, cdr_sqlite_call *call,
                                  cadre_error *err)
{
    return give_by_id(r, CDR_SQLITE_READ_INBOX, cdr_sqlite_take_id(call), give_message,
                      err);
}

static cadre_status give_of_each(const reading *r, cdr_sqlite_statement statement,
                                 cadre_error *err)
{
    const id_list *list = r->conversations;
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < list->n_ids && status == CADRE_OK; i++)
        status = give_by_id(r, statement, list->ids[i], give_message, err);
    return status;
}

static cadre_status give_parts(const reading *r, cadre_id id, cadre_error *err)
{
    const cadre_store_reader *to = r->to;
    cadre_status status = CADRE_OK;
    if (to->trace)
        status = give_by_id(r, CDR_SQLITE_READ_TRACE, id, give_trace, err);
    if ((to->conversation || to->message) && status == CADRE_OK)
        status =
            give_by_id(r, CDR_SQLITE_READ_CONVERSATIONS, id, note_conversation, err);
    if (to->frame && status == CADRE_OK)
        status = give_by_id(r, CDR_SQLITE_READ_FRAMES, id, give_frame, err);
    return status;
}

// Of the conversations that were noted, or of the open ones alone.
static cadre_status give_messages(const reading *r, const cadre_query *query,
                                  cadre_error *err)
{
    cadre_status status = CADRE_OK;
    if (query->only_open) {
        r->conversations->n_ids = 0;
        status = give_by_id(r, CDR_SQLITE_READ_OPEN_CONVERSATIONS, query->trace,
                            note_open, err);
    }
    if (status == CADRE_OK)
        status = give_of_each(r, CDR_SQLITE_READ_MESSAGES, err);
    if (status == CADRE_OK)
        status = give_of_each(r, CDR_SQLITE_READ_INBOX, err);
    return status;
}

static cadre_status give_whole_trace(const reading *r, const cadre_query *query,
                                     cadre_error *err)
{
    id_list list = {.ids = NULL};
    reading own = *r;
    own.conversations = &list;
    cadre_status status = give_parts(&own, query->trace, err);
    if (r->to->message && status == CADRE_OK)
        status = give_messages(&own, query, err);
    free(list.ids);
    return status;
}

static cadre_status give_session_part(const reading *r, const char *session,
                                      give_row *give, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, r->connection, CDR_SQLITE_READ_SESSION);
    cdr_sqlite_call_text_or_null(&call, session);
    return give_all(r, &call, give, err);
}

static cadre_status give_session(const reading *r, const char *session,
                                 cadre_error *err)
{
    cadre_status status = CADRE_OK;
    if (r->to->conversation)
        status = give_session_part(r, session, give_conversation, err);
    if (r->to->message && status == CADRE_OK)
        status = give_session_part(r, session, give_messages_of, err);
    if (r->to->message && status == CADRE_OK)
        status = give_session_part(r, session, give_inbox_of, err);
    return status;
}

static cadre_status give_traces(const reading *r, int limit, cadre_error *err)
{
    cdr_sqlite_call call;
    if (!r->to->trace)
        return CADRE_OK;
    cdr_sqlite_call_begin(&call, r->connection, CDR_SQLITE_READ_TRACES);
    cdr_sqlite_call_number(&call, limit > 0 ? limit : -1);
    return give_all(r, &call, give_trace, err);
}

static cadre_status give_what_was_posted(const reading *r, int64_t after,
                                         cadre_error *err)
{
    cdr_sqlite_call call;
    cadre_status status = CADRE_OK;
    if (r->to->frame) {
        cdr_sqlite_call_begin(&call, r->connection, CDR_SQLITE_READ_MARKED);
        status = give_all(r, &call, give_frame, err);
    }
    if (r->to->message && status == CADRE_OK) {
        cdr_sqlite_call_begin(&call, r->connection, CDR_SQLITE_READ_INBOXES);
        cdr_sqlite_call_number(&call, after);
        status = give_all(r, &call, give_posted, err);
    }
    return status;
}

static cadre_status give_spawned(const reading *r, const cadre_query *query,
                                 cadre_error *err)
{
    if (!r->to->trace)
        return CADRE_OK;
    if (cadre_id_is_none(query->frame))
        return give_by_id(r, CDR_SQLITE_READ_SPAWNED, query->trace, give_trace, err);
    return give_by_id(r, CDR_SQLITE_READ_SPAWNED_BY, query->frame, give_trace, err);
}

cadre_status cdr_sqlite_rows_give(cdr_sqlite_connection *connection,
                                  const cadre_query *query,
                                  const cadre_store_reader *reader, cadre_error *err)
{
    const reading r = {.connection = connection, .to = reader};
    switch (query->kind) {
    case CADRE_QUERY_TRACE:
        return give_whole_trace(&r, query, err);
    case CADRE_QUERY_SESSION:
        return give_session(&r, query->session, err);
    case CADRE_QUERY_TRACES:
        return give_traces(&r, query->limit, err);
    case CADRE_QUERY_LIVE:
        return reader->frame ? give_by_id(&r, CDR_SQLITE_READ_LIVE_FRAMES, query->trace,
                                          give_frame, err)
                             : CADRE_OK;
    case CADRE_QUERY_POSTED:
        return give_what_was_posted(&r, query->after, err);
    case CADRE_QUERY_SPAWNED:
        return give_spawned(&r, query, err);
    }
    return cadre_fail(err, CADRE_ESTORE, "store 'sqlite': unknown kind of query %d",
                      (int)query->kind);
}
