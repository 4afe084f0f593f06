// Which nodes of a graph run, and when. What they are given is in graph_nodes_test.c.
#include "support/check.h"
#include "support/graph_case.h"

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
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/graph", tests);
}
