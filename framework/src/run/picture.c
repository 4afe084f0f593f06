// See picture.h: reading, and finding frames by where they stand.
#include "run/picture.h"

#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

static cadre_status no_memory(cadre_error *err)
{
    return cadre_fail(err, CADRE_ENOMEM, "no memory for the picture of a run");
}

// 128 bits of (parent's place, key): two places are never the same by chance.
static cadre_id place_of(cadre_id parent, const char *key)
{
    uint64_t a = (parent.prefix ^ 0xCBF29CE484222325U) * 0x100000001B3U;
    uint64_t b = (parent.counter + 0x9E3779B97F4A7C15U) * 0xC2B2AE3D27D4EB4FU;
    for (; *key != '\0'; key++) {
        a = (a ^ (unsigned char)*key) * 0x100000001B3U;
        b = (b + (unsigned char)*key) * 0xC2B2AE3D27D4EB4FU;
        b ^= b >> 29;
    }
    return (cadre_id){a, b | 1U};
}

// --- Frames ---

static int index_in(const cdr_id_table *table, cadre_id id)
{
    return (int)(uintptr_t)cdr_id_table_get(table, id) - 1;
}

int cdr_picture_find(const cdr_picture *picture, cadre_id frame)
{
    return index_in(&picture->by_id, frame);
}

static cadre_status index_frames(cdr_picture *p, cadre_error *err)
{
    const cadre_id none = {0, 0};
    p->ids = cdr_arena_alloc(&p->arena, (p->n_frames + 1) * sizeof *p->ids);
    p->places = cdr_arena_alloc(&p->arena, (p->n_frames + 1) * sizeof *p->places);
    p->is_loser = cdr_arena_alloc(&p->arena, (p->n_frames + 1) * sizeof *p->is_loser);
    if (p->ids == NULL || p->places == NULL || p->is_loser == NULL)
        return no_memory(err);
    for (size_t i = 0; i < p->n_frames; i++) {
        const cadre_frame_info *info = &p->frames[i];
        void *nth = (void *)(uintptr_t)(i + 1);
        cadre_id parent = info->parent < 0 ? none : p->places[info->parent];
        p->places[i] = place_of(parent, info->key);
        if (!cadre_id_parse(info->id, &p->ids[i]))
            return cadre_fail(err, CADRE_ESTORE, "'%s' is not an id", info->id);
        if (!cdr_id_table_put(&p->by_id, p->ids[i], nth) ||
            !cdr_id_table_put(&p->by_place, p->places[i], nth))
            return no_memory(err);
    }
    return CADRE_OK;
}

int cdr_picture_find_place(const cdr_picture *picture, cadre_id place)
{
    return index_in(&picture->by_place, place);
}

// Was its work not needed any more? A caller that diverged needs nobody's.
static bool was_dropped(const cdr_picture *picture, const cadre_frame_info *info)
{
    return strcmp(info->abort_reason, "owner") == 0 && info->parent >= 0 &&
           picture->frames[info->parent].stop_reason != CADRE_STOP_DIVERGED;
}

// Parents come first.
void cdr_picture_note_losers(cdr_picture *picture,
                             bool (*was_left)(void *ctx, cadre_id frame), void *ctx)
{
    for (size_t i = 0; i < picture->n_frames; i++) {
        const cadre_frame_info *info = &picture->frames[i];
        bool is_below = info->parent >= 0 && picture->is_loser[info->parent];
        bool is_left = was_left != NULL && was_left(ctx, picture->ids[i]);
        picture->is_loser[i] = is_below || (was_dropped(picture, info) && !is_left);
    }
}

bool cdr_picture_has_lost(const cdr_picture *of, size_t frame, const cdr_picture *other)
{
    int there = -1;
    for (int at = (int)frame; at >= 0 && there < 0; at = of->frames[at].parent)
        there = cdr_picture_find_place(other, of->places[at]);
    return of->is_loser[frame] || (there >= 0 && other->is_loser[there]);
}

// --- Conversations ---

static cadre_status take_conversation(void *ctx, const cadre_conversation_row *row,
                                      cadre_error *err)
{
    cdr_picture *p = ctx;
    cdr_talk *grown = cdr_arena_grow(&p->arena, p->talks, p->n_talks, sizeof *p->talks);
    if (grown == NULL)
        return no_memory(err);
    p->talks = grown;
    p->talks[p->n_talks++] = (cdr_talk){.id = row->id,
                                        .owner = row->owner_frame,
                                        .base = row->base,
                                        .base_position = row->base_position,
                                        .opener = -1};
    return CADRE_OK;
}

cdr_talk *cdr_picture_talk(const cdr_picture *picture, const char *id)
{
    cadre_id parsed;
    int nth =
        cadre_id_parse(id, &parsed) ? index_in(&picture->talks_by_id, parsed) : -1;
    return nth < 0 ? NULL : &picture->talks[nth];
}

// Parents come first, so the first frame of a conversation opened it.
static bool index_talks(cdr_picture *p)
{
    size_t n_messages = 0;
    const cadre_record_message *messages =
        cadre_record_messages(p->record, &n_messages);
    for (size_t i = 0; i < p->n_talks; i++)
        if (!cdr_id_table_put(&p->talks_by_id, p->talks[i].id,
                              (void *)(uintptr_t)(i + 1)))
            return false;
    for (size_t i = 0; i < p->n_frames; i++) {
        cdr_talk *talk = cdr_picture_talk(p, p->frames[i].conversation_id);
        if (talk != NULL && talk->opener < 0)
            talk->opener = (int)i;
    }
    for (size_t i = 0; i < n_messages; i++) {
        cdr_talk *talk = cdr_picture_talk(p, messages[i].conversation_id);
        if (talk == NULL || messages[i].message->position < 0)
            continue;
        if (talk->n_messages++ == 0)
            talk->messages = &messages[i];
    }
    p->n_messages = n_messages;
    return true;
}

cadre_status cdr_picture_read(cdr_picture *picture, cadre_runtime *runtime,
                              const char *trace, cadre_error *err)
{
    cadre_query query = {.kind = CADRE_QUERY_TRACE};
    const cadre_store_reader reader = {.conversation = take_conversation,
                                       .ctx = picture};
    cadre_status status = cadre_record_open(runtime, trace, &picture->record, err);
    if (status == CADRE_OK && cadre_id_parse(trace, &query.trace))
        status = runtime->store_ops->read(runtime->store, &query, &reader, err);
    if (status != CADRE_OK)
        return status;
    picture->frames = cadre_record_frames(picture->record, &picture->n_frames);
    status = index_frames(picture, err);
    if (status != CADRE_OK)
        return status;
    return index_talks(picture) ? CADRE_OK : no_memory(err);
}

void cdr_picture_fini(cdr_picture *picture)
{
    cadre_record_close(picture->record);
    cdr_id_table_fini(&picture->by_id);
    cdr_id_table_fini(&picture->by_place);
    cdr_id_table_fini(&picture->talks_by_id);
    cdr_arena_fini(&picture->arena);
    *picture = (cdr_picture){.record = NULL};
}

// --- Paths ---

#define SHOWN 5 // names at each end

const char *cdr_picture_path(const cdr_picture *picture, int frame, cdr_arena *arena)
{
    const char *first[SHOWN] = {NULL};
    const char *last[SHOWN] = {NULL};
    int n = 0;
    for (int at = frame; at >= 0; at = picture->frames[at].parent)
        n++;
    int nth = n;
    for (int at = frame; at >= 0; at = picture->frames[at].parent) {
        nth--;
        if (nth < SHOWN)
            first[nth] = picture->frames[at].name;
        else if (n - 1 - nth < SHOWN)
            last[SHOWN - (n - nth)] = picture->frames[at].name;
    }
    cdr_buf text = CDR_BUF_INIT;
    for (int i = 0; i < SHOWN && first[i] != NULL; i++)
        cdr_buf_printf(&text, "%s%s", i == 0 ? "" : " -> ", first[i]);
    if (n > 2 * SHOWN)
        cdr_buf_printf(&text, " -> (%d more)", n - 2 * SHOWN);
    for (int i = 0; i < SHOWN; i++)
        if (last[i] != NULL)
            cdr_buf_printf(&text, " -> %s", last[i]);
    const char *path = text.failed ? NULL : cdr_arena_text(arena, cdr_buf_text(&text));
    cdr_buf_fini(&text);
    return path == NULL ? "" : path;
}
