// See replay.h.
#include "tree/replay.h"

#include "tree/tree.h"

#include <stdlib.h>
#include <string.h>

cdr_replay *cdr_replay_new(const cadre_script *script)
{
    const cdr_recording *recording = &script->recording;
    cdr_replay *replay = calloc(1, sizeof *replay);
    if (replay == NULL)
        return NULL;
    replay->script = script;
    replay->recording = recording;
    replay->is_taken = calloc(recording->n_calls + 1, sizeof *replay->is_taken);
    replay->has_come = calloc(recording->n_awaited + 1, sizeof *replay->has_come);
    replay->waiting = calloc(recording->n_awaited + 1, sizeof(cdr_replay_waiting *));
    if (replay->is_taken == NULL || replay->has_come == NULL ||
        replay->waiting == NULL) {
        cdr_replay_free(replay);
        return NULL;
    }
    return replay;
}

void cdr_replay_free(cdr_replay *replay)
{
    if (replay == NULL)
        return;
    free(replay->is_taken);
    free(replay->has_come);
    free(replay->waiting);
    free(replay);
}

// --- What was served ---

static cdr_keypath keypath_below(const cadre_frame *frame, const char *key)
{
    return cdr_keypath_below(frame->keypath, frame->key, key);
}

const cdr_recorded *cdr_replay_find(const cadre_frame *frame, const char *key)
{
    const cdr_replay *replay = frame->tree->replay;
    return replay == NULL
               ? NULL
               : cdr_recording_find(replay->recording, keypath_below(frame, key));
}

// Was a frame on the way to that call stopped?
static bool is_below_stop(const cdr_recording *recording, const char *at)
{
    char above[1024];
    size_t len = strlen(at);
    cdr_keypath root = cdr_keypath_root(0), keypath;
    if (recording->n_stops == 0 || len >= sizeof above)
        return false;
    if (cdr_recording_find_stop(recording, root) != NULL)
        return true;
    memcpy(above, at, len + 1);
    for (char *end = above + len; end != NULL; end = strrchr(above, '>')) {
        end -= end == above + len ? 0 : 1; // " > " stands between keys, and in none
        *end = '\0';
        if (cdr_keypath_parse(above, &keypath) &&
            cdr_recording_find_stop(recording, keypath) != NULL)
            return true;
    }
    return false;
}

const cdr_recorded *cdr_replay_first_left(const cdr_replay *replay)
{
    const cdr_recording *recording = replay->recording;
    size_t i = 0;
    while (i < recording->n_calls &&
           (replay->is_taken[recording->in_order[i]] ||
            is_below_stop(recording, recording->calls[recording->in_order[i]].at_text)))
        i++;
    return i == recording->n_calls ? NULL : &recording->calls[recording->in_order[i]];
}

void cdr_replay_take_locked(cdr_tree *tree, const cdr_recorded *recorded)
{
    tree->replay->is_taken[recorded - tree->replay->recording->calls] = true;
}

static void wake_locked(const cdr_replay *replay, size_t awaited)
{
    for (cdr_replay_waiting *at = replay->waiting[awaited]; at != NULL; at = at->next)
        cdr_strand_wake(at->strand);
}

static void note_locked(const cdr_replay *replay, cdr_keypath keypath)
{
    size_t awaited = cdr_recording_awaited(replay->recording, keypath);
    if (awaited == replay->recording->n_awaited || replay->has_come[awaited])
        return;
    replay->has_come[awaited] = true;
    wake_locked(replay, awaited);
}

void cdr_replay_note_begun_locked(const cadre_frame *frame)
{
    note_locked(frame->tree->replay, frame->keypath);
}

void cdr_replay_note_end_locked(cadre_frame *frame)
{
    cdr_replay *replay = frame->tree->replay;
    if (replay == NULL)
        return;
    const cdr_recorded *own = cdr_recording_find(replay->recording, frame->keypath);
    if (own != NULL)
        cdr_replay_take_locked(frame->tree, own);
    note_locked(replay, frame->keypath);
}

void cdr_replay_note_loaded_locked(cadre_frame *frame, uint64_t n_before)
{
    if (frame->tree->replay == NULL)
        return;
    frame->keypath = frame->parent == NULL ? cdr_keypath_root(n_before)
                                           : keypath_below(frame->parent, frame->key);
    if (cdr_frame_is_ended(frame))
        cdr_replay_note_end_locked(frame);
}

cadre_status cdr_replay_differ_locked(cdr_tree *tree, const cadre_error *difference,
                                      cadre_error *err)
{
    cdr_replay *replay = tree->replay;
    if (replay->difference.status == CADRE_OK) {
        replay->difference = *difference;
        for (size_t i = 0; i <= replay->recording->n_awaited; i++)
            wake_locked(replay, i);
    }
    const cadre_error *first = &replay->difference;
    return cadre_fail_class(err, first->status, first->error_class, false, "%s",
                            first->text);
}

// --- Waiting ---

// Have all of them come?
static bool have_come_locked(const cdr_replay *replay, const cdr_replay_wait *wait,
                             cdr_replay_waiting *self)
{
    while (self->n_come < wait->n_after && replay->has_come[wait->after[self->n_come]])
        self->n_come++;
    return (self->n_come == wait->n_after || self->is_in_vain) && !wait->until_stopped;
}

static void link_locked(cdr_replay *replay, const cdr_replay_wait *wait,
                        cdr_replay_waiting *self)
{
    size_t awaited = self->n_come < wait->n_after ? wait->after[self->n_come]
                                                  : replay->recording->n_awaited;
    self->link = &replay->waiting[awaited];
    self->next = *self->link;
    if (self->next != NULL)
        self->next->link = &self->next;
    *self->link = self;
}

static void unlink_locked(const cdr_replay_waiting *self)
{
    *self->link = self->next;
    if (self->next != NULL)
        self->next->link = self->link;
}

// What does not come is not waited for; the call goes on, and what is left over tells
// the rest. One at a time: the next may come of it. A stop comes of nothing else.
void cdr_replay_go_on_locked(cdr_tree *tree)
{
    const cdr_replay *replay = tree->replay;
    cadre_error late = CADRE_ERROR_INIT;
    size_t i = 0;
    while (i < replay->recording->n_awaited && replay->waiting[i] == NULL)
        i++;
    cdr_replay_waiting *first = replay->waiting[i];
    if (first == NULL)
        return;
    if (!first->wait->until_stopped) {
        first->is_in_vain = true;
        cdr_strand_wake(first->strand);
        return;
    }
    cadre_fail_class(&late, CADRE_EDIVERGED, CADRE_CLASS_DIVERGED, false,
                     "%s: it was stopped%s in the recording; nothing stops it now",
                     first->wait->who, first->wait->by);
    cdr_replay_differ_locked(tree, &late, NULL);
}

static cadre_status look_locked(cadre_frame *frame, const cdr_replay_wait *wait,
                                cdr_replay_waiting *self, bool *is_over,
                                cadre_error *err)
{
    cdr_replay *replay = frame->tree->replay;
    cadre_status status = cdr_frame_stopped(frame, err);
    *is_over = true;
    if (status != CADRE_OK)
        return status;
    if (replay->difference.status != CADRE_OK)
        return cdr_replay_differ_locked(frame->tree, &replay->difference, err);
    if (have_come_locked(replay, wait, self))
        return CADRE_OK;
    *is_over = false;
    return CADRE_OK;
}

cadre_status cdr_replay_await(cadre_frame *frame, const cdr_replay_wait *wait,
                              cadre_error *err)
{
    cdr_tree *tree = frame->tree;
    cdr_replay_waiting self = {.strand = frame->work->strand, .wait = wait};
    bool is_over = false;
    cdr_mutex_lock(&tree->mu);
    for (;;) {
        unsigned seen = cdr_strand_seen(self.strand);
        cadre_status status = look_locked(frame, wait, &self, &is_over, err);
        if (is_over) {
            cdr_mutex_unlock(&tree->mu);
            return status;
        }
        link_locked(tree->replay, wait, &self);
        cdr_mutex_unlock(&tree->mu);
        cdr_park_idle(frame, seen);
        cdr_mutex_lock(&tree->mu);
        unlink_locked(&self);
    }
}
