// Turns at a model: rpm, max_concurrency and pauses of its server, for all runs that
// ask it. The clock stands still; nothing sleeps.
#include "support/check.h"
#include "support/team_case.h"

#include "team/runtime.h"
#include "team/team.h"

#include <string.h>

#define MAX_CALLS 200
#define START_MS 1000000 // of the fake clock
#define ANSWER "driven/fast"

static team_case t;

// Calls the agent "solo" so often at once.
static cadre_status fan_out(void *ctx, cadre_frame *frame, cadre_error *err)
{
    size_t n = *(const size_t *)ctx;
    cadre_call items[MAX_CALLS];
    const cadre_call *calls[MAX_CALLS];
    for (size_t i = 0; i < n; i++) {
        items[i] =
            *CADRE_CALL(.agent = cadre_frame_members(frame).items[0], .input = "go");
        calls[i] = &items[i];
    }
    return cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ALL, .calls = calls, .n_calls = n), NULL, err);
}

// A team whose root calls "solo" so often at once, and that asks this model.
static void add_fan_out(cadre_team *team, const cadre_model_settings *model, size_t *n)
{
    cadre_team_add_model(team, model);
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = model->name));
    cadre_team_add_function(team,
                            CADRE_FUNCTION(.name = "lead", .run = fan_out, .ctx = n,
                                           .members = CADRE_NAMES("solo")));
    cadre_team_set_root(team, "lead");
}

// Reads on until `n` more events of a type have come; of messages, those of "solo".
static void await_events(cadre_event_type type, int n)
{
    const cadre_event *event = NULL;
    while (n > 0 && CHECK_OK(cadre_run_next(t.run, &event, NULL), NULL)) {
        recorder_add(&t.recorder, event);
        n -= event->type == type && strcmp(event->agent, "solo") == 0;
    }
}

static void read_rest(void)
{
    const cadre_event *event = NULL;
    while (cadre_run_next(t.run, &event, NULL) == CADRE_OK)
        recorder_add(&t.recorder, event);
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    recorder_check(&t.recorder);
}

// How many requests came at that time of the clock.
static size_t count_at(int64_t ms)
{
    size_t n = 0;
    for (size_t i = 0; i < driven_count(ANSWER); i++)
        n += driven_asked_at(ANSWER, i) == ms;
    return n;
}

static void test_model_turn__200_calls_at_60_a_minute_wait_and_do_not_fail(void)
{
    size_t n = 200;
    team_case_open_fake(&t);
    add_fan_out(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .rpm = 60), &n);
    DRIVEN(ANSWER, "always\nsay ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    for (int i = 0; i < 3; i++) {
        await_events(CADRE_EVENT_FRAME_END, 60);
        cdr_clock_await_waiters(t.clock, 1); // the first in line, and nobody else
        cdr_clock_advance(t.clock, 59999);
        cdr_clock_await_waiters(t.clock, 1);
        cdr_clock_advance(t.clock, 1);
    }
    read_rest();
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->usage.model_calls, 200);
    CHECK_INT(count_at(START_MS), 60);
    CHECK_INT(count_at(START_MS + 60000), 60);
    CHECK_INT(count_at(START_MS + 120000), 60);
    CHECK_INT(count_at(START_MS + 180000), 20);
    // Who had to wait has told so, and that it did no more.
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_WAIT) % 2, 0);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_WAIT), "solo: m rpm 60000\n");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_RETRY), 0);
    team_case_close(&t);
}

static void test_model_turn__each_attempt_has_one(void)
{
    size_t n = 1;
    team_case_open_fake(&t);
    add_fan_out(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .rpm = 1), &n);
    DRIVEN(ANSWER, "fail server down", "say ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1); // the pause between them
    cdr_clock_advance(t.clock, 1000);
    cdr_clock_await_waiters(t.clock, 1); // the turn
    cdr_clock_advance(t.clock, 59000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(driven_asked_at(ANSWER, 1), START_MS + 60000);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_WAIT),
               "solo: m rpm 59000\nsolo: m rpm 0\n");
    team_case_close(&t);
}

static void test_model_turn__at_most_8_at_a_time(void)
{
    size_t n = 20;
    team_case_open_fake(&t);
    add_fan_out(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .max_concurrency = 8),
                &n);
    DRIVEN(ANSWER, "always\ngate\nsay ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(8));
    await_events(CADRE_EVENT_WAIT, 12);
    CHECK_INT(driven_count(ANSWER), 8);
    driven_release();
    read_rest();
    CHECK_OK(t.status, &t.err);
    CHECK_INT(driven_count(ANSWER), 20);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_WAIT), 2 * 12);
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_WAIT),
                   "solo: m max_concurrency -1\nsolo: m max_concurrency 0\n");
    team_case_close(&t);
}

static void test_model_turn__a_stop_reaches_those_in_line_at_once(void)
{
    size_t n = 5;
    team_case_open_fake(&t);
    add_fan_out(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .max_concurrency = 1),
                &n);
    DRIVEN(ANSWER, "hold", "always\nsay ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(1));
    cadre_run_cancel(t.run, "enough");
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(driven_count(ANSWER), 1);
    // No place was lost: the next run is served.
    team_case_run(&t, "again");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(driven_count(ANSWER), 1 + 5);
    team_case_close(&t);
}

static void test_model_turn__the_wait_counts_in_the_time_of_the_agent(void)
{
    team_case_open_fake(&t);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .rpm = 1));
    cadre_team_add_llm(t.team,
                       CADRE_LLM(.name = "solo", .model = "m", .timeout_ms = 30000));
    DRIVEN(ANSWER, "say one", "say two");
    team_case_run(&t, "first");
    CHECK_OK(t.status, &t.err);
    if (team_case_start(&t, CADRE_RUN(.input = "second")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 30000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_ETIMEOUT, &t.err);
    CHECK_TEXT(t.err.text, "agent 'solo': its time of 30s is up (timeout)");
    CHECK_INT(driven_count(ANSWER), 1);
    cdr_clock_advance(t.clock, 30000);
    team_case_run(&t, "third"); // who left has no turn of this minute
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "two");
    team_case_close(&t);
}

static void test_model_turn__two_runtimes_and_teams_share_a_model(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *other = NULL;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    size_t n = 3;
    team_case_open_fake(&t);
    add_fan_out(t.team, CADRE_MODEL(.name = "m", .model = ANSWER, .rpm = 5), &n);
    DRIVEN(ANSWER, "always\nsay ok");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_OK(cadre_runtime_open(NULL, &other, &err), &err);
    other->clock = t.clock;
    driven_register(other);
    cadre_team *team = cadre_team_new(other, "another");
    add_fan_out(team, CADRE_MODEL(.name = "quick", .model = ANSWER, .rpm = 5), &n);
    CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "hi"), &run, &err), &err);
    cdr_clock_await_waiters(t.clock, 1);
    CHECK_INT(driven_count(ANSWER), 5);
    cdr_clock_advance(t.clock, 60000);
    CHECK_OK(cadre_run_wait(run, &result, &err), &err);
    CHECK_INT(driven_count(ANSWER), 6);
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(other);
    team_case_close(&t);
}

static void test_model_turn__what_a_server_says_of_waiting_keeps_all_runs(void)
{
    team_case_open_fake(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = ANSWER));
    DRIVEN(ANSWER, "wait 20000\nfail rate_limited slow down", "always\nsay ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *second = NULL;
    const cadre_result *result = NULL;
    CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "me too"), &second, &err),
             &err);
    cdr_clock_await_waiters(t.clock, 2);
    CHECK_INT(driven_count(ANSWER), 1);
    cdr_clock_advance(t.clock, 20001);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_OK(cadre_run_wait(second, &result, &err), &err);
    CHECK_INT(driven_asked_at(ANSWER, 1), START_MS + 20001);
    CHECK_INT(driven_asked_at(ANSWER, 2), START_MS + 20001);
    cadre_run_free(second);
    team_case_close(&t);
}

static void test_model_turn__other_failures_keep_nobody(void)
{
    team_case_open_fake(&t);
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = ANSWER));
    DRIVEN(ANSWER, "wait 20000\nfail server oops", "always\nsay ok");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *second = NULL;
    const cadre_result *result = NULL;
    CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "me too"), &second, &err),
             &err);
    CHECK_OK(cadre_run_wait(second, &result, &err), &err);
    cadre_run_free(second);
    cdr_clock_advance(t.clock, 20001);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_turn__200_calls_at_60_a_minute_wait_and_do_not_fail),
    CHECK_TEST(test_model_turn__each_attempt_has_one),
    CHECK_TEST(test_model_turn__at_most_8_at_a_time),
    CHECK_TEST(test_model_turn__a_stop_reaches_those_in_line_at_once),
    CHECK_TEST(test_model_turn__the_wait_counts_in_the_time_of_the_agent),
    CHECK_TEST(test_model_turn__two_runtimes_and_teams_share_a_model),
    CHECK_TEST(test_model_turn__what_a_server_says_of_waiting_keeps_all_runs),
    CHECK_TEST(test_model_turn__other_failures_keep_nobody),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/model_turn", tests);
}
