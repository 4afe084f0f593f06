// See park.h.
#include "tree/tree.h"

static void wake(cdr_tree *tree, cdr_asking *asking)
{
    if (asking->is_woken)
        return;
    asking->is_woken = true;
    tree->park.n_active++;
    cdr_strand_wake(asking->strand);
}

static bool is_one_waking(const cdr_park *park)
{
    for (const cdr_waiting *w = park->waiting; w != NULL; w = w->next)
        if (cdr_strand_seen(w->strand) != w->seen)
            return true;
    return false;
}

static void look_locked(cdr_tree *tree)
{
    cdr_park *park = &tree->park;
    if (park->n_active > 0 || is_one_waking(park))
        return;
    if (park->n_idle > 0) {
        cdr_replay_go_on_locked(tree);
        return;
    }
    park->is_parked = park->asking != NULL;
    for (cdr_asking *asking = park->asking; asking != NULL; asking = asking->next)
        wake(tree, asking);
}

// --- Branches ---

void cdr_park_enter(cdr_tree *tree, cdr_strand *parent, int *pending)
{
    cdr_mutex_lock(&tree->mu);
    tree->park.n_active++;
    cdr_mutex_lock(&parent->mu);
    (*pending)++;
    cdr_mutex_unlock(&parent->mu);
    cdr_mutex_unlock(&tree->mu);
}

// The last branch of one who waits for it hands its place over. Under the lock to its
// end: of two branches that end at once one is the last. Who is woken needs the lock
// for all it may do to the tree, so this stays until the unlock.
void cdr_park_settle(cdr_tree *tree, cdr_strand *parent, int *pending)
{
    cdr_mutex_lock(&tree->mu);
    cdr_mutex_lock(&parent->mu);
    bool is_last = *pending == 1;
    cdr_mutex_unlock(&parent->mu);
    // It may wait for others of its branches: those of a batch within this one.
    bool is_handed_over = is_last && parent->joining == pending;
    if (is_handed_over)
        parent->joining = NULL;
    else
        tree->park.n_active--;
    cdr_strand_settle(parent, pending);
    if (!is_handed_over)
        look_locked(tree);
    cdr_mutex_unlock(&tree->mu);
}

void cdr_park_join(cdr_tree *tree, cdr_strand *strand, int *pending)
{
    cdr_mutex_lock(&tree->mu);
    if (!cdr_strand_is_settled(strand, pending)) {
        strand->joining = pending;
        tree->park.n_active--;
        look_locked(tree);
    }
    cdr_mutex_unlock(&tree->mu);
    cdr_strand_join(strand, pending);
}

static void forget_waiting(cdr_park *park, const cdr_waiting *waiting)
{
    cdr_waiting **at = &park->waiting;
    while (*at != waiting)
        at = &(*at)->next;
    *at = waiting->next;
}

void cdr_park_wait(cdr_tree *tree, cdr_strand *strand, int *pending, unsigned seen,
                   int64_t deadline_ms)
{
    cdr_mutex_lock(&tree->mu);
    bool is_settled = cdr_strand_is_settled(strand, pending);
    cdr_waiting waiting = {strand, seen, tree->park.waiting};
    if (!is_settled) {
        tree->park.waiting = &waiting;
        strand->joining = pending;
        tree->park.n_active--;
        look_locked(tree);
    }
    cdr_mutex_unlock(&tree->mu);
    if (is_settled)
        return;
    cdr_strand_wait(strand, seen, tree->runtime->clock, deadline_ms);
    cdr_mutex_lock(&tree->mu);
    forget_waiting(&tree->park, &waiting);
    if (strand->joining == pending) { // else the last branch has handed its place over
        strand->joining = NULL;
        tree->park.n_active++;
    }
    cdr_mutex_unlock(&tree->mu);
}

void cdr_park_idle(cadre_frame *frame, unsigned seen)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    cdr_waiting waiting = {frame->work->strand, seen, tree->park.waiting};
    tree->park.waiting = &waiting;
    tree->park.n_idle++;
    tree->park.n_active--;
    look_locked(tree);
    cdr_mutex_unlock(&tree->mu);
    cdr_frame_wait(frame, seen, CDR_NEVER);
    cdr_mutex_lock(&tree->mu);
    forget_waiting(&tree->park, &waiting);
    tree->park.n_idle--;
    tree->park.n_active++;
    cdr_mutex_unlock(&tree->mu);
}

void cdr_park_drop_locked(cdr_tree *tree)
{
    tree->park.n_active--;
    look_locked(tree);
}

// --- Questions ---

void cdr_park_ask_locked(cdr_tree *tree, cdr_asking *asking)
{
    asking->is_woken = false;
    asking->next = tree->park.asking;
    tree->park.asking = asking;
    tree->park.n_active--;
    look_locked(tree);
}

void cdr_park_forget_locked(cdr_tree *tree, cdr_asking *asking)
{
    cdr_asking **at = &tree->park.asking;
    while (*at != asking)
        at = &(*at)->next;
    *at = asking->next;
}

void cdr_park_wake_locked(cdr_tree *tree, const cadre_frame *question)
{
    for (cdr_asking *asking = tree->park.asking; asking != NULL; asking = asking->next)
        if (asking->frame == question)
            wake(tree, asking);
}

void cdr_park_answered_locked(cdr_tree *tree, cadre_id question)
{
    for (cdr_asking *asking = tree->park.asking; asking != NULL; asking = asking->next)
        if (cadre_id_equal(asking->frame->id, question))
            wake(tree, asking);
}
