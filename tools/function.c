// function: a tool written as one C function.
#include "cadre/ext/tool.h"

typedef struct function_tool {
    cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);
    void *ctx;
} function_tool;

static cadre_status function_init(void *state, const cadre_tool_config *config,
                                  cadre_error *err)
{
    function_tool *tool = state;
    if (!config->run)
        return cadre_fail(err, CADRE_EINVAL,
                          "type function is for C: use cadre_team_add_tool with .run");
    tool->run = config->run;
    tool->ctx = config->ctx;
    return CADRE_OK;
}

static cadre_status function_run(void *state, cadre_frame *frame,
                                 const json_t *arguments, cadre_error *err)
{
    const function_tool *tool = state;
    return tool->run(tool->ctx, frame, arguments, err);
}

extern const cadre_tool_ops cadre_tool_function;

const cadre_tool_ops cadre_tool_function = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "function",
    .summary = "one C function",
    .state_size = sizeof(function_tool),
    .init = function_init,
    .run = function_run,
    .calls_agents = true,
};
