// Failover: which model is asked when one fails for good, and which are passed over.
#include "support/check.h"
#include "support/folder.h"
#include "support/mortal_store.h"
#include "support/team_case.h"

#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>

#define A "driven/a"
#define B "driven/b"
#define C "driven/c"

static team_case t;

// An agent that asks the model "first" (A), and then those of the list. Each is asked
// once before it counts as failed.
static void open_case(cadre_names fallback)
{
    team_case_open_fake(&t);
    cadre_team_add_model(
        t.team, CADRE_MODEL(.name = "first", .model = A, .fallback = fallback));
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "second", .model = B));
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "third", .model = C));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "first"));
    for (size_t i = 0; i < t.team->n_models; i++)
        t.team->models[i]->times.max_attempts = 1;
}

static const char *retries(void)
{
    return recorder_text(&t.recorder, CADRE_EVENT_RETRY);
}

static void check_answer(const char *text, const char *told)
{
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, text);
    CHECK_TEXT(retries(), told);
}

static void test_failover__the_next_is_asked_in_the_same_frame(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    t.team->models[0]->times.max_attempts = 2;
    DRIVEN(A, "say half\nfail server down", "fail overloaded full");
    DRIVEN(B, "say whole\nusage 3 2");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 1000);
    team_case_finish(&t);
    check_answer("whole", "solo: 1 server\nsolo: 2 overloaded first -> second\n");
    CHECK_INT(t.result->usage.model_calls, 1);
    CHECK_INT(t.result->usage.input_tokens, 3);
    CHECK_TEXT(driven_request(B, 0), driven_request(A, 0));
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent solo root completed final\n"
                       "  model first 1 completed final\n");
    free(frames);
    const cadre_frame_info *infos = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t.run, &infos, &n, NULL), NULL);
    CHECK_INT(infos[1].attempts, 3);
    team_case_close(&t);
}

static void test_failover__only_what_another_model_may_heal(void)
{
    static const struct {
        const char *error_class;
        bool is_healed, cools;
    } cases[] = {
        {"auth", true, true},
        {"quota", true, true},
        {"rate_limited", true, true},
        {"overloaded", true, true},
        {"server", true, true},
        {"connection", true, true},
        {"timeout", true, true},
        {"truncated", true, true},
        {"empty_response", true, false},
        {"bad_response", true, false},
        {"context_length", true, false},
        {"invalid_request", false, false},
        {"content_filter", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char fails[64], told[96];
        open_case((cadre_names)CADRE_NAMES("second"));
        snprintf(fails, sizeof(fails), "always\nfail %s no", cases[i].error_class);
        snprintf(told, sizeof(told), "solo: 1 %s first -> second\n",
                 cases[i].error_class);
        DRIVEN(A, fails);
        DRIVEN(B, "always\nsay healed");
        team_case_run(&t, "hi");
        if (cases[i].is_healed) {
            check_answer("healed", told);
        } else {
            CHECK_TEXT(cadre_error_class_name(t.err.error_class), cases[i].error_class);
            CHECK_TEXT(retries(), "");
        }
        team_case_run(&t, "hi");
        CHECK_INT(driven_count(A), cases[i].cools ? 1 : 2);
        team_case_close(&t);
    }
}

static void test_failover__one_that_failed_is_passed_over_by_all_for_a_minute(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    DRIVEN(A, "fail server down", "say back");
    DRIVEN(B, "always\nsay healed");
    team_case_run(&t, "one");
    check_answer("healed", "solo: 1 server first -> second\n");
    cdr_clock_advance(t.clock, 59999);
    team_case_run(&t, "two");
    check_answer("healed", "solo: 0 server first -> second\n");
    CHECK_INT(driven_count(A), 1);
    CHECK_INT(driven_count(B), 2);
    cdr_clock_advance(t.clock, 1);
    team_case_run(&t, "three");
    check_answer("back", "");
    team_case_close(&t);
}

static void test_failover__as_long_as_its_server_said(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    t.team->models[0]->times.max_attempts = 4;
    DRIVEN(A, "wait 120000\nfail rate_limited slow down", "say back");
    DRIVEN(B, "always\nsay healed");
    team_case_run(&t, "one"); // longer than max_backoff: no second attempt
    check_answer("healed", "solo: 1 rate_limited first -> second\n");
    cdr_clock_advance(t.clock, 119999);
    team_case_run(&t, "two");
    check_answer("healed", "solo: 0 rate_limited first -> second\n");
    cdr_clock_advance(t.clock, 1);
    team_case_run(&t, "three");
    check_answer("back", "");
    team_case_close(&t);
}

static void test_failover__when_all_cool_the_first_to_be_over_is_asked(void)
{
    open_case((cadre_names)CADRE_NAMES("second", "third"));
    DRIVEN(A, "wait 90000\nfail overloaded a", "fail overloaded a", "say first");
    DRIVEN(B, "wait 50000\nfail overloaded b", "say second", "say second");
    DRIVEN(C, "wait 70000\nfail overloaded c");
    team_case_run(&t, "one");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(retries(), "solo: 1 overloaded first -> second\n"
                          "solo: 2 overloaded second -> third\n");
    cdr_clock_advance(t.clock, 1000);
    team_case_run(&t, "two");
    check_answer("second", "solo: 0 overloaded first -> second\n");
    CHECK_INT(driven_count(A), 1);
    CHECK_INT(driven_count(C), 1);
    team_case_run(&t, "three"); // its answer has ended its cool-down
    check_answer("second", "solo: 0 overloaded first -> second\n");
    team_case_close(&t);
}

static void test_failover__the_last_failure_names_those_before(void)
{
    open_case((cadre_names)CADRE_NAMES("second", C));
    DRIVEN(A, "fail auth no key");
    DRIVEN(B, "fail server down");
    DRIVEN(C, "fail quota no money");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "agent 'solo': model 'driven/c': no money (after 'first', "
                           "'second' failed)");
    CHECK_INT(t.err.error_class, CADRE_CLASS_QUOTA);
    CHECK(!t.err.retryable);
    team_case_close(&t);
}

static void test_failover__lists_of_fallbacks_are_not_followed(void)
{
    team_case_open_fake(&t);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "first", .model = A,
                                             .fallback = CADRE_NAMES("second")));
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "second", .model = B,
                                             .fallback = CADRE_NAMES("first", C)));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "first"));
    DRIVEN(A, "fail auth no");
    DRIVEN(B, "fail auth no");
    DRIVEN(C, "say wrong");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(driven_count(A), 1);
    CHECK_INT(driven_count(B), 1);
    CHECK_INT(driven_count(C), 0);
    team_case_close(&t);
}

static void test_failover__each_model_has_its_own_attempts_and_limits(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    t.team->models[1]->times.max_attempts = 2;
    t.team->models[1]->times.backoff_ms = 4000;
    t.team->models[1]->rpm = 1;
    DRIVEN(A, "fail server down");
    DRIVEN(B, "fail server down", "say healed");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 4001);
    cdr_clock_await_waiters(t.clock, 1); // its second turn of the minute
    cdr_clock_advance(t.clock, 60000 - 4001);
    team_case_finish(&t);
    check_answer("healed", "solo: 1 server first -> second\nsolo: 2 server\n");
    CHECK_INT(driven_asked_at(B, 1) - driven_asked_at(B, 0), 60000);
    team_case_close(&t);
}

static void test_failover__each_is_charged_at_its_own_price(void)
{
    team_case_open_fake(&t);
    cadre_team_add_model(
        t.team,
        CADRE_MODEL(.name = "first", .model = A, .fallback = CADRE_NAMES("second"),
                    .price = CADRE_PRICE(.input_usd_micros = 1000000,
                                         .output_usd_micros = 2000000)));
    cadre_team_add_model(
        t.team, CADRE_MODEL(.name = "second", .model = B,
                            .price = CADRE_PRICE(.input_usd_micros = 3000000,
                                                 .output_usd_micros = 10000000)));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "first"));
    t.team->models[0]->times.max_attempts = 1;
    DRIVEN(A, "usage 100 10\nfail server down");
    DRIVEN(B, "say healed\nusage 1000 200");
    team_case_run(&t, "hi");
    check_answer("healed", "solo: 1 server first -> second\n");
    CHECK_INT(t.result->usage.input_tokens, 1100);
    CHECK_INT(t.result->usage.output_tokens, 210);
    CHECK_INT(t.result->usage.cost_usd_micros, 100 + 20 + 3000 + 2000);
    team_case_close(&t);
}

// A fallback that costs more than is left is refused, whether it is asked second or at
// once.
static void test_failover__each_is_claimed_at_its_own_price(void)
{
    team_case_open_fake(&t);
    cadre_team_add_model(
        t.team,
        CADRE_MODEL(.name = "first", .model = A, .fallback = CADRE_NAMES("second"),
                    .price =
                        CADRE_PRICE(.input_usd_micros = 1, .output_usd_micros = 1)));
    cadre_team_add_model(
        t.team, CADRE_MODEL(.name = "second", .model = B,
                            .price = CADRE_PRICE(.input_usd_micros = 1000000000,
                                                 .output_usd_micros = 1000000000)));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "first"));
    t.team->models[0]->times.max_attempts = 1;
    DRIVEN(A, "fail server down");
    DRIVEN(B, "say never");
    for (int i = 0; i < 2; i++) {
        team_case_run_with(
            &t, CADRE_RUN(.input = "hi", .budget = {.max_cost_usd_micros = 500}));
        CHECK_INT(t.err.error_class, CADRE_CLASS_BUDGET);
        CHECK_INT(driven_count(B), 0);
        CHECK_INT(driven_count(A), 1);
    }
    team_case_close(&t);
}

#define ADD(n) "call add {\"a\":" #n ",\"b\":0}"

// The one that could have taken all of it is not there.
static void test_failover__too_long_for_one_and_no_other_is_tried_shorter(void)
{
    adder adds = {0};
    open_case((cadre_names)CADRE_NAMES("second"));
    team_case_add_adder(&t, &adds);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "counter", .model = "first",
                                         .tools = CADRE_NAMES("add")));
    cadre_team_set_root(t.team, "counter");
    DRIVEN(A, ADD(1), ADD(2), ADD(3), "fail context_length too long", "say short");
    DRIVEN(B, "fail auth no key");
    team_case_run(&t, "hi");
    check_answer("short", "counter: 1 context_length first -> second\n"
                          "counter: 2 auth\n");
    CHECK_TEXT(driven_request(B, 0), driven_request(A, 3)); // all of it
    CHECK_CONTAINS(driven_request(B, 0), "{\"a\":1,");
    CHECK_LACKS(driven_request(A, 4), "{\"a\":1,");
    CHECK_CONTAINS(driven_request(A, 4), "{\"a\":3,");
    team_case_close(&t);
}

static void test_failover__too_long_for_all_names_them(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    DRIVEN(A, "fail context_length too long");
    DRIVEN(B, "fail context_length too long");
    team_case_run(&t, "hi");
    CHECK_TEXT(t.err.text,
               "agent 'solo': model 'second': too long (nothing of its history can be "
               "left out; max_history_tokens would not help) (after 'first' failed)");
    CHECK_TEXT(retries(), "solo: 1 context_length first -> second\n");
    team_case_close(&t);
}

static void test_failover__a_call_that_is_stopped_asks_nobody_else(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    DRIVEN(A, "hold");
    DRIVEN(B, "say wrong");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cadre_run_cancel(t.run, "enough");
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(driven_count(B), 0);
    CHECK_TEXT(retries(), "");
    team_case_close(&t);
}

static void test_failover__a_wait_without_time_for_it_asks_the_next(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    t.team->models[0]->times.max_attempts = 4;
    DRIVEN(A, "wait 20000\nfail overloaded full", "say not cooling");
    DRIVEN(B, "say healed");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .timeout_ms = 10000));
    check_answer("healed", "solo: 1 overloaded first -> second\n");
    team_case_run(&t, "with time"); // it was only that call's own time
    check_answer("not cooling", "");
    team_case_close(&t);
}

// --- Recorded, cut, and scripted ---

// A recording names the model as the team calls it, whoever was passed over: made again
// by a script it is asked once more, and that has no cool-downs.
static void test_failover__is_recorded_as_a_call_of_the_agents_model(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    DRIVEN(A, "fail server down");
    DRIVEN(B, "always\nsay healed");
    team_case_run(&t, "one");
    team_case_run(&t, "two");
    check_answer("healed", "solo: 0 server first -> second\n");
    json_t *script = json_object();
    const char *model = "";
    CHECK_OK(cadre_record_script(t.runtime, t.result->trace_id, script, &t.err),
             &t.err);
    CHECK_INT(json_unpack(script, "{s:{s:[{s:{s:s}}]}}", "agents", "solo", "asked",
                          "model", &model),
              0);
    CHECK_TEXT(model, "first");
    json_decref(script);
    team_case_close(&t);
}

static void test_failover__a_call_that_was_cut_begins_again_with_the_list(void)
{
    open_case((cadre_names)CADRE_NAMES("second"));
    mortal_store_wrap(t.runtime);
    mortal_store_cut((store_cut){0});
    DRIVEN(A, "fail server down", "fail server down", "say wrong");
    DRIVEN(B, "die", "say healed");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK_STATUS(cadre_run_wait(t.run, NULL, NULL), CADRE_ESTORE, NULL);
    char trace[64];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    snprintf(trace, sizeof(trace), "%s", cadre_run_trace_id(t.run));
    mortal_store_cut((store_cut){0});
    cdr_clock_advance(t.clock, 60000);
    CHECK_OK(cadre_run_resume(t.team, trace, NULL, &run, &err), &err);
    CHECK_OK(cadre_run_wait(run, &result, &err), &err);
    CHECK_TEXT(result->text, "healed");
    CHECK_INT(driven_count(A), 2); // one attempt is left of those it may have
    CHECK_INT(driven_count(B), 2);
    CHECK_INT(result->usage.model_calls, 1);
    cadre_run_free(run);
    team_case_close(&t);
}

static void test_failover__scripted_models_have_none(void)
{
    test_folder folder;
    char script[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    if (!folder_make(&folder) ||
        !folder_write(&folder, "script.yaml",
                      "agents: {solo: [{error: {status: 401}}, {text: wrong}]}",
                      script))
        return;
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.script = script), &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/a",
                                           .fallback = CADRE_NAMES("openai/b")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "m"));
    CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "hi"), &run, &err), &err);
    CHECK_STATUS(cadre_run_wait(run, &result, &err), CADRE_EFAILED, NULL);
    CHECK_INT(err.error_class, CADRE_CLASS_AUTH);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_failover__the_next_is_asked_in_the_same_frame),
    CHECK_TEST(test_failover__only_what_another_model_may_heal),
    CHECK_TEST(test_failover__one_that_failed_is_passed_over_by_all_for_a_minute),
    CHECK_TEST(test_failover__as_long_as_its_server_said),
    CHECK_TEST(test_failover__when_all_cool_the_first_to_be_over_is_asked),
    CHECK_TEST(test_failover__the_last_failure_names_those_before),
    CHECK_TEST(test_failover__lists_of_fallbacks_are_not_followed),
    CHECK_TEST(test_failover__each_model_has_its_own_attempts_and_limits),
    CHECK_TEST(test_failover__each_is_charged_at_its_own_price),
    CHECK_TEST(test_failover__each_is_claimed_at_its_own_price),
    CHECK_TEST(test_failover__too_long_for_one_and_no_other_is_tried_shorter),
    CHECK_TEST(test_failover__too_long_for_all_names_them),
    CHECK_TEST(test_failover__a_call_that_is_stopped_asks_nobody_else),
    CHECK_TEST(test_failover__a_wait_without_time_for_it_asks_the_next),
    CHECK_TEST(test_failover__is_recorded_as_a_call_of_the_agents_model),
    CHECK_TEST(test_failover__a_call_that_was_cut_begins_again_with_the_list),
    CHECK_TEST(test_failover__scripted_models_have_none),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/model_failover", tests);
}
