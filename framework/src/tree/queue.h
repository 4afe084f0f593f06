// The event queue of a run: bounded in bytes, many producers, one consumer.
//
// Rules:
// 1. A run's thread that pushes into a full queue waits until there is room, the queue
//    is opened wide (abort) or nobody listens any more.
// 2. The network thread never waits: it pushes what one read gave it and asks
//    `is_full`, which registers its transfer to be resumed by the consumer's take.
// 3. Neighbouring deltas of one message become one event.
// 4. When nobody listens nothing is kept.
//
// Thread: push and is_full by any; take by the one consumer.
#ifndef CDR_QUEUE_H
#define CDR_QUEUE_H

#include "cadre/event.h"

#include "base/mutex.h"
#include "tree/conversation.h"
#include "tree/strand.h"

#define CDR_QUEUE_LIMIT ((size_t)64 * 1024)

// An event and all it points to.
typedef struct cdr_event_node cdr_event_node;
struct cdr_event_node {
    cdr_event_node *next;
    cadre_event event;
    cdr_message *message;      // of a message_end; a reference
    const struct cdr_ear *ear; // who else listens; tree/ear.h
    char *delta;               // of a delta: its growing text
    size_t delta_capacity;
    size_t bytes; // what it counts for
};

// A transfer that waits for room.
typedef struct cdr_paused cdr_paused;
struct cdr_paused {
    cdr_paused *next;
    bool is_listed;
    void (*resume)(void *ctx); // under the queue's lock; must not block
    void *ctx;
};

typedef struct cdr_queue {
    cdr_mutex mu;
    cdr_cond changed;
    cdr_event_node *head, *tail; // guarded by mu
    size_t bytes;                // guarded by mu
    cdr_paused *paused;          // guarded by mu
    int n_blocked;               // guarded by mu; producers that wait
    bool is_wide;                // guarded by mu; the bound is off: the run is stopping
    bool is_closed;              // guarded by mu; nothing will be pushed any more
    atomic_bool is_deaf;         // set under mu, read by any; nobody listens
    cdr_strand *taker;           // woken by each event, under mu; NULL: nobody is
} cdr_queue;

void cdr_queue_init(cdr_queue *queue);
void cdr_queue_fini(cdr_queue *queue);

// Copies the event's texts; `message` (or NULL) is referenced. NULL: no memory.
cdr_event_node *cdr_event_new(const cadre_event *event, cdr_message *message);
void cdr_event_free_list(cdr_event_node *list);

// Pushes a list of events, in order; takes them over. May wait (rule 1).
void cdr_queue_push_take(cdr_queue *queue, cdr_event_node *list);

// The same, and never waits.
void cdr_queue_push_now_take(cdr_queue *queue, cdr_event_node *list);

// Pushes a piece of text, for that ear; never waits. Texts of `event` are copied. A
// run's thread waits for room before it (rule 1).
void cdr_queue_push_delta(cdr_queue *queue, const cadre_event *event,
                          const struct cdr_ear *ear);
void cdr_queue_await_room(cdr_queue *queue);

bool cdr_queue_is_full(cdr_queue *queue, cdr_paused *paused);
void cdr_queue_forget(cdr_queue *queue, cdr_paused *paused); // before it goes away

bool cdr_queue_is_deaf(cdr_queue *queue); // then events need not be made
void cdr_queue_deafen(cdr_queue *queue);
void cdr_queue_widen(cdr_queue *queue);
void cdr_queue_close(cdr_queue *queue);

// Takes all there is; NULL: nothing.
cdr_event_node *cdr_queue_take_now(cdr_queue *queue);

// Takes all there is; waits for the first. NULL: closed and empty.
cdr_event_node *cdr_queue_take(cdr_queue *queue);

#endif
