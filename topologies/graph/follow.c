// Following the edges of a node that has answered.
#include "walk.h"

#include "cadre/state.h"

#include <stdio.h>
#include <string.h>

static cadre_status fail_edge(const cdr_graph_walk *walk, const cdr_graph_edge *edge,
                              const char *part, const cadre_error *cause,
                              cadre_error *err)
{
    char where[60];
    const char *text = cause->text;
    (void)snprintf(where, sizeof where, "edges[%zu].%s", edge->written, part);
    size_t len = strlen(where);
    if (strncmp(text, where, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    return cadre_fail_class(err, CADRE_EFAILED, cause->error_class, false,
                            "agent '%s', node '%s': %s: %s", walk->graph->name,
                            walk->graph->nodes[edge->from].name, where, text);
}

static cadre_status fail_value(const cdr_graph_walk *walk, const cdr_graph_edge *edge,
                               const json_t *value, const char *expected,
                               cadre_error *err)
{
    cdr_graph_text got = {NULL, 0, 0, false};
    if (json_is_null(value))
        cdr_graph_text_add(&got, "nothing");
    else if (json_is_string(value))
        cdr_graph_text_add(&got, "'");
    cdr_graph_text_add_json(&got, value);
    if (json_is_string(value))
        cdr_graph_text_add(&got, "'");
    cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_CONFIG, false,
                     "agent '%s', node '%s': edges[%zu].%s gave %.100s; %s",
                     walk->graph->name, walk->graph->nodes[edge->from].name,
                     edge->written, edge->is_route ? "route" : "when",
                     cdr_graph_text_bytes(&got), expected);
    cdr_graph_text_fini(&got);
    return CADRE_EFAILED;
}

// --- What rules give ---

json_t *cdr_graph_decide(const cadre_rule *rule, const cdr_graph_values *values,
                         int64_t step, cadre_error *err)
{
    const cadre_predicate_values given = {.struct_size = sizeof given,
                                          .input = values->user_input,
                                          .last_response = values->last_response,
                                          .output = values->last_response,
                                          .state = values->state,
                                          .outputs = values->responses,
                                          .iteration =
                                              step > INT32_MAX ? INT32_MAX : (int)step};
    return cadre_rule_value(rule, &given, err);
}

// --- Conditions ---

static cadre_status test(const cdr_graph_walk *walk, const cdr_graph_edge *edge,
                         const cdr_graph_values *values, bool *out, cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    json_t *value = cdr_graph_decide(&edge->when, values, walk->step, &cause);
    if (value == NULL)
        return fail_edge(walk, edge, "when", &cause, err);
    cadre_status status = CADRE_OK;
    *out = json_is_true(value);
    if (!json_is_boolean(value) && !json_is_null(value))
        status = fail_value(walk, edge, value, "it must be true or false", err);
    json_decref(value);
    return status;
}

// --- Routes ---

static bool is_choice(const cdr_graph_edge *edge, size_t to)
{
    for (size_t i = 0; i < edge->n_to; i++)
        if (edge->to[i] == to)
            return true;
    return false;
}

static cadre_status fail_route(const cdr_graph_walk *walk, const cdr_graph_edge *edge,
                               const json_t *value, cadre_error *err)
{
    char text[300] = "it can give ";
    const cdr_graph *graph = walk->graph;
    for (size_t i = 0; i < edge->n_to; i++) {
        size_t len = strlen(text);
        const char *name = edge->to[i] < graph->n_nodes ? graph->nodes[edge->to[i]].name
                                                        : CDR_GRAPH_END;
        (void)snprintf(text + len, sizeof text - len, "%s%s", i > 0 ? ", " : "", name);
    }
    return fail_value(walk, edge, value, text, err);
}

// Where a name leads. Errors: EFAILED: it is none that the route can give.
static cadre_status find_choice(const cdr_graph_walk *walk, const cdr_graph_edge *edge,
                                const json_t *name, size_t *to, cadre_error *err)
{
    const char *text = json_string_value(name);
    *to = text == NULL ? walk->graph->n_nodes + 1
                       : cdr_graph_find(walk->graph, text, strlen(text));
    return is_choice(edge, *to) ? CADRE_OK : fail_route(walk, edge, name, err);
}

// All names are looked at before the first is followed.
static cadre_status follow_names(cdr_graph_walk *walk, const cdr_graph_edge *edge,
                                 const json_t *value, cadre_error *err)
{
    size_t to = 0;
    size_t n = json_is_array(value) ? json_array_size(value) : 1;
    cadre_status status = n == 0 ? fail_route(walk, edge, value, err) : CADRE_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; status == CADRE_OK && i < n; i++) {
            const json_t *name =
                json_is_array(value) ? json_array_get(value, i) : value;
            status = find_choice(walk, edge, name, &to, err);
            if (status == CADRE_OK && pass == 1)
                cdr_graph_lead(walk, edge->from, to);
        }
    }
    return status;
}

static cadre_status follow_route(cdr_graph_walk *walk, const cdr_graph_edge *edge,
                                 const cdr_graph_values *values, cadre_error *err)
{
    cadre_error cause = CADRE_ERROR_INIT;
    json_t *value = cdr_graph_decide(&edge->route, values, walk->step, &cause);
    if (value == NULL)
        return fail_edge(walk, edge, "route", &cause, err);
    cadre_status status = follow_names(walk, edge, value, err);
    json_decref(value);
    return status;
}

// --- All edges of a node ---

static void lead_all(cdr_graph_walk *walk, const cdr_graph_edge *edge)
{
    for (size_t i = 0; i < edge->n_to; i++)
        cdr_graph_lead(walk, edge->from, edge->to[i]);
}

static cadre_status follow_rules(cdr_graph_walk *walk, const cdr_graph_node *node,
                                 const cdr_graph_values *values, bool *is_decided,
                                 cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (size_t i = 0; status == CADRE_OK && i < node->n_edges; i++) {
        const cdr_graph_edge *edge = &walk->graph->edges[node->first_edge + i];
        bool holds = false;
        if (edge->is_route)
            status = follow_route(walk, edge, values, err);
        else if (edge->has_when && !*is_decided)
            status = test(walk, edge, values, &holds, err);
        if (status != CADRE_OK || !holds)
            continue;
        *is_decided = true;
        lead_all(walk, edge);
    }
    return status;
}

static bool has_rules(const cdr_graph *graph, const cdr_graph_node *node)
{
    for (size_t i = 0; i < node->n_edges; i++)
        if (graph->edges[node->first_edge + i].is_route)
            return true;
    return node->has_switch;
}

cadre_status cdr_graph_follow(cdr_graph_walk *walk, size_t at, cadre_error *err)
{
    const cdr_graph *graph = walk->graph;
    const cdr_graph_node *node = &graph->nodes[at];
    bool is_decided = false;
    bool has_plain = false;
    cadre_status status = CADRE_OK;
    if (has_rules(graph, node)) {
        const cdr_graph_values values = {.user_input = walk->user_input,
                                         .last_response = cdr_graph_response(walk, at),
                                         .responses = walk->responses,
                                         .state = cadre_frame_state(walk->frame)};
        status = follow_rules(walk, node, &values, &is_decided, err);
    }
    for (size_t i = 0; i < node->n_edges; i++) {
        const cdr_graph_edge *edge = &graph->edges[node->first_edge + i];
        has_plain |= !edge->has_when;
        if (status == CADRE_OK && !is_decided && !edge->has_when && !edge->is_route)
            lead_all(walk, edge);
    }
    // Where nothing leads on the branch is at its end.
    if (status == CADRE_OK && !is_decided && !has_plain)
        cdr_graph_lead(walk, at, graph->n_nodes);
    return status;
}
