// The edges of a graph, read from its options.
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct edge_reader {
    cdr_graph *graph;
    const cadre_agent_config *config;
    cdr_graph_edge *edge;
    json_t *written;
    bool ok;
} edge_reader;

static void path_of(char path[80], size_t edge, const char *part)
{
    (void)snprintf(path, 80, "edges[%zu]%s%.40s", edge, part[0] == '\0' ? "" : ".",
                   part);
}

static void tell(edge_reader *r, const char *part, const char *text)
{
    char path[80];
    path_of(path, r->edge->written, part);
    r->config->problem(r->config, path, "%s", text);
    r->ok = false;
}

static void tell_unknown(edge_reader *r, const char *part, const char *name)
{
    char path[80];
    const cdr_graph *graph = r->graph;
    const char *names[CDR_GRAPH_MAX_NODES + 1];
    size_t n = 0;
    for (; n < graph->n_nodes; n++)
        names[n] = graph->nodes[n].name;
    if (strcmp(part, "from") != 0)
        names[n++] = CDR_GRAPH_END;
    path_of(path, r->edge->written, part);
    r->config->unknown(r->config, path, "node", name, (cadre_names){names, n});
    r->ok = false;
}

static void read_from(edge_reader *r)
{
    const char *name = json_string_value(json_object_get(r->written, "from"));
    r->edge->from = cdr_graph_find(r->graph, name, strlen(name));
    if (r->edge->from == r->graph->n_nodes)
        tell(r, "from", "nothing leads on from the end");
    else if (r->edge->from > r->graph->n_nodes)
        tell_unknown(r, "from", name);
}

static void add_target(edge_reader *r, const char *key, const json_t *name, size_t i,
                       bool is_list)
{
    char part[40];
    cdr_graph_edge *edge = r->edge;
    const char *text = json_string_value(name);
    (void)snprintf(part, sizeof part, is_list ? "%s[%zu]" : "%s", key, i);
    size_t to = cdr_graph_find(r->graph, text, strlen(text));
    if (to > r->graph->n_nodes) {
        tell_unknown(r, part, text);
        return;
    }
    for (size_t k = 0; k < edge->n_to; k++) {
        if (edge->to[k] != to)
            continue;
        tell(r, part, "stands here twice");
        return;
    }
    edge->to[edge->n_to++] = to;
}

static void read_targets(edge_reader *r, const char *key)
{
    const json_t *to = json_object_get(r->written, key);
    size_t n = json_is_array(to) ? json_array_size(to) : 1;
    r->edge->to = calloc(n + 1, sizeof *r->edge->to);
    r->ok &= r->edge->to != NULL;
    if (r->edge->to == NULL)
        return;
    if (n == 0)
        tell(r, key, "names no node");
    for (size_t i = 0; i < n; i++)
        add_target(r, key, json_is_array(to) ? json_array_get(to, i) : to, i,
                   json_is_array(to));
}

// A route that says nothing of its choices may lead anywhere.
static void take_all(edge_reader *r)
{
    size_t n = r->graph->n_nodes + 1;
    r->edge->to = calloc(n, sizeof *r->edge->to);
    r->ok &= r->edge->to != NULL;
    for (size_t i = 0; r->edge->to != NULL && i < n; i++)
        r->edge->to[r->edge->n_to++] = i;
}

static void read_rule(edge_reader *r, cadre_rule *rule, const char *key)
{
    char path[80];
    path_of(path, r->edge->written, key);
    r->ok &= cadre_rule_read(rule, r->config, path, json_object_get(r->written, key));
}

static void read_way(edge_reader *r)
{
    cdr_graph_edge *edge = r->edge;
    bool has_to = json_object_get(r->written, "to") != NULL;
    bool has_choices = json_object_get(r->written, "choices") != NULL;
    edge->has_when = json_object_get(r->written, "when") != NULL;
    edge->is_route = json_object_get(r->written, "route") != NULL;
    if (edge->is_route && has_to)
        tell(r, "route",
             "has both to and route; write the nodes that a route can give as choices");
    else if (edge->is_route && edge->has_when)
        tell(r, "when", "a route has no condition; let it give the name it wants");
    else if (!edge->is_route && !has_to)
        tell(r, "", "leads nowhere; write to or route");
    else if (!edge->is_route && has_choices)
        tell(r, "choices", "only a route has them");
    if (edge->has_when)
        read_rule(r, &edge->when, "when");
    if (edge->is_route)
        read_rule(r, &edge->route, "route");
    if (has_to)
        read_targets(r, "to");
    else if (has_choices)
        read_targets(r, "choices");
    else if (edge->is_route)
        take_all(r);
}

// Does a plain edge, or one of the same condition, lead there already?
static bool is_again(edge_reader *r, const cdr_graph_edge *before, size_t to)
{
    if (before->from != r->edge->from || before->is_route || r->edge->is_route)
        return false;
    const json_t *list = json_object_get(r->graph->options, "edges");
    const json_t *when = json_object_get(r->written, "when");
    const json_t *other =
        json_object_get(json_array_get(list, before->written), "when");
    bool is_same = (when == NULL && other == NULL) || json_equal(when, other) == 1;
    if (!is_same)
        return false;
    for (size_t i = 0; i < before->n_to; i++)
        if (before->to[i] == to)
            return true;
    return false;
}

static void check_again(edge_reader *r)
{
    char text[200];
    const cdr_graph *graph = r->graph;
    for (const cdr_graph_edge *before = graph->edges; before < r->edge; before++) {
        for (size_t i = 0; i < r->edge->n_to; i++) {
            size_t to = r->edge->to[i];
            if (!is_again(r, before, to))
                continue;
            (void)snprintf(text, sizeof text,
                           "edges[%zu] leads from '%.64s' to '%.64s' already",
                           before->written, graph->nodes[r->edge->from].name,
                           to < graph->n_nodes ? graph->nodes[to].name : CDR_GRAPH_END);
            tell(r, "", text);
            return;
        }
    }
}

bool cdr_graph_read_edges(cdr_graph *graph, const cadre_agent_config *config)
{
    json_t *list = json_object_get(graph->options, "edges");
    bool ok = true;
    if (json_array_size(list) > CDR_GRAPH_MAX_EDGES) {
        config->problem(config, "edges", "a graph has at most %d edges, got %zu",
                        CDR_GRAPH_MAX_EDGES, json_array_size(list));
        return false;
    }
    graph->edges = calloc(json_array_size(list) + 1, sizeof *graph->edges);
    if (graph->edges == NULL)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        edge_reader r = {graph, config, &graph->edges[graph->n_edges++],
                         json_array_get(list, i), true};
        r.edge->written = i;
        read_from(&r);
        read_way(&r);
        if (r.ok)
            check_again(&r);
        ok &= r.ok;
    }
    return ok;
}
