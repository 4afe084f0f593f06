// Teams built in C, but for their agents (build_agents.c).
//
// Adding checks what can be checked alone; names wait for sealing.
#include "team/build.h"

#include "base/json_text.h"
#include "team/building.h"
#include "team/file_schema.h"
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

// A setting of a model, from 1 to `most`; 0 for what is told.
static int64_t checked(cadre_model *model, int64_t given, int64_t most,
                       const char *field, const char *zero)
{
    if (given >= 0 && given <= most)
        return given;
    cdr_at place = cdr_at_part(model->team, &model->at, ": %s", field);
    cdr_team_problem(model->team, &place, "expected 1 to %lld, or 0 for %s, got %lld",
                     (long long)most, zero, (long long)given);
    model->is_flawed = true;
    return 0;
}

static int checked_rate(cadre_model *model, int given, const char *field)
{
    int limit = given == CADRE_UNLIMITED ? 0 : given;
    return (int)checked(model, limit, CDR_MAX_RATE, field, "no limit");
}

#define A_DAY_MS INT64_C(86400000) // as in files

static void set_times(cadre_model *model, const cadre_model_settings *given)
{
    cdr_model_times *times = &model->times;
    int64_t attempts = times->max_attempts;
    const struct {
        const char *name;
        int64_t given, most, *own;
    } all[] = {
        {"timeout_ms", given->timeout_ms, A_DAY_MS, &times->timeout_ms},
        {"idle_timeout_ms", given->idle_timeout_ms, A_DAY_MS, &times->idle_timeout_ms},
        {"retry.attempts", given->retry.attempts, CDR_MAX_ATTEMPTS, &attempts},
        {"retry.backoff_ms", given->retry.backoff_ms, A_DAY_MS, &times->backoff_ms},
        {"max_backoff_ms", given->max_backoff_ms, A_DAY_MS, &times->max_backoff_ms},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        int64_t value =
            checked(model, all[i].given, all[i].most, all[i].name, "the default");
        if (value > 0)
            *all[i].own = value;
    }
    times->max_attempts = (int)attempts;
}

static void set_fallbacks(cadre_model *model, cadre_names names)
{
    cadre_team *team = model->team;
    if (names.count > CDR_MAX_FALLBACKS) {
        cdr_at place = cdr_at_part(team, &model->at, ": fallback");
        cdr_team_problem(team, &place, "expected at most %d names, got %zu",
                         CDR_MAX_FALLBACKS, names.count);
        model->is_flawed = true;
        return;
    }
    cdr_building_add_names(team, &model->fallback_refs, &names, &model->at, "fallback");
}

#define MAX_PRICE INT64_C(1000000000000) // a million dollars, as in files

static int64_t checked_price(cadre_model *model, const char *field, int64_t given)
{
    if (given < 0 || given > MAX_PRICE)
        cdr_model_problem(model, "price.%s: expected 0 to %lld, got %lld", field,
                          (long long)MAX_PRICE, (long long)given);
    return given;
}

static void set_price(cadre_model *model, const cadre_price *given)
{
    cadre_price price;
    if (!given ||
        !cdr_building_take(model->team, &price, sizeof(price), given, "CADRE_PRICE"))
        return;
    cdr_price *own = &model->price;
    own->is_known = true;
    own->input = checked_price(model, "input_usd_micros", price.input_usd_micros);
    own->output = checked_price(model, "output_usd_micros", price.output_usd_micros);
    own->cached_input =
        checked_price(model, "cached_input_usd_micros", price.cached_input_usd_micros);
    if (own->cached_input == 0)
        own->cached_input = own->input;
    own->cache_write =
        checked_price(model, "cache_write_usd_micros", price.cache_write_usd_micros);
    if (own->cache_write == 0)
        own->cache_write = own->input;
}

void cadre_team_add_model(cadre_team *team, const cadre_model_settings *given)
{
    cadre_model_settings settings;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &settings, sizeof(settings), given, "CADRE_MODEL") ||
        !cdr_building_has_name(team, settings.name, "CADRE_MODEL"))
        return;
    cdr_at at = cdr_building_place(team, "model", settings.name);
    const char *target = settings.model ? settings.model : "";
    cadre_model *model = cdr_team_add_model(team, settings.name, target, &at);
    if (!model)
        return;
    model->base_url = cdr_team_text(team, settings.base_url);
    model->api_key_env = cdr_team_text(team, settings.api_key_env);
    model->rpm = checked_rate(model, settings.rpm, "rpm");
    model->max_concurrency =
        checked_rate(model, settings.max_concurrency, "max_concurrency");
    set_times(model, &settings);
    set_fallbacks(model, settings.fallback);
    set_price(model, settings.price);
    cdr_at place = cdr_at_part(team, &at, ": model");
    cdr_options_check check = {.team = team, .at = &model->at};
    if (!cdr_model_set_ops(model, &place))
        return;
    model->options = cdr_building_parse_options(&check, model->ops->options_schema,
                                                settings.options);
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
        cdr_tool_set_parameters_take(tool, parameters,
                                     &(cdr_schema_origin){.at = &place});
    } else {
        cdr_team_problem(tool->team, &place, "%s", err.text);
        tool->is_flawed = true;
    }
}

void cadre_team_add_tool(cadre_team *team, const cadre_tool_settings *given)
{
    cadre_tool_settings settings;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &settings, sizeof(settings), given, "CADRE_TOOL") ||
        !cdr_building_has_name(team, settings.name, "CADRE_TOOL"))
        return;
    const char *type = settings.type ? settings.type : "";
    cdr_at at = cdr_building_place(team, "tool", settings.name);
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
    tool->timeout_ms = cdr_building_timeout(team, settings.timeout_ms, &at);
    tool->needs_approval = settings.needs_approval;
    tool->may_repeat = settings.may_repeat;
    set_parameters(tool, settings.parameters);
    if (tool->is_flawed || !cdr_tool_set_ops(tool, &at))
        return;
    cdr_options_check check = {.team = team, .at = &tool->at};
    tool->replay_safe = settings.replay_safe || tool->ops->replay_safe;
    tool->options =
        cdr_building_parse_options(&check, tool->ops->options_schema, settings.options);
    tool->is_flawed |= !tool->options;
}

void cadre_team_add_state(cadre_team *team, const cadre_state_key *given)
{
    cadre_state_key key;
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_take(team, &key, sizeof(key), given, "CADRE_STATE_KEY"))
        return;
    if (key.key)
        cdr_team_add_state_settings(team, &key);
    else
        cdr_team_problem(team, NULL, "CADRE_STATE_KEY: .key is missing");
}

void cadre_team_add_predicate(cadre_team *team, const char *name,
                              cadre_predicate_run run, void *ctx)
{
    if (!cdr_building_is_open(team, __func__) ||
        !cdr_building_has_name(team, name, "cadre_team_add_predicate"))
        return;
    cdr_at at = cdr_building_place(team, "predicate", name);
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
    if (!cdr_building_is_open(team, __func__))
        return;
    team->root_ref = (cdr_name_ref){.at = {.path = "root"}};
    team->root_ref.name = cdr_team_text(team, name);
}

void cadre_team_set_hooks(cadre_team *team, const cadre_hooks *hooks)
{
    if (cdr_building_is_open(team, __func__))
        team->hooks = cdr_building_hooks(team, hooks);
}

void cadre_team_set_script(cadre_team *team, const char *path)
{
    if (cdr_building_is_open(team, __func__))
        team->script_path = cdr_team_text(team, path);
}
