// The inbox of a tree: what others posted to its conversations and nobody has taken
// yet.
//
// A message is put here once, however often it is seen in the store. The question it
// answers takes it, or the next turn in its conversation, which gives it its place.
//
// Thread: _locked needs tree->mu; the others take it.
#ifndef CDR_INBOX_H
#define CDR_INBOX_H

#include "cadre/ext/store.h"

#include "base/mutex.h"
#include "tree/conversation.h"
#include "tree/id_table.h"

typedef struct cdr_tree cdr_tree;
typedef struct cdr_letter cdr_letter;

typedef struct cdr_inbox {
    cdr_letter *first, **end; // in the order they were posted
    cdr_id_table seen;        // by the ids of messages
} cdr_inbox;

void cdr_inbox_fini(cdr_inbox *inbox);

// Puts a row in, and wakes who asked. A lack of memory leaves it in the store.
void cdr_inbox_put(cdr_tree *tree, const cadre_message_row *row);

// Takes the answer to a question out. A reference for the caller; NULL: there is none.
cdr_message *cdr_inbox_take_answer_locked(cdr_tree *tree, cadre_id question);

// Takes the next message to a conversation that answers no question. The same.
cdr_message *cdr_inbox_take_next_locked(cdr_tree *tree, cadre_id conversation);
bool cdr_inbox_has_next_locked(const cdr_tree *tree, cadre_id conversation);

#endif
