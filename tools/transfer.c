// transfer: how a model hands the conversation over. It only marks; the framework
// decides when the turn's other tools are done, and then writes this call's result.
//
// The names stand in the description, not as an enum: a name in other case or in quotes
// is understood, and a wrong one is answered with the right ones.
#include "cadre/ext/scope.h"
#include "cadre/ext/tool.h"

#include <string.h>

typedef struct transfer {
    json_t *parameters;
} transfer;

static cadre_status transfer_init(void *state, const cadre_tool_config *config,
                                  cadre_error *err)
{
    transfer *self = state;
    (void)config;
    self->parameters = json_pack(
        "{s:s, s:[s], s:{s:{s:s, s:s}, s:{s:s, s:s}}}", "type", "object", "required",
        "agent", "properties", "agent", "type", "string", "description",
        "The name of the agent that answers from here", "message", "type", "string",
        "description", "What that agent must know and do");
    return self->parameters == NULL
               ? cadre_fail(err, CADRE_ENOMEM, "no memory for a tool")
               : CADRE_OK;
}

static void transfer_fini(void *state)
{
    transfer *self = state;
    json_decref(self->parameters);
}

static char *put(char *to, const char *text)
{
    size_t len = strlen(text);
    memcpy(to, text, len + 1);
    return to + len;
}

// A line for each target, in the frame's arena; NULL: no memory. Measured first: there
// may be many, and it is made for each turn.
static const char *describe_targets(cadre_frame *frame, cadre_agents targets)
{
    static const char start[] = "Hands the conversation over to another agent, who "
                                "answers from there. Agents:";
    size_t size = sizeof(start);
    for (size_t i = 0; i < targets.count; i++) {
        const cadre_agent_info *to = cadre_agent_get_info(targets.items[i]);
        size += strlen("\n- : ") + strlen(to->name) + strlen(to->description);
    }
    char *text = cadre_frame_alloc(frame, size);
    if (text == NULL)
        return NULL;
    char *at = put(text, start);
    for (size_t i = 0; i < targets.count; i++) {
        const cadre_agent_info *to = cadre_agent_get_info(targets.items[i]);
        at = put(put(at, "\n- "), to->name);
        if (to->description[0] != '\0')
            at = put(put(at, ": "), to->description);
    }
    return text;
}

static bool transfer_describe(const void *state, cadre_frame *frame,
                              cadre_tool_info *info)
{
    const transfer *self = state;
    cadre_agents targets = cadre_frame_targets(frame);
    const char *text = describe_targets(frame, targets);
    info->name = CADRE_TRANSFER_TOOL;
    info->description = text == NULL ? "" : text;
    info->parameters = self->parameters;
    return targets.count > 0;
}

static cadre_status transfer_run(void *state, cadre_frame *frame,
                                 const json_t *arguments, cadre_error *err)
{
    (void)state;
    const char *to = json_string_value(json_object_get(arguments, "agent"));
    const char *message = json_string_value(json_object_get(arguments, "message"));
    return cadre_frame_request_transfer(frame, to == NULL ? "" : to,
                                        message == NULL ? "" : message, err);
}

extern const cadre_tool_ops cadre_tool_transfer;

const cadre_tool_ops cadre_tool_transfer = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "transfer",
    .summary = "hands the conversation over to another agent",
    .state_size = sizeof(transfer),
    .replay_safe = true,
    .is_control = true,
    .is_lent = true,
    .init = transfer_init,
    .describe = transfer_describe,
    .run = transfer_run,
    .fini = transfer_fini,
};
