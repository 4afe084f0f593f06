// escalate: how a member ends the cycle it works in. It only marks; the framework
// decides when the turn's other tools are done, and writes this call's result then.
#include "cadre/ext/tool.h"

static cadre_status escalate_run(void *state, cadre_frame *frame,
                                 const json_t *arguments, cadre_error *err)
{
    (void)state;
    return cadre_frame_request_escalation(
        frame, json_string_value(json_object_get(arguments, "reason")), err);
}

// Whatever a team calls it, models know it by one name.
static bool escalate_describe(const void *state, cadre_frame *frame,
                              cadre_tool_info *info)
{
    (void)state;
    (void)frame;
    info->name = CADRE_ESCALATE_TOOL;
    return true;
}

extern const cadre_tool_ops cadre_tool_escalate;

const cadre_tool_ops cadre_tool_escalate = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "escalate",
    .summary = "ends the cycle around the agent that calls it",
    .description =
        "Ends the loop you work in. Call it when the goal is met, and say in "
        "the same answer what you have to say.",
    .parameters = "{\"type\": \"object\", \"properties\": {"
                  "  \"reason\": {\"type\": \"string\"}}}",
    .replay_safe = true,
    .is_control = true,
    .describe = escalate_describe,
    .run = escalate_run,
};
