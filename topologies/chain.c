// chain: the members answer one after the other, in one conversation: the entry first,
// then the others in order. The last answer is the chain's.
#include "cadre/ext/agent.h"
#include "cadre/ext/shape.h"

#include <stdio.h>
#include <string.h>

typedef struct chain {
    cadre_agents members;
    size_t first; // the entry's place
    cadre_history history;
} chain;

static cadre_history history_of(const json_t *options)
{
    static const char *const words[] = {"", "all", "own", "last", "none"};
    const char *word = json_string_value(json_object_get(options, "history"));
    for (int i = 1; word != NULL && i < 5; i++)
        if (strcmp(word, words[i]) == 0)
            return (cadre_history)i;
    return CADRE_HISTORY_DEFAULT;
}

static cadre_status chain_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    chain *self = state;
    (void)err;
    self->members = config->members;
    self->history = history_of(config->options);
    while (config->entry != NULL && self->members.items[self->first] != config->entry)
        self->first++;
    return CADRE_OK;
}

// The nth to answer.
static const cadre_agent *member_at(const chain *self, size_t nth)
{
    if (nth == 0)
        return self->members.items[self->first];
    return self->members.items[nth <= self->first ? nth - 1 : nth];
}

static cadre_status chain_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const chain *self = state;
    for (size_t i = 0; i < self->members.count; i++) {
        char key[24];
        bool is_last = i + 1 == self->members.count;
        snprintf(key, sizeof key, "%zu", i + 1);
        cadre_status status = cadre_frame_delegate(
            frame,
            CADRE_CALL(.agent = member_at(self, i), .history = self->history,
                       .key = key,
                       .flags = CADRE_CALL_ONCE | (is_last ? CADRE_CALL_FINAL : 0u)),
            NULL, err);
        if (status != CADRE_OK)
            return status;
    }
    return CADRE_OK;
}

static const char *name_at(const chain *self, size_t nth)
{
    return cadre_agent_get_info(member_at(self, nth))->name;
}

static void chain_shape(const void *state, cadre_shape *shape)
{
    const chain *self = state;
    size_t n = self->members.count;
    cadre_shape_set_entry(shape, name_at(self, 0));
    cadre_shape_set_end(shape, name_at(self, n - 1));
    for (size_t i = 0; i + 1 < n; i++)
        cadre_shape_add_edge(shape, name_at(self, i), name_at(self, i + 1),
                             CADRE_SHAPE_ALWAYS, NULL);
    cadre_shape_set_all_runs(shape, (int64_t)n);
}

extern const cadre_agent_ops cadre_topology_chain;

const cadre_agent_ops cadre_topology_chain = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "chain",
    .summary = "the members answer one after the other, in one conversation",
    .options_schema = "{\"history\": {\"type\": \"string\","
                      "   \"enum\": [\"all\", \"own\", \"last\", \"none\"]}}",
    .state_size = sizeof(chain),
    .init = chain_init,
    .run = chain_run,
    .shape = chain_shape,
};
