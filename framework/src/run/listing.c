// The stack tree of a run, read back from the store.
#include "run/run.h"

#include "run/arguments.h"
#include "tree/ending.h"
#include "tree/id_table.h"

#include <stdlib.h>
#include <string.h>

void cdr_run_listing_fini(cdr_run_listing *listing)
{
    free(listing->frames);
    cdr_arena_fini(&listing->texts);
    *listing = (cdr_run_listing){.frames = NULL};
}

typedef struct lister {
    cdr_run_listing *listing;
    cdr_id_table table; // to places, from 1
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

static int place_of(const lister *l, cadre_id id)
{
    return (int)(uintptr_t)cdr_id_table_get(&l->table, id) - 1;
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
                               .delta = keep(l, row->delta),
                               .parent = place_of(l, row->parent),
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
    if (l->failed || !cdr_id_table_put(&l->table, row->id,
                                       (void *)(uintptr_t)(listing->n_frames + 1)))
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
// its models and tools, that of an open frame what ended below it, and an error that
// was passed up happened where it stands lowest.
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
        if (parent->status < CADRE_FRAME_COMPLETED)
            cdr_usage_add(&parent->usage, &info->usage);
        if (is_agent(parent) && is_agent(info) && info->error.message[0] != '\0' &&
            strcmp(info->error.message, parent->error.message) == 0) {
            parent->error.agent = info->error.agent;
            parent->error.frame_id = info->error.frame_id;
        }
    }
}

// What a frame has said and who said it, while what is below it is looked at.
typedef struct said {
    const char *output, *speaker; // NULL: not known otherwise
} said;

static const char *output_of(const cadre_frame_info *info, const said *of)
{
    return of->output == NULL ? info->output : of->output;
}

// As an open frame derives it from those that ended below it, see tree/load.c.
static void derive_speaker(const cadre_frame_info *frames, said *all, size_t i)
{
    const cadre_frame_info *info = &frames[i];
    if (all[i].speaker == NULL)
        all[i].speaker = info->name;
    if (info->parent < 0 || !is_agent(info))
        return;
    const cadre_frame_info *parent = &frames[info->parent];
    said *above = &all[info->parent];
    if (!is_agent(parent) ||
        strcmp(parent->conversation_id, info->conversation_id) != 0)
        return;
    bool is_transfer = strcmp(info->key, "transfer") == 0;
    const char *output = output_of(info, &all[i]);
    if (is_transfer && output_of(parent, above)[0] == '\0')
        above->output = output;
    if ((is_transfer || strcmp(output_of(parent, above), output) == 0) &&
        above->speaker == NULL)
        above->speaker = all[i].speaker;
}

const char *cdr_run_listing_speaker(const cdr_run_listing *listing)
{
    said *all = calloc(listing->n_frames + 1, sizeof *all);
    if (all == NULL)
        return NULL;
    for (size_t i = listing->n_frames; i-- > 0;)
        derive_speaker(listing->frames, all, i);
    const char *speaker = all[0].speaker == NULL ? "" : all[0].speaker;
    free(all);
    return speaker;
}

cadre_status cdr_run_listing_read(cdr_run_listing *listing, cadre_runtime *runtime,
                                  cadre_id trace, cadre_error *err)
{
    char text[CADRE_ID_TEXT_SIZE];
    const cadre_store_ops *store = runtime->store_ops;
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    lister l = {.listing = listing};
    const cadre_store_reader reader = {.frame = take_frame, .ctx = &l};
    cdr_run_listing_fini(listing);
    cadre_id_text(trace, text);
    l.trace = keep(&l, text);
    cadre_status status = store->read(runtime->store, &query, &reader, err);
    cdr_id_table_fini(&l.table);
    if (status == CADRE_OK)
        derive(listing);
    return status;
}

cadre_status cadre_run_frames(cadre_run *run, const cadre_frame_info **frames,
                              size_t *n_frames, cadre_error *err)
{
    if (run == NULL || frames == NULL || n_frames == NULL)
        return cdr_fail_null(err, __func__);
    cadre_status status =
        cdr_run_listing_read(&run->listing, run->tree->runtime, run->tree->trace, err);
    if (status != CADRE_OK)
        return status;
    *frames = run->listing.frames;
    *n_frames = run->listing.n_frames;
    return CADRE_OK;
}
