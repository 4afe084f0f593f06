// See children.h.
#include "tree/children.h"

#include "tree/delta.h"
#include "tree/frame_table.h"
#include "tree/pot.h"

#include <assert.h>
#include <stdlib.h>

void cdr_child_add(cadre_frame **list, cadre_frame *frame)
{
    frame->next = *list;
    frame->link = list;
    if (frame->next != NULL)
        frame->next->link = &frame->next;
    *list = frame;
}

void cdr_child_remove(cadre_frame *frame)
{
    *frame->link = frame->next;
    if (frame->next != NULL)
        frame->next->link = frame->link;
    frame->next = NULL;
    frame->link = NULL;
}

static void frame_free(cadre_frame *frame)
{
    assert(frame->work == NULL);
    cdr_pots_free(frame);
    cdr_conversation_unref(frame->conversation);
    cdr_text_unref(frame->input);
    cdr_text_unref(frame->output);
    cdr_json_unshare(frame->state);
    cdr_json_unshare(frame->delta);
    cdr_failure_unref(frame->failure);
    free(frame);
}

void cdr_frame_drop_locked(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    assert(frame->live_children == NULL && frame->kept_children == NULL);
    if (frame->is_retired)
        return;
    cdr_child_remove(frame);
    cdr_frame_table_remove_locked(tree, frame);
    if (!frame->is_pinned) {
        frame_free(frame);
        return;
    }
    frame->is_retired = true;
    frame->next = tree->retired;
    tree->retired = frame;
}

void cdr_frame_put_loaded_locked(cadre_frame *frame)
{
    cadre_frame *parent = frame->parent;
    if (parent == NULL)
        return;
    cdr_frame_table_add_locked(frame->tree, frame);
    cdr_child_add(cdr_frame_is_ended(frame) ? &parent->kept_children
                                            : &parent->live_children,
                  frame);
}

void cdr_frame_forget_loaded(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    assert(cdr_frame_is_ended(frame) && cdr_frame_is_ended(frame->parent));
    cdr_frame_drop_locked(frame);
    cdr_mutex_unlock(&tree->mu);
}

// A run that was loaded and never ran has frames below its root.
void cdr_tree_free_frames(cdr_tree *tree)
{
    cadre_frame *root = tree->root;
    while (root != NULL &&
           (root->live_children != NULL || root->kept_children != NULL)) {
        cadre_frame *leaf = root;
        // Dropping takes it off its parent's list, which the analyzer does not see.
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
        while (leaf->live_children != NULL || leaf->kept_children != NULL)
            leaf =
                leaf->live_children != NULL ? leaf->live_children : leaf->kept_children;
        cdr_frame_drop_locked(leaf);
    }
    if (root != NULL)
        frame_free(root);
    while (tree->retired != NULL) {
        cadre_frame *frame = tree->retired;
        tree->retired = frame->next;
        frame_free(frame);
    }
}
