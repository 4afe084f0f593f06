// ask: how a model asks a person. The run waits for the answer, and parks when nothing
// else of it can go on.
#include "cadre/ext/tool.h"

#include <stdlib.h>

static cadre_status give_answer(cadre_frame *frame, const json_t *answer,
                                cadre_error *err)
{
    if (json_is_string(answer))
        return cadre_frame_set_output(frame, json_string_value(answer), err);
    char *text = json_dumps(answer, JSON_COMPACT | JSON_ENCODE_ANY);
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for an answer");
    cadre_status status = cadre_frame_set_output(frame, text, err);
    free(text);
    return status;
}

static cadre_status ask_run(void *state, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err)
{
    json_t *answer = NULL;
    (void)state;
    cadre_status status = cadre_frame_ask(frame, NULL, arguments, &answer, err);
    if (status == CADRE_OK)
        status = give_answer(frame, answer, err);
    json_decref(answer);
    return status;
}

extern const cadre_tool_ops cadre_tool_ask;

const cadre_tool_ops cadre_tool_ask = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "ask",
    .summary = "asks a person and waits for the answer",
    .description = "Asks the user, or another person, and gives their answer. Use it "
                   "when you cannot go on without it.",
    .parameters =
        "{\"type\": \"object\", \"required\": [\"question\"], \"properties\": {"
        "  \"question\": {\"type\": \"string\", \"minLength\": 1},"
        "  \"choices\": {\"type\": \"array\", \"items\": {\"type\": \"string\"},"
        "    \"description\": \"The answers it can have; leave it out for any\"}}}",
    .replay_safe = true, // it only asks, and a question is asked once
    .run = ask_run,
};
