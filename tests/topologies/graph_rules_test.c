// What is told of a graph when it is made, and what holds of every graph: no node is
// stuck, none runs twice in a step, timing never shows.
#include "support/check.h"
#include "support/graph_case.h"

#include "cadre/shape.h"

#include "base/buf.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static team_case *const t = &graph_team;

#define G "agent 'g': options."

// --- Mistakes ---

static void test_rules__nodes_say_one_thing_that_they_do(void)
{
    graph_case_check_problems("{}", G "nodes: a graph needs nodes\n");
    graph_case_check_problems("{'nodes': {'x-note': 1}}",
                              G "nodes: a graph needs nodes\n");
    graph_case_check_problems(
        "{'nodes': {'n': {}, 'm': {'agent': 'a', 'lua': '1'}, 'end': 'a', 'B': 'b',"
        " 'x-note': 'free'},"
        " 'edges': [{'from': 'n', 'to': ['m', 'B']}, {'from': 'm', 'to': 'end'}]}",
        G "nodes.n: says nothing of what it does; write one of agent, tool, human, "
          "lua\n" G "nodes.m: does more than one thing; write one of agent, tool, "
          "human, lua\n" G "nodes.end: the name is kept for the end of the graph; take "
          "another\n" G "nodes.B: a node's name is [a-z][a-z0-9_]*, at most 64 long\n");
}

static void test_rules__settings_belong_to_their_kind(void)
{
    graph_case_check_problems(
        "{'nodes': {'n': {'human': 'What?', 'retry': {}, 'timeout': '1s', 'interrupt':"
        "  true, 'input': 'x', 'arguments': {}},"
        "  'm': {'lua': '1', 'choices': ['x']}}, 'edges': [{'from': 'n', 'to': 'm'}]}",
        G "nodes.n.arguments: only a tool node has it\n" G
          "nodes.n.input: only an agent node has it\n" G
          "nodes.n.timeout: only an agent or a tool node has it\n" G
          "nodes.n.retry: only an agent or a tool node has it\n" G
          "nodes.n.interrupt: only an agent or a tool node has it\n" G
          "nodes.m.choices: only a human node has it\n");
    graph_case_check_problems(
        "{'nodes': {'n': {'agent': 'a', 'input': 'x', 'input_from_last': true}}}",
        G "nodes.n.input_from_last: the node has an input of its own; write "
          "{{last_response}} in it\n");
}

static void test_rules__texts_name_what_there_is(void)
{
    graph_case_check_problems(
        "{'nodes': {'n': {'agent': 'a', 'input': '{{node_responses.m}} {{foo}}'},"
        "  'l': {'lua': 'lst_response'}, 'k': {'lua': '1 +'}},"
        " 'edges': [{'from': 'n', 'to': ['l', 'k']}]}",
        G "nodes.n.input: unknown {{node_responses.m}}; there is no such node, and "
          "{{{{ gives plain braces\n" G
          "nodes.l.lua: line 1: unknown name 'lst_response'; did you mean "
          "'last_response'? (known: input, last_response, output, state, outputs, "
          "iteration, contains, starts, ends, matches, size)\n" G
          "nodes.k.lua: line 1: unexpected symbol near <eof>\n");
}

static void test_rules__edges_lead_from_nodes_to_nodes(void)
{
    graph_case_check_problems(
        "{'entry': 'nn', 'nodes': {'n': 'a', 'm': 'b'}, 'edges': ["
        " {'from': 'nn', 'to': 'm'}, {'from': 'n', 'to': ['mm', 'm']},"
        " {'from': 'end', 'to': 'n'}, {'from': 'm'}, {'from': 'n', 'to': []}]}",
        G "entry: unknown node 'nn'; did you mean 'n'? (nodes: n, m)\n" G
          "edges[0].from: unknown node 'nn'; did you mean 'n'? (nodes: n, m)\n" G
          "edges[1].to[0]: unknown node 'mm'; did you mean 'm'? (nodes: n, m, end)\n" G
          "edges[2].from: nothing leads on from the end\n" G
          "edges[3]: leads nowhere; write to or route\n" G
          "edges[4].to: names no node\n");
}

static void test_rules__edges_are_there_once(void)
{
    graph_case_check_problems(
        "{'nodes': {'n': 'a', 'm': 'b'}, 'edges': ["
        " {'from': 'n', 'to': 'm'}, {'from': 'n', 'to': ['m', 'm']},"
        " {'from': 'n', 'to': ['end', 'm']},"
        " {'from': 'n', 'to': 'm', 'when': {'contains': 'x'}},"
        " {'from': 'n', 'to': 'm', 'when': {'contains': 'y'}},"
        " {'from': 'n', 'to': 'm', 'when': {'contains': 'x'}}]}",
        G "edges[1].to[1]: stands here twice\n" G
          "edges[2]: edges[0] leads from 'n' to 'm' already\n" G
          "edges[5]: edges[3] leads from 'n' to 'm' already\n");
}

static void test_rules__routes_and_conditions_are_kept_apart(void)
{
    graph_case_check_problems(
        "{'nodes': {'n': 'a', 'm': 'b'}, 'edges': ["
        " {'from': 'n', 'to': 'm', 'route': '1'},"
        " {'from': 'n', 'route': '1', 'when': 'true'},"
        " {'from': 'n', 'to': 'm', 'choices': ['m']},"
        " {'from': 'n', 'route': '1', 'choices': ['k']},"
        " {'from': 'n', 'to': 'm', 'when': 'x ='},"
        " {'from': 'n', 'to': 'm', 'when': {'contains': 'a', 'ends': 'b'}},"
        " {'from': 'n', 'to': 'm', 'when': {'call': 'nobody'}},"
        " {'from': 'n', 'to': 'm', 'when': {'call': 7}},"
        " {'from': 'n', 'to': 'm', 'when': 7}]}",
        G
        "edges[0].route: has both to and route; write the nodes that a route can give "
        "as choices\n" G
        "edges[1].when: a route has no condition; let it give the name it wants\n" G
        "edges[2].choices: only a route has them\n" G
        "edges[3].choices[0]: unknown node 'k' (nodes: n, m, end)\n" G
        "edges[4].when: line 1: <eof> expected near '='\n" G
        "edges[5].when: a short form has exactly one of contains, starts, ends, "
        "equals, matches, got 2 keys\n" G
        "edges[6].when: unknown predicate 'nobody'; predicates are functions of a C "
        "program, added with cadre_team_add_predicate\n" G
        "edges[7].when: call: expected the name of a predicate\n" G
        "edges[8].when: must be a text (an expression) or a short form such as "
        "{contains: TEXT}, got 7\n");
}

static void test_rules__nodes_that_nothing_leads_to_are_told(void)
{
    graph_case_check_problems(
        "{'nodes': {'start': 'a', 'n': 'a', 'm': 'b', 'x': 'c', 'y': 'd'}, 'edges': ["
        " {'from': 'start', 'to': 'n'}, {'from': 'n', 'to': 'm'},"
        " {'from': 'm', 'to': 'n', 'when': 'false'}, {'from': 'm', 'to': 'end'},"
        " {'from': 'x', 'to': 'end'}, {'from': 'y', 'to': 'x'}]}",
        G "nodes.x: node 'x' is never reached from the entry 'start'\n" G
          "nodes.y: node 'y' is never reached from the entry 'start'\n");
}

static void test_rules__loops_without_a_way_out_are_told(void)
{
    graph_case_check_problems(
        "{'nodes': {'start': 'a', 'n': 'a', 'm': 'b', 'k': 'c'}, 'edges': ["
        " {'from': 'start', 'to': ['n', 'k']}, {'from': 'n', 'to': 'm'},"
        " {'from': 'm', 'to': 'n'}, {'from': 'k', 'to': 'end'}]}",
        G "nodes.n: no way leads to the end from: n, m\n");
    // A way out may be a condition, a route, or a switch without an else.
    static const char *const ways[] = {
        "{'from': 'm', 'to': 'n', 'when': 'true'}",
        "{'from': 'm', 'route': 'last_response', 'choices': ['n', 'end']}",
        "{'from': 'm', 'route': 'last_response'}",
        "{'from': 'm', 'to': 'n', 'when': 'true'}, {'from': 'm', 'to': 'end'}",
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        char options[300];
        snprintf(options, sizeof options,
                 "{'nodes': {'n': 'a', 'm': 'b'}, 'edges': ["
                 "{'from': 'n', 'to': 'm'}, %s]}",
                 ways[i]);
        graph_case_check_problems(options, "");
    }
    graph_case_check_problems(
        "{'nodes': {'n': 'a', 'm': 'b'}, 'edges': [{'from': 'n', 'to': 'm'},"
        " {'from': 'm', 'route': 'last_response', 'choices': ['n', 'm']}]}",
        G "nodes.n: no way leads to the end from: n, m\n");
}

static void test_rules__unknown_agents_and_tools_are_told_as_of_members(void)
{
    graph_case_check_problems(
        "{'nodes': {'n': 'nobody', 'm': {'tool': 'none'}}}",
        G "nodes.n: unknown agent 'nobody' (agents: a, b, c, d, e, f, h, put, g)\n" G
          "nodes.m.tool: unknown tool 'none'\n");
}

static void test_rules__state_is_declared_once(void)
{
    graph_case_check_problems("{'nodes': {'n': 'a'}, 'state': {'k': {'reducer': 'sun'},"
                              " 'l': {'reducer': 'sum'}}}",
                              G "state.k: state key 'k': unknown reducer 'sun' "
                                "(replace, append, merge, sum)\n");
}

static void check_together(const char *options, const char *problem)
{
    cadre_error err = CADRE_ERROR_INIT;
    graph_case_open(options);
    cadre_team_add_llm(
        t->team, CADRE_LLM(.name = "p", .model = DRIVEN_MODEL, .output_key = "k"));
    cadre_team_add_llm(
        t->team, CADRE_LLM(.name = "q", .model = DRIVEN_MODEL, .output_key = "k"));
    cadre_status status = cadre_team_seal(t->team, &err);
    if (problem == NULL)
        CHECK_OK(status, &err);
    else
        CHECK_CONTAINS(err.text, problem);
    graph_case_close();
}

static void
test_rules__agents_that_run_at_once_keep_answers_under_keys_of_their_own(void)
{
    check_together("{'nodes': {'s': 'a', 'x': 'p', 'y': 'q'},"
                   " 'edges': [{'from': 's', 'to': ['x', 'y']}]}",
                   "'p' and 'q' may run at the same time");
    check_together("{'nodes': {'x': {'agent': 'p', 'for_each': 'list'}}}",
                   "'p' may run several times at once and has output_key");
    // One after the other, or one of the two.
    check_together("{'nodes': {'s': 'a', 'x': 'p', 'y': 'q'}, 'edges': ["
                   " {'from': 's', 'to': ['x', 'y']}, {'from': 'x', 'to': 'y'}]}",
                   NULL);
    check_together("{'nodes': {'s': 'a', 'x': 'p', 'y': 'q'}, 'edges': ["
                   " {'from': 's', 'to': 'x', 'when': {'contains': 'x'}},"
                   " {'from': 's', 'to': 'y'}]}",
                   NULL);
}

// --- Shapes ---

static void test_rules__the_shape_of_a_graph_bounds_its_runs(void)
{
    cadre_shape *shape = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    graph_case_open(
        "{'max_steps': 7, 'nodes': {'x': 'a', 'y': {'human': 'Well?'}, 'z': 'c'},"
        " 'edges': [{'from': 'x', 'to': 'y', 'when': {'contains': 'q'}},"
        "  {'from': 'x', 'to': 'z'}, {'from': 'y', 'to': 'x'}]}");
    CHECK_OK(cadre_team_seal(t->team, &err), &err);
    if (CHECK_OK(cadre_shape_new(cadre_team_find(t->team, "g"), &shape, &err), &err)) {
        const cadre_shape_info *info = cadre_shape_get_info(shape);
        CHECK_INT(info->n_nodes, 3);
        CHECK(info->nodes[0].is_entry && !info->nodes[0].is_end);
        CHECK(info->nodes[2].is_end);
        CHECK_TEXT(info->nodes[1].what, "human");
        CHECK_INT(info->nodes[0].max_runs, 7);
        CHECK_INT(info->n_edges, 3);
        CHECK_TEXT(info->edges[0].label, "{\"contains\":\"q\"}");
        CHECK_TEXT(info->edges[1].label, "else");
        CHECK_INT(info->edges[2].kind, CADRE_SHAPE_BACK);
        cadre_shape_free(shape);
    }
    graph_case_close();
}

// --- Timing ---

static unsigned seed;

static unsigned next_random(void)
{
    seed = seed * 1103515245 + 12345;
    return seed >> 16;
}

// Waits a little, differently each time, keeps its input in the state and says it.
static cadre_status dawdle(void *ctx, cadre_frame *frame, cadre_error *err)
{
    static atomic_uint n;
    unsigned us = (atomic_fetch_add(&n, 1) * 2654435761u >> 8) % 600;
    const char *name = ctx;
    json_t *value = json_string(name);
    usleep(us);
    cadre_status status = cadre_frame_set_state(frame, "log", value, err);
    json_decref(value);
    return status == CADRE_OK ? cadre_frame_set_output(frame, name, err) : status;
}

static const char *const letters[] = {"na", "nb", "nc", "nd", "ne", "nf"};

static void add_dawdlers(void)
{
    for (size_t i = 0; i < 6; i++)
        cadre_team_add_function(t->team,
                                CADRE_FUNCTION(.name = letters[i], .run = dawdle,
                                               .ctx = (void *)(uintptr_t)letters[i]));
}

static void test_rules__timing_never_shows(void)
{
    graph_case_open(
        "{'state': {'log': {'reducer': 'append'}}, 'nodes': {'s': 'na', 'e': 'nb',"
        "  'd': 'nc', 'c': 'nd', 'b': 'ne', 'j': {'agent': 'nf', 'input_from_last': "
        "true},"
        "  'l': {'lua': '{state.log, outputs.j, last_response}'}}, 'edges': ["
        " {'from': 's', 'to': ['b', 'c', 'd', 'e']}, {'from': 'b', 'to': 'j'},"
        " {'from': 'c', 'to': 'j'}, {'from': 'd', 'to': 'b'}, {'from': 'e', 'to': 'j'},"
        " {'from': 'j', 'to': 'l'}]}");
    add_dawdlers();
    for (int i = 0; i < 100; i++) {
        graph_case_run("hi");
        graph_case_check("s@1 e@2 d@2 c@2 b@3 j@4 l@5",
                         "[[\"na\",\"nb\",\"nc\",\"nd\",\"ne\",\"nf\"],\"nf\",\"nf\"]");
    }
    graph_case_close();
}

static void test_rules__two_writers_fail_the_same_each_time(void)
{
    graph_case_open("{'nodes': {'s': {'lua': '1'}, 'x': 'na', 'y': 'nb'},"
                    " 'edges': [{'from': 's', 'to': ['y', 'x']}]}");
    add_dawdlers();
    char first[500] = "";
    for (int i = 0; i < 100; i++) {
        graph_case_run("hi");
        CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
        if (i == 0)
            snprintf(first, sizeof first, "%s", t->err.text);
        CHECK_TEXT(t->err.text, first);
    }
    CHECK_CONTAINS(first, "'log'");
    CHECK_CONTAINS(first, "'na'");
    CHECK_CONTAINS(first, "'nb'");
    graph_case_close();
}

// --- Every graph ---

enum {
    MAX_NODES = 9,
    MAX_EDGES = 20
};

// A random graph, and what a plain reading of the rules makes of it: nodes answer with
// their step, and conditions hold while the step is below a bound.
typedef struct sketch {
    int n_nodes, n_edges;
    int from[MAX_EDGES], to[MAX_EDGES], until[MAX_EDGES]; // until 0: no condition
    bool forward[MAX_EDGES];
    bool reach[MAX_NODES][MAX_NODES];
} sketch;

static void draw(sketch *s)
{
    *s = (sketch){.n_nodes = 2 + (int)(next_random() % (MAX_NODES - 1))};
    // A chain, so that all is reached, then more.
    for (int i = 1; i < s->n_nodes; i++) {
        s->from[s->n_edges] = (int)(next_random() % (unsigned)i);
        s->to[s->n_edges++] = i;
    }
    int more = (int)(next_random() % (MAX_EDGES - MAX_NODES));
    for (int i = 0; i < more; i++) {
        int from = (int)(next_random() % (unsigned)s->n_nodes);
        int to = (int)(next_random() % (unsigned)s->n_nodes);
        bool is_there = false;
        for (int k = 0; k < s->n_edges; k++)
            is_there |= s->from[k] == from && s->to[k] == to;
        if (is_there)
            continue;
        s->from[s->n_edges] = from;
        s->to[s->n_edges] = to;
        // What may lead back has a way out.
        s->until[s->n_edges++] =
            to <= from || next_random() % 3 == 0 ? 2 + (int)(next_random() % 12) : 0;
    }
}

static void visit(sketch *s, int node, bool *is_seen, bool *is_open)
{
    is_seen[node] = is_open[node] = true;
    for (int k = 0; k < s->n_edges; k++) {
        if (s->from[k] != node)
            continue;
        s->forward[k] = !is_open[s->to[k]];
        if (!is_seen[s->to[k]])
            visit(s, s->to[k], is_seen, is_open);
    }
    is_open[node] = false;
}

static void close_reach(sketch *s)
{
    bool is_seen[MAX_NODES] = {false};
    bool is_open[MAX_NODES] = {false};
    visit(s, 0, is_seen, is_open);
    for (int k = 0; k < s->n_edges; k++)
        if (s->forward[k])
            s->reach[s->from[k]][s->to[k]] = true;
    for (int m = 0; m < s->n_nodes; m++)
        for (int i = 0; i < s->n_nodes; i++)
            for (int k = 0; k < s->n_nodes; k++)
                s->reach[i][k] |= s->reach[i][m] && s->reach[m][k];
}

static void follow(const sketch *s, int node, int step, bool *ready)
{
    bool has_switch = false;
    for (int k = 0; k < s->n_edges; k++)
        has_switch |= s->from[k] == node && s->until[k] > 0;
    for (int k = 0; has_switch && k < s->n_edges; k++) {
        if (s->from[k] != node || s->until[k] == 0 || step >= s->until[k])
            continue;
        ready[s->to[k]] = true;
        return;
    }
    for (int k = 0; k < s->n_edges; k++)
        if (s->from[k] == node && s->until[k] == 0)
            ready[s->to[k]] = true;
}

// Takes what runs in this step from what is ready; the rest is in `held`.
static int take_now(const sketch *s, const bool *ready, bool *now, bool *held)
{
    int n_now = 0;
    for (int i = 0; i < s->n_nodes; i++) {
        now[i] = ready[i];
        for (int k = 0; k < s->n_nodes; k++)
            now[i] &= !(ready[k] && k != i && s->reach[k][i]);
        held[i] = ready[i] && !now[i];
        n_now += now[i];
    }
    return n_now;
}

// What must run, as keys. free() it. NULL: it does not come to its end in 60 steps.
static char *expect(const sketch *s)
{
    bool ready[MAX_NODES] = {true};
    cdr_buf keys = CDR_BUF_INIT;
    for (int step = 1; step <= 60; step++) {
        bool now[MAX_NODES] = {false};
        bool next[MAX_NODES] = {false};
        int n_now = take_now(s, ready, now, next);
        for (int i = 0; i < s->n_nodes; i++)
            if (now[i])
                cdr_buf_printf(&keys, "%sn%d@%d", keys.len > 0 ? " " : "", i, step);
        for (int i = 0; i < s->n_nodes; i++)
            if (now[i])
                follow(s, i, step, next);
        memcpy(ready, next, sizeof ready);
        if (n_now == 0)
            return cdr_buf_take(&keys);
    }
    cdr_buf_fini(&keys);
    return NULL;
}

static void write_sketch(const sketch *s, cdr_buf *out)
{
    cdr_buf_append_text(out, "{'max_steps': 60, 'nodes': {");
    for (int i = 0; i < s->n_nodes; i++)
        cdr_buf_printf(out, "%s'n%d': {'lua': 'iteration'}", i > 0 ? ", " : "", i);
    cdr_buf_append_text(out, "}, 'edges': [");
    for (int k = 0; k < s->n_edges; k++) {
        cdr_buf_printf(out, "%s{'from': 'n%d', 'to': 'n%d'", k > 0 ? ", " : "",
                       s->from[k], s->to[k]);
        if (s->until[k] > 0)
            cdr_buf_printf(out, ", 'when': 'iteration < %d or %d < 0'", s->until[k], k);
        cdr_buf_append_text(out, "}");
    }
    cdr_buf_append_text(out, "]}");
}

static int n_ended;

static void check_sketch(const sketch *s)
{
    cdr_buf options = CDR_BUF_INIT;
    write_sketch(s, &options);
    char *expected = expect(s);
    graph_case_open(cdr_buf_text(&options));
    graph_case_run("hi");
    char *keys = graph_case_keys();
    if (expected != NULL) {
        n_ended++;
        CHECK_OK(t->status, &t->err);
        if (!CHECK_TEXT(keys, expected))
            CHECK_TEXT(cdr_buf_text(&options), "");
    } else {
        CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
        CHECK_CONTAINS(t->err.text, "max_steps");
    }
    free(keys);
    free(expected);
    cdr_buf_fini(&options);
    graph_case_close();
}

static void test_rules__every_graph_runs_as_the_rules_say(void)
{
    seed = 7;
    n_ended = 0;
    for (int i = 0; i < 300; i++) {
        sketch s;
        draw(&s);
        close_reach(&s);
        check_sketch(&s);
    }
    CHECK(n_ended > 100);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_rules__nodes_say_one_thing_that_they_do),
    CHECK_TEST(test_rules__settings_belong_to_their_kind),
    CHECK_TEST(test_rules__texts_name_what_there_is),
    CHECK_TEST(test_rules__edges_lead_from_nodes_to_nodes),
    CHECK_TEST(test_rules__edges_are_there_once),
    CHECK_TEST(test_rules__routes_and_conditions_are_kept_apart),
    CHECK_TEST(test_rules__nodes_that_nothing_leads_to_are_told),
    CHECK_TEST(test_rules__loops_without_a_way_out_are_told),
    CHECK_TEST(test_rules__unknown_agents_and_tools_are_told_as_of_members),
    CHECK_TEST(test_rules__state_is_declared_once),
    CHECK_TEST(
        test_rules__agents_that_run_at_once_keep_answers_under_keys_of_their_own),
    CHECK_TEST(test_rules__the_shape_of_a_graph_bounds_its_runs),
    CHECK_TEST(test_rules__timing_never_shows),
    CHECK_TEST(test_rules__two_writers_fail_the_same_each_time),
    CHECK_TEST(test_rules__every_graph_runs_as_the_rules_say),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/graph_rules", tests);
}
