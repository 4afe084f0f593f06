// cycle: the members answer in turn, round after round, until one of them
// escalates, `until` holds after a round, or the rounds are used up. The last
// answer is the cycle's.
//
// Of nested cycles an escalation ends the nearest one. Where nobody in the cycle has
// the tool `escalate`, and there is no `until`, its last member is lent it.
#include "cadre/ext/agent.h"
#include "cadre/ext/rule.h"
#include "cadre/ext/shape.h"
#include "cadre/ext/tool.h"
#include "cadre/ext/turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cycle {
    cadre_agents members;
    size_t first; // the entry's place
    int max_iterations;
    const cadre_tool *escalate; // lent to the last member; or NULL
    cadre_rule until;           // or not set
} cycle;

// Agents that were met on the way down; each once, however many ways lead there.
typedef struct search {
    const cadre_agent **met;
    size_t n_met, capacity;
} search;

static bool meet(search *s, cadre_agents agents)
{
    for (size_t i = 0; i < agents.count; i++) {
        size_t at = 0;
        while (at < s->n_met && s->met[at] != agents.items[i])
            at++;
        if (at < s->n_met)
            continue;
        if (s->n_met == s->capacity) {
            size_t capacity = s->capacity == 0 ? 16 : 2 * s->capacity;
            void *grown = realloc(s->met, capacity * sizeof(*s->met));
            if (grown == NULL)
                return false;
            s->met = grown;
            s->capacity = capacity;
        }
        s->met[s->n_met++] = agents.items[i];
    }
    return true;
}

static bool is_of_type(const cadre_agent *agent, const char *type)
{
    return strcmp(cadre_agent_get_info(agent)->type, type) == 0;
}

// Has it the tool? What a function does is not known; its code may escalate.
static bool can_escalate(const cadre_agent *agent)
{
    cadre_tools tools = cadre_agent_tools(agent);
    if (is_of_type(agent, "function"))
        return true;
    for (size_t i = 0; i < tools.count; i++)
        if (strcmp(cadre_tool_get_type(tools.items[i]), "escalate") == 0)
            return true;
    return false;
}

// Can one of the members, or of those they delegate to? Other cycles keep theirs.
// False: no memory.
static bool find_end(cadre_agents members, bool *is_ended)
{
    search s = {NULL, 0, 0};
    bool has_memory = meet(&s, members);
    for (size_t i = 0; i < s.n_met && has_memory && !*is_ended; i++) {
        if (is_of_type(s.met[i], "cycle"))
            continue;
        *is_ended = can_escalate(s.met[i]);
        has_memory = meet(&s, cadre_agent_members(s.met[i]));
    }
    free(s.met);
    return has_memory;
}

// The nth of an iteration.
static const cadre_agent *member_at(const cycle *self, size_t nth)
{
    if (nth == 0)
        return self->members.items[self->first];
    return self->members.items[nth <= self->first ? nth - 1 : nth];
}

// The tool is of no use to one that asks no model.
static void note_no_end(const cycle *self, const cadre_agent_config *config)
{
    const cadre_agent *last = member_at(self, self->members.count - 1);
    if (cadre_agent_members(last).count > 0 && !is_of_type(last, "llm"))
        config->note(config, "",
                     "only max_iterations ends it: no member has a tool of type "
                     "escalate, and the last one, which would be lent it, asks no "
                     "model; add one, or write until");
}

static cadre_status cycle_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    cycle *self = state;
    const json_t *until = json_object_get(config->options, "until");
    bool is_ended = until != NULL;
    self->members = config->members;
    self->max_iterations =
        (int)json_integer_value(json_object_get(config->options, "max_iterations"));
    while (config->entry != NULL && self->members.items[self->first] != config->entry)
        self->first++;
    if (until != NULL && !cadre_rule_read(&self->until, config, "until", until))
        return CADRE_EINVAL;
    if (!is_ended && !find_end(self->members, &is_ended))
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a cycle");
    if (is_ended)
        return CADRE_OK;
    note_no_end(self, config);
    self->escalate = config->builtin_tool(config, "escalate");
    return self->escalate != NULL
               ? CADRE_OK
               : cadre_fail(err, CADRE_ENOMEM, "no memory for a cycle");
}

// What `until` looks at.
typedef struct round {
    int iteration;
    json_t *outputs; // by agent; NULL: there is no `until`
    const char *last;
} round;

static void keep_answer(round *r, const cadre_agent *member, const cadre_outcome *out)
{
    const char *name = cadre_agent_get_info(member)->name;
    json_object_set_new(r->outputs, name, json_string(out->text));
    r->last = json_string_value(json_object_get(r->outputs, name));
}

static cadre_status run_iteration(const cycle *self, cadre_frame *frame, round *r,
                                  cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; i < self->members.count && status == CADRE_OK; i++) {
        bool is_last = i + 1 == self->members.count;
        cadre_outcome out;
        char key[48];
        snprintf(key, sizeof key, "%d.%zu", r->iteration, i + 1);
        status = cadre_frame_delegate(
            frame,
            CADRE_CALL(.agent = member_at(self, i), .key = key,
                       .tools = {&self->escalate, is_last && self->escalate ? 1 : 0},
                       .flags = CADRE_CALL_ONCE),
            r->outputs == NULL ? NULL : &out, err);
        if (status == CADRE_OK && r->outputs != NULL)
            keep_answer(r, member_at(self, i), &out);
    }
    return status;
}

// Has the goal been reached?
static cadre_status test_until(const cycle *self, cadre_frame *frame, const round *r,
                               bool *is_reached, cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    const cadre_predicate_values values = {.struct_size = sizeof values,
                                           .input = cadre_frame_input(frame),
                                           .last_response = r->last,
                                           .output = r->last,
                                           .state = cadre_frame_state(frame),
                                           .outputs = r->outputs,
                                           .iteration = r->iteration};
    *is_reached = false;
    if (!cadre_rule_is_set(&self->until) ||
        cadre_rule_test(&self->until, &values, is_reached, &cause) == CADRE_OK)
        return CADRE_OK;
    return cadre_fail_class(
        err, CADRE_EFAILED, cause.error_class, false, "agent '%s': until: %s",
        cadre_agent_get_info(cadre_frame_agent(frame))->name, cause.text);
}

static cadre_status run_rounds(const cycle *self, cadre_frame *frame, round *r,
                               cadre_error *err)
{
    int max = self->max_iterations;
    for (r->iteration = 1; max == CADRE_UNLIMITED || r->iteration <= max;
         r->iteration++) {
        bool is_reached = false;
        cadre_status status = run_iteration(self, frame, r, err);
        if (status == CADRE_OK)
            status = test_until(self, frame, r, &is_reached, err);
        if (status == CADRE_ESCALATED || is_reached)
            return CADRE_OK;
        if (status != CADRE_OK)
            return status;
    }
    return cadre_frame_stop(
        frame, CADRE_STOP_MAX_ITERATIONS, err,
        "agent '%s': nobody ended the cycle in %d iterations (max_iterations)",
        cadre_agent_get_info(cadre_frame_agent(frame))->name, max);
}

static cadre_status cycle_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const cycle *self = state;
    round r = {.last = ""};
    if (cadre_rule_is_set(&self->until)) {
        r.outputs = json_object();
        if (r.outputs == NULL)
            return cadre_fail(err, CADRE_ENOMEM, "no memory for a cycle");
    }
    cadre_status status = run_rounds(self, frame, &r, err);
    json_decref(r.outputs);
    return status;
}

static void cycle_fini(void *state)
{
    cycle *self = state;
    cadre_rule_fini(&self->until);
}

static const char *name_at(const cycle *self, size_t nth)
{
    return cadre_agent_get_info(member_at(self, nth))->name;
}

// How often in a round.
static int64_t turns_of(const cycle *self, const cadre_agent *member)
{
    int64_t n = 0;
    for (size_t i = 0; i < self->members.count; i++)
        n += self->members.items[i] == member;
    return n;
}

static void cycle_shape(const void *state, cadre_shape *shape)
{
    const cycle *self = state;
    size_t n = self->members.count;
    cadre_shape_set_entry(shape, name_at(self, 0));
    for (size_t i = 0; i < n; i++) {
        cadre_shape_set_end(shape, name_at(self, i));
        if (self->max_iterations != CADRE_UNLIMITED)
            cadre_shape_set_runs(shape, name_at(self, i),
                                 turns_of(self, member_at(self, i)) *
                                     self->max_iterations);
        if (i + 1 < n)
            cadre_shape_add_edge(shape, name_at(self, i), name_at(self, i + 1),
                                 CADRE_SHAPE_ALWAYS, NULL);
    }
    cadre_shape_add_edge(shape, name_at(self, n - 1), name_at(self, 0),
                         CADRE_SHAPE_BACK, "next round");
    if (self->max_iterations != CADRE_UNLIMITED)
        cadre_shape_set_all_runs(shape, (int64_t)n * self->max_iterations);
}

extern const cadre_agent_ops cadre_topology_cycle;

const cadre_agent_ops cadre_topology_cycle = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "cycle",
    .summary = "the members answer in turn until one escalates or a test holds",
    .options_schema = "{\"max_iterations\": {\"type\": [\"integer\", \"string\"],"
                      "   \"format\": \"limit\", \"minimum\": 1, \"maximum\": 1000000,"
                      "   \"default\": 10},"
                      " \"until\": {\"type\": [\"string\", \"object\"]}}",
    .state_size = sizeof(cycle),
    .init = cycle_init,
    .run = cycle_run,
    .shape = cycle_shape,
    .fini = cycle_fini,
};
