// member: how a coordinator's model calls a member of the team, and gets its answer.
//
// The member works in a conversation of its own and is told the request, as text, and
// nothing else. What it answers last is the result. A failed member is a result too.
#include "cadre/ext/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct member_tool {
    const cadre_agent *agent;
    cadre_history history;
    json_t *shown;      // the parameters a model is told; NULL: its own schema
    bool takes_request; // a plain text, not an object of its own schema
    char *description;
} member_tool;

static cadre_status member_init(void *state, const cadre_tool_config *config,
                                cadre_error *err)
{
    member_tool *self = state;
    const char *history =
        json_string_value(json_object_get(config->options, "history"));
    const json_t *properties = json_object_get(config->info.parameters, "properties");
    const json_t *request = json_object_get(properties, "request");
    self->agent = config->member;
    self->history = history != NULL && strcmp(history, "all") == 0 ? CADRE_HISTORY_ALL
                                                                   : CADRE_HISTORY_NONE;
    self->takes_request = json_is_object(request) && json_object_size(request) == 0;
    if (config->info.description[0] != '\0')
        self->description = strdup(config->info.description);
    else
        self->description = strdup("Works on a request and gives the answer.");
    if (self->takes_request)
        self->shown = json_pack(
            "{s:s, s:[s], s:{s:{s:s, s:s}}}", "type", "object", "required", "request",
            "properties", "request", "type", "string", "description",
            "What to do, with all that is needed to know; nothing else is seen");
    if (self->description == NULL || (self->takes_request && self->shown == NULL))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a tool");
    return CADRE_OK;
}

static void member_fini(void *state)
{
    member_tool *self = state;
    json_decref(self->shown);
    free(self->description);
}

static bool member_describe(const void *state, cadre_frame *frame,
                            cadre_tool_info *info)
{
    const member_tool *self = state;
    (void)frame;
    info->description = self->description;
    if (self->takes_request)
        info->parameters = self->shown;
    return true;
}

// What else than a text was given where one is wanted is passed on as its JSON.
static cadre_status call_of(const member_tool *self, const json_t *arguments,
                            cadre_call *call, cadre_error *err)
{
    const json_t *request = json_object_get(arguments, "request");
    *call = (cadre_call){
        .struct_size = sizeof *call, .agent = self->agent, .history = self->history};
    if (!self->takes_request) {
        call->json = arguments;
        return CADRE_OK;
    }
    if (json_is_string(request))
        call->input = json_string_value(request);
    else
        call->json = request;
    if (json_is_null(request) ||
        (call->input != NULL && call->input[strspn(call->input, " \t\r\n")] == '\0'))
        return cadre_fail(err, CADRE_EINVAL, "'request' is empty: say what %s is to do",
                          cadre_agent_get_info(self->agent)->name);
    return CADRE_OK;
}

static cadre_status member_run(void *state, cadre_frame *frame, const json_t *arguments,
                               cadre_error *err)
{
    const member_tool *self = state;
    cadre_call call;
    cadre_outcome answer;
    cadre_status status = call_of(self, arguments, &call, err);
    if (status == CADRE_OK)
        status = cadre_frame_call(frame, &call, &answer, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, answer.text, err)
                              : status;
}

extern const cadre_tool_ops cadre_tool_member;

const cadre_tool_ops cadre_tool_member = {
    .struct_size = sizeof(cadre_tool_ops),
    .type = "member",
    .summary = "calls a member of a team and gives its answer",
    .parameters = "{\"type\": \"object\", \"required\": [\"request\"],"
                  " \"properties\": {\"request\": {}}}",
    .options_schema = "{\"history\": {\"enum\": [\"none\", \"all\"]}}",
    .timeout_ms = CADRE_UNLIMITED, // the member has its own
    .state_size = sizeof(member_tool),
    .replay_safe = true, // it finds its member's frame again
    .is_lent = true,
    .init = member_init,
    .describe = member_describe,
    .run = member_run,
    .fini = member_fini,
};
