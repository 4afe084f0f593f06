// See birth.h.
#include "tree/birth.h"

#include "base/pool.h"
#include "tree/children.h"
#include "tree/frame_table.h"
#include "tree/key.h"
#include "tree/outbox.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A frame ---

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t deadline_of(const cadre_frame *frame, const cadre_frame *parent,
                           const cdr_birth *birth)
{
    int64_t inherited = parent == NULL ? CDR_NEVER : parent->deadline_ms;
    if (birth->deadline_ms != 0)
        inherited = birth->deadline_ms;
    if (birth->timeout_ms <= 0)
        return inherited;
    return earlier(inherited, cdr_deadline_ms(frame->started_ns, birth->timeout_ms));
}

static void inherit_hidden(cadre_frame *frame)
{
    const cadre_frame *parent = frame->parent;
    if (parent != NULL && parent->conversation == frame->conversation)
        frame->hider = parent->hider;
}

static void inherit(cadre_frame *frame, const cdr_birth *birth)
{
    cadre_frame *parent = frame->parent;
    bool same = parent == NULL || birth->conversation == NULL;
    cdr_conversation *conversation = birth->conversation;
    assert(parent != NULL || conversation != NULL); // a root opens or joins one
    if (conversation == NULL && parent != NULL)
        conversation = parent->conversation;
    frame->conversation = cdr_conversation_ref(conversation);
    frame->n_before = (unsigned)conversation->n_messages;
    frame->is_main = same && (parent == NULL || parent->is_main);
    frame->is_fork = birth->is_fork || (parent != NULL && parent->is_fork);
    frame->is_quiet = birth->is_quiet || (parent != NULL && parent->is_quiet);
    frame->ear = birth->ear != NULL || parent == NULL ? birth->ear : parent->ear;
    if (parent == NULL)
        return;
    inherit_hidden(frame);
    frame->depth = parent->depth + (parent->kind == CDR_FRAME_AGENT ? 1 : 0);
    frame->blocking = (short)(parent->blocking + (birth->is_blocking ? 1 : 0));
}

static unsigned char first_status(const cdr_birth *birth)
{
    if (birth->is_waiting)
        return CADRE_FRAME_WAITING;
    return birth->is_pending ? CADRE_FRAME_PENDING : CADRE_FRAME_RUNNING;
}

// In its session a run is known by how much was said before.
static cdr_keypath keypath_of(const cadre_frame *frame)
{
    const cadre_frame *parent = frame->parent;
    return parent == NULL ? cdr_keypath_root(frame->n_before)
                          : cdr_keypath_below(parent->keypath, parent->key, frame->key);
}

static cadre_frame *frame_new_locked(cdr_tree *tree, cadre_frame *parent,
                                     const cdr_birth *birth, const char *key)
{
    size_t key_size = strlen(key) + 1;
    // malloc and a clearing: calloc goes round the thread's cache of freed blocks.
    cadre_frame *frame = malloc(sizeof *frame + key_size);
    if (frame == NULL)
        return NULL;
    memset(frame, 0, sizeof *frame);
    memcpy(frame->key, key, key_size);
    frame->tree = tree;
    frame->parent = parent;
    frame->id = cadre_id_new();
    frame->name = birth->name;
    frame->agent = birth->agent;
    frame->kind = (unsigned char)birth->kind;
    frame->history = (unsigned char)birth->history;
    frame->scope = birth->scope;
    frame->tools = birth->tools;
    frame->demanded = birth->demanded;
    frame->input = cdr_text_ref(birth->input);
    frame->is_named = birth->is_named;
    frame->is_transfer = birth->is_transfer;
    frame->started_ns = birth->started_ns != 0 ? birth->started_ns
                                               : cdr_clock_now_ns(tree->runtime->clock);
    frame->deadline_ms = deadline_of(frame, parent, birth);
    frame->status = first_status(birth);
    frame->attempts = frame->status == CADRE_FRAME_RUNNING ? 1 : 0;
    atomic_init(&frame->mark, CDR_MARK_NONE);
    if (!cdr_pots_open_locked(frame, birth->budget, &birth->budget_used)) {
        cdr_pots_free(frame);
        cdr_text_unref(frame->input);
        free(frame);
        return NULL;
    }
    cdr_pots_limit_time_locked(frame, false);
    inherit(frame, birth);
    if (tree->replay != NULL)
        frame->keypath = keypath_of(frame);
    return frame;
}

// --- Telling ---

static void tell_birth_locked(cadre_frame *frame, const cdr_birth *birth)
{
    char parent[CADRE_ID_TEXT_SIZE] = "";
    cadre_event start = {.type = CADRE_EVENT_FRAME_START};
    cadre_event *event = birth->event;
    if (event == NULL && frame->kind == CDR_FRAME_AGENT) {
        event = &start;
        if (frame->parent != NULL && cdr_frame_is_heard(frame))
            cadre_id_text(frame->parent->id, parent);
        start.u.frame_start.parent_id = parent;
        start.u.frame_start.key = frame->key;
        start.u.frame_start.input = cdr_text_bytes(frame->input);
        start.u.frame_start.depth = frame->depth;
        start.u.frame_start.referer = cdr_frame_referer(frame);
    }
    if (event != NULL)
        cdr_outbox_event_locked(frame, event, NULL, true);
    if (birth->opens != NULL)
        cdr_outbox_conversation_locked(frame->tree, birth->opens, frame->parent,
                                       birth->session);
    cdr_outbox_frame_locked(frame, birth->replay_safe);
}

// Once for each consumer; the record has its seq from the first time.
static void tell_stream_start_locked(cdr_tree *tree, bool is_first)
{
    cadre_event start = {.type = CADRE_EVENT_STREAM_START};
    start.u.stream_start.trace_id = tree->trace_text;
    start.u.stream_start.team = tree->team->name;
    start.u.stream_start.offline = tree->runtime->offline;
    start.u.stream_start.texts_changed = tree->texts_changed;
    cdr_outbox_event_locked(tree->root, &start, NULL, is_first);
}

// --- May it be born? ---

enum {
    SHALLOW = 32,              // so deep no stack is looked at
    STACK_RESERVE = 256 * 1024 // for the callee's own work, and what it calls
};

static cadre_status fail_depth(const cadre_frame *parent, const cdr_birth *birth,
                               const char *how, cadre_error *err)
{
    cdr_arena arena = CDR_ARENA_INIT;
    char *path = cdr_frame_path_text(parent, &arena);
    cadre_fail_class(err, CADRE_ELIMIT, CADRE_CLASS_LIMIT, false,
                     "agent '%s': calls are nested %s: %s", birth->name, how,
                     path == NULL ? "" : path);
    cdr_arena_fini(&arena);
    return CADRE_ELIMIT;
}

static cadre_status refuse_birth(cadre_frame *parent, const cdr_birth *birth,
                                 cadre_error *err)
{
    const cadre_limits *limits = &parent->tree->limits;
    if (parent->mark != CDR_MARK_NONE)
        return cdr_frame_stopped(parent, err);
    if (!birth->is_blocking)
        return CADRE_OK;
    if (limits->max_depth != CADRE_UNLIMITED && parent->blocking >= limits->max_depth) {
        char what[64];
        (void)snprintf(what, sizeof what, "deeper than max_depth %d",
                       limits->max_depth);
        return fail_depth(parent, birth, what, err);
    }
    if (parent->blocking >= SHALLOW && cdr_pool_stack_left() < STACK_RESERVE)
        return fail_depth(parent, birth,
                          "so deep that the thread's stack is nearly used up", err);
    return CADRE_OK;
}

// --- Entering ---

// A frame that was cut goes on with what its parent gives it now. False: no memory.
static bool go_on_locked(cadre_frame *record, const cdr_birth *birth)
{
    if (!cdr_pots_open_locked(record, birth->budget, &birth->budget_used)) {
        cdr_pots_free(record);
        return false;
    }
    record->is_loaded = false;
    record->was_running = record->status == CADRE_FRAME_RUNNING;
    record->was_waiting = record->status == CADRE_FRAME_WAITING;
    record->scope = birth->scope;
    record->tools = birth->tools;
    record->demanded = birth->demanded;
    record->ear =
        birth->ear != NULL || record->parent == NULL ? birth->ear : record->parent->ear;
    record->history = (unsigned char)birth->history;
    record->is_named = birth->is_named;
    record->is_transfer = birth->is_transfer;
    inherit_hidden(record);
    record->started_ns = cdr_clock_now_ns(record->tree->runtime->clock);
    record->deadline_ms = deadline_of(record, record->parent, birth);
    cdr_pots_limit_time_locked(record, false);
    record->status = first_status(birth);
    record->restarts = (short)(record->restarts + (record->was_running ? 1 : 0));
    if (record->status == CADRE_FRAME_RUNNING) {
        record->attempts++;
        cdr_outbox_running_locked(record);
    }
    return true;
}

// The record of this key: ended answers, cut goes on, live is a mistake, another
// callee diverged.
static cadre_status use_record(cadre_frame *record, const cdr_birth *birth,
                               cadre_frame **out, cdr_entered *how, cadre_error *err)
{
    if (record->kind != birth->kind || strcmp(record->name, birth->name) != 0)
        return cadre_fail(err, CADRE_EDIVERGED,
                          "frame key '%s': recorded for '%s', now asked for '%s'",
                          record->key, record->name, birth->name);
    if (cdr_frame_is_ended(record)) {
        *how = CDR_ENTERED_RECORD;
        *out = record;
        return CADRE_OK;
    }
    if (!record->is_loaded)
        return cadre_fail(err, CADRE_EINVAL,
                          "frame key '%s' of '%s' is in use by a call under way",
                          record->key, record->name);
    if (record->parent->mark != CDR_MARK_NONE)
        return cdr_frame_stopped(record->parent, err);
    if (!go_on_locked(record, birth))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a frame");
    *how = CDR_ENTERED_AGAIN;
    *out = record;
    return CADRE_OK;
}

void cdr_frame_witness_locked(const cadre_frame *record, const char *input)
{
    const cdr_witness *witness = record->tree->runtime->witness;
    if (witness != NULL)
        witness->on_found(witness->ctx, record, input);
}

cadre_status cdr_frame_enter_locked(cadre_frame *parent, const cdr_birth *birth,
                                    cadre_frame **out, cdr_entered *how,
                                    cadre_error *err)
{
    cdr_tree *tree = parent->tree;
    char automatic[CDR_KEY_SIZE];
    const char *key = birth->key;
    if (key == NULL) {
        if (!cdr_key_make(parent, birth->name, automatic))
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a frame");
        key = automatic;
    }
    *how = CDR_ENTERED_NEW;
    cadre_frame *record = cdr_frame_find_locked(tree, parent, key);
    if (record != NULL) {
        cdr_frame_witness_locked(record, cdr_text_bytes(birth->input));
        return use_record(record, birth, out, how, err);
    }
    cadre_status status = refuse_birth(parent, birth, err);
    if (status != CADRE_OK)
        return status;
    assert(!cdr_frame_is_ended(parent));
    cadre_frame *frame = frame_new_locked(tree, parent, birth, key);
    if (frame == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a frame");
    cdr_frame_table_add_locked(tree, frame);
    cdr_child_add(&parent->live_children, frame);
    tell_birth_locked(frame, birth);
    *out = frame;
    return CADRE_OK;
}

// --- The root ---

cadre_frame *cdr_frame_new_root_locked(cdr_tree *tree, const cdr_birth *birth)
{
    assert(tree->root == NULL);
    cadre_frame *frame = frame_new_locked(tree, NULL, birth, CDR_ROOT_KEY);
    if (frame == NULL)
        return NULL;
    tree->root = frame;
    tell_stream_start_locked(tree, true);
    cdr_outbox_trace_locked(tree);
    tell_birth_locked(frame, birth);
    return frame;
}

bool cdr_frame_resume_root_locked(cdr_tree *tree, const cdr_birth *birth)
{
    tell_stream_start_locked(tree, false);
    return go_on_locked(tree->root, birth);
}

void cdr_frame_start_locked(cadre_frame *frame, bool tell)
{
    if (cdr_frame_is_ended(frame))
        return; // it was abandoned meanwhile
    frame->status = CADRE_FRAME_RUNNING;
    frame->attempts++;
    if (tell)
        cdr_outbox_running_locked(frame);
}
