// See state_keys.h.
#include "team/state_keys.h"

#include "base/brief.h"
#include "base/json_text.h"
#include "team/build.h"
#include "team/sealing.h"
#include "team/sized.h"

#include <string.h>

enum {
    MAX_STATE_KEYS = 256 // they are looked up one by one
};

static const char *const reducer_words[] = {"replace", "append", "merge", "sum",
                                            "custom"};

const char *cadre_reducer_name(cadre_reducer reducer)
{
    bool is_known = reducer >= CADRE_REDUCE_REPLACE && reducer <= CADRE_REDUCE_CUSTOM;
    return is_known ? reducer_words[reducer] : "unknown";
}

// What team files may write.
static bool read_reducer(const char *word, cadre_reducer *out)
{
    for (unsigned i = CADRE_REDUCE_REPLACE; i < CADRE_REDUCE_CUSTOM; i++) {
        if (strcmp(word, reducer_words[i]) == 0) {
            *out = (cadre_reducer)i;
            return true;
        }
    }
    return false;
}

// --- Looking up ---

const cdr_state_key *cdr_team_state_key(const cadre_team *team, const char *name)
{
    for (size_t i = 0; i < team->n_state_keys; i++) {
        if (strcmp(team->state_keys[i].name, name) == 0)
            return &team->state_keys[i];
    }
    return NULL;
}

cadre_reducer cdr_team_reducer(const cadre_team *team, const char *name)
{
    const cdr_state_key *key = cdr_team_state_key(team, name);
    return key ? key->reducer : CADRE_REDUCE_REPLACE;
}

// --- Declaring ---

// What a default must be; NULL: anything is one.
static const char *wanted_default(cadre_reducer reducer, const json_t *value)
{
    if (!value)
        return NULL;
    if (reducer == CADRE_REDUCE_APPEND && !json_is_array(value))
        return "a list";
    if (reducer == CADRE_REDUCE_MERGE && !json_is_object(value))
        return "an object";
    if (reducer == CADRE_REDUCE_SUM && !json_is_number(value))
        return "a number";
    return NULL;
}

// New reference; NULL: there is none, or `no_memory`.
static json_t *make_default(cadre_reducer reducer, const json_t *given, bool *no_memory)
{
    json_t *value = NULL;
    if (given)
        value = json_deep_copy(given);
    else if (reducer == CADRE_REDUCE_APPEND)
        value = json_array();
    else if (reducer == CADRE_REDUCE_MERGE)
        value = json_object();
    else if (reducer == CADRE_REDUCE_SUM)
        value = json_integer(0);
    else
        return NULL;
    // jansson gives an incomplete copy when memory runs out.
    *no_memory |= !value || (given && !json_equal(value, given));
    return value;
}

// Adds a key that has no mistake of its own; `given` is its default, or NULL.
static void add_key(cadre_team *team, const cdr_state_key *key, const json_t *given)
{
    char brief[CDR_BRIEF_SIZE];
    const char *wanted = wanted_default(key->reducer, given);
    if (wanted) {
        cdr_at place = cdr_at_part(team, &key->at, key->at.file ? ".default" : "");
        cdr_team_problem(team, &place, "a default of %s must be %s, got %s",
                         cadre_reducer_name(key->reducer), wanted,
                         cdr_brief_json(brief, given));
        return;
    }
    if (team->n_state_keys == MAX_STATE_KEYS) {
        cdr_team_problem(team, &key->at, "a team declares at most %d keys of its state",
                         MAX_STATE_KEYS);
        return;
    }
    cdr_state_key *keys = cdr_arena_grow(&team->arena, team->state_keys,
                                         team->n_state_keys, sizeof(*keys));
    cdr_state_key own = *key;
    own.name = cdr_team_text(team, key->name);
    own.default_value = make_default(key->reducer, given, &team->problems.no_memory);
    if (!keys || !own.name) {
        team->problems.no_memory = true;
        json_decref(own.default_value);
        return;
    }
    team->state_keys = keys;
    keys[team->n_state_keys++] = own;
}

// Tells of what is wrong with a name. False: something is.
static bool check_name(cadre_team *team, const char *name, const cdr_at *at)
{
    const cdr_state_key *first = cdr_team_state_key(team, name);
    if (!cdr_is_name(name))
        cdr_team_problem(team, at, CDR_NAME_RULE);
    else if (first && first->at.file)
        cdr_team_problem(team, at, "is declared already, at %s:%d:%d", first->at.file,
                         first->at.line, first->at.column);
    else if (first)
        cdr_team_problem(team, at, "is declared already");
    return cdr_is_name(name) && !first;
}

void cdr_team_add_state_key(cadre_team *team, const char *name,
                            const json_t *declaration, const cdr_at *at)
{
    cdr_state_key key = {.name = name, .at = *at};
    const char *word = json_string_value(json_object_get(declaration, "reducer"));
    if (!check_name(team, name, at))
        return;
    if (word)
        (void)read_reducer(word, &key.reducer); // the schema knows the words
    add_key(team, &key, json_object_get(declaration, "default"));
}

// The default that a C program gives as text. New reference; NULL: none, or told.
static json_t *parse_default(cadre_team *team, const char *text, const cdr_at *at,
                             bool *is_flawed)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = text ? cdr_json_parse(text, strlen(text), &err) : NULL;
    *is_flawed = text && !value;
    if (*is_flawed)
        cdr_team_problem(team, at, "default_value: %s", err.text);
    return value;
}

void cdr_team_add_state_settings(cadre_team *team, const cadre_state_key *settings)
{
    char brief[CDR_BRIEF_SIZE];
    bool is_flawed = false;
    cdr_at at = {.path = "state"};
    at = cdr_at_part(team, &at, ".%s", cdr_brief_text(brief, settings->key, '\0'));
    bool is_custom = settings->reducer == CADRE_REDUCE_CUSTOM;
    if (!check_name(team, settings->key, &at))
        return;
    if (settings->reducer < CADRE_REDUCE_REPLACE ||
        settings->reducer > CADRE_REDUCE_CUSTOM) {
        cdr_team_problem(team, &at, "reducer is %d, which is no cadre_reducer",
                         (int)settings->reducer);
        return;
    }
    if (is_custom != (settings->reduce != NULL)) {
        cdr_team_problem(team, &at,
                         "CADRE_REDUCE_CUSTOM and .reduce go together; the reducer "
                         "is %s",
                         cadre_reducer_name(settings->reducer));
        return;
    }
    json_t *given = parse_default(team, settings->default_value, &at, &is_flawed);
    const cdr_state_key key = {.name = settings->key,
                               .reducer = settings->reducer,
                               .reduce = settings->reduce,
                               .ctx = settings->ctx,
                               .at = at};
    if (!is_flawed)
        add_key(team, &key, given);
    json_decref(given);
}

// --- What a type declares ---

// "append at desk.yaml:3:5", or "append by the team".
static const char *describe(const cdr_state_key *key, cdr_arena *arena)
{
    const char *word = cadre_reducer_name(key->reducer);
    const char *text =
        key->at.file ? cdr_arena_printf(arena, "%s at %s:%d:%d", word, key->at.file,
                                        key->at.line, key->at.column)
                     : cdr_arena_printf(arena, "%s elsewhere", word);
    return text ? text : word;
}

static cadre_status check_same(const cadre_agent_config *config,
                               const cdr_state_key *there, const cdr_state_key *here,
                               const json_t *given, cadre_error *err)
{
    cadre_team *team = config->team;
    bool no_memory = false;
    json_t *value = make_default(here->reducer, given, &no_memory);
    bool is_same =
        there->reducer == here->reducer &&
        (value == there->default_value || json_equal(value, there->default_value));
    json_decref(value);
    if (no_memory)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a key of the state");
    if (is_same)
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL,
                      "agent '%s': state key '%s' is declared twice: here %s, and %s%s",
                      config->info.name, here->name, cadre_reducer_name(here->reducer),
                      describe(there, &team->arena),
                      there->reducer == here->reducer ? ", with another default" : "");
}

cadre_status cdr_config_declare_state(const cadre_agent_config *config, const char *key,
                                      const json_t *declaration, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_team *team = config->team;
    const char *agent = config->info.name;
    const json_t *given = json_object_get(declaration, "default");
    const char *word = json_string_value(json_object_get(declaration, "reducer"));
    cdr_state_key own = {.name = key};
    if (!key || !cdr_is_name(key))
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': state key %s: " CDR_NAME_RULE,
                          agent, cdr_brief_text(brief, key ? key : "", '\''));
    if (word && !read_reducer(word, &own.reducer))
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': state key '%s': unknown "
                          "reducer %s (replace, append, merge, sum)",
                          agent, key, cdr_brief_text(brief, word, '\''));
    const char *wanted = wanted_default(own.reducer, given);
    if (wanted)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': state key '%s': a default of %s must be %s, got "
                          "%s",
                          agent, key, cadre_reducer_name(own.reducer), wanted,
                          cdr_brief_json(brief, given));
    const cdr_state_key *there = cdr_team_state_key(team, key);
    if (there)
        return check_same(config, there, &own, given, err);
    own.at = cdr_team_find_agent(team, agent)->at;
    add_key(team, &own, given);
    return CADRE_OK;
}

cadre_reducer cdr_config_reducer_of(const cadre_agent_config *config, const char *key)
{
    return key ? cdr_team_reducer(config->team, key) : CADRE_REDUCE_REPLACE;
}

// --- Answers that are kept ---

void cdr_agent_set_output_key(cadre_agent *agent, const char *key, const cdr_at *at)
{
    if (!key)
        return;
    if (!cdr_is_name(key)) {
        cdr_team_problem(agent->team, at, CDR_NAME_RULE);
        agent->is_flawed = true;
    }
    agent->output_key = cdr_team_text(agent->team, key);
}

const char *cadre_agent_output_key(const cadre_agent *agent)
{
    return agent && agent->output_key ? agent->output_key : "";
}

void cdr_config_run_together(const cadre_agent_config *config, cadre_agents members)
{
    cadre_team *team = config->team;
    cdr_run_together *together = cdr_arena_grow(&team->arena, team->together,
                                                team->n_together, sizeof(*together));
    if (!together) {
        team->problems.no_memory = true;
        return;
    }
    team->together = together;
    together[team->n_together++] = (cdr_run_together){
        .agent = cdr_team_find_agent(team, config->info.name), .members = members};
}

// Who of a member, or of what is below it, keeps its answer under which key; each agent
// once. Teams contain no circles by now.
typedef struct writers {
    cadre_team *team;
    bool *is_met; // by index of the agent
    json_t *by_key;
} writers;

static void note_writers(writers *w, const cadre_agent *agent)
{
    if (w->is_met[agent->index])
        return;
    w->is_met[agent->index] = true;
    if (agent->output_key && json_object_set_new(w->by_key, agent->output_key,
                                                 json_string(agent->info.name)) != 0)
        w->team->problems.no_memory = true;
    for (size_t i = 0; i < agent->members.count; i++)
        note_writers(w, agent->members.items[i]);
}

// New reference: key -> name of who writes it; NULL: no memory.
static json_t *writers_below(cadre_team *team, const cadre_agent *member)
{
    writers w = {.team = team};
    w.is_met = cdr_team_alloc(team, team->n_agents + 1);
    w.by_key = json_object();
    if (w.is_met && w.by_key)
        note_writers(&w, member);
    else
        team->problems.no_memory = true;
    return w.by_key;
}

static void report_together(cadre_agent *over, const char *one, const char *other,
                            const char *key)
{
    if (strcmp(one, other) == 0)
        cdr_agent_problem(over,
                          "'%s' may run several times at once and has output_key "
                          "'%s'; give the key a reducer (state: {%s: {reducer: "
                          "append}})",
                          one, key, key);
    else
        cdr_agent_problem(over,
                          "'%s' and '%s' may run at the same time and both have "
                          "output_key '%s'; give the key a reducer (state: {%s: "
                          "{reducer: append}}), or each of them another key",
                          one, other, key, key);
}

static void check_together(cadre_team *team, const cdr_run_together *together)
{
    json_t *all = json_object();
    for (size_t i = 0; i < together->members.count; i++) {
        const char *key;
        json_t *name;
        json_t *own = writers_below(team, together->members.items[i]);
        json_object_foreach(own, key, name)
        {
            const char *other = json_string_value(json_object_get(all, key));
            if (cdr_team_reducer(team, key) != CADRE_REDUCE_REPLACE)
                continue;
            if (other && !together->agent->is_flawed)
                report_together(together->agent, other, json_string_value(name), key);
            if (json_object_set(all, key, name) != 0)
                team->problems.no_memory = true;
        }
        json_decref(own);
    }
    json_decref(all);
}

// --- Sealing ---

void cdr_seal_state(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    team->state_defaults = json_object();
    team->problems.no_memory |= !team->state_defaults;
    for (size_t i = 0; i < team->n_state_keys; i++) {
        const cdr_state_key *key = &team->state_keys[i];
        if (key->default_value &&
            json_object_set(team->state_defaults, key->name, key->default_value) != 0)
            team->problems.no_memory = true;
    }
    for (size_t i = 0; i < team->n_together; i++)
        check_together(team, &team->together[i]);
}

void cdr_state_keys_fini(cadre_team *team)
{
    for (size_t i = 0; i < team->n_state_keys; i++)
        json_decref(team->state_keys[i].default_value);
    json_decref(team->state_defaults);
}
