// Making the transcript of a request; see cadre/ext/transcript.h for its rules.
//
// Thread: the frame's strand.
#ifndef CDR_TRANSCRIPT_H
#define CDR_TRANSCRIPT_H

#include "cadre/ext/model.h"

#include "base/arena.h"

// How far it has come: all before it stays as it is, whatever items follow.
typedef struct cdr_transcript_place {
    size_t n_items; // looked at
    size_t n_turns;
    size_t n_shown;
    size_t n_calls;
} cdr_transcript_place;

// A place of a hash table of ids: the newest call under it, where that counts.
typedef struct cdr_id_slot {
    const char *id; // NULL: free
    size_t call;
} cdr_id_slot;

typedef struct cdr_id_slots {
    cdr_id_slot *slots;
    size_t mask;
} cdr_id_slots;

// All zero: empty.
typedef struct cdr_transcript {
    cadre_turn *turns;
    size_t n_turns;
    size_t n_same; // so many of them are as they were after the last update

    // What it is made in; arrays have room for `capacity` items and `calls_capacity`.
    cdr_arena arena;
    const cadre_request_item *items; // of the last update
    size_t capacity, calls_capacity;
    const cadre_request_item **shown; // the items of all turns, one after the other
    size_t n_shown;
    cadre_turn_call *calls;
    size_t *older; // of a call: the one before with the same id, or none
    size_t *first; // of a call: the first of its turn
    size_t n_calls;
    cdr_id_slots by_id, used;
    cdr_transcript_place settled;
    cadre_turn last; // the last settled turn, which may have been made longer
    bool is_spoilt;  // the tail left traces: the next update begins anew
    bool is_changed; // and it changed turns that are settled
} cdr_transcript;

// Makes the turns of request->items, of which the first `n_settled` will be there, and
// the same, at the next update; only what is behind them is looked at then, so it takes
// time linear in what is new. Gives the same turns as an empty one would. They point
// into the items, which must outlive them. Errors: ENOMEM; then it is empty.
cadre_status cdr_transcript_update(cdr_transcript *transcript,
                                   const cadre_request *request, size_t n_settled,
                                   cadre_error *err);
void cdr_transcript_fini(cdr_transcript *transcript);

#endif
