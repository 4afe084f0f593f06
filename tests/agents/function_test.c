// The function agent: one C function, with what it is given and gives back.
#include "support/check.h"
#include "support/team_case.h"

#include "cadre/ext/scope.h"

#include <string.h>

static team_case t;

static cadre_status echo(void *ctx, cadre_frame *frame, cadre_error *err)
{
    CHECK_TEXT(ctx, "context");
    CHECK_TEXT(cadre_agent_get_info(cadre_frame_agent(frame))->name, "echo");
    CHECK_TEXT(cadre_agent_get_info(cadre_frame_agent(frame))->type, "function");
    CHECK_TEXT(cadre_frame_path(frame), "echo");
    CHECK(cadre_frame_scope(frame) == NULL);
    CHECK_INT(cadre_frame_targets(frame).count, 0);
    CHECK(cadre_frame_find(frame, "nobody") == NULL);
    CHECK(cadre_frame_remaining_ms(frame) == INT64_MAX);
    CHECK(!cadre_frame_is_stopped(frame));
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "you said: %s", cadre_frame_input(frame)),
        err);
}

static void test_function__answers_what_it_sets(void)
{
    char context[] = "context";
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "echo", .run = echo, .ctx = context));
    team_case_run(&t, "hello");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "you said: hello");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
               "echo: user hello\necho: assistant you said: hello\n");
    team_case_close(&t);
}

static cadre_status fail(void *ctx, cadre_frame *frame, cadre_error *err)
{
    if (ctx == NULL)
        return CADRE_EFAILED;
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_QUOTA, true,
                            "%s has no more", cadre_frame_input(frame));
}

static void test_function__fails_with_its_own_words_or_says_that_it_has_none(void)
{
    char context[] = "context";
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "fails", .run = fail, .ctx = context));
    team_case_run(&t, "bank");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "bank has no more");
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_QUOTA);
    CHECK(t.result->error.retryable);
    CHECK_TEXT(t.result->error.agent, "fails");
    team_case_close(&t);
    team_case_open(&t);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "fails", .run = fail));
    team_case_run(&t, "bank");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "agent 'fails' failed without saying why");
    team_case_close(&t);
}

static cadre_status read_json(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const json_t *input = cadre_frame_input_json(frame);
    CHECK(cadre_frame_input_json(frame) == input); // parsed once
    *(bool *)ctx = input != NULL;
    return cadre_frame_set_output(
        frame,
        cadre_frame_printf(frame, "%lld",
                           json_integer_value(json_object_get(input, "n"))),
        err);
}

static void check_json(const char *input, bool is_json, const char *expected)
{
    bool was_json = !is_json;
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "reads", .run = read_json, .ctx = &was_json));
    team_case_run(&t, input);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, expected);
    CHECK_INT(was_json, is_json);
    team_case_close(&t);
}

static void test_function__reads_its_input_as_json(void)
{
    char deep[2001];
    check_json("{\"n\": 7}", true, "7");
    check_json("plain text", false, "0");
    check_json("", false, "0");
    memset(deep, '[', 1000);
    memset(deep + 1000, ']', 1000);
    deep[2000] = '\0';
    check_json(deep, false, "0"); // deeper than 128 is refused
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_function__answers_what_it_sets),
    CHECK_TEST(test_function__fails_with_its_own_words_or_says_that_it_has_none),
    CHECK_TEST(test_function__reads_its_input_as_json),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("agents/function", tests);
}
