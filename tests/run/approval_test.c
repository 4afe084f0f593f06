// Tools that a person must allow: asked before they run, denied, and beside others.
#include "support/ask_case.h"

#include <stdio.h>
#include <string.h>

static team_case *const t = &ask_team;

// --- Tools that need approval ---

static adder adds;

static cadre_status add(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err)
{
    adder *self = ctx;
    (void)arguments;
    atomic_fetch_add(&self->n_runs, 1);
    return cadre_frame_set_output(frame, "paid", err);
}

static void open_payer(const char *answers)
{
    team_case_open(t);
    memset(&adds, 0, sizeof adds);
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "pay", .run = add, .ctx = &adds,
                                            .needs_approval = true,
                                            .parameters = "{\"type\": \"object\"}"));
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "look", .run = add, .ctx = &adds));
    cadre_team_add_tool(t->team, CADRE_TOOL(.name = "person", .type = "ask"));
    cadre_team_add_llm(t->team,
                       CADRE_LLM(.name = "payer", .model = DRIVEN_MODEL,
                                 .tools = CADRE_NAMES("pay", "look", "person")));
    if (answers != NULL)
        DRIVEN("payer", answers, "say done");
}

static void test_approval__is_asked_before_the_tool_runs(void)
{
    open_payer("call pay {\"euros\":7}");
    if (ask_case_park()) {
        CHECK_INT(atomic_load(&adds.n_runs), 0);
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
                   "payer: May payer call pay? [\"yes\",\"no\"]\n");
        ask_case_check_frames("agent payer root waiting none\n"
                              "  model driven/test 1 completed final\n"
                              "  tool pay 1/0 pending none\n"
                              "    ask ask approval waiting none\n");
        ask_case_answer(NULL, "yes");
        ask_case_resume();
        team_case_check_answer(t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 1);
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT),
                   "payer: pay ok paid\n");
    }
    team_case_close(t);
}

static void test_approval__that_is_not_given_is_told_to_the_model(void)
{
    open_payer("call pay {\"euros\":7}");
    if (ask_case_park()) {
        ask_case_answer(NULL, "no");
        ask_case_resume();
        team_case_check_answer(t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 0);
        CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT),
                   "payer: pay blocked Not done: a person did not allow this call.\n");
    }
    team_case_close(t);
}

static void test_approval__holds_up_no_other_tool_of_the_turn(void)
{
    open_payer(NULL);
    DRIVEN("payer",
           "call pay {\"euros\":7}\ncall look\ncall person {\"question\":\"which?\"}",
           "say done");
    if (ask_case_park()) {
        CHECK_INT(atomic_load(&adds.n_runs), 1); // look
        ask_case_check_frames("agent payer root waiting none\n"
                              "  model driven/test 1 completed final\n"
                              "  tool pay 1/0 pending none\n"
                              "  tool look 1/1 completed final\n"
                              "  tool person 1/2 waiting none\n"
                              "    ask ask approval waiting none\n"
                              "    ask ask ask#1 waiting none\n");
        char person[64];
        snprintf(person, sizeof person, "%s", ask_case_question("person"));
        ask_case_answer(person, "the second");
        ask_case_resume();
        CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
        ask_case_answer(NULL, "yes");
        ask_case_resume();
        team_case_check_answer(t, "payer", "done");
        CHECK_INT(atomic_load(&adds.n_runs), 2);
        CHECK_CONTAINS(driven_request("payer", 1), "call00003: the second");
        CHECK_CONTAINS(driven_request("payer", 1), "tool call00001: paid");
        CHECK_LACKS(driven_request("payer", 1), "yes");
    }
    team_case_close(t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_approval__is_asked_before_the_tool_runs),
    CHECK_TEST(test_approval__that_is_not_given_is_told_to_the_model),
    CHECK_TEST(test_approval__holds_up_no_other_tool_of_the_turn),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/approval", tests);
}
