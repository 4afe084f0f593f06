// graph: nodes that run when an edge leads to them, those that are ready at the same
// time together; joins, branches, loops and fan-out without nodes of their own for it.
//
// graph/plan.h has what is known of a graph when it is made, graph/walk.h what happens
// when it runs.
#include "graph/plan.h"

#include "cadre/ext/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_states(const cdr_graph *graph, const cadre_agent_config *config)
{
    char path[100];
    const char *key;
    json_t *declaration;
    bool ok = true;
    json_object_foreach(json_object_get(graph->options, "state"), key, declaration)
    {
        cadre_error err = CADRE_ERROR_INIT;
        if (strncmp(key, "x-", 2) == 0 ||
            config->declare_state(config, key, declaration, &err) == CADRE_OK)
            continue;
        // Which agent it is stands before it anyhow.
        const char *rest = strstr(err.text, "': ");
        bool is_named = strncmp(err.text, "agent '", 7) == 0 && rest != NULL;
        (void)snprintf(path, sizeof path, "state.%.64s", key);
        config->problem(config, path, "%s", is_named ? rest + 3 : err.text);
        ok = false;
    }
    return ok;
}

static cadre_status graph_init(void *state, const cadre_agent_config *config,
                               cadre_error *err)
{
    cdr_graph *graph = state;
    graph->name = config->info.name;
    graph->options = json_deep_copy(config->options);
    graph->max_steps = json_integer_value(json_object_get(graph->options, "max_steps"));
    bool ok = graph->options != NULL && read_states(graph, config);
    bool has_nodes = graph->options != NULL && cdr_graph_read_nodes(graph, config);
    // What stands between nodes is told as soon as there are some.
    if (graph->n_nodes > 0 && graph->n_nodes <= CDR_GRAPH_MAX_NODES) {
        ok &= cdr_graph_find_entry(graph, config);
        ok &= cdr_graph_read_edges(graph, config);
    }
    if (ok && has_nodes && cdr_graph_order(graph, config) &&
        cdr_graph_tell_together(graph, config))
        return CADRE_OK;
    return cadre_fail(err, CADRE_EINVAL, "no memory for a graph");
}

static cadre_status graph_run(void *state, cadre_frame *frame, cadre_error *err)
{
    return cdr_graph_walk_run(state, frame, err);
}

static void graph_fini(void *state)
{
    cdr_graph *graph = state;
    for (size_t i = 0; graph->nodes != NULL && i < graph->n_nodes; i++) {
        cdr_graph_form_free(graph->nodes[i].arguments);
        cdr_graph_template_free(graph->nodes[i].text);
        cadre_expression_free(graph->nodes[i].lua);
    }
    for (size_t i = 0; graph->edges != NULL && i < graph->n_edges; i++) {
        free(graph->edges[i].to);
        cadre_rule_fini(&graph->edges[i].when);
        cadre_rule_fini(&graph->edges[i].route);
    }
    free(graph->nodes);
    free(graph->edges);
    free(graph->reach);
    free((void *)graph->together);
    json_decref(graph->options);
}

// --- Its shape ---

// The words of a condition or a route, as they were written.
static void label_of(const cdr_graph *graph, const cdr_graph_edge *edge, char *label,
                     size_t size)
{
    const json_t *written =
        json_array_get(json_object_get(graph->options, "edges"), edge->written);
    const json_t *rule = json_object_get(written, edge->is_route ? "route" : "when");
    char *dump = json_is_string(rule) || rule == NULL
                     ? NULL
                     : json_dumps(rule, JSON_COMPACT | JSON_ENCODE_ANY);
    const char *text = dump != NULL ? dump : json_string_value(rule);
    if (text == NULL)
        text = graph->nodes[edge->from].has_switch ? "else" : "";
    (void)snprintf(label, size, "%s", text);
    free(dump);
}

static void add_edges(const cdr_graph *graph, const cdr_graph_edge *edge,
                      cadre_shape *shape)
{
    char label[200];
    const char *from = graph->nodes[edge->from].name;
    label_of(graph, edge, label, sizeof label);
    for (size_t i = 0; i < edge->n_to; i++) {
        size_t to = edge->to[i];
        if (to == graph->n_nodes) {
            cadre_shape_set_end(shape, from);
            continue;
        }
        cadre_shape_edge_kind kind =
            label[0] == '\0' ? CADRE_SHAPE_ALWAYS : CADRE_SHAPE_MAYBE;
        if (to == edge->from || cdr_graph_reaches(graph, to, edge->from))
            kind = CADRE_SHAPE_BACK;
        cadre_shape_add_edge(shape, from, graph->nodes[to].name, kind, label);
    }
}

// One that no edge leads back to runs once at most.
static void set_runs(const cdr_graph *graph, cadre_shape *shape)
{
    bool has_loops = false;
    for (size_t i = 0; i < graph->n_edges; i++)
        for (size_t k = 0; k < graph->edges[i].n_to; k++) {
            size_t to = graph->edges[i].to[k];
            has_loops |= to == graph->edges[i].from ||
                         (to < graph->n_nodes &&
                          cdr_graph_reaches(graph, to, graph->edges[i].from));
        }
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const cdr_graph_node *node = &graph->nodes[i];
        int64_t steps = has_loops ? graph->max_steps : 1;
        if (node->for_each == NULL && steps != CADRE_UNLIMITED)
            cadre_shape_set_runs(shape, node->name, steps * node->max_attempts);
    }
}

static void graph_shape(const void *state, cadre_shape *shape)
{
    static const char *const kinds[] = {"", "tool", "human", "lua"};
    const cdr_graph *graph = state;
    for (size_t i = 0; i < graph->n_nodes; i++) {
        const cdr_graph_node *node = &graph->nodes[i];
        cadre_shape_add_node(shape, node->name, node->agent, kinds[node->kind]);
        if (node->n_edges == 0)
            cadre_shape_set_end(shape, node->name);
    }
    cadre_shape_set_entry(shape, graph->nodes[graph->entry].name);
    for (size_t i = 0; i < graph->n_edges; i++)
        add_edges(graph, &graph->edges[i], shape);
    set_runs(graph, shape);
}

// --- Its options ---

#define NOTES "\"additionalProperties\": false, \"patternProperties\": {\"^x-\": true}"
#define TEXT "{\"type\": \"string\", \"minLength\": 1}"
#define DURATION                                                                       \
    "\"type\": \"string\", \"format\": \"duration\", \"maximum\": 31536000000"

static const char schema[] =
    "{\"nodes\": {\"type\": \"object\", \"patternProperties\": {\"^x-\": true},"
    "  \"additionalProperties\": {\"type\": [\"string\", \"object\"],"
    "   \"format\": \"agent\", " NOTES ", \"properties\": {"
    "    \"agent\": {\"type\": \"string\", \"format\": \"agent\"},"
    "    \"tool\": {\"type\": \"string\", \"format\": \"tool\"},"
    "    \"arguments\": {\"type\": \"object\"},"
    "    \"human\": " TEXT ","
    "    \"choices\": {\"type\": \"array\", \"minItems\": 1, \"items\": " TEXT "},"
    "    \"lua\": " TEXT ","
    "    \"input\": {\"type\": \"string\"},"
    "    \"input_from_last\": {\"type\": \"boolean\"},"
    "    \"timeout\": {" DURATION ", \"minimum\": 1},"
    "    \"retry\": {\"type\": \"object\", " NOTES ", \"properties\": {"
    "      \"attempts\": {\"type\": \"integer\", \"minimum\": 1, \"maximum\": 100,"
    "        \"default\": 3},"
    "      \"backoff\": {" DURATION ", \"minimum\": 0, \"default\": \"500ms\"}}},"
    "    \"interrupt\": {\"type\": [\"boolean\", \"string\"]},"
    "    \"for_each\": " TEXT "}}},"
    " \"edges\": {\"type\": \"array\", \"items\": {\"type\": \"object\","
    "   \"required\": [\"from\"], " NOTES ", \"properties\": {"
    "    \"from\": {\"type\": \"string\"},"
    "    \"to\": {\"type\": [\"string\", \"array\"],"
    "      \"items\": {\"type\": \"string\"}},"
    "    \"when\": true,"
    "    \"route\": true,"
    "    \"choices\": {\"type\": \"array\", \"items\": {\"type\": \"string\"}}}}},"
    " \"entry\": {\"type\": \"string\"},"
    " \"state\": {\"type\": \"object\", \"patternProperties\": {\"^x-\": true},"
    "   \"additionalProperties\": {\"type\": \"object\"}},"
    " \"max_steps\": {\"type\": [\"integer\", \"string\"], \"format\": \"limit\","
    "   \"minimum\": 1, \"maximum\": 1000000000, \"default\": 100}}";

extern const cadre_agent_ops cadre_topology_graph;

const cadre_agent_ops cadre_topology_graph = {
    .struct_size = sizeof(cadre_agent_ops),
    .type = "graph",
    .summary = "nodes and edges: branches, joins, loops, and a shared state",
    .options_schema = schema,
    .state_size = sizeof(cdr_graph),
    .names_entry = true,
    .init = graph_init,
    .run = graph_run,
    .fini = graph_fini,
    .shape = graph_shape,
};
