// How a frame lies in the memory of its trace: for what writes it (frame.c) and what
// reads it (frame_view.c).
//
// Thread: whoever holds the lock of the trace's shelf.
#ifndef CDR_MEMORY_FRAME_LAYOUT_H
#define CDR_MEMORY_FRAME_LAYOUT_H

#include "frame.h"

#include <string.h>

// About 100 bytes beside the texts. What is the same as in the parent is read there.
struct cdr_memory_frame {
    cadre_id id;
    const cadre_id *conversation;   // shared with the parent where it is the same
    cdr_memory_frame *parent;       // NULL: the root
    cdr_memory_frame *next, **link; // while it lives, among the parent's live children
    union {
        cdr_memory_frame *children; // while it lives: its live children
        const cdr_memory_end *end;
    } u;
    const char *mark;  // NULL: none
    const char *delta; // NULL: none
    int64_t start_seq, created_at;
    int depth, attempts, restarts;
    unsigned char status;
    bool replay_safe;
    bool is_refused; // only id, parent and this count then
    char texts[];    // key, kind, name, referer, input, each with its NUL
};

// What an end adds. A usage of nothing is left out, and one of the subtree that is the
// frame's own: leaves and plain agents have one of the two at most.
struct cdr_memory_end {
    int64_t end_seq, completed_at, duration_ms;
    unsigned char stop_reason, error_class;
    bool error_retryable;
    bool has_own;
    bool has_usage;       // else it is `own`
    cadre_usage usages[]; // own, usage; then the texts: output, error
};

// Returns the text and moves behind it.
static inline const char *cdr_memory_take_text(const char **at)
{
    const char *text = *at;
    *at += strlen(text) + 1;
    return text;
}

static inline bool cdr_memory_has_ended(const cdr_memory_frame *frame)
{
    return frame->status >= CADRE_FRAME_COMPLETED;
}

#endif
