// See abandon.h.
#include "tree/abandon.h"

#include "tree/ending.h"

static cadre_frame *first_child(const cadre_frame *frame)
{
    return frame->live_children != NULL ? frame->live_children : frame->kept_children;
}

// The next one below `top`, parents before children, the ended ones too.
static cadre_frame *next_below(cadre_frame *frame, const cadre_frame *top)
{
    cadre_frame *child = first_child(frame);
    if (child != NULL)
        return child;
    while (frame != top) {
        cadre_frame *parent = frame->parent;
        if (frame->next != NULL)
            return frame->next;
        if (!cdr_frame_is_ended(frame) && parent->kept_children != NULL)
            return parent->kept_children;
        frame = parent;
    }
    return NULL;
}

static void pin_locked(cadre_frame *frame)
{
    for (cadre_frame *at = frame->parent; at != NULL; at = at->parent)
        at->is_pinned = true;
    for (cadre_frame *at = frame; at != NULL; at = next_below(at, frame))
        at->is_pinned = true;
}

static void end_locked(cadre_frame *frame)
{
    cdr_ending ending = {.status = CADRE_FRAME_ABORTED,
                         .stop_reason = CADRE_STOP_ABORTED};
    while (!cdr_frame_is_ended(frame)) {
        cadre_frame *leaf = frame;
        while (leaf->live_children != NULL)
            leaf = leaf->live_children;
        cdr_frame_mark_locked(leaf, CDR_MARK_OWNER);
        cdr_frame_end_locked(leaf, &ending);
        leaf->is_silent = true;
    }
}

void cdr_frame_abandon_locked(cadre_frame *frame)
{
    pin_locked(frame);
    end_locked(frame);
    frame->race = NULL; // decided, and about to go
    frame->tree->n_stragglers++;
}

void cdr_straggler_leave(cdr_tree *tree)
{
    cdr_mutex_lock(&tree->mu);
    cdr_park_drop_locked(tree);
    tree->n_stragglers--;
    cdr_cond_broadcast(&tree->flushed);
    cdr_mutex_unlock(&tree->mu);
}

void cdr_straggler_await(cdr_tree *tree)
{
    cdr_mutex_lock(&tree->mu);
    while (tree->n_stragglers > 0)
        cdr_cond_wait(&tree->flushed, &tree->mu);
    cdr_mutex_unlock(&tree->mu);
}
