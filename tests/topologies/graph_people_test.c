// Graphs that wait for people: human nodes, interrupts, tools that need approval.
#include "support/check.h"
#include "support/graph_case.h"

#include "cadre/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case *const t = &graph_team;
static char trace[64];

// Runs until it parks. False: it did not.
static bool park(void)
{
    graph_case_run("hi");
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t->run));
    return CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
}

// The question that a call of the graph waits with.
static const char *question_of(const char *key)
{
    static char id[64];
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    id[0] = '\0';
    CHECK_OK(cadre_run_frames(t->run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].kind, "ask") == 0 &&
            frames[i].status == CADRE_FRAME_WAITING &&
            strcmp(frames[frames[i].parent].key, key) == 0)
            snprintf(id, sizeof id, "%s", frames[i].id);
    CHECK(id[0] != '\0');
    return id;
}

static void answer(const char *question, const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    CHECK_OK(cadre_trace_answer(t->runtime, trace, question, value, &err), &err);
    json_decref(value);
}

static void resume(void)
{
    cadre_run *run = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK_OK(cadre_run_resume(t->team, trace, NULL, &run, &err), &err))
        return;
    cadre_run_free(t->run);
    recorder_fini(&t->recorder);
    t->run = run;
    t->err = (cadre_error)CADRE_ERROR_INIT;
    team_case_finish(t);
}

static void test_people__a_human_node_answers_with_what_was_said(void)
{
    graph_case_open(
        "{'nodes': {'a': 'a', 'boss': {'human': 'Is {{last_response}} good?',"
        "  'choices': ['good', 'bad']}, 'b': 'b', 'c': 'c'}, 'edges': ["
        " {'from': 'a', 'to': 'boss'},"
        " {'from': 'boss', 'to': 'b', 'when': {'equals': 'good'}},"
        " {'from': 'boss', 'to': 'c'}]}");
    DRIVEN("a", "say a draft");
    DRIVEN("b", "say sent");
    if (park()) {
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "g.boss: Is a draft good? [\"good\",\"bad\"]\n");
        answer(NULL, "good");
        resume();
        graph_case_check("a@1 boss@2 b@3", "sent");
        CHECK_INT(driven_count("a"), 1);
    }
    graph_case_close();
}

// What the others of the step have done is kept, and done once.
static void test_people__siblings_of_a_human_node_are_done_meanwhile(void)
{
    graph_case_open("{'nodes': {'a': 'a', 'x': {'human': 'Size?'}, 'b': 'b',"
                    "  'y': {'human': 'Colour?'}, 'j': {'agent': 'd',"
                    "  'input_from_last': true}}, 'edges': ["
                    " {'from': 'a', 'to': ['x', 'b', 'y']}, {'from': 'x', 'to': 'j'},"
                    " {'from': 'b', 'to': 'j'}, {'from': 'y', 'to': 'j'}]}");
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("d", "say D");
    if (park()) {
        CHECK_INT(recorder_count(&t->recorder, CADRE_EVENT_INTERRUPT), 2);
        answer(question_of("y@2"), "red");
        resume();
        CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
        answer(NULL, "large");
        resume();
        graph_case_check("a@1 x@2 b@2 y@2 j@3", "D");
        CHECK_TEXT(driven_request("d", 0),
                   "user: ## x\n\nlarge\n\n## b\n\nB\n\n## y\n\nred\n");
        CHECK_INT(driven_count("b"), 1);
    }
    graph_case_close();
}

static const char interrupted[] =
    "{'nodes': {'a': 'a', 'b': {'agent': 'b', 'interrupt': %s}, 'c': 'c'},"
    " 'edges': [{'from': 'a', 'to': ['b', 'c']}]}";

static void open_interrupted(const char *interrupt)
{
    char options[300];
    snprintf(options, sizeof options, interrupted, interrupt);
    graph_case_open(options);
    DRIVEN("a", "say A");
    DRIVEN("b", "say B");
    DRIVEN("c", "say C");
}

static void test_people__an_interrupt_asks_before_the_node_runs(void)
{
    open_interrupted("'Really?'");
    if (park()) {
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "g.b: Really? [\"yes\",\"no\"]\n");
        CHECK_INT(driven_count("b"), 0);
        CHECK_INT(driven_count("c"), 1);
        answer(NULL, "yes");
        resume();
        graph_case_check("a@1 b@2 c@2", "## b\n\nB\n\n## c\n\nC");
        CHECK_TEXT(driven_request("b", 0), "user: hi\n");
        CHECK_INT(driven_count("c"), 1);
    }
    graph_case_close();
}

static void test_people__a_no_fails_the_node_without_running_it(void)
{
    open_interrupted("true");
    if (park()) {
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "g.b: May node 'b' of 'g' run? [\"yes\",\"no\"]\n");
        answer(NULL, "no");
        resume();
        CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
        CHECK_TEXT(t->err.text,
                   "node 'b' of 'g' did not run: a person did not allow it");
        CHECK_INT(driven_count("b"), 0);
    }
    graph_case_close();
}

static void test_people__an_interrupt_that_is_false_asks_nobody(void)
{
    open_interrupted("false");
    graph_case_run("hi");
    graph_case_check("a@1 b@2 c@2", "## b\n\nB\n\n## c\n\nC");
    graph_case_close();
}

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    ++*(int *)ctx;
    return cadre_frame_set_output(
        frame, json_string_value(json_object_get(arguments, "text")), err);
}

static void test_people__a_tool_that_needs_approval_gets_it_in_a_node(void)
{
    static const char *const said[] = {"yes", "no"};
    for (int i = 0; i < 2; i++) {
        int n_runs = 0;
        graph_case_open("{'nodes': {'a': 'a', 'w': {'tool': 'note', 'arguments':"
                        "  {'text': 'got {{last_response}}'}}},"
                        " 'edges': [{'from': 'a', 'to': 'w'}]}");
        cadre_team_add_tool(
            t->team, CADRE_TOOL(.name = "note", .run = note, .ctx = &n_runs,
                                .needs_approval = true,
                                .parameters = "{\"type\": \"object\", \"properties\": "
                                              "{\"text\": {\"type\": \"string\"}}}"));
        DRIVEN("a", "say A");
        if (park()) {
            CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                       "g.w: May g.w call note? [\"yes\",\"no\"]\n");
            answer(NULL, said[i]);
            resume();
            CHECK_INT(n_runs, 1 - i);
            if (i == 0)
                graph_case_check("a@1 w@2", "got A");
            else
                CHECK_TEXT(t->err.text, "tool 'note': blocked: Not done: a person did "
                                        "not allow this call.");
        }
        graph_case_close();
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_people__a_human_node_answers_with_what_was_said),
    CHECK_TEST(test_people__siblings_of_a_human_node_are_done_meanwhile),
    CHECK_TEST(test_people__an_interrupt_asks_before_the_node_runs),
    CHECK_TEST(test_people__a_no_fails_the_node_without_running_it),
    CHECK_TEST(test_people__an_interrupt_that_is_false_asks_nobody),
    CHECK_TEST(test_people__a_tool_that_needs_approval_gets_it_in_a_node),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("topologies/graph_people", tests);
}
