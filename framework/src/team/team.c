// Teams: born, looked at, freed; and what others may read of an agent.
#include "team/team.h"

#include "team/runtime.h"
#include "team/state_keys.h"

#include "base/brief.h"
#include "base/schema.h"
#include "net/governor.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NAME 64 // as CDR_NAME_RULE says

static const cdr_model_times default_times = {
    .max_attempts = 4,
    .backoff_ms = 500,
    .max_backoff_ms = INT64_C(30) * 1000,
    .timeout_ms = INT64_C(10) * 60 * 1000,
    .idle_timeout_ms = INT64_C(60) * 1000,
};

cadre_team *cadre_team_new(cadre_runtime *runtime, const char *name)
{
    if (!runtime)
        return NULL;
    cadre_team *team = calloc(1, sizeof(*team));
    if (!team)
        return NULL;
    cdr_mutex_init(&team->mu);
    cdr_cond_init(&team->sealed);
    team->runtime = runtime;
    team->problems.arena = &team->arena;
    team->notes.arena = &team->arena;
    team->script_at.path = "script";
    team->directory = ".";
    team->description = "";
    team->name = cdr_arena_text(&team->arena, name ? name : "team");
    team->agent_index = json_object();
    team->model_index = json_object();
    team->tool_index = json_object();
    if (!team->name || !team->agent_index || !team->model_index || !team->tool_index) {
        cadre_team_free(team);
        return NULL;
    }
    return team;
}

static void free_agent(cadre_agent *agent)
{
    if (agent->state && agent->ops->fini)
        agent->ops->fini(agent->state);
    free(agent->state);
    json_decref(agent->options);
    json_decref(agent->input_schema);
    json_decref(agent->output_schema);
    json_decref(agent->member_options);
}

static void free_tool(cadre_tool *tool)
{
    if (tool->state && tool->ops->fini)
        tool->ops->fini(tool->state);
    free(tool->state);
    cdr_schema_plan_free(tool->plan);
    json_decref(tool->parameters);
    json_decref(tool->options);
}

static void free_model(cadre_model *model)
{
    if (model->state && model->ops->fini)
        model->ops->fini(model->state);
    free(model->state);
    cdr_governor_unref(model->governor);
    json_decref(model->options);
}

void cadre_team_free(cadre_team *team)
{
    if (!team)
        return;
    cdr_background_stop(&team->runtime->background, team);
    // What points to others goes first; agents under a topology were made before it,
    // but no fini may look at them.
    for (size_t i = team->n_agents; i > 0; i--)
        free_agent(team->agents[i - 1]);
    for (size_t i = team->n_tools; i > 0; i--)
        free_tool(team->tools[i - 1]);
    for (size_t i = team->n_models; i > 0; i--)
        free_model(team->models[i - 1]);
    for (size_t i = 0; i < team->n_inputs; i++)
        json_decref(team->inputs[i].schema);
    cdr_state_keys_fini(team);
    cadre_script_free(team->script);
    for (size_t i = 0; i < team->n_hook_files; i++)
        cdr_hook_file_close(team->hook_files[i]);
    json_decref(team->agent_index);
    json_decref(team->model_index);
    json_decref(team->tool_index);
    cdr_arena_fini(&team->arena);
    cdr_cond_fini(&team->sealed);
    cdr_mutex_fini(&team->mu);
    free(team);
}

void *cdr_team_alloc(cadre_team *team, size_t size)
{
    void *memory = cdr_arena_alloc(&team->arena, size);
    team->problems.no_memory |= !memory;
    return memory;
}

const char *cdr_team_text(cadre_team *team, const char *text)
{
    const char *copy = cdr_arena_text(&team->arena, text);
    team->problems.no_memory |= text && !copy;
    return copy;
}

void cdr_team_problem(cadre_team *team, const cdr_at *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cdr_problems_vadd(&team->problems, at, format, args);
    va_end(args);
}

void cdr_team_note(cadre_team *team, const cdr_at *at, const char *format, ...)
{
    cdr_at place = *at;
    va_list args;
    place.path = "note";
    va_start(args, format);
    cdr_problems_vadd(&team->notes, &place, format, args);
    va_end(args);
}

// Tells of a thing as a whole, which needs no path beside its name.
static void add_whole(cadre_team *team, const cdr_at *at, const char *what,
                      const char *format, va_list args) CADRE_PRINTF(4, 0);

static void add_whole(cadre_team *team, const cdr_at *at, const char *what,
                      const char *format, va_list args)
{
    cdr_at place = *at;
    place.path = what;
    cdr_problems_vadd(&team->problems, &place, format, args);
}

static const char *quoted(cadre_team *team, const char *kind, const char *name)
{
    char brief[CDR_BRIEF_SIZE];
    const char *text = cdr_arena_printf(&team->arena, "%s %s", kind,
                                        cdr_brief_text(brief, name, '\''));
    return text ? text : kind;
}

void cdr_agent_problem(cadre_agent *agent, const char *format, ...)
{
    cadre_team *team = agent->team;
    cdr_at place = agent->at;
    va_list args;
    va_start(args, format);
    const char *text = cdr_arena_vprintf(&team->arena, format, args);
    va_end(args);
    place.path = quoted(team, "agent", agent->info.name);
    if (text)
        cdr_team_problem(team, &place, "%s%s", text, cdr_agent_by_type(agent));
    team->problems.no_memory |= !text;
    agent->is_flawed = true;
}

const char *cdr_agent_by_type(const cadre_agent *agent)
{
    return agent->by_type ? agent->by_type : "";
}

void cdr_model_problem(cadre_model *model, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_whole(model->team, &model->at, quoted(model->team, "model", model->name),
              format, args);
    va_end(args);
    model->is_flawed = true;
}

void cdr_tool_problem(cadre_tool *tool, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_whole(tool->team, &tool->at, quoted(tool->team, "tool", tool->info.name),
              format, args);
    va_end(args);
    tool->is_flawed = true;
}

void cdr_name_refs_add(cadre_team *team, cdr_name_refs *refs, const char *name,
                       cadre_history history, const cdr_at *at)
{
    cdr_name_ref *items =
        cdr_arena_grow(&team->arena, refs->items, refs->count, sizeof(*items));
    if (!items) {
        team->problems.no_memory = true;
        return;
    }
    refs->items = items;
    items[refs->count++] = (cdr_name_ref){cdr_team_text(team, name), *at, history};
}

bool cdr_is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t len = strlen(name);
    return *name >= 'a' && *name <= 'z' && len <= MAX_NAME &&
           strspn(name, letters) == len;
}

// Enters a name at a position. False: there is one already, at `*first`.
static bool enter(cadre_team *team, json_t *index, const char *name, size_t position,
                  size_t *first)
{
    json_t *there = json_object_get(index, name);
    if (there) {
        *first = (size_t)json_integer_value(there);
        return false;
    }
    // A name that is not UTF-8 is not entered; the rule for names tells of it.
    if (json_object_set_new(index, name, json_integer((json_int_t)position)) != 0 &&
        cdr_is_name(name))
        team->problems.no_memory = true;
    return true;
}

static void tell_twice(cadre_team *team, const cdr_at *at, const char *kind,
                       const char *name, const cdr_at *first)
{
    cdr_at place = *at;
    place.path = quoted(team, kind, name);
    if (first->file && first->line > 0)
        cdr_team_problem(team, &place, "is there already, at %s:%d:%d", first->file,
                         first->line, first->column);
    else
        cdr_team_problem(team, &place, "is added twice");
}

static cadre_agent *add_agent(cadre_team *team, const char *type, const char *name,
                              const cdr_at *at)
{
    cadre_agent *agent = cdr_team_alloc(team, sizeof(*agent));
    cadre_agent **agents =
        cdr_arena_grow(&team->arena, team->agents, team->n_agents, sizeof(void *));
    const char *own_name = cdr_team_text(team, name);
    const char *own_type = cdr_team_text(team, type);
    if (!agent || !agents || !own_name || !own_type) {
        team->problems.no_memory = true;
        return NULL;
    }
    team->agents = agents;
    size_t first = 0;
    if (!enter(team, team->agent_index, name, team->n_agents, &first)) {
        tell_twice(team, at, "agent", name, &team->agents[first]->at);
        return NULL;
    }
    agents[team->n_agents] = agent;
    agent->index = (int)team->n_agents++;
    agent->team = team;
    agent->at = *at;
    agent->info.name = own_name;
    agent->info.type = own_type;
    agent->info.description = "";
    return agent;
}

cadre_agent *cdr_team_add_agent(cadre_team *team, const char *type, const char *name,
                                const cdr_at *at)
{
    cadre_agent *agent = add_agent(team, type, name, at);
    if (agent && !cdr_is_name(name))
        cdr_agent_problem(agent, CDR_NAME_RULE);
    return agent;
}

cadre_agent *cdr_team_add_inner_agent(cadre_agent *owner, const char *type,
                                      const char *name)
{
    cadre_team *team = owner->team;
    const char *full = cdr_arena_printf(&team->arena, "%s.%s", owner->info.name, name);
    team->problems.no_memory |= !full;
    cadre_agent *agent = full ? add_agent(team, type, full, &owner->at) : NULL;
    if (!agent)
        return NULL;
    agent->is_inner = true;
    team->n_inner_agents++;
    return agent;
}

cadre_model *cdr_team_add_model(cadre_team *team, const char *name,
                                const char *provider_and_model, const cdr_at *at)
{
    cadre_model *model = cdr_team_alloc(team, sizeof(*model));
    cadre_model **models =
        cdr_arena_grow(&team->arena, team->models, team->n_models, sizeof(void *));
    size_t len = strcspn(provider_and_model, "/");
    const char *own_name = cdr_team_text(team, name);
    const char *provider = cdr_arena_copy(&team->arena, provider_and_model, len);
    const char *rest = provider_and_model[len] ? provider_and_model + len + 1 : "";
    const char *own_model = cdr_team_text(team, rest);
    const char *full_name = cdr_team_text(team, provider_and_model);
    if (!model || !models || !own_name || !provider || !own_model || !full_name) {
        team->problems.no_memory = true;
        return NULL;
    }
    team->models = models;
    size_t first = 0;
    if (!enter(team, team->model_index, name, team->n_models, &first)) {
        tell_twice(team, at, "model", name, &team->models[first]->at);
        return NULL;
    }
    models[team->n_models++] = model;
    model->team = team;
    model->at = *at;
    model->times = default_times;
    model->name = own_name;
    model->provider = provider;
    model->model = own_model;
    model->full_name = full_name;
    bool is_made_from_name = strcmp(name, provider_and_model) == 0;
    if (!is_made_from_name && !cdr_is_name(name))
        cdr_model_problem(model, CDR_NAME_RULE);
    return model;
}

cadre_tool *cdr_team_add_tool(cadre_team *team, const char *type, const char *name,
                              const cdr_at *at)
{
    cadre_tool *tool = cdr_team_alloc(team, sizeof(*tool));
    cadre_tool **tools =
        cdr_arena_grow(&team->arena, team->tools, team->n_tools, sizeof(void *));
    const char *own_name = cdr_team_text(team, name);
    const char *own_type = cdr_team_text(team, type);
    if (!tool || !tools || !own_name || !own_type) {
        team->problems.no_memory = true;
        return NULL;
    }
    team->tools = tools;
    size_t first = 0;
    if (!enter(team, team->tool_index, name, team->n_tools, &first)) {
        tell_twice(team, at, "tool", name, &team->tools[first]->at);
        return NULL;
    }
    tools[team->n_tools++] = tool;
    tool->team = team;
    tool->at = *at;
    tool->info.name = own_name;
    tool->info.description = "";
    tool->type = own_type;
    tool->timeout_ms = CDR_TOOL_TIMEOUT_MS;
    if (!cdr_is_name(name))
        cdr_tool_problem(tool, CDR_NAME_RULE);
    else if (strcmp(name, CADRE_TRANSFER_TOOL) == 0)
        cdr_tool_problem(tool, "the name is kept for handing over; take another");
    return tool;
}

cadre_agent *cdr_team_find_agent(const cadre_team *team, const char *name)
{
    json_t *position = json_object_get(team->agent_index, name);
    return position ? team->agents[json_integer_value(position)] : NULL;
}

const char *const *cadre_team_problems(const cadre_team *team, size_t *n)
{
    size_t count = team && team->problem_texts ? team->problems.count : 0;
    if (n)
        *n = count;
    return count > 0 ? (const char *const *)team->problem_texts : NULL;
}

const char *cadre_team_problem_file(const cadre_team *team, size_t nth)
{
    size_t n = 0;
    cadre_team_problems(team, &n);
    return nth < n ? team->problems.items[nth].file : NULL;
}

const char *const *cadre_team_notes(const cadre_team *team, size_t *n)
{
    size_t count = team && team->note_texts ? team->notes.count : 0;
    if (n)
        *n = count;
    return count > 0 ? (const char *const *)team->note_texts : NULL;
}

static int limit_or(int given, int standard)
{
    return given != 0 ? given : standard;
}

cadre_limits cdr_team_limits(const cadre_team *team)
{
    return (cadre_limits){limit_or(team->limits.max_model_calls, 200),
                          limit_or(team->limits.max_tool_calls, 500),
                          limit_or(team->limits.max_depth, 32)};
}

const char *cadre_team_name(const cadre_team *team)
{
    return team ? team->name : "";
}

const cadre_agent *cadre_team_root(const cadre_team *team)
{
    return team && team->is_sealed ? team->root : NULL;
}

const cadre_agent *cadre_team_find(const cadre_team *team, const char *name)
{
    return team && name ? cdr_team_find_agent(team, name) : NULL;
}

cadre_agents cadre_team_agents(const cadre_team *team)
{
    if (!team)
        return (cadre_agents){NULL, 0};
    return (cadre_agents){(const cadre_agent *const *)team->agents,
                          team->n_agents - team->n_inner_agents};
}

const cadre_agent_info *cadre_agent_get_info(const cadre_agent *agent)
{
    static const cadre_agent_info nobody = {"", "", "", NULL, NULL};
    if (!agent)
        return &nobody;
    if (agent->state && agent->ops->info)
        return agent->ops->info(agent->state);
    return &agent->info;
}

cadre_agents cadre_agent_members(const cadre_agent *agent)
{
    return agent ? agent->members : (cadre_agents){NULL, 0};
}

const cadre_tool_info *cadre_tool_get_info(const cadre_tool *tool)
{
    static const cadre_tool_info none = {.name = "", .description = ""};
    return tool ? &tool->info : &none;
}

const char *cadre_tool_get_type(const cadre_tool *tool)
{
    return tool ? tool->type : "";
}

cadre_tools cadre_agent_tools(const cadre_agent *agent)
{
    if (agent && agent->ops && agent->ops->tools && agent->state)
        return agent->ops->tools(agent->state);
    return agent ? agent->tools : (cadre_tools){NULL, 0};
}

const char *cadre_tool_get_name(const cadre_tool *tool)
{
    return tool ? tool->info.name : "";
}

cadre_handoffs cadre_agent_handoffs(const cadre_agent *agent)
{
    return agent ? agent->handoffs : (cadre_handoffs){NULL, 0};
}
