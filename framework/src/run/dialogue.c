// See cadre/ext/dialogue.h.
#include "cadre/ext/dialogue.h"

#include "run/arguments.h"

static int integer(const json_t *options, const char *name)
{
    return (int)json_integer_value(json_object_get(options, name));
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
                                cadre_edge (*edge)(const void *ctx,
                                                   const cadre_agent *from,
                                                   const cadre_agent *to),
                                const void *edge_ctx, cadre_error *err)
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
        CADRE_CALL(.agent = first == NULL ? dialogue->entry : first, .scope = &scope),
        NULL, err);
}
