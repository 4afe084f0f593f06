// See digest.h.
#include "team/digest.h"

#include "base/json_iterable.h"
#include "team/runtime.h"
#include "team/sealing.h"
#include "team/settings.h"
#include "team/state_keys.h"

#include <stdio.h>
#include <string.h>

// FNV-1a, 64 bits, over parts that each tell how long they are.
#define START UINT64_C(0xCBF29CE484222325)
#define PRIME UINT64_C(0x100000001B3)

static uint64_t add_number(uint64_t hash, uint64_t number)
{
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ (number >> i & 0xFF)) * PRIME;
    return hash;
}

static uint64_t add_bytes(uint64_t hash, const char *bytes, size_t len)
{
    hash = add_number(hash, len);
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * PRIME;
    return hash;
}

static uint64_t add_text(uint64_t hash, const char *text)
{
    return add_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

// Spreads a hash over all bits, so that sums of them do not cancel out: what has no
// order is summed up.
static uint64_t spread(uint64_t hash)
{
    hash = (hash ^ hash >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 27) * UINT64_C(0x94D049BB133111EB);
    return hash ^ hash >> 31;
}

static uint64_t of_real(double real)
{
    uint64_t bits = 0;
    if (real != 0) // -0 is 0
        memcpy(&bits, &real, sizeof(bits));
    return bits;
}

// Of a value and what it is by default; members of objects that are so are left out.
static uint64_t of_json(const json_t *value, const json_t *standard)
{
    const char *key;
    size_t i;
    json_t *part;
    uint64_t sum = 0;
    uint64_t hash =
        add_number(START, value ? (uint64_t)json_typeof(value) : UINT64_MAX);
    if (json_is_string(value))
        return add_bytes(hash, json_string_value(value), json_string_length(value));
    if (json_is_integer(value))
        return add_number(hash, (uint64_t)json_integer_value(value));
    if (json_is_real(value))
        return add_number(hash, of_real(json_real_value(value)));
    json_array_foreach(value, i, part)
    {
        hash = add_number(hash, of_json(part, NULL));
    }
    json_object_foreach(cdr_json_iterable(value), key, part)
    {
        const json_t *usual = json_object_get(standard, key);
        if (!usual || !json_equal(usual, part))
            sum += spread(add_number(add_text(START, key), of_json(part, usual)));
    }
    return add_number(hash, sum);
}

uint64_t cdr_digest_json(const json_t *value)
{
    return of_json(value, NULL);
}

// The options but those that may hold a secret: it changes with the machine, and
// nothing made of it belongs into a record. NULL: no memory.
static json_t *open_options(const json_t *schema, const json_t *options)
{
    const char *key;
    json_t *part;
    json_t *found = json_object();
    const json_t *properties = json_object_get(schema, "properties");
    json_object_foreach(cdr_json_iterable(options), key, part)
    {
        const json_t *of_key = json_object_get(properties, key);
        bool is_secret = json_is_true(json_object_get(of_key, "x-secret"));
        if (!is_secret && json_object_set(found, key, part) != 0) {
            json_decref(found);
            return NULL;
        }
    }
    return found;
}

bool cdr_digest_options(const char *options_schema, const json_t *options,
                        uint64_t *out)
{
    json_t *none = json_object();
    json_t *schema = cdr_settings_schema(options_schema, NULL);
    json_t *defaults = schema && none ? cdr_settings_complete(schema, none) : NULL;
    json_t *open = defaults ? open_options(schema, options) : NULL;
    if (open)
        *out = of_json(open, defaults);
    json_decref(none);
    json_decref(schema);
    json_decref(defaults);
    json_decref(open);
    return open != NULL;
}

// --- A team ---

static uint64_t shape_of_handoffs(const cadre_agent *agent)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < agent->handoffs.count; i++) {
        const cadre_handoff *edge = &agent->handoffs.items[i];
        uint64_t hash = add_text(START, edge->to->info.name);
        sum += spread(add_number(hash, (uint64_t)edge->history));
    }
    return sum;
}

static uint64_t shape_of_tools(const cadre_agent *agent)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < agent->tools.count; i++) {
        const cadre_tool *tool = agent->tools.items[i];
        uint64_t hash = add_text(START, tool->info.name);
        sum += spread(add_number(hash, (tool->replay_safe ? 1U : 0U) |
                                           (tool->needs_approval ? 2U : 0U) |
                                           (tool->may_repeat ? 4U : 0U)));
    }
    return sum;
}

// How members work together is shape, what an agent of its own is told is text; an
// agent that its options name makes no topology of it.
static bool has_options_in_shape(const cadre_agent *agent)
{
    return cdr_is_topology(agent->ops) ||
           agent->members.count > agent->option_agent_refs.count;
}

static uint64_t shape_of(const cadre_agent *agent, uint64_t options)
{
    uint64_t hash = add_text(START, agent->info.name);
    hash = add_text(hash, agent->info.type);
    hash = add_text(hash, agent->entry ? agent->entry->info.name : "");
    hash = add_number(hash, agent->members.count);
    for (size_t i = 0; i < agent->members.count; i++)
        hash = add_text(hash, agent->members.items[i]->info.name);
    hash = add_number(hash, shape_of_handoffs(agent));
    hash = add_number(hash, shape_of_tools(agent));
    if (agent->output_key)
        hash = add_text(add_text(hash, "output_key"), agent->output_key);
    if (agent->fallback)
        hash = add_text(hash, agent->fallback->info.name);
    return spread(add_number(hash, has_options_in_shape(agent) ? options : 0));
}

static uint64_t texts_of_tools(const cadre_agent *agent)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < agent->tools.count; i++) {
        const cadre_tool *tool = agent->tools.items[i];
        uint64_t hash = add_text(START, tool->info.name);
        hash = add_text(hash, tool->info.description);
        sum += spread(add_number(hash, cdr_digest_json(tool->info.parameters)));
    }
    return sum;
}

// Of hooks in files; 0 when there are none.
static uint64_t texts_of_hooks(const cdr_hook_set *set)
{
    uint64_t sum = 0;
    for (size_t i = 0; set && i < CDR_N_HOOKS; i++) {
        const cdr_hook_file *file = set->files[i];
        if (file)
            sum += spread(
                add_bytes(add_text(START, cdr_hook_names[i]), file->text, file->len));
    }
    return sum;
}

// Who may answer in place of a model.
static uint64_t add_fallbacks(uint64_t hash, const cadre_model *model)
{
    for (size_t i = 0; model && i < model->n_fallbacks; i++) {
        const cadre_model *fallback = model->fallbacks[i];
        hash = add_text(add_text(hash, fallback->provider), fallback->model);
        hash = add_number(hash, fallback->options_digest);
    }
    return hash;
}

static uint64_t texts_of(const cadre_agent *agent, uint64_t options)
{
    uint64_t hash = add_text(START, agent->info.name);
    hash = add_text(hash, agent->info.description);
    hash = add_number(hash, cdr_digest_json(agent->info.input_schema));
    if (agent->info.output_schema)
        hash = add_number(hash, cdr_digest_json(agent->info.output_schema));
    hash = add_number(hash, agent->quiet ? 1 : 0);
    hash = add_number(hash, texts_of_tools(agent));
    hash = add_text(hash, agent->model ? agent->model->provider : "");
    hash = add_text(hash, agent->model ? agent->model->model : "");
    hash = add_number(hash, agent->model ? agent->model->options_digest : 0);
    hash = add_fallbacks(hash, agent->model);
    if (agent->hook_set)
        hash = add_number(hash, texts_of_hooks(agent->hook_set));
    return spread(add_number(hash, has_options_in_shape(agent) ? 0 : options));
}

static uint64_t of_state_key(const cdr_state_key *key, uint64_t what)
{
    uint64_t hash = add_text(add_text(START, "state"), key->name);
    return spread(add_number(hash, what));
}

// How keys of the state take values decides what recorded deltas mean. One that is
// replaced is as one that nobody declared.
static uint64_t shape_of_state(const cadre_team *team)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < team->n_state_keys; i++) {
        const cdr_state_key *key = &team->state_keys[i];
        if (key->reducer != CADRE_REDUCE_REPLACE)
            sum += of_state_key(key, (uint64_t)key->reducer);
    }
    return sum;
}

static uint64_t texts_of_state(const cadre_team *team)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < team->n_state_keys; i++) {
        const cdr_state_key *key = &team->state_keys[i];
        if (key->default_value)
            sum += of_state_key(key, cdr_digest_json(key->default_value));
    }
    return sum;
}

static uint64_t texts_of_inputs(const cadre_team *team)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < team->n_inputs; i++) {
        uint64_t hash = add_text(START, team->inputs[i].name);
        sum += spread(add_number(hash, cdr_digest_json(team->inputs[i].schema)));
    }
    return sum;
}

void cdr_seal_digests(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    uint64_t shapes = 0, texts = 0, options = 0;
    if (team->problems.count > 0 || !team->root)
        return;
    for (size_t i = 0; i < team->n_agents; i++) {
        cadre_agent *agent = team->agents[i];
        if (!cdr_digest_options(agent->ops->options_schema, agent->options, &options)) {
            team->problems.no_memory = true;
            return;
        }
        uint64_t shape = shape_of(agent, options);
        shapes += shape;
        texts += texts_of(agent, options);
        snprintf(agent->shape_digest, sizeof(agent->shape_digest), "%08x",
                 (unsigned)(shape >> 32));
    }
    shapes += shape_of_state(team);
    texts += texts_of_state(team) + texts_of_hooks(team->hook_set);
    shapes = spread(add_number(add_text(START, team->root->info.name), shapes));
    texts = spread(add_number(add_number(START, texts_of_inputs(team)), texts));
    snprintf(team->shape_digest, sizeof(team->shape_digest), "%016llx",
             (unsigned long long)shapes);
    snprintf(team->text_digest, sizeof(team->text_digest), "%016llx",
             (unsigned long long)texts);
}
