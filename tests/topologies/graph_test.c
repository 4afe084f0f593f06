// Graphs at work: which nodes run, in which step, with what, and what comes of it.
#include "support/check.h"
#include "support/graph_case.h"

#include "cadre/predicate.h"
#include "cadre/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case *const t = &graph_team;

// --- Which nodes run ---

static void test_graph__runs_one_node_after_the_other(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': {'agent': 'b'}},"
                    " 'edges': [{'from': 'a', 'to': 'b'}]}");
    DRIVEN("a", "say one");
    DRIVEN("b", "say two");
    graph_case_run("hi");
    graph_case_check("a@1 b@2", "two");
    // What a node is given is what the graph was given.
    CHECK_TEXT(driven_request("a", 0), "user: hi\n");
    CHECK_TEXT(driven_request("b", 0), "user: hi\n");
    graph_case_close();
}

static void test_graph__entry_is_the_first_node_or_the_one_that_is_named(void)
{
    static const char nodes[] = "'nodes': {'a': 'a', 'b': 'b', 'x': 'c'}, 'edges':"
                                " [{'from': 'b', 'to': 'a'}, {'from': 'x', 'to': 'b'},"
                                "  {'from': 'a', 'to': ['x', 'end'], 'when': 'false'}]";
    static const char *const entries[][2] = {{"", "a@1"},
                                             {"'entry': 'b', ", "b@1 a@2"},
                                             {"'entry': 'x', ", "x@1 b@2 a@3"},
                                             {"'entry': 'c', ", "x@1 b@2 a@3"}};
    for (size_t i = 0; i < 4; i++) {
        char options[400];
        snprintf(options, sizeof options, "{%s%s}", entries[i][0], nodes);
        graph_case_open(options);
        DRIVEN("a", "say A");
        DRIVEN("b", "say B");
        DRIVEN("c", "say C");
        graph_case_run("hi");
        graph_case_check(entries[i][1], "A");
        graph_case_close();
    }
}

static void test_graph__plain_edges_all_lead_on_and_a_join_waits_for_all(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
                    " {'from': 'a', 'to': ['b', 'c']}, {'from': 'b', 'to': 'd'},"
                    " {'from': 'c', 'to': 'd'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@2 d@3", "D");
    graph_case_close();
}

static void test_graph__a_join_waits_for_the_longer_of_uneven_branches(void)
{
    graph_case_open(
        "{'nodes': {'a': 'a', 'j': 'd', 'b': 'b', 'c': 'c', 'e': 'e'}, 'edges': ["
        " {'from': 'a', 'to': ['j', 'b']}, {'from': 'b', 'to': 'c'},"
        " {'from': 'c', 'to': 'e'}, {'from': 'e', 'to': 'j'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
    DRIVEN("d", "say D");
    DRIVEN("e", "say E");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@3 e@4 j@5", "D");
    graph_case_close();
}

static void test_graph__a_branch_not_taken_holds_no_join(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': {'contains': 'left'}},"
                    " {'from': 'a', 'to': 'c'}, {'from': 'b', 'to': 'd'}, {'from': "
                    "'c', 'to': 'd'}]}");
    DRIVEN("a", "say to the left");
    DRIVEN("b", "say B");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 d@3", "D");
    graph_case_close();
}

static void test_graph__conditions_are_one_switch_in_file_order(void)
{
    static const char options[] =
        "{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
        " {'from': 'a', 'to': 'd'},"
        " {'from': 'a', 'to': 'b', 'when': {'contains': ['x', 'y']}},"
        " {'from': 'a', 'to': 'c', 'when': 'contains(last_response, \\'y\\')'}]}";
    static const char *const cases[][2] = {
        {"say y", "a@1 b@2"}, // both hold: the first is taken
        {"say x", "a@1 b@2"},
        {"say z", "a@1 d@2"}, // none: the edge without a condition
    };
    for (size_t i = 0; i < 3; i++) {
        char *json = strdup(options);
        graph_case_open(json);
        DRIVEN("a", cases[i][0]);
        DRIVEN("b", "say B");
        DRIVEN("c", "say C");
        DRIVEN("d", "say D");
        graph_case_run("hi");
        char *keys = graph_case_keys();
        CHECK_TEXT(keys, cases[i][1]);
        free(keys);
        free(json);
        graph_case_close();
    }
}

static void test_graph__without_an_else_the_branch_ends_there(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': {'contains': 'more'}}]}");
    DRIVEN("a", "say enough");
    graph_case_run("hi");
    graph_case_check("a@1", "enough");
    graph_case_close();
}

static void test_graph__a_route_gives_a_name_or_a_list(void)
{
    static const char *const routes[][2] = {
        {"last_response", "a@1 b@2"},
        {"{last_response, \\\"c\\\"}", "a@1 b@2 c@2"},
        {"{\\\"b\\\", \\\"b\\\"}", "a@1 b@2"}, // twice is once
        {"\\\"end\\\"", "a@1"},
    };
    for (size_t i = 0; i < 4; i++) {
        char options[300];
        snprintf(options, sizeof options,
                 "{'nodes': {'a': 'a', 'b': 'b', 'c': 'c'}, 'edges': ["
                 " {'from': 'a', 'route': \"%s\"}]}",
                 routes[i][0]);
        graph_case_open(options);
        DRIVEN("a", "say b");
        DRIVEN("b", "say B");
        DRIVEN("c", "say C");
        graph_case_run("hi");
        CHECK_OK(t->status, &t->err);
        char *keys = graph_case_keys();
        CHECK_TEXT(keys, routes[i][1]);
        free(keys);
        graph_case_close();
    }
}

static void check_route_fails(const char *route, const char *got)
{
    char options[300];
    snprintf(options, sizeof options,
             "{'nodes': {'a': 'a', 'b': 'b', 'c': 'c'}, 'edges': ["
             " {'from': 'a', 'route': \"%s\", 'choices': ['b', 'c', 'end']}]}",
             route);
    graph_case_open(options);
    DRIVEN("a", "say nowhere");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_INT(t->result->error.error_class, CADRE_CLASS_CONFIG);
    CHECK_CONTAINS(t->err.text, "agent 'g', node 'a': edges[0].route gave ");
    CHECK_CONTAINS(t->err.text, got);
    CHECK_CONTAINS(t->err.text, "it can give b, c, end");
    char *keys = graph_case_keys();
    CHECK_TEXT(keys, "a@1");
    free(keys);
    graph_case_close();
}

static void test_graph__what_a_route_cannot_give_fails_with_the_names(void)
{
    check_route_fails("last_response", "gave 'nowhere';");
    check_route_fails("\\\"\\\"", "gave '';");
    check_route_fails("nil", "gave nothing;");
    check_route_fails("7", "gave 7;");
    check_route_fails("{}", "gave [];");
    // Nothing of a list is followed when one of it is wrong.
    check_route_fails("{\\\"b\\\", \\\"x\\\"}", "gave 'x';");
    check_route_fails("\\\"a\\\"", "gave 'a';");
}

static void test_graph__a_condition_must_give_true_or_false(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': '7'}]}");
    DRIVEN("a", "say A");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text,
               "agent 'g', node 'a': edges[0].when gave 7; it must be true "
               "or false");
    graph_case_close();
}

static void test_graph__an_expression_that_fails_names_node_and_edge(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': 'state.n > 3'}]}");
    DRIVEN("a", "say A");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "agent 'g', node 'a': edges[0].when: line 1: ");
    graph_case_close();
}

static void test_graph__a_loop_runs_until_its_condition_lets_it_out(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c'}, 'edges': ["
                    " {'from': 'a', 'to': 'b'},"
                    " {'from': 'b', 'to': 'a', 'when': {'contains': 'again'}},"
                    " {'from': 'b', 'to': 'c'}]}");
    DRIVEN("a", "always\nsay A");
    DRIVEN("b", "say again", "say again", "say good");
    DRIVEN("c", "say C");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 a@3 b@4 a@5 b@6 c@7", "C");
    graph_case_close();
}

static void test_graph__a_loop_in_one_branch_holds_the_join(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
                    " {'from': 'a', 'to': ['b', 'c']}, {'from': 'b', 'to': 'd'},"
                    " {'from': 'c', 'to': 'c', 'when': {'contains': 'again'}},"
                    " {'from': 'c', 'to': 'd'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say again", "say again", "say good");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@2 c@3 c@4 d@5", "D");
    graph_case_close();
}

static void test_graph__max_steps_fails_and_names_what_is_next(void)
{
    graph_case_open("{'max_steps': 3, 'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b'},"
                    " {'from': 'b', 'to': 'a', 'when': 'true'}]}");
    DRIVEN("a", "always\nsay A");
    DRIVEN("b", "always\nsay B");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_INT(t->result->stop_reason, CADRE_STOP_MAX_STEPS);
    CHECK_INT(t->result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_TEXT(t->err.text,
               "agent 'g': after 3 steps (max_steps) it is not at its end; "
               "next: b");
    graph_case_close();
}

static void test_graph__ends_of_several_branches_are_one_answer(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
                    " {'from': 'a', 'to': ['c', 'b']}, {'from': 'c', 'to': 'd'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@2 d@3", "## b\n\nB\n\n## d\n\nD");
    graph_case_close();
}

static void test_graph__a_failed_node_fails_it_when_its_siblings_are_done(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b', 'c': 'c', 'd': 'd'}, 'edges': ["
                    " {'from': 'a', 'to': ['b', 'c']}, {'from': 'b', 'to': 'd'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "fail auth no key");
    DRIVEN("c", "say C");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text, "agent 'b': model 'driven/test': no key");
    CHECK_TEXT(t->result->error.agent, "b");
    CHECK_INT(driven_count("c"), 1);
    CHECK_INT(driven_count("d"), 0);
    graph_case_close();
}

// --- What nodes are given ---

static void test_graph__input_from_last_is_what_led_to_the_node(void)
{
    graph_case_open(
        "{'nodes': {'a': 'a', 'b': {'agent': 'b', 'input_from_last': true}, 'c': 'c',"
        "  'd': {'agent': 'd', 'input_from_last': true}}, 'edges': ["
        " {'from': 'a', 'to': ['c', 'b']}, {'from': 'b', 'to': 'd'},"
        " {'from': 'c', 'to': 'd'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    CHECK_TEXT(driven_request("b", 0), "user: A\n");
    CHECK_TEXT(driven_request("c", 0), "user: hi\n");
    CHECK_TEXT(driven_request("d", 0), "user: ## b\n\nB\n\n## c\n\nC\n");
    graph_case_close();
}

static void test_graph__input_is_a_text_with_places(void)
{
    graph_case_open(
        "{'nodes': {'p': {'agent': 'put', 'input': 'n {\\\"k\\\": [1, 2]}'},"
        "  'q': {'agent': 'put', 'input': 'w \\\"word\\\"'}, 'a': 'a',"
        "  'b': {'agent': 'b', 'input': '{{user_input}}|{{ state.n }}|{{state.w}}|"
        "{{state.none}}|{{last_response}}|{{node_responses.p}}|{{node_responses.b}}|"
        "{{input}}|{{{{input}}|{{'}},"
        " 'edges': [{'from': 'p', 'to': 'q'}, {'from': 'q', 'to': 'a'},"
        "  {'from': 'a', 'to': 'b'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    graph_case_run("hi");
    CHECK_OK(t->status, &t->err);
    CHECK_TEXT(driven_request("b", 0), "user: hi|{\"k\":[1,2]}|word||A|n {\"k\": [1, "
                                       "2]}||hi|{{input}}|{{\n");
    graph_case_close();
}

static void test_graph__for_each_runs_once_for_each_element_at_once(void)
{
    graph_case_open("{'nodes': {'p': {'agent': 'put', 'input': 'list [\\\"x\\\", "
                    "{\\\"y\\\": 1}, 7]'},"
                    "  'a': {'agent': 'a', 'for_each': 'list'},"
                    "  'b': {'agent': 'b', 'input_from_last': true}},"
                    " 'edges': [{'from': 'p', 'to': 'a'}, {'from': 'a', 'to': 'b'}]}");
    DRIVEN("a", "say one", "say one", "say one");
    DRIVEN("b", "say B");
    graph_case_run("hi");
    graph_case_check("p@1 a@2[0] a@2[1] a@2[2] b@3", "B");
    CHECK_TEXT(driven_request("b", 0), "user: [\"one\",\"one\",\"one\"]\n");
    // Which asked first is chance.
    char all[200];
    (void)snprintf(all, sizeof all, "%s%s%s", driven_request("a", 0),
                   driven_request("a", 1), driven_request("a", 2));
    CHECK_CONTAINS(all, "user: x\n");
    CHECK_CONTAINS(all, "user: {\"y\":1}\n");
    CHECK_CONTAINS(all, "user: 7\n");
    graph_case_close();
}

static void test_graph__for_each_of_an_empty_list_goes_on_with_an_empty_one(void)
{
    graph_case_open("{'nodes': {'p': {'agent': 'put', 'input': 'list []'},"
                    "  'a': {'agent': 'a', 'for_each': 'list'},"
                    "  'b': {'agent': 'b', 'input_from_last': true}},"
                    " 'edges': [{'from': 'p', 'to': 'a'}, {'from': 'a', 'to': 'b'}]}");
    DRIVEN("b", "say B");
    graph_case_run("hi");
    graph_case_check("p@1 b@3", "B");
    CHECK_TEXT(driven_request("b", 0), "user: []\n");
    graph_case_close();
}

static void test_graph__for_each_needs_a_list(void)
{
    graph_case_open("{'nodes': {'p': {'agent': 'put', 'input': 'list 3'},"
                    "  'a': {'agent': 'a', 'for_each': 'list'}},"
                    " 'edges': [{'from': 'p', 'to': 'a'}]}");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text, "agent 'g', node 'a': for_each needs a list under "
                            "state.list, which is an integer");
    graph_case_close();
}

static void test_graph__for_each_fills_in_texts_with_the_element(void)
{
    graph_case_open(
        "{'nodes': {'p': {'agent': 'put', 'input': 'list [\\\"x\\\", \\\"y\\\"]'},"
        "  'a': {'lua': 'string.upper(input)', 'for_each': 'list'}},"
        " 'edges': [{'from': 'p', 'to': 'a'}]}");
    graph_case_run("hi");
    graph_case_check("p@1 a@2[0] a@2[1]", "[\"X\",\"Y\"]");
    graph_case_close();
}

static void test_graph__lua_nodes_answer_with_what_their_text_gives(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': {'lua': '#last_response + 1'},"
                    "  'c': {'lua': '{n = tonumber(outputs.b), i = input}'}},"
                    " 'edges': [{'from': 'a', 'to': 'b'}, {'from': 'b', 'to': 'c'}]}");
    DRIVEN("a", "say four");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@3", "{\"i\":\"hi\",\"n\":5}");
    graph_case_close();
}

// --- State ---

static void test_graph__state_is_declared_and_merged_in_node_order(void)
{
    graph_case_open(
        "{'state': {'log': {'reducer': 'append'}, 'n': {'reducer': 'sum', 'default': "
        "5}},"
        " 'nodes': {'s': 'a', 'z': {'agent': 'put', 'input': 'log \\\"z\\\"'},"
        "  'm': {'agent': 'put', 'input': 'log \\\"m\\\"'},"
        "  'k': {'agent': 'put', 'input': 'n 2'}, 'l': {'agent': 'put', 'input': 'n "
        "3'},"
        "  'end_': {'lua': '{state.n, state.log}'}}, 'edges': ["
        " {'from': 's', 'to': ['l', 'k', 'm', 'z']},"
        " {'from': 'z', 'to': 'end_'}, {'from': 'm', 'to': 'end_'},"
        " {'from': 'k', 'to': 'end_'}, {'from': 'l', 'to': 'end_'}]}");
    DRIVEN("a", "say A");
    graph_case_run("hi");
    graph_case_check("s@1 z@2 m@2 k@2 l@2 end_@3", "[10,[\"z\",\"m\"]]");
    graph_case_close();
}

static void test_graph__two_writers_of_a_plain_key_fail_with_both_names(void)
{
    graph_case_open("{'nodes': {'s': 'a', 'x': {'agent': 'put', 'input': 'k 1'},"
                    "  'y': {'agent': 'put', 'input': 'k 2'}},"
                    " 'edges': [{'from': 's', 'to': ['x', 'y']}]}");
    DRIVEN("a", "say A");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "'k'");
    CHECK_CONTAINS(t->err.text, "put");
    graph_case_close();
}

// --- Functions of the program ---

static json_t *below_three(void *ctx, const cadre_predicate_values *values,
                           cadre_error *err)
{
    (void)err;
    CHECK_TEXT(values->input, "hi");
    CHECK_TEXT(values->last_response, "A");
    CHECK_TEXT(json_string_value(json_object_get(values->outputs, "x")), "A");
    CHECK(json_is_object(values->state));
    ++*(int *)ctx;
    return json_boolean(values->iteration < 3);
}

static json_t *to_both(void *ctx, const cadre_predicate_values *values,
                       cadre_error *err)
{
    (void)ctx;
    (void)values;
    (void)err;
    return json_pack("[s, s]", "b", "c");
}

static json_t *give_up(void *ctx, const cadre_predicate_values *values,
                       cadre_error *err)
{
    (void)ctx;
    (void)values;
    cadre_fail(err, CADRE_EIO, "the stars are wrong");
    return NULL;
}

static void test_graph__predicates_of_the_program_decide(void)
{
    int n_asked = 0;
    graph_case_open(
        "{'nodes': {'x': 'a', 'b': 'b', 'c': 'c'}, 'edges': ["
        " {'from': 'x', 'to': 'x', 'when': {'call': 'below_three'}},"
        " {'from': 'x', 'to': 'b'},"
        " {'from': 'b', 'route': {'call': 'to_both'}, 'choices': ['b', 'c']}],"
        " 'max_steps': 4}");
    cadre_team_add_predicate(t->team, "below_three", below_three, &n_asked);
    cadre_team_add_predicate(t->team, "to_both", to_both, NULL);
    DRIVEN("a", "always\nsay A");
    DRIVEN("b", "always\nsay B");
    DRIVEN("c", "always\nsay C");
    graph_case_run("hi");
    CHECK_INT(n_asked, 3);
    CHECK_CONTAINS(t->err.text, "next: b, c");
    graph_case_close();
}

static void test_graph__a_predicate_that_fails_fails_its_graph(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': {'call': 'give_up'}}]}");
    cadre_team_add_predicate(t->team, "give_up", give_up, NULL);
    DRIVEN("a", "say A");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text, "agent 'g', node 'a': edges[0].when: the stars are wrong");
    graph_case_close();
}

static void test_graph__predicates_have_names_of_their_own(void)
{
    size_t n = 0;
    graph_case_open("{'nodes': {'a': 'a', 'b': 'b'}, 'edges': ["
                    " {'from': 'a', 'to': 'b', 'when': {'call': 'give_upp'}}]}");
    cadre_team_add_predicate(t->team, "give_up", give_up, NULL);
    cadre_team_add_predicate(t->team, "give_up", give_up, NULL);
    cadre_team_add_predicate(t->team, "nothing", NULL, NULL);
    cadre_team_add_predicate(t->team, "Bad", give_up, NULL);
    cadre_team_seal(t->team, NULL);
    const char *const *problems = cadre_team_problems(t->team, &n);
    if (CHECK_INT(n, 4)) {
        CHECK_TEXT(problems[0], "predicate 'give_up': is added twice");
        CHECK_TEXT(problems[1], "predicate 'nothing': the function is missing");
        CHECK_CONTAINS(problems[2], "predicate 'Bad': a name is");
        CHECK_CONTAINS(problems[3], "options.edges[0].when: unknown predicate "
                                    "'give_upp'");
    }
    graph_case_close();
}

// --- Retries and tools ---

static void test_graph__retry_tries_again_and_keeps_the_rest_out_of_it(void)
{
    graph_case_open(
        "{'nodes': {'a': {'agent': 'a', 'retry': {'attempts': 3, 'backoff': '1ms'}},"
        "  'b': 'b'}, 'edges': [{'from': 'a', 'to': 'b'}]}");
    DRIVEN("a", "fail auth no", "fail auth no", "say at last");
    DRIVEN("b", "say B");
    graph_case_run("hi");
    graph_case_check("a@1 b@2", "B");
    char *frames = team_case_frames(t);
    CHECK_CONTAINS(frames, "  agent g.a a@1 completed final\n"
                           "    agent a a#1 failed error\n");
    CHECK_CONTAINS(frames, "    tool backoff backoff#1 completed final\n"
                           "    agent a a#2 failed error\n");
    CHECK_CONTAINS(frames, "    agent a a#3 completed final\n");
    free(frames);
    graph_case_close();
}

static void test_graph__after_its_last_attempt_a_node_fails_as_it_did_then(void)
{
    graph_case_open("{'nodes': {'a': {'agent': 'a', 'retry': {'attempts': 2,"
                    "  'backoff': '1ms'}}}}");
    DRIVEN("a", "fail auth first", "fail auth second");
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_TEXT(t->err.text, "agent 'a': model 'driven/test': second");
    CHECK_INT(t->result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_INT(driven_count("a"), 2);
    graph_case_close();
}

static void test_graph__a_tool_node_runs_a_tool_without_a_model(void)
{
    adder adds = {0};
    graph_case_open(
        "{'nodes': {'p': {'agent': 'put', 'input': 'n 40'},"
        "  'sum': {'tool': 'add', 'arguments': {'a': '{{state.n}}', 'b': 2}}},"
        " 'edges': [{'from': 'p', 'to': 'sum'}]}");
    team_case_add_adder(t, &adds);
    graph_case_run("hi");
    graph_case_check("p@1 sum@2", "42");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_CALL),
               "g.sum: add {\"a\":40,\"b\":2}\n");
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT),
               "g.sum: add ok 42\n");
    CHECK_INT(t->result->usage.tool_calls, 1);
    graph_case_close();
}

static void test_graph__a_tool_that_fails_fails_its_node(void)
{
    adder adds = {0};
    graph_case_open("{'nodes': {'sum': {'tool': 'add', 'arguments': {'a': 'x'}}}}");
    team_case_add_adder(t, &adds);
    graph_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "tool 'add': invalid_arguments: ");
    CHECK_INT(t->result->error.error_class, CADRE_CLASS_TOOL);
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    graph_case_close();
}

static void test_graph__an_attempt_has_its_own_time(void)
{
    graph_case_open("{'nodes': {'a': {'agent': 'a', 'timeout': '20ms', 'retry':"
                    "  {'attempts': 2, 'backoff': '0ms'}}}}");
    DRIVEN("a", "hold", "say in time");
    graph_case_run("hi");
    graph_case_check("a@1", "in time");
    graph_case_close();
}

// --- Graphs in graphs ---

static void test_graph__a_graph_is_a_node_like_any_other(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'inner': {'agent': 'k', 'input_from_last':"
                    "  true}, 'd': {'agent': 'd', 'input_from_last': true}}, 'edges': ["
                    " {'from': 'a', 'to': 'inner'}, {'from': 'inner', 'to': 'd'}]}");
    char *inner = graph_case_json("{'nodes': {'b': 'b', 'c': {'agent': 'c',"
                                  " 'input_from_last': true}}, 'edges': ["
                                  " {'from': 'b', 'to': 'c'}]}");
    cadre_team_add_topology(t->team, "graph",
                            CADRE_TOPOLOGY(.name = "k", .options = inner));
    free(inner);
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
    DRIVEN("d", "say D");
    graph_case_run("hi");
    graph_case_check("a@1 inner@2 d@3", "D");
    CHECK_TEXT(driven_request("b", 0), "user: A\n");
    CHECK_TEXT(driven_request("c", 0), "user: B\n");
    CHECK_TEXT(driven_request("d", 0), "user: C\n");
    graph_case_close();
}

static void test_graph__one_graph_serves_two_runs_at_once(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *runs[2] = {NULL, NULL};
    graph_case_open(
        "{'nodes': {'a': 'a', 'b': {'agent': 'b', 'input_from_last': true}},"
        " 'edges': [{'from': 'a', 'to': 'b'}]}");
    DRIVEN("a", "gate\nsay one", "gate\nsay one");
    DRIVEN("b", "say done", "say done");
    for (int i = 0; i < 2; i++)
        CHECK_OK(cadre_run_start(t->team, CADRE_RUN(.input = "hi"), &runs[i], &err),
                 &err);
    CHECK(driven_await_held(2));
    driven_release();
    for (int i = 0; i < 2; i++) {
        const cadre_result *result = NULL;
        CHECK_OK(cadre_run_wait(runs[i], &result, &err), &err);
        if (CHECK(result != NULL))
            CHECK_TEXT(result->text, "done");
        cadre_run_free(runs[i]);
    }
    graph_case_close();
}

static void test_graph__in_a_conversation_it_takes_the_last_turn_of_the_user(void)
{
    team_case_open(t);
    char *graph = graph_case_json("{'nodes': {'b': 'b'}}");
    cadre_team_add_topology(
        t->team, "chain",
        CADRE_TOPOLOGY(.name = "line", .members = CADRE_NAMES("a", "k")));
    cadre_team_add_topology(t->team, "graph",
                            CADRE_TOPOLOGY(.name = "k", .options = graph));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "a", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "b", .model = DRIVEN_MODEL));
    free(graph);
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    team_case_run(t, "what now?");
    team_case_check_answer(t, "k", "B");
    CHECK_TEXT(driven_request("b", 0), "user: what now?\n");
    team_case_close(t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_graph__runs_one_node_after_the_other),
    CHECK_TEST(test_graph__entry_is_the_first_node_or_the_one_that_is_named),
    CHECK_TEST(test_graph__plain_edges_all_lead_on_and_a_join_waits_for_all),
    CHECK_TEST(test_graph__a_join_waits_for_the_longer_of_uneven_branches),
    CHECK_TEST(test_graph__a_branch_not_taken_holds_no_join),
    CHECK_TEST(test_graph__conditions_are_one_switch_in_file_order),
    CHECK_TEST(test_graph__without_an_else_the_branch_ends_there),
    CHECK_TEST(test_graph__a_route_gives_a_name_or_a_list),
    CHECK_TEST(test_graph__what_a_route_cannot_give_fails_with_the_names),
    CHECK_TEST(test_graph__a_condition_must_give_true_or_false),
    CHECK_TEST(test_graph__an_expression_that_fails_names_node_and_edge),
    CHECK_TEST(test_graph__a_loop_runs_until_its_condition_lets_it_out),
    CHECK_TEST(test_graph__a_loop_in_one_branch_holds_the_join),
    CHECK_TEST(test_graph__max_steps_fails_and_names_what_is_next),
    CHECK_TEST(test_graph__ends_of_several_branches_are_one_answer),
    CHECK_TEST(test_graph__a_failed_node_fails_it_when_its_siblings_are_done),
    CHECK_TEST(test_graph__input_from_last_is_what_led_to_the_node),
    CHECK_TEST(test_graph__input_is_a_text_with_places),
    CHECK_TEST(test_graph__for_each_runs_once_for_each_element_at_once),
    CHECK_TEST(test_graph__for_each_of_an_empty_list_goes_on_with_an_empty_one),
    CHECK_TEST(test_graph__for_each_needs_a_list),
    CHECK_TEST(test_graph__for_each_fills_in_texts_with_the_element),
    CHECK_TEST(test_graph__lua_nodes_answer_with_what_their_text_gives),
    CHECK_TEST(test_graph__state_is_declared_and_merged_in_node_order),
    CHECK_TEST(test_graph__two_writers_of_a_plain_key_fail_with_both_names),
    CHECK_TEST(test_graph__predicates_of_the_program_decide),
    CHECK_TEST(test_graph__a_predicate_that_fails_fails_its_graph),
    CHECK_TEST(test_graph__predicates_have_names_of_their_own),
    CHECK_TEST(test_graph__retry_tries_again_and_keeps_the_rest_out_of_it),
    CHECK_TEST(test_graph__after_its_last_attempt_a_node_fails_as_it_did_then),
    CHECK_TEST(test_graph__a_tool_node_runs_a_tool_without_a_model),
    CHECK_TEST(test_graph__a_tool_that_fails_fails_its_node),
    CHECK_TEST(test_graph__an_attempt_has_its_own_time),
    CHECK_TEST(test_graph__a_graph_is_a_node_like_any_other),
    CHECK_TEST(test_graph__one_graph_serves_two_runs_at_once),
    CHECK_TEST(test_graph__in_a_conversation_it_takes_the_last_turn_of_the_user),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/graph", tests);
}
