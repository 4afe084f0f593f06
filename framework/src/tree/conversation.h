// Conversations and messages as a run holds them: append-only, each message made once
// and shared by reference.
//
// Rules:
// 1. A message never changes, except that an assistant's message learns its results and
//    that it is a draft, and a fragment list only ever grows.
// 2. Input that an agent says to itself right behind an answer of the same frame
//    corrects that: the answer is a draft.
// 3. A fork reads its base up to `base_count`; it holds a reference to it.
//
// Thread: conversations are guarded by their tree's mutex; messages may be read by any
// thread that holds a reference to one or to its conversation, their results too.
#ifndef CDR_CONVERSATION_H
#define CDR_CONVERSATION_H

#include "cadre/ext/id.h"
#include "cadre/message.h"

#include "net/http_request.h"

#include <stdatomic.h>

typedef struct cdr_message cdr_message;

struct cdr_message {
    cadre_message m; // its texts point into this allocation
    atomic_int refs;
    cadre_id id, frame;
    cdr_fragments fragments;         // renderings, made on demand
    _Atomic(cdr_message *) *results; // of an assistant: by call, NULL while open
    bool is_to_team;                 // input that was said to an agent with members
    bool is_correction;   // tells an agent what is wrong with the answer before it
    atomic_bool is_draft; // of an assistant: it was corrected, so another one follows
    const char *transferred_to; // of an assistant whose turn handed over; else NULL
    char id_text[CADRE_ID_TEXT_SIZE], frame_text[CADRE_ID_TEXT_SIZE];
};

typedef struct cdr_conversation {
    cadre_id id;
    int refs;
    struct cdr_conversation *base; // NULL: not a fork
    size_t base_count;
    cdr_message **messages;
    size_t n_messages, capacity;
} cdr_conversation;

// Copies the message; its id is new when `id` is none. NULL: no memory.
cdr_message *cdr_message_new(const cadre_message *from, cadre_id id, cadre_id frame);
cdr_message *cdr_message_ref(cdr_message *message);
void cdr_message_unref(cdr_message *message); // NULL ok

// One reference. `base` may be NULL.
cdr_conversation *cdr_conversation_new(cdr_conversation *base);
cdr_conversation *cdr_conversation_ref(cdr_conversation *conversation);
void cdr_conversation_unref(cdr_conversation *conversation); // NULL ok

// Appends and sets the position; takes over the reference, on failure too. A tool
// result is tied to the call it answers. False: no memory.
bool cdr_conversation_append_take(cdr_conversation *conversation, cdr_message *message);

// Messages with those of the base; gives pointers to those from the nth on, in order,
// borrowed, to `out` of as many entries.
size_t cdr_conversation_count(const cdr_conversation *conversation);
void cdr_conversation_list(const cdr_conversation *conversation, size_t from,
                           cdr_message **out);

// A message by its id as text, in the conversation itself; NULL: not there. The search
// starts at `*from`, which is set behind what was found: whoever asks in order is
// answered in time linear in the conversation.
cdr_message *cdr_conversation_find(const cdr_conversation *conversation, const char *id,
                                   size_t *from);

#endif
