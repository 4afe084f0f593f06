// handoff: the entry speaks first; members hand the conversation over along the edges
// they declare. Where none declares any, the entry may hand over to all others.
#include "cadre/ext/agent.h"

typedef struct handoff {
    const cadre_agent *entry;
    cadre_agents members;
    const cadre_tool *tool;
    cadre_transfer_limits limits;
    bool is_open; // no member declares an edge
    bool is_sticky;
    bool returns;
} handoff;

static int integer(const json_t *options, const char *name)
{
    return (int)json_integer_value(json_object_get(options, name));
}

static bool is_member(const handoff *self, const cadre_agent *agent)
{
    for (size_t i = 0; i < self->members.count; i++)
        if (self->members.items[i] == agent)
            return true;
    return false;
}

static bool has_edges(cadre_agents members)
{
    for (size_t i = 0; i < members.count; i++)
        if (cadre_agent_handoffs(members.items[i]).count > 0)
            return true;
    return false;
}

static cadre_status handoff_init(void *state, const cadre_agent_config *config,
                                 cadre_error *err)
{
    handoff *self = state;
    const json_t *options = config->options;
    if (config->members.count == 0)
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': a handoff needs members",
                          config->info.name);
    self->members = config->members;
    self->entry = config->entry == NULL ? config->members.items[0] : config->entry;
    if (!is_member(self, self->entry))
        return cadre_fail(err, CADRE_EINVAL, "agent '%s': entry '%s' is not a member",
                          config->info.name, cadre_agent_get_info(self->entry)->name);
    self->tool = config->builtin_tool(config, "transfer");
    self->limits =
        (cadre_transfer_limits){.max_handoffs = integer(options, "max_handoffs"),
                                .window = integer(options, "window"),
                                .min_unique = integer(options, "min_unique"),
                                .repeat = integer(options, "repeat"),
                                .node_timeout_ms = json_integer_value(
                                    json_object_get(options, "node_timeout"))};
    self->is_sticky = json_is_true(json_object_get(options, "sticky"));
    self->returns = json_is_true(json_object_get(options, "return_to_source"));
    self->is_open = !has_edges(self->members);
    return CADRE_OK;
}

static cadre_edge handoff_edge(const void *ctx, const cadre_agent *from,
                               const cadre_agent *to)
{
    const handoff *self = ctx;
    cadre_handoffs edges = cadre_agent_handoffs(from);
    if (self->is_open)
        return (cadre_edge){from == self->entry, CADRE_HISTORY_DEFAULT};
    for (size_t i = 0; i < edges.count; i++)
        if (edges.items[i].to == to)
            return (cadre_edge){true, edges.items[i].history};
    return (cadre_edge){false, CADRE_HISTORY_DEFAULT};
}

static cadre_status handoff_run(void *state, cadre_frame *frame, cadre_error *err)
{
    const handoff *self = state;
    const cadre_agent *first = NULL;
    cadre_scope scope =
        CADRE_SCOPE(.roster = self->members, .edge = handoff_edge, .edge_ctx = self,
                    .limits = self->limits, .tool = self->tool,
                    .return_to_source = self->returns);
    if (self->is_sticky)
        first = cadre_frame_last_speaker(frame, self->members);
    return cadre_frame_delegate(
        frame,
        CADRE_CALL(.agent = first == NULL ? self->entry : first, .scope = &scope), NULL,
        err);
}

extern const cadre_agent_ops cadre_topology_handoff;

// A limit, but for its default and its last brace.
#define LIMIT                                                                          \
    "{\"type\": [\"integer\", \"string\"], \"format\": \"limit\","                     \
    " \"minimum\": 1, \"maximum\": 1000000"

static const char schema[] =
    "{\"sticky\": {\"type\": \"boolean\", \"default\": true},"
    " \"max_handoffs\": " LIMIT ", \"default\": 20},"
    " \"window\": " LIMIT ", \"default\": 8},"
    " \"min_unique\": " LIMIT "},"
    " \"repeat\": " LIMIT ", \"default\": 3},"
    " \"node_timeout\": {\"type\": \"string\", \"format\": \"duration\","
    "   \"minimum\": 1},"
    " \"return_to_source\": {\"type\": \"boolean\", \"default\": false}}";

const cadre_agent_ops cadre_topology_handoff = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "handoff",
    .summary = "the entry answers or hands over along the members' handoffs",
    .block = "transfer",
    .options_schema = schema,
    .state_size = sizeof(handoff),
    .uses_handoffs = true,
    .init = handoff_init,
    .run = handoff_run,
};
