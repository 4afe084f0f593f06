// Conversations as the memory store keeps them: their messages by position, and their
// inbox.
//
// One with a session's name belongs to the store and stays; one without to the trace in
// which it was born.
//
// Rules:
// 1. A message's position is the number of those before it. The place of a refused
//    message stays empty: those behind it have theirs already.
// 2. A message never changes or moves; it is one allocation with its texts. One that is
//    placed from the inbox is copied; what stood in the inbox stays, unseen.
// 3. A request id is used once: `notes` has all messages that have one.
//
// Thread: one at a time. Rows are read by any thread without a lock until their
// conversation is freed.
#ifndef CDR_MEMORY_CONVERSATION_H
#define CDR_MEMORY_CONVERSATION_H

#include "cadre/ext/store.h"

#include "frame.h"

// A message that has a request id, or is or was in the inbox.
typedef struct cdr_memory_note {
    cadre_message_row *row;
    bool in_inbox;
    bool is_owned; // else it is one of `messages`
} cdr_memory_note;

struct cdr_memory_conversation {
    cadre_conversation_row row; // its name stands behind the struct
    bool is_refused;            // only its id counts then
    cadre_id live_root;         // who works in it; none: nobody
    cadre_id live_trace;        // of that, once somebody has
    int64_t next_position;
    cadre_message_row **messages;
    size_t n_messages, capacity;
    cdr_memory_note *notes;
    uint32_t n_notes, notes_capacity;
    cdr_memory_index by_id, by_request; // numbers of `notes`
    char session[];                     // "" when it has no name
};

// What an operation has changed, to be undone in reverse order.
typedef enum cdr_memory_change {
    CDR_MEMORY_NOTHING,
    CDR_MEMORY_REFUSED, // nothing either
    CDR_MEMORY_SKIPPED, // a position
    CDR_MEMORY_SAID,
    CDR_MEMORY_NOTED, // said, with a request id
    CDR_MEMORY_PLACED,
    CDR_MEMORY_POSTED
} cdr_memory_change;

// NULL: no memory.
cdr_memory_conversation *cdr_memory_conversation_new(const cadre_conversation_row *row);
void cdr_memory_conversation_free(cdr_memory_conversation *conversation);

// Copies a row with all it points to into one allocation. NULL: no memory.
cadre_message_row *cdr_memory_message_dup(const cadre_message_row *row);

// Says a message at the next position, or places the one of its id from the inbox;
// `note` is its number then. Errors: ESTORE (position, request, memory); nothing was
// changed then.
cadre_status cdr_memory_conversation_say(cdr_memory_conversation *conversation,
                                         const cadre_message_row *row,
                                         cdr_memory_change *change, uint32_t *note,
                                         cadre_error *err);

// Leaves the place of a refused message empty. Errors: ESTORE.
cadre_status cdr_memory_conversation_skip(cdr_memory_conversation *conversation,
                                          int64_t position, cadre_error *err);

// Adds to the inbox, unless its owner is closed. The same request again changes
// nothing, one with other content is refused. Errors: ESTORE.
cadre_status cdr_memory_conversation_post(cdr_memory_conversation *conversation,
                                          const cadre_message_row *row, bool is_closed,
                                          cdr_memory_change *change, cadre_error *err);

void cdr_memory_conversation_undo(cdr_memory_conversation *conversation,
                                  cdr_memory_change change, uint32_t note);

#endif
