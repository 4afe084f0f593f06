// The llm agent: turns, tools in parallel, limits, and what the model is told of them.
#include "support/check.h"
#include "support/team_case.h"

#include "tree/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

static void open_solo(cadre_llm llm)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    llm.struct_size = sizeof llm;
    llm.name = "solo";
    llm.model = DRIVEN_MODEL;
    const cadre_names add = CADRE_NAMES("add");
    if (llm.tools.count == 0)
        llm.tools = add;
    cadre_team_add_llm(t.team, &llm);
}

static void test_llm__asks_runs_tools_and_asks_again(void)
{
    open_solo((cadre_llm){.instructions = "Add well."});
    DRIVEN("solo", "say let me see\ncall add {\"a\":3,\"b\":4}\nusage 10 5",
           "say it is 7\nusage 20 3");
    team_case_run(&t, "3 and 4?");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "it is 7");
    CHECK_TEXT(driven_system("solo", 0), "Add well.");
    CHECK_TEXT(driven_tools("solo", 0), "add");
    CHECK_TEXT(driven_request("solo", 1), "user: 3 and 4?\n"
                                          "assistant: let me see\n"
                                          "call call00001 add {\"a\":3,\"b\":4}\n"
                                          "tool call00001: 7\n");
    CHECK_INT(t.result->usage.model_calls, 2);
    CHECK_INT(t.result->usage.tool_calls, 1);
    CHECK_INT(t.result->usage.input_tokens, 30);
    CHECK_INT(t.result->usage.output_tokens, 8);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), "solo: add ok 7\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
               "solo: user 3 and 4?\nsolo: assistant let me see\n"
               "solo: assistant it is 7\n");
    team_case_close(&t);
}

static void test_llm__each_request_starts_with_the_one_before(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}\ncall add {\"a\":2,\"b\":2}",
           "say hm\ncall add {\"a\":3,\"b\":3}", "call nothing", "call add {broken",
           "say end");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    for (size_t i = 1; i < 5; i++) {
        const char *before = driven_request("solo", i - 1);
        CHECK_BYTES(driven_request("solo", i), strlen(before), before, strlen(before));
        CHECK(strlen(driven_request("solo", i)) > strlen(before));
    }
    team_case_close(&t);
}

// --- Limits ---

static void test_llm__max_turns_without_an_answer_fails(void)
{
    open_solo((cadre_llm){.max_turns = 3});
    DRIVEN("solo", "always\ncall add {\"a\":1,\"b\":1}");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_TURNS);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_TEXT(t.err.text, "agent 'solo': no answer after 3 turns (max_turns)");
    CHECK_INT(driven_count("solo"), 3);
    CHECK_INT(atomic_load(&adds.n_runs), 3);
    team_case_close(&t);
}

static void test_llm__max_turns_with_an_answer_completes(void)
{
    open_solo((cadre_llm){.max_turns = 2});
    DRIVEN("solo", "say first draft\ncall add {\"a\":1,\"b\":1}",
           "call add {\"a\":1,\"b\":2}");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_TURNS);
    CHECK_TEXT(t.result->text, "first draft");
    team_case_close(&t);
}

static void test_llm__max_bad_calls_counts_bad_rounds_in_a_row(void)
{
    open_solo((cadre_llm){.max_bad_calls = 2});
    DRIVEN("solo", "call nothing", "call add {\"a\":1,\"b\":1}", "call nothing",
           "call add {\"a\":true}", "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_TEXT(t.err.text,
               "agent 'solo': 2 bad tool calls in a row (max_bad_calls); the last: "
               "add: missing property 'b'; a: expected an integer, got true");
    CHECK_INT(driven_count("solo"), 4);
    team_case_close(&t);
}

static void test_llm__max_bad_calls_quotes_the_last_of_them_in_short(void)
{
    char reply[3000] = "call ";
    open_solo((cadre_llm){.max_bad_calls = 1});
    memset(reply + 5, 'n', sizeof reply - 6);
    DRIVEN("solo", reply);
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "the last: nnnn");
    CHECK_CONTAINS(t.err.text, "n...: There is no tool 'nnnn");
    CHECK_CONTAINS(t.err.text, "Tools: add.");
    team_case_close(&t);
}

static void test_llm__an_answer_cut_by_the_token_limit_completes_by_a_limit(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say half an ans\ncut");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_TEXT(t.result->text, "half an ans");
    CHECK_INT(driven_count("solo"), 1);
    team_case_close(&t);
}

static void test_llm__a_cut_answer_without_text_fails_by_a_limit(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "say a draft\ncall add {\"a\":1,\"b\":1}", "think hm\ncut");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_TEXT(t.err.text,
               "agent 'solo': the model's token limit cut the answer (max_tokens)");
    team_case_close(&t);
}

static void test_llm__max_model_calls_of_the_run(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "always\ncall add {\"a\":1,\"b\":1}");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_model_calls = 4}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LIMIT);
    CHECK_CONTAINS(t.err.text, "max_model_calls of 4");
    CHECK_INT(driven_count("solo"), 4);
    team_case_close(&t);
}

static void test_llm__max_tool_calls_leaves_no_call_without_a_result(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call add {\"a\":1,\"b\":1}\ncall add {\"a\":2,\"b\":2}\n"
                   "call add {\"a\":3,\"b\":3}");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_tool_calls = 2}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_CONTAINS(t.err.text, "max_tool_calls of 2");
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 3);
    team_case_close(&t);
}

// --- Tools ---

static void test_llm__unknown_tool_is_told_the_names(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call readLine\ncall add {\"a\":1,\"b\":1}", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_CONTAINS(driven_request("solo", 1),
                   "tool call00001: There is no tool 'readLine'. Tools: add.\n"
                   "tool call00002: 2\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "solo: readLine unknown_tool There is no");
    team_case_close(&t);
}

static void test_llm__wrong_arguments_are_told_and_not_run(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "call add {\"a\":1}\ncall add [1,2]\ncall add {\"a\":", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    CHECK_CONTAINS(driven_request("solo", 1), "'b'");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TOOL_RESULT), 3);
    CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT), " ok ");
    team_case_close(&t);
}

// A tool that meets the others of its turn: none returns before all have started.
typedef struct meeting {
    pthread_barrier_t barrier;
} meeting;

static cadre_status meet(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    meeting *self = ctx;
    const char *name = json_string_value(json_object_get(arguments, "name"));
    pthread_barrier_wait(&self->barrier);
    if (strcmp(name, "bad") == 0)
        return cadre_fail(err, CADRE_EIO, "bad was here");
    if (strcmp(name, "mute") == 0)
        return CADRE_EFAILED;
    return cadre_frame_set_output(frame, name, err);
}

static void test_llm__tools_run_at_once_with_results_in_call_order(void)
{
    meeting self;
    pthread_barrier_init(&self.barrier, NULL, 4);
    open_solo((cadre_llm){.tools = CADRE_NAMES("meet")});
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "meet", .description = "Meets",
                                           .run = meet, .ctx = &self,
                                           .parameters = "{\"type\":\"object\"}"));
    DRIVEN("solo",
           "call meet {\"name\":\"one\"}\ncall meet {\"name\":\"bad\"}\n"
           "call meet {\"name\":\"mute\"}\ncall meet {\"name\":\"four\"}",
           "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_CONTAINS(driven_request("solo", 1),
                   "tool call00001: one\ntool call00002: bad was here\n"
                   "tool call00003: the tool failed without saying why\n"
                   "tool call00004: four\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "solo: meet tool_error bad was here\n");
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "  tool meet 1/1 failed error\n");
    CHECK_CONTAINS(frames, "  tool meet 1/3 completed final\n");
    free(frames);
    pthread_barrier_destroy(&self.barrier);
    team_case_close(&t);
}

static cadre_status sleep_for_ever(void *ctx, cadre_frame *frame,
                                   const json_t *arguments, cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

static void test_llm__a_late_tool_is_a_result_and_the_others_stay(void)
{
    team_case_open_fake(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "wait", .description = "Waits",
                                           .run = sleep_for_ever, .timeout_ms = 5000));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add", "wait")));
    DRIVEN("solo", "call wait\ncall add {\"a\":1,\"b\":1}", "say done");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 5000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_CONTAINS(driven_request("solo", 1), "tool call00002: 2\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
                   "solo: wait timeout tool 'wait': its time of 5s is up (timeout)\n");
    team_case_close(&t);
}

static cadre_status be_long(void *ctx, cadre_frame *frame, const json_t *arguments,
                            cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    // 1 + n * 2 bytes: the limit falls into a character.
    size_t len = 300001;
    char *text = cadre_frame_alloc(frame, len + 1);
    text[0] = 'x';
    for (size_t i = 1; i < len; i += 2) {
        text[i] = '\xC3';
        text[i + 1] = '\xA9';
    }
    return cadre_frame_set_output(frame, text, err);
}

static void test_llm__a_result_is_cut_at_256_kib_and_says_so(void)
{
    open_solo((cadre_llm){.tools = CADRE_NAMES("long")});
    cadre_team_add_tool(
        t.team, CADRE_TOOL(.name = "long", .description = "Is long", .run = be_long));
    DRIVEN("solo", "call long", "say done");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    const char *request = driven_request("solo", 1);
    const char *result = strstr(request, "tool call00001: ");
    const char *note = strstr(request, "\n[cut: ");
    if (CHECK(result != NULL && note != NULL)) {
        CHECK_INT(note - (result + strlen("tool call00001: ")), 262143);
        CHECK_TEXT(note, "\n[cut: 262143 of 300001 bytes shown]\n");
    }
    team_case_close(&t);
}

static cadre_status speak_latin1(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "caf\xE9", err);
}

static void test_llm__a_result_is_utf8_whatever_the_tool_gave(void)
{
    open_solo((cadre_llm){.tools = CADRE_NAMES("latin")});
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "latin", .description = "Speaks",
                                           .run = speak_latin1));
    DRIVEN("solo", "call latin", "say done");
    team_case_run(&t, "hi");
    CHECK_CONTAINS(driven_request("solo", 1), "tool call00001: caf\xEF\xBF\xBD\n");
    team_case_close(&t);
}

static cadre_status report(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    cadre_frame_emit(frame, "half way", 8);
    return cadre_frame_set_output(frame, "there", err);
}

static void test_llm__a_tools_progress_is_shown_before_its_result(void)
{
    open_solo((cadre_llm){.tools = CADRE_NAMES("report")});
    cadre_team_add_tool(
        t.team, CADRE_TOOL(.name = "report", .description = "Tells", .run = report));
    DRIVEN("solo", "call report", "say done");
    team_case_run(&t, "hi");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_PROGRESS),
               "solo: report half way\n");
    const recorded_event *progress =
        recorder_find(&t.recorder, CADRE_EVENT_TOOL_PROGRESS, 0);
    CHECK(progress < recorder_find(&t.recorder, CADRE_EVENT_TOOL_RESULT, 0));
    CHECK(progress > recorder_find(&t.recorder, CADRE_EVENT_TOOL_CALL, 0));
    team_case_close(&t);
}

// --- Failures ---

static void test_llm__a_models_failure_keeps_its_class_and_place(void)
{
    open_solo((cadre_llm){0});
    DRIVEN("solo", "fail auth key refused");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(t.result->error.agent, "solo");
    CHECK_TEXT(t.result->error.message,
               "agent 'solo': model 'driven/test': key refused");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
               "solo: failed error auth: agent 'solo': model 'driven/test': key "
               "refused\n");
    team_case_close(&t);
}

static void test_llm__a_failure_that_names_itself_is_not_named_twice(void)
{
    static const char *const cases[][2] = {
        {"fail auth agent 'x': out", "agent 'x': out"},
        {"fail auth model 'y': out", "agent 'solo': model 'y': out"},
        {"fail auth agents are out",
         "agent 'solo': model 'driven/test': agents are out"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        open_solo((cadre_llm){0});
        DRIVEN("solo", cases[i][0]);
        team_case_run(&t, "hi");
        CHECK_TEXT(t.err.text, cases[i][1]);
        CHECK_INT(t.err.error_class, CADRE_CLASS_AUTH);
        CHECK(!t.err.retryable);
        team_case_close(&t);
    }
}

static void test_llm__a_failure_that_could_pass_stays_retryable_with_its_names(void)
{
    team_case_open_fake(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL));
    DRIVEN("solo", "fail server down", "fail server down", "fail server down",
           "fail server gone");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        cdr_clock_await_waiters(t.clock, 1);
        cdr_clock_advance(t.clock, 30001);
    }
    team_case_finish(&t);
    CHECK_TEXT(t.err.text, "agent 'solo': model 'driven/test': gone");
    CHECK_INT(t.err.error_class, CADRE_CLASS_SERVER);
    CHECK(t.err.retryable);
    team_case_close(&t);
}

static void test_llm__tries_again_after_a_failure_that_may_pass(void)
{
    team_case_open_fake(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = DRIVEN_MODEL));
    DRIVEN("solo", "say half\nfail server down", "say whole");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 30000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "whole");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_RETRY), "solo: 1 server\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TEXT_DELTA),
               "solo: half\nsolo: whole\n");
    CHECK_INT(t.result->usage.model_calls, 1);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_llm__asks_runs_tools_and_asks_again),
    CHECK_TEST(test_llm__each_request_starts_with_the_one_before),
    CHECK_TEST(test_llm__max_turns_without_an_answer_fails),
    CHECK_TEST(test_llm__max_turns_with_an_answer_completes),
    CHECK_TEST(test_llm__max_bad_calls_counts_bad_rounds_in_a_row),
    CHECK_TEST(test_llm__max_bad_calls_quotes_the_last_of_them_in_short),
    CHECK_TEST(test_llm__an_answer_cut_by_the_token_limit_completes_by_a_limit),
    CHECK_TEST(test_llm__a_cut_answer_without_text_fails_by_a_limit),
    CHECK_TEST(test_llm__max_model_calls_of_the_run),
    CHECK_TEST(test_llm__max_tool_calls_leaves_no_call_without_a_result),
    CHECK_TEST(test_llm__unknown_tool_is_told_the_names),
    CHECK_TEST(test_llm__wrong_arguments_are_told_and_not_run),
    CHECK_TEST(test_llm__tools_run_at_once_with_results_in_call_order),
    CHECK_TEST(test_llm__a_late_tool_is_a_result_and_the_others_stay),
    CHECK_TEST(test_llm__a_result_is_cut_at_256_kib_and_says_so),
    CHECK_TEST(test_llm__a_result_is_utf8_whatever_the_tool_gave),
    CHECK_TEST(test_llm__a_tools_progress_is_shown_before_its_result),
    CHECK_TEST(test_llm__a_models_failure_keeps_its_class_and_place),
    CHECK_TEST(test_llm__a_failure_that_names_itself_is_not_named_twice),
    CHECK_TEST(test_llm__a_failure_that_could_pass_stays_retryable_with_its_names),
    CHECK_TEST(test_llm__tries_again_after_a_failure_that_may_pass),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("agents/llm", tests);
}
