// All rows that a store has of one run, as copies.
//
// Running out of memory ends the program. Thread: plain data once it is read.
#ifndef SUPPORT_RUN_ROWS_H
#define SUPPORT_RUN_ROWS_H

#include "base/arena.h"
#include "cadre/ext/store.h"

typedef struct run_frame {
    cadre_frame_row row;
    char id[CADRE_ID_TEXT_SIZE];
    int parent;   // its place in the list, which has parents first; -1: the root
    bool is_fork; // it, or one above it, works in a conversation of its own
} run_frame;

typedef struct run_message {
    cadre_message_row row;
    int frame; // whose work it was; -1: of no frame of this run
} run_message;

typedef struct run_rows {
    cdr_arena arena;
    cadre_trace_row trace;
    run_frame *frames;
    size_t n_frames;
    run_message *messages; // by conversation and position, inboxes last
    size_t n_messages;
    cadre_conversation_row *conversations;
    size_t n_conversations;
    bool is_there;
} run_rows;

// Reads what is there of that trace, maybe nothing. The test fails when it cannot.
void run_rows_read(run_rows *rows, cadre_runtime *runtime, const char *trace);
void run_rows_fini(run_rows *rows);

// The stack tree with all that belongs to it, and what was said, for who reads of a
// failure.
void run_rows_print(const run_rows *rows);

// "root/1/0": the keys on the way to a frame. In the arena.
const char *run_rows_path(run_rows *rows, int frame);

#endif
