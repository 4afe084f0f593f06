// Runs: a tree, the thread its root works on, and the consumer's side of both.
#include "run/run.h"

#include "run/arguments.h"
#include "run/stream_end.h"

#include <stdlib.h>

// --- In the background ---

// The run as the list of background runs holds it.
typedef struct cdr_detached {
    cdr_background_run entry;
    cadre_run *run;
} detached;

static void cancel_detached(cdr_background_run *entry)
{
    cadre_run_cancel(((detached *)entry)->run, "its team was freed");
}

cadre_status cdr_run_detach(cadre_run *run, cadre_error *err)
{
    detached *own = malloc(sizeof *own);
    if (own == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a background run");
    *own = (detached){{.team = run->tree->team, .cancel = cancel_detached}, run};
    run->detached = own;
    cdr_queue_deafen(&run->tree->queue);
    cdr_background_add(&run->tree->runtime->background, &own->entry);
    return CADRE_OK;
}

// Also of one that was never launched.
static void free_detached(cadre_run *run)
{
    detached *own = run->detached;
    cdr_background *background = &run->tree->runtime->background;
    cdr_background_end(background, &own->entry);
    run->detached = NULL;
    cdr_run_destroy(run);
    cdr_background_remove(background, &own->entry);
    free(own);
}

// --- The root's thread ---

static void run_root(void *arg)
{
    cadre_run *run = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    cdr_execute(run->tree->root, &strand, &run->ran);
    cdr_watch_remove(run->tree->runtime, &run->watched);
    cdr_run_end_stream(run);
    cdr_strand_fini(&strand);
    if (run->detached != NULL)
        free_detached(run);
    else
        cdr_strand_settle(&run->owner, &run->pending);
}

// --- The owner's side ---

void cdr_run_destroy(cadre_run *run)
{
    if (run == NULL)
        return;
    if (run->detached != NULL) {
        free_detached(run);
        return;
    }
    cdr_event_free_list(run->events);
    cdr_event_free_list(run->spent);
    cdr_ran_fini(&run->ran);
    cdr_run_listing_fini(&run->listing);
    cdr_run_give_session_back(run);
    cdr_tree_free(run->tree);
    cdr_strand_fini(&run->owner);
    free(run);
}

static cadre_run *run_of(cdr_watched *watched)
{
    return (cadre_run *)((char *)watched - offsetof(cadre_run, watched));
}

static void take_mark(cdr_watched *watched, cadre_id frame, const char *reason)
{
    cdr_tree_take_mark(run_of(watched)->tree, frame, reason);
}

static void take_message(cdr_watched *watched, const cadre_message_row *row)
{
    cdr_inbox_put(run_of(watched)->tree, row);
}

// Somebody has taken the run over: this one writes nothing more, and stops its tools.
static void take_loss(cdr_watched *watched, const cadre_error *why)
{
    cdr_tree *tree = run_of(watched)->tree;
    cdr_mutex_lock(&tree->mu);
    if (tree->lost.status == CADRE_OK)
        tree->lost = *why;
    cdr_frame_mark_locked(tree->root, CDR_MARK_LOST);
    cdr_mutex_unlock(&tree->mu);
}

cadre_status cdr_run_launch(cadre_run *run, cadre_error *err)
{
    cadre_runtime *runtime = run->tree->runtime;
    run->watched = (cdr_watched){.trace = run->tree->trace,
                                 .lease_owner = run->tree->lease_owner,
                                 .on_mark = take_mark,
                                 .on_message = take_message,
                                 .on_lost = take_loss};
    cadre_status status = cdr_watch_add(runtime, &run->watched, err);
    if (status != CADRE_OK)
        return status;
    run->tree->park.n_active = 1;
    run->pending = 1;
    status = cdr_pool_run(runtime->pool, run_root, run, err);
    if (status != CADRE_OK)
        cdr_watch_remove(runtime, &run->watched);
    return status;
}

cadre_status cadre_run_next(cadre_run *run, const cadre_event **event, cadre_error *err)
{
    if (run == NULL || event == NULL)
        return cdr_fail_null(err, __func__);
    cdr_event_free_list(run->spent);
    run->spent = NULL;
    if (run->events == NULL)
        run->events = cdr_queue_take(&run->tree->queue);
    if (run->events == NULL)
        return CADRE_DONE;
    run->spent = run->events;
    run->events = run->events->next;
    run->spent->next = NULL;
    *event = &run->spent->event;
    return CADRE_OK;
}

static cadre_status status_of(const cadre_result *result)
{
    switch (result->status) {
    case CADRE_FRAME_COMPLETED:
        return CADRE_OK;
    case CADRE_FRAME_TIMEOUT:
        return CADRE_ETIMEOUT;
    case CADRE_FRAME_ABORTED:
        return CADRE_EABORTED;
    case CADRE_FRAME_WAITING:
        return CADRE_EPARKED;
    default:
        return result->error.error_class == CADRE_CLASS_STORE ? CADRE_ESTORE
                                                              : CADRE_EFAILED;
    }
}

cadre_status cadre_run_wait(cadre_run *run, const cadre_result **result,
                            cadre_error *err)
{
    if (run == NULL)
        return cdr_fail_null(err, __func__);
    cdr_event_free_list(run->events);
    run->events = NULL;
    cdr_queue_deafen(&run->tree->queue);
    cdr_strand_join(&run->owner, &run->pending);
    if (result != NULL)
        *result = &run->result;
    cadre_status status = status_of(&run->result);
    if (status == CADRE_OK)
        return CADRE_OK;
    if (status == CADRE_EPARKED)
        return cadre_fail(err, status, "run %s waits for an answer",
                          run->tree->trace_text);
    return cadre_fail_class(err, status, run->result.error.error_class,
                            run->result.error.retryable, "%s",
                            run->result.error.message);
}

void cadre_run_cancel(cadre_run *run, const char *reason)
{
    if (run == NULL || run->is_record)
        return;
    cdr_tree *tree = run->tree;
    const char *why = reason == NULL ? "cancelled" : reason;
    cdr_mutex_lock(&tree->mu);
    if (tree->mark_text == NULL)
        tree->mark_text = cdr_arena_text(&tree->arena, why);
    cdr_frame_mark_locked(tree->root, CDR_MARK_REQUEST);
    cdr_mutex_unlock(&tree->mu);
}

void cadre_run_free(cadre_run *run)
{
    if (run == NULL)
        return;
    cadre_run_cancel(run, "freed");
    cdr_queue_deafen(&run->tree->queue);
    cdr_strand_join(&run->owner, &run->pending);
    const cadre_store_ops *store = run->tree->runtime->store_ops;
    // One that waits goes on from there; a record is not this run's to forget.
    if (store->release != NULL && run->result.status != CADRE_FRAME_WAITING &&
        !run->is_record)
        store->release(run->tree->runtime->store, run->tree->trace);
    cdr_run_destroy(run);
}

const char *cadre_run_trace_id(const cadre_run *run)
{
    return run == NULL ? "" : run->tree->trace_text;
}
