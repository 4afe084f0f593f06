// Several calls at once: a fork and a thread for each, outcomes in call order.
//
// 1. All branches are entered before any starts, and what the record says of them is
//    looked at: one that ended answers, and where one has won, nobody else runs.
// 2. Of a batch that waits for all and is not listened to, the caller runs the first
//    branch itself. Else it waits, listens, and is free to stop the others.
// 3. A branch that gets no thread fails with `busy`; nothing else stops.
// 4. What a branch's thread needs is its own: one that does not heed its mark outlives
//    the batch (tree/abandon.h).
#include "run/batch.h"

#include "run/arguments.h"
#include "tree/outbox.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KEY_SIZE = 64
};

// --- Entering ---

static const cdr_ear *ear_of(cdr_batch *batch, size_t i)
{
    const cadre_call *call = batch->asked->calls[i];
    if (batch->hearing == NULL || call == NULL)
        return NULL;
    batch->hearing->ears[i].agent = call->agent;
    return &batch->hearing->ears[i];
}

static void enter_all(cdr_batch *batch, bool is_fork)
{
    const cadre_batch *asked = batch->asked;
    bool has_key = is_fork && !batch->is_one;
    unsigned nth = batch->is_one ? 0 : ++batch->frame->work->n_batches;
    for (size_t i = 0; i < batch->n; i++) {
        cdr_batch_entry *e = &batch->entries[i];
        char key[KEY_SIZE];
        e->err = (cadre_error)CADRE_ERROR_INIT;
        if (asked->key == NULL)
            snprintf(key, sizeof key, "b%u/%zu", nth, i + 1);
        else
            snprintf(key, sizeof key, "%.32s/%zu", asked->key, i + 1);
        cdr_callee callee = {.call = asked->calls[i],
                             .is_fork = is_fork,
                             .key = has_key ? key : NULL,
                             .ear = ear_of(batch, i)};
        cdr_branch_enter(batch, e, &callee);
    }
}

// --- The race ---

// Called by the race, which holds the tree's lock.
static bool is_tried_again(void *ctx, size_t i) CDR_NO_THREAD_SAFETY
{
    const cdr_batch *batch = ctx;
    const cadre_frame *frame = batch->frame;
    const cdr_branch *b = batch->entries[i].branch;
    return !cdr_attempts_is_last_locked(frame, &b->attempts, b->attempts.child);
}

// Says which branches compete; with a winner in the record the others end here.
static bool set_race(cdr_batch *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_race *race = &batch->race;
    race->is_tried_again = is_tried_again;
    race->ctx = batch;
    race->branches = calloc(batch->n, sizeof(cadre_frame *));
    if (race->branches == NULL)
        return false;
    race->n_branches = race->winner = batch->n;
    race->takes_any = batch->asked->wait == CADRE_ANY;
    race->takes_none = !cdr_batch_has_winner(batch);
    for (size_t i = 0; i < batch->n; i++)
        race->branches[i] = cdr_branch_frame(&batch->entries[i]);
    if (race->takes_none && batch->hearing == NULL) {
        race->n_branches = 0; // nobody can stop them but a mark on the caller
        return true;
    }
    cdr_mutex_lock(&tree->mu);
    cdr_race_set_locked(race);
    cdr_mutex_unlock(&tree->mu);
    return true;
}

// Another one has won, in the record or by now: this one need not begin.
static bool has_lost(cdr_batch *batch, const cdr_batch_entry *e)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_mutex_lock(&tree->mu);
    bool has =
        batch->race.winner < batch->n && cdr_branch_frame(e)->mark == CDR_MARK_OWNER;
    cdr_mutex_unlock(&tree->mu);
    return has;
}

// --- Running ---

// Starts all, but for `own`; losers of a recorded winner only end.
static void start_all(cdr_batch *batch, const cdr_batch_entry *own)
{
    for (size_t i = 0; i < batch->n; i++) {
        cdr_batch_entry *e = &batch->entries[i];
        if (!cdr_branch_must_run(e) || e == own)
            continue;
        if (has_lost(batch, e))
            cdr_branch_lose(e);
        else
            cdr_branch_start(batch, e);
    }
}

static void stop_batch(cdr_batch *batch)
{
    cdr_tree *tree = batch->frame->tree;
    batch->is_deaf = true;
    cdr_mutex_lock(&tree->mu);
    cdr_race_stop_locked(&batch->race);
    cdr_mutex_unlock(&tree->mu);
}

// Tells who listens what has come. One that said stop hears no more.
static void hear(cdr_batch *batch)
{
    const cadre_batch *asked = batch->asked;
    if (batch->hearing == NULL)
        return;
    cdr_event_node *list = cdr_hearing_take(batch->hearing);
    for (const cdr_event_node *node = list; node != NULL && !batch->is_deaf;
         node = node->next)
        if (!asked->listener(asked->listener_ctx, node->ear->agent, node->ear->index,
                             &node->event))
            stop_batch(batch);
    cdr_event_free_list(list);
}

// What has not ended by now does so without its threads. What has is about to leave.
static void abandon_late(cdr_batch *batch)
{
    cadre_frame *frame = batch->frame;
    cdr_mutex_lock(&frame->tree->mu);
    for (size_t i = 0; i < batch->n; i++)
        batch->may_go_on |= cdr_branch_abandon_locked(frame, &batch->entries[i]);
    cdr_mutex_unlock(&frame->tree->mu);
    cdr_park_join(frame->tree, frame->work->strand, &batch->pending);
}

static int64_t losers_until(cdr_batch *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_mutex_lock(&tree->mu);
    int64_t until = batch->race.is_decided ? batch->race.until_ms : CDR_NEVER;
    cdr_mutex_unlock(&tree->mu);
    return until;
}

static void await_all(cdr_batch *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_strand *strand = batch->frame->work->strand;
    for (;;) {
        unsigned seen = cdr_strand_seen(strand);
        bool is_settled = cdr_strand_is_settled(strand, &batch->pending);
        hear(batch);
        if (is_settled)
            return;
        int64_t until = losers_until(batch);
        if (until <= cdr_tree_now_ms(tree)) {
            abandon_late(batch);
            return;
        }
        cdr_park_wait(tree, strand, &batch->pending, seen, until);
    }
}

static void run_all(cdr_batch *batch)
{
    cadre_frame *frame = batch->frame;
    cdr_batch_entry *own = NULL;
    for (size_t i = 0; i < batch->n && own == NULL; i++)
        if (cdr_branch_must_run(&batch->entries[i]))
            own = &batch->entries[i];
    if (cdr_batch_has_winner(batch) || batch->hearing != NULL)
        own = NULL;
    start_all(batch, own);
    if (own != NULL) {
        cdr_attempts_run(frame, &own->branch->attempts, frame->work->strand);
        cdr_tree_flush(frame->tree, NULL); // others run on: this ending is stored now
    }
    if (own != NULL)
        cdr_park_join(frame->tree, frame->work->strand, &batch->pending);
    else
        await_all(batch);
    cdr_mutex_lock(&frame->tree->mu);
    cdr_race_leave_locked(&batch->race);
    cdr_mutex_unlock(&frame->tree->mu);
    if (batch->hearing != NULL) {
        cdr_tree_flush(frame->tree, NULL); // nothing is told to it later
        hear(batch);
    }
}

// --- The whole ---

// Frames that are left, of stragglers, be they of a batch further in, and of what waits
// for a person, keep their ears.
static void leave_hearing(cdr_batch *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_hearing *hearing = batch->hearing;
    if (hearing == NULL)
        return;
    cdr_hearing_close(hearing);
    cdr_mutex_lock(&tree->mu);
    bool is_kept = batch->may_go_on || tree->n_stragglers > 0;
    if (is_kept) {
        hearing->next = tree->hearings_ended;
        tree->hearings_ended = hearing;
    }
    cdr_mutex_unlock(&tree->mu);
    if (!is_kept)
        cdr_hearing_free(hearing);
}

static void batch_fini(cdr_batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        free(batch->entries[i].branch);
    leave_hearing(batch);
    free(batch->entries);
    free(batch->race.branches);
}

// Calls that were checked as far as the batch itself goes; `out` has room for all.
// `one`: it is no batch, but this single call.
static cadre_status run_batch(cadre_frame *frame, const cadre_batch *asked,
                              const cdr_callee *one, cadre_outcome *out,
                              cadre_error *err)
{
    cdr_batch batch = {
        .frame = frame, .asked = asked, .n = asked->n_calls, .is_one = one != NULL};
    bool has_memory = true;
    batch.entries = calloc(batch.n, sizeof *batch.entries);
    if (asked->listener != NULL) {
        batch.hearing = cdr_hearing_new(frame->work->strand, frame->ear, batch.n);
        has_memory = batch.hearing != NULL;
    }
    if (!has_memory || batch.entries == NULL) {
        cdr_hearing_free(batch.hearing);
        free(batch.entries);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a batch");
    }
    enter_all(&batch, one == NULL || one->is_fork);
    cadre_status status = CADRE_OK;
    if (set_race(&batch)) {
        run_all(&batch);
        status = cdr_batch_collect(&batch, out, err);
    } else {
        status = cadre_fail(err, CADRE_ENOMEM, "no memory for a batch");
    }
    if (asked->winner != NULL)
        *asked->winner = batch.race.winner;
    batch_fini(&batch);
    return status;
}

cadre_status cdr_call_heard(cadre_frame *frame, const cdr_callee *callee,
                            cadre_outcome *out, cadre_error *err)
{
    cadre_call call = *callee->call;
    const cadre_call *calls[] = {&call};
    cadre_outcome own;
    cadre_batch asked = {.struct_size = sizeof asked,
                         .wait = CADRE_ALL,
                         .calls = calls,
                         .n_calls = 1,
                         .listener = call.listener,
                         .listener_ctx = call.listener_ctx};
    call.listener = NULL;
    cdr_outcome_clear(&own);
    return run_batch(frame, &asked, callee, out == NULL ? &own : out, err);
}

// Is it one at all? Then its outcomes are cleared.
static cadre_status check_whole(const cadre_frame *frame, const cadre_batch *batch,
                                cadre_error *err)
{
    const char *name = frame->name;
    if (batch == NULL || batch->struct_size < sizeof *batch)
        return cadre_fail(err, CADRE_EINVAL, "'%s': a batch without CADRE_BATCH", name);
    return cdr_check_array((cdr_argument){name, "cadre_batch.calls"}, batch->calls,
                           batch->n_calls, err);
}

static cadre_status check_parts(const cadre_frame *frame, const cadre_batch *batch,
                                cadre_error *err)
{
    const char *name = frame->name;
    cadre_status status =
        cdr_check_text((cdr_argument){name, "cadre_batch.key"}, batch->key, err);
    if (status != CADRE_OK)
        return status;
    if (batch->wait < CADRE_ALL || batch->wait > CADRE_RACE)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': cadre_batch.wait is %d, which is no cadre_wait", name,
                          (int)batch->wait);
    for (size_t i = 0; i < batch->n_calls; i++)
        if (batch->calls[i] != NULL && batch->calls[i]->listener != NULL)
            return cadre_fail(
                err, CADRE_EINVAL,
                "'%s': call %zu of a batch has a listener; give it to the "
                "batch",
                name, i);
    return CADRE_OK;
}

cadre_status cadre_frame_batch(cadre_frame *frame, const cadre_batch *batch,
                               cadre_outcome *out, cadre_error *err)
{
    if (frame == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status = check_whole(frame, batch, err);
    if (status != CADRE_OK)
        return status;
    if (batch->winner != NULL)
        *batch->winner = batch->n_calls;
    cadre_outcome *outcomes = out;
    if (outcomes == NULL)
        outcomes = cadre_frame_alloc(frame, (batch->n_calls + 1) * sizeof *outcomes);
    if (outcomes == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a batch");
    for (size_t i = 0; i < batch->n_calls; i++)
        cdr_outcome_clear(&outcomes[i]);
    status = check_parts(frame, batch, err);
    if (status != CADRE_OK)
        return status;
    if (batch->n_calls == 0)
        return cdr_check_frame(frame, err);
    return run_batch(frame, batch, NULL, outcomes, err);
}
