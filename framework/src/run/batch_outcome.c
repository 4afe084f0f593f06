// What comes of a batch: the outcomes of its branches, and what it returns.
#include "run/batch.h"

#include "run/state.h"

static void refused_outcome(cadre_frame *frame, const cdr_batch_entry *e,
                            cadre_outcome *out)
{
    const char *text = cdr_arena_text(&frame->work->arena, e->err.text);
    out->status = CADRE_FRAME_FAILED;
    out->stop_reason = CADRE_STOP_ERROR;
    out->error = text == NULL ? "" : text;
    out->error_class = e->err.error_class;
}

static cadre_status take_entry(cadre_frame *frame, cdr_batch_entry *e,
                               cadre_outcome *out, cadre_error *err)
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
static bool was_stopped(const cdr_batch *batch)
{
    if (batch->hearing == NULL)
        return false;
    for (size_t i = 0; i < batch->n && batch->race.winner == batch->n; i++) {
        const cdr_batch_entry *e = &batch->entries[i];
        const cadre_frame *child =
            e->abandoned == NULL ? cdr_branch_frame(e) : e->abandoned;
        if (child != NULL && child->mark == CDR_MARK_OWNER)
            return true;
    }
    return false;
}

// None of them succeeded: one error for all.
static cadre_status fail_all(const cdr_batch *batch, const cadre_outcome *out,
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
static cadre_status take_other(cadre_frame *frame, cdr_batch_entry *e,
                               cadre_outcome *out)
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
static bool have_all_failed(const cdr_batch *batch, const cadre_outcome *out)
{
    size_t n_failed = 0;
    for (size_t i = 0; i < batch->n; i++)
        n_failed += out[i].status == CADRE_FRAME_COMPLETED ? 0 : 1;
    return n_failed == batch->n && (n_failed > 1 || cdr_batch_has_winner(batch));
}

// The first failure is the batch's error, unless all failed, which is told in one; but
// where one wins it is what the winner came to.
cadre_status cdr_batch_collect(cdr_batch *batch, cadre_outcome *out, cadre_error *err)
{
    cadre_error first = CADRE_ERROR_INIT;
    cadre_frame *frame = batch->frame;
    size_t winner = batch->race.winner;
    bool is_single = cdr_batch_has_winner(batch);
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
