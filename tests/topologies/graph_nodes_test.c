// What nodes of a graph are given and give: inputs, state, functions of the program,
// attempts, tools, and graphs.
#include "support/check.h"
#include "support/graph_case.h"

#include "cadre/predicate.h"
#include "cadre/state.h"

#include <stdlib.h>

static team_case *const t = &graph_team;

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
    return check_main("topologies/graph_nodes", tests);
}
