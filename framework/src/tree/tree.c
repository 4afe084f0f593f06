// See tree.h.
#include "tree/tree.h"

#include "base/pool.h"
#include "tree/abandon.h"
#include "tree/delta.h"
#include "tree/frame_table.h"
#include "tree/outbox.h"
#include "tree/race.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cdr_tree *cdr_tree_new(cadre_team *team, cadre_error *err)
{
    cdr_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        return NULL;
    }
    tree->runtime = team->runtime;
    tree->team = team;
    tree->trace = cadre_id_new();
    tree->spawn.within = "";
    cadre_id_text(tree->trace, tree->trace_text);
    tree->wall_offset_ns = cdr_clock_wall_ms(tree->runtime->clock) * 1000000 -
                           cdr_clock_now_ns(tree->runtime->clock);
    cdr_mutex_init(&tree->mu);
    cdr_cond_init(&tree->flushed);
    cdr_queue_init(&tree->queue);
    tree->n_buckets = 16;
    tree->buckets = calloc(tree->n_buckets, sizeof *tree->buckets);
    tree->script_used = calloc(team->n_agents + 1, sizeof *tree->script_used);
    tree->script_results = calloc(team->n_tools + 1, sizeof *tree->script_results);
    if (tree->buckets == NULL || tree->script_used == NULL ||
        tree->script_results == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for a run");
        cdr_tree_free(tree);
        return NULL;
    }
    return tree;
}

static void frame_free(cadre_frame *frame)
{
    assert(frame->work == NULL);
    cdr_conversation_unref(frame->conversation);
    cdr_text_unref(frame->input);
    cdr_text_unref(frame->output);
    cdr_json_unshare(frame->state);
    cdr_json_unshare(frame->delta);
    cdr_failure_unref(frame->failure);
    free(frame);
}

int64_t cdr_tree_now_ms(const cdr_tree *tree)
{
    return cdr_clock_now_ms(tree->runtime->clock);
}

// --- Lists of children ---

static void list_add(cadre_frame **list, cadre_frame *frame)
{
    frame->next = *list;
    frame->link = list;
    if (frame->next != NULL)
        frame->next->link = &frame->next;
    *list = frame;
}

static void list_remove(cadre_frame *frame)
{
    *frame->link = frame->next;
    if (frame->next != NULL)
        frame->next->link = frame->link;
    frame->next = NULL;
    frame->link = NULL;
}

static bool is_ended(const cadre_frame *frame)
{
    return frame->status >= CADRE_FRAME_COMPLETED;
}

// --- Birth ---

// A callee of this frame and how often it was called, for automatic keys.
struct cdr_call_count {
    const char *name;
    unsigned long n;
};

// Open addressing, at most half full: the names of steps may all be different.
static struct cdr_call_count *count_slot(struct cdr_call_count *counts, size_t capacity,
                                         const char *name)
{
    size_t at = cdr_frame_hash(NULL, name) & (capacity - 1);
    while (counts[at].name != NULL && strcmp(counts[at].name, name) != 0)
        at = (at + 1) & (capacity - 1);
    return &counts[at];
}

static bool grow_counts(cdr_work *work)
{
    size_t capacity = work->counts_capacity == 0 ? 4 : work->counts_capacity * 2;
    struct cdr_call_count *grown = calloc(capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < work->counts_capacity; i++)
        if (work->counts[i].name != NULL)
            *count_slot(grown, capacity, work->counts[i].name) = work->counts[i];
    free(work->counts);
    work->counts = grown;
    work->counts_capacity = capacity;
    return true;
}

static unsigned long *count_of(cdr_work *work, const char *name)
{
    if (2 * (work->n_counts + 1) > work->counts_capacity && !grow_counts(work))
        return NULL;
    struct cdr_call_count *count =
        count_slot(work->counts, work->counts_capacity, name);
    if (count->name == NULL) {
        count->name = cdr_arena_text(&work->arena, name); // a step's may go away
        if (count->name == NULL)
            return NULL;
        work->n_counts++;
    }
    return &count->n;
}

enum {
    KEY_SIZE = 96
};

// Writes "<name>#<n>", or "<prefix>/<n>" in a hook; names are at most 64 characters.
static bool automatic_key(cadre_frame *parent, const char *name, char key[KEY_SIZE])
{
    cdr_hook_keys *hook = parent->work->hook_keys;
    if (hook != NULL) {
        (void)snprintf(key, KEY_SIZE, "%s/%lu", hook->prefix, ++hook->n);
        return true;
    }
    unsigned long *n = count_of(parent->work, name);
    if (n == NULL)
        return false;
    char digits[24];
    size_t n_digits = 0;
    for (unsigned long left = ++*n; left > 0; left /= 10)
        digits[n_digits++] = (char)('0' + left % 10);
    size_t len = strnlen(name, KEY_SIZE - sizeof digits - 2);
    memcpy(key, name, len);
    key[len++] = '#';
    while (n_digits > 0)
        key[len++] = digits[--n_digits];
    key[len] = '\0';
    return true;
}

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
    frame->input = cdr_text_ref(birth->input);
    frame->is_named = birth->is_named;
    frame->is_transfer = birth->is_transfer;
    frame->started_ns = birth->started_ns != 0 ? birth->started_ns
                                               : cdr_clock_now_ns(tree->runtime->clock);
    frame->deadline_ms = deadline_of(frame, parent, birth);
    frame->status = first_status(birth);
    frame->attempts = frame->status == CADRE_FRAME_RUNNING ? 1 : 0;
    atomic_init(&frame->mark, CDR_MARK_NONE);
    inherit(frame, birth);
    return frame;
}

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

cadre_frame *cdr_frame_new_root_locked(cdr_tree *tree, const cdr_birth *birth)
{
    assert(tree->root == NULL);
    cadre_frame *frame = frame_new_locked(tree, NULL, birth, "root");
    if (frame == NULL)
        return NULL;
    tree->root = frame;
    tell_stream_start_locked(tree, true);
    cdr_outbox_trace_locked(tree);
    tell_birth_locked(frame, birth);
    return frame;
}

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

// A frame that was cut goes on with what its parent gives it now.
static void go_on_locked(cadre_frame *record, const cdr_birth *birth)
{
    record->is_loaded = false;
    record->was_running = record->status == CADRE_FRAME_RUNNING;
    record->was_waiting = record->status == CADRE_FRAME_WAITING;
    record->scope = birth->scope;
    record->tools = birth->tools;
    record->ear =
        birth->ear != NULL || record->parent == NULL ? birth->ear : record->parent->ear;
    record->history = (unsigned char)birth->history;
    record->is_named = birth->is_named;
    record->is_transfer = birth->is_transfer;
    inherit_hidden(record);
    record->started_ns = cdr_clock_now_ns(record->tree->runtime->clock);
    record->deadline_ms = deadline_of(record, record->parent, birth);
    record->status = first_status(birth);
    record->restarts = (short)(record->restarts + (record->was_running ? 1 : 0));
    if (record->status != CADRE_FRAME_RUNNING)
        return;
    record->attempts++;
    cdr_outbox_running_locked(record);
}

// The record of this key: ended answers, cut goes on, live is a mistake, another callee
// diverged.
static cadre_status use_record(cadre_frame *record, const cdr_birth *birth,
                               cadre_frame **out, cdr_entered *how, cadre_error *err)
{
    if (record->kind != birth->kind || strcmp(record->name, birth->name) != 0)
        return cadre_fail(err, CADRE_EDIVERGED,
                          "frame key '%s': recorded for '%s', now asked for '%s'",
                          record->key, record->name, birth->name);
    if (is_ended(record)) {
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
    go_on_locked(record, birth);
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
    char automatic[KEY_SIZE];
    const char *key = birth->key;
    if (key == NULL) {
        if (!automatic_key(parent, birth->name, automatic))
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
    assert(!is_ended(parent));
    cadre_frame *frame = frame_new_locked(tree, parent, birth, key);
    if (frame == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a frame");
    cdr_frame_table_add_locked(tree, frame);
    list_add(&parent->live_children, frame);
    tell_birth_locked(frame, birth);
    *out = frame;
    return CADRE_OK;
}

void cdr_frame_start_locked(cadre_frame *frame, bool tell)
{
    if (is_ended(frame))
        return; // it was abandoned meanwhile
    frame->status = CADRE_FRAME_RUNNING;
    frame->attempts++;
    if (tell)
        cdr_outbox_running_locked(frame);
}

// --- Ending ---

void cdr_usage_add(cadre_usage *sum, const cadre_usage *more)
{
    sum->model_calls += more->model_calls;
    sum->tool_calls += more->tool_calls;
    sum->input_tokens += more->input_tokens;
    sum->output_tokens += more->output_tokens;
    sum->cached_input_tokens += more->cached_input_tokens;
    sum->reasoning_tokens += more->reasoning_tokens;
}

static void drop_locked(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    assert(frame->live_children == NULL && frame->kept_children == NULL);
    if (frame->is_retired)
        return;
    list_remove(frame);
    cdr_frame_table_remove_locked(tree, frame);
    if (!frame->is_pinned) {
        frame_free(frame);
        return;
    }
    frame->is_retired = true;
    frame->next = tree->retired;
    tree->retired = frame;
}

// A run that was loaded and never ran has frames below its root.
static void free_frames(cdr_tree *tree)
{
    cadre_frame *root = tree->root;
    while (root != NULL &&
           (root->live_children != NULL || root->kept_children != NULL)) {
        cadre_frame *leaf = root;
        // Dropping takes it off its parent's list, which the analyzer does not see.
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc)
        while (leaf->live_children != NULL || leaf->kept_children != NULL)
            leaf =
                leaf->live_children != NULL ? leaf->live_children : leaf->kept_children;
        drop_locked(leaf);
    }
    if (root != NULL)
        frame_free(root);
    while (tree->retired != NULL) {
        cadre_frame *frame = tree->retired;
        tree->retired = frame->next;
        frame_free(frame);
    }
    while (tree->hearings_ended != NULL) {
        cdr_hearing *hearing = tree->hearings_ended;
        tree->hearings_ended = hearing->next;
        cdr_hearing_free(hearing);
    }
}

void cdr_tree_free(cdr_tree *tree)
{
    if (tree == NULL)
        return;
    cdr_straggler_await(tree);
    free_frames(tree);
    cdr_outbox_fini(&tree->outbox);
    cdr_outbox_fini(&tree->spare);
    cdr_queue_fini(&tree->queue);
    cdr_arena_fini(&tree->arena);
    cdr_inbox_fini(&tree->inbox);
    json_decref(tree->inputs);
    free(tree->buckets);
    free(tree->script_used);
    free(tree->script_results);
    cdr_cond_fini(&tree->flushed);
    cdr_mutex_fini(&tree->mu);
    free(tree);
}

// An error is told once, where it happened first.
static void tell_error_locked(cadre_frame *frame)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_event event = {.type = CADRE_EVENT_ERROR};
    if (frame->failure == NULL || frame->status != CADRE_FRAME_FAILED)
        return;
    cadre_id_text(frame->id, id);
    event.u.error = cdr_failure_info(frame->failure);
    if (strcmp(id, frame->failure->frame_id) == 0)
        cdr_outbox_event_locked(frame, &event, NULL, false);
}

static void tell_end_locked(cadre_frame *frame, const cdr_ending *ending)
{
    int64_t now = cdr_clock_now_ns(frame->tree->runtime->clock);
    if (frame->kind == CDR_FRAME_AGENT) {
        cadre_event event = {.type = CADRE_EVENT_FRAME_END};
        event.u.frame_end.status = ending->status;
        event.u.frame_end.stop_reason = ending->stop_reason;
        event.u.frame_end.output = cdr_text_bytes(frame->output);
        event.u.frame_end.usage = frame->usage;
        event.u.frame_end.duration_ms = (now - frame->started_ns) / 1000000;
        event.u.frame_end.error = cdr_failure_info(frame->failure);
        tell_error_locked(frame);
        cdr_outbox_event_locked(frame, &event, NULL, true);
    }
    cdr_outbox_end_locked(frame, &ending->own, now);
}

// Frames nobody works on, bottom-up: calls of a turn that was stopped, and what a cut
// run left open.
static void end_open_children_locked(cadre_frame *frame)
{
    while (frame->live_children != NULL) {
        cadre_frame *child = frame->live_children;
        while (child->live_children != NULL)
            child = child->live_children;
        assert(child->work == NULL &&
               (child->is_loaded || child->status != CADRE_FRAME_RUNNING));
        cdr_frame_mark_locked(child, CDR_MARK_OWNER);
        cdr_frame_end_locked(child, &(cdr_ending){.status = CADRE_FRAME_ABORTED,
                                                  .stop_reason = CADRE_STOP_ABORTED});
    }
}

// What it saw is of no use any more, and what it added only when it completed.
static void end_state(cadre_frame *frame)
{
    cdr_json_unshare(frame->state);
    frame->state = NULL;
    if (frame->status == CADRE_FRAME_COMPLETED)
        return;
    cdr_json_unshare(frame->delta);
    frame->delta = NULL;
}

void cdr_frame_end_locked(cadre_frame *frame, const cdr_ending *ending)
{
    if (is_ended(frame)) {
        cdr_failure_unref(ending->failure);
        return;
    }
    end_open_children_locked(frame);
    assert(ending->status >= CADRE_FRAME_COMPLETED);
    frame->status = (unsigned char)ending->status;
    frame->stop_reason = (unsigned char)ending->stop_reason;
    frame->output = cdr_text_ref(ending->output);
    frame->failure = ending->failure;
    cdr_usage_add(&frame->usage, &ending->own);
    end_state(frame);
    tell_end_locked(frame, ending);
    cdr_race_look_locked(frame);
    for (cadre_frame *child = frame->kept_children; child != NULL;) {
        cadre_frame *next = child->next;
        drop_locked(child);
        child = next;
    }
    if (frame->parent == NULL)
        return;
    cdr_usage_add(&frame->parent->usage, &frame->usage);
    list_remove(frame);
    list_add(&frame->parent->kept_children, frame);
}

void cdr_frame_park_locked(cadre_frame *frame)
{
    if (frame->status == CADRE_FRAME_PENDING || is_ended(frame))
        return; // it has not started, or was abandoned meanwhile
    frame->status = CADRE_FRAME_WAITING;
    cdr_outbox_running_locked(frame);
}

bool cdr_frame_is_hidden(const cadre_frame *frame, size_t position)
{
    const cadre_frame *hider = frame->hider;
    while (hider != NULL) {
        if (position >= hider->hidden_from && position < hider->hidden_to)
            return true;
        const cadre_frame *above = hider->parent;
        bool same = above != NULL && above->conversation == hider->conversation;
        hider = same ? above->hider : NULL;
    }
    return false;
}

void cdr_frame_resume_root_locked(cdr_tree *tree, int64_t timeout_ms)
{
    cdr_birth birth = {.kind = CDR_FRAME_AGENT, .timeout_ms = timeout_ms};
    tell_stream_start_locked(tree, false);
    go_on_locked(tree->root, &birth);
}

cadre_frame *cdr_frame_child_locked(cadre_frame *parent, const char *key)
{
    return cdr_frame_find_locked(parent->tree, parent, key);
}

void cdr_frame_put_loaded_locked(cadre_frame *frame)
{
    cadre_frame *parent = frame->parent;
    if (parent == NULL)
        return;
    cdr_frame_table_add_locked(frame->tree, frame);
    list_add(is_ended(frame) ? &parent->kept_children : &parent->live_children, frame);
}

void cdr_frame_forget_loaded(cadre_frame *frame)
{
    cdr_tree *tree = frame->tree;
    cdr_mutex_lock(&tree->mu);
    assert(is_ended(frame) && is_ended(frame->parent));
    drop_locked(frame);
    cdr_mutex_unlock(&tree->mu);
}

void cdr_frame_release_locked(cadre_frame *frame)
{
    assert(is_ended(frame) && frame->work == NULL);
    if (frame->parent != NULL && !frame->is_named)
        drop_locked(frame);
}
