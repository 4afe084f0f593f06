// Shapes: taken down as an agent type tells them, then checked and counted.
#include "cadre/ext/shape.h"

#include "base/arena.h"
#include "base/brief.h"
#include "team/team.h"

#include <stdlib.h>

// An edge as it was told; its nodes may come later.
typedef struct told_edge {
    const char *from, *to, *label;
    cadre_shape_edge_kind kind;
} told_edge;

// What was told of a node that may come later.
typedef struct told_node {
    const char *name;
    enum {
        TOLD_ENTRY,
        TOLD_END,
        TOLD_RUNS
    } what;
    int64_t most;
} told_node;

struct cadre_shape {
    cadre_shape_info info;
    cdr_arena arena;
    json_t *index; // name -> position of the node
    cadre_shape_node *nodes;
    cadre_shape_edge *edges;
    told_edge *told_edges;
    size_t n_told_edges;
    told_node *told_nodes;
    size_t n_told_nodes;
    const char *unknown, *twice; // the first such name; NULL: none
    bool no_memory;
};

// --- Told by the type ---

static const char *keep(cadre_shape *shape, const char *text)
{
    const char *copy = text && *text ? cdr_arena_text(&shape->arena, text) : "";
    shape->no_memory |= !copy;
    return copy ? copy : "";
}

// Room for one more; NULL: no memory, which is kept.
static void *grow(cadre_shape *shape, void *items, size_t count, size_t item_size)
{
    void *grown = cdr_arena_grow(&shape->arena, items, count, item_size);
    shape->no_memory |= !grown;
    return grown;
}

void cadre_shape_add_node(cadre_shape *shape, const char *name,
                          const cadre_agent *agent, const char *what)
{
    size_t n = shape->info.n_nodes;
    const char *own_name = keep(shape, name);
    cadre_shape_node *nodes = grow(shape, shape->nodes, n, sizeof(*nodes));
    if (!nodes)
        return;
    shape->nodes = nodes;
    if (json_object_get(shape->index, own_name)) {
        shape->twice = shape->twice ? shape->twice : own_name;
        return;
    }
    nodes[n] = (cadre_shape_node){.name = own_name,
                                  .agent = agent,
                                  .what = agent ? "" : keep(shape, what),
                                  .max_runs = CADRE_UNLIMITED};
    shape->no_memory |=
        json_object_set_new(shape->index, own_name, json_integer((json_int_t)n)) != 0;
    shape->info.n_nodes++;
}

static void tell_node(cadre_shape *shape, const told_node *told)
{
    told_node *nodes =
        grow(shape, shape->told_nodes, shape->n_told_nodes, sizeof(*nodes));
    if (!nodes)
        return;
    shape->told_nodes = nodes;
    nodes[shape->n_told_nodes] = *told;
    nodes[shape->n_told_nodes++].name = keep(shape, told->name);
}

void cadre_shape_set_entry(cadre_shape *shape, const char *name)
{
    tell_node(shape, &(told_node){name, TOLD_ENTRY, 0});
}

void cadre_shape_set_end(cadre_shape *shape, const char *name)
{
    tell_node(shape, &(told_node){name, TOLD_END, 0});
}

void cadre_shape_set_runs(cadre_shape *shape, const char *name, int64_t most)
{
    tell_node(shape, &(told_node){name, TOLD_RUNS, most});
}

void cadre_shape_add_edge(cadre_shape *shape, const char *from, const char *to,
                          cadre_shape_edge_kind kind, const char *label)
{
    told_edge *edges =
        grow(shape, shape->told_edges, shape->n_told_edges, sizeof(*edges));
    if (!edges)
        return;
    shape->told_edges = edges;
    edges[shape->n_told_edges++] =
        (told_edge){keep(shape, from), keep(shape, to), keep(shape, label), kind};
}

static int64_t bound_of(int64_t most)
{
    return most > 0 ? most : CADRE_UNLIMITED;
}

void cadre_shape_set_all_runs(cadre_shape *shape, int64_t most)
{
    shape->info.max_runs = bound_of(most);
}

void cadre_shape_set_model_calls(cadre_shape *shape, int64_t most)
{
    shape->info.max_model_calls = bound_of(most);
}

// --- Put together ---

// The position of a node; false: there is none, which is kept.
static bool find(cadre_shape *shape, const char *name, size_t *at)
{
    const json_t *position = json_object_get(shape->index, name);
    if (!position) {
        shape->unknown = shape->unknown ? shape->unknown : name;
        return false;
    }
    *at = (size_t)json_integer_value(position);
    return true;
}

static void settle_nodes(cadre_shape *shape)
{
    for (size_t i = 0; i < shape->n_told_nodes; i++) {
        const told_node *told = &shape->told_nodes[i];
        size_t at = 0;
        if (!find(shape, told->name, &at))
            continue;
        shape->nodes[at].is_entry |= told->what == TOLD_ENTRY;
        shape->nodes[at].is_end |= told->what == TOLD_END;
        if (told->what == TOLD_RUNS)
            shape->nodes[at].max_runs = bound_of(told->most);
    }
}

static void settle_edges(cadre_shape *shape)
{
    size_t n = shape->n_told_edges;
    shape->edges = cdr_arena_alloc(&shape->arena, n * sizeof(*shape->edges) + 1);
    shape->no_memory |= !shape->edges;
    for (size_t i = 0; shape->edges && i < n; i++) {
        const told_edge *told = &shape->told_edges[i];
        cadre_shape_edge edge = {.label = told->label, .kind = told->kind};
        if (find(shape, told->from, &edge.from) && find(shape, told->to, &edge.to))
            shape->edges[shape->info.n_edges++] = edge;
    }
}

// What leaves each node, as lists; a list ends with the number of edges.
typedef struct leaving {
    size_t *first; // by node
    size_t *next;  // by edge
    size_t *stack; // of nodes
} leaving;

static bool leaving_init(leaving *out, cadre_shape *shape)
{
    size_t n = shape->info.n_nodes;
    size_t n_edges = shape->info.n_edges;
    out->first = cdr_arena_alloc(&shape->arena, n * sizeof(size_t) + 1);
    out->stack = cdr_arena_alloc(&shape->arena, n * sizeof(size_t) + 1);
    out->next = cdr_arena_alloc(&shape->arena, n_edges * sizeof(size_t) + 1);
    if (!out->first || !out->stack || !out->next) {
        shape->no_memory = true;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        out->first[i] = n_edges;
    for (size_t i = 0; i < n_edges; i++) {
        size_t from = shape->edges[i].from;
        out->next[i] = out->first[from];
        out->first[from] = i;
    }
    return true;
}

// Marks what is reached from the entries; each node once.
static void mark_reached(cadre_shape *shape)
{
    leaving out;
    size_t n_stack = 0;
    if (!leaving_init(&out, shape))
        return;
    for (size_t i = 0; i < shape->info.n_nodes; i++) {
        shape->nodes[i].is_reached = shape->nodes[i].is_entry;
        if (shape->nodes[i].is_entry)
            out.stack[n_stack++] = i;
    }
    while (n_stack > 0) {
        size_t edge = out.first[out.stack[--n_stack]];
        for (; edge < shape->info.n_edges; edge = out.next[edge]) {
            size_t to = shape->edges[edge].to;
            if (shape->nodes[to].is_reached)
                continue;
            shape->nodes[to].is_reached = true;
            out.stack[n_stack++] = to;
        }
    }
}

// A member that stands there twice works at one node.
static void add_members(cadre_shape *shape, const cadre_agent *agent)
{
    for (size_t i = 0; i < agent->members.count; i++) {
        const cadre_agent *member = agent->members.items[i];
        if (!json_object_get(shape->index, member->info.name))
            cadre_shape_add_node(shape, member->info.name, member, NULL);
    }
}

// Nobody knows where the work of such an agent goes: it may go anywhere.
static void leave_open(cadre_shape *shape)
{
    for (size_t i = 0; i < shape->info.n_nodes; i++)
        shape->nodes[i].is_reached = true;
    shape->info.max_model_calls = CADRE_UNLIMITED;
}

static void fill(cadre_shape *shape, const cadre_agent *agent)
{
    shape->info = (cadre_shape_info){.agent = agent, .max_runs = CADRE_UNLIMITED};
    shape->info.is_known = agent->ops->shape != NULL;
    if (shape->info.is_known)
        agent->ops->shape(agent->state, shape);
    if (shape->info.n_nodes == 0)
        add_members(shape, agent);
    settle_nodes(shape);
    settle_edges(shape);
    if (shape->info.is_known)
        mark_reached(shape);
    else
        leave_open(shape);
    shape->info.nodes = shape->nodes;
    shape->info.edges = shape->edges;
}

static cadre_status check(const cadre_shape *shape, cadre_error *err)
{
    char brief[CDR_BRIEF_SIZE];
    const cadre_agent_info *info = &shape->info.agent->info;
    if (shape->no_memory)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the shape of '%s'",
                          info->name);
    if (shape->twice)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': type '%s' tells of two nodes %s", info->name,
                          info->type, cdr_brief_text(brief, shape->twice, '\''));
    if (shape->unknown)
        return cadre_fail(
            err, CADRE_EINVAL,
            "agent '%s': type '%s' tells of a node %s, which is not there", info->name,
            info->type, cdr_brief_text(brief, shape->unknown, '\''));
    return CADRE_OK;
}

cadre_status cadre_shape_new(const cadre_agent *agent, cadre_shape **out,
                             cadre_error *err)
{
    if (!agent || !out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_shape_new: NULL argument");
    if (!agent->state || agent->is_flawed)
        return cadre_fail(err, CADRE_EINVAL,
                          "agent '%s': its team is not sealed, or has mistakes",
                          agent->info.name);
    cadre_shape *shape = calloc(1, sizeof(*shape));
    if (!shape)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for the shape of '%s'",
                          agent->info.name);
    shape->index = json_object();
    shape->no_memory = !shape->index;
    fill(shape, agent);
    cadre_status status = check(shape, err);
    if (status != CADRE_OK) {
        cadre_shape_free(shape);
        return status;
    }
    *out = shape;
    return CADRE_OK;
}

void cadre_shape_free(cadre_shape *shape)
{
    if (!shape)
        return;
    json_decref(shape->index);
    cdr_arena_fini(&shape->arena);
    free(shape);
}

const cadre_shape_info *cadre_shape_get_info(const cadre_shape *shape)
{
    static const cadre_shape_info nothing = {.max_runs = CADRE_UNLIMITED,
                                             .max_model_calls = CADRE_UNLIMITED};
    return shape ? &shape->info : &nothing;
}
