// See offer.h.
#include "run/offer.h"

#include "cadre/ext/transcript.h"

#include "base/buf.h"

#include <string.h>

static bool describe(const cadre_tool *tool, cadre_frame *frame, cadre_tool_info *info)
{
    *info = tool->info;
    return tool->ops->describe == NULL || tool->ops->describe(tool->state, frame, info);
}

bool cdr_offer_init(cdr_offer *offer, cadre_frame *frame, cadre_tools tools,
                    cdr_arena *arena)
{
    const cadre_scope *scope = cadre_frame_scope(frame);
    size_t n_all = tools.count + frame->tools.count;
    size_t max = n_all + 1;
    offer->count = 0;
    offer->tools = cdr_arena_alloc(arena, max * sizeof *offer->tools);
    offer->infos = cdr_arena_alloc(arena, max * sizeof *offer->infos);
    if (offer->tools == NULL || offer->infos == NULL)
        return false;
    for (size_t i = 0; i < max; i++) {
        const cadre_tool *tool = NULL;
        if (i < tools.count)
            tool = tools.items[i];
        else if (i < n_all)
            tool = frame->tools.items[i - tools.count];
        else if (scope != NULL && cadre_frame_targets(frame).count > 0)
            tool = scope->tool;
        if (tool == NULL || !describe(tool, frame, &offer->infos[offer->count]))
            continue;
        offer->tools[offer->count++] = tool;
    }
    return true;
}

const cadre_tool *cdr_offer_find(const cdr_offer *offer, const char *name)
{
    for (size_t i = 0; i < offer->count; i++)
        if (strcmp(offer->infos[i].name, name) == 0)
            return offer->tools[i];
    return NULL;
}

const char *cdr_offer_of_wire(const cdr_offer *offer, const char *wire)
{
    char name[CADRE_WIRE_NAME_SIZE];
    for (size_t i = 0; i < offer->count; i++) {
        cadre_wire_name(offer->infos[i].name, name);
        if (strcmp(name, wire) == 0)
            return offer->infos[i].name;
    }
    return NULL;
}

char *cdr_offer_names(const cdr_offer *offer)
{
    cdr_buf text = CDR_BUF_INIT;
    for (size_t i = 0; i < offer->count; i++)
        cdr_buf_printf(&text, "%s%s", i == 0 ? "" : ", ", offer->infos[i].name);
    if (offer->count == 0)
        cdr_buf_append_text(&text, "none");
    return cdr_buf_take(&text);
}
