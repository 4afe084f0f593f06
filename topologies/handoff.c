// handoff: the entry speaks first; members hand the conversation over along the edges
// they declare. Where none declares any, the entry may hand over to all others.
#include "cadre/ext/dialogue.h"

typedef struct handoff {
    cadre_dialogue dialogue;
    bool is_open; // no member declares an edge
} handoff;

static bool has_edges(cadre_agents members)
{
    for (size_t i = 0; i < members.count; i++)
        if (cadre_agent_handoffs(members.items[i]).count > 0)
            return true;
    return false;
}

static cadre_status handoff_init(void *state, const cadre_agent_config *config,
                                 cadre_error *err)
{
    handoff *self = state;
    self->is_open = !has_edges(config->members);
    return cadre_dialogue_init(&self->dialogue, config, err);
}

static cadre_edge handoff_edge(const void *ctx, const cadre_agent *from,
                               const cadre_agent *to)
{
    const handoff *self = ctx;
    cadre_handoffs edges = cadre_agent_handoffs(from);
    if (self->is_open)
        return (cadre_edge){from == self->dialogue.entry, CADRE_HISTORY_DEFAULT};
    for (size_t i = 0; i < edges.count; i++)
        if (edges.items[i].to == to)
            return (cadre_edge){true, edges.items[i].history};
    return (cadre_edge){false, CADRE_HISTORY_DEFAULT};
}

static cadre_status handoff_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const handoff *self = state;
    return cadre_dialogue_run(&self->dialogue, frame, handoff_edge, self, err);
}

static void handoff_shape(const void *state, cadre_shape *shape)
{
    const handoff *self = state;
    cadre_dialogue_shape(&self->dialogue, shape, handoff_edge, self);
}

extern const cadre_agent_ops cadre_topology_handoff;

const cadre_agent_ops cadre_topology_handoff = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "handoff",
    .summary = "the entry answers, or hands over along the members' handoffs",
    .block = "transfer",
    .options_schema = CADRE_DIALOGUE_OPTIONS,
    .state_size = sizeof(handoff),
    .uses_handoffs = true,
    .init = handoff_init,
    .run = handoff_run,
    .shape = handoff_shape,
};
