// function: an agent written as one C function.
#include "cadre/ext/agent.h"

typedef struct function_agent {
    cadre_status (*function)(void *ctx, cadre_frame *frame, cadre_error *err);
    void *ctx;
} function_agent;

static cadre_status function_init(void *state, const cadre_agent_config *config,
                                  cadre_error *err)
{
    function_agent *agent = state;
    if (!config->function)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': type function is for C: use "
                          "cadre_team_add_function",
                          config->info.name);
    agent->function = config->function;
    agent->ctx = config->function_ctx;
    return CADRE_OK;
}

static cadre_status function_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const function_agent *agent = state;
    return agent->function(agent->ctx, frame, err);
}

extern const cadre_agent_ops cadre_agent_function;

const cadre_agent_ops cadre_agent_function = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "function",
    .summary = "one C function",
    .state_size = sizeof(function_agent),
    .init = function_init,
    .run = function_run,
};
