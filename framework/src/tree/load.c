// See load.h.
#include "tree/load.h"

#include "tree/children.h"
#include "tree/delta.h"
#include "tree/ending.h"
#include "tree/id_table.h"
#include "tree/key.h"
#include "tree/spent.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SEQ (INT64_MAX / 2) // a run goes on counting from there

typedef struct loader {
    cdr_tree *tree;
    cdr_id_table conversations, frames;
    cdr_id_table births;    // of frames: which one it was, from 1
    cadre_frame **in_order; // by birth
    size_t n_frames, capacity;
    cdr_conversation **opened; // a reference each, until the frames have theirs
    size_t n_opened, opened_capacity;
    cdr_spending spending;
    bool is_there;
} loader;

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for the record of a run");
}

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    loader *l = ctx;
    l->is_there = true;
    if (row->last_seq < 0 || row->last_seq > MAX_SEQ)
        return cadre_fail(err, CADRE_ESTORE,
                          "run %s is damaged: no event has the number %" PRId64,
                          l->tree->trace_text, row->last_seq);
    l->tree->last_seq = row->last_seq;
    return CADRE_OK;
}

// --- Conversations ---

static bool note_opened(loader *l, cdr_conversation *conversation)
{
    if (l->n_opened == l->opened_capacity) {
        size_t capacity = l->n_opened == 0 ? 8 : l->n_opened * 2;
        void *grown = realloc(l->opened, capacity * sizeof(*l->opened));
        if (grown == NULL)
            return false;
        l->opened = grown;
        l->opened_capacity = capacity;
    }
    l->opened[l->n_opened++] = conversation;
    return true;
}

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    loader *l = ctx;
    cdr_conversation *base = cdr_id_table_get(&l->conversations, row->base);
    cdr_conversation *conversation = cdr_conversation_new(base);
    if (conversation == NULL)
        return no_memory(err);
    if (!note_opened(l, conversation)) {
        cdr_conversation_unref(conversation);
        return no_memory(err);
    }
    conversation->id = row->id;
    conversation->base_count = (size_t)row->base_position;
    l->tree->is_session |= row->session[0] != '\0';
    return cdr_id_table_put(&l->conversations, row->id, conversation) ? CADRE_OK
                                                                      : no_memory(err);
}

static cadre_status take_message(void *ctx, const cadre_message_row *row,
                                 cadre_error *err)
{
    loader *l = ctx;
    cdr_conversation *conversation =
        cdr_id_table_get(&l->conversations, row->conversation);
    if (row->message.position < 0) {
        cdr_inbox_put(l->tree, row);
        return CADRE_OK;
    }
    if (conversation == NULL)
        return CADRE_OK; // of none that a frame works in
    cdr_message *message = cdr_message_new(&row->message, row->id, row->frame);
    if (message == NULL)
        return no_memory(err);
    if (message->m.is_input) {
        const cadre_agent *to = cadre_team_find(l->tree->team, message->m.to);
        message->is_to_team = to != NULL && to->members.count > 0;
    }
    return cdr_conversation_append_take(conversation, message) ? CADRE_OK
                                                               : no_memory(err);
}

// --- Frames ---

static cdr_frame_kind kind_of(const char *name)
{
    if (strcmp(name, "model") == 0)
        return CDR_FRAME_MODEL;
    if (strcmp(name, "ask") == 0)
        return CDR_FRAME_ASK;
    return strcmp(name, "tool") == 0 ? CDR_FRAME_TOOL : CDR_FRAME_AGENT;
}

static cadre_status set_callee(loader *l, cadre_frame *frame,
                               const cadre_frame_row *row, cadre_error *err)
{
    cdr_tree *tree = l->tree;
    if (frame->kind == CDR_FRAME_AGENT) {
        frame->agent = cadre_team_find(tree->team, row->name);
        if (frame->agent == NULL)
            return cadre_fail(err, CADRE_ECONFIG,
                              "run %s has a frame of agent '%s', which team '%s' does "
                              "not have any more",
                              tree->trace_text, row->name, tree->team->name);
        frame->name = frame->agent->info.name;
        return CADRE_OK;
    }
    frame->agent = frame->parent->agent;
    frame->name = cdr_arena_text(&tree->arena, row->name);
    return frame->name == NULL ? no_memory(err) : CADRE_OK;
}

static cadre_status set_texts(cadre_frame *frame, const cadre_frame_row *row,
                              cadre_error *err)
{
    char id[CADRE_ID_TEXT_SIZE];
    if (row->input[0] != '\0') {
        frame->input = cdr_text_new(row->input, strlen(row->input));
        if (frame->input == NULL)
            return no_memory(err);
    }
    if (row->output[0] != '\0') {
        frame->output = cdr_text_new(row->output, strlen(row->output));
        if (frame->output == NULL)
            return no_memory(err);
    }
    if (cdr_delta_read(row->delta, &frame->delta, err) != CADRE_OK)
        return CADRE_ESTORE;
    if (row->error[0] == '\0')
        return CADRE_OK;
    cadre_error failure = CADRE_ERROR_INIT;
    cadre_fail_class(&failure, CADRE_EFAILED, row->error_class, row->error_retryable,
                     "%s", row->error);
    cadre_id_text(cdr_frame_nearest_agent(frame)->id, id);
    frame->failure = cdr_failure_new(&failure, frame->agent->info.name, id);
    return frame->failure == NULL ? no_memory(err) : CADRE_OK;
}

static void set_place(cadre_frame *frame, const cadre_frame_row *row)
{
    const cadre_frame *parent = frame->parent;
    bool is_agent = frame->kind == CDR_FRAME_AGENT;
    frame->depth = row->depth;
    frame->attempts = (short)row->attempts;
    frame->restarts = (short)row->restarts;
    frame->status = (unsigned char)row->status;
    frame->stop_reason = (unsigned char)row->stop_reason;
    frame->usage = row->usage;
    frame->deadline_ms = CDR_NEVER; // what is left of its time is counted anew
    frame->was_unsafe = !row->replay_safe;
    frame->is_loaded = row->status < CADRE_FRAME_COMPLETED;
    frame->is_transfer = strcmp(frame->key, "transfer") == 0;
    atomic_store(&frame->mark, (unsigned char)cdr_mark_of(row->mark));
    if (frame->is_loaded)
        cdr_tree_keep_reason(frame->tree, row->mark);
    frame->is_main = true;
    frame->is_quiet = is_agent && frame->agent->quiet;
    if (parent == NULL)
        return;
    bool same = parent->conversation == frame->conversation;
    frame->is_main = parent->is_main && same;
    frame->is_fork = parent->is_fork || !same;
    frame->is_quiet |= parent->is_quiet;
    frame->blocking =
        (short)(parent->blocking + (is_agent && !frame->is_transfer ? 1 : 0));
    if (parent->mark != CDR_MARK_NONE && frame->is_loaded)
        atomic_store(&frame->mark, parent->mark);
}

static bool note_frame(loader *l, cadre_frame *frame)
{
    if (l->n_frames == l->capacity) {
        size_t capacity = l->n_frames == 0 ? 32 : l->n_frames * 2;
        void *grown = realloc(l->in_order, capacity * sizeof(*l->in_order));
        if (grown == NULL)
            return false;
        l->in_order = grown;
        l->capacity = capacity;
    }
    l->in_order[l->n_frames++] = frame;
    return cdr_id_table_put(&l->frames, frame->id, frame) &&
           cdr_id_table_put(&l->births, frame->id, (void *)(uintptr_t)l->n_frames);
}

// An answer that a hook gave was no call: nobody was asked.
static bool is_asked(const cadre_frame *model)
{
    return model->attempts > 0 || (model->status != CADRE_FRAME_PENDING &&
                                   model->status != CADRE_FRAME_COMPLETED);
}

static void count_call(cdr_tree *tree, const cadre_frame *frame)
{
    size_t index = 0;
    if (frame->kind == CDR_FRAME_MODEL)
        tree->n_model_calls += is_asked(frame) ? 1 : 0;
    else if (frame->kind == CDR_FRAME_TOOL && frame->status != CADRE_FRAME_PENDING &&
             cdr_key_is_of_call(frame->key, &index))
        tree->n_tool_calls++;
}

// The frame is in the tree as soon as it exists, so that a failure frees it with it.
static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    loader *l = ctx;
    cdr_tree *tree = l->tree;
    size_t key_size = strlen(row->key) + 1;
    cadre_frame *parent = cdr_id_table_get(&l->frames, row->parent);
    cdr_conversation *conversation =
        cdr_id_table_get(&l->conversations, row->conversation);
    if (conversation == NULL || (parent == NULL) != (tree->root == NULL))
        return cadre_fail(err, CADRE_ESTORE,
                          "the record of run %s is incomplete: frame '%s' has no %s",
                          tree->trace_text, row->key,
                          conversation == NULL ? "conversation" : "parent");
    cadre_frame *frame = calloc(1, sizeof *frame + key_size);
    if (frame == NULL)
        return no_memory(err);
    memcpy(frame->key, row->key, key_size);
    frame->tree = tree;
    frame->parent = parent;
    frame->id = row->id;
    frame->kind = (unsigned char)kind_of(row->kind);
    frame->conversation = cdr_conversation_ref(conversation);
    frame->status = (unsigned char)row->status;
    cdr_mutex_lock(&frame->tree->mu);
    if (parent == NULL)
        tree->root = frame;
    cdr_frame_put_loaded_locked(frame);
    cdr_mutex_unlock(&frame->tree->mu);
    cadre_status status = note_frame(l, frame) ? CADRE_OK : no_memory(err);
    if (status == CADRE_OK)
        status = set_callee(l, frame, row, err);
    if (status == CADRE_OK)
        status = set_texts(frame, row, err);
    if (status != CADRE_OK)
        return status;
    set_place(frame, row);
    count_call(tree, frame);
    return cdr_spending_note(&l->spending, frame, row) ? CADRE_OK : no_memory(err);
}

// --- What rows do not say ---

// Whose answer an ended frame gave: that of what it handed over to, or of the delegate
// whose answer it took.
static void derive_answer(cadre_frame *frame)
{
    cadre_frame *parent = frame->parent;
    if (frame->answered_by == NULL)
        frame->answered_by = frame->name;
    // One that lives has its answer still to give.
    if (parent == NULL || !cdr_frame_is_ended(parent) ||
        frame->kind != CDR_FRAME_AGENT || parent->kind != CDR_FRAME_AGENT ||
        parent->conversation != frame->conversation)
        return;
    bool is_same =
        strcmp(cdr_text_bytes(parent->output), cdr_text_bytes(frame->output)) == 0;
    if (frame->is_transfer && parent->output == NULL)
        parent->output = cdr_text_ref(frame->output);
    if ((frame->is_transfer || is_same) && parent->answered_by == NULL)
        parent->answered_by = frame->answered_by;
}

cdr_script_place cdr_frame_script_place(const cadre_frame *record)
{
    static const char steps[] = "{\"steps\":["; // run/asked.h; before it stood alone
    const char *text = cdr_text_bytes(record->input);
    char *end = NULL;
    if (strncmp(text, steps, sizeof steps - 1) == 0)
        text += sizeof steps - 1;
    int before = (int)strtol(text, &end, 10);
    int after = (int)strtol(end + (*end == ','), NULL, 10);
    int retries = record->attempts - 1 - record->restarts;
    if (after == before || retries < 0)
        retries = 0;
    return (cdr_script_place){before + retries, after + retries};
}

static void derive_script(cdr_tree *tree, const cadre_frame *frame)
{
    if (frame->kind != CDR_FRAME_MODEL || frame->input == NULL)
        return;
    int *used = &tree->script_used[frame->agent->index];
    int place = cdr_frame_script_place(frame).after;
    if (place > *used)
        *used = place;
}

// A scripted tool gives its results in order: how many it gave.
static void derive_results(cdr_tree *tree, const cadre_frame *frame)
{
    bool is_result = frame->status == CADRE_FRAME_COMPLETED ||
                     (frame->failure != NULL &&
                      strncmp(frame->failure->message, "tool_error: ", 12) == 0);
    // Where a hook gave it the tool had not started.
    if (frame->kind != CDR_FRAME_TOOL || !is_result || frame->attempts == 0)
        return;
    for (size_t i = 0; i < tree->team->n_tools; i++)
        if (strcmp(tree->team->tools[i]->info.name, frame->name) == 0)
            tree->script_results[i]++;
}

static bool is_target(const cadre_frame *frame)
{
    return cdr_frame_is_ended(frame) && frame->is_transfer &&
           cdr_frame_is_ended(frame->parent);
}

// Each row of a chain of transfers has what that frame added to the state, and who
// called the chain takes what all did. It is put together downwards, so that the cost
// does not grow with the square of the chain, and then given to the first.
static bool join_chains(const loader *l)
{
    for (size_t i = 0; i < l->n_frames; i++) {
        cadre_frame *frame = l->in_order[i];
        if (!is_target(frame) || frame->parent->delta == NULL)
            continue;
        json_t *sum = frame->parent->delta;
        frame->parent->delta = NULL;
        bool ok = cdr_delta_append(l->tree->team, &sum, frame->delta);
        cdr_json_unshare(frame->delta);
        frame->delta = sum;
        if (!ok)
            return false;
    }
    return true;
}

static void derive_delta(cadre_frame *frame)
{
    if (!is_target(frame) || frame->delta == NULL)
        return;
    frame->parent->delta = frame->delta;
    frame->delta = NULL;
}

// What the conversation of an open frame held when that was born: all before the first
// message of it or of a frame born later.
static void derive_before(const loader *l, cadre_frame *frame, uintptr_t nth)
{
    const cdr_conversation *conversation = frame->conversation;
    size_t at = 0;
    while (at < conversation->n_messages &&
           (uintptr_t)cdr_id_table_get(&l->births, conversation->messages[at]->frame) <
               nth)
        at++;
    frame->n_before = (unsigned)at;
}

// Of an attempt that failed: what it said is hidden from the next one.
static bool may_be_tried_again(const cadre_frame *frame)
{
    return frame->kind == CDR_FRAME_AGENT && frame->agent->retry.attempts > 1 &&
           frame->status != CADRE_FRAME_COMPLETED;
}

// What its conversation held before the first message of this run.
static uint64_t count_before(const loader *l)
{
    const cdr_conversation *conversation = l->tree->root->conversation;
    size_t at = 0;
    while (at < conversation->n_messages &&
           cdr_id_table_get(&l->births, conversation->messages[at]->frame) == NULL)
        at++;
    return at;
}

// What a replay has done by now.
static void derive_replay(const loader *l)
{
    uint64_t n_before = 0;
    if (l->tree->replay == NULL)
        return;
    n_before = count_before(l);
    cdr_mutex_lock(&l->tree->mu);
    for (size_t i = 0; i < l->n_frames; i++)
        cdr_replay_note_loaded_locked(l->in_order[i], n_before);
    cdr_mutex_unlock(&l->tree->mu);
}

static cadre_status derive(loader *l, cadre_error *err)
{
    cdr_tree *tree = l->tree;
    derive_replay(l);
    if (!join_chains(l))
        return no_memory(err);
    for (size_t i = l->n_frames; i-- > 0;) {
        cadre_frame *frame = l->in_order[i];
        cdr_spending_add_up(&l->spending, frame);
        derive_script(tree, frame);
        if (tree->team->script != NULL)
            derive_results(tree, frame);
        if (!cdr_frame_is_ended(frame)) {
            derive_before(l, frame, i + 1);
            continue;
        }
        cdr_frame_note_stopped(frame);
        derive_answer(frame);
        derive_delta(frame);
        if (may_be_tried_again(frame))
            derive_before(l, frame, i + 1);
        if (frame->parent == NULL)
            continue;
        if (cdr_frame_is_ended(frame->parent))
            cdr_frame_forget_loaded(frame);
        else
            cdr_usage_add(&frame->parent->usage, &frame->usage);
    }
    return CADRE_OK;
}

static cadre_status take_spawned(void *ctx, const cadre_trace_row *row,
                                 cadre_error *err)
{
    loader *l = ctx;
    (void)err;
    cdr_spending_note_spawned(l->tree, cdr_id_table_get(&l->frames, row->spawned_by),
                              row);
    return CADRE_OK;
}

static cadre_status read_spawned(loader *l, cadre_error *err)
{
    const cadre_runtime *runtime = l->tree->runtime;
    const cadre_query query = {.kind = CADRE_QUERY_SPAWNED, .trace = l->tree->trace};
    const cadre_store_reader reader = {.trace = take_spawned, .ctx = l};
    return runtime->store_ops->read(runtime->store, &query, &reader, err);
}

static cadre_status check_open(const cdr_tree *tree, cadre_error *err)
{
    const cadre_frame *root = tree->root;
    if (!cdr_frame_is_ended(root))
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      "run %s has ended (%s); to go on in its conversation start a run "
                      "with --session",
                      tree->trace_text,
                      cadre_frame_status_name((cadre_frame_status)root->status));
}

cadre_status cdr_tree_load(cdr_tree *tree, cadre_error *err)
{
    loader l = {.tree = tree};
    const cadre_store_ops *store = tree->runtime->store_ops;
    const cadre_query query = {
        .kind = CADRE_QUERY_TRACE, .trace = tree->trace, .only_open = true};
    const cadre_store_reader reader = {.trace = take_trace,
                                       .conversation = take_conversation,
                                       .frame = take_frame,
                                       .message = take_message,
                                       .ctx = &l};
    cadre_status status = store->read(tree->runtime->store, &query, &reader, err);
    if (status == CADRE_OK && (!l.is_there || tree->root == NULL))
        status = cadre_fail(err, CADRE_ENOTFOUND, "there is no run %s in this store",
                            tree->trace_text);
    if (status == CADRE_OK && tree->has_budgets)
        status = read_spawned(&l, err);
    if (status == CADRE_OK)
        status = derive(&l, err);
    for (size_t i = 0; i < l.n_opened; i++)
        cdr_conversation_unref(l.opened[i]);
    if (status == CADRE_OK)
        status = check_open(tree, err);
    free(l.opened);
    free(l.in_order);
    cdr_id_table_fini(&l.conversations);
    cdr_id_table_fini(&l.frames);
    cdr_id_table_fini(&l.births);
    return status;
}
