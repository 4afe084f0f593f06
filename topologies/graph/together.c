// Which agents of a graph are sure to run at the same time: those that plain edges lead
// to from one node, and one that runs for each element of a list.
#include "plan.h"

#include <stdlib.h>

// Does another target of the node lead there too, so that it runs later?
static bool is_later(const cdr_graph *graph, const cdr_graph_node *from, size_t to)
{
    for (size_t i = 0; i < from->n_edges; i++) {
        const cdr_graph_edge *edge = &graph->edges[from->first_edge + i];
        for (size_t k = 0; k < edge->n_to && !edge->is_route; k++)
            if (edge->to[k] < graph->n_nodes && edge->to[k] != to &&
                cdr_graph_reaches(graph, edge->to[k], to))
                return true;
    }
    return false;
}

// Appends the agents that plain edges lead to at once; returns how many.
static size_t list_targets(const cdr_graph *graph, const cdr_graph_node *from,
                           const cadre_agent **list)
{
    size_t n = 0;
    for (size_t i = 0; i < from->n_edges && !from->has_switch; i++) {
        const cdr_graph_edge *edge = &graph->edges[from->first_edge + i];
        for (size_t k = 0; k < edge->n_to && !edge->is_route; k++) {
            size_t to = edge->to[k];
            if (to < graph->n_nodes && graph->nodes[to].agent != NULL &&
                !is_later(graph, from, to))
                list[n++] = graph->nodes[to].agent;
        }
    }
    return n;
}

bool cdr_graph_tell_together(cdr_graph *graph, const cadre_agent_config *config)
{
    size_t n_all = 2 * graph->n_nodes;
    for (size_t i = 0; i < graph->n_edges; i++)
        n_all += graph->edges[i].n_to;
    graph->together = calloc(n_all, sizeof *graph->together);
    if (graph->together == NULL)
        return false;
    const cadre_agent **next = graph->together;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const cdr_graph_node *node = &graph->nodes[i];
        size_t n = list_targets(graph, node, next);
        if (n > 1)
            config->run_together(config, (cadre_agents){next, n});
        next += n;
        if (node->for_each == NULL || node->agent == NULL)
            continue;
        next[0] = next[1] = node->agent;
        config->run_together(config, (cadre_agents){next, 2});
        next += 2;
    }
    return true;
}
