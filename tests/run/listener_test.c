// Listening to calls: what is heard, by whom, on which thread; stopping and parking.
#include "support/listen_case.h"

#include "cadre/state.h"
#include "cadre/trace.h"
#include "team/team.h"

#include <string.h>

static team_case t;

// --- What is heard ---

static void test_listener__hears_each_callee_by_index_and_agent(void)
{
    batch_case_open(&t, listen_lead);
    DRIVEN("alice", "call nothing {}", "say A");
    DRIVEN("bob", "fail auth no key");
    listen_set(LISTEN_BATCH, CADRE_ALL, "alice", "bob");
    batch_case_run(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_STATUS(listened.status, CADRE_EFAILED, &listened.err);
    CHECK_TEXT(listened.texts[0], "alice: A");
    CHECK_TEXT(listened.texts[1], "bob! agent 'bob': model 'driven/test': no key");
    const char *text = listen_text();
    CHECK_CONTAINS(text, "0 alice alice frame_start b1/1 agent_fork 1\n");
    CHECK_CONTAINS(text, "0 alice alice tool_call nothing {}\n");
    CHECK_CONTAINS(text, "0 alice alice tool_result nothing unknown_tool There is no");
    CHECK_CONTAINS(text, "0 alice alice text_delta A\n");
    CHECK_CONTAINS(text, "0 alice alice message_end assistant A\n");
    CHECK_CONTAINS(text, "0 alice alice frame_end completed final A\n");
    CHECK_CONTAINS(text, "1 bob bob frame_start b1/2 agent_fork 1\n");
    CHECK_CONTAINS(text, "1 bob bob frame_end failed error auth: ");
    CHECK_LACKS(text, "lead");
    CHECK_LACKS(strstr(text, "returned"), "alice");
    // The run's consumer hears it too.
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "alice: completed final A\n");
    listen_close(&t);
}

static void test_listener__hears_a_single_call_under_the_key_it_has_anyway(void)
{
    batch_case_open(&t, listen_lead);
    DRIVEN("alice", "always\nsay A");
    listen_set(LISTEN_CALL, CADRE_ALL, "alice", NULL);
    batch_case_run(&t);
    CHECK_OK(listened.status, &listened.err);
    CHECK_TEXT(listened.texts[0], "alice: A");
    CHECK_CONTAINS(listen_text(), "0 alice alice frame_start alice#1 agent_fork 1\n");
    CHECK_CONTAINS(listen_text(), "0 alice alice frame_end completed final A\n");
    listen_set(LISTEN_DELEGATE, CADRE_ALL, "alice", NULL);
    batch_case_run(&t);
    CHECK_OK(listened.status, &listened.err);
    CHECK_CONTAINS(listen_text(), "0 alice alice frame_start alice#1 agent 1\n");
    CHECK_CONTAINS(listen_text(), "0 alice alice message_end assistant A\n");
    listen_close(&t);
}

// Nested calls are the callee's work.
static cadre_status nest(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "alice"), .input = "a"),
        CADRE_CALL(.agent = cadre_frame_find(frame, "quick"), .input = "b")};
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "nested", err) : status;
}

static void test_listener__hears_what_is_below_its_callee(void)
{
    batch_case_open(&t, listen_lead);
    batch_case_add(&t, "nest", nest, NULL);
    DRIVEN("alice", "say A");
    listen_set(LISTEN_BATCH, CADRE_ALL, "quick", "nest");
    batch_case_run(&t);
    CHECK_OK(listened.status, &listened.err);
    CHECK_CONTAINS(listen_text(), "1 nest alice frame_end completed final A\n");
    CHECK_CONTAINS(listen_text(), "1 nest quick frame_end completed final quick\n");
    CHECK_CONTAINS(listen_text(), "0 quick quick frame_end completed final quick\n");
    listen_close(&t);
}

static bool hear_nothing(void *ctx, const cadre_agent *agent, size_t index,
                         const cadre_event *event)
{
    (void)agent;
    (void)index;
    (void)event;
    atomic_fetch_add((atomic_int *)ctx, 1);
    return true;
}

static atomic_int n_inner;

// Calls alice, for whoever listens at which level, from within its own listener.
static bool call_alice(void *ctx, const cadre_agent *agent, size_t index,
                       const cadre_event *event)
{
    cadre_frame *frame = ctx;
    cadre_outcome out;
    (void)agent;
    (void)index;
    if (event->type != CADRE_EVENT_FRAME_END)
        return true;
    CHECK_OK(
        cadre_frame_call(frame,
                         CADRE_CALL(.agent = cadre_frame_find(frame, "alice"),
                                    .listener = hear_nothing, .listener_ctx = &n_inner),
                         &out, NULL),
        NULL);
    CHECK_TEXT(out.text, "A");
    return true;
}

static cadre_status mid(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status =
        cadre_frame_call(frame,
                         CADRE_CALL(.agent = cadre_frame_find(frame, "quick"),
                                    .listener = call_alice, .listener_ctx = frame),
                         NULL, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "mid", err) : status;
}

static void test_listener__further_out_hears_calls_of_one_within(void)
{
    batch_case_open(&t, listen_lead);
    batch_case_add(&t, "mid", mid, NULL);
    atomic_store(&n_inner, 0);
    DRIVEN("alice", "say A");
    listen_set(LISTEN_CALL, CADRE_ALL, "mid", NULL);
    batch_case_run(&t);
    CHECK_OK(listened.status, &listened.err);
    CHECK_CONTAINS(listen_text(), "0 mid quick frame_end completed final quick\n");
    CHECK_CONTAINS(listen_text(), "0 mid alice frame_start alice#1 agent_fork 2\n");
    CHECK_CONTAINS(listen_text(), "0 mid alice frame_end completed final A\n");
    CHECK_CONTAINS(listen_text(), "0 mid mid frame_end completed final mid\n");
    CHECK(atomic_load(&n_inner) >= 4);
    listen_close(&t);
}

static void test_listener__hears_nothing_of_a_quiet_callee(void)
{
    batch_case_open(&t, listen_lead);
    DRIVEN("alice", "always\nsay A");
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++) {
        listen_set(how, CADRE_ALL, "alice", NULL);
        listened.flags = CADRE_CALL_QUIET;
        batch_case_run(&t);
        CHECK_OK(listened.status, &listened.err);
        CHECK_TEXT(listened.texts[0], "alice: A");
        CHECK_TEXT(listen_text(), "returned\n");
    }
    listen_close(&t);
}

static cadre_status set_state(void *ctx, cadre_frame *frame, cadre_error *err)
{
    json_t *value = json_integer(7);
    (void)ctx;
    cadre_status status = cadre_frame_set_state(frame, "n", value, err);
    json_decref(value);
    return status;
}

// Nobody reads the run: who listens is another matter.
static void test_listener__hears_what_the_runs_consumer_does_not(void)
{
    batch_case_open(&t, listen_lead);
    batch_case_add(&t, "sets", set_state, NULL);
    DRIVEN("alice", "say A");
    listen_set(LISTEN_BATCH, CADRE_ALL, "alice", "sets");
    gate_reset(&batch_quick);
    if (batch_case_start(&t)) {
        CHECK_OK(cadre_run_wait(t.run, NULL, &t.err), &t.err);
        CHECK_CONTAINS(listen_text(), "0 alice alice frame_end completed final A\n");
        CHECK_CONTAINS(listen_text(), "1 sets sets frame_end completed final");
    }
    listen_close(&t);
}

static cadre_status listen_in_batch(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = batch_member(frame, "quick"), .listener = hear_nothing)};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 1), NULL,
                             err);
}

static void test_listener__of_a_call_in_a_batch_is_refused(void)
{
    batch_case_open(&t, listen_in_batch);
    batch_case_run(&t);
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "'lead': call 0 of a batch has a listener; give it to the "
                           "batch");
    listen_close(&t);
}

// --- Stopping ---

static bool stop_at_text(const cadre_event *event)
{
    return event->type != CADRE_EVENT_TEXT_DELTA;
}

static bool stop_at_end(const cadre_event *event)
{
    return event->type != CADRE_EVENT_FRAME_END;
}

static void check_stopped(void)
{
    CHECK_OK(t.status, &t.err); // the lead survives it
    CHECK_STATUS(listened.status, CADRE_EFAILED, &listened.err);
    CHECK_TEXT(listened.err.text,
               "'lead': its calls were stopped by who listened to them");
    CHECK_INT(listened.err.error_class, CADRE_CLASS_ABORTED);
}

static void test_listener__stops_all_calls_by_false(void)
{
    for (int wait = CADRE_ALL; wait <= CADRE_RACE; wait++) {
        batch_case_open_fake(&t, listen_lead);
        DRIVEN("alice", "say A\nhold");
        listen_set(LISTEN_BATCH, (cadre_wait)wait, "sleeper", "alice");
        listen_at = stop_at_text;
        batch_case_run(&t);
        check_stopped();
        CHECK_INT(listened.winner, 2);
        CHECK_TEXT(listened.texts[0],
                   "sleeper! aborted: its work is not needed any more");
        CHECK_TEXT(listened.texts[1],
                   "alice! aborted: its work is not needed any more");
        CHECK_TEXT(batch_row(&t, "b1/2"),
                   "aborted aborted owner: aborted: its work is not needed any more");
        // It hears no more.
        CHECK_TEXT(strstr(listen_text(), "text_delta"), "text_delta A\nreturned\n");
        listen_close(&t);
    }
}

static void test_listener__stops_one_that_is_tried_again(void)
{
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++) {
        batch_case_open_fake(&t, listen_lead);
        batch_case_add_llm(&t, "online", "driven/other");
        t.team->agents[t.team->n_agents - 1]->retry.attempts = 3;
        DRIVEN("online", "fail auth no key", "say A\nhold", "say never");
        listen_set(how, CADRE_ALL, "online", how == LISTEN_BATCH ? "sleeper" : NULL);
        listen_at = stop_at_text;
        batch_case_run(&t);
        check_stopped();
        CHECK_TEXT(listened.texts[0],
                   "online! aborted: its work is not needed any more");
        CHECK_TEXT(batch_row(&t, how == LISTEN_BATCH ? "b1/1~2" : "online#1~2"),
                   "aborted aborted owner: aborted: its work is not needed any more");
        CHECK_INT(driven_count("online"), 2);
        listen_close(&t);
    }
}

static void test_listener__stops_a_single_call_by_false(void)
{
    for (listen_how how = LISTEN_CALL; how <= LISTEN_DELEGATE; how++) {
        batch_case_open_fake(&t, listen_lead);
        DRIVEN("alice", "say A\nhold");
        listen_set(how, CADRE_ALL, "alice", NULL);
        listen_at = stop_at_text;
        batch_case_run(&t);
        check_stopped();
        CHECK_TEXT(listened.texts[0],
                   "alice! aborted: its work is not needed any more");
        CHECK_TEXT(batch_row(&t, "alice#1"),
                   "aborted aborted owner: aborted: its work is not needed any more");
        listen_close(&t);
    }
}

// All have ended when it says stop, so nothing is stopped: as a resume would find it,
// which tells it nothing again.
static void test_listener__stops_nothing_that_has_ended(void)
{
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++)
        for (int wait = CADRE_ALL; wait <= CADRE_RACE; wait++) {
            batch_case_open_fake(&t, listen_lead);
            listen_set(how, (cadre_wait)wait, "quick", NULL);
            listen_at = stop_at_end;
            batch_case_run(&t);
            CHECK_OK(listened.status, &listened.err);
            CHECK_TEXT(listened.texts[0], "quick: quick");
            CHECK_TEXT(batch_row(&t, how == LISTEN_BATCH ? "b1/1" : "quick#1"),
                       "completed final : ");
            CHECK_TEXT(strstr(listen_text(), "frame_end"),
                       "frame_end completed final quick\nreturned\n");
            listen_close(&t);
        }
}

static bool stop_at_question(const cadre_event *event)
{
    return event->type != CADRE_EVENT_INTERRUPT;
}

// The run does not park for a question that nobody waits for any more.
static void test_listener__stops_a_question(void)
{
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++) {
        batch_case_open(&t, listen_lead);
        listen_set(how, CADRE_ALL, "asker", NULL);
        listen_at = stop_at_question;
        batch_case_run(&t);
        check_stopped();
        CHECK_TEXT(batch_row(&t, "ask#1"),
                   "aborted aborted owner: aborted: its work is not needed any more");
        listen_close(&t);
    }
}

static bool answer_question(const cadre_event *event)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (event->type != CADRE_EVENT_INTERRUPT)
        return true;
    json_t *value = json_string("this");
    CHECK_OK(cadre_trace_answer(t.runtime, cadre_run_trace_id(t.run),
                                event->u.interrupt.question_id, value, &err),
             &err);
    json_decref(value);
    return true;
}

static void test_listener__may_answer_a_question(void)
{
    batch_case_open(&t, listen_lead);
    listen_set(LISTEN_CALL, CADRE_ALL, "asker", NULL);
    listen_at = answer_question;
    batch_case_run(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_OK(listened.status, &listened.err);
    CHECK_TEXT(listened.texts[0], "asker: this");
    listen_close(&t);
}

// --- Parking ---

static void test_listener__parks_with_its_callee(void)
{
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++) {
        batch_case_open(&t, listen_lead);
        listen_set(how, CADRE_ANY, "asker", NULL);
        batch_case_run(&t);
        CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
        CHECK_STATUS(listened.status, CADRE_EPARKED, &listened.err);
        CHECK_CONTAINS(listen_text(), "0 asker asker interrupt which? \n");
        listen_forget();
        batch_case_answer(&t, "this");
        team_case_check_answer(&t, "lead", "returned");
        CHECK_TEXT(listened.texts[0], "asker: this");
        CHECK_CONTAINS(listen_text(), "0 asker asker frame_end completed final this\n");
        listen_close(&t);
    }
}

// What has ended before is in the record: it is not told again.
static void test_listener__parks_with_one_of_two_and_hears_the_other_once(void)
{
    batch_case_open(&t, listen_lead);
    listen_set(LISTEN_BATCH, CADRE_ALL, "asker", "quick");
    batch_case_run(&t);
    CHECK_STATUS(t.status, CADRE_EPARKED, &t.err);
    CHECK_CONTAINS(listen_text(), "1 quick quick frame_end completed final quick\n");
    listen_forget();
    batch_case_answer(&t, "this");
    team_case_check_answer(&t, "lead", "returned");
    CHECK_TEXT(listened.texts[0], "asker: this");
    CHECK_TEXT(listened.texts[1], "quick: quick");
    CHECK_LACKS(listen_text(), "quick");
    CHECK_CONTAINS(listen_text(), "0 asker asker frame_end completed final this\n");
    listen_close(&t);
}

static void test_any__parks_when_one_asks_and_the_others_fail(void)
{
    for (int wait = CADRE_ANY; wait <= CADRE_RACE; wait++) {
        batch_case_open(&t, listen_lead);
        listen_set(LISTEN_BATCH, (cadre_wait)wait, "asker", "fails");
        batch_case_run(&t);
        if (wait == CADRE_RACE) { // the failure was the first ending
            CHECK_OK(t.status, &t.err);
            CHECK_INT(listened.winner, 1);
        } else if (CHECK_STATUS(t.status, CADRE_EPARKED, &t.err)) {
            CHECK_STATUS(listened.status, CADRE_EPARKED, &listened.err);
            batch_case_answer(&t, "this");
            team_case_check_answer(&t, "lead", "returned");
            CHECK_INT(listened.winner, 0);
            CHECK_TEXT(listened.texts[0], "asker: this");
            CHECK_TEXT(listened.texts[1], "fails! it failed");
        }
        listen_close(&t);
    }
}

// --- Others work meanwhile ---

static bool call_bob_at_end(const cadre_event *event)
{
    cadre_outcome out[2];
    if (event->type != CADRE_EVENT_FRAME_END || strcmp(event->agent, "alice") != 0)
        return true;
    const cadre_agent *bob = batch_member(listen_frame, "bob");
    const cadre_call *calls[] = {CADRE_CALL(.agent = bob, .input = "x"),
                                 CADRE_CALL(.agent = bob, .input = "y")};
    CHECK_OK(cadre_frame_batch(listen_frame, CADRE_BATCH(.calls = calls, .n_calls = 2),
                               out, NULL),
             NULL);
    CHECK_TEXT(out[1].text, "B");
    CHECK_OK(cadre_frame_call(listen_frame, calls[0], out, NULL), NULL);
    CHECK_TEXT(out[0].text, "B");
    gate_open(&batch_quick);
    return true;
}

static void test_listener__may_start_other_calls(void)
{
    batch_case_open(&t, listen_lead);
    DRIVEN("alice", "say A");
    DRIVEN("bob", "always\nsay B");
    gate_reset(&batch_quick); // who is listened to ends only after them
    listen_set(LISTEN_BATCH, CADRE_ALL, "alice", "quick");
    listen_at = call_bob_at_end;
    batch_case_run(&t);
    CHECK_OK(listened.status, &listened.err);
    CHECK_INT(driven_count("bob"), 3);
    CHECK_LACKS(listen_text(), "bob");
    CHECK_CONTAINS(listen_text(), "1 quick quick frame_end completed final quick\n");
    listen_close(&t);
}

// --- Any, race ---

static void test_listener__hears_the_winner_and_how_losers_end(void)
{
    for (int wait = CADRE_ANY; wait <= CADRE_RACE; wait++) {
        batch_case_open(&t, listen_lead);
        listen_set(LISTEN_BATCH, (cadre_wait)wait, "sleeper", "quick");
        batch_case_run(&t);
        CHECK_OK(listened.status, &listened.err);
        CHECK_INT(listened.winner, 1);
        CHECK_CONTAINS(listen_text(),
                       "1 quick quick frame_end completed final quick\n");
        CHECK_CONTAINS(listen_text(), "0 sleeper sleeper frame_end aborted aborted ");
        CHECK_TEXT(strstr(listen_text(), "returned"), "returned\n");
        listen_close(&t);
    }
}

static void test_listener__hears_that_a_loser_was_given_up(void)
{
    batch_case_open_fake(&t, listen_lead);
    listen_set(LISTEN_BATCH, CADRE_ANY, "deaf", "quick");
    gate_reset(&batch_quick);
    if (batch_case_start(&t)) {
        CHECK(gate_await(&batch_deaf, 1));
        gate_open(&batch_quick);
        batch_case_expire(&t);
        team_case_finish(&t);
        CHECK_OK(listened.status, &listened.err);
        CHECK_CONTAINS(listen_text(), "0 deaf deaf frame_end aborted aborted ");
    }
    listen_close(&t);
}

static cadre_status any_deaf(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "deaf")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "quick"))};
    return cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 2), NULL, err);
}

// Who listened further out has gone when it does what it can.
static void test_listener__may_be_gone_when_one_given_up_goes_on(void)
{
    batch_case_open_fake(&t, listen_lead);
    batch_case_add(&t, "any_deaf", any_deaf, NULL);
    listen_set(LISTEN_CALL, CADRE_ALL, "any_deaf", NULL);
    gate_reset(&batch_quick);
    if (batch_case_start(&t)) {
        CHECK(gate_await(&batch_deaf, 1));
        gate_open(&batch_quick);
        batch_case_expire(&t);
        team_case_finish(&t);
        CHECK_OK(listened.status, &listened.err);
        CHECK_CONTAINS(listen_text(), "0 any_deaf deaf frame_end aborted aborted ");
        gate_open(&batch_deaf);
        CHECK(gate_await(&batch_left, 1));
        CHECK_LACKS(listen_text(), "deaf text_delta");
        CHECK_LACKS(listen_text(), "assistant late");
    }
    listen_close(&t);
}

// Told to stop, one does not heed.
static bool stop_when_it_stands(const cadre_event *event)
{
    (void)event;
    CHECK(gate_await(&batch_deaf, 1));
    return false;
}

static void test_listener__stops_one_that_does_not_heed(void)
{
    batch_case_open_fake(&t, listen_lead);
    listen_set(LISTEN_BATCH, CADRE_ALL, "deaf", "quick");
    listen_at = stop_when_it_stands;
    if (batch_case_start(&t)) {
        batch_case_expire(&t);
        team_case_finish(&t);
        check_stopped();
        CHECK_TEXT(listened.texts[0], "deaf! aborted: its work is not needed any more");
    }
    listen_close(&t);
}

// --- Without a thread ---

// The one that is listened to needs a thread of its own, and there is none.
static void test_listener__is_told_that_there_is_no_thread(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    for (listen_how how = LISTEN_BATCH; how <= LISTEN_DELEGATE; how++) {
        memset(&t, 0, sizeof t);
        CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.max_threads = 1), &t.runtime, &err),
                 &err);
        driven_open(t.runtime);
        t.team = cadre_team_new(t.runtime, "team");
        batch_case_fill(&t, listen_lead);
        listen_set(how, CADRE_ALL, "quick", NULL);
        batch_case_run(&t);
        CHECK_OK(t.status, &t.err);
        CHECK_STATUS(listened.status, CADRE_EFAILED, &listened.err);
        CHECK_CONTAINS(listened.err.text, "all 1 threads are busy");
        CHECK_CONTAINS(listen_text(),
                       "0 quick quick frame_end failed error error: all 1 threads");
        listen_close(&t);
    }
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_listener__hears_each_callee_by_index_and_agent),
    CHECK_TEST(test_listener__hears_a_single_call_under_the_key_it_has_anyway),
    CHECK_TEST(test_listener__hears_what_is_below_its_callee),
    CHECK_TEST(test_listener__further_out_hears_calls_of_one_within),
    CHECK_TEST(test_listener__hears_nothing_of_a_quiet_callee),
    CHECK_TEST(test_listener__hears_what_the_runs_consumer_does_not),
    CHECK_TEST(test_listener__of_a_call_in_a_batch_is_refused),
    CHECK_TEST(test_listener__stops_all_calls_by_false),
    CHECK_TEST(test_listener__stops_one_that_is_tried_again),
    CHECK_TEST(test_listener__stops_a_single_call_by_false),
    CHECK_TEST(test_listener__stops_nothing_that_has_ended),
    CHECK_TEST(test_listener__stops_a_question),
    CHECK_TEST(test_listener__may_answer_a_question),
    CHECK_TEST(test_listener__parks_with_its_callee),
    CHECK_TEST(test_listener__parks_with_one_of_two_and_hears_the_other_once),
    CHECK_TEST(test_any__parks_when_one_asks_and_the_others_fail),
    CHECK_TEST(test_listener__may_start_other_calls),
    CHECK_TEST(test_listener__hears_the_winner_and_how_losers_end),
    CHECK_TEST(test_listener__hears_that_a_loser_was_given_up),
    CHECK_TEST(test_listener__may_be_gone_when_one_given_up_goes_on),
    CHECK_TEST(test_listener__stops_one_that_does_not_heed),
    CHECK_TEST(test_listener__is_told_that_there_is_no_thread),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/listener", tests);
}
