// The agents, models and tools of a team file.
//
// The schema has told what is wrong in each; here every entry is added all the same, so
// that who names it is not told off too.
#include "team/load.h"

#include "team/file_schema.h"
#include "team/option_names.h"
#include "team/runtime.h"
#include "team/state_keys.h"

#include <string.h>

// Is a member not what was meant, or something in it?
static bool is_doubtful(const cdr_loader *loader, const cdr_entry *entry,
                        const char *key)
{
    return cdr_document_member(loader->document, entry->written, key).holds_doubts;
}

typedef void (*take_schema)(cadre_agent *agent, json_t *schema,
                            const cdr_schema_origin *from);

static void load_schema(cdr_loader *loader, cadre_agent *agent, const cdr_entry *entry,
                        const char *key, take_schema take)
{
    json_t *schema = json_object_get(entry->read, key);
    if (!json_is_object(schema) || is_doubtful(loader, entry, key))
        return;
    cdr_at at = cdr_load_member_at(loader, entry, key);
    cdr_schema_origin from = {&at, loader->document,
                              json_object_get(entry->written, key)};
    take(agent, json_incref(schema), &from);
}

static void load_ref(cdr_loader *loader, cdr_name_ref *ref, const cdr_entry *entry,
                     const char *key)
{
    const char *name = cdr_load_text(entry->written, key);
    if (!name || is_doubtful(loader, entry, key))
        return;
    ref->name = cdr_team_text(loader->team, name);
    ref->at = cdr_load_member_at(loader, entry, key);
}

static void load_refs(cdr_loader *loader, cdr_name_refs *refs, const cdr_entry *entry,
                      const char *key)
{
    size_t i;
    json_t *name;
    json_t *list = json_object_get(entry->written, key);
    refs->is_partial = is_doubtful(loader, entry, key);
    json_array_foreach(list, i, name)
    {
        if (!json_is_string(name) ||
            cdr_document_element(loader->document, list, i).is_doubtful)
            continue;
        cdr_at at = cdr_load_element_at(loader, entry, key, i);
        cdr_name_refs_add(loader->team, refs, json_string_value(name),
                          CADRE_HISTORY_DEFAULT, &at);
    }
}

// `read`: what stands at `member`, an object.
static void add_member_options(cdr_loader *loader, cadre_agent *agent,
                               const cdr_entry *member, json_t *read)
{
    json_t *schema = json_object_get(read, "input_schema");
    if (schema) {
        cdr_at at = cdr_load_member_at(loader, member, "input_schema");
        cdr_schema_origin from = {&at, loader->document,
                                  json_object_get(member->written, "input_schema")};
        agent->is_flawed |= !cdr_team_check_schema(loader->team, schema, &from);
    }
    if (!agent->member_options)
        agent->member_options = json_object();
    loader->team->problems.no_memory |=
        json_object_set(agent->member_options, member->name, read) != 0;
}

// A member is a name, or an object that says more of it.
static void load_members(cdr_loader *loader, cadre_agent *agent, const cdr_entry *entry)
{
    size_t i;
    json_t *member;
    json_t *list = json_object_get(entry->written, "members");
    json_t *read = json_object_get(entry->read, "members");
    agent->member_refs.is_partial = is_doubtful(loader, entry, "members");
    json_array_foreach(list, i, member)
    {
        if (cdr_document_element(loader->document, list, i).holds_doubts)
            continue;
        const char *name = json_is_string(member) ? json_string_value(member)
                                                  : cdr_load_text(member, "agent");
        cdr_at at = cdr_load_element_at(loader, entry, "members", i);
        if (!name)
            continue;
        cdr_name_refs_add(loader->team, &agent->member_refs, name,
                          CADRE_HISTORY_DEFAULT, &at);
        cdr_entry at_member = {.name = name, .written = member, .at = at};
        if (json_is_object(member))
            add_member_options(loader, agent, &at_member, json_array_get(read, i));
    }
}

static cadre_history read_history(const char *word)
{
    static const struct {
        const char *word;
        cadre_history history;
    } words[] = {
        {"all", CADRE_HISTORY_ALL},
        {"own", CADRE_HISTORY_OWN},
        {"last", CADRE_HISTORY_LAST},
        {"none", CADRE_HISTORY_NONE},
    };
    for (size_t i = 0; word && i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i].word, word) == 0)
            return words[i].history;
    }
    return CADRE_HISTORY_DEFAULT;
}

static void load_handoffs(cdr_loader *loader, cadre_agent *agent,
                          const cdr_entry *entry)
{
    size_t i;
    json_t *handoff;
    json_t *list = json_object_get(entry->written, "handoffs");
    json_array_foreach(list, i, handoff)
    {
        if (cdr_document_element(loader->document, list, i).holds_doubts)
            continue;
        const char *to = json_is_string(handoff) ? json_string_value(handoff)
                                                 : cdr_load_text(handoff, "to");
        cdr_at at = cdr_load_element_at(loader, entry, "handoffs", i);
        if (to)
            cdr_name_refs_add(loader->team, &agent->handoff_refs, to,
                              read_history(cdr_load_text(handoff, "history")), &at);
    }
}

static void load_output_key(cdr_loader *loader, cadre_agent *agent,
                            const cdr_entry *entry)
{
    const char *key = cdr_load_text(entry->written, "output_key");
    if (!key || is_doubtful(loader, entry, "output_key"))
        return;
    cdr_at at = cdr_load_member_at(loader, entry, "output_key");
    cdr_agent_set_output_key(agent, key, &at);
}

// Where {{inputs.x}} may stand.
static void load_instructions_at(cdr_loader *loader, cadre_agent *agent,
                                 const cdr_entry *entry)
{
    cdr_document_value value =
        cdr_document_member(loader->document, entry->written, "instructions");
    agent->instructions_at = cdr_load_member_at(loader, entry, "instructions");
    agent->has_exact_lines = value.text_place.line > 0;
    if (agent->has_exact_lines) {
        agent->instructions_at.line = value.text_place.line;
        agent->instructions_at.column = value.text_place.column;
    }
}

typedef struct option_finder {
    cdr_loader *loader;
    cadre_agent *agent;
} option_finder;

static void on_option_name(void *ctx, const cdr_option_name *found)
{
    const option_finder *f = ctx;
    const cdr_schema_slot *slot = found->slot;
    cdr_document_value value =
        cdr_document_at(f->loader->document, slot->container, slot->key, slot->index);
    if (value.is_doubtful)
        return;
    cdr_at at = cdr_agent_option_at(f->agent, found->path);
    cdr_name_refs_add(f->loader->team,
                      found->is_tool ? &f->agent->option_tool_refs
                                     : &f->agent->option_agent_refs,
                      json_string_value(slot->value), CADRE_HISTORY_DEFAULT, &at);
}

static void load_agent_options(cdr_loader *loader, cadre_agent *agent,
                               const cdr_entry *entry)
{
    const char *block = cdr_agent_block(agent->ops);
    const char *schema = agent->ops->options_schema;
    const json_t *source = *block ? json_object_get(entry->read, block) : entry->read;
    const json_t *written =
        *block ? json_object_get(entry->written, block) : entry->written;
    option_finder finder = {loader, agent};
    agent->options = cdr_load_options(schema, source);
    agent->team->problems.no_memory |=
        !agent->options || !cdr_option_names(schema, written, on_option_name, &finder);
}

void cdr_load_agent(cdr_loader *loader, const cdr_entry *entry)
{
    const char *type = cdr_load_text(entry->read, "type");
    cadre_agent *agent = cdr_team_add_agent(
        loader->team, type ? type : CDR_DEFAULT_AGENT_TYPE, entry->name, &entry->at);
    if (!agent)
        return;
    agent->is_flawed |= entry->is_flawed;
    if (loader->retyped && strcmp(loader->retyped, entry->name) == 0)
        agent->by_type =
            cdr_arena_printf(&loader->team->arena, " (by --type %s)", type);
    // An unknown type was told by the schema; only a build without llm is told here.
    if (agent->is_flawed)
        agent->ops = cdr_runtime_agent_ops(loader->team->runtime, agent->info.type);
    else
        cdr_agent_set_ops(agent, &entry->at);
    const char *description = cdr_load_text(entry->read, "description");
    if (description)
        agent->info.description = cdr_team_text(loader->team, description);
    load_ref(loader, &agent->model_ref, entry, "model");
    load_ref(loader, &agent->entry_ref, entry, "entry");
    load_ref(loader, &agent->fallback_ref, entry, "loop_fallback");
    load_members(loader, agent, entry);
    load_refs(loader, &agent->tool_refs, entry, "tools");
    load_handoffs(loader, agent, entry);
    load_schema(loader, agent, entry, "input_schema", cdr_agent_set_input_schema_take);
    load_schema(loader, agent, entry, "output_schema",
                cdr_agent_set_output_schema_take);
    load_instructions_at(loader, agent, entry);
    cdr_load_agent_hooks(loader, agent, entry);
    agent->timeout_ms = cdr_load_integer(entry->read, "timeout", 0);
    agent->budget_at = entry->at;
    agent->budget =
        cdr_load_budget(loader, entry->read, entry->written, &agent->budget_at);
    load_output_key(loader, agent, entry);
    agent->quiet = json_is_true(json_object_get(entry->read, "quiet"));
    agent->written = entry->written;
    const json_t *retry = json_object_get(entry->read, "retry");
    agent->retry.attempts = (int)cdr_load_integer(retry, "attempts", 1);
    agent->retry.backoff_ms = cdr_load_integer(retry, "backoff", 0);
    if (agent->ops)
        load_agent_options(loader, agent, entry);
}

static void load_times(cdr_model_times *times, const json_t *read)
{
    const json_t *retry = json_object_get(read, "retry");
    times->timeout_ms = cdr_load_integer(read, "timeout", times->timeout_ms);
    times->idle_timeout_ms =
        cdr_load_integer(read, "idle_timeout", times->idle_timeout_ms);
    times->max_attempts = (int)cdr_load_integer(retry, "attempts", times->max_attempts);
    times->backoff_ms = cdr_load_integer(retry, "backoff", times->backoff_ms);
    times->max_backoff_ms =
        cdr_load_integer(retry, "max_backoff", times->max_backoff_ms);
}

// 0: none, also where `unlimited` says so.
static int load_limit(const json_t *read, const char *key)
{
    int64_t limit = cdr_load_integer(read, key, 0);
    return limit > 0 ? (int)limit : 0;
}

static void load_price(cdr_price *price, const json_t *read)
{
    if (!json_is_object(read))
        return;
    price->is_known = true;
    price->input = cdr_load_integer(read, "input", 0);
    price->output = cdr_load_integer(read, "output", 0);
    price->cached_input = cdr_load_integer(read, "cached_input", price->input);
    price->cache_write = cdr_load_integer(read, "cache_write", price->input);
}

void cdr_load_model(cdr_loader *loader, const cdr_entry *entry)
{
    const char *target = cdr_load_text(entry->read, "model");
    cadre_model *model =
        cdr_team_add_model(loader->team, entry->name, target ? target : "", &entry->at);
    if (!model)
        return;
    model->is_flawed |= entry->is_flawed;
    model->base_url =
        cdr_team_text(loader->team, cdr_load_text(entry->read, "base_url"));
    model->api_key_env =
        cdr_team_text(loader->team, cdr_load_text(entry->read, "api_key_env"));
    load_times(&model->times, entry->read);
    load_refs(loader, &model->fallback_refs, entry, "fallback");
    model->rpm = load_limit(entry->read, "rpm");
    model->max_concurrency = load_limit(entry->read, "max_concurrency");
    load_price(&model->price, json_object_get(entry->read, "price"));
    cdr_at at = cdr_load_member_at(loader, entry, "model");
    model->is_flawed |= !target;
    if (!target || !cdr_model_set_ops(model, &at))
        return;
    model->options = cdr_load_options(model->ops->options_schema, entry->read);
    loader->team->problems.no_memory |= !model->options;
}

void cdr_load_tool(cdr_loader *loader, const cdr_entry *entry)
{
    const char *type = cdr_load_text(entry->read, "type");
    cadre_tool *tool =
        cdr_team_add_tool(loader->team, type ? type : "", entry->name, &entry->at);
    if (!tool)
        return;
    tool->is_flawed |= entry->is_flawed;
    const char *description = cdr_load_text(entry->read, "description");
    const char *replay = cdr_load_text(entry->read, "replay");
    const char *approval = cdr_load_text(entry->read, "approval");
    json_t *parameters = json_object_get(entry->read, "parameters");
    if (description)
        tool->info.description = cdr_team_text(loader->team, description);
    tool->timeout_ms = cdr_load_integer(entry->read, "timeout", 0);
    tool->needs_approval = approval && strcmp(approval, "ask") == 0;
    tool->may_repeat = json_is_true(json_object_get(entry->read, "may_repeat"));
    if (json_is_object(parameters) && !is_doubtful(loader, entry, "parameters")) {
        cdr_at at = cdr_load_member_at(loader, entry, "parameters");
        cdr_schema_origin from = {&at, loader->document,
                                  json_object_get(entry->written, "parameters")};
        cdr_tool_set_parameters_take(tool, json_incref(parameters), &from);
    }
    // As with agents, the schema knows the types.
    tool->ops = cdr_runtime_tool_ops(loader->team->runtime, tool->type);
    tool->is_flawed |= !tool->ops;
    if (!tool->ops)
        return;
    tool->replay_safe = replay ? strcmp(replay, "safe") == 0 : tool->ops->replay_safe;
    tool->options = cdr_load_options(tool->ops->options_schema, entry->read);
    loader->team->problems.no_memory |= !tool->options;
}
