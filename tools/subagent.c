// subagent: hands a task to a copy of the caller, in a conversation of its own, and
// gives its answer.
//
// The copy is the same agent in a frame below this call. It is not offered the tool
// again, nor `background`, so that the work ends.
#include "cadre/ext/spawn.h"
#include "cadre/ext/tool.h"

static bool subagent_describe(const void *state, cadre_frame *frame,
                              cadre_tool_info *info)
{
    (void)state;
    (void)info;
    return !cadre_frame_is_within(frame, "subagent") &&
           !cadre_frame_is_within(frame, "background");
}

static cadre_status subagent_run(void *state, cadre_frame *frame,
                                 const json_t *arguments, cadre_error *err)
{
    (void)state;
    cadre_outcome answer;
    const char *task = json_string_value(json_object_get(arguments, "task"));
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_agent(frame), .input = task), &answer,
        err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, answer.text, err)
                              : status;
}

extern const cadre_tool_ops cadre_tool_subagent;

const cadre_tool_ops cadre_tool_subagent = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "subagent",
    .summary = "hands a task to a copy of the caller and waits for its answer",
    .description =
        "Hands a task to a copy of you, which works on it in a conversation of "
        "its own, and gives its answer. It knows only what the task says.",
    .parameters = "{\"type\": \"object\", \"required\": [\"task\"], \"properties\": {"
                  "  \"task\": {\"type\": \"string\", \"minLength\": 1}}}",
    .timeout_ms = INT64_C(30) * 60 * 1000,
    .replay_safe = true, // it finds its copy again
    .describe = subagent_describe,
    .run = subagent_run,
    .calls_agents = true,
};
