// A branch of a batch: a call, and the thread that makes it.
#include "run/batch.h"

#include "run/scope.h"
#include "run/tool_round.h"
#include "tree/abandon.h"
#include "tree/outbox.h"

#include <stdlib.h>

// --- Its thread ---

static void run_branch(void *arg)
{
    cdr_branch *b = arg;
    cdr_strand strand;
    cdr_tree *tree = b->caller->tree;
    cdr_strand_init(&strand);
    cdr_attempts_run(b->caller, &b->attempts, &strand);
    cdr_mutex_lock(&tree->mu);
    if (b->attempts.ran.status != CADRE_FRAME_WAITING)
        cdr_race_settle_locked(b->attempts.child);
    cdr_mutex_unlock(&tree->mu);
    cdr_tree_flush(tree, NULL); // a lost store marks the frames; they tell
    cdr_strand_fini(&strand);
    cdr_mutex_lock(&tree->mu);
    b->is_done = true;
    bool is_abandoned = b->is_abandoned;
    cdr_mutex_unlock(&tree->mu);
    if (!is_abandoned) {
        cdr_park_settle(tree, b->parent, b->pending);
        return;
    }
    if (b->attempts.child->scope != b->caller->scope)
        cdr_scope_free(b->attempts.child->scope); // nobody else will
    cdr_ran_fini(&b->attempts.ran);
    free(b);
    cdr_straggler_leave(tree);
}

// --- Entering ---

void cdr_branch_enter(cdr_batch *batch, cdr_batch_entry *e, const cdr_callee *callee)
{
    cadre_frame *frame = batch->frame;
    if (cdr_check_call(frame, callee->call, &e->err) != CADRE_OK ||
        callee->call == NULL) // which the check has told; the analyzer does not see it
        return;
    e->branch = calloc(1, sizeof *e->branch);
    if (e->branch == NULL) {
        cadre_fail(&e->err, CADRE_ENOMEM, "no memory for a branch");
        return;
    }
    *e->branch = (cdr_branch){.caller = frame,
                              .call = *callee->call,
                              .attempts = {.callee = *callee},
                              .parent = frame->work->strand,
                              .pending = &batch->pending};
    e->branch->attempts.callee.call = &e->branch->call;
    if (cdr_attempts_enter(frame, &e->branch->attempts, &e->err) == CADRE_OK) {
        e->branch->attempts.callee.key = NULL; // the frame has it
        return;
    }
    free(e->branch);
    e->branch = NULL;
}

cadre_frame *cdr_branch_frame(const cdr_batch_entry *e)
{
    return e->branch == NULL ? NULL : e->branch->attempts.child;
}

// --- Starting, or not ---

bool cdr_branch_must_run(const cdr_batch_entry *e)
{
    return e->branch != NULL && e->branch->attempts.how != CDR_ENTERED_RECORD;
}

static void end_entry(cdr_batch_entry *e, const cdr_ending *ending)
{
    cdr_attempts *attempts = &e->branch->attempts;
    cadre_frame *frame = attempts->child;
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    cdr_frame_end_locked(frame, ending);
    cdr_race_settle_locked(frame); // it never began, so nothing follows
    attempts->ran = (cdr_ran){.status = ending->status,
                              .stop_reason = ending->stop_reason,
                              .agent = frame->name,
                              .failure = cdr_failure_ref(frame->failure),
                              .usage = frame->usage};
    cdr_mutex_unlock(&tree->mu);
}

void cdr_branch_lose(cdr_batch_entry *e)
{
    cdr_ending ending;
    cdr_ending_of(cdr_branch_frame(e), CADRE_EABORTED, NULL, &ending);
    end_entry(e, &ending);
}

static void fail_entry(cdr_batch_entry *e)
{
    char id[CADRE_ID_TEXT_SIZE];
    const cadre_frame *frame = cdr_branch_frame(e);
    cadre_id_text(frame->id, id);
    cdr_ending ending = {.status = CADRE_FRAME_FAILED,
                         .stop_reason = CADRE_STOP_ERROR,
                         .failure = cdr_failure_new(&e->err, frame->name, id)};
    end_entry(e, &ending);
}

void cdr_branch_start(cdr_batch *batch, cdr_batch_entry *e)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_branch *b = e->branch;
    cdr_park_enter(tree, b->parent, &batch->pending);
    e->is_started = true;
    if (cdr_pool_run(tree->runtime->pool, run_branch, b, &e->err) == CADRE_OK)
        return;
    e->is_started = false;
    fail_entry(e);
    cdr_park_settle(tree, b->parent, &batch->pending);
}

// --- Being left ---

static void end_straggler(cadre_frame *frame, const cdr_ending *ending)
    CDR_REQUIRES(frame->parent->tree->mu)
{
    if (frame->kind == CDR_FRAME_TOOL)
        cdr_round_abandon_locked(frame->parent, frame, ending);
    else
        cdr_frame_end_locked(frame, ending);
}

static bool is_late(const cdr_batch_entry *e)
{
    return e->is_started && e->branch != NULL && !e->branch->is_done &&
           cdr_branch_frame(e)->status < CADRE_FRAME_COMPLETED;
}

bool cdr_branch_abandon_locked(cadre_frame *caller, cdr_batch_entry *e)
{
    if (!is_late(e))
        return false;
    e->abandoned = cdr_branch_frame(e);
    cdr_frame_abandon_locked(e->abandoned, end_straggler);
    e->branch->is_abandoned = true;
    cdr_strand_settle(caller->work->strand, e->branch->pending);
    e->branch = NULL; // it frees itself
    return true;
}
