// Questions to people: a run parks when nothing else can go on, is answered, and goes
// on; and what others do to it from outside.
#include "support/ask_case.h"

#include "cadre/trace.h"

#include <stdio.h>

static team_case *const t = &ask_team;

// --- Agents ---

static cadre_status ask_size(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_case_ask(frame, "size?", err);
}

static cadre_status ask_choice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = json_pack("{s:s,s:[s,s],s:i}", "question", "go on?", "choices",
                                 "yes", "no", "amount", 7);
    (void)ctx;
    cadre_status status = cadre_frame_ask(frame, "go", question, &answer, err);
    json_decref(question);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, json_string_value(answer), err);
    json_decref(answer);
    return status;
}

static int n_leads;

// Both branches ask at once; what they gave is put together.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    n_leads++;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "size"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%s, %s", out[0].text, out[1].text), err);
}

// Makes nothing of what it is told.
static cadre_status stubborn(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_error ignored = CADRE_ERROR_INIT;
    (void)ctx;
    cadre_frame_call(frame, CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                     NULL, &ignored);
    return cadre_frame_set_output(frame, "anyway", err);
}

static cadre_status lie(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_EPARKED;
}

static void open_all(const char *root)
{
    team_case_open(t);
    n_leads = 0;
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_case_colour));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "size", .run = ask_size));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "choice", .run = ask_choice));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "lead", .run = lead,
                                           .members = CADRE_NAMES("colour", "size")));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "stubborn", .run = stubborn,
                                                    .members = CADRE_NAMES("colour")));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "liar", .run = lie));
    cadre_team_set_root(t->team, root);
}

static void check_refused_answer(const char *question, const char *text,
                                 cadre_status expected, const char *part)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string(text);
    CHECK_STATUS(cadre_trace_answer(t->runtime, ask_trace, question, value, &err),
                 expected, &err);
    CHECK_CONTAINS(err.text, part);
    json_decref(value);
}

// --- Tests ---

static void test_ask__parks_a_run_of_one_and_goes_on_with_the_answer(void)
{
    open_all("colour");
    if (ask_case_park()) {
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "colour: colour? \n");
        CHECK_CONTAINS(recorder_text(&t->recorder, CADRE_EVENT_STREAM_END),
                       "waiting none");
        ask_case_check_frames("agent colour root waiting none\n"
                              "  ask ask ask#1 waiting none\n");
        ask_case_answer(NULL, "red");
        ask_case_resume();
        team_case_check_answer(t, "colour", "colour? red");
        ask_case_check_frames("agent colour root completed final\n"
                              "  ask ask ask#1 completed final\n");
    }
    team_case_close(t);
}

static void test_ask__takes_answers_of_branches_in_any_order(void)
{
    for (int first = 0; first < 2; first++) {
        open_all("lead");
        if (ask_case_park()) {
            ask_case_answer(ask_case_question(first == 0 ? "size" : "colour"),
                            first == 0 ? "large" : "red");
            ask_case_resume(); // the other one is still open
            CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
            CHECK_CONTAINS(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                           first == 0 ? "colour?" : "size?");
            ask_case_answer(NULL, first == 0 ? "red" : "large");
            ask_case_resume();
            team_case_check_answer(t, "lead", "colour? red, size? large");
            CHECK_INT(n_leads, 3);
        }
        team_case_close(t);
    }
}

static void test_ask__takes_both_answers_at_once(void)
{
    open_all("lead");
    if (ask_case_park()) {
        char second[64];
        snprintf(second, sizeof second, "%s", ask_case_question("size"));
        check_refused_answer(NULL, "red", CADRE_EINVAL, "waits for 2 answers");
        ask_case_answer(ask_case_question("colour"), "red");
        ask_case_answer(second, "large");
        ask_case_resume();
        team_case_check_answer(t, "lead", "colour? red, size? large");
    }
    team_case_close(t);
}

static void test_ask__refuses_what_is_no_answer(void)
{
    open_all("choice");
    if (ask_case_park()) {
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "choice: go on? [\"yes\",\"no\"]\n");
        check_refused_answer(NULL, "perhaps", CADRE_EINVAL, "yes, no");
        check_refused_answer(ask_trace, "yes", CADRE_ENOTFOUND, ask_trace);
        check_refused_answer("!", "yes", CADRE_EINVAL, "not the id");
        ask_case_answer(NULL, "yes");
        ask_case_answer(NULL, "yes"); // the same again
        check_refused_answer(NULL, "no", CADRE_EINVAL, "another answer");
        ask_case_resume();
        team_case_check_answer(t, "choice", "yes");
        check_refused_answer(NULL, "yes", CADRE_EINVAL, "has ended");
    }
    team_case_close(t);
}

static void test_ask__parks_though_the_caller_takes_no_notice(void)
{
    open_all("stubborn");
    if (ask_case_park()) {
        ask_case_answer(NULL, "red");
        ask_case_resume();
        team_case_check_answer(t, "stubborn", "anyway");
    }
    team_case_close(t);
}

static void test_ask__fails_who_says_it_waits_and_asks_nobody(void)
{
    open_all("liar");
    team_case_run(t, "go");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "asks nobody");
    team_case_close(t);
}

static void test_ask__ends_with_an_abort_from_outside(void)
{
    open_all("lead");
    if (ask_case_park()) {
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_trace_wait(t->runtime, ask_trace, false, 0, &err),
                     CADRE_EPARKED, &err);
        CHECK_OK(cadre_trace_abort(t->runtime, ask_trace,
                                   CADRE_ABORT(.reason = "not needed"), NULL),
                 NULL);
        ask_case_check_frames("agent lead root aborted aborted\n"
                              "  agent colour b1/1 aborted aborted\n"
                              "    ask ask ask#1 aborted aborted\n"
                              "  agent size b1/2 aborted aborted\n"
                              "    ask ask ask#1 aborted aborted\n");
        CHECK_OK(cadre_trace_wait(t->runtime, ask_trace, false, 0, NULL), NULL);
        const cadre_frame_info *frames = NULL;
        size_t n = 0;
        CHECK_OK(cadre_run_frames(t->run, &frames, &n, NULL), NULL);
        CHECK_TEXT(frames[0].abort_reason, "request: not needed");
        CHECK_TEXT(frames[0].error.message, "aborted: not needed");
        check_refused_answer(NULL, "red", CADRE_EINVAL, "has ended");
        cadre_run *run = NULL;
        err = (cadre_error)CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_run_resume(t->team, ask_trace, NULL, &run, &err),
                     CADRE_EINVAL, &err);
    }
    team_case_close(t);
}

// --- Deeper ---

static json_t *ask_in_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    json_t *question = json_string("really?");
    (void)ctx;
    cadre_frame_ask(frame, NULL, question, &answer, err);
    json_decref(question);
    return answer;
}

static cadre_status step_and_ask(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *value = NULL;
    (void)ctx;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "sure", .run = ask_in_step), &value, err);
    if (status == CADRE_OK)
        status = cadre_frame_set_output(frame, json_string_value(value), err);
    json_decref(value);
    return status;
}

static void test_ask__parks_in_a_step(void)
{
    open_all("stepper");
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "stepper", .run = step_and_ask));
    if (ask_case_park()) {
        ask_case_check_frames("agent stepper root waiting none\n"
                              "  tool sure sure#1 waiting none\n"
                              "    ask ask ask#1 waiting none\n");
        ask_case_answer(NULL, "yes");
        ask_case_resume();
        team_case_check_answer(t, "stepper", "yes");
    }
    team_case_close(t);
}

static cadre_status ask_with_own_key(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *question = json_string("hm?");
    cadre_status status = cadre_frame_ask(frame, ctx, question, NULL, err);
    json_decref(question);
    return status;
}

static void test_ask__refuses_keys_of_the_framework(void)
{
    static char key[] = "approval";
    open_all("thief");
    cadre_team_add_function(
        t->team, CADRE_FUNCTION(.name = "thief", .ctx = key, .run = ask_with_own_key));
    team_case_run(t, "go");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "the key 'approval' is the framework's own");
    team_case_close(t);
}

static void test_ask__refuses_an_answer_that_could_not_be_read_back(void)
{
    open_all("colour");
    if (ask_case_park()) {
        cadre_error err = CADRE_ERROR_INIT;
        json_t *deep = json_array();
        for (int i = 0; i < 200; i++) {
            json_t *outer = json_array();
            json_array_append_new(outer, deep);
            deep = outer;
        }
        CHECK_STATUS(cadre_trace_answer(t->runtime, ask_trace, NULL, deep, &err),
                     CADRE_EINVAL, &err);
        CHECK_CONTAINS(err.text, "128 levels");
        json_decref(deep);
    }
    team_case_close(t);
}

// --- Time, transfers, sessions ---

static void test_ask__parks_behind_a_transfer_and_in_a_session(void)
{
    team_case_open(t);
    cadre_team_add_topology(
        t->team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "colour")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                          .handoffs = CADRE_NAMES("colour")));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_case_colour));
    DRIVEN("alice", "to colour ask them", "say again");
    team_case_run_with(t, CADRE_RUN(.input = "go", .session = "s"));
    snprintf(ask_trace, sizeof ask_trace, "%s", cadre_run_trace_id(t->run));
    if (CHECK_STATUS(t->status, CADRE_EPARKED, &t->err)) {
        ask_case_check_frames("agent desk root waiting none\n"
                              "  agent alice alice#1 waiting none\n"
                              "    model driven/test 1 completed final\n"
                              "    tool transfer_to_agent 1/0 completed final\n"
                              "    agent colour transfer waiting none\n"
                              "      ask ask ask#1 waiting none\n");
        cadre_run *other = NULL;
        cadre_error err = CADRE_ERROR_INIT;
        CHECK_STATUS(cadre_run_start(t->team, CADRE_RUN(.input = "hm", .session = "s"),
                                     &other, &err),
                     CADRE_EBUSY, &err);
        ask_case_answer(NULL, "red");
        ask_case_resume();
        team_case_check_answer(t, "colour", "colour? red");
        CHECK_INT(driven_count("alice"), 1);
        team_case_run_with(t, CADRE_RUN(.input = "and?", .session = "s"));
        CHECK_STATUS(t->status, CADRE_EPARKED, &t->err); // colour spoke last
    }
    team_case_close(t);
}

// A turn that asks and hands over: the handover is decided when all is answered,
// however often it goes on before.
static void test_ask__keeps_a_handover_of_the_turn(void)
{
    team_case_open(t);
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "person", .type = "ask"));
    cadre_team_add_topology(
        t->team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                          .tools = CADRE_NAMES("person"),
                                          .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_llm(t->team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
    DRIVEN("alice", "call person {\"question\":\"which?\"}\nto bob please",
           "say again");
    DRIVEN("bob", "say here I am");
    if (ask_case_park()) {
        for (int i = 0; i < 6; i++) {
            ask_case_resume(); // nobody has answered yet
            CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
        }
        ask_case_answer(NULL, "this");
        ask_case_resume();
        team_case_check_answer(t, "bob", "here I am");
    }
    team_case_close(t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_ask__parks_a_run_of_one_and_goes_on_with_the_answer),
    CHECK_TEST(test_ask__takes_answers_of_branches_in_any_order),
    CHECK_TEST(test_ask__takes_both_answers_at_once),
    CHECK_TEST(test_ask__refuses_what_is_no_answer),
    CHECK_TEST(test_ask__parks_though_the_caller_takes_no_notice),
    CHECK_TEST(test_ask__fails_who_says_it_waits_and_asks_nobody),
    CHECK_TEST(test_ask__ends_with_an_abort_from_outside),
    CHECK_TEST(test_ask__parks_in_a_step),
    CHECK_TEST(test_ask__refuses_keys_of_the_framework),
    CHECK_TEST(test_ask__refuses_an_answer_that_could_not_be_read_back),
    CHECK_TEST(test_ask__parks_behind_a_transfer_and_in_a_session),
    CHECK_TEST(test_ask__keeps_a_handover_of_the_turn),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/ask", tests);
}
