// Code that does not heed its mark: it is waited for two seconds, its frame ends
// without it, and nothing it does afterwards is seen.
#include "support/batch_case.h"

#include "cadre/ext/scope.h"
#include "team/team.h"
#include "tree/queue.h"

#include <stdlib.h>
#include <string.h>

static team_case t;

static gate lead_goes_on = GATE_INIT;
static atomic_int n_returned;
static cadre_outcome got[3];
static char got_texts[3][200];
static size_t winner;

static void keep(size_t n, const cadre_outcome *out)
{
    for (size_t i = 0; i < n; i++) {
        got[i] = out[i];
        (void)snprintf(got_texts[i], sizeof got_texts[i], "%s: %s%s",
                       out[i].agent == NULL ? "NULL" : out[i].agent, out[i].text,
                       out[i].error);
    }
    atomic_fetch_add(&n_returned, 1);
}

// Outlives its calls, so that one who does not heed may look at it.
static cadre_scope scope;

// Waits for the first of two, and then for the test.
static cadre_status any_of(cadre_frame *frame, const char *const *names,
                           cadre_error *err)
{
    cadre_outcome out[2];
    scope = (cadre_scope)CADRE_SCOPE(.roster = cadre_frame_members(frame));
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = batch_member(frame, names[0]), .input = "1",
                   .scope = &scope),
        CADRE_CALL(.agent = batch_member(frame, names[1]), .input = "2")};
    cadre_status status = cadre_frame_batch(
        frame,
        CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 2, .winner = &winner),
        out, err);
    if (status != CADRE_OK)
        return status;
    keep(2, out);
    gate_pass(&lead_goes_on);
    return cadre_frame_set_output(frame, out[winner].text, err);
}

static cadre_status lead_deaf(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return any_of(frame, (const char *const[]){"deaf", "quick"}, err);
}

static cadre_status lead_alice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return any_of(frame, (const char *const[]){"alice", "quick"}, err);
}

// Opens a case in which `quick` wins once the other one stands at its gate.
static bool start(batch_work work)
{
    batch_case_open_fake(&t, work);
    gate_reset(&lead_goes_on);
    gate_reset(&batch_quick);
    atomic_store(&n_returned, 0);
    DRIVEN("alice", "call deaf_tool {}");
    if (!batch_case_start(&t))
        return false;
    bool is_in = CHECK(gate_await(&batch_deaf, 1));
    gate_open(&batch_quick);
    return is_in;
}

static void check_won_by_quick(void)
{
    CHECK_INT(winner, 1);
    CHECK_TEXT(got_texts[1], "quick: quick");
    CHECK_INT(got[0].status, CADRE_FRAME_ABORTED);
    CHECK_INT(got[0].stop_reason, CADRE_STOP_ABORTED);
    CHECK_INT(got[0].error_class, CADRE_CLASS_ABORTED);
}

// --- One ---

static void test_straggler__is_waited_for_two_seconds(void)
{
    if (start(lead_deaf)) {
        cdr_clock_await_waiters(t.clock, 1);
        cdr_clock_advance(t.clock, 1999);
        cdr_clock_await_waiters(t.clock, 1); // it waits still
        CHECK_INT(atomic_load(&n_returned), 0);
        cdr_clock_advance(t.clock, 1);
        gate_open(&lead_goes_on);
        team_case_finish(&t); // it stands at its gate all the while
        team_case_check_answer(&t, "lead", "quick");
        check_won_by_quick();
        CHECK_TEXT(got_texts[0], "deaf: aborted: its work is not needed any more");
        CHECK_TEXT(batch_row(&t, "b1/1"), "aborted aborted owner: aborted: its work is "
                                          "not needed any more");
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "quick: completed final quick\n"
                   "deaf: aborted aborted aborted: aborted: its work is not needed any "
                   "more\n"
                   "lead: completed final quick\n");
    }
    batch_case_close(&t);
}

static void test_straggler__that_heeds_in_time_is_not_given_up(void)
{
    if (start(lead_deaf)) {
        cdr_clock_await_waiters(t.clock, 1);
        cdr_clock_advance(t.clock, 1999);
        gate_open(&batch_deaf);
        gate_open(&lead_goes_on);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "quick");
        CHECK_TEXT(got_texts[0], "deaf: aborted: its work is not needed any more");
    }
    batch_case_close(&t);
}

// It goes on while the run does: what it says and shows then is dropped.
static void test_straggler__says_nothing_afterwards(void)
{
    if (start(lead_deaf)) {
        batch_case_expire(&t);
        CHECK(gate_await(&lead_goes_on, 1)); // the batch has returned
        gate_open(&batch_deaf);
        CHECK(gate_await(&batch_left, 1));
        gate_open(&lead_goes_on);
        team_case_finish(&t);
        char *frames = team_case_frames(&t);
        CHECK_TEXT(frames, "agent lead root completed final\n"
                           "  agent deaf b1/1 aborted aborted\n"
                           "  agent quick b1/2 completed final\n");
        free(frames);
        CHECK_LACKS(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END), "late");
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_TEXT_DELTA), 0);
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_INTERRUPT), 0);
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_STATE_DELTA),
                   "deaf: deaf \"late\"\n");
    }
    batch_case_close(&t);
    CHECK_INT(batch_deaf_status, CADRE_EABORTED);
}

// The agent waits for its tool, so both are given up.
static void test_straggler__may_be_a_tool(void)
{
    if (start(lead_alice)) {
        batch_case_expire(&t);
        gate_open(&lead_goes_on);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "quick");
        check_won_by_quick();
        CHECK_INT(t.result->usage.model_calls, 1);
        char *frames = team_case_frames(&t);
        CHECK_TEXT(frames, "agent lead root completed final\n"
                           "  agent alice b1/1 aborted aborted\n"
                           "  agent quick b1/2 completed final\n"
                           "    model driven/test 1 completed final\n"
                           "    tool deaf_tool 1/0 aborted aborted\n");
        free(frames);
    }
    batch_case_close(&t);
}

// --- More than one ---

// Two that do not heed, below one that waits for them.
static cadre_status wait_for_deaf(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_agent *deaf = cadre_frame_find(frame, "deaf");
    const cadre_call *calls[] = {CADRE_CALL(.agent = deaf, .input = "a"),
                                 CADRE_CALL(.agent = deaf, .input = "b")};
    cadre_wait *wait = ctx;
    return cadre_frame_batch(
        frame, CADRE_BATCH(.wait = *wait, .calls = calls, .n_calls = 2), NULL, err);
}

static cadre_status lead_outer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return any_of(frame, (const char *const[]){"outer", "quick"}, err);
}

static void check_nested(cadre_wait wait)
{
    batch_case_open_fake(&t, lead_outer);
    batch_case_add(&t, "outer", wait_for_deaf, &wait);
    gate_reset(&lead_goes_on);
    gate_open(&lead_goes_on);
    gate_reset(&batch_quick);
    if (batch_case_start(&t)) {
        CHECK(gate_await(&batch_deaf, 2));
        gate_open(&batch_quick);
        batch_case_expire(&t);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "quick");
        char *frames = team_case_frames(&t);
        CHECK_TEXT(frames, "agent lead root completed final\n"
                           "  agent outer b1/1 aborted aborted\n"
                           "  agent quick b1/2 completed final\n"
                           "    agent deaf b1/1 aborted aborted\n"
                           "    agent deaf b1/2 aborted aborted\n");
        free(frames);
    }
    batch_case_close(&t);
}

static void test_straggler__may_be_several_below_one_that_waits(void)
{
    check_nested(CADRE_ALL);
    check_nested(CADRE_ANY);
}

// The caller itself gives up two that do not heed, and is then a loser in its turn.
static cadre_status give_up_deaf(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "deaf")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "deaf")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "quick"))};
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 3), NULL, err);
    gate_pass(ctx);
    return status;
}

static gate gave_up = GATE_INIT;
static gate second_quick = GATE_INIT;

static cadre_status run_second_quick(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&second_quick);
    return cadre_frame_set_output(frame, "second", err);
}

static cadre_status lead_twice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return any_of(frame, (const char *const[]){"outer", "second"}, err);
}

static void test_straggler__may_be_left_by_one_that_is_given_up_itself(void)
{
    batch_case_open_fake(&t, lead_twice);
    gate_reset(&lead_goes_on);
    gate_open(&lead_goes_on);
    gate_reset(&batch_quick);
    gate_reset(&gave_up);
    gate_reset(&second_quick);
    batch_case_add(&t, "outer", give_up_deaf, &gave_up);
    batch_case_add(&t, "second", run_second_quick, NULL);
    if (batch_case_start(&t)) {
        CHECK(gate_await(&batch_deaf, 2));
        gate_open(&batch_quick);
        batch_case_expire(&t); // the inner losers
        CHECK(gate_await(&gave_up, 1));
        gate_open(&second_quick);
        batch_case_expire(&t); // the outer one
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "second");
        char *frames = team_case_frames(&t);
        CHECK_TEXT(frames, "agent lead root completed final\n"
                           "  agent outer b1/1 aborted aborted\n"
                           "  agent second b1/2 completed final\n"
                           "    agent deaf b1/1 aborted aborted\n"
                           "    agent deaf b1/2 aborted aborted\n"
                           "    agent quick b1/3 completed final\n");
        free(frames);
    }
    gate_open(&gave_up);
    batch_case_close(&t);
}

// --- What the caller does meanwhile ---

// Its time was up before it lost, and it would be tried again.
static gate knows = GATE_INIT;
static gate left = GATE_INIT;

static cadre_status know_and_go_on(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    gate_pass(&knows);
    CHECK(cadre_frame_is_stopped(frame));
    gate_pass(&batch_deaf);
    gate_pass(&left);
    return cadre_fail(err, CADRE_EFAILED, "it failed late");
}

static void test_straggler__is_not_tried_again(void)
{
    batch_case_open_fake(&t, lead_outer);
    gate_reset(&left);
    gate_open(&left);
    gate_reset(&lead_goes_on);
    gate_reset(&batch_quick);
    gate_reset(&knows);
    batch_case_add(&t, "outer", know_and_go_on, NULL);
    cadre_agent *stubborn = t.team->agents[t.team->n_agents - 1];
    CHECK_TEXT(stubborn->info.name, "outer");
    stubborn->retry.attempts = 3;
    stubborn->timeout_ms = 1000;
    if (batch_case_start(&t)) {
        CHECK(gate_await(&knows, 1));
        cdr_clock_advance(t.clock, 1000);
        gate_open(&knows);
        CHECK(gate_await(&batch_deaf, 1));
        gate_open(&batch_quick);
        batch_case_expire(&t);
        CHECK(gate_await(&lead_goes_on, 1));
        gate_open(&batch_deaf);
        CHECK(gate_await(&left, 1));
        gate_open(&lead_goes_on);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "quick");
        CHECK_INT(got[0].status, CADRE_FRAME_TIMEOUT);
        CHECK_TEXT(got_texts[0],
                   "outer: agent 'outer': its time of 1s is up (timeout)");
        char *frames = team_case_frames(&t);
        CHECK_TEXT(frames, "agent lead root completed final\n"
                           "  agent outer b1/1 timeout timeout\n"
                           "  agent quick b1/2 completed final\n");
        free(frames);
    }
    batch_case_close(&t);
}

// A call with that key answers from the record: it was aborted.
static cadre_status lead_named(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[2];
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = batch_member(frame, "deaf"), .key = "one"),
        CADRE_CALL(.agent = batch_member(frame, "quick"), .key = "two")};
    for (int i = 0; i < 2; i++) {
        cadre_outcome again;
        cadre_error own = CADRE_ERROR_INIT;
        winner = 9;
        CHECK_OK(cadre_frame_batch(frame,
                                   CADRE_BATCH(.wait = CADRE_ANY, .calls = calls,
                                               .n_calls = 2, .winner = &winner),
                                   out, err),
                 err);
        keep(2, out);
        check_won_by_quick();
        CHECK_TEXT(got_texts[0], "deaf: aborted: its work is not needed any more");
        CHECK_STATUS(cadre_frame_call(frame, calls[0], &again, &own), CADRE_EFAILED,
                     &own);
        CHECK_TEXT(again.agent, "deaf");
        CHECK_TEXT(again.error, got[0].error);
    }
    return cadre_frame_set_output(frame, "twice", err);
}

static void test_straggler__answers_its_key_from_the_record(void)
{
    if (start(lead_named)) {
        batch_case_expire(&t);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "twice");
    }
    batch_case_close(&t);
}

// The run has ended, its result is out: freeing it waits for the thread.
static void *open_deaf(void *arg)
{
    gate_open(arg);
    return NULL;
}

static void test_straggler__outlives_the_run_and_is_joined(void)
{
    pthread_t opener;
    if (start(lead_deaf)) {
        batch_case_expire(&t);
        gate_open(&lead_goes_on);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "quick");
        CHECK_INT(batch_deaf_status, -1);
        CHECK_INT(pthread_create(&opener, NULL, open_deaf, &batch_deaf), 0);
        cadre_run_free(t.run);
        t.run = NULL;
        CHECK_INT(batch_deaf_status, CADRE_EABORTED); // it has gone to its end
        pthread_join(opener, NULL);
    }
    batch_case_close(&t);
}

// Nobody reads the run, so an ending cannot be shown: that is no reason to give up who
// has ended.
static cadre_status say_much(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    char *piece = cadre_frame_alloc(frame, CDR_QUEUE_LIMIT);
    memset(piece, '.', CDR_QUEUE_LIMIT);
    cadre_frame_emit(frame, piece, CDR_QUEUE_LIMIT); // the queue is full from here on
    return cadre_frame_set_output(frame, "much", err);
}

static bool hear_all(void *ctx, const cadre_agent *agent, size_t index,
                     const cadre_event *event)
{
    (void)ctx;
    (void)agent;
    (void)index;
    (void)event;
    return true;
}

// Who listens is woken by the winner's end, so the losers' time begins.
static cadre_status lead_much(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[2];
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = batch_member(frame, "sleeper")),
                                 CADRE_CALL(.agent = batch_member(frame, "much"))};
    cadre_status status =
        cadre_frame_batch(frame,
                          CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 2,
                                      .winner = &winner, .listener = hear_all),
                          out, err);
    if (status != CADRE_OK)
        return status;
    keep(2, out);
    return cadre_frame_set_output(frame, out[winner].text, err);
}

static void test_straggler__is_none_that_has_ended(void)
{
    batch_case_open_fake(&t, lead_much);
    batch_case_add(&t, "much", say_much, NULL);
    if (batch_case_start(&t)) {
        batch_case_expire(&t);
        cdr_clock_advance(t.clock, 2000);
        team_case_finish(&t);
        team_case_check_answer(&t, "lead", "much");
        CHECK_TEXT(got_texts[1], "much: much");
        CHECK_TEXT(got_texts[0], "sleeper: aborted: its work is not needed any more");
    }
    batch_case_close(&t);
}

// --- At any instant ---

enum {
    ROUNDS = 60
};

// Does all kinds of things until it is refused one, and time goes on meanwhile.
static cadre_status do_anything(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *value = json_true();
    cadre_status status = CADRE_OK;
    (void)ctx;
    (void)err;
    while (status == CADRE_OK) {
        if (cadre_frame_set_state(frame, "any", value, NULL) == CADRE_OK)
            CHECK(json_is_true(json_object_get(cadre_frame_state(frame), "any")));
        cadre_frame_emit(frame, "x", 1);
        cadre_frame_set_output(frame, "y", NULL);
        cdr_clock_advance(t.clock, 150);
        status = cadre_frame_call(
            frame, CADRE_CALL(.agent = cadre_frame_find(frame, "fails")), NULL, NULL);
        if (status == CADRE_EFAILED)
            status = CADRE_OK;
    }
    return CADRE_OK;
}

static cadre_status do_and_fail(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    cdr_clock_advance(t.clock, 50);
    return cadre_fail(err, CADRE_EFAILED, "again");
}

static cadre_status lead_rounds(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "busy")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "busy")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "retried")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "quick"))};
    (void)ctx;
    for (int i = 0; i < ROUNDS; i++) {
        cadre_outcome out[4];
        size_t won = 9;
        cadre_status status =
            cadre_frame_batch(frame,
                              CADRE_BATCH(.wait = CADRE_ANY, .calls = calls,
                                          .n_calls = 4, .winner = &won),
                              out, err);
        if (status != CADRE_OK)
            return status;
        CHECK(won < 4 && out[won].status == CADRE_FRAME_COMPLETED);
        for (size_t k = 0; k < 4; k++)
            CHECK(k == won || out[k].status != CADRE_FRAME_COMPLETED);
    }
    return CADRE_OK;
}

static void test_straggler__may_be_given_up_at_any_instant(void)
{
    batch_case_open_fake(&t, lead_rounds);
    batch_case_add(&t, "busy", do_anything, NULL);
    batch_case_add(&t, "retried", do_and_fail, NULL);
    t.team->agents[t.team->n_agents - 1]->retry.attempts = 100;
    batch_case_run(&t);
    CHECK_OK(t.status, &t.err);
    batch_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_straggler__is_waited_for_two_seconds),
    CHECK_TEST(test_straggler__that_heeds_in_time_is_not_given_up),
    CHECK_TEST(test_straggler__says_nothing_afterwards),
    CHECK_TEST(test_straggler__may_be_a_tool),
    CHECK_TEST(test_straggler__may_be_several_below_one_that_waits),
    CHECK_TEST(test_straggler__may_be_left_by_one_that_is_given_up_itself),
    CHECK_TEST(test_straggler__is_not_tried_again),
    CHECK_TEST(test_straggler__answers_its_key_from_the_record),
    CHECK_TEST(test_straggler__outlives_the_run_and_is_joined),
    CHECK_TEST(test_straggler__is_none_that_has_ended),
    CHECK_TEST(test_straggler__may_be_given_up_at_any_instant),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/straggler", tests);
}
