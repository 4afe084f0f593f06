// See facts.h.
#include "facts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// How long the lease of a new trace lasts when nobody renews it.
#define FIRST_LEASE_MS 60000

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

cadre_status cdr_memory_fail_id(cadre_error *err, cadre_id id, const char *noun,
                                const char *what)
{
    char text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, text);
    return cadre_fail(err, CADRE_ESTORE, "%s '%s' %s", noun, text, what);
}

// --- Looking beyond the trace ---

// Finds the trace of a frame; NULL: there is none, or (`needs_all`) not among those
// that are locked.
static cdr_memory_trace *trace_of_frame(cdr_memory_scope *scope, cadre_id id)
{
    if (scope->trace &&
        cdr_memory_frame_look(scope->trace, id) != CDR_MEMORY_FRAME_UNKNOWN)
        return scope->trace;
    scope->needs_all = !scope->has_all;
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && scope->has_all; i++) {
        const cdr_memory_table *traces = &scope->store->traces[i].traces;
        for (uint32_t k = 0; k < traces->n_rows; k++) {
            if (cdr_memory_frame_look(traces->rows[k], id) != CDR_MEMORY_FRAME_UNKNOWN)
                return traces->rows[k];
        }
    }
    return NULL;
}

// Finds a conversation of the trace or of a session.
static cdr_memory_conversation *find_conversation(const cdr_memory_scope *scope,
                                                  cadre_id id)
{
    const cdr_memory_trace *trace = scope->trace;
    cdr_memory_conversation *conversation = NULL;
    if (trace) {
        conversation = cdr_memory_find_conversation_locked(&trace->conversations, id);
        // The root's needs no lock to be found.
        if (!conversation && trace->session &&
            cadre_id_equal(trace->session->row.id, id))
            return trace->session;
    }
    if (!conversation)
        conversation = cdr_memory_find_conversation_locked(
            &scope->store->sessions[cdr_memory_shelf_of_id(id)].conversations, id);
    return conversation;
}

// Finds one of any trace.
static cdr_memory_conversation *find_foreign(cdr_memory_scope *scope, cadre_id id)
{
    cdr_memory_conversation *conversation = find_conversation(scope, id);
    if (conversation)
        return conversation;
    scope->needs_all = !scope->has_all;
    for (unsigned i = 0; i < CDR_MEMORY_SHELVES && scope->has_all; i++) {
        const cdr_memory_table *traces = &scope->store->traces[i].traces;
        for (uint32_t k = 0; k < traces->n_rows && !conversation; k++) {
            const cdr_memory_trace *trace = traces->rows[k];
            conversation =
                cdr_memory_find_conversation_locked(&trace->conversations, id);
        }
    }
    return conversation;
}

// --- Traces ---

static bool dup_text(cdr_memory_trace *trace, const char **text)
{
    size_t size = strlen(text_of(*text)) + 1;
    char *copy = cdr_memory_region_alloc(&trace->region, size);
    if (copy)
        memcpy(copy, text_of(*text), size);
    *text = copy;
    return copy != NULL;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static cadre_status fail_spawned(cadre_error *err, cadre_id trace)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(trace, id);
    return cadre_fail(err, CADRE_EREFUSED,
                      "trace '%s': what spawned it has ended, or must", id);
}

cadre_status cdr_memory_apply_trace(cdr_memory_scope *scope, const cadre_commit *commit,
                                    const cadre_fact *fact, cdr_memory_undo *undo,
                                    cadre_error *err)
{
    cdr_memory_trace *trace = scope->trace;
    cadre_trace_row row = fact->u.trace;
    if (cadre_id_is_none(row.id) || !cadre_id_equal(row.id, trace->id))
        return cdr_memory_fail_id(err, row.id, "trace",
                                  "is written in a batch of another trace");
    if (trace->is_born)
        return cdr_memory_fail_id(err, row.id, "trace", "is born twice");
    if (!cadre_id_is_none(row.spawned_by)) {
        const cdr_memory_trace *other = trace_of_frame(scope, row.spawned_by);
        if (scope->needs_all)
            return CADRE_ESTORE;
        if (!other ||
            cdr_memory_frame_look(other, row.spawned_by) == CDR_MEMORY_FRAME_CLOSED)
            return fail_spawned(err, row.id);
    }
    bool is_held = text_of(commit->owner)[0] != '\0';
    char *owner = is_held ? strdup(commit->owner) : NULL;
    if ((is_held && !owner) || !dup_text(trace, &row.team) ||
        !dup_text(trace, &row.shape_digest) || !dup_text(trace, &row.text_digest) ||
        !dup_text(trace, &row.options)) {
        free(owner);
        return no_memory(err);
    }
    row.created_at = now_ms();
    row.lease_epoch = commit->epoch;
    row.lease_expires_at = is_held ? row.created_at + FIRST_LEASE_MS : 0;
    trace->row = row;
    trace->lease_owner = owner;
    trace->number = ++scope->store->n_traces;
    trace->is_born = true;
    undo->what = trace;
    return CADRE_OK;
}

static void undo_trace(cdr_memory_trace *trace)
{
    free(trace->lease_owner);
    trace->lease_owner = NULL;
    trace->is_born = false;
}

// --- Conversations ---

static bool has_name(const cadre_conversation_row *row)
{
    return row->session && row->session[0];
}

static cadre_status check_conversation(const cdr_memory_scope *scope,
                                       const cadre_conversation_row *row,
                                       cadre_error *err)
{
    if (cadre_id_is_none(row->owner_conversation) != cadre_id_is_none(row->owner_frame))
        return cdr_memory_fail_id(
            err, row->id, "conversation",
            "has half an owner; it needs conversation and frame, or none");
    const cdr_memory_session_shelf *shelf =
        &scope->store->sessions[cdr_memory_shelf_of_id(row->id)];
    if (cadre_id_is_none(row->id) ||
        cdr_memory_find_conversation_locked(&scope->trace->conversations, row->id) ||
        (has_name(row) &&
         cdr_memory_find_conversation_locked(&shelf->conversations, row->id)))
        return cdr_memory_fail_id(err, row->id, "conversation",
                                  "has no id, or is born twice");
    return CADRE_OK;
}

static cadre_status add_session(cdr_memory_scope *scope,
                                const cadre_conversation_row *row,
                                cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_session_shelf *shelves = scope->store->sessions;
    cdr_memory_session_shelf *by_id = &shelves[cdr_memory_shelf_of_id(row->id)];
    cdr_memory_session_shelf *by_name =
        &shelves[cdr_memory_shelf_of_name(row->session)];
    if (cdr_memory_find_name_locked(by_name, row->session))
        return cadre_fail(err, CADRE_ESTORE, "session '%.100s' has a conversation",
                          row->session);
    cdr_memory_conversation *conversation = NULL;
    if (cdr_memory_table_reserve(&by_id->conversations) &&
        cdr_memory_table_reserve(&by_name->names))
        conversation = cdr_memory_conversation_new(row);
    if (!conversation)
        return no_memory(err);
    cdr_memory_table_add(&by_id->conversations, cdr_memory_tag_of_id(row->id),
                         conversation);
    cdr_memory_table_add(&by_name->names, cdr_memory_tag_of_name(row->session),
                         conversation);
    undo->what = conversation;
    return CADRE_OK;
}

// One without a name, or that is refused and so has none.
static cadre_status add_to_trace(cdr_memory_scope *scope, cadre_fact *fact,
                                 cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_table *table = &scope->trace->conversations;
    cadre_conversation_row row = fact->u.conversation;
    row.session = NULL;
    cdr_memory_conversation *conversation = NULL;
    if (cdr_memory_table_reserve(table))
        conversation = cdr_memory_conversation_new(&row);
    if (!conversation)
        return no_memory(err);
    conversation->is_refused = fact->refused;
    cdr_memory_table_add(table, cdr_memory_tag_of_id(row.id), conversation);
    undo->what = conversation;
    return CADRE_OK;
}

cadre_status cdr_memory_apply_conversation(cdr_memory_scope *scope, cadre_fact *fact,
                                           cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_conversation_row *row = &fact->u.conversation;
    cadre_status status = check_conversation(scope, row, err);
    if (status != CADRE_OK)
        return status;
    if (!cadre_id_is_none(row->owner_frame)) {
        const cdr_memory_trace *owner = trace_of_frame(scope, row->owner_frame);
        if (scope->needs_all)
            return CADRE_ESTORE;
        if (!owner)
            return cdr_memory_fail_id(err, row->owner_frame, "frame",
                                      "owns a conversation and is not known");
        fact->refused =
            cdr_memory_frame_look(owner, row->owner_frame) == CDR_MEMORY_FRAME_CLOSED;
    }
    return has_name(row) && !fact->refused ? add_session(scope, row, undo, err)
                                           : add_to_trace(scope, fact, undo, err);
}

static void undo_conversation(cdr_memory_scope *scope,
                              cdr_memory_conversation *conversation)
{
    uint32_t tag = cdr_memory_tag_of_id(conversation->row.id);
    const char *name = conversation->session;
    if (name[0]) {
        cdr_memory_session_shelf *shelves = scope->store->sessions;
        cdr_memory_table_remove_last(
            &shelves[cdr_memory_shelf_of_id(conversation->row.id)].conversations, tag);
        cdr_memory_table_remove_last(&shelves[cdr_memory_shelf_of_name(name)].names,
                                     cdr_memory_tag_of_name(name));
    } else {
        cdr_memory_table_remove_last(&scope->trace->conversations, tag);
    }
    cdr_memory_conversation_free(conversation);
}

// --- Messages ---

static cadre_status say(cdr_memory_scope *scope, cadre_fact *fact,
                        cdr_memory_undo *undo, cadre_error *err)
{
    cadre_message_row *row = &fact->u.message;
    cdr_memory_change change = CDR_MEMORY_SKIPPED;
    cdr_memory_conversation *conversation = find_conversation(scope, row->conversation);
    cadre_status status;
    if (!conversation)
        return cdr_memory_fail_id(err, row->conversation, "conversation",
                                  "is not known");
    if (!cadre_id_is_none(row->frame) &&
        !cdr_memory_frame_find(scope->trace, row->frame, &fact->refused))
        return cdr_memory_fail_id(err, row->frame, "frame",
                                  "of a message is not in the trace");
    row->trace = scope->trace->id;
    fact->refused = fact->refused || conversation->is_refused;
    if (fact->refused)
        status = cdr_memory_conversation_skip(conversation, row->message.position, err);
    else
        status =
            cdr_memory_conversation_say(conversation, row, &change, &undo->note, err);
    if (status == CADRE_OK) {
        undo->what = conversation;
        undo->change = (int)change;
    }
    return status;
}

// Has the owner of a conversation ended, or must it? One that is gone has.
static bool is_owner_closed(cdr_memory_scope *scope,
                            const cdr_memory_conversation *conversation)
{
    cadre_id owner = conversation->row.owner_frame;
    if (cadre_id_is_none(owner))
        return false;
    const cdr_memory_trace *trace = trace_of_frame(scope, owner);
    return !trace || cdr_memory_frame_look(trace, owner) == CDR_MEMORY_FRAME_CLOSED;
}

// Is it an answer to a question that is not open any more?
static bool is_question_closed(cdr_memory_scope *scope, cadre_id question)
{
    if (cadre_id_is_none(question))
        return false;
    const cdr_memory_trace *trace = trace_of_frame(scope, question);
    return !trace || cdr_memory_frame_look(trace, question) == CDR_MEMORY_FRAME_CLOSED;
}

// To whom it reports may have been released.
static bool is_spawned(const cdr_memory_trace *trace)
{
    return trace && !cadre_id_is_none(trace->row.spawned_by);
}

static cadre_status post(cdr_memory_scope *scope, cadre_fact *fact,
                         cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_message_row *row = &fact->u.message;
    cdr_memory_change change = CDR_MEMORY_NOTHING;
    cdr_memory_conversation *conversation = find_foreign(scope, row->conversation);
    if (!conversation && scope->needs_all)
        return CADRE_ESTORE;
    fact->refused = conversation ? conversation->is_refused : is_spawned(scope->trace);
    if (fact->refused)
        return CADRE_OK;
    if (!conversation)
        return cdr_memory_fail_id(err, row->conversation, "conversation",
                                  "is not known");
    bool is_closed =
        is_owner_closed(scope, conversation) || is_question_closed(scope, row->frame);
    if (scope->needs_all)
        return CADRE_ESTORE;
    cadre_status status =
        cdr_memory_conversation_post(conversation, row, is_closed, &change, err);
    if (status == CADRE_OK) {
        fact->refused = change == CDR_MEMORY_REFUSED;
        undo->what = conversation;
        undo->change = (int)change;
    }
    return status;
}

cadre_status cdr_memory_apply_message(cdr_memory_scope *scope, cadre_fact *fact,
                                      cdr_memory_undo *undo, cadre_error *err)
{
    if (cadre_id_is_none(fact->u.message.id))
        return cdr_memory_fail_id(err, fact->u.message.id, "message", "has no id");
    return fact->u.message.message.position < 0 ? post(scope, fact, undo, err)
                                                : say(scope, fact, undo, err);
}

// --- Frames ---

static cadre_status fail_occupied(cadre_error *err,
                                  const cdr_memory_conversation *conversation)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(conversation->live_trace, id);
    return cadre_fail(err, CADRE_EBUSY, "run %s works in this conversation", id);
}

cadre_status cdr_memory_apply_birth(cdr_memory_scope *scope, cadre_fact *fact,
                                    cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    cdr_memory_trace *trace = scope->trace;
    cdr_memory_conversation *conversation = NULL;
    if (!trace->is_born)
        return cdr_memory_fail_id(err, trace->id, "trace", "is not known");
    if (!cadre_id_is_none(row->conversation)) {
        conversation = find_conversation(scope, row->conversation);
        if (!conversation)
            return cdr_memory_fail_id(err, row->conversation, "conversation",
                                      "of a frame is not known");
        if (conversation->is_refused)
            return cdr_memory_frame_refuse(trace, fact, undo, err);
    }
    bool is_root = cadre_id_is_none(row->parent);
    if (is_root && conversation && !cadre_id_is_none(conversation->live_root) &&
        !cdr_memory_frame_is_live_root(trace, conversation->live_root))
        return fail_occupied(err, conversation);
    cadre_status status = cdr_memory_frame_birth(trace, fact, undo, err);
    if (status == CADRE_OK && is_root && conversation) {
        conversation->live_root = row->id;
        conversation->live_trace = trace->id;
        trace->session = conversation->session[0] ? conversation : NULL;
    }
    return status;
}

// Where a root works; NULL: not a root, or nowhere.
static cdr_memory_conversation *conversation_of_root(const cdr_memory_scope *scope,
                                                     cadre_id root)
{
    cadre_id id = {0, 0};
    if (!cdr_memory_frame_is_live_root(scope->trace, root))
        return NULL;
    cdr_memory_frame_conversation(scope->trace, root, &id);
    return cadre_id_is_none(id) ? NULL : find_conversation(scope, id);
}

cadre_status cdr_memory_apply_end(cdr_memory_scope *scope, cadre_fact *fact,
                                  cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_conversation *conversation =
        conversation_of_root(scope, fact->u.frame.id);
    cadre_status status = cdr_memory_frame_end(scope->trace, fact, undo, err);
    if (status == CADRE_OK && conversation)
        conversation->live_root = (cadre_id){0, 0};
    return status;
}

cadre_status cdr_memory_apply_mark(cdr_memory_scope *scope, cadre_fact *fact,
                                   cdr_memory_undo *undo, cadre_error *err)
{
    // A mark that is undone in another trace leaves its few bytes in the region there.
    undo->trace = scope->trace ? scope->trace : trace_of_frame(scope, fact->u.frame.id);
    if (!undo->trace)
        return cdr_memory_fail_id(err, fact->u.frame.id, "frame", "is not known");
    return cdr_memory_frame_mark(undo->trace, fact, undo, err);
}

static void undo_birth(cdr_memory_scope *scope, const cadre_fact *fact,
                       const cdr_memory_undo *undo)
{
    cdr_memory_conversation *conversation =
        conversation_of_root(scope, fact->u.frame.id);
    if (conversation) {
        conversation->live_root = (cadre_id){0, 0};
        scope->trace->session = NULL;
    }
    cdr_memory_frame_undo(scope->trace, fact, undo);
}

static void undo_end(cdr_memory_scope *scope, const cadre_fact *fact,
                     const cdr_memory_undo *undo)
{
    cdr_memory_frame_undo(scope->trace, fact, undo);
    cdr_memory_conversation *conversation =
        conversation_of_root(scope, fact->u.frame.id);
    if (conversation)
        conversation->live_root = fact->u.frame.id;
}

void cdr_memory_undo_fact(cdr_memory_scope *scope, const cadre_fact *fact,
                          const cdr_memory_undo *undo)
{
    if (!undo->what)
        return;
    switch (fact->type) {
    case CADRE_FACT_CONVERSATION:
        undo_conversation(scope, undo->what);
        break;
    case CADRE_FACT_TRACE:
        undo_trace(undo->what);
        break;
    case CADRE_FACT_MESSAGE:
        cdr_memory_conversation_undo(undo->what, (cdr_memory_change)undo->change,
                                     undo->note);
        break;
    case CADRE_FACT_FRAME:
        undo_birth(scope, fact, undo);
        break;
    case CADRE_FACT_END:
        undo_end(scope, fact, undo);
        break;
    case CADRE_FACT_MARK:
        cdr_memory_frame_undo(undo->trace, fact, undo);
        break;
    case CADRE_FACT_RUNNING:
        cdr_memory_frame_undo(scope->trace, fact, undo);
        break;
    }
}
