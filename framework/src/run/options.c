// See options.h.
#include "run/options.h"

#include "base/brief.h"
#include "base/buf.h"
#include "base/json_iterable.h"
#include "base/json_text.h"
#include "tree/budget.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIMITED_WORD "unlimited"

// --- Keeping ---

static json_t *limits_json(const cadre_limits *limits)
{
    const struct {
        const char *name;
        int value;
    } all[] = {
        {"max_model_calls", limits->max_model_calls},
        {"max_tool_calls", limits->max_tool_calls},
        {"max_depth", limits->max_depth},
    };
    json_t *object = json_object();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i].value != 0)
            json_object_set_new(object, all[i].name,
                                all[i].value == CADRE_UNLIMITED
                                    ? json_string(UNLIMITED_WORD)
                                    : json_integer(all[i].value));
    return object;
}

static json_t *shapes_json(const cadre_team *team)
{
    json_t *object = json_object();
    for (size_t i = 0; i < team->n_agents; i++)
        json_object_set_new(object, team->agents[i]->info.name,
                            json_string(team->agents[i]->shape_digest));
    return object;
}

// Takes the value over; an empty object is left out. Counts what there was no
// memory for.
static void add_take(json_t *options, const char *key, json_t *value, int *n_failed)
{
    if (json_is_object(value) && json_object_size(value) == 0)
        json_decref(value);
    else
        *n_failed += json_object_set_new(options, key, value) != 0;
}

static json_t *spawn_json(const cdr_spawn *spawn)
{
    char id[CADRE_ID_TEXT_SIZE];
    cadre_id_text(spawn->report_to, id);
    return json_pack("{s:s, s:s}", "report_to", id, "within", spawn->within);
}

static char *options_text(const cdr_tree *tree, const cadre_run_config *config)
{
    int n_failed = 0;
    json_t *options = json_object();
    if (config->session != NULL)
        add_take(options, "session", json_string(config->session), &n_failed);
    add_take(options, "inputs", json_incref(tree->inputs), &n_failed);
    add_take(options, "limits", limits_json(&config->limits), &n_failed);
    add_take(options, "budget", cdr_budget_json(&config->budget), &n_failed);
    if (config->timeout_ms != 0)
        add_take(options, "timeout_ms", json_integer(config->timeout_ms), &n_failed);
    if (tree->runtime->offline)
        add_take(options, "offline", json_true(), &n_failed);
    if (tree->team->asked_type != NULL)
        add_take(options, "type", json_string(tree->team->asked_type), &n_failed);
    if (config->metadata != NULL)
        add_take(options, "metadata", json_deep_copy(config->metadata), &n_failed);
    if (!cadre_id_is_none(tree->spawn.by))
        add_take(options, "spawn", spawn_json(&tree->spawn), &n_failed);
    add_take(options, "agents", shapes_json(tree->team), &n_failed);
    char *text = n_failed == 0 ? cdr_json_dump(options) : NULL;
    json_decref(options);
    return text;
}

cadre_status cdr_options_keep(cdr_tree *tree, const cadre_run_config *config,
                              cadre_error *err)
{
    if (config->metadata != NULL && !json_is_object(config->metadata))
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_run_config.metadata: expected an object");
    char *text = options_text(tree, config);
    tree->options = text == NULL ? NULL : cdr_arena_text(&tree->arena, text);
    free(text);
    return tree->options == NULL ? cadre_fail(err, CADRE_ENOMEM, "no memory for a run")
                                 : CADRE_OK;
}

json_t *cdr_options_parse(const char *text)
{
    json_t *options = cdr_json_parse(text, strlen(text), NULL);
    if (json_is_object(options))
        return options;
    json_decref(options);
    return json_object();
}

// --- What is recorded ---

static cadre_status take_trace(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    cdr_started *started = ctx;
    started->is_there = true;
    started->has_ended = row->status >= CADRE_FRAME_COMPLETED;
    snprintf(started->shape_digest, sizeof started->shape_digest, "%s",
             row->shape_digest);
    snprintf(started->text_digest, sizeof started->text_digest, "%s", row->text_digest);
    started->spawned_by = row->spawned_by;
    started->team = strdup(row->team);
    started->options = cdr_options_parse(row->options);
    return started->team != NULL && started->options != NULL
               ? CADRE_OK
               : cadre_fail(err, CADRE_ENOMEM, "no memory for the record of a run");
}

cadre_status cdr_started_read(cdr_started *started, cadre_runtime *runtime,
                              cadre_id trace, cadre_error *err)
{
    const cadre_query query = {.kind = CADRE_QUERY_TRACE, .trace = trace};
    const cadre_store_reader reader = {.trace = take_trace, .ctx = started};
    *started = (cdr_started){.is_there = false};
    cadre_id_text(trace, started->trace);
    cadre_status status =
        runtime->store_ops->read(runtime->store, &query, &reader, err);
    if (status == CADRE_OK && !started->is_there)
        status = cadre_fail(err, CADRE_ENOTFOUND, "there is no run %s in this store",
                            started->trace);
    return status;
}

void cdr_started_fini(cdr_started *started)
{
    free(started->team);
    json_decref(started->options);
}

bool cdr_started_spawn(const cdr_started *started, cdr_spawn *out)
{
    const json_t *spawn = json_object_get(started->options, "spawn");
    const char *to = json_string_value(json_object_get(spawn, "report_to"));
    const char *within = json_string_value(json_object_get(spawn, "within"));
    *out = (cdr_spawn){.by = started->spawned_by, .within = within ? within : ""};
    return to != NULL && cadre_id_parse(to, &out->report_to);
}

cadre_status cdr_started_keep(const cdr_started *started, cdr_tree *tree,
                              cadre_error *err)
{
    char *text = cdr_json_dump(started->options);
    tree->options = text == NULL ? NULL : cdr_arena_text(&tree->arena, text);
    free(text);
    (void)cdr_started_spawn(started, &tree->spawn);
    tree->spawn.within = cdr_arena_text(&tree->arena, tree->spawn.within);
    return tree->options == NULL || tree->spawn.within == NULL
               ? cadre_fail(err, CADRE_ENOMEM, "no memory for a run")
               : CADRE_OK;
}

// --- Its team ---

enum {
    MAX_TOLD = 4 // agents in a message
};

typedef struct differences {
    cdr_buf text;
    size_t n;
} differences;

static void tell(differences *d, const char *name, const char *what)
{
    char brief[CDR_BRIEF_SIZE];
    if (d->n++ >= MAX_TOLD)
        return;
    cdr_buf_printf(&d->text, "%s%s %s", d->n == 1 ? "agent " : ", ",
                   cdr_brief_text(brief, name, '\''), what);
}

static void tell_gone(differences *d, const json_t *recorded, const cadre_team *team)
{
    const char *name;
    json_t *digest;
    json_object_foreach(cdr_json_iterable(recorded), name, digest)
    {
        if (cadre_team_find(team, name) == NULL)
            tell(d, name, "is gone");
    }
}

static const char *digest_of(const json_t *recorded, const cadre_agent *agent)
{
    return json_string_value(json_object_get(recorded, agent->info.name));
}

static void tell_differences(differences *d, const json_t *recorded,
                             const cadre_team *team)
{
    tell_gone(d, recorded, team);
    for (size_t i = 0; i < team->n_agents; i++)
        if (digest_of(recorded, team->agents[i]) == NULL)
            tell(d, team->agents[i]->info.name, "is new");
    for (size_t i = 0; i < team->n_agents; i++) {
        const cadre_agent *agent = team->agents[i];
        const char *digest = digest_of(recorded, agent);
        if (digest != NULL && strcmp(digest, agent->shape_digest) != 0)
            tell(d, agent->info.name,
                 agent->members.count > 0
                     ? "has other members or options"
                     : "has other members, tools, handoffs, fallback or output_key");
    }
    if (d->n == 0)
        cdr_buf_append_text(&d->text, "its root is another agent, or keys of its state "
                                      "have other reducers");
    if (d->n > MAX_TOLD)
        cdr_buf_printf(&d->text, " and %zu more", d->n - MAX_TOLD);
}

static bool is_same_type(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

cadre_status cdr_started_check_team(const cdr_started *started, const cadre_team *team,
                                    bool accepts_changes, cadre_error *err)
{
    differences d = {CDR_BUF_INIT, 0};
    const char *type = json_string_value(json_object_get(started->options, "type"));
    if (started->has_ended)
        return CADRE_OK;
    if (strcmp(started->team, team->name) != 0)
        return cadre_fail_class(
            err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
            "run %s is of team '%s', not of '%s': give its team file", started->trace,
            started->team, team->name);
    if (accepts_changes || started->shape_digest[0] == '\0' ||
        strcmp(started->shape_digest, team->shape_digest) == 0)
        return CADRE_OK;
    if (!is_same_type(type, team->asked_type))
        return cadre_fail_class(
            err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
            "run %s was started %s%s, and team '%s' is loaded %s%s; load it as it was, "
            "or accept the changes (--accept-changes)",
            started->trace, type == NULL ? "without --type" : "with --type ",
            type == NULL ? "" : type, team->name,
            team->asked_type == NULL ? "without --type" : "with --type ",
            team->asked_type == NULL ? "" : team->asked_type);
    tell_differences(&d, json_object_get(started->options, "agents"), team);
    cadre_fail_class(err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
                     "run %s was started with another shape of team '%s': %s; resume "
                     "it with the team it was started with, or accept the changes "
                     "(--accept-changes)",
                     started->trace, team->name, cdr_buf_text(&d.text));
    cdr_buf_fini(&d.text);
    return CADRE_ECONFIG;
}

bool cdr_started_has_other_texts(const cdr_started *started, const cadre_team *team)
{
    return started->text_digest[0] != '\0' &&
           strcmp(started->text_digest, team->text_digest) != 0;
}

// --- Its settings ---

static int recorded_limit(const json_t *limits, const char *name, int given)
{
    const json_t *recorded = json_object_get(limits, name);
    if (given != 0 || recorded == NULL)
        return given;
    return json_is_integer(recorded) ? (int)json_integer_value(recorded)
                                     : CADRE_UNLIMITED;
}

void cdr_started_fill(const cdr_started *started, cadre_run_config *config)
{
    const json_t *recorded = json_object_get(started->options, "limits");
    cadre_limits *limits = &config->limits;
    limits->max_model_calls =
        recorded_limit(recorded, "max_model_calls", limits->max_model_calls);
    limits->max_tool_calls =
        recorded_limit(recorded, "max_tool_calls", limits->max_tool_calls);
    limits->max_depth = recorded_limit(recorded, "max_depth", limits->max_depth);
    config->budget = cdr_budget_of_options(started->options, &config->budget);
    if (config->timeout_ms == 0)
        config->timeout_ms =
            json_integer_value(json_object_get(started->options, "timeout_ms"));
}

// The recorded ones that the team still knows, under those that are given. New
// reference; NULL: no memory.
static json_t *merge(const json_t *recorded, const cadre_team *team,
                     const json_t *given)
{
    int n_failed = 0;
    json_t *merged = json_object();
    for (size_t i = 0; i < team->n_inputs; i++) {
        json_t *value = json_object_get(recorded, team->inputs[i].name);
        if (value != NULL)
            n_failed += json_object_set(merged, team->inputs[i].name, value) != 0;
    }
    if (given != NULL)
        n_failed += json_object_update(merged, cdr_json_iterable(given)) != 0;
    if (n_failed == 0)
        return merged;
    json_decref(merged);
    return NULL;
}

static cadre_status check_same(const cdr_started *started, const json_t *inputs,
                               const json_t *given, cadre_error *err)
{
    const char *name;
    json_t *value;
    char before[CDR_BRIEF_SIZE];
    char now[CDR_BRIEF_SIZE];
    const json_t *recorded = json_object_get(started->options, "inputs");
    json_object_foreach(cdr_json_iterable(given), name, value)
    {
        const json_t *old = json_object_get(recorded, name);
        const json_t *asked = json_object_get(inputs, name);
        if (old != NULL && !json_equal(old, asked))
            return cadre_fail_class(err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
                                    "input '%s' was %s when run %s was started; it "
                                    "cannot be %s now",
                                    name, cdr_brief_json(before, old), started->trace,
                                    cdr_brief_json(now, asked));
    }
    return CADRE_OK;
}

json_t *cdr_started_inputs(const cdr_started *started, const cadre_team *team,
                           const json_t *given, cadre_error *err)
{
    const json_t *recorded = json_object_get(started->options, "inputs");
    if (started->has_ended || (given != NULL && !json_is_object(given)))
        return cdr_team_inputs(team, given, err);
    json_t *merged = merge(recorded, team, given);
    if (merged == NULL) {
        cadre_fail(err, CADRE_ENOMEM, "no memory for the inputs");
        return NULL;
    }
    json_t *inputs = cdr_team_inputs(team, merged, err);
    json_decref(merged);
    if (inputs != NULL && check_same(started, inputs, given, err) != CADRE_OK) {
        json_decref(inputs);
        return NULL;
    }
    return inputs;
}
