// See random_work.h.
#include "support/random_work.h"

#include "support/check.h"
#include "support/random_hooks.h"
#include "support/random_model.h"
#include "support/random_program.h"

#include "cadre/ext/tool.h"
#include "cadre/state.h"
#include "team/team.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct effect {
    char key[64]; // trace/frame
    int n;
} effect;

static struct {
    pthread_mutex_t mu;
    effect *effects;
    size_t n_effects, capacity;
    atomic_uint_fast64_t progress;
} work = {.mu = PTHREAD_MUTEX_INITIALIZER};

void random_work_note(void)
{
    atomic_fetch_add(&work.progress, 1);
}

uint64_t random_work_progress(void)
{
    return atomic_load(&work.progress);
}

static effect *find_locked(const char *key)
{
    for (size_t i = 0; i < work.n_effects; i++)
        if (strcmp(work.effects[i].key, key) == 0)
            return &work.effects[i];
    return NULL;
}

static void count_effect(cadre_frame *frame)
{
    const char *key = cadre_frame_idempotency_key(frame);
    random_work_note();
    pthread_mutex_lock(&work.mu);
    effect *known = find_locked(key);
    if (known == NULL && work.n_effects == work.capacity) {
        work.capacity = work.capacity == 0 ? 64 : work.capacity * 2;
        work.effects = realloc(work.effects, work.capacity * sizeof *work.effects);
        if (work.effects == NULL)
            abort();
    }
    if (known == NULL) {
        known = &work.effects[work.n_effects++];
        *known = (effect){.n = 0};
        snprintf(known->key, sizeof known->key, "%s", key);
    }
    known->n++;
    pthread_mutex_unlock(&work.mu);
}

int random_work_count(const char *trace, const char *frame)
{
    char key[sizeof((effect *)0)->key];
    snprintf(key, sizeof key, "%s/%s", trace, frame);
    pthread_mutex_lock(&work.mu);
    const effect *known = find_locked(key);
    int n = known == NULL ? 0 : known->n;
    pthread_mutex_unlock(&work.mu);
    return n;
}

// --- Tools ---

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    dice d = random_model_dice(frame, "look");
    long long n = json_integer_value(json_object_get(arguments, "n"));
    count_effect(frame);
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%lld of %d", n, dice_throw(&d, 3)), err);
}

// Heeds its mark.
static cadre_status slow(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    dice d = random_model_dice(frame, "slow");
    count_effect(frame);
    cadre_status status = cadre_frame_sleep(frame, 1 + dice_throw(&d, 6), err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "slowly", err) : status;
}

// Is late now and then, and does not always heed its mark.
static cadre_status late(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    dice d = random_model_dice(frame, "late");
    int ms = 1 + dice_throw(&d, 12);
    cadre_status status = CADRE_OK;
    count_effect(frame);
    if (dice_percent(&d, 30))
        (void)poll(NULL, 0, ms); // it is at work
    else
        status = cadre_frame_sleep(frame, ms, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "at last", err) : status;
}

static cadre_status broken(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    count_effect(frame);
    return cadre_fail(err, CADRE_EFAILED, "it is broken");
}

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    static const char *const keys[] = {"log", "total", "k_note"};
    dice d = random_model_dice(frame, "note");
    json_t *value = json_integer(dice_throw(&d, 10));
    count_effect(frame);
    cadre_status status =
        cadre_frame_set_state(frame, keys[dice_throw(&d, 3)], value, err);
    json_decref(value);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "noted", err) : status;
}

static void add_tools(cadre_team *team)
{
    static const char parameters[] =
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}";
    static const struct {
        const char *name;
        cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err);
        const char *type;
        int64_t timeout_ms;
        bool is_safe, is_asked;
    } tools[] = {{"look", look, NULL, 0, true, false},
                 {"charge", look, NULL, 0, false, false},
                 {"slow", slow, NULL, 0, true, false},
                 {"late", late, NULL, 8, false, false},
                 {"broken", broken, NULL, 0, true, false},
                 {"note", note, NULL, 0, true, false},
                 {"pay", look, NULL, 0, false, true},
                 {"ask", NULL, "ask", 0, true, false},
                 {"helper", NULL, "subagent", 0, true, false},
                 {"stop", NULL, "escalate", 0, true, false}};
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        cadre_team_add_tool(
            team, CADRE_TOOL(.name = tools[i].name, .description = "A tool",
                             .run = tools[i].run, .type = tools[i].type,
                             .parameters = tools[i].type == NULL ? parameters : NULL,
                             .timeout_ms = tools[i].timeout_ms,
                             .replay_safe = tools[i].is_safe,
                             .needs_approval = tools[i].is_asked));
}

// --- Building ---

typedef struct name_list {
    const char *items[RANDOM_MAX_MEMBERS];
} name_list;

static cadre_names names_of(const random_team *plan, const int *items, int n,
                            name_list *list)
{
    for (int i = 0; i < n; i++)
        list->items[i] = plan->agents[items[i]].name;
    return (cadre_names){list->items, (size_t)n};
}

static void add_leaf(cadre_team *team, const random_team *plan,
                     const random_agent *agent)
{
    name_list members, handoffs;
    cadre_names over = names_of(plan, agent->members, agent->n_members, &members);
    cadre_names to = names_of(plan, agent->handoffs, agent->n_handoffs, &handoffs);
    cadre_retry retry = {agent->attempts, 1};
    if (strcmp(agent->type, "function") == 0) {
        cadre_team_add_function(
            team, CADRE_FUNCTION(.name = agent->name, .run = random_program_run,
                                 .members = over, .handoffs = to, .retry = retry,
                                 .output_key = agent->output_key));
        return;
    }
    cadre_team_add_llm(
        team,
        CADRE_LLM(.name = agent->name, .model = "m", .description = "An agent",
                  .instructions = "Total {{state.total}}.", .handoffs = to,
                  .tools = {agent->tools, (size_t)agent->n_tools},
                  .max_turns = agent->max_turns, .timeout_ms = agent->timeout_ms,
                  .quiet = agent->is_quiet, .output_key = agent->output_key,
                  .loop_fallback =
                      agent->fallback < 0 ? NULL : plan->agents[agent->fallback].name,
                  .retry = retry));
}

static void add_agent(cadre_team *team, const random_team *plan,
                      const random_agent *agent)
{
    name_list members;
    if (agent->options == NULL) {
        add_leaf(team, plan, agent);
        return;
    }
    cadre_team_add_topology(
        team, agent->type,
        CADRE_TOPOLOGY(.name = agent->name, .description = "A team",
                       .options = agent->options,
                       .members =
                           names_of(plan, agent->members, agent->n_members, &members),
                       .timeout_ms = agent->timeout_ms, .quiet = agent->is_quiet,
                       .output_key = agent->output_key, .retry = {agent->attempts, 1}));
}

static void add_state(cadre_team *team)
{
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "log", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "total", .reducer = CADRE_REDUCE_SUM));
    cadre_team_add_state(
        team, CADRE_STATE_KEY(.key = "facts", .reducer = CADRE_REDUCE_MERGE));
    cadre_team_add_state(team,
                         CADRE_STATE_KEY(.key = "items", .reducer = CADRE_REDUCE_APPEND,
                                         .default_value = "[\"x\", \"y\"]"));
}

cadre_team *random_work_build(const random_team *plan, cadre_runtime *runtime)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    cadre_team *team = cadre_team_new(runtime, "random");
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "random/m"));
    team->models[0]->times.backoff_ms = 1;
    add_tools(team);
    add_state(team);
    for (int i = 0; i < plan->n_agents; i++)
        add_agent(team, plan, &plan->agents[i]);
    cadre_team_set_root(team, plan->agents[0].name);
    if (plan->has_hooks)
        cadre_team_set_hooks(team, random_hooks());
    if (cadre_team_seal(team, &err) == CADRE_OK)
        return team;
    const char *const *problems = cadre_team_problems(team, &n);
    for (size_t i = 0; i < n; i++)
        printf("\n    %s", problems[i]);
    CHECK_OK(err.status, &err);
    cadre_team_free(team);
    return NULL;
}

void random_work_open(const random_team *plan, cadre_runtime *runtime)
{
    random_work_close();
    random_model_open(plan, runtime);
}

void random_work_turn(uint64_t nth)
{
    random_model_turn(nth);
}

void random_work_close(void)
{
    free(work.effects);
    work.effects = NULL;
    work.n_effects = work.capacity = 0;
}
