// Several calls at once: a fork and a thread for each, outcomes in call order.
//
// 1. All branches are entered before any starts, and what the record says of them is
//    looked at: one that ended answers, and where one has won, nobody else runs.
// 2. Of a batch that waits for all and is not listened to, the caller runs the first
//    branch itself. Else it waits, listens, and is free to stop the others.
// 3. A branch that gets no thread fails with `busy`; nothing else stops.
// 4. What a branch's thread needs is its own: one that does not heed its mark outlives
//    the batch (tree/abandon.h).
#include "run/call.h"

#include "run/arguments.h"
#include "run/retry.h"
#include "run/scope.h"
#include "run/state.h"
#include "run/tool_round.h"
#include "tree/abandon.h"
#include "tree/outbox.h"
#include "tree/race.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KEY_SIZE = 64
};

// What a thread has of its branch. Its caller frees it, or it does when abandoned.
typedef struct branch {
    cadre_frame *caller;
    cadre_call call; // a copy
    cdr_attempts attempts;
    cdr_strand *parent; // the caller's
    int *pending;
    bool is_done;      // guarded by tree->mu, as is:
    bool is_abandoned; // nobody waits for it any more
} branch;

// What the caller has of one.
typedef struct entry {
    branch *branch;         // NULL: was refused, or abandoned
    cadre_error err;        // of one that was refused, or got no thread
    cadre_frame *abandoned; // NULL: was not
    bool is_started;        // on a thread of its own
} entry;

typedef struct batch_run {
    cadre_frame *frame;
    const cadre_batch *asked;
    entry *entries;
    size_t n;
    int pending;
    cdr_race race;
    cdr_hearing *hearing; // NULL: nobody listens
    bool is_one;          // a single call that is listened to
    bool is_deaf;         // who listens has said stop
    bool is_stopped;      // so some of it did, now or in the record
    bool may_go_on;       // something of it is left, which may still tell
} batch_run;

// --- A branch's thread ---

static void run_branch(void *arg)
{
    branch *b = arg;
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

static const cdr_ear *ear_of(batch_run *batch, size_t i)
{
    const cadre_call *call = batch->asked->calls[i];
    if (batch->hearing == NULL || call == NULL)
        return NULL;
    batch->hearing->ears[i].agent = call->agent;
    return &batch->hearing->ears[i];
}

// Without a branch `e->err` says why.
static void enter(batch_run *batch, entry *e, const cdr_callee *callee)
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
    *e->branch = (branch){.caller = frame,
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

static void enter_all(batch_run *batch, bool is_fork)
{
    const cadre_batch *asked = batch->asked;
    bool has_key = is_fork && !batch->is_one;
    unsigned nth = batch->is_one ? 0 : ++batch->frame->work->n_batches;
    for (size_t i = 0; i < batch->n; i++) {
        entry *e = &batch->entries[i];
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
        enter(batch, e, &callee);
    }
}

static bool is_single_winner(const batch_run *batch)
{
    return batch->asked->wait != CADRE_ALL;
}

static cadre_frame *child_of(const entry *e)
{
    return e->branch == NULL ? NULL : e->branch->attempts.child;
}

// Called by the race, which holds the tree's lock.
static bool is_tried_again(void *ctx, size_t i) CDR_NO_THREAD_SAFETY
{
    const batch_run *batch = ctx;
    const cadre_frame *frame = batch->frame;
    const branch *b = batch->entries[i].branch;
    return !cdr_attempts_is_last_locked(frame, &b->attempts, b->attempts.child);
}

// Says which branches compete; with a winner in the record the others end here.
static bool set_race(batch_run *batch)
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
    race->takes_none = !is_single_winner(batch);
    for (size_t i = 0; i < batch->n; i++)
        race->branches[i] = child_of(&batch->entries[i]);
    if (race->takes_none && batch->hearing == NULL) {
        race->n_branches = 0; // nobody can stop them but a mark on the caller
        return true;
    }
    cdr_mutex_lock(&tree->mu);
    cdr_race_set_locked(race);
    cdr_mutex_unlock(&tree->mu);
    return true;
}

// --- Starting ---

static void end_entry(entry *e, const cdr_ending *ending)
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

// Another one has won, in the record or by now: this one need not begin.
static bool has_lost(batch_run *batch, const entry *e)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_mutex_lock(&tree->mu);
    bool has = batch->race.winner < batch->n && child_of(e)->mark == CDR_MARK_OWNER;
    cdr_mutex_unlock(&tree->mu);
    return has;
}

static void lose_entry(entry *e)
{
    cdr_ending ending;
    cdr_ending_of(child_of(e), CADRE_EABORTED, NULL, &ending);
    end_entry(e, &ending);
}

static void fail_entry(entry *e)
{
    char id[CADRE_ID_TEXT_SIZE];
    const cadre_frame *frame = child_of(e);
    cadre_id_text(frame->id, id);
    cdr_ending ending = {.status = CADRE_FRAME_FAILED,
                         .stop_reason = CADRE_STOP_ERROR,
                         .failure = cdr_failure_new(&e->err, frame->name, id)};
    end_entry(e, &ending);
}

static void start(batch_run *batch, entry *e)
{
    cdr_tree *tree = batch->frame->tree;
    branch *b = e->branch;
    cdr_park_enter(tree, b->parent, &batch->pending);
    e->is_started = true;
    if (cdr_pool_run(tree->runtime->pool, run_branch, b, &e->err) == CADRE_OK)
        return;
    e->is_started = false;
    fail_entry(e);
    cdr_park_settle(tree, b->parent, &batch->pending);
}

static bool must_run(const entry *e)
{
    return e->branch != NULL && e->branch->attempts.how != CDR_ENTERED_RECORD;
}

// Starts all, but for `own`; losers of a recorded winner only end.
static void start_all(batch_run *batch, const entry *own)
{
    for (size_t i = 0; i < batch->n; i++) {
        entry *e = &batch->entries[i];
        if (!must_run(e) || e == own)
            continue;
        if (has_lost(batch, e))
            lose_entry(e);
        else
            start(batch, e);
    }
}

// --- Waiting ---

static void stop_batch(batch_run *batch)
{
    cdr_tree *tree = batch->frame->tree;
    batch->is_deaf = true;
    cdr_mutex_lock(&tree->mu);
    cdr_race_stop_locked(&batch->race);
    cdr_mutex_unlock(&tree->mu);
}

// Tells who listens what has come. One that said stop hears no more.
static void hear(batch_run *batch)
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

static void end_straggler(cadre_frame *frame, const cdr_ending *ending)
    CDR_REQUIRES(frame->parent->tree->mu)
{
    if (frame->kind == CDR_FRAME_TOOL)
        cdr_round_abandon_locked(frame->parent, frame, ending);
    else
        cdr_frame_end_locked(frame, ending);
}

static bool is_late(const entry *e)
{
    return e->is_started && e->branch != NULL && !e->branch->is_done &&
           child_of(e)->status < CADRE_FRAME_COMPLETED;
}

// What has not ended by now does so without its threads. What has is about to leave.
static void abandon_late(batch_run *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_strand *strand = batch->frame->work->strand;
    cdr_mutex_lock(&tree->mu);
    for (size_t i = 0; i < batch->n; i++) {
        entry *e = &batch->entries[i];
        if (!is_late(e))
            continue;
        e->abandoned = child_of(e);
        cdr_frame_abandon_locked(e->abandoned, end_straggler);
        e->branch->is_abandoned = true;
        e->branch = NULL; // it frees itself
        batch->may_go_on = true;
        cdr_strand_settle(strand, &batch->pending);
    }
    cdr_mutex_unlock(&tree->mu);
    cdr_park_join(tree, strand, &batch->pending);
}

static int64_t losers_until(batch_run *batch)
{
    cdr_tree *tree = batch->frame->tree;
    cdr_mutex_lock(&tree->mu);
    int64_t until = batch->race.is_decided ? batch->race.until_ms : CDR_NEVER;
    cdr_mutex_unlock(&tree->mu);
    return until;
}

static void await_all(batch_run *batch)
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

static void run_all(batch_run *batch)
{
    cadre_frame *frame = batch->frame;
    entry *own = NULL;
    for (size_t i = 0; i < batch->n && own == NULL; i++)
        if (must_run(&batch->entries[i]))
            own = &batch->entries[i];
    if (is_single_winner(batch) || batch->hearing != NULL)
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

// --- Outcomes ---

static void refused_outcome(cadre_frame *frame, const entry *e, cadre_outcome *out)
{
    const char *text = cdr_arena_text(&frame->work->arena, e->err.text);
    out->status = CADRE_FRAME_FAILED;
    out->stop_reason = CADRE_STOP_ERROR;
    out->error = text == NULL ? "" : text;
    out->error_class = e->err.error_class;
}

static cadre_status take_entry(cadre_frame *frame, entry *e, cadre_outcome *out,
                               cadre_error *err)
{
    if (e->abandoned != NULL)
        return cdr_leave_call(frame, e->abandoned, NULL, out, err);
    if (e->branch != NULL)
        return cdr_attempts_leave(frame, &e->branch->attempts, out, err);
    refused_outcome(frame, e, out);
    return cadre_fail_class(err, CADRE_EFAILED, e->err.error_class, false, "%s",
                            e->err.text);
}

// Nobody has won, and yet one had to stop: for who listens, be it in the record.
static bool was_stopped(const batch_run *batch)
{
    if (batch->hearing == NULL)
        return false;
    for (size_t i = 0; i < batch->n && batch->race.winner == batch->n; i++) {
        const entry *e = &batch->entries[i];
        const cadre_frame *child = e->abandoned == NULL ? child_of(e) : e->abandoned;
        if (child != NULL && child->mark == CDR_MARK_OWNER)
            return true;
    }
    return false;
}

// None of them succeeded: one error for all.
static cadre_status fail_all(const batch_run *batch, const cadre_outcome *out,
                             cadre_error *err)
{
    cdr_buf text = CDR_BUF_INIT;
    const char *name = batch->frame->name;
    if (batch->is_stopped)
        return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_ABORTED, false,
                                "'%s': its calls were stopped by who listened to them",
                                name);
    for (size_t i = 0; i < batch->n; i++)
        cdr_buf_printf(&text, "%s%s", i == 0 ? "" : "; ", out[i].error);
    cadre_fail_class(err, CADRE_EFAILED, out[0].error_class, false,
                     "'%s': none of %zu calls succeeded: %s", name, batch->n,
                     cdr_buf_text(&text));
    cdr_buf_fini(&text);
    return CADRE_EFAILED;
}

// Takes the outcome of one whose failure is not the batch's: what the caller fails with
// is not told to be that one's.
static cadre_status take_other(cadre_frame *frame, entry *e, cadre_outcome *out)
{
    cadre_error dropped = CADRE_ERROR_INIT;
    cdr_work *work = frame->work;
    cdr_failure *failure = cdr_failure_ref(work->child_failure);
    unsigned char reason = work->child_reason;
    cadre_status status = take_entry(frame, e, out, &dropped);
    cdr_failure_unref(work->child_failure);
    work->child_failure = failure;
    work->child_reason = reason;
    return status;
}

// Did each of several fail?
static bool have_all_failed(const batch_run *batch, const cadre_outcome *out)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < batch->n; i++)
        n_failed += out[i].status == CADRE_FRAME_COMPLETED ? 0 : 1;
    return n_failed == batch->n && (n_failed > 1 || is_single_winner(batch));
}

// The first failure is the batch's error, unless all failed, which is told in one; but
// where one wins it is what the winner came to.
static cadre_status collect(batch_run *batch, cadre_outcome *out, cadre_error *err)
{
    cadre_error first = CADRE_ERROR_INIT;
    cadre_frame *frame = batch->frame;
    size_t winner = batch->race.winner;
    bool is_single = is_single_winner(batch);
    cadre_status result = CADRE_OK;
    cdr_state_join join;
    cdr_state_join_begin(frame, &join);
    batch->is_stopped = was_stopped(batch);
    for (size_t i = 0; i < batch->n; i++) {
        bool is_own = !is_single || i == winner;
        join.takes_none = !is_own;
        if (is_own && result == CADRE_OK && !batch->is_stopped)
            result = take_entry(frame, &batch->entries[i], &out[i], &first);
        else
            take_other(frame, &batch->entries[i], &out[i]);
        batch->may_go_on |= out[i].status == CADRE_FRAME_WAITING;
    }
    cdr_state_join_end(frame);
    cadre_status stopped = cdr_frame_stopped(frame, err);
    if (stopped != CADRE_OK)
        return stopped;
    if (frame->work->sticky != CADRE_OK)
        return cdr_fail_sticky(frame, err);
    bool is_won = is_single && winner < batch->n;
    if (batch->is_stopped || (!is_won && have_all_failed(batch, out)))
        return fail_all(batch, out, err);
    if (result == CADRE_OK || result == CADRE_ESCALATED)
        return result;
    return cadre_fail_class(err, result, first.error_class, first.retryable, "%s",
                            first.text);
}

// Frames that are left, of stragglers, be they of a batch further in, and of what waits
// for a person, keep their ears.
static void leave_hearing(batch_run *batch)
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

static void batch_fini(batch_run *batch)
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
    batch_run batch = {
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
        status = collect(&batch, out, err);
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
