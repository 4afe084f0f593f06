// See ear.h.
#include "tree/ear.h"

#include <stdlib.h>

cdr_hearing *cdr_hearing_new(cdr_strand *strand, const cdr_ear *outer, size_t n_ears)
{
    cdr_hearing *hearing = calloc(1, sizeof *hearing + n_ears * sizeof(cdr_ear));
    if (hearing == NULL)
        return NULL;
    cdr_queue_init(&hearing->queue);
    hearing->queue.taker = strand;
    for (size_t i = 0; i < n_ears; i++)
        hearing->ears[i] = (cdr_ear){hearing, outer, NULL, i};
    return hearing;
}

void cdr_hearing_close(cdr_hearing *hearing)
{
    cdr_queue_deafen(&hearing->queue);
}

void cdr_hearing_free(cdr_hearing *hearing)
{
    if (hearing == NULL)
        return;
    cdr_queue_fini(&hearing->queue);
    free(hearing);
}

static void tell_one(const cdr_ear *ear, const cdr_event_node *node)
{
    if (cdr_queue_is_deaf(&ear->hearing->queue))
        return;
    cdr_event_node *copy = cdr_event_new(&node->event, node->message);
    if (copy == NULL)
        return; // who listens misses it; the record does not
    copy->ear = ear;
    cdr_queue_push_now_take(&ear->hearing->queue, copy);
}

void cdr_ear_tell(const cdr_event_node *list)
{
    for (; list != NULL; list = list->next)
        for (const cdr_ear *ear = list->ear; ear != NULL; ear = ear->outer)
            tell_one(ear, list);
}

void cdr_ear_tell_delta(const cdr_ear *ear, const cadre_event *event)
{
    for (; ear != NULL; ear = ear->outer)
        cdr_queue_push_delta(&ear->hearing->queue, event, ear);
}

void cdr_ear_await_room(const cdr_ear *ear)
{
    for (; ear != NULL; ear = ear->outer)
        cdr_queue_await_room(&ear->hearing->queue);
}

cdr_queue *cdr_ear_full(const cdr_ear *ear, cdr_paused *paused)
{
    for (; ear != NULL; ear = ear->outer)
        if (cdr_queue_is_full(&ear->hearing->queue, paused))
            return &ear->hearing->queue;
    return NULL;
}

cdr_event_node *cdr_hearing_take(cdr_hearing *hearing)
{
    return cdr_queue_take_now(&hearing->queue);
}
