// Conversations as the memory store keeps them: their messages by position.
//
// One with a session's name belongs to the store and stays; one without to the trace in
// which it was born.
//
// Rules:
// 1. A message's position is the number of those before it. The place of a refused
//    message stays empty: those behind it have theirs already.
// 2. A message never changes or moves; it is one allocation with its texts.
//
// Thread: one at a time. Messages are read by any thread without a lock until their
// conversation is freed.
#ifndef CDR_MEMORY_CONVERSATION_H
#define CDR_MEMORY_CONVERSATION_H

#include "cadre/ext/store.h"

typedef struct cdr_memory_conversation {
    cadre_id id;
    int64_t next_position;
    cadre_message_row **messages;
    size_t n_messages, capacity;
    char session[]; // "" when it has no name
} cdr_memory_conversation;

// NULL: no memory.
cdr_memory_conversation *cdr_memory_conversation_new(cadre_id id, const char *session);
void cdr_memory_conversation_free(cdr_memory_conversation *conversation);

// Errors: ESTORE (position, memory); nothing was changed then.
cadre_status cdr_memory_conversation_append(cdr_memory_conversation *conversation,
                                            const cadre_message_row *row,
                                            bool is_refused, cadre_error *err);
void cdr_memory_conversation_undo_append(cdr_memory_conversation *conversation,
                                         bool was_refused);

#endif
