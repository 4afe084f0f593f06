// Several calls at once: a fork and a thread for each, results in call order.
//
// The caller runs the first branch itself and waits for the others, which are woken by
// the same marks. A branch that gets no thread fails with `busy`; nothing else stops.
#include "run/call.h"

#include "run/arguments.h"
#include "tree/outbox.h"

#include <stdlib.h>

typedef struct branch {
    cadre_frame *frame; // NULL: was not entered
    cdr_entered how;    // a record answers by itself
    cadre_status status;
    cadre_error err;
    cdr_ran ran;
    cdr_strand *parent;
    int *pending;
} branch;

static void run_branch(void *arg)
{
    branch *b = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    cdr_execute(b->frame, &strand, &b->ran);
    cdr_tree_flush(b->frame->tree, NULL); // a lost store marks the frames; they tell
    cdr_strand_fini(&strand);
    cdr_park_settle(b->frame->tree, b->parent, b->pending);
}

static void enter_branch(cadre_frame *frame, const cadre_call *call, branch *b)
{
    b->err = (cadre_error)CADRE_ERROR_INIT;
    b->status = cdr_check_call(frame, call, &b->err);
    if (b->status == CADRE_OK)
        b->status = cdr_enter_call(frame, call, true, &b->frame, &b->how, &b->err);
}

static void fail_branch(branch *b)
{
    cdr_tree *tree = b->frame->tree;
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(b->frame->id, id);
    cdr_ending ending = {.status = CADRE_FRAME_FAILED,
                         .stop_reason = CADRE_STOP_ERROR,
                         .failure = cdr_failure_new(&b->err, b->frame->name, id)};
    b->ran = (cdr_ran){.status = ending.status,
                       .stop_reason = ending.stop_reason,
                       .agent = b->frame->name,
                       .failure = cdr_failure_ref(ending.failure)};
    cdr_mutex_lock(&tree->mu);
    cdr_frame_end_locked(b->frame, &ending);
    cdr_mutex_unlock(&tree->mu);
}

// Starts all but the first that must run; gives that one.
static branch *start_others(cadre_frame *frame, branch *branches, size_t n,
                            int *pending)
{
    branch *own = NULL;
    for (size_t i = 0; i < n; i++) {
        branch *b = &branches[i];
        if (b->frame == NULL || b->how == CDR_ENTERED_RECORD)
            continue;
        if (own == NULL) {
            own = b;
            continue;
        }
        b->parent = frame->work->strand;
        b->pending = pending;
        cdr_park_enter(frame->tree, b->parent, pending);
        if (cdr_pool_run(frame->tree->runtime->pool, run_branch, b, &b->err) ==
            CADRE_OK)
            continue;
        fail_branch(b);
        cdr_park_settle(frame->tree, b->parent, pending);
    }
    return own;
}

static void refused_outcome(cadre_frame *frame, const branch *b, cadre_outcome *out)
{
    const char *text = cdr_arena_text(&frame->work->arena, b->err.text);
    out->status = CADRE_FRAME_FAILED;
    out->stop_reason = CADRE_STOP_ERROR;
    out->error = text == NULL ? "" : text;
    out->error_class = b->err.error_class;
}

// Takes the outcomes in call order; the first failure is the batch's error.
static cadre_status collect(cadre_frame *frame, branch *branches, size_t n,
                            cadre_outcome *out, cadre_error *err)
{
    cadre_status result = CADRE_OK;
    for (size_t i = 0; i < n; i++) {
        branch *b = &branches[i];
        cadre_status status;
        if (b->frame == NULL) {
            refused_outcome(frame, b, &out[i]);
            status = cadre_fail_class(err, CADRE_EFAILED, b->err.error_class, false,
                                      "%s", b->err.text);
        } else {
            status = cdr_leave_call(frame, b->frame,
                                    b->how == CDR_ENTERED_RECORD ? NULL : &b->ran,
                                    &out[i], err);
        }
        if (result == CADRE_OK)
            result = status;
    }
    cadre_status stopped = cdr_frame_stopped(frame, err);
    if (stopped == CADRE_OK)
        stopped = frame->work->sticky;
    return stopped == CADRE_OK ? result : stopped;
}

cadre_status cadre_frame_batch(cadre_frame *frame, const cadre_batch *batch,
                               cadre_outcome *out, cadre_error *err)
{
    int pending = 0;
    if (frame == NULL)
        return cdr_fail_null(err, __func__);
    if (batch == NULL || batch->struct_size < sizeof *batch)
        return cadre_fail(err, CADRE_EINVAL, "'%s': a batch without CADRE_BATCH",
                          frame->name);
    cadre_status status =
        cdr_check_array((cdr_argument){frame->name, "cadre_batch.calls"}, batch->calls,
                        batch->n_calls, err);
    if (status != CADRE_OK)
        return status;
    for (size_t i = 0; out != NULL && i < batch->n_calls; i++)
        cdr_outcome_clear(&out[i]);
    if (batch->wait != CADRE_ALL)
        return cadre_fail(err, CADRE_EINVAL,
                          "'%s': a batch waits for CADRE_ALL, %d is not known",
                          frame->name, (int)batch->wait);
    if (batch->n_calls == 0)
        return cdr_check_frame(frame, err);
    branch *branches = calloc(batch->n_calls, sizeof *branches);
    cadre_outcome *outcomes = out;
    if (outcomes == NULL)
        outcomes = cadre_frame_alloc(frame, batch->n_calls * sizeof *outcomes);
    if (branches == NULL || outcomes == NULL) {
        free(branches);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a batch");
    }
    for (size_t i = 0; i < batch->n_calls; i++)
        enter_branch(frame, batch->calls[i], &branches[i]);
    branch *own = start_others(frame, branches, batch->n_calls, &pending);
    if (own != NULL) {
        cdr_execute(own->frame, frame->work->strand, &own->ran);
        cdr_tree_flush(frame->tree, NULL); // others run on: this ending is stored now
    }
    cdr_park_join(frame->tree, frame->work->strand, &pending);
    status = collect(frame, branches, batch->n_calls, outcomes, err);
    free(branches);
    return status;
}
