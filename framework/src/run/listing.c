// The stack tree of a run, read back from the store.
#include "run/run.h"

#include "run/arguments.h"

#include <stdlib.h>
#include <string.h>

void cdr_run_listing_fini(cdr_run_listing *listing)
{
    free(listing->frames);
    cdr_arena_fini(&listing->texts);
    *listing = (cdr_run_listing){.frames = NULL};
}

// Frame ids to their places; open addressing.
typedef struct id_table {
    cadre_id *ids;
    int *places;
    size_t capacity, used;
} id_table;

static size_t slot_of(const id_table *table, cadre_id id)
{
    size_t mask = table->capacity - 1;
    size_t at = (size_t)((id.prefix ^ (id.counter * 0x9E3779B97F4A7C15u)) >> 7) & mask;
    while (!cadre_id_is_none(table->ids[at]) && !cadre_id_equal(table->ids[at], id))
        at = (at + 1) & mask;
    return at;
}

static bool table_grow(id_table *table)
{
    id_table grown = {.capacity = table->capacity == 0 ? 64 : table->capacity * 2,
                      .used = table->used};
    grown.ids = calloc(grown.capacity, sizeof *grown.ids);
    grown.places = calloc(grown.capacity, sizeof *grown.places);
    if (grown.ids == NULL || grown.places == NULL) {
        free(grown.ids);
        free(grown.places);
        return false;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (cadre_id_is_none(table->ids[i]))
            continue;
        size_t at = slot_of(&grown, table->ids[i]);
        grown.ids[at] = table->ids[i];
        grown.places[at] = table->places[i];
    }
    free(table->ids);
    free(table->places);
    *table = grown;
    return true;
}

static bool table_put(id_table *table, cadre_id id, int place)
{
    if (2 * (table->used + 1) > table->capacity && !table_grow(table))
        return false;
    size_t at = slot_of(table, id);
    table->ids[at] = id;
    table->places[at] = place;
    table->used++;
    return true;
}

static int table_get(const id_table *table, cadre_id id)
{
    if (table->capacity == 0 || cadre_id_is_none(id))
        return -1;
    size_t at = slot_of(table, id);
    return cadre_id_is_none(table->ids[at]) ? -1 : table->places[at];
}

typedef struct lister {
    cdr_run_listing *listing;
    id_table table;
    const char *trace;
    bool failed;
} lister;

static const char *keep(lister *l, const char *text)
{
    const char *copy = cdr_arena_text(&l->listing->texts, text == NULL ? "" : text);
    if (copy == NULL)
        l->failed = true;
    return copy == NULL ? "" : copy;
}

static const char *keep_id(lister *l, cadre_id id)
{
    char text[CADRE_ID_TEXT_SIZE];
    cadre_id_text(id, text);
    return keep(l, text);
}

static void fill(lister *l, cadre_frame_info *info, const cadre_frame_row *row)
{
    *info = (cadre_frame_info){.id = keep_id(l, row->id),
                               .trace_id = l->trace,
                               .parent_id = keep_id(l, row->parent),
                               .key = keep(l, row->key),
                               .kind = keep(l, row->kind),
                               .name = keep(l, row->name),
                               .referer = keep(l, row->referer),
                               .conversation_id = keep_id(l, row->conversation),
                               .input = keep(l, row->input),
                               .output = keep(l, row->output),
                               .parent = table_get(&l->table, row->parent),
                               .depth = row->depth,
                               .status = row->status,
                               .stop_reason = row->stop_reason,
                               .own = row->own,
                               .usage = row->usage,
                               .abort_reason = keep(l, row->mark),
                               .attempts = row->attempts,
                               .created_at = row->created_at,
                               .completed_at = row->completed_at,
                               .duration_ms = row->duration_ms};
    info->error = (cadre_error_info){row->error_class, row->error_retryable,
                                     keep(l, row->error), "", ""};
}

static cadre_status take_frame(void *ctx, const cadre_frame_row *row, cadre_error *err)
{
    lister *l = ctx;
    cdr_run_listing *listing = l->listing;
    if (listing->n_frames == listing->capacity) {
        size_t capacity = listing->capacity == 0 ? 32 : listing->capacity * 2;
        void *grown = realloc(listing->frames, capacity * sizeof *listing->frames);
        if (grown == NULL)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for the stack tree");
        listing->frames = grown;
        listing->capacity = capacity;
    }
    fill(l, &listing->frames[listing->n_frames], row);
    if (l->failed || !table_put(&l->table, row->id, (int)listing->n_frames))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the stack tree");
    listing->n_frames++;
    return CADRE_OK;
}

static bool is_agent(const cadre_frame_info *info)
{
    return strcmp(info->kind, "agent") == 0;
}

// The agent whose work a frame is.
static const char *agent_of(const cadre_frame_info *frames,
                            const cadre_frame_info *info)
{
    while (!is_agent(info) && info->parent >= 0)
        info = &frames[info->parent];
    return is_agent(info) ? info->name : "";
}

// What is not stored with a row because others tell it: an agent's own usage is that of
// its models and tools, and an error that was passed up happened where it stands
// lowest.
static void derive(cdr_run_listing *listing)
{
    cadre_frame_info *frames = listing->frames;
    for (size_t i = listing->n_frames; i-- > 0;) {
        cadre_frame_info *info = &frames[i];
        if (info->error.message[0] != '\0' && info->error.frame_id[0] == '\0') {
            info->error.agent = agent_of(frames, info);
            info->error.frame_id = info->id;
        }
        if (info->parent < 0)
            continue;
        cadre_frame_info *parent = &frames[info->parent];
        if (!is_agent(info))
            cdr_usage_add(&parent->own, &info->own);
        if (is_agent(parent) && is_agent(info) && info->error.message[0] != '\0' &&
            strcmp(info->error.message, parent->error.message) == 0) {
            parent->error.agent = info->error.agent;
            parent->error.frame_id = info->error.frame_id;
        }
    }
}

cadre_status cadre_run_frames(cadre_run *run, const cadre_frame_info **frames,
                              size_t *n_frames, cadre_error *err)
{
    if (run == NULL || frames == NULL || n_frames == NULL)
        return cdr_fail_null(err, __func__);
    cdr_tree *tree = run->tree;
    const cadre_store_ops *store = tree->runtime->store_ops;
    lister l = {.listing = &run->listing, .trace = tree->trace_text};
    const cadre_store_reader reader = {.frame = take_frame, .ctx = &l};
    cdr_run_listing_fini(&run->listing);
    cadre_status status =
        store->read_trace(tree->runtime->store, tree->trace, &reader, err);
    free(l.table.ids);
    free(l.table.places);
    if (status != CADRE_OK)
        return status;
    derive(&run->listing);
    *frames = run->listing.frames;
    *n_frames = run->listing.n_frames;
    return CADRE_OK;
}
