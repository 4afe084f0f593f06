// Listening to a call: the events of what is called, for the caller's own code, beside
// the run's consumer.
//
// Rules:
// 1. A frame below a call that is listened to has an ear; its events go to the run's
//    queue and to the ear, and to those further out.
// 2. The hearing belongs to the caller's thread, which takes from it while it waits for
//    the call; it is woken by each event.
// 3. Events that are stored are never waited for: the caller may be the one that stores
//    them. Pieces of text are: whoever makes them waits, or its transfer is paused.
//
// Thread: telling by any; taking by the caller's.
#ifndef CDR_EAR_H
#define CDR_EAR_H

#include "tree/queue.h"

typedef struct cdr_hearing cdr_hearing;

// Of one callee. Lives as long as its hearing.
typedef struct cdr_ear {
    cdr_hearing *hearing;
    const struct cdr_ear *outer; // of the caller itself; NULL: nobody listens there
    const cadre_agent *agent;
    size_t index;
} cdr_ear;

// Of one call or batch.
struct cdr_hearing {
    cdr_queue queue;
    cdr_hearing *next; // kept until the tree goes: somebody may still tell it
    cdr_ear ears[];
};

// Makes one with an ear for each callee. `strand`, `outer`: the caller's. NULL:
// no memory.
cdr_hearing *cdr_hearing_new(cdr_strand *strand, const cdr_ear *outer, size_t n_ears);
void cdr_hearing_free(cdr_hearing *hearing); // NULL ok

// Nobody listens any more, but events may still come.
void cdr_hearing_close(cdr_hearing *hearing);

// Copies the events of a list to the ears they are for.
void cdr_ear_tell(const cdr_event_node *list);

// A piece of text; never waits.
void cdr_ear_tell_delta(const cdr_ear *ear, const cadre_event *event);

// Waits until there is room for a piece.
void cdr_ear_await_room(const cdr_ear *ear);

// Is one of them full? Then `paused` waits at that one, which is given; else NULL.
cdr_queue *cdr_ear_full(const cdr_ear *ear, cdr_paused *paused);

// Takes what there is; NULL: nothing.
cdr_event_node *cdr_hearing_take(cdr_hearing *hearing);

#endif
