// Facts about conversations and messages. See facts.h.
#include "facts.h"

#include "tool_calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static cadre_status insert_conversation(cdr_sqlite_batch *b,
                                        const cadre_conversation_row *row,
                                        int *n_changed, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_ADD_CONVERSATION);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_text_or_null(&call, row->session);
    cdr_sqlite_call_id(&call, row->owner_conversation);
    cdr_sqlite_call_id(&call, row->owner_frame);
    cdr_sqlite_call_id(&call, row->base);
    if (cadre_id_is_none(row->base))
        cdr_sqlite_call_null(&call);
    else
        cdr_sqlite_call_number(&call, row->base_position);
    cdr_sqlite_call_number(&call, b->now_ms);
    return cdr_sqlite_call_try(&call, n_changed, err);
}

static cadre_status fail_conversation(const cdr_sqlite_batch *b,
                                      const cadre_conversation_row *row,
                                      cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    const char *said = sqlite3_errmsg(b->connection->db);
    const char *why = "cannot be opened";
    int code = sqlite3_extended_errcode(b->connection->db);
    cadre_id_text(row->id, id);
    if (code == SQLITE_CONSTRAINT_PRIMARYKEY)
        why = "is born twice";
    else if (code == SQLITE_CONSTRAINT_UNIQUE)
        why = "its session has one";
    else if (code == SQLITE_CONSTRAINT_CHECK)
        why = "has half an owner; it needs conversation and frame, or none";
    else if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        why = "its owner or base is not known";
    return cadre_fail(err, CADRE_ESTORE,
                      "conversation '%s', session '%.100s': %s: %.100s (code %d)", id,
                      text_of(row->session), why, said, code);
}

// Runs a call that gives a row if something is there.
static cadre_status is_there(cdr_sqlite_call *call, bool *is, cadre_error *err)
{
    cadre_status status = cdr_sqlite_call_next(call, err);
    *is = status == CADRE_OK;
    cdr_sqlite_call_end(call);
    return status == CADRE_DONE ? CADRE_OK : status;
}

// `trace` none: in any.
static cadre_status is_frame(cdr_sqlite_batch *b, cadre_id id, cadre_id trace, bool *is,
                             cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_FRAME);
    cdr_sqlite_call_id(&call, id);
    cdr_sqlite_call_id(&call, trace);
    return is_there(&call, is, err);
}

static cadre_status is_conversation(cdr_sqlite_batch *b, cadre_id id, bool *is,
                                    cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_CONVERSATION);
    cdr_sqlite_call_id(&call, id);
    return is_there(&call, is, err);
}

cadre_status cdr_sqlite_add_conversation(cdr_sqlite_batch *b, cadre_fact *fact,
                                         cadre_error *err)
{
    const cadre_conversation_row *row = &fact->u.conversation;
    int n_changed = 0;
    if (cadre_id_is_none(row->id))
        return cdr_sqlite_fail_id(err, row->id, "conversation", "has no id");
    cadre_status status = insert_conversation(b, row, &n_changed, err);
    if (status == CADRE_EREFUSED)
        return fail_conversation(b, row, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    // Its owner has ended, or must, or was refused itself; or there is none.
    bool is_known = false;
    bool is_refused = false;
    status = is_frame(b, row->owner_frame, (cadre_id){0, 0}, &is_known, err);
    if (status == CADRE_OK && !is_known)
        status = cdr_sqlite_is_refused(b, row->owner_frame, &is_refused, err);
    if (status == CADRE_OK && !is_known && !is_refused)
        status = cdr_sqlite_fail_id(err, row->owner_frame, "frame",
                                    "owns a conversation and is not known");
    return status == CADRE_OK ? cdr_sqlite_refuse_birth(b, fact, row->id, err) : status;
}

static cadre_status insert_message(cdr_sqlite_batch *b, const cadre_message_row *row,
                                   int *n_changed, cadre_error *err)
{
    const cadre_message *m = &row->message;
    bool is_posted = m->position < 0;
    char *tool_calls = NULL;
    cadre_status status = cdr_sqlite_tool_calls_write(m, &tool_calls, err);
    if (status != CADRE_OK)
        return status;
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection,
                          is_posted ? CDR_SQLITE_POST_MESSAGE
                                    : CDR_SQLITE_PLACE_MESSAGE);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_id(&call, row->conversation);
    cdr_sqlite_call_id(&call, row->frame);
    if (is_posted)
        cdr_sqlite_call_null(&call);
    else
        cdr_sqlite_call_number(&call, m->position);
    cdr_sqlite_call_number(&call, m->seq);
    cdr_sqlite_call_text(&call, cadre_role_name(m->role));
    cdr_sqlite_call_text(&call, m->agent);
    cdr_sqlite_call_text(&call, m->to);
    cdr_sqlite_call_text(&call, m->text);
    cdr_sqlite_call_text(&call, m->reasoning);
    cdr_sqlite_call_text_or_null(&call, tool_calls);
    cdr_sqlite_call_text(&call, m->call_id);
    cdr_sqlite_call_text(&call, m->tool_name);
    if (m->role == CADRE_ROLE_TOOL || m->code != CADRE_RESULT_OK)
        cdr_sqlite_call_text(&call, cadre_result_code_name(m->code));
    else
        cdr_sqlite_call_null(&call);
    cdr_sqlite_call_number(&call, m->is_input);
    cdr_sqlite_call_text_or_null(&call, row->request_id);
    cdr_sqlite_call_text_or_null(&call, row->request_hash);
    cdr_sqlite_call_text_or_null(&call, m->model);
    cdr_sqlite_call_text_or_null(&call, m->mark);
    cdr_sqlite_call_text_or_null(&call, m->parts);
    cdr_sqlite_call_text_or_null(&call, m->items);
    cdr_sqlite_call_number(&call, b->now_ms);
    if (!is_posted)
        cdr_sqlite_call_id(&call, b->trace);
    status = cdr_sqlite_call_try(&call, n_changed, err);
    free(tool_calls);
    if (status != CADRE_EREFUSED)
        return status;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    return cadre_fail(
        err, CADRE_ESTORE, "message '%s': cannot be said: %.120s (code %d)", id,
        sqlite3_errmsg(b->connection->db), sqlite3_extended_errcode(b->connection->db));
}

// Is what a message names refused?
static cadre_status depends_on_refused(cdr_sqlite_batch *b,
                                       const cadre_message_row *row, bool *is_refused,
                                       cadre_error *err)
{
    cadre_status status = CADRE_OK;
    *is_refused = false;
    if (!cadre_id_is_none(row->frame))
        status = cdr_sqlite_is_refused(b, row->frame, is_refused, err);
    if (status == CADRE_OK && !*is_refused)
        status = cdr_sqlite_is_refused(b, row->conversation, is_refused, err);
    return status;
}

static cadre_status next_position(cdr_sqlite_batch *b, cadre_id conversation,
                                  int64_t *position, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_NEXT_POSITION);
    cdr_sqlite_call_id(&call, conversation);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    if (status == CADRE_OK)
        *position = cdr_sqlite_take_number(&call);
    cdr_sqlite_call_end(&call);
    return status;
}

static cadre_status fail_position(const cadre_message_row *row, int64_t next,
                                  cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->conversation, id);
    if (row->message.position == next)
        return cdr_sqlite_fail_id(err, row->id, "message",
                                  "has its place, or is of another conversation");
    return cadre_fail(err, CADRE_ESTORE,
                      "conversation '%s': a message at position %" PRId64
                      "; the next one is %" PRId64,
                      id, row->message.position, next);
}

// The place of a refused message stays empty: those behind it have theirs already.
static cadre_status skip(cdr_sqlite_batch *b, cadre_fact *fact, cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    int64_t next = 0;
    cdr_sqlite_call call;
    cadre_status status = next_position(b, row->conversation, &next, err);
    if (status != CADRE_OK)
        return status;
    if (row->message.position != next)
        return fail_position(row, next, err);
    fact->refused = true;
    b->has_refused = true;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_SKIP_POSITION);
    cdr_sqlite_call_id(&call, row->conversation);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_number(&call, next + 1);
    return cdr_sqlite_call_run(&call, NULL, err);
}

static cadre_status place(cdr_sqlite_batch *b, cadre_fact *fact, cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    bool is_refused = false;
    bool is_known = false;
    int n_changed = 0;
    cadre_status status = CADRE_OK;
    // A refused conversation breaks a rule of the tables, not of the statement.
    if (b->has_refused)
        status = depends_on_refused(b, row, &is_refused, err);
    if (status == CADRE_OK && !is_refused) {
        status = insert_message(b, row, &n_changed, err);
        if (status == CADRE_OK && n_changed == 0)
            status = depends_on_refused(b, row, &is_refused, err);
    }
    if (status != CADRE_OK || n_changed > 0)
        return status;
    if (is_refused)
        return skip(b, fact, err);
    if (!cadre_id_is_none(row->frame)) {
        status = is_frame(b, row->frame, b->trace, &is_known, err);
        if (status == CADRE_OK && !is_known)
            return cdr_sqlite_fail_id(err, row->frame, "frame",
                                      "of a message is not in the trace");
    }
    int64_t next = 0;
    if (status == CADRE_OK)
        status = next_position(b, row->conversation, &next, err);
    return status == CADRE_OK ? fail_position(row, next, err) : status;
}

// Looks for a message of the same request. `is_known`: it is there.
static cadre_status find_request(cdr_sqlite_batch *b, cadre_fact *fact, bool *is_known,
                                 cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    cdr_sqlite_call call;
    *is_known = false;
    if (!text_of(row->request_id)[0])
        return CADRE_OK;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_REQUEST);
    cdr_sqlite_call_id(&call, row->conversation);
    cdr_sqlite_call_text(&call, row->request_id);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    if (status == CADRE_OK) {
        *is_known = true;
        fact->refused =
            strcmp(cdr_sqlite_take_text(&call), text_of(row->request_hash)) != 0;
    }
    cdr_sqlite_call_end(&call);
    return status == CADRE_DONE ? CADRE_OK : status;
}

// To an inbox, of any trace's conversation.
static cadre_status post(cdr_sqlite_batch *b, cadre_fact *fact, cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    bool is_known = false;
    int n_changed = 0;
    cadre_status status = find_request(b, fact, &is_known, err);
    if (status != CADRE_OK || is_known)
        return status;
    if (b->has_refused)
        status = depends_on_refused(b, row, &fact->refused, err);
    if (status != CADRE_OK || fact->refused)
        return status;
    status = insert_message(b, row, &n_changed, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    status = is_conversation(b, row->conversation, &is_known, err);
    if (status == CADRE_OK && !is_known)
        status = cdr_sqlite_is_refused(b, row->conversation, &is_known, err);
    if (status == CADRE_OK && !is_known)
        return cdr_sqlite_fail_id(err, row->conversation, "conversation",
                                  "is not known");
    fact->refused = true;
    return status;
}

cadre_status cdr_sqlite_add_message(cdr_sqlite_batch *b, cadre_fact *fact,
                                    cadre_error *err)
{
    if (cadre_id_is_none(fact->u.message.id))
        return cdr_sqlite_fail_id(err, fact->u.message.id, "message", "has no id");
    return fact->u.message.message.position < 0 ? post(b, fact, err)
                                                : place(b, fact, err);
}
