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

// Without memory the failure stays untold.
static cdr_ending ending_of(const cadre_frame *frame)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_error why = CADRE_ERROR_INIT;
    bool is_late = frame->mark == CDR_MARK_TIMEOUT;
    const cadre_frame *agent = cdr_frame_nearest_agent(frame);
    cadre_id_text(agent->id, id);
    cdr_frame_stopped(frame, &why);
    return (cdr_ending){.status = is_late ? CADRE_FRAME_TIMEOUT : CADRE_FRAME_ABORTED,
                        .stop_reason =
                            is_late ? CADRE_STOP_TIMEOUT : CADRE_STOP_ABORTED,
                        .failure = cdr_failure_new(&why, agent->name, id)};
}

static void end_locked(cadre_frame *frame, cdr_end_straggler end)
{
    while (!cdr_frame_is_ended(frame)) {
        cadre_frame *leaf = frame;
        while (leaf->live_children != NULL)
            leaf = leaf->live_children;
        cdr_frame_mark_locked(leaf, CDR_MARK_OWNER);
        leaf->is_given_up = true;
        cdr_ending ending = ending_of(leaf);
        end(leaf, &ending);
        leaf->is_silent = true;
    }
}

void cdr_frame_abandon_locked(cadre_frame *frame, cdr_end_straggler end)
{
    pin_locked(frame);
    end_locked(frame, end);
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
