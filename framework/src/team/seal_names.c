// Names resolved: models, tools, handoffs, members and entries of each agent.
#include "team/sealing.h"

#include "base/brief.h"
#include "base/buf.h"
#include "team/build.h"
#include "team/file_schema.h"
#include "team/option_names.h"
#include "team/runtime.h"

#include <string.h>

const char *const *cdr_sealing_agent_names(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    if (!sealing->agent_names) {
        const char **names = cdr_team_alloc(team, team->n_agents * sizeof(*names) + 1);
        for (size_t i = 0; names && i < team->n_agents; i++)
            names[i] = team->agents[i]->info.name;
        sealing->agent_names = names;
    }
    return sealing->agent_names;
}

const char *const *cdr_sealing_tool_names(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    if (!sealing->tool_names) {
        const char **names = cdr_team_alloc(team, team->n_tools * sizeof(*names) + 1);
        for (size_t i = 0; names && i < team->n_tools; i++)
            names[i] = team->tools[i]->info.name;
        sealing->tool_names = names;
    }
    return sealing->tool_names;
}

static cadre_agent *find_agent(cdr_sealing *sealing, const cdr_name_ref *ref)
{
    cadre_agent *agent = cdr_team_find_agent(sealing->team, ref->name);
    if (agent)
        return agent;
    if (sealing->team->partial.agents)
        return NULL;
    const char *const *names = cdr_sealing_agent_names(sealing);
    if (names)
        cdr_problems_add_unknown(&sealing->team->problems, &ref->at, "agent", ref->name,
                                 (cadre_names){names, sealing->team->n_agents});
    return NULL;
}

// The models that have names to choose from; those made of provider/model come last and
// are none.
static const char *const *model_names(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    if (!sealing->model_names) {
        const char **names = cdr_team_alloc(team, team->n_models * sizeof(*names) + 1);
        for (size_t i = 0; names && i < team->n_models; i++) {
            if (!strchr(team->models[i]->name, '/'))
                names[sealing->n_model_names++] = team->models[i]->name;
        }
        sealing->model_names = names;
    }
    return sealing->model_names;
}

static void tell_unknown_model(cdr_sealing *sealing, const cdr_name_ref *ref)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_team *team = sealing->team;
    const char *const *names = model_names(sealing);
    if (names && sealing->n_model_names > 0)
        cdr_problems_add_unknown(&team->problems, &ref->at, "model", ref->name,
                                 (cadre_names){names, sealing->n_model_names});
    else
        cdr_team_problem(team, &ref->at,
                         "unknown model %s; the team has no models of its own, so "
                         "write provider/model",
                         cdr_brief_text(brief, ref->name, '\''));
}

static cadre_model *make_model(cadre_team *team, const cdr_name_ref *ref)
{
    cadre_model *model = cdr_team_add_model(team, ref->name, ref->name, &ref->at);
    if (model && cdr_model_set_ops(model, &ref->at)) {
        model->options = json_object();
        team->problems.no_memory |= !model->options;
    }
    return model;
}

// A model that the team names wins over provider/model.
cadre_model *cdr_sealing_find_model(cdr_sealing *sealing, const cdr_name_ref *ref)
{
    cadre_team *team = sealing->team;
    const json_t *position = json_object_get(team->model_index, ref->name);
    if (position)
        return team->models[json_integer_value(position)];
    if (strchr(ref->name, '/'))
        return make_model(team, ref);
    if (!team->partial.models)
        tell_unknown_model(sealing, ref);
    return NULL;
}

static void resolve_model(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_ref *ref = &agent->model_ref;
    bool is_llm = strcmp(agent->info.type, CDR_DEFAULT_AGENT_TYPE) == 0;
    if (ref->name && cdr_is_topology(agent->ops)) {
        cdr_team_problem(sealing->team, &ref->at,
                         "a %s asks no model of its own, its members do; leave it out",
                         agent->info.type);
        agent->is_flawed = true;
        return;
    }
    if (!ref->name) {
        if (is_llm && !agent->is_flawed)
            cdr_agent_problem(agent, "no model; write model: provider/model");
        return;
    }
    cadre_model *model = cdr_sealing_find_model(sealing, ref);
    if (model) {
        model->is_used = true;
        agent->is_flawed |= model->is_flawed;
    } else {
        agent->is_flawed = true;
    }
    agent->model = model;
}

// Finds names that stand twice in one list; `seen` is what was there before.
static bool is_repeated(cadre_agent *agent, json_t *seen, const cdr_name_ref *ref)
{
    char brief[CDR_BRIEF_SIZE];
    if (json_object_get(seen, ref->name)) {
        cdr_team_problem(agent->team, &ref->at, "%s stands here twice",
                         cdr_brief_text(brief, ref->name, '\''));
        agent->is_flawed = true;
        return true;
    }
    if (json_object_set_new(seen, ref->name, json_true()) != 0)
        agent->team->problems.no_memory = true;
    return false;
}

static const cadre_tool *find_tool(cdr_sealing *sealing, const cdr_name_ref *ref)
{
    cadre_team *team = sealing->team;
    const json_t *position = json_object_get(team->tool_index, ref->name);
    if (position)
        return team->tools[json_integer_value(position)];
    if (team->partial.tools)
        return NULL;
    const char *const *names = cdr_sealing_tool_names(sealing);
    if (names)
        cdr_problems_add_unknown(&team->problems, &ref->at, "tool", ref->name,
                                 (cadre_names){names, team->n_tools});
    return NULL;
}

// Tools that the options name may stand there more than once.
static void add_option_tools(cdr_sealing *sealing, cadre_agent *agent,
                             const cadre_tool **tools, json_t *seen)
{
    const cdr_name_refs *refs = &agent->option_tool_refs;
    for (size_t i = 0; i < refs->count; i++) {
        const cadre_tool *tool = find_tool(sealing, &refs->items[i]);
        agent->is_flawed |= !tool || tool->is_flawed;
        if (!tool || json_object_get(seen, tool->info.name))
            continue;
        tools[agent->tools.count++] = tool;
        if (json_object_set_new(seen, tool->info.name, json_true()) != 0)
            agent->team->problems.no_memory = true;
    }
}

static void resolve_tools(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_refs *refs = &agent->tool_refs;
    size_t n_named = refs->count + agent->option_tool_refs.count;
    if (refs->count > 0 && cdr_is_topology(agent->ops)) {
        cdr_team_problem(sealing->team, &refs->items[0].at,
                         "a %s uses no tools of its own, its members do; leave them "
                         "out",
                         agent->info.type);
        agent->is_flawed = true;
        return;
    }
    if (n_named == 0)
        return;
    const cadre_tool **tools = cdr_team_alloc(sealing->team, n_named * sizeof(void *));
    json_t *seen = json_object();
    size_t n_tools = 0;
    for (size_t i = 0; tools && i < refs->count; i++) {
        const cadre_tool *tool = find_tool(sealing, &refs->items[i]);
        agent->is_flawed |= !tool || tool->is_flawed;
        if (tool && !is_repeated(agent, seen, &refs->items[i]))
            tools[n_tools++] = tool;
    }
    agent->tools = (cadre_tools){tools, n_tools};
    if (tools)
        add_option_tools(sealing, agent, tools, seen);
    json_decref(seen);
}

static void resolve_handoffs(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_refs *refs = &agent->handoff_refs;
    if (refs->count == 0)
        return;
    if (cdr_is_topology(agent->ops)) {
        cdr_team_problem(sealing->team, &refs->items[0].at,
                         "a %s hands nothing over itself, its members do; leave them "
                         "out",
                         agent->info.type);
        agent->is_flawed = true;
        return;
    }
    cadre_handoff *handoffs =
        cdr_team_alloc(sealing->team, refs->count * sizeof(*handoffs));
    json_t *seen = json_object();
    size_t n_handoffs = 0;
    for (size_t i = 0; handoffs && i < refs->count; i++) {
        const cadre_agent *to = find_agent(sealing, &refs->items[i]);
        agent->is_flawed |= !to || to == agent;
        if (to == agent)
            cdr_team_problem(sealing->team, &refs->items[i].at,
                             "an agent cannot hand over to itself");
        else if (to && !is_repeated(agent, seen, &refs->items[i]))
            handoffs[n_handoffs++] = (cadre_handoff){to, refs->items[i].history};
    }
    json_decref(seen);
    agent->handoffs = (cadre_handoffs){handoffs, n_handoffs};
}

static void resolve_fallback(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_ref *ref = &agent->fallback_ref;
    if (!ref->name)
        return;
    const cadre_agent *to = find_agent(sealing, ref);
    bool is_topology = cdr_is_topology(agent->ops);
    if (is_topology)
        cdr_team_problem(sealing->team, &ref->at,
                         "a %s has no loop of its own, its members do; leave it out",
                         agent->info.type);
    else if (to == agent)
        cdr_team_problem(sealing->team, &ref->at,
                         "an agent cannot fall back to itself");
    agent->is_flawed |= is_topology || !to || to == agent;
    if (!agent->is_flawed)
        agent->fallback = to;
}

static void resolve_entry(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_ref *ref = &agent->entry_ref;
    if (agent->ops && agent->ops->names_entry)
        return;
    const cadre_agent *entry = ref->name ? find_agent(sealing, ref) : NULL;
    agent->is_flawed |= ref->name && !entry;
    if (!entry)
        return;
    for (size_t i = 0; i < agent->members.count; i++) {
        if (agent->members.items[i] == entry)
            agent->entry = entry;
    }
    // With a member that is not known the list of members says nothing.
    if (agent->entry || !agent->has_all_members)
        return;
    cdr_buf members = CDR_BUF_INIT;
    cdr_sealing_list_members(&members, agent->members);
    cdr_team_problem(sealing->team, &ref->at, "'%s' is not a member (members: %s)",
                     ref->name, cdr_buf_text(&members));
    cdr_buf_fini(&members);
    agent->is_flawed = true;
}

// Members that the options name, after those that are listed; each is one once.
static void add_option_members(cdr_sealing *sealing, cadre_agent *agent,
                               const cadre_agent **members)
{
    const cdr_name_refs *refs = &agent->option_agent_refs;
    json_t *seen = json_object();
    int n_failed = 0;
    for (size_t i = 0; i < agent->members.count; i++)
        n_failed += json_object_set_new(seen, members[i]->info.name, json_true()) != 0;
    for (size_t i = 0; i < refs->count; i++) {
        const cadre_agent *member = find_agent(sealing, &refs->items[i]);
        agent->has_all_members &= member != NULL;
        if (!member || json_object_get(seen, member->info.name))
            continue;
        members[agent->members.count++] = member;
        n_failed += json_object_set_new(seen, member->info.name, json_true()) != 0;
    }
    agent->team->problems.no_memory |= n_failed > 0;
    json_decref(seen);
}

static void resolve_members(cdr_sealing *sealing, cadre_agent *agent)
{
    const cdr_name_refs *refs = &agent->member_refs;
    bool is_llm = strcmp(agent->info.type, CDR_DEFAULT_AGENT_TYPE) == 0;
    if (is_llm && (refs->count > 0 || agent->entry_ref.name)) {
        if (!agent->is_flawed)
            cdr_agent_problem(agent, "an llm agent has no members; write the type that "
                                     "says how they work together, such as "
                                     "type: handoff");
        return;
    }
    size_t n_named = refs->count + agent->option_agent_refs.count;
    const cadre_agent **members =
        cdr_team_alloc(sealing->team, n_named * sizeof(void *) + 1);
    size_t n_members = 0;
    agent->has_all_members = !refs->is_partial;
    for (size_t i = 0; members && i < refs->count; i++) {
        const cadre_agent *member = find_agent(sealing, &refs->items[i]);
        agent->has_all_members &= member != NULL;
        if (member)
            members[n_members++] = member;
    }
    agent->members = (cadre_agents){members, n_members};
    if (members)
        add_option_members(sealing, agent, members);
    agent->is_flawed |= !agent->has_all_members && !refs->is_partial;
    if (refs->count == 0 && !agent->is_flawed && cdr_is_topology(agent->ops) &&
        !cdr_options_name_agents(agent->ops->options_schema))
        cdr_agent_problem(agent, "a %s needs members; write members: [...]",
                          agent->info.type);
    else
        resolve_entry(sealing, agent);
}

static void resolve_root(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    if (team->root_ref.name) {
        team->root = find_agent(sealing, &team->root_ref);
        return;
    }
    bool *is_member = cdr_team_alloc(team, team->n_agents + 1);
    for (size_t i = 0; is_member && i < team->n_agents; i++) {
        cadre_agents members = team->agents[i]->members;
        for (size_t j = 0; j < members.count; j++)
            is_member[members.items[j]->index] = true;
        if (team->agents[i]->fallback)
            is_member[team->agents[i]->fallback->index] = true;
    }
    team->root = team->n_agents > 0 ? team->agents[0] : NULL;
    for (size_t i = 0; is_member && i < team->n_agents; i++) {
        if (!is_member[i] && team->agents[i]->members.count > 0) {
            team->root = team->agents[i];
            return;
        }
    }
}

void cdr_seal_names(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    for (size_t i = 0; i < team->n_agents; i++) {
        cadre_agent *agent = team->agents[i];
        resolve_members(sealing, agent);
        resolve_model(sealing, agent);
        resolve_tools(sealing, agent);
        resolve_handoffs(sealing, agent);
        resolve_fallback(sealing, agent);
    }
    if (team->n_agents > 0)
        resolve_root(sealing);
    else if (team->problems.count == 0)
        cdr_team_problem(team, &team->agents_at, "a team needs at least one agent");
}
