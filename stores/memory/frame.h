// Frames of a trace as the memory store keeps them, and what a batch may do to them.
//
// Rules (rules 2 to 4 of ext/store.h, and 5 of the tree):
// 1. `frames` holds all births in order, refused ones too: what depends on a refused
//    birth is known by it, in later batches as well. (parent, key) and the live
//    children of a frame leave them out.
// 2. Rows and texts stand in the trace's region and never move. Of a row that is not
//    refused only status, attempts, restarts, start_seq, mark, delta, end and the links
//    of live children ever change.
// 3. Every change tells in `undo` what was there; undone in reverse order the trace is
//    as before. The memory goes back with the region.
//
// Thread: one at a time.
#ifndef CDR_MEMORY_FRAME_H
#define CDR_MEMORY_FRAME_H

#include "cadre/ext/store.h"

#include "index.h"
#include "region.h"

typedef struct cdr_memory_frame cdr_memory_frame;
typedef struct cdr_memory_end cdr_memory_end;
typedef struct cdr_memory_conversation cdr_memory_conversation;

typedef struct cdr_memory_trace {
    cadre_id id;
    bool is_born;
    uint64_t number;                  // of its birth in the store
    cadre_trace_row row;              // once it is born; texts in the region
    char *lease_owner;                // NULL: nobody
    cdr_memory_conversation *session; // of its root; NULL: it has no name
    cdr_memory_frame *root;           // NULL: none yet
    cdr_memory_table frames;          // by id
    cdr_memory_index keys;            // by (parent, key); numbers of `frames`
    cdr_memory_table conversations;   // those without a name, by id; owned
    cdr_memory_region region;
    struct cdr_memory_trace *next_grave; // see shelf.h
} cdr_memory_trace;

// What a fact has changed.
typedef struct cdr_memory_undo {
    void *what;              // the frame or conversation; NULL: nothing was changed
    cdr_memory_trace *trace; // of a mark
    const char *delta;
    int64_t start_seq;
    int attempts, restarts;
    cadre_frame_status status;
    int change;    // of a conversation, see conversation.h
    uint32_t note; // the same
} cdr_memory_undo;

// Returns a frame, also one that was refused (`is_refused`). NULL: not there.
const cdr_memory_frame *cdr_memory_frame_find(const cdr_memory_trace *trace,
                                              cadre_id id, bool *is_refused);

typedef enum cdr_memory_frame_state {
    CDR_MEMORY_FRAME_UNKNOWN,
    CDR_MEMORY_FRAME_OPEN,   // things may be born under it
    CDR_MEMORY_FRAME_CLOSED, // it ended, or must, or was refused
} cdr_memory_frame_state;

cdr_memory_frame_state cdr_memory_frame_look(const cdr_memory_trace *trace,
                                             cadre_id id);

// Refuses a birth because of its conversation. Errors: ESTORE.
cadre_status cdr_memory_frame_refuse(cdr_memory_trace *trace, cadre_fact *fact,
                                     cdr_memory_undo *undo, cadre_error *err);

// Is it the root, and does the root live?
bool cdr_memory_frame_is_live_root(const cdr_memory_trace *trace, cadre_id id);

// Gives the conversation of a frame that is there.
void cdr_memory_frame_conversation(const cdr_memory_trace *trace, cadre_id id,
                                   cadre_id *conversation);

// Make a fact true, ignore it (an end after the end) or refuse it. Errors: ESTORE;
// nothing was changed then.
cadre_status cdr_memory_frame_birth(cdr_memory_trace *trace, cadre_fact *fact,
                                    cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_frame_running(cdr_memory_trace *trace, cadre_fact *fact,
                                      cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_frame_mark(cdr_memory_trace *trace, cadre_fact *fact,
                                   cdr_memory_undo *undo, cadre_error *err);
cadre_status cdr_memory_frame_end(cdr_memory_trace *trace, cadre_fact *fact,
                                  cdr_memory_undo *undo, cadre_error *err);

// Takes back what one of the four did.
void cdr_memory_frame_undo(cdr_memory_trace *trace, const cadre_fact *fact,
                           const cdr_memory_undo *undo);

#endif
