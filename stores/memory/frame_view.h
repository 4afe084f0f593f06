// Frames of a trace as they were at one moment, for readers.
//
// Thread: a view is made by one at a time, and read by any without a lock until the
// trace is freed: what it points to does not change.
#ifndef CDR_MEMORY_FRAME_VIEW_H
#define CDR_MEMORY_FRAME_VIEW_H

#include "frame.h"

// A frame at one moment.
typedef struct cdr_memory_view {
    const cdr_memory_frame *frame;
    const cdr_memory_end *end; // NULL: it lives
    const char *mark;          // NULL: none
    const char *delta;         // the same
    int64_t start_seq;
    int attempts, restarts;
    cadre_frame_status status;
} cdr_memory_view;

// Lists the frames, or the live ones, by birth; free() it. NULL: no memory.
cdr_memory_view *cdr_memory_frame_views(const cdr_memory_trace *trace, bool only_live,
                                        size_t *n_views);

// Fills a row that borrows from the trace.
void cdr_memory_view_row(const cdr_memory_view *view, cadre_frame_row *row);

// Fills in what a trace's row says of its root; a trace without one is pending.
void cdr_memory_view_root(const cdr_memory_trace *trace, cadre_trace_row *row);

#endif
