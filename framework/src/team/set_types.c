// The types of agents, tools and models of a team, and the parameters of tools.
#include "team/build.h"

#include "base/brief.h"
#include "team/runtime.h"

#include <string.h>

#define MAX_TYPES 64

static void tell_unknown(cadre_team *team, cadre_kind kind, const char *what,
                         const char *name, const cdr_at *at)
{
    const char *names[MAX_TYPES];
    size_t n_names = cdr_runtime_type_names(team->runtime, kind, names, MAX_TYPES);
    cdr_problems_add_unknown(&team->problems, at, what, name,
                             (cadre_names){names, n_names});
}

const cadre_agent_ops *cdr_agent_set_ops(cadre_agent *agent, const cdr_at *at)
{
    agent->ops = cdr_runtime_agent_ops(agent->team->runtime, agent->info.type);
    if (agent->ops) {
        agent->info.type = agent->ops->type;
    } else {
        tell_unknown(agent->team, CADRE_KIND_AGENT, "type", agent->info.type, at);
        agent->is_flawed = true;
    }
    return agent->ops;
}

const cadre_tool_ops *cdr_tool_set_ops(cadre_tool *tool, const cdr_at *at)
{
    tool->ops = cdr_runtime_tool_ops(tool->team->runtime, tool->type);
    if (!tool->ops) {
        tell_unknown(tool->team, CADRE_KIND_TOOL, "type", tool->type, at);
        tool->is_flawed = true;
    }
    return tool->ops;
}

const cadre_model_ops *cdr_model_set_ops(cadre_model *model, const cdr_at *at)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_team *team = model->team;
    if (!*model->model || !*model->provider) {
        cdr_team_problem(team, at, "expected provider/model, got %s",
                         cdr_brief_text(brief,
                                        *model->model ? model->model : model->provider,
                                        '\''));
        model->is_flawed = true;
        return NULL;
    }
    model->ops = cdr_runtime_model_ops(team->runtime, model->provider);
    if (!model->ops) {
        tell_unknown(team, CADRE_KIND_MODEL, "provider", model->provider, at);
        model->is_flawed = true;
    }
    return model->ops;
}

// The reports of a check of a schema that the team brings.
typedef struct schema_report {
    cadre_tool *tool;
    const cdr_at *at;
} schema_report;

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    schema_report *report = ctx;
    const char *dot = *problem->path && *problem->path != '[' ? "." : "";
    cdr_at place =
        cdr_at_part(report->tool->team, report->at, "%s%s", dot, problem->path);
    cdr_team_problem(report->tool->team, &place, "%s", problem->text);
    report->tool->is_flawed = true;
}

void cdr_tool_set_parameters_take(cadre_tool *tool, json_t *parameters,
                                  const cdr_at *at)
{
    const char *type = json_string_value(json_object_get(parameters, "type"));
    schema_report report = {tool, at};
    if (cdr_schema_check_schema(parameters, on_problem, &report) > 0) {
        json_decref(parameters);
        return;
    }
    if (!type || strcmp(type, "object") != 0) {
        cdr_team_problem(tool->team, at,
                         "expected the schema of an object; write type: object");
        tool->is_flawed = true;
        json_decref(parameters);
        return;
    }
    tool->parameters = parameters;
    tool->info.parameters = parameters;
}
