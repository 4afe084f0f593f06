// coordinator: the entry leads; the other members are its tools, named and described
// after them. It may call several at once and each again.
#include "cadre/ext/agent.h"
#include "cadre/ext/shape.h"
#include "cadre/ext/tool.h"

#include <stdlib.h>
#include <string.h>

typedef struct coordinator {
    const cadre_agent *entry;
    const cadre_tool **tools;
    size_t n_tools;
} coordinator;

static cadre_status check_entry(const coordinator *self,
                                const cadre_agent_config *config, cadre_error *err)
{
    const cadre_agent_info *entry = cadre_agent_get_info(self->entry);
    if (strcmp(entry->type, "llm") == 0)
        return CADRE_OK;
    return cadre_fail(
        err, CADRE_EINVAL,
        "agent '%s': a coordinator's entry calls the others by its model: "
        "'%s' is a %s; it must be an llm agent",
        config->info.name, entry->name, entry->type);
}

// The entry's own tools and the members share the names its model knows.
static cadre_status check_name(const coordinator *self,
                               const cadre_agent_config *config, const char *name,
                               cadre_error *err)
{
    cadre_tools own = cadre_agent_tools(self->entry);
    for (size_t i = 0; i < own.count; i++)
        if (strcmp(cadre_tool_get_info(own.items[i])->name, name) == 0)
            return cadre_fail(err, CADRE_EINVAL,
                              "agent '%s': '%s' is a member and a tool of its entry "
                              "'%s'; rename one of them",
                              config->info.name, name,
                              cadre_agent_get_info(self->entry)->name);
    for (size_t i = 0; i < self->n_tools; i++)
        if (strcmp(cadre_tool_get_info(self->tools[i])->name, name) == 0)
            return cadre_fail(err, CADRE_EINVAL, "agent '%s': member '%s' stands twice",
                              config->info.name, name);
    return CADRE_OK;
}

static cadre_history history_of(const json_t *options)
{
    const char *history = json_string_value(json_object_get(options, "history"));
    return history != NULL && strcmp(history, "all") == 0 ? CADRE_HISTORY_ALL
                                                          : CADRE_HISTORY_NONE;
}

static cadre_status coordinator_init(void *state, const cadre_agent_config *config,
                                     cadre_error *err)
{
    coordinator *self = state;
    cadre_agents members = config->members;
    self->entry = config->entry == NULL ? members.items[0] : config->entry;
    cadre_status status = check_entry(self, config, err);
    if (status != CADRE_OK)
        return status;
    self->tools = calloc(members.count, sizeof *self->tools);
    if (self->tools == NULL)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a coordinator");
    for (size_t i = 0; i < members.count; i++) {
        if (members.items[i] == self->entry)
            continue;
        status =
            check_name(self, config, cadre_agent_get_info(members.items[i])->name, err);
        if (status != CADRE_OK)
            return status;
        const cadre_tool *tool = config->member_tool(config, members.items[i],
                                                     history_of(config->options), err);
        if (tool == NULL)
            return CADRE_EINVAL;
        self->tools[self->n_tools++] = tool;
    }
    return CADRE_OK;
}

static void coordinator_fini(void *state)
{
    coordinator *self = state;
    free(self->tools);
}

static cadre_status coordinator_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const coordinator *self = state;
    return cadre_frame_delegate(frame,
                                CADRE_CALL(.agent = self->entry,
                                           .tools = {self->tools, self->n_tools},
                                           .flags = CADRE_CALL_FINAL),
                                NULL, err);
}

// The entry runs once; the others as often as its model calls them.
static void coordinator_shape(const void *state, cadre_shape *shape)
{
    const coordinator *self = state;
    const char *entry = cadre_agent_get_info(self->entry)->name;
    cadre_shape_set_entry(shape, entry);
    cadre_shape_set_end(shape, entry);
    cadre_shape_set_runs(shape, entry, 1);
    for (size_t i = 0; i < self->n_tools; i++)
        cadre_shape_add_edge(shape, entry, cadre_tool_get_info(self->tools[i])->name,
                             CADRE_SHAPE_MAYBE, "calls");
}

extern const cadre_agent_ops cadre_topology_coordinator;

const cadre_agent_ops cadre_topology_coordinator = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "coordinator",
    .summary = "the entry leads; its model calls the other members as tools",
    .options_schema = "{\"history\": {\"type\": \"string\", \"default\": \"none\","
                      "   \"enum\": [\"none\", \"all\"]}}",
    .state_size = sizeof(coordinator),
    .init = coordinator_init,
    .run = coordinator_run,
    .shape = coordinator_shape,
    .fini = coordinator_fini,
};
