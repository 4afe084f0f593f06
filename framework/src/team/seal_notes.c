// What is no mistake, but may not be meant: what a team has and never uses.
#include "team/sealing.h"

// Who is reached from the root. A walk in width, each agent once.
typedef struct reach {
    bool *is_reached;          // by index of the agent
    const cadre_agent **queue; // as long as there are agents
    size_t n_queue;
} reach;

static void meet(reach *r, const cadre_agent *agent)
{
    if (r->is_reached[agent->index])
        return;
    r->is_reached[agent->index] = true;
    r->queue[r->n_queue++] = agent;
}

// Hooks call agents by their names.
static bool is_in_hooks(const cadre_team *team, const cadre_agent *agent)
{
    for (size_t i = 0; i < team->n_hook_files; i++) {
        if (cdr_hook_file_mentions(team->hook_files[i], agent->info.name))
            return true;
    }
    return false;
}

static void walk(reach *r, const cadre_agent *root)
{
    const cadre_team *team = root->team;
    meet(r, root);
    for (size_t i = 0; i < team->n_agents && team->n_hook_files > 0; i++) {
        if (is_in_hooks(team, team->agents[i]))
            meet(r, team->agents[i]);
    }
    for (size_t i = 0; i < r->n_queue; i++) {
        cadre_agents members = r->queue[i]->members;
        cadre_handoffs handoffs = r->queue[i]->handoffs;
        for (size_t k = 0; k < members.count; k++)
            meet(r, members.items[k]);
        for (size_t k = 0; k < handoffs.count; k++)
            meet(r, handoffs.items[k].to);
        if (r->queue[i]->fallback)
            meet(r, r->queue[i]->fallback);
    }
}

static void note_agents(cadre_team *team, const reach *r)
{
    for (size_t i = 0; i < team->n_agents; i++) {
        const cadre_agent *agent = team->agents[i];
        if (!r->is_reached[i] && !agent->is_inner)
            cdr_team_note(team, &agent->at, "agent '%s' is never used",
                          agent->info.name);
    }
}

static void note_tools(cadre_team *team)
{
    json_t *used = json_object();
    for (size_t i = 0; i < team->n_agents; i++) {
        cadre_tools tools = team->agents[i]->tools;
        for (size_t k = 0; k < tools.count; k++) {
            if (json_object_set_new(used, tools.items[k]->info.name, json_true()) != 0)
                team->problems.no_memory = true;
        }
    }
    for (size_t i = 0; i < team->n_tools; i++) {
        const cadre_tool *tool = team->tools[i];
        if (!tool->is_builtin && !json_object_get(used, tool->info.name))
            cdr_team_note(team, &tool->at, "tool '%s' is never used", tool->info.name);
    }
    json_decref(used);
}

static void note_models(cadre_team *team)
{
    for (size_t i = 0; i < team->n_models; i++) {
        const cadre_model *model = team->models[i];
        if (!cdr_model_is_asked(model))
            cdr_team_note(team, &model->at, "model '%s' is never used", model->name);
    }
}

void cdr_seal_notes(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    reach r = {0};
    if (team->problems.count > 0 || !team->root)
        return;
    r.is_reached = cdr_team_alloc(team, team->n_agents + 1);
    r.queue = cdr_team_alloc(team, team->n_agents * sizeof(*r.queue) + 1);
    if (!r.is_reached || !r.queue)
        return;
    walk(&r, team->root);
    note_agents(team, &r);
    note_tools(team);
    note_models(team);
}
