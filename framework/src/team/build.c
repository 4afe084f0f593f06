// Teams built in C.
//
// Adding checks what can be checked alone; names wait for sealing.
#include "team/build.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "team/file_schema.h"
#include "team/option_names.h"
#include "team/sized.h"
#include "team/state_keys.h"

#include <string.h>

cdr_at cdr_at_part(cadre_team *team, const cdr_at *at, const char *format, ...)
{
    cdr_at part = *at;
    cdr_arena scratch = CDR_ARENA_INIT;
    va_list args;
    va_start(args, format);
    const char *name = cdr_arena_vprintf(&scratch, format, args);
    va_end(args);
    const char *path = NULL;
    if (name)
        path = cdr_arena_printf(&team->arena, "%s%s", at->path ? at->path : "", name);
    team->problems.no_memory |= !path;
    part.path = path ? path : at->path;
    cdr_arena_fini(&scratch);
    return part;
}

// The place of a thing made in C: only what it is called.
static cdr_at place_of(cadre_team *team, const char *kind, const char *name)
{
    char brief[CDR_BRIEF_SIZE];
    cdr_at at = {.path = kind};
    return cdr_at_part(team, &at, " %s", cdr_brief_text(brief, name, '\''));
}

// Copies a caller's struct. False: told.
static bool take_struct(cadre_team *team, void *own, size_t size, const void *given,
                        const char *macro)
{
    if (given && cdr_sized_copy(own, size, given))
        return true;
    cdr_team_problem(team, NULL,
                     "%s: the struct is NULL or has no struct_size; make "
                     "it with %s(...)",
                     macro, macro);
    return false;
}

// A copy of hooks in the team; NULL: none were given, or told.
static const cadre_hooks *take_hooks(cadre_team *team, const cadre_hooks *given)
{
    cadre_hooks *own = given ? cdr_team_alloc(team, sizeof(*own)) : NULL;
    if (!own || !take_struct(team, own, sizeof(*own), given, "CADRE_HOOKS"))
        return NULL;
    return own;
}

static bool has_name(cadre_team *team, const char *name, const char *macro)
{
    if (name)
        return true;
    cdr_team_problem(team, NULL, "%s: .name is missing", macro);
    return false;
}

static void add_names(cadre_team *team, cdr_name_refs *refs, const cadre_names *names,
                      const cdr_at *at, const char *part)
{
    for (size_t i = 0; i < names->count; i++) {
        cdr_at place = cdr_at_part(team, at, ": %s[%zu]", part, i);
        if (names->items[i])
            cdr_name_refs_add(team, refs, names->items[i], CADRE_HISTORY_DEFAULT,
                              &place);
        else
            cdr_team_problem(team, &place, "expected a name, got NULL");
    }
}

static void set_ref(cadre_team *team, cdr_name_ref *ref, const char *name,
                    const cdr_at *at, const char *part)
{
    if (!name)
        return;
    ref->name = cdr_team_text(team, name);
    ref->at = cdr_at_part(team, at, ": %s", part);
}

static void set_output_key(cadre_agent *agent, const char *key)
{
    if (!key)
        return;
    cdr_at place = cdr_at_part(agent->team, &agent->at, ": output_key");
    cdr_agent_set_output_key(agent, key, &place);
}

static int64_t checked_time(cadre_team *team, int64_t given, int64_t otherwise,
                            const cdr_at *at)
{
    if (given >= 0)
        return given > 0 ? given : otherwise;
    cdr_at place = cdr_at_part(team, at, ": timeout_ms");
    cdr_team_problem(team, &place,
                     "expected at least 1, or 0 for the default, got %lld",
                     (long long)given);
    return otherwise;
}

static cadre_retry checked_retry(cadre_team *team, cadre_retry given, const cdr_at *at)
{
    cdr_at attempts = cdr_at_part(team, at, ": retry.attempts");
    cdr_at backoff = cdr_at_part(team, at, ": retry.backoff_ms");
    if (given.attempts < 0 || given.attempts > CDR_MAX_ATTEMPTS)
        cdr_team_problem(team, &attempts,
                         "expected 1 to %d, or 0 for the default, got %d",
                         CDR_MAX_ATTEMPTS, given.attempts);
    if (given.backoff_ms < 0)
        cdr_team_problem(team, &backoff, "expected at least 0, got %lld",
                         (long long)given.backoff_ms);
    return (cadre_retry){given.attempts == 0 ? 1 : given.attempts, given.backoff_ms};
}

// The reports of a check of options, with the place of what they belong to.
typedef struct options_check {
    cadre_team *team;
    const cdr_at *at;
    bool is_struct; // they were fields of a struct, and no JSON text
    bool is_flawed;
} options_check;

static void on_problem(void *ctx, const cdr_schema_problem *problem)
{
    options_check *check = ctx;
    const char *dot = *problem->path && *problem->path != '[' ? "." : "";
    const char *start = check->is_struct ? "" : "options";
    cdr_at place = cdr_at_part(check->team, check->at, ": %s%s%s", start,
                               check->is_struct ? "" : dot, problem->path);
    cdr_team_problem(check->team, &place, "%s", problem->text);
    check->is_flawed = true;
}

// Checks options against a type's schema. New reference; NULL: told.
static json_t *read_options(options_check *check, const char *options_schema,
                            const json_t *given)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *schema = cdr_settings_schema(options_schema, &err);
    cdr_settings_reader reader = {
        .schema = schema,
        .directory = ".",
        .writes = check->is_struct ? CDR_WRITES_C : CDR_WRITES_JSON,
        .on_problem = on_problem,
        .ctx = check,
    };
    json_t *options = schema ? cdr_settings_read(&reader, given) : NULL;
    check->team->problems.no_memory |= !options;
    json_decref(schema);
    if (check->is_flawed) {
        json_decref(options);
        return NULL;
    }
    return options;
}

// Reads options given as JSON text; NULL: none. New reference; NULL: told.
static json_t *parse_options(options_check *check, const char *options_schema,
                             const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *given = text ? cdr_json_parse(text, strlen(text), &err) : json_object();
    json_t *options = NULL;
    if (given)
        options = read_options(check, options_schema, given);
    else
        cdr_team_problem(check->team, check->at, "options: %s", err.text);
    json_decref(given);
    return options;
}

static void on_option_name(void *ctx, const cdr_option_name *found)
{
    cadre_agent *agent = ctx;
    cdr_at at = cdr_agent_option_at(agent, found->path);
    cdr_name_refs_add(
        agent->team,
        found->is_tool ? &agent->option_tool_refs : &agent->option_agent_refs,
        json_string_value(found->slot->value), CADRE_HISTORY_DEFAULT, &at);
}

static void find_option_names(cadre_agent *agent)
{
    if (!cdr_option_names(agent->ops->options_schema, agent->options, on_option_name,
                          agent))
        agent->team->problems.no_memory = true;
}

static void set_agent_options(cadre_agent *agent, const char *text)
{
    options_check check = {.team = agent->team, .at = &agent->at};
    if (!agent->ops)
        return;
    agent->options = parse_options(&check, agent->ops->options_schema, text);
    agent->is_flawed |= !agent->options;
    find_option_names(agent);
}

// Starts an agent. NULL: told.
static cadre_agent *start_agent(cadre_team *team, const char *type, const char *name)
{
    cdr_at at = place_of(team, "agent", name);
    cadre_agent *agent = cdr_team_add_agent(team, type, name, &at);
    if (agent)
        cdr_agent_set_ops(agent, &at);
    return agent;
}

static const char *history_word(cadre_history history)
{
    switch (history) {
    case CADRE_HISTORY_ALL:
        return "all";
    case CADRE_HISTORY_OWN:
        return "own";
    case CADRE_HISTORY_LAST:
        return "last";
    case CADRE_HISTORY_NONE:
        return "none";
    case CADRE_HISTORY_DEFAULT:
        break;
    }
    return NULL;
}

// 0 stands for the default, which is left out.
static json_t *limit_value(int limit)
{
    if (limit == CADRE_UNLIMITED)
        return json_string("unlimited");
    return limit != 0 ? json_integer(limit) : NULL;
}

// The options of an llm agent as a file would write them.
static json_t *llm_options(const cadre_llm *llm)
{
    const char *history = history_word(llm->history);
    json_t *options = json_object();
    if (llm->instructions)
        json_object_set_new(options, "instructions", json_string(llm->instructions));
    if (history)
        json_object_set_new(options, "history", json_string(history));
    json_t *max_turns = limit_value(llm->max_turns);
    json_t *max_bad_calls = limit_value(llm->max_bad_calls);
    if (max_turns)
        json_object_set_new(options, "max_turns", max_turns);
    if (max_bad_calls)
        json_object_set_new(options, "max_bad_calls", max_bad_calls);
    return options;
}

static void set_llm_options(cadre_agent *agent, const cadre_llm *llm)
{
    options_check check = {.team = agent->team, .at = &agent->at, .is_struct = true};
    if (!agent->ops)
        return;
    json_t *given = llm_options(llm);
    if (llm->instructions && !json_object_get(given, "instructions"))
        cdr_agent_problem(agent, "instructions are not UTF-8");
    agent->options = read_options(&check, agent->ops->options_schema, given);
    agent->is_flawed |= !agent->options;
    find_option_names(agent);
    json_decref(given);
}

// May it be added to? A sealed team is read by runs; whoever adds to one has a mistake
// to find, so the next to seal or run it is told of the `call`.
static bool is_open(cadre_team *team, const char *call)
{
    if (!team)
        return false;
    cdr_mutex_lock(&team->mu);
    bool is_late = team->is_sealed || team->is_sealing;
    if (is_late && !team->late_call)
        team->late_call = call;
    cdr_mutex_unlock(&team->mu);
    return !is_late;
}

cadre_agent *cadre_team_add_llm(cadre_team *team, const cadre_llm *given)
{
    cadre_llm llm;
    if (!is_open(team, __func__) ||
        !take_struct(team, &llm, sizeof(llm), given, "CADRE_LLM") ||
        !has_name(team, llm.name, "CADRE_LLM"))
        return NULL;
    cadre_agent *agent = start_agent(team, CDR_DEFAULT_AGENT_TYPE, llm.name);
    if (!agent)
        return NULL;
    if (llm.description)
        agent->info.description = cdr_team_text(team, llm.description);
    set_ref(team, &agent->model_ref, llm.model, &agent->at, "model");
    set_ref(team, &agent->fallback_ref, llm.loop_fallback, &agent->at, "loop_fallback");
    add_names(team, &agent->tool_refs, &llm.tools, &agent->at, "tools");
    add_names(team, &agent->handoff_refs, &llm.handoffs, &agent->at, "handoffs");
    agent->instructions_at = cdr_at_part(team, &agent->at, ": instructions");
    agent->timeout_ms = checked_time(team, llm.timeout_ms, 0, &agent->at);
    agent->quiet = llm.quiet;
    set_output_key(agent, llm.output_key);
    agent->hooks = take_hooks(team, llm.hooks);
    agent->retry = checked_retry(team, llm.retry, &agent->at);
    set_llm_options(agent, &llm);
    return agent;
}

cadre_agent *cadre_team_add_topology(cadre_team *team, const char *type,
                                     const cadre_topology *given)
{
    cadre_topology topology;
    if (!is_open(team, __func__) ||
        !take_struct(team, &topology, sizeof(topology), given, "CADRE_TOPOLOGY") ||
        !has_name(team, topology.name, "CADRE_TOPOLOGY"))
        return NULL;
    cadre_agent *agent = start_agent(team, type ? type : "", topology.name);
    if (!agent)
        return NULL;
    if (topology.description)
        agent->info.description = cdr_team_text(team, topology.description);
    set_ref(team, &agent->entry_ref, topology.entry, &agent->at, "entry");
    add_names(team, &agent->member_refs, &topology.members, &agent->at, "members");
    agent->timeout_ms = checked_time(team, topology.timeout_ms, 0, &agent->at);
    agent->quiet = topology.quiet;
    set_output_key(agent, topology.output_key);
    agent->hooks = take_hooks(team, topology.hooks);
    agent->retry = checked_retry(team, topology.retry, &agent->at);
    set_agent_options(agent, topology.options);
    return agent;
}

cadre_agent *cadre_team_add_function(cadre_team *team, const cadre_function *given)
{
    cadre_function function;
    if (!is_open(team, __func__) ||
        !take_struct(team, &function, sizeof(function), given, "CADRE_FUNCTION") ||
        !has_name(team, function.name, "CADRE_FUNCTION"))
        return NULL;
    cadre_agent *agent = start_agent(team, CDR_FUNCTION_TYPE, function.name);
    if (!agent)
        return NULL;
    if (function.description)
        agent->info.description = cdr_team_text(team, function.description);
    if (!function.run)
        cdr_agent_problem(agent, ".run is missing");
    agent->function = function.run;
    agent->function_ctx = function.ctx;
    set_output_key(agent, function.output_key);
    agent->hooks = take_hooks(team, function.hooks);
    agent->retry = checked_retry(team, function.retry, &agent->at);
    add_names(team, &agent->member_refs, &function.members, &agent->at, "members");
    add_names(team, &agent->handoff_refs, &function.handoffs, &agent->at, "handoffs");
    set_agent_options(agent, NULL);
    return agent;
}

void cadre_team_add_model(cadre_team *team, const cadre_model_settings *given)
{
    cadre_model_settings settings;
    if (!is_open(team, __func__) ||
        !take_struct(team, &settings, sizeof(settings), given, "CADRE_MODEL") ||
        !has_name(team, settings.name, "CADRE_MODEL"))
        return;
    cdr_at at = place_of(team, "model", settings.name);
    const char *target = settings.model ? settings.model : "";
    cadre_model *model = cdr_team_add_model(team, settings.name, target, &at);
    if (!model)
        return;
    model->base_url = cdr_team_text(team, settings.base_url);
    model->api_key_env = cdr_team_text(team, settings.api_key_env);
    cdr_at place = cdr_at_part(team, &at, ": model");
    options_check check = {.team = team, .at = &model->at};
    if (!cdr_model_set_ops(model, &place))
        return;
    model->options =
        parse_options(&check, model->ops->options_schema, settings.options);
    model->is_flawed |= !model->options;
}

static void set_parameters(cadre_tool *tool, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (!text)
        return;
    cdr_at place = cdr_at_part(tool->team, &tool->at, ": parameters");
    json_t *parameters = cdr_json_parse(text, strlen(text), &err);
    if (parameters) {
        cdr_tool_set_parameters_take(tool, parameters, &place);
    } else {
        cdr_team_problem(tool->team, &place, "%s", err.text);
        tool->is_flawed = true;
    }
}

void cadre_team_add_tool(cadre_team *team, const cadre_tool_settings *given)
{
    cadre_tool_settings settings;
    if (!is_open(team, __func__) ||
        !take_struct(team, &settings, sizeof(settings), given, "CADRE_TOOL") ||
        !has_name(team, settings.name, "CADRE_TOOL"))
        return;
    const char *type = settings.type ? settings.type : "";
    cdr_at at = place_of(team, "tool", settings.name);
    cadre_tool *tool = cdr_team_add_tool(team, settings.run ? CDR_FUNCTION_TYPE : type,
                                         settings.name, &at);
    if (!tool)
        return;
    if (settings.run && settings.type)
        cdr_tool_problem(tool, "has both .run and .type; give one of them");
    else if (!settings.run && (!*type || strcmp(type, CDR_FUNCTION_TYPE) == 0))
        cdr_tool_problem(tool, "has neither .run nor .type; give one of them");
    if (settings.description)
        tool->info.description = cdr_team_text(team, settings.description);
    tool->function = settings.run;
    tool->function_ctx = settings.ctx;
    tool->timeout_ms = checked_time(team, settings.timeout_ms, 0, &at);
    tool->needs_approval = settings.needs_approval;
    tool->may_repeat = settings.may_repeat;
    set_parameters(tool, settings.parameters);
    if (tool->is_flawed || !cdr_tool_set_ops(tool, &at))
        return;
    options_check check = {.team = team, .at = &tool->at};
    tool->replay_safe = settings.replay_safe || tool->ops->replay_safe;
    tool->options = parse_options(&check, tool->ops->options_schema, settings.options);
    tool->is_flawed |= !tool->options;
}

void cadre_team_add_state(cadre_team *team, const cadre_state_key *given)
{
    cadre_state_key key;
    if (!is_open(team, __func__) ||
        !take_struct(team, &key, sizeof(key), given, "CADRE_STATE_KEY"))
        return;
    if (key.key)
        cdr_team_add_state_settings(team, &key);
    else
        cdr_team_problem(team, NULL, "CADRE_STATE_KEY: .key is missing");
}

void cadre_team_add_predicate(cadre_team *team, const char *name,
                              cadre_predicate_run run, void *ctx)
{
    if (!is_open(team, __func__) || !has_name(team, name, "cadre_team_add_predicate"))
        return;
    cdr_at at = place_of(team, "predicate", name);
    cadre_predicate *predicates = cdr_arena_grow(
        &team->arena, team->predicates, team->n_predicates, sizeof(*predicates));
    if (!predicates) {
        team->problems.no_memory = true;
        return;
    }
    if (!run || !cdr_is_name(name))
        cdr_team_problem(team, &at, !run ? "the function is missing" : CDR_NAME_RULE);
    for (size_t i = 0; i < team->n_predicates; i++) {
        if (predicates[i].name && strcmp(predicates[i].name, name) == 0)
            cdr_team_problem(team, &at, "is added twice");
    }
    team->predicates = predicates;
    predicates[team->n_predicates++] =
        (cadre_predicate){cdr_team_text(team, name), run, ctx};
}

void cadre_team_set_root(cadre_team *team, const char *name)
{
    if (!is_open(team, __func__))
        return;
    team->root_ref = (cdr_name_ref){.at = {.path = "root"}};
    team->root_ref.name = cdr_team_text(team, name);
}

void cadre_team_set_hooks(cadre_team *team, const cadre_hooks *hooks)
{
    if (is_open(team, __func__))
        team->hooks = take_hooks(team, hooks);
}

void cadre_team_set_script(cadre_team *team, const char *path)
{
    if (is_open(team, __func__))
        team->script_path = cdr_team_text(team, path);
}
