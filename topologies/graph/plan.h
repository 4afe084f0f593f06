// The plan of a graph: its nodes, its edges, and what leads where.
//
// 1. Nodes are numbered in file order; the end is the number after the last.
// 2. Edges are grouped by where they start, in file order there.
// 3. Back edges are those that a walk in depth from the entry, in file order, finds to
//    lead to a node on its path. Without them the graph has no loops.
// 4. A route without `choices` may lead to every node and to the end.
//
// Thread: made by init, never changes afterwards; any.
#ifndef GRAPH_PLAN_H
#define GRAPH_PLAN_H

#include "cadre/ext/agent.h"
#include "cadre/ext/rule.h"
#include "cadre/predicate.h"
#include "template.h"

#define CDR_GRAPH_END "end"
#define CDR_GRAPH_MAX_NODES 1024
#define CDR_GRAPH_MAX_EDGES 8192

typedef enum cdr_graph_kind {
    CDR_GRAPH_AGENT,
    CDR_GRAPH_TOOL,
    CDR_GRAPH_HUMAN,
    CDR_GRAPH_LUA
} cdr_graph_kind;

// A value in which texts are templates: the arguments of a tool.
typedef struct cdr_graph_form cdr_graph_form;

typedef struct cdr_graph_node {
    const char *name;
    cdr_graph_kind kind;
    const char *graph;         // the name of its graph
    const cadre_agent *callee; // the agent, or an inner one that does the work
    const cadre_agent *agent;  // of kind agent
    const cadre_tool *tool;    // of kind tool
    cdr_graph_form *arguments; // of a tool
    cdr_graph_template *text;  // what it is given, or a person is asked; NULL: default
    const json_t *choices;     // of a person; NULL: any answer
    cadre_expression *lua;
    bool input_from_last;
    int64_t timeout_ms;
    int max_attempts;
    int64_t backoff_ms;
    bool has_interrupt;    // a person is asked first
    const char *interrupt; // the question; NULL: one that is made
    const char *for_each;  // the key of a list; NULL: it runs once
    size_t first_edge, n_edges;
    bool has_switch; // edges of its have conditions
} cdr_graph_node;

typedef struct cdr_graph_edge {
    size_t from;
    size_t *to; // of a route: what it may lead to
    size_t n_to;
    cadre_rule when, route;
    bool has_when, is_route;
    size_t written; // its place in the list of the file
} cdr_graph_edge;

typedef struct cdr_graph {
    const char *name; // of the agent
    json_t *options;  // owned; texts and values of the nodes are in it
    cdr_graph_node *nodes;
    size_t n_nodes;
    cdr_graph_edge *edges;
    size_t n_edges;
    size_t entry;
    int64_t max_steps; // CADRE_UNLIMITED
    size_t n_words;    // of a row of `reach`
    uint64_t *reach;   // by node: the nodes and the end that forward edges lead to
    const cadre_agent **together; // lists of agents that are sure to run at once
} cdr_graph;

// Finds by name; n_nodes: the end; beyond: there is none.
size_t cdr_graph_find(const cdr_graph *graph, const char *name, size_t len);

// Do forward edges lead from one to the other?
static inline bool cdr_graph_reaches(const cdr_graph *graph, size_t from, size_t to)
{
    return (graph->reach[from * graph->n_words + to / 64] >> (to % 64) & 1) != 0;
}

// --- Reading (nodes.c, edges.c, order.c, together.c): mistakes are told through the
// config; false: some.
// ---

bool cdr_graph_read_nodes(cdr_graph *graph, const cadre_agent_config *config);
bool cdr_graph_read_edges(cdr_graph *graph, const cadre_agent_config *config);

bool cdr_graph_find_entry(cdr_graph *graph, const cadre_agent_config *config);

// Groups the edges, finds what leads where, and tells of nodes that are never reached
// or lead to no end.
bool cdr_graph_order(cdr_graph *graph, const cadre_agent_config *config);

// Says which agents run at the same time, so that they do not keep their answers under
// one key. False: no memory.
bool cdr_graph_tell_together(cdr_graph *graph, const cadre_agent_config *config);

// What a rule gives; the values' input is the graph's. New reference; NULL: `err`.
json_t *cdr_graph_decide(const cadre_rule *rule, const cdr_graph_values *values,
                         int64_t step, cadre_error *err);

// Reads a value with templates in it; `reader` tells of mistakes. NULL: told.
cdr_graph_form *cdr_graph_form_new(json_t *written,
                                   const cdr_graph_template_reader *reader);
void cdr_graph_form_free(cdr_graph_form *form);

// Fills it in. New reference; NULL: no memory.
json_t *cdr_graph_form_value(const cdr_graph_form *form,
                             const cdr_graph_values *values);

// --- Working (work.c, walk.c) ---

// What the inner agent of a node does; `ctx` is the node.
cadre_status cdr_graph_node_run(void *ctx, cadre_frame *frame, cadre_error *err);

// Runs the graph on its frame, from the entry to the end.
cadre_status cdr_graph_walk_run(const cdr_graph *graph, cadre_frame *frame,
                                cadre_error *err);

#endif
