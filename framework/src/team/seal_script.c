// The script of a team: loaded when a model answers from it.
#include "team/sealing.h"

#include "team/runtime.h"
#include "team/script.h"

static bool is_needed(const cadre_team *team)
{
    for (size_t i = 0; i < team->n_models; i++) {
        if (team->models[i]->is_used && team->models[i]->is_scripted)
            return true;
    }
    return false;
}

static void check_names(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    const cadre_script *script = team->script;
    const char *const *agents = cdr_sealing_agent_names(sealing);
    const char *const *tools = cdr_sealing_tool_names(sealing);
    for (size_t i = 0; agents && i < script->n_agents; i++) {
        const cdr_script_agent *agent = &script->agents[i];
        if (!team->partial.agents && !json_object_get(team->agent_index, agent->name))
            cdr_problems_add_unknown(&team->problems, &agent->at, "agent", agent->name,
                                     (cadre_names){agents, team->n_agents});
    }
    for (size_t i = 0; tools && i < script->n_tools; i++) {
        const cdr_script_tool *tool = &script->tools[i];
        // What is recorded alone was some team's; a replay tells where this one
        // differs.
        if (tool->n_results > 0 && !team->partial.tools &&
            !json_object_get(team->tool_index, tool->name))
            cdr_problems_add_unknown(&team->problems, &tool->at, "tool", tool->name,
                                     (cadre_names){tools, team->n_tools});
    }
    for (size_t i = 0; agents && i < script->n_targets; i++) {
        const cdr_script_target *to = &script->targets[i];
        if (!team->partial.agents && !json_object_get(team->agent_index, to->name))
            cdr_problems_add_unknown(&team->problems, &to->at, "agent", to->name,
                                     (cadre_names){agents, team->n_agents});
    }
}

static void tell_missing(cadre_team *team)
{
    cdr_at at = team->script_at;
    at.path = NULL;
    if (at.file)
        cdr_team_problem(team, &at,
                         "there is no script to answer from; add `script:` to the team "
                         "file, or run with --script FILE");
    else
        cdr_team_problem(team, NULL,
                         "there is no script to answer from; name one with "
                         "cadre_team_set_script, or in cadre_runtime_config");
}

void cdr_seal_script(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    const char *path =
        team->runtime->script ? team->runtime->script : team->script_path;
    if (!is_needed(team))
        return;
    if (!path) {
        tell_missing(team);
        return;
    }
    // One that the runtime was given is named nowhere in the team.
    const cdr_at elsewhere = {.path = "script"};
    team->script = cdr_script_read(
        path, team->runtime->script ? &elsewhere : &team->script_at, &team->problems);
    if (team->script)
        check_names(sealing);
}
