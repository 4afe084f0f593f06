// Instances made: models, tools, then agents in order.
#include "team/sealing.h"

#include "base/schema.h"
#include "team/build.h"
#include "team/file_schema.h"
#include "team/option_names.h"
#include "team/runtime.h"
#include "team/settings.h"
#include "team/state_keys.h"

#include <stdlib.h>
#include <string.h>

// Puts the defaults of a type into options. False: no memory.
static bool complete(cadre_team *team, const char *options_schema, json_t **options)
{
    json_t *schema = cdr_settings_schema(options_schema, NULL);
    json_t *completed =
        schema && *options ? cdr_settings_complete(schema, *options) : NULL;
    json_decref(schema);
    if (!completed) {
        team->problems.no_memory = true;
        return false;
    }
    json_decref(*options);
    *options = completed;
    return true;
}

// Zeroed memory for an instance. NULL: no memory, kept as a mistake.
static void *make_state(cadre_team *team, size_t size)
{
    void *state = calloc(1, size > 0 ? size : 1);
    team->problems.no_memory |= !state;
    return state;
}

static void make_model(cadre_model *model)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_model_ops *ops = model->ops;
    if (!complete(model->team, ops->options_schema, &model->options))
        return;
    model->state = make_state(model->team, ops->state_size);
    cadre_model_config config = {
        .struct_size = sizeof(config),
        .name = model->name,
        .model = model->model,
        .base_url = model->base_url,
        .api_key_env = model->api_key_env,
        .options = model->options,
    };
    if (model->state && ops->init && ops->init(model->state, &config, &err) != CADRE_OK)
        cdr_model_problem(model, "%s", err.text);
}

static void note_tool(const cadre_tool_config *config, const char *text)
{
    const cadre_tool *tool = config->tool;
    cdr_team_note(tool->team, &tool->at, "tool '%s': %s", tool->info.name, text);
}

// What all tools of a type have in common.
static void take_common(cadre_tool *tool)
{
    const cadre_tool_ops *ops = tool->ops;
    if (tool->timeout_ms == 0)
        tool->timeout_ms = ops->timeout_ms == 0                 ? CDR_TOOL_TIMEOUT_MS
                           : ops->timeout_ms == CADRE_UNLIMITED ? 0
                                                                : ops->timeout_ms;
    if (!ops->parameters || (tool->member && tool->parameters))
        return;
    if (tool->parameters) {
        cdr_tool_problem(tool, "type '%s' has parameters of its own; leave them out",
                         ops->type);
        return;
    }
    json_t *parameters = json_loads(ops->parameters, 0, NULL);
    if (parameters)
        cdr_tool_set_parameters_take(tool, parameters,
                                     &(cdr_schema_origin){.at = &tool->at});
    else
        cdr_tool_problem(tool, "type '%s': its parameters are no JSON", ops->type);
    if (!*tool->info.description && ops->description)
        tool->info.description = ops->description;
}

static void make_tool(cadre_tool *tool)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_tool_ops *ops = tool->ops;
    take_common(tool);
    if (tool->parameters) {
        tool->plan = cdr_schema_plan_new(tool->parameters, NULL, NULL, NULL);
        tool->team->problems.no_memory |= !tool->plan;
    }
    if (!complete(tool->team, ops->options_schema, &tool->options))
        return;
    tool->state = make_state(tool->team, ops->state_size);
    cadre_tool_config config = {
        .struct_size = sizeof(config),
        .info = tool->info,
        .options = tool->options,
        .directory = tool->team->directory,
        .run = tool->function,
        .ctx = tool->function_ctx,
        .note = note_tool,
        .tool = tool,
        .member = tool->member,
    };
    if (tool->state && ops->init && ops->init(tool->state, &config, &err) != CADRE_OK)
        cdr_tool_problem(tool, "%s", err.text);
}

// Adds a tool that no file names, so it is in no index either; make_tool comes next.
static cadre_tool *add_builtin(cadre_team *team, const cadre_tool_ops *ops)
{
    cadre_tool *tool = cdr_team_alloc(team, sizeof(*tool));
    cadre_tool **tools =
        cdr_arena_grow(&team->arena, team->tools, team->n_tools, sizeof(void *));
    if (!tool || !tools) {
        team->problems.no_memory = true;
        return NULL;
    }
    *tool = (cadre_tool){
        .info = {.name = ops->type, .description = ops->summary ? ops->summary : ""},
        .ops = ops,
        .team = team,
        .options = json_object(),
        .type = ops->type,
        .replay_safe = ops->replay_safe,
        .is_builtin = true,
    };
    team->tools = tools;
    tools[team->n_tools++] = tool;
    return tool;
}

static const cadre_tool *builtin_tool(const cadre_agent_config *config,
                                      const char *type)
{
    cadre_team *team = config->team;
    for (size_t i = team->n_tools; i > 0 && team->tools[i - 1]->is_builtin; i--) {
        const cadre_tool *tool = team->tools[i - 1];
        if (!tool->member && strcmp(tool->type, type) == 0)
            return tool->is_flawed ? NULL : tool;
    }
    const cadre_tool_ops *ops = cdr_runtime_tool_ops(team->runtime, type);
    cadre_tool *tool = ops ? add_builtin(team, ops) : NULL;
    if (tool)
        make_tool(tool);
    return tool && !tool->is_flawed ? tool : NULL;
}

// The arguments of a member's tool, when the member does not take a plain request.
// False: `err`.
static bool take_input_schema(cadre_tool *tool, const json_t *schema, cadre_error *err)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (!schema)
        return true;
    if (!type || strcmp(type, "object") != 0) {
        cadre_fail(err, CADRE_EINVAL,
                   "member '%s': its input_schema must be of type object, so that a "
                   "model can call it",
                   tool->info.name);
        return false;
    }
    tool->parameters = json_incref((json_t *)(uintptr_t)schema);
    tool->info.parameters = tool->parameters;
    return true;
}

static const cadre_tool *member_tool(const cadre_agent_config *config,
                                     const cadre_agent *member, cadre_history history,
                                     cadre_error *err)
{
    cadre_team *team = config->team;
    const json_t *said = json_object_get(config->member_options, member->info.name);
    const json_t *schema = json_object_get(said, "input_schema");
    const char *description = json_string_value(json_object_get(said, "description"));
    const cadre_tool_ops *ops = cdr_runtime_tool_ops(team->runtime, "member");
    cadre_tool *tool = ops ? add_builtin(team, ops) : NULL;
    if (!tool) {
        cadre_fail(err, CADRE_EINVAL, "there is no tool of type member");
        return NULL;
    }
    tool->member = member;
    tool->info.name = member->info.name;
    tool->info.description = description ? description : member->info.description;
    if (json_object_set_new(
            tool->options, "history",
            json_string(history == CADRE_HISTORY_ALL ? "all" : "none")) != 0)
        team->problems.no_memory = true;
    if (!take_input_schema(tool, schema ? schema : member->info.input_schema, err))
        return NULL;
    make_tool(tool);
    if (!tool->is_flawed)
        return tool;
    cadre_fail(err, CADRE_EINVAL, "member '%s' cannot be made a tool",
               member->info.name);
    return NULL;
}

// Errors of an agent's init name it themselves.
static void tell_agent(cadre_agent *agent, const char *text)
{
    cdr_at at = agent->at;
    at.path = "";
    if (strncmp(text, "agent '", 7) == 0)
        cdr_team_problem(agent->team, &at, "%s%s", text, cdr_agent_by_type(agent));
    else
        cdr_agent_problem(agent, "%s", text);
    agent->is_flawed = true;
}

static void tell_problem(const cadre_agent_config *config, const char *path,
                         const char *format, ...) CADRE_PRINTF(3, 4);

static void tell_problem(const cadre_agent_config *config, const char *path,
                         const char *format, ...)
{
    cadre_agent *agent = config->agent;
    cdr_at at = cdr_agent_option_at(agent, path);
    va_list args;
    va_start(args, format);
    const char *text = cdr_arena_vprintf(&agent->team->arena, format, args);
    va_end(args);
    if (text)
        cdr_team_problem(agent->team, &at, "%s%s", text, cdr_agent_by_type(agent));
    agent->team->problems.no_memory |= !text;
    agent->is_flawed = true;
}

static void tell_unknown(const cadre_agent_config *config, const char *path,
                         const char *what, const char *name, cadre_names known)
{
    cadre_agent *agent = config->agent;
    cdr_at at = cdr_agent_option_at(agent, path);
    cdr_problems_add_unknown(&agent->team->problems, &at, what, name, known);
    agent->is_flawed = true;
}

static const cadre_predicate *find_predicate(const cadre_agent_config *config,
                                             const char *name)
{
    const cadre_team *team = config->team;
    for (size_t i = 0; i < team->n_predicates; i++) {
        if (strcmp(team->predicates[i].name, name) == 0)
            return &team->predicates[i];
    }
    return NULL;
}

static void note_option(const cadre_agent_config *config, const char *path,
                        const char *text)
{
    cadre_agent *agent = config->agent;
    cdr_at at = cdr_agent_option_at(agent, path);
    cdr_team_note(agent->team, &at, "agent '%s': %s%s%s", agent->info.name, path,
                  *path ? ": " : "", text);
}

static void make_agent(cadre_agent *agent);

static const cadre_agent *
add_function(const cadre_agent_config *config, const char *name,
             cadre_status (*run)(void *ctx, cadre_frame *frame, cadre_error *err),
             void *ctx)
{
    cadre_agent *owner = config->agent;
    cadre_agent *agent = cdr_team_add_inner_agent(owner, CDR_FUNCTION_TYPE, name);
    if (!agent || !cdr_agent_set_ops(agent, &owner->at))
        return NULL;
    agent->function = run;
    agent->function_ctx = ctx;
    agent->options = json_object();
    owner->team->problems.no_memory |= !agent->options;
    make_agent(agent);
    return agent->is_flawed ? NULL : agent;
}

static void make_agent(cadre_agent *agent)
{
    cadre_error err = CADRE_ERROR_INIT;
    const cadre_agent_ops *ops = agent->ops;
    if (!complete(agent->team, ops->options_schema, &agent->options))
        return;
    agent->state = make_state(agent->team, ops->state_size);
    cadre_agent_config config = {
        .struct_size = sizeof(config),
        .info = agent->info,
        .options = agent->options,
        .members = agent->members,
        .entry = agent->entry,
        .model = agent->model,
        .tools = agent->tools,
        .fallback = agent->fallback,
        .builtin_tool = builtin_tool,
        .member_tool = member_tool,
        .member_options = agent->member_options,
        .declare_state = cdr_config_declare_state,
        .reducer_of = cdr_config_reducer_of,
        .run_together = cdr_config_run_together,
        .team = agent->team,
        .function = agent->function,
        .function_ctx = agent->function_ctx,
        .entry_name = ops->names_entry ? agent->entry_ref.name : NULL,
        .problem = tell_problem,
        .unknown = tell_unknown,
        .find_predicate = find_predicate,
        .note = note_option,
        .add_function = add_function,
        .agent = agent,
    };
    // An init that told its mistakes has no more to say.
    if (agent->state && ops->init &&
        ops->init(agent->state, &config, &err) != CADRE_OK && !agent->is_flawed)
        tell_agent(agent, err.text);
}

// A flaw below is told there; what stands on it cannot be made.
static bool has_flawed_part(const cadre_agent *agent)
{
    for (size_t i = 0; i < agent->members.count; i++) {
        if (agent->members.items[i]->is_flawed)
            return true;
    }
    for (size_t i = 0; i < agent->tools.count; i++) {
        if (agent->tools.items[i]->is_flawed)
            return true;
    }
    return agent->model && agent->model->is_flawed;
}

void cdr_seal_instances(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    for (size_t i = 0; i < team->n_models; i++) {
        if (!team->models[i]->is_flawed)
            make_model(team->models[i]);
    }
    for (size_t i = 0; i < team->n_tools; i++) {
        if (!team->tools[i]->is_flawed)
            make_tool(team->tools[i]);
    }
    for (size_t i = 0; i < team->n_order; i++) {
        cadre_agent *agent = team->order[i];
        agent->is_flawed |= has_flawed_part(agent);
        if (!agent->is_flawed)
            make_agent(agent);
    }
}
