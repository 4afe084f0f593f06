// swarm: the entry speaks first; every member may hand the conversation over to
// every other.
#include "cadre/ext/dialogue.h"

typedef struct swarm {
    cadre_dialogue dialogue;
} swarm;

static cadre_status swarm_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    swarm *self = state;
    return cadre_dialogue_init(&self->dialogue, config, err);
}

static cadre_status swarm_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const swarm *self = state;
    return cadre_dialogue_run(&self->dialogue, frame, NULL, NULL, err); // all to all
}

static void swarm_shape(const void *state, cadre_shape *shape)
{
    const swarm *self = state;
    cadre_dialogue_shape(&self->dialogue, shape, NULL, NULL);
}

extern const cadre_agent_ops cadre_topology_swarm;

const cadre_agent_ops cadre_topology_swarm = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "swarm",
    .summary = "the entry answers, or hands over; every member to every other",
    .block = "transfer",
    .options_schema = CADRE_DIALOGUE_OPTIONS,
    .state_size = sizeof(swarm),
    .init = swarm_init,
    .run = swarm_run,
    .shape = swarm_shape,
};
