// The attempts of a model call: how long it waits between them, and when it gives up.
#include "support/check.h"
#include "support/team_case.h"

#include "team/team.h"

#include <stdio.h>

static team_case t;

// One agent, whose model waits 4 s at first and 20 s at most, and the times that are
// left out as in cdr_model_times.
static void open_case(int64_t agent_timeout_ms)
{
    team_case_open_fake(&t);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "m", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "solo", .model = "m",
                                         .timeout_ms = agent_timeout_ms));
    t.team->models[0]->times.backoff_ms = 4000;
    t.team->models[0]->times.max_backoff_ms = 20000;
}

// Reads the run; each `retry` is answered by letting its wait pass, and no more. Gives
// the waits, and how many there were.
static size_t run(int64_t *waits, size_t max)
{
    const cadre_event *event = NULL;
    size_t n = 0;
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return 0;
    while (cadre_run_next(t.run, &event, NULL) == CADRE_OK) {
        recorder_add(&t.recorder, event);
        if (event->type != CADRE_EVENT_RETRY)
            continue;
        int64_t wait_ms = event->u.retry.wait_ms;
        if (n < max)
            waits[n++] = wait_ms;
        cdr_clock_await_waiters(t.clock, 1);
        CHECK_INT(driven_count("solo"), n); // it has not asked again before
        cdr_clock_advance(t.clock, wait_ms + 1);
    }
    t.status = cadre_run_wait(t.run, &t.result, &t.err);
    return n;
}

static void check_between(int64_t value, int64_t least, int64_t most)
{
    CHECK(value >= least);
    CHECK(value <= most);
}

static void test_model_retry__waits_double_with_chance_up_to_the_limit(void)
{
    int64_t waits[8] = {0};
    open_case(0);
    t.team->models[0]->times.max_attempts = 6;
    DRIVEN("solo", "always\nfail server down");
    CHECK_INT(run(waits, 8), 5);
    check_between(waits[0], 2000, 4000);
    check_between(waits[1], 4000, 8000);
    check_between(waits[2], 8000, 16000);
    check_between(waits[3], 10000, 20000);
    check_between(waits[4], 10000, 20000);
    CHECK_INT(driven_count("solo"), 6);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_SERVER);
    CHECK(t.result->error.retryable);
    team_case_close(&t);
}

static void test_model_retry__a_server_may_lengthen_the_wait_but_not_shorten_it(void)
{
    int64_t waits[4] = {0};
    open_case(0);
    DRIVEN("solo", "wait 19000\nfail rate_limited slow down",
           "wait 0\nfail overloaded x", "wait 1\nfail overloaded x", "say done");
    CHECK_INT(run(waits, 4), 3);
    CHECK_INT(waits[0], 19000);
    check_between(waits[1], 4000, 8000);
    check_between(waits[2], 8000, 16000);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "done");
    team_case_close(&t);
}

static void
test_model_retry__asked_to_wait_longer_than_allowed_it_fails_and_says_so(void)
{
    int64_t waits[1];
    open_case(0);
    DRIVEN("solo", "wait 20001\nfail rate_limited slow down");
    CHECK_INT(run(waits, 1), 0);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text,
               "agent 'solo': model 'm': slow down (the server asks to wait 20001ms; "
               "retry.max_backoff is 20s)");
    CHECK_INT(t.err.error_class, CADRE_CLASS_RATE_LIMITED);
    CHECK(t.err.retryable); // later
    team_case_close(&t);
}

static void test_model_retry__does_not_wait_for_what_its_time_is_too_short_for(void)
{
    int64_t waits[2];
    open_case(10000);
    DRIVEN("solo", "wait 9000\nfail overloaded full",
           "wait 1000\nfail overloaded full");
    CHECK_INT(run(waits, 2), 1);
    CHECK_INT(waits[0], 9000);
    CHECK_INT(driven_count("solo"), 2);
    CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(t.err.error_class, CADRE_CLASS_OVERLOADED);
    CHECK_CONTAINS(t.err.text,
                   "agent 'solo': model 'm': full (not asked again: that is "
                   "in ");
    CHECK_CONTAINS(t.err.text, ", and 999ms is left)");
    team_case_close(&t);
}

static void test_model_retry__what_will_not_pass_is_asked_once(void)
{
    static const char *const classes[] = {"auth",           "invalid_request",
                                          "context_length", "content_filter",
                                          "quota",          "bad_response"};
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        char reply[64];
        int64_t waits[1];
        open_case(0);
        snprintf(reply, sizeof(reply), "fail %s no", classes[i]);
        DRIVEN("solo", reply);
        CHECK_INT(run(waits, 1), 0);
        CHECK_TEXT(cadre_error_class_name(t.err.error_class), classes[i]);
        CHECK(!t.err.retryable);
        team_case_close(&t);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_model_retry__waits_double_with_chance_up_to_the_limit),
    CHECK_TEST(test_model_retry__a_server_may_lengthen_the_wait_but_not_shorten_it),
    CHECK_TEST(
        test_model_retry__asked_to_wait_longer_than_allowed_it_fails_and_says_so),
    CHECK_TEST(test_model_retry__does_not_wait_for_what_its_time_is_too_short_for),
    CHECK_TEST(test_model_retry__what_will_not_pass_is_asked_once),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/model_retry", tests);
}
