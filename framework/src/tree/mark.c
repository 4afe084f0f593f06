// Stopping: marks go down the live part of the tree, time comes up to the topmost frame
// whose time is up. See tree.h.
#include "base/units.h"
#include "tree/outbox.h"
#include "tree/pot.h"

#include <string.h>
#include <unistd.h>

// The next live frame below `top`, parents before children; NULL after the last.
static cadre_frame *next_below(cadre_frame *frame, const cadre_frame *top)
{
    if (frame->live_children != NULL)
        return frame->live_children;
    while (frame != top) {
        if (frame->next != NULL)
            return frame->next;
        frame = frame->parent;
    }
    return NULL;
}

static void notify(cadre_frame *frame)
{
    if (frame->work == NULL)
        return;
    if (frame->work->strand != NULL)
        cdr_strand_wake(frame->work->strand);
    if (frame->work->cancel_fd >= 0) {
        uint64_t one = 1;
        // An eventfd whose counter is full is readable already.
        ssize_t written = write(frame->work->cancel_fd, &one, sizeof one);
        (void)written;
    }
}

void cdr_frame_mark_locked(cadre_frame *frame, cdr_mark mark)
{
    cdr_tree *tree = frame->tree;
    if (frame->mark != CDR_MARK_NONE || cdr_frame_is_ended(frame))
        return;
    for (cadre_frame *at = frame; at != NULL; at = next_below(at, frame)) {
        if (at->mark != CDR_MARK_NONE)
            continue;
        atomic_store(&at->mark, (unsigned char)mark);
        notify(at);
        if (at->kind == CDR_FRAME_ASK)
            cdr_park_wake_locked(tree, at);
    }
    if (mark != CDR_MARK_LOST)
        cdr_outbox_mark_locked(frame);
    if (frame->parent != NULL)
        return;
    tree->marked_ns = cdr_clock_now_ns(tree->runtime->clock);
    cdr_queue_widen(&tree->queue);
}

static const char *const mark_names[] = {"",        "request", "owner",
                                         "timeout", "lost",    "budget"};

const char *cdr_mark_name(cdr_mark mark)
{
    return mark_names[mark];
}

cdr_mark cdr_mark_of(const char *name)
{
    for (unsigned i = 1; i < sizeof mark_names / sizeof mark_names[0]; i++)
        if (strcmp(name, mark_names[i]) == 0)
            return (cdr_mark)i;
    return name[0] == '\0' ? CDR_MARK_NONE : CDR_MARK_REQUEST;
}

void cdr_tree_keep_reason(cdr_tree *tree, const char *reason)
{
    const char *why = strchr(reason, ' ');
    if (why != NULL && tree->mark_text == NULL)
        tree->mark_text = cdr_arena_text(&tree->arena, why + 1);
}

void cdr_tree_take_mark(cdr_tree *tree, cadre_id frame, const char *reason)
{
    cdr_mutex_lock(&tree->mu);
    cadre_frame *at = tree->root;
    while (at != NULL && !cadre_id_equal(at->id, frame))
        at = next_below(at, tree->root);
    if (at != NULL && at->mark == CDR_MARK_NONE && !cdr_frame_is_ended(at)) {
        cdr_tree_keep_reason(tree, reason);
        cdr_frame_mark_locked(at, cdr_mark_of(reason));
    }
    cdr_mutex_unlock(&tree->mu);
}

// Few are refused at once, and what lives is little by then.
void cdr_tree_note_refused_locked(cdr_tree *tree, const cadre_fact *facts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!facts[i].refused || facts[i].type != CADRE_FACT_FRAME)
            continue;
        cadre_frame *at = tree->root;
        while (at != NULL && !cadre_id_equal(at->id, facts[i].u.frame.id))
            at = next_below(at, tree->root);
        if (at != NULL)
            at->is_refused = true;
    }
}

bool cdr_frame_expire(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    int64_t now = cdr_tree_now_ms(tree);
    if (frame->deadline_ms > now)
        return false;
    cadre_frame *topmost = frame;
    cdr_mutex_lock(&tree->mu);
    while (topmost->parent != NULL && topmost->parent->deadline_ms <= now)
        topmost = topmost->parent;
    cdr_frame_mark_locked(topmost,
                          topmost->is_budget_time ? CDR_MARK_BUDGET : CDR_MARK_TIMEOUT);
    cdr_mutex_unlock(&tree->mu);
    return true;
}

void cdr_frame_wait(cadre_frame *frame, unsigned seen, int64_t deadline_ms)
{
    int64_t deadline =
        deadline_ms < frame->deadline_ms ? deadline_ms : frame->deadline_ms;
    cdr_strand_wait(frame->work->strand, seen, frame->tree->runtime->clock, deadline);
    cdr_frame_expire(frame);
}

// Whose time is up: the topmost frame that was marked for it.
static const cadre_frame *late_frame(const cadre_frame *frame)
{
    while (frame->parent != NULL && frame->parent->mark == frame->mark)
        frame = frame->parent;
    return frame;
}

static cadre_status fail_late(const cadre_frame *late, cadre_error *err)
{
    char time[CDR_DURATION_TEXT_SIZE];
    int64_t had_ms = late->deadline_ms - late->started_ns / 1000000; // as it was made
    return cadre_fail_class(err, CADRE_ETIMEOUT, CADRE_CLASS_TIMEOUT, false,
                            "%s '%s': its time of %s is up (timeout)",
                            late->kind == CDR_FRAME_TOOL ? "tool" : "agent", late->name,
                            cdr_duration_text(had_ms, time));
}

cadre_status cdr_frame_stopped(const cadre_frame *frame, cadre_error *err)
{
    const cdr_tree *tree = frame->tree;
    switch ((cdr_mark)frame->mark) {
    case CDR_MARK_NONE:
        return CADRE_OK;
    case CDR_MARK_TIMEOUT:
        return fail_late(late_frame(frame), err);
    case CDR_MARK_BUDGET:
        return cdr_pots_fail_time(late_frame(frame), err);
    case CDR_MARK_LOST:
        return cadre_fail_class(err, CADRE_ESTORE, CADRE_CLASS_STORE, false, "%s",
                                tree->lost.text);
    case CDR_MARK_OWNER:
        return cadre_fail_class(err, CADRE_EABORTED, CADRE_CLASS_ABORTED, false,
                                "aborted: its work is not needed any more");
    case CDR_MARK_REQUEST:
        break;
    }
    return cadre_fail_class(err, CADRE_EABORTED, CADRE_CLASS_ABORTED, false,
                            "aborted: %s",
                            tree->mark_text == NULL ? "cancelled" : tree->mark_text);
}
