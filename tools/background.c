// background: copies of the caller that work on by themselves. Their reports come as
// messages, once each, also when the program was restarted meanwhile.
#include "cadre/ext/spawn.h"
#include "cadre/ext/tool.h"

#include <string.h>

static bool background_describe(const void *state, cadre_frame *frame,
                                cadre_tool_info *info)
{
    (void)state;
    (void)info;
    return !cadre_frame_is_within(frame, "subagent") &&
           !cadre_frame_is_within(frame, "background");
}

static cadre_status say(cadre_frame *frame, const char *text, cadre_error *err)
{
    if (text == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a result");
    return cadre_frame_set_output(frame, text, err);
}

static cadre_status need(const char *value, const char *name, const char *action,
                         cadre_error *err)
{
    return value != NULL && value[0] != '\0'
               ? CADRE_OK
               : cadre_fail(err, CADRE_EINVAL, "%s needs `%s`", action, name);
}

static cadre_status spawn(cadre_frame *frame, const char *task, cadre_error *err)
{
    const char *id = NULL;
    cadre_status status = need(task, "text", "spawn", err);
    if (status == CADRE_OK)
        status = cadre_frame_spawn(
            frame, CADRE_CALL(.agent = cadre_frame_agent(frame), .input = task), &id,
            err);
    if (status != CADRE_OK)
        return status;
    return say(
        frame,
        cadre_frame_printf(frame, "Started %s. Its report will come as a message.", id),
        err);
}

static cadre_status send_text(cadre_frame *frame, const char *id, const char *text,
                              cadre_error *err)
{
    cadre_status status = need(id, "id", "send", err);
    if (status == CADRE_OK)
        status = need(text, "text", "send", err);
    if (status == CADRE_OK)
        status = cadre_frame_send_spawned(frame, id, text, err);
    return status == CADRE_OK ? say(frame, "Sent.", err) : status;
}

static cadre_status stop(cadre_frame *frame, const char *id, cadre_error *err)
{
    cadre_status status = need(id, "id", "stop", err);
    if (status == CADRE_OK)
        status = cadre_frame_stop_spawned(frame, id, "stopped by who started it", err);
    return status == CADRE_OK ? say(frame, "Stopped.", err) : status;
}

static cadre_status tell_status(cadre_frame *frame, const char *id, cadre_error *err)
{
    cadre_spawned it;
    cadre_status status = need(id, "id", "status", err);
    if (status == CADRE_OK)
        status = cadre_frame_find_spawned(frame, id, &it, err);
    if (status != CADRE_OK)
        return status;
    const char *word = cadre_frame_status_name(it.status);
    if (it.status == CADRE_FRAME_RUNNING && !it.is_held)
        word = "cut";
    const char *more = it.error[0] != '\0' ? it.error : it.answer;
    return say(
        frame,
        cadre_frame_printf(frame, "%s%s%s", word, more[0] == '\0' ? "" : ": ", more),
        err);
}

static cadre_status background_run(void *state, cadre_frame *frame,
                                   const json_t *arguments, cadre_error *err)
{
    (void)state;
    const char *action = json_string_value(json_object_get(arguments, "action"));
    const char *id = json_string_value(json_object_get(arguments, "id"));
    const char *text = json_string_value(json_object_get(arguments, "text"));
    if (strcmp(action, "spawn") == 0)
        return spawn(frame, text, err);
    if (strcmp(action, "send") == 0)
        return send_text(frame, id, text, err);
    return strcmp(action, "stop") == 0 ? stop(frame, id, err)
                                       : tell_status(frame, id, err);
}

extern const cadre_tool_ops cadre_tool_background;

const cadre_tool_ops cadre_tool_background = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "background",
    .summary = "copies of the caller that work by themselves and report later",
    .description =
        "Lets copies of you work by themselves while you go on. spawn starts one with "
        "a task (text) and gives its id; it knows only what the task says, and its "
        "report comes as a message when it is done. send says something to it, status "
        "tells how it is, stop ends it.",
    .parameters =
        "{\"type\": \"object\", \"required\": [\"action\"], \"properties\": {"
        "  \"action\": {\"type\": \"string\","
        "    \"enum\": [\"spawn\", \"send\", \"status\", \"stop\"]},"
        "  \"id\": {\"type\": \"string\", \"description\": \"of send, status, stop\"},"
        "  \"text\": {\"type\": \"string\", \"description\": \"of spawn, send\"}}}",
    .replay_safe = true, // what it did is found again, or is the same done again
    .describe = background_describe,
    .run = background_run,
};
