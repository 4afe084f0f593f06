// Where a frame stands: its referer, its agent, the path from the root. See tree.h.
#include "base/buf.h"
#include "tree/tree.h"

const char *cdr_frame_referer(const cadre_frame *frame)
{
    if (frame->parent == NULL)
        return "api";
    return frame->conversation == frame->parent->conversation ? "agent" : "agent_fork";
}

const cadre_frame *cdr_frame_nearest_agent(const cadre_frame *frame)
{
    while (frame->kind != CDR_FRAME_AGENT)
        frame = frame->parent;
    return frame;
}

static const cadre_frame *agent_above(const cadre_frame *frame)
{
    do {
        frame = frame->parent;
    } while (frame != NULL && frame->kind != CDR_FRAME_AGENT);
    return frame;
}

// The way from the root: a long one is known by its first and its last few names.
#define SHOWN ((size_t)5)

typedef struct way {
    const char *first[SHOWN], *last[SHOWN];
    size_t n;
} way;

static void follow(const cadre_frame *frame, way *out)
{
    size_t from_end = 0;
    for (const cadre_frame *at = frame; at != NULL; at = agent_above(at))
        out->n++;
    for (const cadre_frame *at = frame; at != NULL; at = agent_above(at)) {
        size_t from_start = out->n - 1 - from_end;
        if (from_start < SHOWN)
            out->first[from_start] = at->name;
        else if (from_end < SHOWN)
            out->last[SHOWN - 1 - from_end] = at->name;
        from_end++;
    }
}

static void add_name(cdr_buf *text, const char *name)
{
    if (name != NULL)
        cdr_buf_printf(text, "%s%s", text->len == 0 ? "" : " -> ", name);
}

char *cdr_frame_path_text(const cadre_frame *frame, cdr_arena *arena)
{
    way from_root = {.n = 0};
    cdr_buf text = CDR_BUF_INIT;
    follow(cdr_frame_nearest_agent(frame), &from_root);
    for (size_t i = 0; i < SHOWN; i++)
        add_name(&text, from_root.first[i]);
    if (from_root.n > 2 * SHOWN)
        cdr_buf_printf(&text, " -> (%zu more)", from_root.n - 2 * SHOWN);
    for (size_t i = 0; i < SHOWN; i++)
        add_name(&text, from_root.last[i]);
    char *path = text.failed ? NULL : cdr_arena_text(arena, cdr_buf_text(&text));
    cdr_buf_fini(&text);
    return path;
}
