// See inbox.h.
#include "tree/tree.h"

#include <stdlib.h>

struct cdr_letter {
    cdr_letter *next;
    cadre_id conversation;
    cadre_id question; // none: to whoever speaks next
    cdr_message *message;
};

void cdr_inbox_fini(cdr_inbox *inbox)
{
    while (inbox->first != NULL) {
        cdr_letter *letter = inbox->first;
        inbox->first = letter->next;
        cdr_message_unref(letter->message);
        free(letter);
    }
    cdr_id_table_fini(&inbox->seen);
}

static void put_locked(cdr_tree *tree, const cadre_message_row *row)
{
    cdr_inbox *inbox = &tree->inbox;
    if (cdr_id_table_get(&inbox->seen, row->id) != NULL)
        return;
    cdr_letter *letter = malloc(sizeof *letter);
    cdr_message *message = cdr_message_new(&row->message, row->id, row->frame);
    if (letter == NULL || message == NULL ||
        !cdr_id_table_put(&inbox->seen, row->id, tree)) {
        cdr_message_unref(message);
        free(letter);
        return;
    }
    *letter = (cdr_letter){NULL, row->conversation, row->frame, message};
    if (inbox->first == NULL)
        inbox->end = &inbox->first;
    *inbox->end = letter;
    inbox->end = &letter->next;
    cdr_park_answered_locked(tree, row->frame);
}

void cdr_inbox_put(cdr_tree *tree, const cadre_message_row *row)
{
    cdr_mutex_lock(&tree->mu);
    put_locked(tree, row);
    cdr_mutex_unlock(&tree->mu);
}

static cdr_message *unlink_letter(cdr_inbox *inbox, cdr_letter **at)
{
    cdr_letter *letter = *at;
    cdr_message *message = letter->message;
    *at = letter->next;
    if (letter->next == NULL)
        inbox->end = at;
    free(letter);
    return message;
}

cdr_message *cdr_inbox_take_answer_locked(cdr_tree *tree, cadre_id question)
{
    for (cdr_letter **at = &tree->inbox.first; *at != NULL; at = &(*at)->next)
        if (cadre_id_equal((*at)->question, question))
            return unlink_letter(&tree->inbox, at);
    return NULL;
}

static bool is_to(const cdr_letter *letter, cadre_id conversation)
{
    return cadre_id_is_none(letter->question) &&
           cadre_id_equal(letter->conversation, conversation);
}

cdr_message *cdr_inbox_take_next_locked(cdr_tree *tree, cadre_id conversation)
{
    for (cdr_letter **at = &tree->inbox.first; *at != NULL; at = &(*at)->next)
        if (is_to(*at, conversation))
            return unlink_letter(&tree->inbox, at);
    return NULL;
}

bool cdr_inbox_has_next_locked(const cdr_tree *tree, cadre_id conversation)
{
    for (const cdr_letter *at = tree->inbox.first; at != NULL; at = at->next)
        if (is_to(at, conversation))
            return true;
    return false;
}
