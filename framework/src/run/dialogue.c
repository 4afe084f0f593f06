// See cadre/ext/dialogue.h.
#include "cadre/ext/dialogue.h"

#include "run/arguments.h"

static int integer(const json_t *options, const char *name)
{
    return (int)json_integer_value(json_object_get(options, name));
}

// The rules count members, so one must not be two of them.
static bool has_twice(const cadre_agent_config *config, cadre_error *err)
{
    cadre_agents members = config->members;
    for (size_t i = 1; i < members.count; i++)
        for (size_t k = 0; k < i; k++)
            if (members.items[i] == members.items[k]) {
                cadre_fail(err, CADRE_EINVAL, "agent '%s': member '%s' stands twice",
                           config->info.name,
                           cadre_agent_get_info(members.items[i])->name);
                return true;
            }
    return false;
}

cadre_status cadre_dialogue_init(cadre_dialogue *dialogue,
                                 const cadre_agent_config *config, cadre_error *err)
{
    if (dialogue == NULL || config == NULL)
        return cdr_fail_null(err, __func__);
    const json_t *options = config->options;
    if (config->members.count == 0)
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': a %s needs members",
                          config->info.name, config->info.type);
    if (has_twice(config, err))
        return CADRE_EINVAL;
    dialogue->members = config->members;
    dialogue->entry = config->entry == NULL ? config->members.items[0] : config->entry;
    dialogue->tool = config->builtin_tool(config, "transfer");
    dialogue->limits =
        (cadre_transfer_limits){.max_handoffs = integer(options, "max_handoffs"),
                                .window = integer(options, "window"),
                                .min_unique = integer(options, "min_unique"),
                                .repeat = integer(options, "repeat"),
                                .node_timeout_ms = json_integer_value(
                                    json_object_get(options, "node_timeout"))};
    dialogue->is_sticky = json_is_true(json_object_get(options, "sticky"));
    dialogue->returns = json_is_true(json_object_get(options, "return_to_source"));
    return CADRE_OK;
}

cadre_status cadre_dialogue_run(const cadre_dialogue *dialogue, cadre_frame *frame,
                                cadre_dialogue_edge edge, const void *edge_ctx,
                                cadre_error *err)
{
    if (dialogue == NULL)
        return cdr_fail_null(err, __func__);
    const cadre_agent *first = NULL;
    cadre_scope scope =
        CADRE_SCOPE(.roster = dialogue->members, .edge = edge, .edge_ctx = edge_ctx,
                    .limits = dialogue->limits, .tool = dialogue->tool,
                    .return_to_source = dialogue->returns);
    if (dialogue->is_sticky)
        first = cadre_frame_last_speaker(frame, dialogue->members);
    return cadre_frame_delegate(
        frame,
        CADRE_CALL(.agent = first == NULL ? dialogue->entry : first, .scope = &scope,
                   .flags = CADRE_CALL_FINAL),
        NULL, err);
}

static bool may_hand_over(cadre_dialogue_edge edge, const void *edge_ctx,
                          const cadre_agent *from, const cadre_agent *to)
{
    return from != to && (edge == NULL || edge(edge_ctx, from, to).allowed);
}

// Each handoff gives one more member a turn, and who called it another if it returns.
void cadre_dialogue_shape(const cadre_dialogue *dialogue, cadre_shape *shape,
                          cadre_dialogue_edge edge, const void *edge_ctx)
{
    if (dialogue == NULL)
        return;
    cadre_agents members = dialogue->members;
    int64_t handoffs = dialogue->limits.max_handoffs;
    cadre_shape_set_entry(shape, cadre_agent_get_info(dialogue->entry)->name);
    for (size_t i = 0; i < members.count; i++) {
        const cadre_agent *from = members.items[i];
        cadre_shape_set_end(shape, cadre_agent_get_info(from)->name);
        for (size_t k = 0; k < members.count; k++)
            if (may_hand_over(edge, edge_ctx, from, members.items[k]))
                cadre_shape_add_edge(shape, cadre_agent_get_info(from)->name,
                                     cadre_agent_get_info(members.items[k])->name,
                                     CADRE_SHAPE_MAYBE, NULL);
    }
    if (handoffs != CADRE_UNLIMITED)
        cadre_shape_set_all_runs(shape, (dialogue->returns ? 2 : 1) * handoffs + 1);
}
