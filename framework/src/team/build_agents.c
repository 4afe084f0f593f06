// Agents built in C.
#include "team/building.h"

#include "base/json_text.h"
#include "team/file_schema.h"
#include "team/option_names.h"
#include "team/state_keys.h"

#include <string.h>

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

typedef void (*take_schema)(cadre_agent *agent, json_t *schema,
                            const cdr_schema_origin *from);

static void set_schema(cadre_agent *agent, const char *text, const char *part,
                       take_schema take)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (!text)
        return;
    cdr_at place = cdr_at_part(agent->team, &agent->at, ": %s", part);
    json_t *schema = cdr_json_parse(text, strlen(text), &err);
    if (schema) {
        take(agent, schema, &(cdr_schema_origin){.at = &place});
        return;
    }
    cdr_team_problem(agent->team, &place, "%s", err.text);
    agent->is_flawed = true;
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

static void set_budget(cadre_agent *agent, const cadre_budget *given)
{
    const struct {
        const char *name;
        int64_t value;
    } all[] = {{"max_cost_usd_micros", given->max_cost_usd_micros},
               {"max_tokens", given->max_tokens},
               {"max_time_ms", given->max_time_ms}};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        if (all[i].value >= 0)
            continue;
        cdr_at at = cdr_at_part(agent->team, &agent->at, ": budget.%s", all[i].name);
        cdr_team_problem(agent->team, &at, "expected at least 0, got %lld",
                         (long long)all[i].value);
    }
    agent->budget = *given;
    agent->budget_at =
        cdr_at_part(agent->team, &agent->at, ": budget.max_cost_usd_micros");
}

// What agents of every type may be given.
typedef struct common_settings {
    const char *description, *output_key, *input_schema, *output_schema;
    const cadre_hooks *hooks;
    cadre_retry retry;
    cadre_budget budget;
    int64_t timeout_ms;
    bool quiet;
} common_settings;

static void set_common(cadre_agent *agent, const common_settings *given)
{
    cadre_team *team = agent->team;
    if (given->description)
        agent->info.description = cdr_team_text(team, given->description);
    agent->timeout_ms = cdr_building_timeout(team, given->timeout_ms, &agent->at);
    agent->quiet = given->quiet;
    set_output_key(agent, given->output_key);
    set_schema(agent, given->input_schema, "input_schema",
               cdr_agent_set_input_schema_take);
    set_schema(agent, given->output_schema, "output_schema",
               cdr_agent_set_output_schema_take);
    agent->hooks = cdr_building_hooks(team, given->hooks);
    set_budget(agent, &given->budget);
    agent->retry = checked_retry(team, given->retry, &agent->at);
}

// Takes them from a struct of the caller's, where they have the same names.
#define COMMON(given)                                                                  \
    (common_settings)                                                                  \
    {                                                                                  \
        (given).description, (given).output_key, (given).input_schema,                 \
            (given).output_schema, (given).hooks, (given).retry, (given).budget,       \
            (given).timeout_ms, (given).quiet                                          \
    }

// --- Options ---

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
    cdr_options_check check = {.team = agent->team, .at = &agent->at};
    if (!agent->ops)
        return;
    agent->options =
        cdr_building_parse_options(&check, agent->ops->options_schema, text);
    agent->is_flawed |= !agent->options;
    find_option_names(agent);
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
    json_t *max_history_tokens = limit_value(llm->max_history_tokens);
    if (max_turns)
        json_object_set_new(options, "max_turns", max_turns);
    if (max_bad_calls)
        json_object_set_new(options, "max_bad_calls", max_bad_calls);
    if (max_history_tokens)
        json_object_set_new(options, "max_history_tokens", max_history_tokens);
    return options;
}

static void set_llm_options(cadre_agent *agent, const cadre_llm *llm)
{
    cdr_options_check check = {
        .team = agent->team, .at = &agent->at, .is_struct = true};
    if (!agent->ops)
        return;
    json_t *given = llm_options(llm);
    if (llm->instructions && !json_object_get(given, "instructions"))
        cdr_agent_problem(agent, "instructions are not UTF-8");
    agent->options =
        cdr_building_read_options(&check, agent->ops->options_schema, given);
    agent->is_flawed |= !agent->options;
    find_option_names(agent);
    json_decref(given);
}

// --- Agents ---

// Starts an agent. NULL: told.
static cadre_agent *start_agent(cadre_team *team, const char *type, const char *name)
{
    cdr_at at = cdr_building_place(team, "agent", name);
    cadre_agent *agent = cdr_team_add_agent(team, type, name, &at);
    if (agent)
        cdr_agent_set_ops(agent, &at);
    return agent;
}

cadre_agent *cadre_team_add_llm(cadre_team *team, const cadre_llm *given)
{
    cadre_llm llm;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &llm, sizeof(llm), given, "CADRE_LLM") ||
        !cdr_building_has_name(team, llm.name, "CADRE_LLM"))
        return NULL;
    cadre_agent *agent = start_agent(team, CDR_DEFAULT_AGENT_TYPE, llm.name);
    if (!agent)
        return NULL;
    set_common(agent, &COMMON(llm));
    set_ref(team, &agent->model_ref, llm.model, &agent->at, "model");
    set_ref(team, &agent->fallback_ref, llm.loop_fallback, &agent->at, "loop_fallback");
    cdr_building_add_names(team, &agent->tool_refs, &llm.tools, &agent->at, "tools");
    cdr_building_add_names(team, &agent->handoff_refs, &llm.handoffs, &agent->at,
                           "handoffs");
    agent->instructions_at = cdr_at_part(team, &agent->at, ": instructions");
    set_llm_options(agent, &llm);
    return agent;
}

cadre_agent *cadre_team_add_topology(cadre_team *team, const char *type,
                                     const cadre_topology *given)
{
    cadre_topology topology;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &topology, sizeof(topology), given,
                           "CADRE_TOPOLOGY") ||
        !cdr_building_has_name(team, topology.name, "CADRE_TOPOLOGY"))
        return NULL;
    cadre_agent *agent = start_agent(team, type ? type : "", topology.name);
    if (!agent)
        return NULL;
    set_common(agent, &COMMON(topology));
    set_ref(team, &agent->entry_ref, topology.entry, &agent->at, "entry");
    cdr_building_add_names(team, &agent->member_refs, &topology.members, &agent->at,
                           "members");
    set_agent_options(agent, topology.options);
    return agent;
}

cadre_agent *cadre_team_add_function(cadre_team *team, const cadre_function *given)
{
    cadre_function function;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &function, sizeof(function), given,
                           "CADRE_FUNCTION") ||
        !cdr_building_has_name(team, function.name, "CADRE_FUNCTION"))
        return NULL;
    cadre_agent *agent = start_agent(team, CDR_FUNCTION_TYPE, function.name);
    if (!agent)
        return NULL;
    if (!function.run)
        cdr_agent_problem(agent, ".run is missing");
    agent->function = function.run;
    agent->function_ctx = function.ctx;
    set_common(agent, &COMMON(function));
    cdr_building_add_names(team, &agent->member_refs, &function.members, &agent->at,
                           "members");
    cdr_building_add_names(team, &agent->handoff_refs, &function.handoffs, &agent->at,
                           "handoffs");
    set_agent_options(agent, NULL);
    return agent;
}
