// See queue.h.
#include "tree/queue.h"

#include <stdlib.h>
#include <string.h>

void cdr_queue_init(cdr_queue *queue)
{
    memset(queue, 0, sizeof *queue);
    cdr_mutex_init(&queue->mu);
    cdr_cond_init(&queue->changed);
}

void cdr_queue_fini(cdr_queue *queue)
{
    cdr_event_free_list(queue->head);
    cdr_cond_fini(&queue->changed);
    cdr_mutex_fini(&queue->mu);
}

// The texts of an event, so that copying, measuring and pointing share one list.
enum {
    MAX_TEXTS = 10
};

typedef struct text_list {
    const char **items[MAX_TEXTS];
    size_t count;
} text_list;

static void add_text(text_list *texts, const char **text)
{
    texts->items[texts->count++] = text;
}

static void add_error_texts(text_list *texts, cadre_error_info *error)
{
    add_text(texts, &error->message);
    add_text(texts, &error->agent);
    add_text(texts, &error->frame_id);
}

static void add_own_texts(text_list *texts, cadre_event *e)
{
    switch (e->type) {
    case CADRE_EVENT_STREAM_START:
        add_text(texts, &e->u.stream_start.trace_id);
        add_text(texts, &e->u.stream_start.team);
        break;
    case CADRE_EVENT_FRAME_START:
        add_text(texts, &e->u.frame_start.parent_id);
        add_text(texts, &e->u.frame_start.key);
        add_text(texts, &e->u.frame_start.referer);
        add_text(texts, &e->u.frame_start.input);
        break;
    case CADRE_EVENT_FRAME_END:
        add_text(texts, &e->u.frame_end.output);
        add_error_texts(texts, &e->u.frame_end.error);
        break;
    case CADRE_EVENT_MESSAGE_START:
        add_text(texts, &e->u.message_start.message_id);
        break;
    case CADRE_EVENT_TEXT_DELTA:
    case CADRE_EVENT_REASONING_DELTA:
        add_text(texts, &e->u.delta.message_id);
        break;
    case CADRE_EVENT_TOOL_CALL:
        add_text(texts, &e->u.tool_call.call_id);
        add_text(texts, &e->u.tool_call.name);
        add_text(texts, &e->u.tool_call.arguments);
        break;
    case CADRE_EVENT_TOOL_PROGRESS:
        add_text(texts, &e->u.tool_progress.call_id);
        add_text(texts, &e->u.tool_progress.name);
        add_text(texts, &e->u.tool_progress.text);
        break;
    case CADRE_EVENT_TOOL_RESULT:
        add_text(texts, &e->u.tool_result.call_id);
        add_text(texts, &e->u.tool_result.name);
        add_text(texts, &e->u.tool_result.result);
        break;
    case CADRE_EVENT_TRANSFER:
        add_text(texts, &e->u.transfer.from);
        add_text(texts, &e->u.transfer.to);
        add_text(texts, &e->u.transfer.message);
        add_text(texts, &e->u.transfer.decision);
        add_text(texts, &e->u.transfer.reason);
        break;
    case CADRE_EVENT_ESCALATE:
        add_text(texts, &e->u.escalate.reason);
        break;
    case CADRE_EVENT_INTERRUPT:
        add_text(texts, &e->u.interrupt.question_id);
        add_text(texts, &e->u.interrupt.question);
        add_text(texts, &e->u.interrupt.choices);
        break;
    case CADRE_EVENT_STATE_DELTA:
        add_text(texts, &e->u.state_delta.key);
        add_text(texts, &e->u.state_delta.value);
        break;
    case CADRE_EVENT_RETRY:
        add_error_texts(texts, &e->u.retry.error);
        add_text(texts, &e->u.retry.model);
        add_text(texts, &e->u.retry.next_model);
        break;
    case CADRE_EVENT_ERROR:
        add_error_texts(texts, &e->u.error);
        break;
    case CADRE_EVENT_STREAM_END:
        add_text(texts, &e->u.stream_end.output);
        add_error_texts(texts, &e->u.stream_end.error);
        break;
    case CADRE_EVENT_WAIT:
        add_text(texts, &e->u.wait.model);
        add_text(texts, &e->u.wait.reason);
        break;
    case CADRE_EVENT_MESSAGE_END:
        break;
    }
}

cdr_event_node *cdr_event_new(const cadre_event *event, cdr_message *message)
{
    cadre_event copy = *event;
    text_list texts = {.count = 0};
    size_t size = sizeof(cdr_event_node);
    add_text(&texts, &copy.frame_id);
    add_text(&texts, &copy.thread_id);
    add_text(&texts, &copy.agent);
    add_own_texts(&texts, &copy);
    for (size_t i = 0; i < texts.count; i++)
        size += *texts.items[i] == NULL ? 0 : strlen(*texts.items[i]) + 1;
    cdr_event_node *node = malloc(size);
    if (node == NULL)
        return NULL;
    char *to = (char *)(node + 1);
    for (size_t i = 0; i < texts.count; i++) {
        if (*texts.items[i] == NULL)
            continue;
        size_t len = strlen(*texts.items[i]) + 1;
        memcpy(to, *texts.items[i], len);
        *texts.items[i] = to;
        to += len;
    }
    *node = (cdr_event_node){.event = copy, .bytes = size};
    if (message != NULL) {
        node->message = cdr_message_ref(message);
        node->event.u.message_end.message = &message->m;
        node->bytes += strlen(message->m.text);
    }
    return node;
}

void cdr_event_free_list(cdr_event_node *list)
{
    while (list != NULL) {
        cdr_event_node *next = list->next;
        cdr_message_unref(list->message);
        free(list->delta);
        free(list);
        list = next;
    }
}

static bool is_bounded_locked(const cdr_queue *queue) CDR_REQUIRES(queue->mu)
{
    return !queue->is_wide && !queue->is_deaf && !queue->is_closed;
}

static void append_locked(cdr_queue *queue, cdr_event_node *node)
    CDR_REQUIRES(queue->mu)
{
    node->next = NULL;
    if (queue->tail == NULL)
        queue->head = node;
    else
        queue->tail->next = node;
    queue->tail = node;
    queue->bytes += node->bytes;
    if (queue->taker != NULL)
        cdr_strand_wake(queue->taker);
}

static void await_room_locked(cdr_queue *queue) CDR_REQUIRES(queue->mu)
{
    while (queue->bytes >= CDR_QUEUE_LIMIT && is_bounded_locked(queue)) {
        queue->n_blocked++;
        cdr_cond_wait(&queue->changed, &queue->mu);
        queue->n_blocked--;
    }
}

void cdr_queue_await_room(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    await_room_locked(queue);
    cdr_mutex_unlock(&queue->mu);
}

void cdr_queue_push_take(cdr_queue *queue, cdr_event_node *list)
{
    if (list == NULL)
        return;
    cdr_mutex_lock(&queue->mu);
    while (list != NULL && !queue->is_deaf) {
        await_room_locked(queue);
        if (queue->is_deaf)
            break;
        cdr_event_node *next = list->next;
        bool was_empty = queue->head == NULL;
        append_locked(queue, list);
        list = next;
        if (was_empty)
            cdr_cond_broadcast(&queue->changed);
    }
    cdr_mutex_unlock(&queue->mu);
    cdr_event_free_list(list);
}

void cdr_queue_push_now_take(cdr_queue *queue, cdr_event_node *list)
{
    cdr_mutex_lock(&queue->mu);
    while (list != NULL && !queue->is_deaf && !queue->is_closed) {
        cdr_event_node *next = list->next;
        append_locked(queue, list);
        list = next;
    }
    cdr_cond_broadcast(&queue->changed);
    cdr_mutex_unlock(&queue->mu);
    cdr_event_free_list(list);
}

// Lengthens a delta node. False: no memory; the piece is lost to the watcher only, the
// message that follows has the whole text.
static bool lengthen(cdr_event_node *node, const char *text, size_t len)
{
    size_t used = node->event.u.delta.len;
    if (node->delta == NULL || used + len + 1 > node->delta_capacity) {
        size_t capacity = (used + len + 1) * 2;
        char *grown = realloc(node->delta, capacity);
        if (grown == NULL)
            return false;
        node->delta = grown;
        node->delta_capacity = capacity;
    }
    memcpy(node->delta + used, text, len);
    node->delta[used + len] = '\0';
    node->event.u.delta.text = node->delta;
    node->event.u.delta.len = used + len;
    return true;
}

static bool continues(const cdr_event_node *tail, const cadre_event *event,
                      const struct cdr_ear *ear)
{
    return tail != NULL && tail->ear == ear && tail->event.type == event->type &&
           tail->delta != NULL &&
           strcmp(tail->event.u.delta.message_id, event->u.delta.message_id) == 0;
}

void cdr_queue_push_delta(cdr_queue *queue, const cadre_event *event,
                          const struct cdr_ear *ear)
{
    const char *text = event->u.delta.text;
    size_t len = event->u.delta.len;
    cdr_mutex_lock(&queue->mu);
    if (queue->is_deaf || queue->is_closed) {
        cdr_mutex_unlock(&queue->mu);
        return;
    }
    if (continues(queue->tail, event, ear)) {
        if (lengthen(queue->tail, text, len)) {
            queue->tail->bytes += len;
            queue->bytes += len;
        }
    } else {
        cdr_event_node *node = cdr_event_new(event, NULL);
        if (node != NULL) {
            node->ear = ear;
            node->event.u.delta.len = 0;
            node->event.u.delta.text = "";
            if (lengthen(node, text, len))
                node->bytes += len;
            bool was_empty = queue->head == NULL;
            append_locked(queue, node);
            if (was_empty)
                cdr_cond_broadcast(&queue->changed);
        }
    }
    cdr_mutex_unlock(&queue->mu);
}

bool cdr_queue_is_full(cdr_queue *queue, cdr_paused *paused)
{
    if (cdr_queue_is_deaf(queue)) // for ever: many look, piece by piece
        return false;
    cdr_mutex_lock(&queue->mu);
    bool full = queue->bytes >= CDR_QUEUE_LIMIT && is_bounded_locked(queue);
    if (full && !paused->is_listed) {
        paused->next = queue->paused;
        paused->is_listed = true;
        queue->paused = paused;
    }
    cdr_mutex_unlock(&queue->mu);
    return full;
}

void cdr_queue_forget(cdr_queue *queue, cdr_paused *paused)
{
    cdr_mutex_lock(&queue->mu);
    if (paused->is_listed) {
        cdr_paused **at = &queue->paused;
        while (*at != paused)
            at = &(*at)->next;
        *at = paused->next;
        paused->is_listed = false;
    }
    cdr_mutex_unlock(&queue->mu);
}

static void resume_all_locked(cdr_queue *queue) CDR_REQUIRES(queue->mu)
{
    while (queue->paused != NULL) {
        cdr_paused *paused = queue->paused;
        queue->paused = paused->next;
        paused->is_listed = false;
        paused->resume(paused->ctx);
    }
}

bool cdr_queue_is_deaf(cdr_queue *queue)
{
    return atomic_load_explicit(&queue->is_deaf, memory_order_relaxed);
}

void cdr_queue_deafen(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    cdr_event_node *list = queue->head;
    queue->head = queue->tail = NULL;
    queue->bytes = 0;
    queue->is_deaf = true;
    resume_all_locked(queue);
    cdr_cond_broadcast(&queue->changed);
    cdr_mutex_unlock(&queue->mu);
    cdr_event_free_list(list);
}

void cdr_queue_widen(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    queue->is_wide = true;
    resume_all_locked(queue);
    cdr_cond_broadcast(&queue->changed);
    cdr_mutex_unlock(&queue->mu);
}

void cdr_queue_close(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    queue->is_closed = true;
    cdr_cond_broadcast(&queue->changed);
    cdr_mutex_unlock(&queue->mu);
}

static cdr_event_node *take_locked(cdr_queue *queue) CDR_REQUIRES(queue->mu)
{
    cdr_event_node *list = queue->head;
    queue->head = queue->tail = NULL;
    queue->bytes = 0;
    resume_all_locked(queue);
    if (queue->n_blocked > 0)
        cdr_cond_broadcast(&queue->changed);
    return list;
}

cdr_event_node *cdr_queue_take_now(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    cdr_event_node *list = take_locked(queue);
    cdr_mutex_unlock(&queue->mu);
    return list;
}

cdr_event_node *cdr_queue_take(cdr_queue *queue)
{
    cdr_mutex_lock(&queue->mu);
    while (queue->head == NULL && !queue->is_closed)
        cdr_cond_wait(&queue->changed, &queue->mu);
    cdr_event_node *list = take_locked(queue);
    cdr_mutex_unlock(&queue->mu);
    return list;
}
