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

static size_t message_size(const cadre_message_row *row)
{
    const cadre_message *message = &row->message;
    size_t size = sizeof(cadre_message_row) +
                  message->n_tool_calls * sizeof(cadre_tool_call) +
                  text_size(message->agent) + text_size(message->to) +
                  text_size(message->text) + text_size(message->reasoning) +
                  text_size(message->call_id) + text_size(message->tool_name) +
                  text_size(message->model) + text_size(message->mark) +
                  text_size(message->parts) + text_size(message->items) +
                  text_size(row->request_id) + text_size(row->request_hash);
    for (size_t i = 0; i < message->n_tool_calls; i++) {
        const cadre_tool_call *call = &message->tool_calls[i];
        size +=
            text_size(call->id) + text_size(call->name) + text_size(call->arguments);
    }
    return size;
}

cadre_message_row *cdr_memory_message_dup(const cadre_message_row *row)
{
    const cadre_message *from = &row->message;
    cadre_message_row *copy = malloc(message_size(row));
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
    message->model = put_text(&to, from->model);
    message->mark = put_text(&to, from->mark);
    message->parts = put_text(&to, from->parts);
    message->items = put_text(&to, from->items);
    copy->request_id = put_text(&to, row->request_id);
    copy->request_hash = put_text(&to, row->request_hash);
    message->tool_calls = from->n_tool_calls ? calls : NULL;
    for (size_t i = 0; i < from->n_tool_calls; i++) {
        calls[i].id = put_text(&to, from->tool_calls[i].id);
        calls[i].name = put_text(&to, from->tool_calls[i].name);
        calls[i].arguments = put_text(&to, from->tool_calls[i].arguments);
    }
    return copy;
}

cdr_memory_conversation *cdr_memory_conversation_new(const cadre_conversation_row *row)
{
    size_t size = text_size(row->session);
    cdr_memory_conversation *conversation = malloc(sizeof(*conversation) + size);
    if (!conversation)
        return NULL;
    *conversation = (cdr_memory_conversation){.row = *row};
    memcpy(conversation->session, text_of(row->session), size);
    conversation->row.session = conversation->session;
    return conversation;
}

void cdr_memory_conversation_free(cdr_memory_conversation *conversation)
{
    if (!conversation)
        return;
    for (size_t i = 0; i < conversation->n_messages; i++)
        free(conversation->messages[i]);
    for (uint32_t i = 0; i < conversation->n_notes; i++) {
        if (conversation->notes[i].is_owned)
            free(conversation->notes[i].row);
    }
    free(conversation->messages);
    free(conversation->notes);
    cdr_memory_index_fini(&conversation->by_id);
    cdr_memory_index_fini(&conversation->by_request);
    free(conversation);
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
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

static bool reserve_note(cdr_memory_conversation *conversation)
{
    if (!cdr_memory_index_reserve(&conversation->by_id) ||
        !cdr_memory_index_reserve(&conversation->by_request))
        return false;
    if (conversation->n_notes < conversation->notes_capacity)
        return true;
    uint32_t capacity =
        conversation->notes_capacity ? conversation->notes_capacity * 2 : MESSAGES_MIN;
    cdr_memory_note *notes =
        realloc(conversation->notes, capacity * sizeof(*conversation->notes));
    if (!notes)
        return false;
    conversation->notes = notes;
    conversation->notes_capacity = capacity;
    return true;
}

static uint32_t tag_of_request(const cadre_message_row *row)
{
    return cdr_memory_tag_of_key(row->conversation, row->request_id);
}

static void add_note(cdr_memory_conversation *conversation, cdr_memory_note note)
{
    uint32_t number = conversation->n_notes++;
    conversation->notes[number] = note;
    cdr_memory_index_add(&conversation->by_id, cdr_memory_tag_of_id(note.row->id),
                         number);
    if (note.row->request_id[0])
        cdr_memory_index_add(&conversation->by_request, tag_of_request(note.row),
                             number);
}

static void remove_last_note(cdr_memory_conversation *conversation)
{
    uint32_t number = --conversation->n_notes;
    const cdr_memory_note *note = &conversation->notes[number];
    cdr_memory_index_remove(&conversation->by_id, cdr_memory_tag_of_id(note->row->id),
                            number);
    if (note->row->request_id[0])
        cdr_memory_index_remove(&conversation->by_request, tag_of_request(note->row),
                                number);
    if (note->is_owned)
        free(note->row);
}

// CDR_MEMORY_NONE: not there.
static uint32_t find_note(const cdr_memory_conversation *conversation, cadre_id id)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    uint32_t number;
    do {
        number = cdr_memory_index_next(&conversation->by_id, tag, &at);
    } while (number != CDR_MEMORY_NONE &&
             !cadre_id_equal(conversation->notes[number].row->id, id));
    return number;
}

static const cadre_message_row *
find_request(const cdr_memory_conversation *conversation, const cadre_message_row *row)
{
    if (!text_of(row->request_id)[0])
        return NULL;
    uint32_t tag = tag_of_request(row);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&conversation->by_request, tag, &at)) !=
           CDR_MEMORY_NONE) {
        const cadre_message_row *other = conversation->notes[number].row;
        if (strcmp(other->request_id, row->request_id) == 0)
            return other;
    }
    return NULL;
}

static cadre_status check_position(const cdr_memory_conversation *conversation,
                                   int64_t position, cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    if (position == conversation->next_position)
        return CADRE_OK;
    cadre_id_text(conversation->row.id, id);
    return cadre_fail(err, CADRE_ESTORE,
                      "conversation '%s': a message at position %" PRId64
                      "; the next one is %" PRId64,
                      id, position, conversation->next_position);
}

static cadre_status fail_message(cadre_error *err, const cadre_message_row *row,
                                 const char *what)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    return cadre_fail(err, CADRE_ESTORE, "message '%s': %s", id, what);
}

// One that nobody has seen yet.
static cadre_status say_new(cdr_memory_conversation *conversation,
                            const cadre_message_row *row, cdr_memory_change *change,
                            cadre_error *err)
{
    bool is_noted = text_of(row->request_id)[0] != '\0';
    if (find_request(conversation, row))
        return fail_message(err, row, "its request id is used in this conversation");
    bool has_room = reserve(conversation) && (!is_noted || reserve_note(conversation));
    cadre_message_row *copy = has_room ? cdr_memory_message_dup(row) : NULL;
    if (!copy)
        return no_memory(err);
    conversation->messages[conversation->n_messages++] = copy;
    conversation->next_position++;
    if (is_noted)
        add_note(conversation, (cdr_memory_note){.row = copy});
    *change = is_noted ? CDR_MEMORY_NOTED : CDR_MEMORY_SAID;
    return CADRE_OK;
}

// One from the inbox: it keeps its content and gets its place.
static cadre_status place(cdr_memory_conversation *conversation,
                          const cadre_message_row *row, uint32_t number,
                          cadre_error *err)
{
    cdr_memory_note *note = &conversation->notes[number];
    if (!note->in_inbox)
        return fail_message(err, row, "has its place already");
    cadre_message_row *copy =
        reserve(conversation) ? cdr_memory_message_dup(note->row) : NULL;
    if (!copy)
        return no_memory(err);
    copy->frame = row->frame;
    copy->trace = row->trace;
    copy->message.position = row->message.position;
    copy->message.seq = row->message.seq;
    note->in_inbox = false;
    conversation->messages[conversation->n_messages++] = copy;
    conversation->next_position++;
    return CADRE_OK;
}

cadre_status cdr_memory_conversation_say(cdr_memory_conversation *conversation,
                                         const cadre_message_row *row,
                                         cdr_memory_change *change, uint32_t *note,
                                         cadre_error *err)
{
    cadre_status status = check_position(conversation, row->message.position, err);
    if (status != CADRE_OK)
        return status;
    *note =
        conversation->n_notes > 0 ? find_note(conversation, row->id) : CDR_MEMORY_NONE;
    if (*note == CDR_MEMORY_NONE)
        return say_new(conversation, row, change, err);
    status = place(conversation, row, *note, err);
    if (status == CADRE_OK)
        *change = CDR_MEMORY_PLACED;
    return status;
}

cadre_status cdr_memory_conversation_skip(cdr_memory_conversation *conversation,
                                          int64_t position, cadre_error *err)
{
    cadre_status status = check_position(conversation, position, err);
    if (status == CADRE_OK)
        conversation->next_position++;
    return status;
}

cadre_status cdr_memory_conversation_post(cdr_memory_conversation *conversation,
                                          const cadre_message_row *row, bool is_closed,
                                          cdr_memory_change *change, cadre_error *err)
{
    const cadre_message_row *other = find_request(conversation, row);
    bool is_other =
        other && strcmp(other->request_hash, text_of(row->request_hash)) != 0;
    *change =
        is_other || (is_closed && !other) ? CDR_MEMORY_REFUSED : CDR_MEMORY_NOTHING;
    if (other || is_closed)
        return CADRE_OK;
    if (find_note(conversation, row->id) != CDR_MEMORY_NONE)
        return fail_message(err, row, "is posted twice");
    cadre_message_row *copy =
        reserve_note(conversation) ? cdr_memory_message_dup(row) : NULL;
    if (!copy)
        return no_memory(err);
    copy->message.position = -1;
    add_note(conversation,
             (cdr_memory_note){.row = copy, .in_inbox = true, .is_owned = true});
    *change = CDR_MEMORY_POSTED;
    return CADRE_OK;
}

void cdr_memory_conversation_undo(cdr_memory_conversation *conversation,
                                  cdr_memory_change change, uint32_t note)
{
    if (change == CDR_MEMORY_NOTHING || change == CDR_MEMORY_REFUSED)
        return;
    if (change == CDR_MEMORY_POSTED || change == CDR_MEMORY_NOTED)
        remove_last_note(conversation);
    if (change == CDR_MEMORY_POSTED)
        return;
    conversation->next_position--;
    if (change == CDR_MEMORY_SKIPPED)
        return;
    assert(conversation->n_messages > 0);
    free(conversation->messages[--conversation->n_messages]);
    if (change == CDR_MEMORY_PLACED)
        conversation->notes[note].in_inbox = true;
}
