// Runs: a tree, the thread its root works on, and the consumer's side of both.
#include "run/run.h"

#include "run/arguments.h"
#include "run/lease.h"
#include "run/session.h"
#include "run/trace_end.h"

#include "tree/outbox.h"

#include <stdlib.h>
#include <string.h>

// --- The root's thread ---

static void give_session_back(cadre_run *run)
{
    if (run->session == NULL)
        return;
    cdr_session_release(run->tree->runtime, run->session);
    free(run->session);
    run->session = NULL;
}

static void fill_result(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    const cdr_ran *ran = &run->ran;
    int64_t now = cdr_clock_now_ns(tree->runtime->clock);
    run->result = (cadre_result){
        .status = ran->status,
        .stop_reason = ran->stop_reason,
        .trace_id = tree->trace_text,
        .agent = ran->agent,
        .text = cdr_text_bytes(ran->output),
        .usage = ran->usage,
        .duration_ms = (now - tree->root->started_ns) / 1000000,
        .stop_ms = tree->marked_ns == 0 ? -1 : (now - tree->marked_ns) / 1000000,
        .offline = tree->runtime->offline,
    };
    run->result.error = cdr_failure_info(ran->failure);
    if (ran->failure == NULL && ran->status != CADRE_FRAME_COMPLETED &&
        ran->status != CADRE_FRAME_WAITING)
        run->result.error =
            (cadre_error_info){CADRE_CLASS_ERROR, false,
                               "no memory to tell why it failed", tree->root->name, ""};
}

// The store is gone: what the result claims must be true without it.
static void result_of_loss(cadre_run *run)
{
    cadre_result *result = &run->result;
    result->status = CADRE_FRAME_FAILED;
    result->stop_reason = CADRE_STOP_ERROR;
    result->text = "";
    result->error = (cadre_error_info){CADRE_CLASS_STORE, false, run->tree->lost.text,
                                       run->tree->root->name, ""};
}

cadre_event cdr_run_end_event(const cadre_run *run)
{
    const cadre_result *result = &run->result;
    cadre_event event = {.type = CADRE_EVENT_STREAM_END};
    event.u.stream_end.status = result->status;
    event.u.stream_end.stop_reason = result->stop_reason;
    event.u.stream_end.output = result->text;
    event.u.stream_end.error = result->error;
    event.u.stream_end.usage = result->usage;
    event.u.stream_end.duration_ms = result->duration_ms;
    return event;
}

// Of a run that could not even store its start.
static void show_start(const cadre_run *run)
{
    cdr_tree *tree = run->tree;
    cdr_event_id id;
    cadre_event event = {.type = CADRE_EVENT_STREAM_START};
    event.u.stream_start.trace_id = tree->trace_text;
    event.u.stream_start.team = tree->team->name;
    event.u.stream_start.offline = tree->runtime->offline;
    event.u.stream_start.texts_changed = tree->texts_changed;
    cdr_event_address(tree->root, &event, id);
    cdr_queue_push_take(&tree->queue, cdr_event_new(&event, NULL));
}

// The last event is shown even when nothing can be stored any more; then without a seq.
static void end_stream(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    cdr_event_id id;
    if (run->session != NULL) {
        cdr_tree_flush(tree, NULL); // a lost store is told below
        give_session_back(run);     // before anyone can know that it is free
    }
    fill_result(run);
    cdr_run_report(run);
    cadre_event event = cdr_run_end_event(run);
    cdr_mutex_lock(&tree->mu);
    // Of one that is parked it is the end of this consumer's stream only.
    cdr_outbox_event_locked(tree->root, &event, NULL,
                            run->result.status != CADRE_FRAME_WAITING);
    cdr_mutex_unlock(&tree->mu);
    if (cdr_tree_flush(tree, NULL) != CADRE_OK) {
        if (!tree->is_shown)
            show_start(run);
        result_of_loss(run);
        event = cdr_run_end_event(run);
        cdr_event_address(tree->root, &event, id);
        cdr_queue_push_take(&tree->queue, cdr_event_new(&event, NULL));
    }
    // One that has ended nobody may want.
    if (tree->lost.status != CADRE_OK || run->result.status == CADRE_FRAME_WAITING)
        cdr_lease_give_back(tree);
    // Who stopped it just now has left its end to who held it.
    if (run->result.status == CADRE_FRAME_WAITING)
        cdr_trace_end_marked(tree->runtime, tree->trace);
    if (!cadre_id_is_none(tree->spawn.report_to))
        cdr_watch_look(tree->runtime, NULL); // who reads it may be of this process
    cdr_queue_close(&tree->queue);
}

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

static void run_root(void *arg)
{
    cadre_run *run = arg;
    cdr_strand strand;
    cdr_strand_init(&strand);
    cdr_execute(run->tree->root, &strand, &run->ran);
    cdr_watch_remove(run->tree->runtime, &run->watched);
    end_stream(run);
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
    give_session_back(run);
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
