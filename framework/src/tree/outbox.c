// See outbox.h.
#include "tree/outbox.h"

#include "base/json_text.h"
#include "tree/spent.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

// --- Adding facts ---

static void lose_locked(cdr_tree *tree)
{
    cadre_fail(&tree->lost, CADRE_ESTORE, "no memory to record what happened");
}

static cadre_fact *add_locked(cdr_tree *tree, cadre_fact_type type)
{
    cdr_outbox *outbox = &tree->outbox;
    if (outbox->n_facts == outbox->capacity) {
        size_t capacity = outbox->capacity == 0 ? 4 : outbox->capacity * 2;
        void *grown = realloc(outbox->facts, capacity * sizeof *outbox->facts);
        if (grown == NULL) {
            lose_locked(tree);
            return NULL;
        }
        outbox->facts = grown;
        outbox->capacity = capacity;
    }
    cadre_fact *fact = &outbox->facts[outbox->n_facts++];
    memset(fact, 0, sizeof *fact);
    fact->type = type;
    tree->n_appended++;
    return fact;
}

static const char *keep_locked(cdr_tree *tree, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return "";
    const char *copy = cdr_arena_text(&tree->outbox.texts, text);
    if (copy == NULL) {
        lose_locked(tree);
        return "";
    }
    return copy;
}

void cdr_outbox_trace_locked(cdr_tree *tree)
{
    cadre_fact *fact = add_locked(tree, CADRE_FACT_TRACE);
    if (fact == NULL)
        return;
    fact->u.trace.id = tree->trace;
    fact->u.trace.team = tree->team->name;
    fact->u.trace.spawned_by = tree->spawn.by;
    fact->u.trace.shape_digest = tree->team->shape_digest;
    fact->u.trace.text_digest = tree->team->text_digest;
    fact->u.trace.options = tree->options == NULL ? "{}" : tree->options;
}

void cdr_outbox_conversation_locked(cdr_tree *tree,
                                    const cdr_conversation *conversation,
                                    const cadre_frame *owner, const char *session)
{
    cadre_fact *fact = add_locked(tree, CADRE_FACT_CONVERSATION);
    if (fact == NULL)
        return;
    cadre_conversation_row *row = &fact->u.conversation;
    row->id = conversation->id;
    row->session = keep_locked(tree, session);
    if (owner != NULL) {
        row->owner_conversation = owner->conversation->id;
        row->owner_frame = owner->id;
    }
    if (conversation->base != NULL) {
        row->base = conversation->base->id;
        row->base_position = (int64_t)conversation->base_count;
    }
}

static const char *kind_name(const cadre_frame *frame)
{
    static const char *const names[] = {"agent", "model", "tool", "ask"};
    return names[frame->kind];
}

static int64_t wall_ms(const cdr_tree *tree, int64_t monotonic_ns)
{
    return (monotonic_ns + tree->wall_offset_ns) / 1000000;
}

void cdr_outbox_frame_locked(cadre_frame *frame, bool replay_safe)
{
    cdr_tree *tree = frame->tree;
    cadre_fact *fact = add_locked(tree, CADRE_FACT_FRAME);
    if (fact == NULL)
        return;
    cadre_frame_row *row = &fact->u.frame;
    row->id = frame->id;
    if (frame->parent != NULL)
        row->parent = frame->parent->id;
    row->conversation = frame->conversation->id;
    row->key = keep_locked(tree, frame->key);
    row->kind = kind_name(frame);
    row->name = keep_locked(tree, frame->name);
    row->referer = cdr_frame_referer(frame);
    row->input = keep_locked(tree, cdr_text_bytes(frame->input));
    row->depth = frame->depth;
    row->status = (cadre_frame_status)frame->status;
    row->attempts = frame->attempts;
    row->replay_safe = replay_safe;
    row->start_seq = tree->last_seq;
    row->created_at = wall_ms(tree, frame->started_ns);
    row->mark = row->output = row->error = "";
}

// Its text lives as long as the outbox.
static const char *keep_delta_locked(cadre_frame *frame)
{
    if (frame->is_given_up || frame->delta == NULL)
        return "";
    char *text = cdr_json_dump(frame->delta);
    if (text == NULL)
        lose_locked(frame->tree);
    const char *kept = keep_locked(frame->tree, text);
    free(text);
    return kept;
}

static void add_running_locked(cadre_frame *frame, const char *delta)
{
    cadre_fact *fact = add_locked(frame->tree, CADRE_FACT_RUNNING);
    if (fact == NULL)
        return;
    fact->u.frame.id = frame->id;
    fact->u.frame.attempts = frame->attempts;
    fact->u.frame.restarts = frame->restarts;
    fact->u.frame.status = (cadre_frame_status)frame->status;
    fact->u.frame.delta = delta;
}

void cdr_outbox_running_locked(cadre_frame *frame)
{
    add_running_locked(frame, "");
}

void cdr_outbox_delta_locked(cadre_frame *frame)
{
    add_running_locked(frame, keep_delta_locked(frame));
}

void cdr_outbox_mark_locked(cadre_frame *frame)
{
    cadre_fact *fact = add_locked(frame->tree, CADRE_FACT_MARK);
    if (fact == NULL)
        return;
    fact->u.frame.id = frame->id;
    fact->u.frame.mark = cdr_mark_name((cdr_mark)frame->mark);
}

void cdr_outbox_end_locked(cadre_frame *frame, const cadre_usage *own, int64_t ended_ns)
{
    cdr_tree *tree = frame->tree;
    cadre_fact *fact = add_locked(tree, CADRE_FACT_END);
    if (fact == NULL)
        return;
    cadre_frame_row *row = &fact->u.frame;
    row->id = frame->id;
    row->status = (cadre_frame_status)frame->status;
    row->stop_reason = (cadre_stop_reason)frame->stop_reason;
    row->attempts = frame->attempts;
    row->output = keep_locked(tree, cdr_text_bytes(frame->output));
    row->error = "";
    if (frame->failure != NULL) {
        row->error = keep_locked(tree, frame->failure->message);
        row->error_class = frame->failure->error_class;
        row->error_retryable = frame->failure->retryable;
    }
    row->delta = keep_delta_locked(frame);
    row->own = *own;
    row->usage = frame->usage;
    row->end_seq = tree->last_seq;
    row->duration_ms = cdr_frame_lasted_ms(frame, ended_ns);
    row->completed_at = wall_ms(tree, ended_ns);
}

// The fact borrows the message's texts; the conversation may go before the commit.
static bool hold_message_locked(cdr_tree *tree, cdr_message *message)
{
    cdr_outbox *outbox = &tree->outbox;
    if (outbox->n_messages == outbox->messages_capacity) {
        size_t capacity = outbox->n_messages == 0 ? 8 : outbox->n_messages * 2;
        void *grown = realloc(outbox->messages, capacity * sizeof *outbox->messages);
        if (grown == NULL) {
            tree->outbox.n_facts--;
            lose_locked(tree);
            return false;
        }
        outbox->messages = grown;
        outbox->messages_capacity = capacity;
    }
    outbox->messages[outbox->n_messages++] = cdr_message_ref(message);
    return true;
}

void cdr_outbox_message_locked(cadre_frame *frame, const cdr_conversation *conversation,
                               cdr_message *message)
{
    cdr_tree *tree = frame->tree;
    cadre_fact *fact = add_locked(tree, CADRE_FACT_MESSAGE);
    if (fact == NULL || !hold_message_locked(tree, message))
        return;
    cadre_message_row *row = &fact->u.message;
    row->id = message->id;
    row->conversation = conversation->id;
    row->frame = message->frame;
    row->message = message->m;
}

void cdr_outbox_post_locked(cdr_tree *tree, cadre_id conversation, cdr_message *message,
                            const char *request_id)
{
    cadre_fact *fact = add_locked(tree, CADRE_FACT_MESSAGE);
    if (fact == NULL || !hold_message_locked(tree, message))
        return;
    cadre_message_row *row = &fact->u.message;
    row->id = message->id;
    row->conversation = conversation;
    row->message = message->m;
    row->message.position = -1;
    row->request_id = row->request_hash = keep_locked(tree, request_id);
}

void cdr_outbox_request_locked(cdr_tree *tree, const char *id, const char *hash)
{
    cdr_outbox *outbox = &tree->outbox;
    if (tree->lost.status != CADRE_OK)
        return;
    cadre_fact *fact = &outbox->facts[outbox->n_facts - 1];
    assert(fact->type == CADRE_FACT_MESSAGE);
    fact->u.message.request_id = keep_locked(tree, id);
    fact->u.message.request_hash = keep_locked(tree, hash);
}

// --- Events ---

void cdr_event_address(cadre_frame *frame, cadre_event *event, cdr_event_id id)
{
    const cadre_frame *agent = cdr_frame_nearest_agent(frame);
    cadre_id_text(agent->id, id);
    event->frame_id = id;
    event->thread_id = agent->parent == NULL ? NULL : id;
    event->agent = agent->name;
    event->is_main = agent->is_main;
}

int64_t cdr_outbox_event_locked(cadre_frame *frame, cadre_event *event,
                                cdr_message *message, bool is_durable)
{
    cdr_tree *tree = frame->tree;
    bool is_stream = event->type == CADRE_EVENT_STREAM_START ||
                     event->type == CADRE_EVENT_STREAM_END;
    if ((frame->is_quiet && !is_stream) || frame->is_silent)
        return 0;
    event->seq = is_durable ? ++tree->last_seq : 0;
    if (cdr_queue_is_deaf(&tree->queue) && frame->ear == NULL)
        return event->seq;
    cdr_event_id id;
    cdr_event_address(frame, event, id);
    cdr_event_node *node = cdr_event_new(event, message);
    if (node == NULL) {
        lose_locked(tree);
        return event->seq;
    }
    node->ear = frame->ear;
    cdr_outbox *outbox = &tree->outbox;
    if (outbox->events == NULL)
        outbox->events_end = &outbox->events;
    *outbox->events_end = node;
    outbox->events_end = &node->next;
    tree->n_appended++;
    return event->seq;
}

// In order, to who reads the run and to who listens; may wait.
static void show_take(cdr_tree *tree, cdr_event_node *list)
{
    cdr_ear_tell(list);
    cdr_queue_push_take(&tree->queue, list);
}

void cdr_frame_show(cadre_frame *frame, const cadre_event *event)
{
    if (frame->is_quiet || frame->mark != CDR_MARK_NONE || !cdr_frame_is_heard(frame))
        return;
    cdr_event_node *node = cdr_event_new(event, NULL);
    if (node != NULL)
        node->ear = frame->ear;
    show_take(frame->tree, node);
}

void cdr_frame_show_delta(cadre_frame *frame, const cadre_event *event)
{
    if (frame->is_quiet || frame->mark != CDR_MARK_NONE)
        return;
    cdr_ear_tell_delta(frame->ear, event);
    cdr_queue_push_delta(&frame->tree->queue, event, NULL);
}

void cdr_frame_await_room(cadre_frame *frame)
{
    cdr_ear_await_room(frame->ear);
    cdr_queue_await_room(&frame->tree->queue);
}

bool cdr_frame_is_heard(cadre_frame *frame)
{
    return frame->ear != NULL || !cdr_queue_is_deaf(&frame->tree->queue);
}

// --- Flushing ---

// A run that waits keeps no room for facts; one that writes many at once does.
static void clear(cdr_outbox *outbox)
{
    enum {
        MANY = 64
    };
    for (size_t i = 0; i < outbox->n_messages; i++)
        cdr_message_unref(outbox->messages[i]);
    if (outbox->n_facts < MANY) {
        free(outbox->facts);
        free(outbox->messages);
        outbox->facts = NULL;
        outbox->messages = NULL;
        outbox->capacity = outbox->messages_capacity = 0;
    }
    cdr_arena_fini(&outbox->texts);
    outbox->n_facts = 0;
    outbox->n_messages = 0;
    outbox->events = NULL;
    outbox->events_end = NULL;
}

void cdr_outbox_fini(cdr_outbox *outbox)
{
    cdr_event_free_list(outbox->events);
    clear(outbox);
    free(outbox->facts);
    free(outbox->messages);
}

// Somebody outside has stopped what a refused fact was for: that is learnt before
// anything that was reserved here is sent.
static bool has_refused(const cdr_outbox *batch)
{
    for (size_t i = 0; i < batch->n_facts; i++)
        if (batch->facts[i].refused)
            return true;
    return false;
}

// Commits what is in the outbox now. The mutex is released meanwhile.
static void flush_once_locked(cdr_tree *tree) CDR_REQUIRES(tree->mu)
{
    cdr_outbox batch = tree->outbox;
    tree->outbox = tree->spare;
    cadre_commit commit = {.trace = tree->trace,
                           .epoch = tree->lease_epoch,
                           .owner = tree->lease_owner,
                           .last_seq = tree->last_seq,
                           .facts = batch.facts,
                           .n_facts = batch.n_facts};
    uint64_t upto = tree->n_appended;
    cadre_error err = tree->lost;
    tree->is_flushing = true;
    cdr_mutex_unlock(&tree->mu);
    if (err.status == CADRE_OK && batch.n_facts > 0)
        tree->runtime->store_ops->commit(tree->runtime->store, &commit, &err);
    if (err.status == CADRE_OK && has_refused(&batch)) {
        cdr_mutex_lock(&tree->mu);
        cdr_tree_note_refused_locked(tree, batch.facts, batch.n_facts);
        cdr_mutex_unlock(&tree->mu);
        cdr_watch_look(tree->runtime, &err);
    }
    if (err.status == CADRE_OK)
        show_take(tree, batch.events);
    else
        cdr_event_free_list(batch.events);
    clear(&batch);
    cdr_mutex_lock(&tree->mu);
    tree->spare = batch;
    tree->n_committed = upto;
    tree->is_shown = tree->is_shown || err.status == CADRE_OK;
    tree->is_flushing = false;
    if (err.status != CADRE_OK && tree->lost.status == CADRE_OK)
        tree->lost = err;
    if (tree->lost.status != CADRE_OK && tree->root != NULL)
        cdr_frame_mark_locked(tree->root, CDR_MARK_LOST);
    cdr_cond_broadcast(&tree->flushed);
}

cadre_status cdr_tree_flush(cdr_tree *tree, cadre_error *err)
{
    cdr_mutex_lock(&tree->mu);
    uint64_t target = tree->n_appended;
    while (tree->n_committed < target) {
        if (tree->is_flushing)
            cdr_cond_wait(&tree->flushed, &tree->mu);
        else
            flush_once_locked(tree);
    }
    bool is_lost = tree->lost.status != CADRE_OK; // then it does not change any more
    cdr_mutex_unlock(&tree->mu);
    if (is_lost)
        return cadre_fail_class(err, CADRE_ESTORE, CADRE_CLASS_STORE, false, "%s",
                                tree->lost.text);
    return CADRE_OK;
}

bool cdr_outbox_has_many_locked(const cdr_tree *tree)
{
    enum {
        MANY_FACTS = 256
    };
    return tree->outbox.n_facts > MANY_FACTS;
}
