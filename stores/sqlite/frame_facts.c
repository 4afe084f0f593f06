// Facts about frames. See facts.h.
#include "facts.h"

#include <stdio.h>
#include <string.h>

#define FRAME_NAME_SIZE 200

static const char *text_of(const char *text)
{
    return text ? text : "";
}

// "tool 'add', frame 'abc-1', key 'turn/1'" for errors.
static const char *name_row(const cadre_frame_row *row, char name[FRAME_NAME_SIZE])
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    snprintf(name, FRAME_NAME_SIZE, "%.20s '%.60s', frame '%s', key '%.40s'",
             text_of(row->kind), text_of(row->name), id, text_of(row->key));
    return name;
}

cadre_status cdr_sqlite_fail_id(cadre_error *err, cadre_id id, const char *noun,
                                const char *what)
{
    char text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, text);
    return cadre_fail(err, CADRE_ESTORE, "%s '%s' %s", noun, text, what);
}

cadre_status cdr_sqlite_is_refused(cdr_sqlite_batch *b, cadre_id id, bool *is_refused,
                                   cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_REFUSED);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_id(&call, id);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    *is_refused = status == CADRE_OK;
    cdr_sqlite_call_end(&call);
    return status == CADRE_DONE ? CADRE_OK : status;
}

cadre_status cdr_sqlite_refuse_birth(cdr_sqlite_batch *b, cadre_fact *fact, cadre_id id,
                                     cadre_error *err)
{
    cdr_sqlite_call call;
    fact->refused = true;
    b->has_refused = true;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_ADD_REFUSED);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_id(&call, id);
    return cdr_sqlite_call_run(&call, NULL, err);
}

// What is known of a frame that a fact names.
typedef enum frame_state {
    FRAME_UNKNOWN,
    FRAME_LIVE,
    FRAME_ENDED,
    FRAME_REFUSED
} frame_state;

static cadre_status look_up(cdr_sqlite_batch *b, cadre_id id, frame_state *state,
                            cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_FRAME);
    cdr_sqlite_call_id(&call, id);
    cdr_sqlite_call_id(&call, b->trace);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    *state = FRAME_UNKNOWN;
    if (status == CADRE_OK)
        *state = cdr_sqlite_take_number(&call) ? FRAME_ENDED : FRAME_LIVE;
    cdr_sqlite_call_end(&call);
    if (status != CADRE_DONE)
        return status;
    bool is_refused;
    status = cdr_sqlite_is_refused(b, id, &is_refused, err);
    if (status == CADRE_OK && is_refused)
        *state = FRAME_REFUSED;
    return status;
}

// Why a fact about a frame changed nothing: refused with the frame, ignored after its
// end or (`when_live` NULL) while it lives, or a mistake.
static cadre_status explain(cdr_sqlite_batch *b, cadre_fact *fact,
                            const char *when_live, cadre_error *err)
{
    frame_state state;
    cadre_status status = look_up(b, fact->u.frame.id, &state, err);
    if (status != CADRE_OK)
        return status;
    fact->refused = state == FRAME_REFUSED;
    if (state == FRAME_UNKNOWN)
        return cdr_sqlite_fail_id(err, fact->u.frame.id, "frame",
                                  cadre_id_is_none(b->trace) ? "is not known"
                                                             : "is not in the trace");
    if (state == FRAME_LIVE && when_live)
        return cdr_sqlite_fail_id(err, fact->u.frame.id, "frame", when_live);
    return CADRE_OK;
}

static cadre_status check_birth(const cadre_frame_row *row, cadre_error *err)
{
    char name[FRAME_NAME_SIZE];
    if (cadre_id_is_none(row->id))
        return cadre_fail(err, CADRE_ESTORE, "%s: has no id", name_row(row, name));
    if (row->status >= CADRE_FRAME_COMPLETED)
        return cadre_fail(err, CADRE_ESTORE, "%s: is born %s; must be live",
                          name_row(row, name), cadre_frame_status_name(row->status));
    return CADRE_OK;
}

static cadre_status insert_frame(cdr_sqlite_batch *b, const cadre_frame_row *row,
                                 int *n_changed, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_ADD_FRAME);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_id(&call, row->parent);
    cdr_sqlite_call_id(&call, row->conversation);
    cdr_sqlite_call_text(&call, row->key);
    cdr_sqlite_call_text(&call, row->kind);
    cdr_sqlite_call_text(&call, row->name);
    cdr_sqlite_call_text(&call, row->referer);
    cdr_sqlite_call_text(&call, row->input);
    cdr_sqlite_call_number(&call, row->depth);
    cdr_sqlite_call_text(&call, cadre_frame_status_name(row->status));
    cdr_sqlite_call_number(&call, row->attempts);
    cdr_sqlite_call_number(&call, row->restarts);
    cdr_sqlite_call_number(&call, row->replay_safe);
    cdr_sqlite_call_number(&call, row->start_seq);
    cdr_sqlite_call_number(&call, row->created_at);
    return cdr_sqlite_call_try(&call, n_changed, err);
}

// A root lives in the conversation: that of another trace, or of this one.
static cadre_status fail_occupied(const cdr_sqlite_batch *b, const cadre_frame_row *row,
                                  cadre_error *err)
{
    char name[FRAME_NAME_SIZE];
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id trace = {0, 0};
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_LIVE_ROOT);
    cdr_sqlite_call_id(&call, row->conversation);
    if (cdr_sqlite_call_next(&call, NULL) == CADRE_OK)
        trace = cdr_sqlite_take_id(&call);
    cdr_sqlite_call_end(&call);
    if (cadre_id_equal(trace, b->trace))
        return cadre_fail(err, CADRE_ESTORE, "%s: is a second root of the trace",
                          name_row(row, name));
    cadre_id_text(trace, id);
    return cadre_fail(err, CADRE_EBUSY, "run %s works in this conversation", id);
}

// Says of a birth that broke a rule which it was.
static cadre_status fail_birth(const cdr_sqlite_batch *b, const cadre_frame_row *row,
                               cadre_error *err)
{
    char name[FRAME_NAME_SIZE];
    const char *said = sqlite3_errmsg(b->connection->db);
    const char *why = "cannot be born";
    int code = sqlite3_extended_errcode(b->connection->db);
    if (strstr(said, "frames.conversation_id"))
        return fail_occupied(b, row, err);
    if (code == SQLITE_CONSTRAINT_PRIMARYKEY)
        why = "is born twice";
    else if (code == SQLITE_CONSTRAINT_FOREIGNKEY)
        why = "its conversation or trace is not known";
    else if (strstr(said, "frames.key"))
        why = "a sibling has this key";
    else if (strstr(said, "frames.trace_id"))
        why = "is a second root of the trace";
    return cadre_fail(err, CADRE_ESTORE, "%s: %s: %.120s (code %d)",
                      name_row(row, name), why, said, code);
}

// A frame in a conversation that was refused is refused too.
static cadre_status is_conversation_refused(cdr_sqlite_batch *b,
                                            const cadre_frame_row *row,
                                            bool *is_refused, cadre_error *err)
{
    *is_refused = false;
    if (!b->has_refused || cadre_id_is_none(row->conversation))
        return CADRE_OK;
    return cdr_sqlite_is_refused(b, row->conversation, is_refused, err);
}

cadre_status cdr_sqlite_add_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    int n_changed = 0;
    bool is_refused;
    cadre_status status = check_birth(row, err);
    if (status == CADRE_OK)
        status = is_conversation_refused(b, row, &is_refused, err);
    if (status != CADRE_OK)
        return status;
    if (is_refused)
        return cdr_sqlite_refuse_birth(b, fact, row->id, err);
    status = insert_frame(b, row, &n_changed, err);
    if (status == CADRE_EREFUSED)
        return fail_birth(b, row, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    frame_state parent;
    status = look_up(b, row->parent, &parent, err);
    if (status != CADRE_OK)
        return status;
    if (parent == FRAME_UNKNOWN) {
        char name[FRAME_NAME_SIZE];
        char id[CADRE_ID_TEXT_SIZE];
        cadre_id_text(row->parent, id);
        return cadre_fail(err, CADRE_ESTORE, "%s: its parent '%s' is not in the trace",
                          name_row(row, name), id);
    }
    return cdr_sqlite_refuse_birth(b, fact, row->id, err);
}

static cadre_status is_live(cdr_sqlite_batch *b, cadre_id id, bool *is,
                            cadre_error *err)
{
    frame_state state;
    cadre_status status = look_up(b, id, &state, err);
    *is = state == FRAME_LIVE;
    return status;
}

cadre_status cdr_sqlite_run_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    int n_changed = 0;
    cdr_sqlite_call call;
    if (row->status != CADRE_FRAME_RUNNING && row->status != CADRE_FRAME_WAITING)
        return cadre_fail(err, CADRE_ESTORE,
                          "a frame that lives runs or waits; it is not '%s'",
                          cadre_frame_status_name(row->status));
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_RUN_FRAME);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_number(&call, row->attempts);
    cdr_sqlite_call_number(&call, row->restarts);
    cdr_sqlite_call_number(&call, row->start_seq);
    cdr_sqlite_call_text(&call, cadre_frame_status_name(row->status));
    cdr_sqlite_call_text_or_null(&call, row->delta);
    cadre_status status = cdr_sqlite_call_run(&call, &n_changed, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    status = explain(b, fact, NULL, err);
    // One that lives and was not changed is marked.
    if (status == CADRE_OK && !fact->refused)
        status = is_live(b, row->id, &fact->refused, err);
    return status;
}

cadre_status cdr_sqlite_mark_frames(cdr_sqlite_batch *b, cadre_fact *fact,
                                    cadre_error *err)
{
    const char *reason = text_of(fact->u.frame.mark);
    int n_changed = 0;
    cdr_sqlite_call call;
    if (!reason[0])
        return cdr_sqlite_fail_id(err, fact->u.frame.id, "frame",
                                  "is marked without a reason");
    if (!cadre_id_is_none(b->trace)) {
        // The walk starts at an id alone, which serves marks from outside.
        frame_state state;
        cadre_status known = look_up(b, fact->u.frame.id, &state, err);
        if (known != CADRE_OK || state == FRAME_UNKNOWN || state == FRAME_REFUSED)
            return known == CADRE_OK ? explain(b, fact, NULL, err) : known;
    }
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_MARK_FRAMES);
    cdr_sqlite_call_id(&call, fact->u.frame.id);
    cdr_sqlite_call_text(&call, reason);
    cadre_status status = cdr_sqlite_call_run(&call, &n_changed, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    return explain(b, fact, NULL, err);
}

static void put_usage(cdr_sqlite_call *call, const cadre_usage *usage)
{
    cdr_sqlite_call_number(call, usage->model_calls);
    cdr_sqlite_call_number(call, usage->tool_calls);
    cdr_sqlite_call_number(call, usage->input_tokens);
    cdr_sqlite_call_number(call, usage->output_tokens);
    cdr_sqlite_call_number(call, usage->cached_input_tokens);
    cdr_sqlite_call_number(call, usage->reasoning_tokens);
    cdr_sqlite_call_number(call, usage->cost_usd_micros);
    cdr_sqlite_call_number(call, usage->unpriced_calls);
}

static cadre_status update_end(cdr_sqlite_batch *b, const cadre_frame_row *row,
                               int *n_changed, cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_END_FRAME);
    cdr_sqlite_call_id(&call, row->id);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_text(&call, cadre_frame_status_name(row->status));
    cdr_sqlite_call_text(&call, cadre_stop_reason_name(row->stop_reason));
    cdr_sqlite_call_number(&call, row->attempts);
    cdr_sqlite_call_text_or_null(&call, row->output);
    cdr_sqlite_call_text_or_null(&call, row->error);
    cdr_sqlite_call_text_or_null(&call, cadre_error_class_name(row->error_class));
    cdr_sqlite_call_number(&call, row->error_retryable);
    put_usage(&call, &row->own);
    put_usage(&call, &row->usage);
    cdr_sqlite_call_number(&call, row->end_seq);
    cdr_sqlite_call_number(&call, row->completed_at);
    cdr_sqlite_call_number(&call, row->duration_ms);
    cdr_sqlite_call_text_or_null(&call, row->delta);
    return cdr_sqlite_call_run(&call, n_changed, err);
}

// Names the child that lives, if it is that which forbids the end.
static cadre_status fail_early_end(cdr_sqlite_batch *b, const cadre_frame_row *row,
                                   cadre_error *err)
{
    cdr_sqlite_call call;
    cdr_sqlite_call_begin(&call, b->connection, CDR_SQLITE_FIND_LIVE_CHILD);
    cdr_sqlite_call_id(&call, b->trace);
    cdr_sqlite_call_id(&call, row->id);
    cadre_status status = cdr_sqlite_call_next(&call, err);
    if (status == CADRE_OK) {
        char id[CADRE_ID_TEXT_SIZE];
        char text[FRAME_NAME_SIZE];
        cadre_frame_row child = {.id = cdr_sqlite_take_id(&call), .key = ""};
        child.kind = cdr_sqlite_take_text(&call);
        child.name = cdr_sqlite_take_text(&call);
        cadre_id_text(row->id, id);
        status =
            cadre_fail(err, CADRE_ESTORE, "frame '%s': cannot end before its child %s",
                       id, name_row(&child, text));
    }
    cdr_sqlite_call_end(&call);
    return status == CADRE_DONE ? CADRE_OK : status;
}

cadre_status cdr_sqlite_end_frame(cdr_sqlite_batch *b, cadre_fact *fact,
                                  cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    int n_changed = 0;
    if (row->status < CADRE_FRAME_COMPLETED || row->status > CADRE_FRAME_ABORTED)
        return cadre_fail(err, CADRE_ESTORE, "a frame ends '%s', which is not an end",
                          cadre_frame_status_name(row->status));
    cadre_status status = update_end(b, row, &n_changed, err);
    if (status != CADRE_OK || n_changed > 0)
        return status;
    status = fail_early_end(b, row, err);
    return status == CADRE_OK ? explain(b, fact, "cannot end", err) : status;
}
