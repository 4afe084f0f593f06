// What leads where in a graph: found once, when it is made.
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t cdr_graph_find(const cdr_graph *graph, const char *name, size_t len)
{
    for (size_t i = 0; i < graph->n_nodes; i++)
        if (strncmp(graph->nodes[i].name, name, len) == 0 &&
            graph->nodes[i].name[len] == '\0')
            return i;
    bool is_end =
        len == strlen(CDR_GRAPH_END) && strncmp(name, CDR_GRAPH_END, len) == 0;
    return graph->n_nodes + (is_end ? 0 : 1);
}

// --- Groups ---

static int compare_edges(const void *left, const void *right)
{
    const cdr_graph_edge *a = left;
    const cdr_graph_edge *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->written > b->written) - (a->written < b->written);
}

static void group_edges(cdr_graph *graph)
{
    if (graph->n_edges > 1)
        qsort(graph->edges, graph->n_edges, sizeof *graph->edges, compare_edges);
    for (size_t i = 0; i < graph->n_edges; i++) {
        cdr_graph_node *node = &graph->nodes[graph->edges[i].from];
        if (node->n_edges++ == 0)
            node->first_edge = i;
        node->has_switch |= graph->edges[i].has_when;
    }
}

// --- Forward edges ---

typedef struct step {
    size_t node;
    size_t edge, target; // the next one to follow
} step;

typedef enum color {
    NOT_SEEN = 0,
    ON_THE_PATH,
    DONE
} color;

typedef struct walk {
    cdr_graph *graph;
    unsigned char *colors; // by node
    step *path;
    size_t n_path;
} walk;

static void push(walk *w, size_t node)
{
    w->colors[node] = ON_THE_PATH;
    w->path[w->n_path++] = (step){node, 0, 0};
}

static uint64_t *row_of(const cdr_graph *graph, size_t node)
{
    return &graph->reach[node * graph->n_words];
}

// All that is reached from `to`, and `to` itself, is reached from `from`.
static void add_reach(const cdr_graph *graph, size_t from, size_t to)
{
    uint64_t *row = row_of(graph, from);
    row[to / 64] |= (uint64_t)1 << (to % 64);
    for (size_t i = 0; to < graph->n_nodes && i < graph->n_words; i++)
        row[i] |= row_of(graph, to)[i];
}

static void leave(walk *w)
{
    size_t node = w->path[--w->n_path].node;
    w->colors[node] = DONE;
    if (w->n_path > 0)
        add_reach(w->graph, w->path[w->n_path - 1].node, node);
}

// Follows the next target of the node on top, or leaves it.
static void advance(walk *w)
{
    cdr_graph *graph = w->graph;
    step *top = &w->path[w->n_path - 1];
    const cdr_graph_node *node = &graph->nodes[top->node];
    if (top->edge == node->n_edges) {
        leave(w);
        return;
    }
    const cdr_graph_edge *edge = &graph->edges[node->first_edge + top->edge];
    if (top->target == edge->n_to) {
        top->edge++;
        top->target = 0;
        return;
    }
    size_t to = edge->to[top->target++];
    if (to == graph->n_nodes || w->colors[to] == DONE)
        add_reach(graph, top->node, to);
    else if (w->colors[to] == NOT_SEEN)
        push(w, to); // what is on the path is led back to
}

// --- Mistakes ---

static void tell_unreached(const walk *w, const cadre_agent_config *config, bool *ok)
{
    char path[100];
    const cdr_graph *graph = w->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        if (w->colors[i] == DONE)
            continue;
        (void)snprintf(path, sizeof path, "nodes.%.64s", graph->nodes[i].name);
        config->problem(config, path, "node '%s' is never reached from the entry '%s'",
                        graph->nodes[i].name, graph->nodes[graph->entry].name);
        *ok = false;
    }
}

// May nothing follow it, whatever its edges lead to?
static bool may_stop(const cdr_graph *graph, const cdr_graph_node *node)
{
    bool has_certain = false; // an edge that is taken when no condition holds
    for (size_t i = 0; i < node->n_edges; i++)
        has_certain |= !graph->edges[node->first_edge + i].has_when;
    return !has_certain;
}

static bool leads_to_end(const cdr_graph *graph, const bool *ends, size_t at)
{
    const cdr_graph_node *node = &graph->nodes[at];
    if (may_stop(graph, node))
        return true;
    for (size_t i = 0; i < node->n_edges; i++) {
        const cdr_graph_edge *edge = &graph->edges[node->first_edge + i];
        for (size_t k = 0; k < edge->n_to; k++)
            if (edge->to[k] == graph->n_nodes || ends[edge->to[k]])
                return true;
    }
    return false;
}

static void tell_endless(const walk *w, const cadre_agent_config *config,
                         const bool *ends, bool *ok)
{
    char path[100] = "";
    char names[400] = "";
    const cdr_graph *graph = w->graph;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        size_t len = strlen(names);
        if (ends[i] || w->colors[i] != DONE)
            continue;
        if (path[0] == '\0')
            (void)snprintf(path, sizeof path, "nodes.%.64s", graph->nodes[i].name);
        (void)snprintf(names + len, sizeof names - len, "%s%s", len > 0 ? ", " : "",
                       graph->nodes[i].name);
    }
    if (path[0] == '\0')
        return;
    config->problem(config, path, "no way leads to the end from: %s", names);
    *ok = false;
}

static void check_ends(const walk *w, const cadre_agent_config *config, bool *ok)
{
    const cdr_graph *graph = w->graph;
    bool *ends = calloc(graph->n_nodes, sizeof *ends);
    bool has_changed = ends != NULL;
    *ok &= ends != NULL;
    while (has_changed) {
        has_changed = false;
        for (size_t i = graph->n_nodes; i-- > 0;) {
            if (ends[i] || !leads_to_end(graph, ends, i))
                continue;
            ends[i] = true;
            has_changed = true;
        }
    }
    if (ends != NULL)
        tell_endless(w, config, ends, ok);
    free(ends);
}

// --- The entry ---

// By the name of a node; by that of an agent that a node runs where no node has it.
bool cdr_graph_find_entry(cdr_graph *graph, const cadre_agent_config *config)
{
    const char *name = json_string_value(json_object_get(graph->options, "entry"));
    if (name == NULL)
        name = config->entry_name;
    if (name == NULL)
        return true;
    graph->entry = cdr_graph_find(graph, name, strlen(name));
    for (size_t i = 0; graph->entry >= graph->n_nodes && i < graph->n_nodes; i++) {
        const cadre_agent *agent = graph->nodes[i].agent;
        if (agent != NULL && strcmp(cadre_agent_get_info(agent)->name, name) == 0)
            graph->entry = i;
    }
    if (graph->entry < graph->n_nodes)
        return true;
    const char *names[CDR_GRAPH_MAX_NODES];
    for (size_t i = 0; i < graph->n_nodes; i++)
        names[i] = graph->nodes[i].name;
    config->unknown(config, "entry", "node", name,
                    (cadre_names){names, graph->n_nodes});
    return false;
}

bool cdr_graph_order(cdr_graph *graph, const cadre_agent_config *config)
{
    walk w = {.graph = graph};
    group_edges(graph);
    graph->n_words = graph->n_nodes / 64 + 1;
    graph->reach = calloc(graph->n_nodes * graph->n_words, sizeof *graph->reach);
    w.colors = calloc(graph->n_nodes, sizeof *w.colors);
    w.path = calloc(graph->n_nodes, sizeof *w.path);
    bool ok = graph->reach != NULL && w.colors != NULL && w.path != NULL;
    if (ok)
        push(&w, graph->entry);
    while (w.n_path > 0)
        advance(&w);
    if (ok) {
        tell_unreached(&w, config, &ok);
        check_ends(&w, config, &ok);
    }
    free(w.colors);
    free(w.path);
    return ok;
}
