// See stream_end.h.
#include "run/stream_end.h"

#include "run/lease.h"
#include "run/session.h"
#include "run/trace_end.h"

#include "tree/outbox.h"
#include "tree/spent.h"

#include <stdlib.h>

void cdr_run_give_session_back(cadre_run *run)
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
        .duration_ms = cdr_frame_lasted_ms(tree->root, now),
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

void cdr_run_end_stream(cadre_run *run)
{
    cdr_tree *tree = run->tree;
    cdr_event_id id;
    if (run->session != NULL) {
        cdr_tree_flush(tree, NULL);     // a lost store is told below
        cdr_run_give_session_back(run); // before anyone can know that it is free
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
