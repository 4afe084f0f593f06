// Making a script of what the ledger holds of a run: each call that had an outcome,
// with its keypath, what was asked, and behind whose end it came.
//
// Rules:
// 1. The order of the items is that of the tree, not of time, so two runs that did the
//    same give the same text. No id, time or address stands in it.
// 2. Of a model call the answer is recorded, as it was before hooks changed it.
//    Attempts that failed before another one did not are not in the ledger; a replay
//    has none.
// 3. Calls that need nobody outside are left to the replay: of tools that are not there
//    or were called wrongly, that a hook or a person kept from running, and answers
//    that hooks gave. A tool that called others is marked `runs`.
// 4. Where calls ran at the same time, the last outcome of each comes after the end of
//    the one that had ended before; where one won, its last outcome comes after all
//    that the losers had got and begun.
//
// Thread: one at a time.
#ifndef CDR_RECORDING_H
#define CDR_RECORDING_H

#include "cadre/ext/store.h"

#include "base/arena.h"
#include "base/keypath.h"
#include "tree/id_table.h"

#include <jansson.h>

typedef enum cdr_source_kind {
    CDR_SOURCE_AGENT,
    CDR_SOURCE_MODEL,
    CDR_SOURCE_TOOL,
    CDR_SOURCE_ASK
} cdr_source_kind;

enum {
    CDR_SOURCE_NONE = -1
};

// A frame as it was recorded, and what becomes of it.
typedef struct cdr_source {
    cadre_frame_row row; // its texts are in the arena
    cdr_source_kind kind;
    int parent, first_child, last_child, next; // places in the list; NONE
    const char *at;                            // its keypath
    cdr_keypath keypath;
    int place;                  // in the order of the tree
    int64_t last_birth_seq;     // of those below it
    int said;                   // of an agent: its last answer so far, a message; NONE
    int last_model;             // of an agent: of its model calls the last one so far
    int result;                 // of a tool or a question: what came of it, a message
    int answer;                 // of a model: its answer, a message; NONE
    int part;                   // of a model: what there was of an answer; NONE
    json_t *kept;               // what its hooks were given; NULL: nothing. Owned
    bool is_quiet;              // nothing of it is told
    bool has_calls;             // of a tool or a step: it called others
    bool has_outcome;           // it is an item that answers
    json_t *item;               // NULL: it is none. Owned
    const char *section, *name; // of the item; name NULL: the section is a list
    json_t *after;              // of a stop; NULL: none. Owned
} cdr_source;

typedef struct cdr_recording_maker {
    cdr_arena arena;
    const char *team;
    cdr_source *frames; // parents first; in the order of birth
    size_t n_frames;
    cadre_message_row *messages; // by conversation and position
    size_t n_messages;
    int *turns; // of answers, by message; 0: it is none
    // To places, from 1:
    cdr_id_table frames_by_id, frames_by_keypath, messages_by_id;
    bool is_there;
    bool no_memory;
} cdr_recording_maker;

// Finds a frame or a message; NONE: it is not of this run.
int cdr_recording_frame(const cdr_recording_maker *maker, cadre_id id);

// The frame after `at` in the order of the tree, what is below one right after it;
// NONE: it was the last at or below `top`.
int cdr_recording_next(const cdr_recording_maker *maker, int at, int top);

// The same without what is below `at`.
int cdr_recording_next_beside(const cdr_recording_maker *maker, int at, int top);

// Makes the items of all frames; without memory `no_memory` is set.
void cdr_recording_make_items(cdr_recording_maker *maker);

// Gives each item what it comes after.
void cdr_recording_set_order(cdr_recording_maker *maker);

// A frame that was stopped by itself, not with the one above: these have one mark, and
// nothing is born below a frame that has one.
bool cdr_recording_is_stop(const cdr_recording_maker *maker, const cdr_source *frame);

#endif
