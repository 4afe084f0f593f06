// See frame_view.h.
#include "frame_view.h"

#include "frame_layout.h"

#include <stdlib.h>

static void fill_end(const cdr_memory_end *end, cadre_frame_row *row)
{
    const cadre_usage *usage = end->usages;
    row->own = end->has_own ? *usage++ : (cadre_usage){0};
    row->usage = end->has_usage ? *usage++ : row->own;
    const char *at = (const char *)usage;
    row->output = cdr_memory_take_text(&at);
    row->error = cdr_memory_take_text(&at);
    row->stop_reason = (cadre_stop_reason)end->stop_reason;
    row->error_class = (cadre_error_class)end->error_class;
    row->error_retryable = end->error_retryable;
    row->end_seq = end->end_seq;
    row->completed_at = end->completed_at;
    row->duration_ms = end->duration_ms;
}

cdr_memory_view *cdr_memory_frame_views(const cdr_memory_trace *trace, bool only_live,
                                        size_t *n_views)
{
    // One more, so that an empty list is not mistaken for no memory.
    cdr_memory_view *views = malloc((trace->frames.n_rows + 1U) * sizeof(*views));
    if (!views)
        return NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < trace->frames.n_rows; i++) {
        const cdr_memory_frame *frame = trace->frames.rows[i];
        if (!frame->is_refused && !(only_live && cdr_memory_has_ended(frame)))
            views[n++] = (cdr_memory_view){
                .frame = frame,
                .end = cdr_memory_has_ended(frame) ? frame->u.end : NULL,
                .mark = frame->mark,
                .delta = frame->delta,
                .start_seq = frame->start_seq,
                .attempts = frame->attempts,
                .restarts = frame->restarts,
                .status = (cadre_frame_status)frame->status};
    }
    *n_views = n;
    return views;
}

void cdr_memory_view_row(const cdr_memory_view *view, cadre_frame_row *row)
{
    const cdr_memory_frame *frame = view->frame;
    *row = (cadre_frame_row){.id = frame->id,
                             .parent =
                                 frame->parent ? frame->parent->id : (cadre_id){0, 0},
                             .conversation = *frame->conversation,
                             .depth = frame->depth,
                             .status = view->status,
                             .attempts = view->attempts,
                             .restarts = view->restarts,
                             .replay_safe = frame->replay_safe,
                             .mark = view->mark ? view->mark : "",
                             .delta = view->delta ? view->delta : "",
                             .output = "",
                             .error = "",
                             .start_seq = view->start_seq,
                             .created_at = frame->created_at};
    const char *at = frame->texts;
    row->key = cdr_memory_take_text(&at);
    row->kind = cdr_memory_take_text(&at);
    row->name = cdr_memory_take_text(&at);
    row->referer = cdr_memory_take_text(&at);
    row->input = at;
    if (view->end)
        fill_end(view->end, row);
}

void cdr_memory_view_root(const cdr_memory_trace *trace, cadre_trace_row *row)
{
    const cdr_memory_frame *root = trace->root;
    cadre_frame_row frame = {.usage = {0}};
    row->status = root ? (cadre_frame_status)root->status : CADRE_FRAME_PENDING;
    if (root && cdr_memory_has_ended(root))
        fill_end(root->u.end, &frame);
    row->cost_usd_micros = frame.usage.cost_usd_micros;
    row->unpriced_calls = frame.usage.unpriced_calls;
}
