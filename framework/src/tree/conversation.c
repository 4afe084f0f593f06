// See conversation.h.
#include "tree/conversation.h"

#include <stdlib.h>
#include <string.h>

// Copies texts one after the other into a block that was measured before.
typedef struct packer {
    char *next;
} packer;

static const char *pack(packer *to, const char *text)
{
    size_t size = text == NULL ? 1 : strlen(text) + 1;
    char *copy = to->next;
    memcpy(copy, text == NULL ? "" : text, size);
    to->next += size;
    return copy;
}

static size_t packed_size(const char *text)
{
    return text == NULL ? 1 : strlen(text) + 1;
}

static size_t texts_size(const cadre_message *m)
{
    size_t size = packed_size(m->agent) + packed_size(m->to) + packed_size(m->text) +
                  packed_size(m->reasoning) + packed_size(m->call_id) +
                  packed_size(m->tool_name) + packed_size(m->model) +
                  packed_size(m->mark) + packed_size(m->parts) + packed_size(m->items);
    for (size_t i = 0; i < m->n_tool_calls; i++) {
        const cadre_tool_call *call = &m->tool_calls[i];
        size += packed_size(call->id) + packed_size(call->name) +
                packed_size(call->arguments);
    }
    return size;
}

static void pack_texts(cdr_message *message, const cadre_message *from,
                       cadre_tool_call *calls, packer *to)
{
    cadre_message *m = &message->m;
    m->agent = pack(to, from->agent);
    m->to = pack(to, from->to);
    m->text = pack(to, from->text);
    m->reasoning = pack(to, from->reasoning);
    m->call_id = pack(to, from->call_id);
    m->tool_name = pack(to, from->tool_name);
    m->model = pack(to, from->model);
    m->mark = pack(to, from->mark);
    m->parts = pack(to, from->parts);
    m->items = pack(to, from->items);
    for (size_t i = 0; i < from->n_tool_calls; i++) {
        calls[i].id = pack(to, from->tool_calls[i].id);
        calls[i].name = pack(to, from->tool_calls[i].name);
        calls[i].arguments = pack(to, from->tool_calls[i].arguments);
    }
    m->tool_calls = calls;
}

cdr_message *cdr_message_new(const cadre_message *from, cadre_id id, cadre_id frame)
{
    size_t n = from->n_tool_calls;
    size_t fixed = sizeof(cdr_message) + n * sizeof(cadre_tool_call);
    size_t results = n * sizeof(cdr_message *);
    cdr_message *message = calloc(1, fixed + results + texts_size(from));
    if (message == NULL)
        return NULL;
    packer to = {(char *)message + fixed + results};
    message->m = *from;
    message->results = n == 0 ? NULL : (void *)((char *)message + fixed);
    pack_texts(message, from, (void *)(message + 1), &to);
    if (n == 0)
        message->m.tool_calls = NULL;
    atomic_init(&message->refs, 1);
    atomic_init(&message->fragments.head, NULL);
    message->id = cadre_id_is_none(id) ? cadre_id_new() : id;
    message->frame = frame;
    cadre_id_text(message->id, message->id_text);
    cadre_id_text(frame, message->frame_text);
    message->m.id = message->id_text;
    message->m.frame_id = message->frame_text;
    return message;
}

cdr_message *cdr_message_ref(cdr_message *message)
{
    atomic_fetch_add_explicit(&message->refs, 1, memory_order_relaxed);
    return message;
}

void cdr_message_unref(cdr_message *message)
{
    if (message == NULL ||
        atomic_fetch_sub_explicit(&message->refs, 1, memory_order_acq_rel) != 1)
        return;
    cdr_fragments_fini(&message->fragments);
    free(message);
}

cdr_conversation *cdr_conversation_new(cdr_conversation *base)
{
    cdr_conversation *conversation = calloc(1, sizeof *conversation);
    if (conversation == NULL)
        return NULL;
    conversation->refs = 1;
    conversation->id = cadre_id_new();
    if (base != NULL) {
        conversation->base = cdr_conversation_ref(base);
        conversation->base_count = cdr_conversation_count(base);
    }
    return conversation;
}

cdr_conversation *cdr_conversation_ref(cdr_conversation *conversation)
{
    if (conversation != NULL)
        conversation->refs++;
    return conversation;
}

void cdr_conversation_unref(cdr_conversation *conversation)
{
    while (conversation != NULL && --conversation->refs == 0) {
        cdr_conversation *base = conversation->base;
        for (size_t i = 0; i < conversation->n_messages; i++)
            cdr_message_unref(conversation->messages[i]);
        free(conversation->messages);
        free(conversation);
        conversation = base;
    }
}

// The answered call is the newest open one with that id; results come soon after their
// call, so the walk is short.
static void tie_result(cdr_conversation *conversation, cdr_message *result)
{
    for (size_t i = conversation->n_messages; i-- > 0;) {
        cdr_message *asked = conversation->messages[i];
        for (size_t k = 0; k < asked->m.n_tool_calls; k++) {
            if (asked->results[k] != NULL ||
                strcmp(asked->m.tool_calls[k].id, result->m.call_id) != 0)
                continue;
            if (result->m.to[0] != '\0')
                asked->transferred_to = result->m.to;
            atomic_store_explicit(&asked->results[k], result, memory_order_release);
            return;
        }
        if (asked->m.role == CADRE_ROLE_USER && !asked->m.is_input)
            return;
    }
}

static void tie_correction(const cdr_conversation *conversation, cdr_message *message)
{
    size_t n = conversation->n_messages;
    cdr_message *before = n == 0 ? NULL : conversation->messages[n - 1];
    if (before == NULL || !message->m.is_input ||
        strcmp(message->m.agent, message->m.to) != 0 ||
        before->m.role != CADRE_ROLE_ASSISTANT || before->m.n_tool_calls > 0 ||
        !cadre_id_equal(before->frame, message->frame))
        return;
    message->is_correction = true;
    atomic_store_explicit(&before->is_draft, true, memory_order_release);
}

bool cdr_conversation_append_take(cdr_conversation *conversation, cdr_message *message)
{
    if (conversation->n_messages == conversation->capacity) {
        size_t capacity = conversation->capacity == 0 ? 8 : conversation->capacity * 2;
        void *grown = realloc(conversation->messages, capacity * sizeof(cdr_message *));
        if (grown == NULL) {
            cdr_message_unref(message);
            return false;
        }
        conversation->messages = grown;
        conversation->capacity = capacity;
    }
    message->m.position = (int64_t)conversation->n_messages;
    if (message->m.role == CADRE_ROLE_TOOL)
        tie_result(conversation, message);
    else if (message->m.role == CADRE_ROLE_USER)
        tie_correction(conversation, message);
    conversation->messages[conversation->n_messages++] = message;
    return true;
}

size_t cdr_conversation_count(const cdr_conversation *conversation)
{
    size_t base = conversation->base == NULL ? 0 : conversation->base_count;
    return base + conversation->n_messages;
}

// Writes the messages [from, to) of a conversation. A base is a fork itself only as
// deep as calls nest, so the recursion is bounded by max_depth.
static void list_range(const cdr_conversation *conversation, size_t from, size_t to,
                       cdr_message **out)
{
    size_t n_base = conversation->base == NULL ? 0 : conversation->base_count;
    if (from < n_base && from < to) {
        size_t stop = n_base < to ? n_base : to;
        list_range(conversation->base, from, stop, out);
        out += stop - from;
        from = stop;
    }
    if (from < to)
        memcpy(out, conversation->messages + (from - n_base),
               (to - from) * sizeof(cdr_message *));
}

void cdr_conversation_list(const cdr_conversation *conversation, size_t from,
                           cdr_message **out)
{
    list_range(conversation, from, cdr_conversation_count(conversation), out);
}

cdr_message *cdr_conversation_find(const cdr_conversation *conversation, const char *id,
                                   size_t *from)
{
    size_t n = conversation->n_messages;
    for (size_t i = 0; i < n; i++) {
        size_t at = (*from + i) % n;
        if (strcmp(conversation->messages[at]->id_text, id) != 0)
            continue;
        *from = at + 1;
        return conversation->messages[at];
    }
    return NULL;
}
