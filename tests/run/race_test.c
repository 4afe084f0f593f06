// Any and race: who wins, and what the losers come to.
#include "support/race_case.h"

#include "team/team.h"
#include "tree/tree.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

static void run_race(cadre_wait wait, const char *first, const char *second,
                     const char *third)
{
    race_set(wait, first, second, third);
    batch_case_run(&t);
    CHECK_OK(t.status, &t.err);
}

// --- Who wins ---

// Fails at once; the others go on.
static cadre_status fail_now(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_AUTH, false, "no key");
}

// Wins when the one who fails is in the record.
static cadre_status win_after_failure(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int *n_ended = ctx;
    cadre_frame *root = frame->tree->root;
    for (bool has_ended = false; !has_ended;) {
        cdr_mutex_lock(&root->tree->mu);
        const cadre_frame *other = cdr_frame_child_locked(root, "b1/1");
        has_ended = other->status == CADRE_FRAME_FAILED;
        cdr_mutex_unlock(&root->tree->mu);
        sched_yield();
    }
    (*n_ended)++;
    return cadre_frame_set_output(frame, "late", err);
}

static void test_any__is_won_by_the_first_success_though_others_fail_before(void)
{
    int n_ended = 0;
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "fail_now", fail_now, NULL);
    batch_case_add(&t, "late", win_after_failure, &n_ended);
    run_race(CADRE_ANY, "fail_now", "late", "sleeper");
    CHECK_OK(raced.status, &raced.err);
    CHECK_INT(raced.winner, 1);
    CHECK_TEXT(raced.texts[0], "fail_now! no key");
    CHECK_INT(raced.out[0].status, CADRE_FRAME_FAILED);
    CHECK_INT(raced.out[0].error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(raced.texts[1], "late: late");
    CHECK_INT(raced.out[1].status, CADRE_FRAME_COMPLETED);
    race_check_loser(2);
    CHECK_TEXT(batch_row(&t, "b1/1"), "failed error : no key");
    CHECK_TEXT(batch_row(&t, "b1/2"), "completed final : ");
    CHECK_TEXT(batch_row(&t, "b1/3"),
               "aborted aborted owner: aborted: its work is not needed any more");
    batch_case_close(&t);
}

static void test_any__of_failures_gives_each_and_one_error_for_all(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "fail_now", fail_now, NULL);
    run_race(CADRE_ANY, "fails", "fail_now", "");
    CHECK_STATUS(raced.status, CADRE_EFAILED, &raced.err);
    CHECK_INT(raced.winner, 3);
    CHECK_TEXT(raced.err.text, "'lead': none of 3 calls succeeded: it failed; no key; "
                               "'lead': a call names no agent");
    CHECK_TEXT(raced.texts[0], "fails! it failed");
    CHECK_TEXT(raced.texts[1], "fail_now! no key");
    CHECK_INT(raced.out[1].error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(raced.texts[2], "! 'lead': a call names no agent");
    batch_case_close(&t);
}

static void test_race__is_won_by_the_first_ending(void)
{
    batch_case_open(&t, race_lead);
    run_race(CADRE_RACE, "sleeper", "quick", NULL);
    CHECK_OK(raced.status, &raced.err);
    CHECK_INT(raced.winner, 1);
    CHECK_TEXT(raced.texts[1], "quick: quick");
    race_check_loser(0);
    batch_case_close(&t);
}

static void test_race__is_won_by_a_failure_too(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "fail_now", fail_now, NULL);
    run_race(CADRE_RACE, "sleeper", "fail_now", "sleeper");
    CHECK_STATUS(raced.status, CADRE_EFAILED, &raced.err);
    CHECK_TEXT(raced.err.text, "no key");
    CHECK_INT(raced.err.error_class, CADRE_CLASS_AUTH);
    CHECK_INT(raced.winner, 1);
    CHECK_TEXT(raced.texts[1], "fail_now! no key");
    race_check_loser(0);
    race_check_loser(2);
    batch_case_close(&t);
}

// Whose failure it is stays told, also when others were stopped for it.
static void test_race__passes_on_whose_failure_it_is(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "fail_now", fail_now, NULL);
    race_set(CADRE_RACE, "fail_now", "sleeper", NULL);
    raced.passes_on = true;
    batch_case_run(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.result->error.message, "no key");
    CHECK_TEXT(t.result->error.agent, "fail_now");
    batch_case_close(&t);
}

static void test_all__sums_up_when_each_one_failed(void)
{
    batch_case_open(&t, race_lead);
    batch_case_add(&t, "fail_now", fail_now, NULL);
    race_set(CADRE_ALL, "fail_now", "fails", NULL);
    raced.passes_on = true;
    batch_case_run(&t);
    CHECK_TEXT(t.result->error.message,
               "'lead': none of 2 calls succeeded: no key; it failed");
    CHECK_TEXT(t.result->error.agent, "lead");
    batch_case_close(&t);
}

static void test_any__of_one_is_a_call(void)
{
    batch_case_open(&t, race_lead);
    race_set(CADRE_ANY, "quick", NULL, NULL);
    raced.n = 1;
    batch_case_run(&t);
    CHECK_OK(raced.status, &raced.err);
    CHECK_INT(raced.winner, 0);
    CHECK_TEXT(raced.texts[0], "quick: quick");
    batch_case_close(&t);
}

static void test_any__of_nothing_is_nothing(void)
{
    for (int wait = CADRE_ANY; wait <= CADRE_RACE; wait++) {
        batch_case_open(&t, race_lead);
        race_set((cadre_wait)wait, NULL, NULL, NULL);
        raced.n = 0;
        batch_case_run(&t);
        CHECK_OK(raced.status, &raced.err);
        CHECK_INT(raced.winner, 0);
        batch_case_close(&t);
    }
}

static void test_any__keeps_the_place_of_an_invalid_call(void)
{
    for (int wait = CADRE_ANY; wait <= CADRE_RACE; wait++) {
        batch_case_open(&t, race_lead);
        run_race((cadre_wait)wait, "", "quick", "sleeper");
        CHECK_OK(raced.status, &raced.err);
        CHECK_INT(raced.winner, 1);
        CHECK_TEXT(raced.texts[0], "! 'lead': a call names no agent");
        CHECK_INT(raced.out[0].status, CADRE_FRAME_FAILED);
        CHECK_TEXT(raced.texts[1], "quick: quick");
        race_check_loser(2);
        batch_case_close(&t);
    }
}

// What is asked for is refused as a whole, but for the outcomes of before.
static cadre_status refused(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[1] = {{.text = "old", .agent = "old", .error = "old"}};
    cadre_error own = CADRE_ERROR_INIT;
    size_t winner = 9;
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = batch_member(frame, "quick"))};
    CHECK_STATUS(cadre_frame_batch(frame,
                                   CADRE_BATCH(.wait = (cadre_wait)7, .calls = calls,
                                               .n_calls = 1, .winner = &winner),
                                   out, &own),
                 CADRE_EINVAL, &own);
    CHECK_TEXT(own.text, "'lead': cadre_batch.wait is 7, which is no cadre_wait");
    CHECK_TEXT(out[0].text, "");
    CHECK_TEXT(out[0].agent, "");
    CHECK_TEXT(out[0].error, "");
    CHECK_INT(winner, 1);
    return cadre_frame_set_output(frame, "refused", err);
}

static void test_any__clears_outcomes_also_when_it_is_refused(void)
{
    batch_case_open(&t, refused);
    batch_case_run(&t);
    team_case_check_answer(&t, "lead", "refused");
    batch_case_close(&t);
}

// --- Costs and silence ---

static cadre_status work(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    return cadre_frame_set_output(frame, "done", err);
}

static void test_any__charges_what_losers_have_cost(void)
{
    batch_case_open(&t, race_lead);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "work", .run = work));
    batch_case_add_llm(&t, "worker", DRIVEN_MODEL);
    DRIVEN("worker", "usage 30 5\ncall work {}", "gate\nsay never");
    gate_reset(&batch_quick);
    race_set(CADRE_ANY, "worker", "quick", NULL);
    if (batch_case_start(&t)) {
        CHECK(driven_await_held(1));
        gate_open(&batch_quick);
        team_case_finish(&t);
        CHECK_INT(raced.winner, 1);
        race_check_loser(0);
        CHECK_INT(raced.out[0].usage.input_tokens, 30);
        CHECK_INT(raced.out[0].usage.model_calls, 2);
        CHECK_INT(raced.out[0].usage.tool_calls, 1);
        CHECK_INT(t.result->usage.input_tokens, 30);
        CHECK_INT(t.result->usage.output_tokens, 5);
        CHECK_INT(t.result->usage.model_calls, 2);
    }
    batch_case_close(&t);
}

// Shows pieces as fast as it can, as long as it may.
static cadre_status chatter(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    while (!cadre_frame_is_stopped(frame))
        cadre_frame_emit(frame, ".", 1);
    return cadre_frame_sleep(frame, 0, err);
}

static void check_silent_afterwards(void)
{
    const recorder *r = &t.recorder;
    size_t i = 0;
    while (i < r->n_events && (r->events[i].type != CADRE_EVENT_MESSAGE_END ||
                               strcmp(r->events[i].says, "assistant returned") != 0))
        i++;
    CHECK(i < r->n_events);
    for (; i < r->n_events; i++)
        CHECK_TEXT(r->events[i].agent, "lead");
}

static void test_any__lets_nothing_of_losers_be_heard_afterwards(void)
{
    for (int i = 0; i < 20; i++) {
        batch_case_open(&t, race_lead);
        batch_case_add(&t, "chatter", chatter, NULL);
        run_race(CADRE_ANY, "chatter", "chatter", "quick");
        CHECK_INT(raced.winner, 2);
        check_silent_afterwards();
        batch_case_close(&t);
    }
}

// --- At one instant ---

enum {
    ROUNDS = 300
};

static pthread_barrier_t together;

static cadre_status end_together(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    pthread_barrier_wait(&together);
    return cadre_frame_set_output(frame, "me", err);
}

static cadre_status fail_together(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    pthread_barrier_wait(&together);
    return cadre_fail(err, CADRE_EFAILED, "me");
}

static cadre_status lead_rounds(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_wait *wait = ctx;
    const char *names[] = {"wins", "also", *wait == CADRE_RACE ? "fails_too" : "also"};
    cadre_call made[3];
    const cadre_call *calls[3];
    for (size_t i = 0; i < 3; i++) {
        made[i] = *CADRE_CALL(.agent = cadre_frame_find(frame, names[i]));
        calls[i] = &made[i];
    }
    for (int i = 0; i < ROUNDS; i++) {
        cadre_outcome out[3];
        size_t winner = 9;
        cadre_error own = CADRE_ERROR_INIT;
        cadre_frame_batch(
            frame,
            CADRE_BATCH(.wait = *wait, .calls = calls, .n_calls = 3, .winner = &winner),
            out, &own);
        if (!CHECK(winner < 3))
            continue;
        for (size_t k = 0; k < 3; k++)
            CHECK_INT(out[k].status == CADRE_FRAME_ABORTED, k != winner);
    }
    return cadre_frame_set_output(frame, "all", err);
}

// In the record as well: in each round two are marked, and one is not.
static void check_recorded_winners(void)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    int n_marked = 0;
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, NULL), NULL);
    CHECK_INT(n, 1 + 3 * ROUNDS);
    for (size_t i = 1; i < n; i++) {
        bool is_marked = strcmp(frames[i].abort_reason, "owner") == 0;
        n_marked += is_marked;
        CHECK_INT(is_marked, frames[i].status == CADRE_FRAME_ABORTED);
    }
    CHECK_INT(n_marked, 2 * ROUNDS);
}

static void check_together(cadre_wait wait)
{
    CHECK_INT(pthread_barrier_init(&together, NULL, 3), 0);
    team_case_open(&t);
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = lead_rounds, .ctx = &wait,
                               .members = CADRE_NAMES("wins", "also", "fails_too")));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "wins", .run = end_together));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "also", .run = end_together));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "fails_too", .run = fail_together));
    cadre_team_set_root(t.team, "lead");
    team_case_run(&t, "go");
    team_case_check_answer(&t, "lead", "all");
    check_recorded_winners();
    team_case_close(&t);
    pthread_barrier_destroy(&together);
}

static void test_race__of_several_at_one_instant_has_one_winner(void)
{
    check_together(CADRE_ANY);
    check_together(CADRE_RACE);
}

// --- Attempts ---

static cadre_status fail_first(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    if (strchr(frame->key, '~') == NULL)
        return cadre_fail(err, CADRE_EFAILED, "not yet");
    return cadre_frame_set_output(frame, "at last", err);
}

static cadre_status fail_then_sleep(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    if (strchr(frame->key, '~') == NULL) {
        pthread_barrier_wait(&together);
        return cadre_fail(err, CADRE_EFAILED, "not yet");
    }
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

static void add_retried(const char *name, batch_work run, int attempts)
{
    batch_case_add(&t, name, run, NULL);
    t.team->agents[t.team->n_agents - 1]->retry.attempts = attempts;
}

static void test_race__waits_for_the_last_attempt(void)
{
    for (int wait = CADRE_ANY; wait <= CADRE_RACE; wait++) {
        batch_case_open(&t, race_lead);
        add_retried("flaky", fail_first, 2);
        run_race((cadre_wait)wait, "sleeper", "flaky", NULL);
        CHECK_OK(raced.status, &raced.err);
        CHECK_INT(raced.winner, 1);
        CHECK_TEXT(raced.texts[1], "flaky: at last");
        race_check_loser(0);
        batch_case_close(&t);
    }
}

static void test_race__is_won_by_a_last_attempt_that_fails(void)
{
    batch_case_open(&t, race_lead);
    add_retried("failing", fail_now, 3);
    run_race(CADRE_RACE, "sleeper", "failing", NULL);
    CHECK_STATUS(raced.status, CADRE_EFAILED, &raced.err);
    CHECK_INT(raced.winner, 1);
    CHECK_TEXT(batch_row(&t, "b1/2~3"), "failed error : no key");
    race_check_loser(0);
    batch_case_close(&t);
}

// The same calls again, by their keys: all of it is in the record, attempts too.
static cadre_status lead_keys(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = batch_member(frame, "flaky"), .key = "one"),
        CADRE_CALL(.agent = batch_member(frame, "sleeper"), .key = "two")};
    for (int i = 0; i < 3; i++) {
        cadre_outcome out[2];
        size_t winner = 9;
        cadre_status status = cadre_frame_batch(
            frame,
            CADRE_BATCH(.wait = i == 1 ? CADRE_RACE : CADRE_ANY, .calls = calls,
                        .n_calls = 2, .winner = &winner),
            out, err);
        if (status != CADRE_OK)
            return status;
        CHECK_INT(winner, 0);
        CHECK_TEXT(out[0].text, "at last");
        CHECK_TEXT(out[0].agent, "flaky");
        CHECK_TEXT(out[1].agent, "sleeper");
        CHECK_INT(out[1].status, CADRE_FRAME_ABORTED);
    }
    return cadre_frame_set_output(frame, "thrice", err);
}

static void test_any__answers_its_keys_from_the_record(void)
{
    batch_case_open(&t, lead_keys);
    add_retried("flaky", fail_first, 2);
    batch_case_run(&t);
    team_case_check_answer(&t, "lead", "thrice");
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "  agent flaky one failed error\n");
    CHECK_CONTAINS(frames, "  agent flaky one~2 completed final\n");
    CHECK_CONTAINS(frames, "  agent sleeper two aborted aborted\n");
    free(frames);
    batch_case_close(&t);
}

// The clock stands still, so an attempt that nobody stops would be waited for.
static cadre_status lead_flaky(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {CADRE_CALL(.agent = batch_member(frame, "flaky")),
                                 CADRE_CALL(.agent = batch_member(frame, "wins"))};
    (void)ctx;
    for (int i = 0; i < 3 * ROUNDS; i++) {
        cadre_outcome out[2];
        cadre_status status = cadre_frame_batch(
            frame, CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 2), out,
            err);
        if (status != CADRE_OK)
            return status;
        CHECK(out[0].status == CADRE_FRAME_FAILED ||
              out[0].status == CADRE_FRAME_ABORTED);
    }
    return CADRE_OK;
}

static void test_any__tries_no_loser_again(void)
{
    CHECK_INT(pthread_barrier_init(&together, NULL, 2), 0);
    batch_case_open_fake(&t, lead_flaky);
    batch_case_add(&t, "wins", end_together, NULL);
    add_retried("flaky", fail_then_sleep, 2);
    batch_case_run(&t);
    CHECK_OK(t.status, &t.err);
    batch_case_close(&t);
    pthread_barrier_destroy(&together);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_any__is_won_by_the_first_success_though_others_fail_before),
    CHECK_TEST(test_any__of_failures_gives_each_and_one_error_for_all),
    CHECK_TEST(test_race__is_won_by_the_first_ending),
    CHECK_TEST(test_race__is_won_by_a_failure_too),
    CHECK_TEST(test_race__passes_on_whose_failure_it_is),
    CHECK_TEST(test_all__sums_up_when_each_one_failed),
    CHECK_TEST(test_any__of_one_is_a_call),
    CHECK_TEST(test_any__of_nothing_is_nothing),
    CHECK_TEST(test_any__keeps_the_place_of_an_invalid_call),
    CHECK_TEST(test_any__clears_outcomes_also_when_it_is_refused),
    CHECK_TEST(test_any__charges_what_losers_have_cost),
    CHECK_TEST(test_any__lets_nothing_of_losers_be_heard_afterwards),
    CHECK_TEST(test_race__of_several_at_one_instant_has_one_winner),
    CHECK_TEST(test_race__waits_for_the_last_attempt),
    CHECK_TEST(test_race__is_won_by_a_last_attempt_that_fails),
    CHECK_TEST(test_any__answers_its_keys_from_the_record),
    CHECK_TEST(test_any__tries_no_loser_again),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/race", tests);
}
