// See frame.h.
#include "frame.h"

#include "frame_layout.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_NAME_SIZE 160

static const cadre_usage no_usage;

static const char *text_of(const char *text)
{
    return text ? text : "";
}

// Copies a text with its NUL and returns the place behind it.
static char *put_text(char *to, const char *text, size_t size)
{
    memcpy(to, text, size);
    return to + size;
}

// "tool 'add', frame 'abc-1'" for errors.
static const char *name_row(const cadre_frame_row *row, char name[FRAME_NAME_SIZE])
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->id, id);
    snprintf(name, FRAME_NAME_SIZE, "%.20s '%.80s', frame '%s'", text_of(row->kind),
             text_of(row->name), id);
    return name;
}

static const char *name_frame(const cdr_memory_frame *frame, char name[FRAME_NAME_SIZE])
{
    const char *at = frame->texts;
    cdr_memory_take_text(&at);
    cadre_frame_row row = {.id = frame->id};
    row.kind = cdr_memory_take_text(&at);
    row.name = cdr_memory_take_text(&at);
    return name_row(&row, name);
}

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ESTORE, "store 'memory': no memory left");
}

static cdr_memory_frame *find(const cdr_memory_trace *trace, cadre_id id)
{
    uint32_t tag = cdr_memory_tag_of_id(id);
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&trace->frames.index, tag, &at)) !=
           CDR_MEMORY_NONE) {
        cdr_memory_frame *frame = trace->frames.rows[number];
        if (cadre_id_equal(frame->id, id))
            return frame;
    }
    return NULL;
}

cdr_memory_frame_state cdr_memory_frame_look(const cdr_memory_trace *trace, cadre_id id)
{
    const cdr_memory_frame *frame = find(trace, id);
    if (!frame)
        return CDR_MEMORY_FRAME_UNKNOWN;
    bool is_closed = frame->is_refused || cdr_memory_has_ended(frame) || frame->mark;
    return is_closed ? CDR_MEMORY_FRAME_CLOSED : CDR_MEMORY_FRAME_OPEN;
}

bool cdr_memory_frame_is_live_root(const cdr_memory_trace *trace, cadre_id id)
{
    const cdr_memory_frame *root = trace->root;
    return root && cadre_id_equal(root->id, id) && !cdr_memory_has_ended(root);
}

void cdr_memory_frame_conversation(const cdr_memory_trace *trace, cadre_id id,
                                   cadre_id *conversation)
{
    const cdr_memory_frame *frame = find(trace, id);
    if (frame)
        *conversation = *frame->conversation;
}

const cdr_memory_frame *cdr_memory_frame_find(const cdr_memory_trace *trace,
                                              cadre_id id, bool *is_refused)
{
    const cdr_memory_frame *frame = find(trace, id);
    *is_refused = frame && frame->is_refused;
    return frame;
}

static const cdr_memory_frame *find_key(const cdr_memory_trace *trace,
                                        const cdr_memory_frame *parent, const char *key,
                                        uint32_t tag)
{
    uint32_t at = tag;
    uint32_t number;
    while ((number = cdr_memory_index_next(&trace->keys, tag, &at)) !=
           CDR_MEMORY_NONE) {
        const cdr_memory_frame *frame = trace->frames.rows[number];
        if (frame->parent == parent && strcmp(frame->texts, key) == 0)
            return frame;
    }
    return NULL;
}

static void link_to_parent(cdr_memory_frame *frame)
{
    cdr_memory_frame *parent = frame->parent;
    if (!parent)
        return;
    frame->next = parent->u.children;
    frame->link = &parent->u.children;
    if (frame->next)
        frame->next->link = &frame->next;
    parent->u.children = frame;
}

static void unlink_from_parent(cdr_memory_frame *frame)
{
    if (!frame->parent)
        return;
    *frame->link = frame->next;
    if (frame->next)
        frame->next->link = frame->link;
}

static const cadre_id *share_conversation(cdr_memory_region *region, cadre_id id,
                                          const cdr_memory_frame *parent)
{
    if (parent && cadre_id_equal(*parent->conversation, id))
        return parent->conversation;
    cadre_id *copy = cdr_memory_region_alloc(region, sizeof(*copy));
    if (copy)
        *copy = id;
    return copy;
}

// Makes the row of a birth. NULL: no memory.
static cdr_memory_frame *frame_new(cdr_memory_region *region,
                                   const cadre_frame_row *row, cdr_memory_frame *parent)
{
    enum {
        N_TEXTS = 5
    };
    const char *texts[N_TEXTS] = {row->key, row->kind, row->name, row->referer,
                                  row->input};
    size_t sizes[N_TEXTS];
    size_t size = offsetof(cdr_memory_frame, texts);
    for (int i = 0; i < N_TEXTS; i++) {
        texts[i] = text_of(texts[i]);
        sizes[i] = strlen(texts[i]) + 1;
        size += sizes[i];
    }
    const cadre_id *conversation =
        share_conversation(region, row->conversation, parent);
    cdr_memory_frame *frame = cdr_memory_region_alloc(region, size);
    if (!conversation || !frame)
        return NULL;
    // Not the whole struct: its padding may reach beyond the texts.
    memset(frame, 0, offsetof(cdr_memory_frame, texts));
    frame->id = row->id;
    frame->conversation = conversation;
    frame->parent = parent;
    frame->start_seq = row->start_seq;
    frame->created_at = row->created_at;
    frame->depth = row->depth;
    frame->attempts = row->attempts;
    frame->restarts = row->restarts;
    frame->status = (unsigned char)row->status;
    frame->replay_safe = row->replay_safe;
    char *to = frame->texts;
    for (int i = 0; i < N_TEXTS; i++)
        to = put_text(to, texts[i], sizes[i]);
    return frame;
}

// `parent` NULL: a root.
static cadre_status refuse(cdr_memory_trace *trace, cadre_fact *fact,
                           cdr_memory_frame *parent, cdr_memory_undo *undo,
                           cadre_error *err)
{
    cadre_frame_row row = {.id = fact->u.frame.id};
    if (parent)
        row.conversation = *parent->conversation;
    cdr_memory_frame *frame = frame_new(&trace->region, &row, parent);
    if (!frame)
        return no_memory(err);
    frame->is_refused = true;
    cdr_memory_table_add(&trace->frames, cdr_memory_tag_of_id(frame->id), frame);
    undo->what = frame;
    fact->refused = true;
    return CADRE_OK;
}

// What must hold of a birth before its parent is looked at.
static cadre_status check_birth(const cdr_memory_trace *trace,
                                const cadre_frame_row *row, cadre_error *err)
{
    char name[FRAME_NAME_SIZE];
    char other[FRAME_NAME_SIZE];
    if (cadre_id_is_none(row->id) || find(trace, row->id))
        return cadre_fail(err, CADRE_ESTORE, "%s: its id is none, or born twice",
                          name_row(row, name));
    if (row->status >= CADRE_FRAME_COMPLETED)
        return cadre_fail(err, CADRE_ESTORE, "%s: is born %s; must be live",
                          name_row(row, name), cadre_frame_status_name(row->status));
    if (cadre_id_is_none(row->parent) && trace->root)
        return cadre_fail(err, CADRE_ESTORE, "%s: is a second root beside %s",
                          name_row(row, name), name_frame(trace->root, other));
    return CADRE_OK;
}

// Finds the parent of a birth that has one.
static cadre_status find_parent(const cdr_memory_trace *trace,
                                const cadre_frame_row *row, cdr_memory_frame **parent,
                                cadre_error *err)
{
    if (cadre_id_is_none(row->parent))
        return CADRE_OK;
    *parent = find(trace, row->parent);
    if (*parent)
        return CADRE_OK;
    char name[FRAME_NAME_SIZE];
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(row->parent, id);
    return cadre_fail(err, CADRE_ESTORE, "%s: its parent '%s' is not in the trace",
                      name_row(row, name), id);
}

// What must hold of a birth, and room for it.
static cadre_status prepare_birth(cdr_memory_trace *trace, const cadre_frame_row *row,
                                  cdr_memory_frame **parent, cadre_error *err)
{
    cadre_status status = check_birth(trace, row, err);
    if (status == CADRE_OK)
        status = find_parent(trace, row, parent, err);
    if (status == CADRE_OK && (!cdr_memory_table_reserve(&trace->frames) ||
                               !cdr_memory_index_reserve(&trace->keys)))
        status = no_memory(err);
    return status;
}

cadre_status cdr_memory_frame_refuse(cdr_memory_trace *trace, cadre_fact *fact,
                                     cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_frame *parent = NULL;
    cadre_status status = prepare_birth(trace, &fact->u.frame, &parent, err);
    return status == CADRE_OK ? refuse(trace, fact, parent, undo, err) : status;
}

cadre_status cdr_memory_frame_birth(cdr_memory_trace *trace, cadre_fact *fact,
                                    cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    cdr_memory_frame *parent = NULL;
    cadre_status status = prepare_birth(trace, row, &parent, err);
    if (status != CADRE_OK)
        return status;
    if (parent && (parent->is_refused || cdr_memory_has_ended(parent) || parent->mark))
        return refuse(trace, fact, parent, undo, err);

    const char *key = text_of(row->key);
    uint32_t key_tag = parent ? cdr_memory_tag_of_key(parent->id, key) : 0;
    const cdr_memory_frame *other =
        parent ? find_key(trace, parent, key, key_tag) : NULL;
    if (other) {
        char name[FRAME_NAME_SIZE];
        char other_name[FRAME_NAME_SIZE];
        return cadre_fail(err, CADRE_ESTORE,
                          "%s: key '%.60s' belongs to its sibling %s",
                          name_row(row, name), key, name_frame(other, other_name));
    }
    cdr_memory_frame *frame = frame_new(&trace->region, row, parent);
    if (!frame)
        return no_memory(err);
    if (parent)
        cdr_memory_index_add(&trace->keys, key_tag, trace->frames.n_rows);
    else
        trace->root = frame;
    cdr_memory_table_add(&trace->frames, cdr_memory_tag_of_id(frame->id), frame);
    link_to_parent(frame);
    undo->what = frame;
    return CADRE_OK;
}

static void undo_birth(cdr_memory_trace *trace, cdr_memory_frame *frame)
{
    cdr_memory_table_remove_last(&trace->frames, cdr_memory_tag_of_id(frame->id));
    if (frame->is_refused)
        return;
    unlink_from_parent(frame);
    if (frame->parent)
        cdr_memory_index_remove(&trace->keys,
                                cdr_memory_tag_of_key(frame->parent->id, frame->texts),
                                trace->frames.n_rows);
    else
        trace->root = NULL;
}

// Finds the frame a fact changes. `out` is NULL when there is nothing to change: the
// frame has ended, or was refused (and so is the fact).
static cadre_status find_live(const cdr_memory_trace *trace, cadre_fact *fact,
                              cdr_memory_frame **out, cadre_error *err)
{
    cdr_memory_frame *frame = find(trace, fact->u.frame.id);
    if (!frame) {
        char id[CADRE_ID_TEXT_SIZE];
        cadre_id_text(fact->u.frame.id, id);
        return cadre_fail(err, CADRE_ESTORE, "frame '%s' is not in the trace", id);
    }
    fact->refused = frame->is_refused;
    *out = frame->is_refused || cdr_memory_has_ended(frame) ? NULL : frame;
    return CADRE_OK;
}

static cdr_memory_undo before(cdr_memory_frame *frame)
{
    return (cdr_memory_undo){.what = frame,
                             .delta = frame->delta,
                             .start_seq = frame->start_seq,
                             .attempts = frame->attempts,
                             .restarts = frame->restarts,
                             .status = (cadre_frame_status)frame->status};
}

// Copies a text into the region; "" gives NULL. False: no memory.
static bool keep_text(cdr_memory_region *region, const char *text, const char **out)
{
    size_t size = strlen(text_of(text)) + 1;
    *out = NULL;
    if (size == 1)
        return true;
    char *copy = cdr_memory_region_alloc(region, size);
    if (!copy)
        return false;
    put_text(copy, text, size);
    *out = copy;
    return true;
}

cadre_status cdr_memory_frame_running(cdr_memory_trace *trace, cadre_fact *fact,
                                      cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_frame *frame = NULL;
    cadre_status status = find_live(trace, fact, &frame, err);
    cadre_frame_status said = fact->u.frame.status;
    if (status == CADRE_OK && said != CADRE_FRAME_RUNNING &&
        said != CADRE_FRAME_WAITING)
        return cadre_fail(err, CADRE_ESTORE,
                          "a frame that lives runs or waits; it is not '%s'",
                          cadre_frame_status_name(said));
    if (!frame)
        return status;
    if (frame->mark) {
        fact->refused = true;
        return CADRE_OK;
    }
    const char *delta = NULL;
    if (!keep_text(&trace->region, fact->u.frame.delta, &delta))
        return no_memory(err);
    *undo = before(frame);
    if (delta)
        frame->delta = delta;
    frame->status = (unsigned char)said;
    frame->attempts = fact->u.frame.attempts;
    frame->restarts = fact->u.frame.restarts;
    if (fact->u.frame.start_seq != 0)
        frame->start_seq = fact->u.frame.start_seq;
    return CADRE_OK;
}

// Replaces the mark `from` by `to` on a frame that has it and on the live ones below. A
// frame with another mark was marked before with all below it, and nothing is born
// under a mark, so the walk passes it by. Chains of transfers are deep: no recursion.
static void replace_marks(cdr_memory_frame *top, const char *from, const char *to)
{
    cdr_memory_frame *frame = top;
    for (;;) {
        bool has_it = frame->mark == from;
        if (has_it)
            frame->mark = to;
        if (has_it && frame->u.children) {
            frame = frame->u.children;
            continue;
        }
        while (frame != top && !frame->next)
            frame = frame->parent;
        if (frame == top)
            return;
        frame = frame->next;
    }
}

cadre_status cdr_memory_frame_mark(cdr_memory_trace *trace, cadre_fact *fact,
                                   cdr_memory_undo *undo, cadre_error *err)
{
    cdr_memory_frame *frame = NULL;
    cadre_status status = find_live(trace, fact, &frame, err);
    if (!frame || frame->mark)
        return status;
    const char *reason = text_of(fact->u.frame.mark);
    if (!reason[0]) {
        char name[FRAME_NAME_SIZE];
        return cadre_fail(err, CADRE_ESTORE, "%s: its mark has no reason",
                          name_frame(frame, name));
    }
    const char *mark = NULL;
    if (!keep_text(&trace->region, reason, &mark))
        return no_memory(err);
    replace_marks(frame, NULL, mark);
    undo->what = frame;
    return CADRE_OK;
}

static bool is_usage_equal(const cadre_usage *a, const cadre_usage *b)
{
    return a->model_calls == b->model_calls && a->tool_calls == b->tool_calls &&
           a->input_tokens == b->input_tokens && a->output_tokens == b->output_tokens &&
           a->cached_input_tokens == b->cached_input_tokens &&
           a->reasoning_tokens == b->reasoning_tokens &&
           a->cost_usd_micros == b->cost_usd_micros &&
           a->unpriced_calls == b->unpriced_calls;
}

static const cdr_memory_end *end_new(cdr_memory_region *region,
                                     const cadre_frame_row *row)
{
    const char *output = text_of(row->output);
    const char *error = text_of(row->error);
    size_t output_size = strlen(output) + 1;
    size_t error_size = strlen(error) + 1;
    bool has_own = !is_usage_equal(&row->own, &no_usage);
    bool has_usage = !is_usage_equal(&row->usage, &row->own);
    size_t n_usages = (size_t)has_own + (size_t)has_usage;
    cdr_memory_end *end =
        cdr_memory_region_alloc(region, sizeof(*end) + n_usages * sizeof(cadre_usage) +
                                            output_size + error_size);
    if (!end)
        return NULL;
    *end = (cdr_memory_end){.end_seq = row->end_seq,
                            .completed_at = row->completed_at,
                            .duration_ms = row->duration_ms,
                            .stop_reason = (unsigned char)row->stop_reason,
                            .error_class = (unsigned char)row->error_class,
                            .error_retryable = row->error_retryable,
                            .has_own = has_own,
                            .has_usage = has_usage};
    cadre_usage *usage = end->usages;
    if (has_own)
        *usage++ = row->own;
    if (has_usage)
        *usage++ = row->usage;
    put_text(put_text((char *)usage, output, output_size), error, error_size);
    return end;
}

cadre_status cdr_memory_frame_end(cdr_memory_trace *trace, cadre_fact *fact,
                                  cdr_memory_undo *undo, cadre_error *err)
{
    const cadre_frame_row *row = &fact->u.frame;
    cdr_memory_frame *frame = NULL;
    cadre_status status = find_live(trace, fact, &frame, err);
    if (!frame)
        return status;
    char name[FRAME_NAME_SIZE];
    char child[FRAME_NAME_SIZE];
    if (row->status < CADRE_FRAME_COMPLETED || row->status > CADRE_FRAME_ABORTED)
        return cadre_fail(err, CADRE_ESTORE, "%s: '%s' is not an ending",
                          name_frame(frame, name),
                          cadre_frame_status_name(row->status));
    if (frame->u.children)
        return cadre_fail(err, CADRE_ESTORE, "%s: cannot end before its child %s",
                          name_frame(frame, name),
                          name_frame(frame->u.children, child));
    const cdr_memory_end *end = end_new(&trace->region, row);
    const char *delta = NULL;
    if (!end || !keep_text(&trace->region, row->delta, &delta))
        return no_memory(err);
    *undo = before(frame);
    frame->delta = delta;
    if (row->attempts != 0)
        frame->attempts = row->attempts;
    frame->u.end = end;
    frame->status = (unsigned char)row->status;
    unlink_from_parent(frame);
    return CADRE_OK;
}

static void put_back(cdr_memory_frame *frame, const cdr_memory_undo *undo)
{
    frame->delta = undo->delta;
    frame->status = (unsigned char)undo->status;
    frame->attempts = undo->attempts;
    frame->restarts = undo->restarts;
    frame->start_seq = undo->start_seq;
}

void cdr_memory_frame_undo(cdr_memory_trace *trace, const cadre_fact *fact,
                           const cdr_memory_undo *undo)
{
    cdr_memory_frame *frame = undo->what;
    switch (fact->type) {
    case CADRE_FACT_FRAME:
        undo_birth(trace, frame);
        break;
    case CADRE_FACT_RUNNING:
        put_back(frame, undo);
        break;
    case CADRE_FACT_MARK:
        replace_marks(frame, frame->mark, NULL);
        break;
    case CADRE_FACT_END:
        put_back(frame, undo);
        frame->u.children = NULL;
        link_to_parent(frame);
        break;
    default:
        assert(false && "not a fact about a frame");
    }
}
