// See spent.h.
#include "tree/spent.h"

#include "base/json_text.h"
#include "tree/budget.h"

#include <string.h>

// What ran at once counts once.
static void add_work(cdr_spending *spending, const cadre_frame_row *row)
{
    int64_t from_ms = row->created_at;
    int64_t to_ms = row->created_at + row->duration_ms;
    if (from_ms < spending->work_to_ms)
        from_ms = spending->work_to_ms;
    if (to_ms <= from_ms)
        return;
    spending->work_ms += to_ms - from_ms;
    spending->work_to_ms = to_ms;
}

// A person may have taken most of its time.
static bool has_waited(const cadre_frame *frame)
{
    const cadre_team *team = frame->tree->team;
    if (frame->kind != CDR_FRAME_TOOL)
        return frame->kind == CDR_FRAME_ASK;
    const json_t *at = json_object_get(team->tool_index, frame->name);
    if (at == NULL)
        return false; // a step, or a tool that is gone
    const cadre_tool *tool = team->tools[json_integer_value(at)];
    return tool->needs_approval || strcmp(tool->ops->type, "ask") == 0;
}

bool cdr_spending_note(cdr_spending *spending, cadre_frame *frame,
                       const cadre_frame_row *row)
{
    if (cdr_frame_is_ended(frame)) {
        if (!has_waited(frame))
            add_work(spending, row);
        return true;
    }
    frame->spent = cdr_arena_alloc(&frame->tree->arena, sizeof *frame->spent);
    if (frame->spent == NULL)
        return false;
    *frame->spent = (cdr_spent){.work_ms = spending->work_ms};
    return true;
}

void cdr_spending_note_spawned(cdr_tree *tree, cadre_frame *spawner,
                               const cadre_trace_row *row)
{
    json_t *options = cdr_json_parse(row->options, strlen(row->options), NULL);
    cadre_budget split = cdr_budget_of_options(options, &(cadre_budget){0, 0, 0});
    cadre_frame *at = spawner == NULL ? tree->root : spawner;
    json_decref(options);
    while (at != NULL && at->spent == NULL)
        at = at->parent; // it has ended
    if (at == NULL)
        return;
    at->spent->amount.tokens += split.max_tokens;
    at->spent->amount.usd_micros += split.max_cost_usd_micros;
}

int64_t cdr_frame_lasted_ms(const cadre_frame *frame, int64_t now_ns)
{
    bool has_lived = frame->parent == NULL && frame->spent != NULL;
    return (now_ns - frame->started_ns) / 1000000 +
           (has_lived ? frame->spent->work_ms : 0);
}

void cdr_spending_add_up(const cdr_spending *spending, cadre_frame *frame)
{
    const cadre_usage *usage = &frame->usage;
    cdr_amount used = {usage->input_tokens + usage->output_tokens,
                       usage->cost_usd_micros};
    if (!cdr_frame_is_ended(frame)) {
        frame->spent->work_ms = spending->work_ms - frame->spent->work_ms;
        used = frame->spent->amount;
    }
    cadre_frame *parent = frame->parent;
    if (parent == NULL || cdr_frame_is_ended(parent))
        return;
    parent->spent->amount.tokens += used.tokens;
    parent->spent->amount.usd_micros += used.usd_micros;
}
