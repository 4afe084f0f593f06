// See conversation.h.
#include "conversation.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_MIN 4U

static const char *text_of(const char *text)
{
    return text ? text : "";
}

static size_t text_size(const char *text)
{
    return strlen(text_of(text)) + 1;
}

// Copies a text to `*to` and moves behind it.
static const char *put_text(char **to, const char *text)
{
    size_t size = text_size(text);
    char *copy = memcpy(*to, text_of(text), size);
    *to += size;
    return copy;
}

static size_t message_size(const cadre_message *message)
{
    size_t size = sizeof(cadre_message_row) +
                  message->n_tool_calls * sizeof(cadre_tool_call) +
                  text_size(message->agent) + text_size(message->to) +
                  text_size(message->text) + text_size(message->reasoning) +
                  text_size(message->call_id) + text_size(message->tool_name);
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const cadre_tool_call *call = &message->tool_calls[i];
        size +=
            text_size(call->id) + text_size(call->name) + text_size(call->arguments);
    }
    return size;
}

// Copies a row with all it points to into one allocation. NULL: no memory.
static cadre_message_row *message_dup(const cadre_message_row *row)
{
    const cadre_message *from = &row->message;
    cadre_message_row *copy = malloc(message_size(from));
    if (!copy)
        return NULL;
    *copy = *row;
    cadre_tool_call *calls = (cadre_tool_call *)(copy + 1);
    char *to = (char *)(calls + from->n_tool_calls);
    cadre_message *message = &copy->message;
    message->id = message->frame_id = "";
    message->agent = put_text(&to, from->agent);
    message->to = put_text(&to, from->to);
    message->text = put_text(&to, from->text);
    message->reasoning = put_text(&to, from->reasoning);
    message->call_id = put_text(&to, from->call_id);
    message->tool_name = put_text(&to, from->tool_name);
    message->tool_calls = from->n_tool_calls ? calls : NULL;
    for (size_t i = 0; i < from->n_tool_calls; i++) {
        calls[i].id = put_text(&to, from->tool_calls[i].id);
        calls[i].name = put_text(&to, from->tool_calls[i].name);
        calls[i].arguments = put_text(&to, from->tool_calls[i].arguments);
    }
    return copy;
}

cdr_memory_conversation *cdr_memory_conversation_new(cadre_id id, const char *session)
{
    size_t size = text_size(session);
    cdr_memory_conversation *conversation = malloc(sizeof(*conversation) + size);
    if (!conversation)
        return NULL;
    *conversation = (cdr_memory_conversation){.id = id};
    memcpy(conversation->session, text_of(session), size);
    return conversation;
}

void cdr_memory_conversation_free(cdr_memory_conversation *conversation)
{
    if (!conversation)
        return;
    for (size_t i = 0; i < conversation->n_messages; i++)
        free(conversation->messages[i]);
    free(conversation->messages);
    free(conversation);
}

static bool reserve(cdr_memory_conversation *conversation)
{
    if (conversation->n_messages < conversation->capacity)
        return true;
    size_t capacity =
        conversation->capacity ? conversation->capacity * 2 : MESSAGES_MIN;
    cadre_message_row **messages =
        realloc(conversation->messages, capacity * sizeof(cadre_message_row *));
    if (!messages)
        return false;
    conversation->messages = messages;
    conversation->capacity = capacity;
    return true;
}

cadre_status cdr_memory_conversation_append(cdr_memory_conversation *conversation,
                                            const cadre_message_row *row,
                                            bool is_refused, cadre_error *err)
{
    if (row->message.position != conversation->next_position) {
        char id[CADRE_ID_TEXT_SIZE];
        cadre_id_text(conversation->id, id);
        return cadre_fail(err, CADRE_ESTORE,
                          "conversation '%s': a message at position %" PRId64
                          "; the next one is %" PRId64,
                          id, row->message.position, conversation->next_position);
    }
    if (!is_refused) {
        cadre_message_row *copy = reserve(conversation) ? message_dup(row) : NULL;
        if (!copy)
            return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
        conversation->messages[conversation->n_messages++] = copy;
    }
    conversation->next_position++;
    return CADRE_OK;
}

void cdr_memory_conversation_undo_append(cdr_memory_conversation *conversation,
                                         bool was_refused)
{
    conversation->next_position--;
    if (was_refused)
        return;
    assert(conversation->n_messages > 0);
    free(conversation->messages[--conversation->n_messages]);
}
