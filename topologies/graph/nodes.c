// The nodes of a graph, read from its options.
#include "plan.h"

#include "cadre/ext/tool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME 64

enum {
    A = 1 << CDR_GRAPH_AGENT,
    T = 1 << CDR_GRAPH_TOOL,
    H = 1 << CDR_GRAPH_HUMAN,
    L = 1 << CDR_GRAPH_LUA
};

static const char *const kinds[] = {"agent", "tool", "human", "lua"};

// Which kinds of nodes have a key.
static const struct {
    const char *key;
    unsigned kinds;
    const char *owners;
} keys[] = {
    {"arguments", T, "a tool"},
    {"choices", H, "a human"},
    {"input", A, "an agent"},
    {"timeout", A | T, "an agent or a tool"},
    {"retry", A | T, "an agent or a tool"},
    {"interrupt", A | T, "an agent or a tool"},
};

typedef struct node_reader {
    cdr_graph *graph;
    const cadre_agent_config *config;
    cdr_graph_node *node;
    json_t *written; // an object, or the name of an agent
    bool ok;
} node_reader;

// Tells of a mistake in a part of the node; "": of the node itself.
static void tell(node_reader *r, const char *part, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "nodes.%.64s%s%.80s", r->node->name,
                   part[0] == '\0' ? "" : ".", part);
    r->config->problem(r->config, path, "%s", text);
    r->ok = false;
}

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t len = strlen(name);
    return name[0] >= 'a' && name[0] <= 'z' && len <= MAX_NAME &&
           strspn(name, letters) == len;
}

static void check_name(node_reader *r)
{
    if (strcmp(r->node->name, CDR_GRAPH_END) == 0)
        tell(r, "", "the name is kept for the end of the graph; take another");
    else if (!is_name(r->node->name))
        tell(r, "", "a node's name is [a-z][a-z0-9_]*, at most 64 long");
}

// What the node does. False: told.
static bool read_kind(node_reader *r)
{
    int n = json_is_string(r->written) ? 1 : 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (json_object_get(r->written, kinds[i]) == NULL)
            continue;
        r->node->kind = (cdr_graph_kind)i;
        n++;
    }
    if (n == 0)
        tell(r, "",
             "says nothing of what it does; write one of agent, tool, human, lua");
    else if (n > 1)
        tell(r, "", "does more than one thing; write one of agent, tool, human, lua");
    return n == 1;
}

static void check_keys(node_reader *r)
{
    char text[100];
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (json_object_get(r->written, keys[i].key) == NULL ||
            (keys[i].kinds >> r->node->kind & 1) != 0)
            continue;
        (void)snprintf(text, sizeof text, "only %s node has it", keys[i].owners);
        tell(r, keys[i].key, text);
    }
}

static const cadre_agent *find_member(const cadre_agent_config *config,
                                      const char *name)
{
    for (size_t i = 0; i < config->members.count; i++)
        if (strcmp(cadre_agent_get_info(config->members.items[i])->name, name) == 0)
            return config->members.items[i];
    return NULL;
}

static const cadre_tool *find_tool(const cadre_agent_config *config, const char *name)
{
    for (size_t i = 0; i < config->tools.count; i++)
        if (strcmp(cadre_tool_get_info(config->tools.items[i])->name, name) == 0)
            return config->tools.items[i];
    return NULL;
}

// --- Texts ---

typedef struct complaint {
    node_reader *reader;
    const char *part;
} complaint;

static void on_complaint(void *ctx, const char *problem)
{
    const complaint *c = ctx;
    tell(c->reader, c->part, problem);
}

static bool is_node(const void *nodes, const char *name, size_t len)
{
    const cdr_graph *graph = nodes;
    return cdr_graph_find(graph, name, len) < graph->n_nodes;
}

static cdr_graph_template *read_template(node_reader *r, const char *key)
{
    complaint c = {r, key};
    const cdr_graph_template_reader reader = {is_node, r->graph, on_complaint, &c};
    const char *text = json_string_value(json_object_get(r->written, key));
    if (text == NULL)
        return NULL;
    cdr_graph_template *made = cdr_graph_template_new(text, &reader);
    r->ok &= made != NULL;
    return made;
}

static void read_arguments(node_reader *r)
{
    complaint c = {r, "arguments"};
    const cdr_graph_template_reader reader = {is_node, r->graph, on_complaint, &c};
    json_t *written = json_object_get(r->written, "arguments");
    if (written == NULL)
        return;
    r->node->arguments = cdr_graph_form_new(written, &reader);
    r->ok &= r->node->arguments != NULL;
}

static void read_lua(node_reader *r)
{
    char path[100];
    (void)snprintf(path, sizeof path, "nodes.%.64s.lua", r->node->name);
    cadre_rule rule = {NULL, NULL};
    if (cadre_rule_read(&rule, r->config, path, json_object_get(r->written, "lua")))
        r->node->lua = rule.expression;
    else
        r->ok = false;
}

// --- The parts ---

static void read_work(node_reader *r)
{
    cdr_graph_node *node = r->node;
    const char *name =
        json_is_string(r->written)
            ? json_string_value(r->written)
            : json_string_value(json_object_get(r->written, kinds[node->kind]));
    switch (node->kind) {
    case CDR_GRAPH_AGENT:
        node->agent = find_member(r->config, name);
        node->callee = node->agent;
        node->text = read_template(r, "input");
        break;
    case CDR_GRAPH_TOOL:
        node->tool = find_tool(r->config, name);
        read_arguments(r);
        break;
    case CDR_GRAPH_HUMAN:
        node->text = read_template(r, "human");
        node->choices = json_object_get(r->written, "choices");
        break;
    case CDR_GRAPH_LUA:
        read_lua(r);
        break;
    }
}

static void read_settings(node_reader *r)
{
    cdr_graph_node *node = r->node;
    const json_t *retry = json_object_get(r->written, "retry");
    const json_t *interrupt = json_object_get(r->written, "interrupt");
    node->input_from_last =
        json_is_true(json_object_get(r->written, "input_from_last"));
    node->timeout_ms = json_integer_value(json_object_get(r->written, "timeout"));
    node->max_attempts =
        retry == NULL ? 1 : (int)json_integer_value(json_object_get(retry, "attempts"));
    node->backoff_ms = json_integer_value(json_object_get(retry, "backoff"));
    node->has_interrupt = json_is_true(interrupt) || json_is_string(interrupt);
    node->interrupt = json_string_value(interrupt);
    node->for_each = json_string_value(json_object_get(r->written, "for_each"));
    if (node->input_from_last && node->text != NULL && node->kind == CDR_GRAPH_AGENT)
        tell(r, "input_from_last",
             "the node has an input of its own; write {{last_response}} in it");
}

// What needs more than one call of one agent is the work of an inner agent.
static void make_inner(node_reader *r)
{
    cdr_graph_node *node = r->node;
    if (node->kind == CDR_GRAPH_AGENT && !node->has_interrupt &&
        node->max_attempts == 1)
        return;
    node->callee =
        r->config->add_function(r->config, node->name, cdr_graph_node_run, node);
    r->ok &= node->callee != NULL;
}

static bool read_node(cdr_graph *graph, const cadre_agent_config *config,
                      cdr_graph_node *node, json_t *written)
{
    node_reader r = {graph, config, node, written, true};
    assert(node->name != NULL);
    check_name(&r);
    if (!read_kind(&r))
        return false;
    check_keys(&r);
    read_work(&r);
    read_settings(&r);
    if (r.ok)
        make_inner(&r);
    return r.ok;
}

static bool is_note(const char *key)
{
    return strncmp(key, "x-", 2) == 0;
}

// Names first: texts may name any node.
static bool make_nodes(cdr_graph *graph, const cadre_agent_config *config,
                       json_t *written)
{
    const char *name;
    json_t *part;
    graph->nodes = calloc(json_object_size(written) + 1, sizeof *graph->nodes);
    if (graph->nodes == NULL)
        return false;
    json_object_foreach(written, name, part)
    {
        if (is_note(name))
            continue;
        graph->nodes[graph->n_nodes].name = name;
        graph->nodes[graph->n_nodes++].graph = graph->name;
    }
    if (graph->n_nodes > 0 && graph->n_nodes <= CDR_GRAPH_MAX_NODES)
        return true;
    if (graph->n_nodes == 0)
        config->problem(config, "nodes", "a graph needs nodes");
    else
        config->problem(config, "nodes", "a graph has at most %d nodes, got %zu",
                        CDR_GRAPH_MAX_NODES, graph->n_nodes);
    return false;
}

bool cdr_graph_read_nodes(cdr_graph *graph, const cadre_agent_config *config)
{
    json_t *written = json_object_get(graph->options, "nodes");
    const char *name;
    json_t *part;
    size_t i = 0;
    if (!make_nodes(graph, config, written))
        return false;
    bool ok = true;
    json_object_foreach(written, name, part)
    {
        if (!is_note(name))
            ok &= read_node(graph, config, &graph->nodes[i++], part);
    }
    return ok;
}
