// The types of agents, tools and models of a team, and the schemas that a team brings.
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

// --- Schemas ---

typedef struct schema_report {
    cadre_team *team;
    const cdr_schema_origin *from;
} schema_report;

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    const schema_report *report = ctx;
    const char *dot = *problem->path && *problem->path != '[' ? "." : "";
    cdr_at at = cdr_at_part(report->team, report->from->at, "%s%s", dot, problem->path);
    if (report->from->document && problem->container) {
        cdr_document_value value = cdr_document_at(
            report->from->document, problem->container, problem->key, problem->index);
        cdr_place place = problem->is_key ? value.key_place : value.place;
        at.line = value.value ? place.line : at.line;
        at.column = value.value ? place.column : at.column;
    }
    cdr_team_problem(report->team, &at, "%s", problem->text);
}

bool cdr_team_check_schema(cadre_team *team, const json_t *schema,
                           const cdr_schema_origin *from)
{
    schema_report report = {team, from};
    return cdr_schema_check_schema(from->document ? from->written : schema, on_problem,
                                   &report) == 0;
}

void cdr_tool_set_parameters_take(cadre_tool *tool, json_t *parameters,
                                  const cdr_schema_origin *from)
{
    const char *type = json_string_value(json_object_get(parameters, "type"));
    bool is_sound = cdr_team_check_schema(tool->team, parameters, from);
    if (is_sound && (!type || strcmp(type, "object") != 0)) {
        cdr_team_problem(tool->team, from->at,
                         "expected the schema of an object; write type: object");
        is_sound = false;
    }
    if (!is_sound) {
        tool->is_flawed = true;
        json_decref(parameters);
        return;
    }
    tool->parameters = parameters;
    tool->info.parameters = parameters;
}

void cdr_agent_set_input_schema_take(cadre_agent *agent, json_t *schema,
                                     const cdr_schema_origin *from)
{
    agent->is_flawed |= !cdr_team_check_schema(agent->team, schema, from);
    agent->input_schema = schema;
    agent->info.input_schema = schema;
}

void cdr_agent_set_output_schema_take(cadre_agent *agent, json_t *schema,
                                      const cdr_schema_origin *from)
{
    agent->is_flawed |= !cdr_team_check_schema(agent->team, schema, from);
    agent->output_schema = schema;
    agent->info.output_schema = schema;
}
