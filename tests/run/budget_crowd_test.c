// Budgets where many ask at once: who waits, and that it is exceeded by one call at
// most, whatever the calls turn out to use.
#include "support/check.h"
#include "support/team_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_BRANCHES = 64
};

static team_case t;

static cadre_status ask_all(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_agent *worker = cadre_frame_find(frame, "worker");
    const cadre_call *one = CADRE_CALL(.agent = worker, .input = "Go.");
    const cadre_call *calls[N_BRANCHES];
    cadre_outcome out[N_BRANCHES];
    int *n_refused = ctx;
    for (size_t i = 0; i < N_BRANCHES; i++)
        calls[i] = one;
    (void)cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = N_BRANCHES),
                            out, NULL);
    for (size_t i = 0; i < N_BRANCHES; i++)
        *n_refused += out[i].error_class == CADRE_CLASS_BUDGET &&
                      out[i].stop_reason == CADRE_STOP_BUDGET;
    return cadre_frame_set_output(frame, "All asked.", err);
}

// All 64 ask at once for calls that use `each` tokens. `n_at_once`: so many are in the
// model's hands before the first of them ends.
static void check_crowd(int64_t max_tokens, int each, size_t n_at_once, int n_made)
{
    char reply[64];
    int n_refused = 0;
    team_case_open(&t);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "lead", .run = ask_all,
                                                   .ctx = &n_refused,
                                                   .members = CADRE_NAMES("worker")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "worker", .model = DRIVEN_MODEL));
    (void)snprintf(reply, sizeof reply, "always\ngate\nsay A\nusage %d %d", each - 10,
                   10);
    DRIVEN("worker", reply);
    t.run = team_case_start(
        &t, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = max_tokens}));
    CHECK(driven_await_held(n_at_once));
    CHECK_INT(driven_count("worker"), n_at_once);
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(driven_count("worker"), n_made);
    CHECK_INT(n_refused, N_BRANCHES - n_made);
    CHECK_INT(t.result->usage.input_tokens + t.result->usage.output_tokens,
              (int64_t)each * n_made);
    CHECK_INT(t.result->stop_reason,
              n_made < N_BRANCHES ? CADRE_STOP_BUDGET : CADRE_STOP_FINAL);
    team_case_close(&t);
}

// A claim is of 8,197 tokens: the input of 5 and the usual output.
static void test_budget_crowd__is_exceeded_by_one_call_at_most(void)
{
    check_crowd(50000, 6000, 6, 9);         // 48,000, and one more
    check_crowd(48000, 6000, 5, 8);         // to the last token
    check_crowd(100, 1000, 1, 1);           // none fits, one is made
    check_crowd(8197 * 2, 8197, 2, 2);      // as large as the claim
    check_crowd(8197 * 64, 8000, 64, 64);   // all fit
    check_crowd(8197 * 64 - 1, 99, 63, 64); // all but one fit at once
}

// --- Races ---

static cadre_status race(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "slow"), .input = "12345678"),
        CADRE_CALL(.agent = cadre_frame_find(frame, "quick"), .input = "12345678")};
    cadre_outcome out[2];
    (void)ctx;
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.calls = calls, .n_calls = 2, .wait = CADRE_RACE), out, err);
    if (status != CADRE_OK)
        return status;
    CHECK_TEXT(out[1].text, "First.");
    CHECK_INT(out[0].usage.input_tokens, 6); // nobody told
    CHECK_INT(out[0].usage.output_tokens, 3);
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "last")), NULL, err);
}

static void open_race(void)
{
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = race,
                               .members = CADRE_NAMES("slow", "quick", "last")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "slow", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "quick", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "last", .model = DRIVEN_MODEL));
    DRIVEN("slow", "say 123456789\nhold");
    DRIVEN("quick", "gate\nsay First.\nusage 90 5");
    DRIVEN("last", "say Last.\nusage 10 0");
    t.run =
        team_case_start(&t, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 20000}));
    CHECK(driven_await_held(2));
    driven_release();
    team_case_finish(&t);
}

static void test_budget_crowd__losers_pay_for_what_they_sent_and_said(void)
{
    open_race();
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "Last.");
    CHECK_INT(t.result->usage.input_tokens, 6 + 90 + 10);
    CHECK_INT(t.result->usage.output_tokens, 3 + 5);
    team_case_close(&t);
}

// --- Stopping what waits ---

static void test_budget_crowd__who_waits_heeds_a_stop(void)
{
    int n_refused = 0;
    team_case_open(&t);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "lead", .run = ask_all,
                                                   .ctx = &n_refused,
                                                   .members = CADRE_NAMES("worker")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "worker", .model = DRIVEN_MODEL));
    DRIVEN("worker", "always\nhold");
    t.run =
        team_case_start(&t, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 9000}));
    CHECK(driven_await_held(1));
    cadre_run_cancel(t.run, "enough");
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_ABORTED);
    CHECK_INT(driven_count("worker"), 1);
    CHECK_INT(n_refused, 0);
    team_case_close(&t);
}

// --- Time ---

static void open_timed(int64_t worker_ms, const char *const *replies, size_t n)
{
    team_case_open_fake(&t);
    cadre_team_add_topology(
        t.team, "chain",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("worker", "second")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "worker", .model = DRIVEN_MODEL,
                                         .budget = {.max_time_ms = worker_ms}));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "second", .model = DRIVEN_MODEL));
    cadre_team_set_root(t.team, "desk");
    driven_add("worker", replies, n);
    DRIVEN("second", "hold");
}

static void test_budget_crowd__time_stops_what_is_under_way(void)
{
    static const char *const replies[] = {"hold"};
    open_timed(0, replies, 1);
    t.run =
        team_case_start(&t, CADRE_RUN(.input = "Go.", .budget = {.max_time_ms = 5000}));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 4999);
    CHECK_INT(driven_count("second"), 0);
    cdr_clock_advance(t.clock, 1);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_BUDGET);
    CHECK_TEXT(t.result->error.message,
               "agent 'desk': the run's budget.max_time of 5s is used up");
    team_case_close(&t);
}

static void test_budget_crowd__time_of_a_member_is_its_own(void)
{
    static const char *const replies[] = {"hold"};
    open_timed(5000, replies, 1);
    t.run = team_case_start(&t, CADRE_RUN(.input = "Go."));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 5000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_TEXT(t.result->error.message,
               "agent 'worker': agents.worker.budget.max_time of 5s is used up");
    team_case_close(&t);
}

// With an answer the run has completed.
static void test_budget_crowd__time_leaves_the_answer_so_far(void)
{
    static const char *const replies[] = {"say So far."};
    open_timed(0, replies, 1);
    t.run =
        team_case_start(&t, CADRE_RUN(.input = "Go.", .budget = {.max_time_ms = 5000}));
    CHECK(driven_await_held(1));
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 5000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_BUDGET);
    CHECK_TEXT(t.result->text, "So far.");
    team_case_close(&t);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget_crowd__is_exceeded_by_one_call_at_most),
        CHECK_TEST(test_budget_crowd__losers_pay_for_what_they_sent_and_said),
        CHECK_TEST(test_budget_crowd__who_waits_heeds_a_stop),
        CHECK_TEST(test_budget_crowd__time_stops_what_is_under_way),
        CHECK_TEST(test_budget_crowd__time_of_a_member_is_its_own),
        CHECK_TEST(test_budget_crowd__time_leaves_the_answer_so_far),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/budget_crowd", tests);
}
