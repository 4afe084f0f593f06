// Calls from C: delegate, call, step; whose conversation, which key, what ends.
#include "support/check.h"
#include "support/team_case.h"

#include "cadre/ext/id.h"

#include "base/buf.h"

#include "cadre/ext/turn.h"
#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

// The lead's work in a test; what it needs beyond its frame it finds here.
typedef cadre_status (*lead_work)(cadre_frame *frame, cadre_error *err);

static cadre_status run_lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    return (*(lead_work *)ctx)(frame, err);
}

static lead_work current;

static const cadre_agent *member(cadre_frame *frame, const char *name)
{
    const cadre_agent *found = cadre_frame_find(frame, name);
    CHECK(found != NULL);
    return found;
}

static void add_lead_and_members(lead_work work)
{
    current = work;
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = run_lead, .ctx = &current,
                               .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
}

static void open_lead(lead_work work)
{
    team_case_open(&t);
    add_lead_and_members(work);
}

// --- Delegate and call ---

static cadre_status delegate_twice(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = member(frame, "alice"), .input = "draft it"),
        &outcome, err);
    if (status != CADRE_OK)
        return status;
    CHECK_TEXT(outcome.text, "a draft");
    CHECK_TEXT(outcome.agent, "alice");
    CHECK_INT(outcome.status, CADRE_FRAME_COMPLETED);
    CHECK_INT(outcome.usage.model_calls, 1);
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = member(frame, "bob")), NULL,
                                err);
}

static void test_calls__a_delegate_works_in_the_same_conversation(void)
{
    open_lead(delegate_twice);
    DRIVEN("alice", "say a draft");
    DRIVEN("bob", "say better");
    team_case_run(&t, "write");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "better");
    CHECK_TEXT(t.result->agent, "bob");
    CHECK_TEXT(driven_request("alice", 0), "user: write\nuser: draft it\n");
    // What was said to alice is hers.
    CHECK_TEXT(driven_request("bob", 0), "user: write\nuser: [alice]: a draft\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_START),
               "lead: root api 0\nalice: alice#1 agent 1\nbob: bob#1 agent 1\n");
    for (size_t i = 0; i < t.recorder.n_events; i++)
        CHECK(t.recorder.events[i].is_main);
    team_case_close(&t);
}

static cadre_status call_then_delegate(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome;
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = member(frame, "alice"), .input = "think"), &outcome,
        err);
    if (status != CADRE_OK)
        return status;
    CHECK_TEXT(outcome.text, "thought");
    status = cadre_frame_call(frame,
                              CADRE_CALL(.agent = member(frame, "alice"),
                                         .input = "look", .history = CADRE_HISTORY_ALL),
                              &outcome, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = member(frame, "bob")), NULL,
                                err);
}

static void test_calls__a_call_has_a_conversation_of_its_own(void)
{
    open_lead(call_then_delegate);
    DRIVEN("alice", "say thought", "say seen");
    DRIVEN("bob", "say done");
    team_case_run(&t, "write");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "done");
    CHECK_TEXT(driven_request("alice", 0), "user: think\n");
    CHECK_TEXT(driven_request("alice", 1), "user: write\nuser: look\n");
    CHECK_TEXT(driven_request("bob", 0), "user: write\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_FRAME_START),
               "lead: root api 0\nalice: alice#1 agent_fork 1\n"
               "alice: alice#2 agent_fork 1\nbob: bob#1 agent 1\n");
    for (size_t i = 0; i < t.recorder.n_events; i++)
        CHECK_INT(t.recorder.events[i].is_main,
                  strcmp(t.recorder.events[i].agent, "alice") != 0);
    team_case_close(&t);
}

static cadre_status survive(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome = {.text = "old"};
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_frame_call(
                     frame, CADRE_CALL(.agent = member(frame, "alice"), .input = "x"),
                     &outcome, &own),
                 CADRE_EFAILED, &own);
    CHECK_TEXT(outcome.text, "");
    CHECK_TEXT(outcome.error, "agent 'alice': model 'driven/test': key refused");
    CHECK_INT(outcome.error_class, CADRE_CLASS_AUTH);
    CHECK_INT(outcome.status, CADRE_FRAME_FAILED);
    return cadre_frame_set_output(frame, "without her", err);
}

static void test_calls__a_failed_child_can_be_survived(void)
{
    open_lead(survive);
    DRIVEN("alice", "fail auth key refused");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "without her");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "alice: failed error auth: agent 'alice': model 'driven/test': key "
                   "refused\n");
    team_case_close(&t);
}

static cadre_status pass_on(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = member(frame, "alice")),
                                NULL, err);
}

static void test_calls__a_passed_on_failure_keeps_where_it_happened(void)
{
    open_lead(pass_on);
    DRIVEN("alice", "fail quota used up");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.result->error.agent, "alice");
    const recorded_event *start =
        recorder_find(&t.recorder, CADRE_EVENT_FRAME_START, 1);
    const recorded_event *end = recorder_find(&t.recorder, CADRE_EVENT_FRAME_END, 1);
    CHECK_TEXT(end->agent, "lead");
    CHECK_TEXT(end->says,
               "failed error quota: agent 'alice': model 'driven/test': used up");
    CHECK_TEXT(end->error_agent, "alice");
    CHECK_TEXT(end->error_frame, start->frame);
    team_case_close(&t);
}

static cadre_status use_a_key_twice(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome;
    for (int i = 0; i < 2; i++) {
        cadre_status status = cadre_frame_delegate(
            frame, CADRE_CALL(.agent = member(frame, "alice"), .key = "mine"), &outcome,
            err);
        if (status != CADRE_OK)
            return status;
        CHECK_TEXT(outcome.text, "once");
        CHECK_TEXT(outcome.agent, "alice");
    }
    return CADRE_OK;
}

static void test_calls__a_named_key_answers_from_its_record(void)
{
    open_lead(use_a_key_twice);
    DRIVEN("alice", "say once");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "once");
    CHECK_INT(driven_count("alice"), 1);
    team_case_close(&t);
}

static cadre_status diverge(cadre_frame *frame, cadre_error *err)
{
    cadre_error own = CADRE_ERROR_INIT;
    cadre_frame_call(
        frame, CADRE_CALL(.agent = member(frame, "alice"), .key = "k", .input = "x"),
        NULL, err);
    CHECK_STATUS(cadre_frame_call(frame,
                                  CADRE_CALL(.agent = member(frame, "bob"), .key = "k"),
                                  NULL, &own),
                 CADRE_EDIVERGED, &own);
    CHECK_CONTAINS(own.text, "recorded for 'alice', now asked for 'bob'");
    cadre_error_clear(&own);
    CHECK_STATUS(
        cadre_frame_call(frame, CADRE_CALL(.agent = member(frame, "bob")), NULL, &own),
        CADRE_EDIVERGED, &own);
    return CADRE_OK; // swallowed: the run is told all the same
}

static void test_calls__another_callee_under_a_key_diverges_for_good(void)
{
    open_lead(diverge);
    DRIVEN("alice", "say once");
    team_case_run(&t, "hi");
    CHECK_INT(t.result->status, CADRE_FRAME_FAILED);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_DIVERGED);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_DIVERGED);
    CHECK_INT(driven_count("bob"), 0);
    team_case_close(&t);
}

static cadre_status call_wrongly(cadre_frame *frame, cadre_error *err)
{
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_frame_call(frame, NULL, NULL, &own), CADRE_EINVAL, &own);
    cadre_error_clear(&own);
    CHECK_STATUS(cadre_frame_call(frame, CADRE_CALL(.input = "x"), NULL, &own),
                 CADRE_EINVAL, &own);
    CHECK_TEXT(own.text, "'lead': a call names no agent");
    CHECK_STATUS(
        cadre_frame_transfer(frame, CADRE_CALL(.agent = member(frame, "bob")), NULL),
        CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_frame_set_output(frame, NULL, NULL), CADRE_EINVAL, NULL);
    cadre_frame_emit(frame, NULL, 0);
    return cadre_frame_set_output(frame, "ok", err);
}

static void test_calls__a_wrong_call_is_told_and_harms_nobody(void)
{
    open_lead(call_wrongly);
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    team_case_close(&t);
}

// --- Depth ---

static cadre_status call_oneself(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_call(frame, CADRE_CALL(.agent = cadre_frame_agent(frame)), NULL,
                            err);
}

static void test_calls__too_deep_fails_with_the_path(void)
{
    open_lead(call_oneself);
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_depth = 3}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_TEXT(t.err.text, "agent 'lead': calls are nested deeper than max_depth 3: "
                           "lead -> lead -> lead -> lead");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_FRAME_START), 4);
    team_case_run(&t, "hi");
    CHECK_CONTAINS(t.err.text, "max_depth 32: lead -> lead -> lead -> lead -> lead -> "
                               "(23 more) -> lead");
    team_case_close(&t);
}

// Without the limit the thread's stack is one.
static void test_calls__unlimited_depth_ends_before_the_stack_does(void)
{
    open_lead(call_oneself);
    team_case_run_with(
        &t, CADRE_RUN(.input = "hi", .limits = {.max_depth = CADRE_UNLIMITED}));
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    CHECK_CONTAINS(t.err.text, "agent 'lead': calls are nested so deep that the "
                               "thread's stack is nearly used up: lead -> lead -> ");
    CHECK(recorder_count(&t.recorder, CADRE_EVENT_FRAME_START) > 64);
    team_case_close(&t);
}

// --- Time ---

static cadre_status call_with_time(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome;
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_frame_call(frame,
                                  CADRE_CALL(.agent = member(frame, "alice"),
                                             .input = "x", .timeout_ms = 1000),
                                  &outcome, &own),
                 CADRE_EFAILED, &own);
    CHECK_INT(outcome.status, CADRE_FRAME_TIMEOUT);
    CHECK_INT(outcome.stop_reason, CADRE_STOP_TIMEOUT);
    CHECK_INT(outcome.error_class, CADRE_CLASS_TIMEOUT);
    CHECK_TEXT(outcome.error, "agent 'alice': its time of 1s is up (timeout)");
    CHECK(cadre_frame_remaining_ms(frame) == 2000);
    return cadre_frame_sleep(frame, 5000, err);
}

static void test_calls__time_is_up_for_the_call_then_for_the_run(void)
{
    team_case_open_fake(&t);
    add_lead_and_members(call_with_time);
    DRIVEN("alice", "hold");
    if (team_case_start(&t, CADRE_RUN(.input = "hi", .timeout_ms = 3000)) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 1000);
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 2000);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_ETIMEOUT, &t.err);
    CHECK_INT(t.result->status, CADRE_FRAME_TIMEOUT);
    CHECK_INT(t.result->stop_reason, CADRE_STOP_TIMEOUT);
    CHECK_INT(t.result->duration_ms, 3000);
    CHECK_TEXT(t.err.text, "agent 'lead': its time of 3s is up (timeout)");
    team_case_close(&t);
}

// --- Steps ---

static json_t *count_up(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    (void)err;
    int *n = ctx;
    return json_integer(++*n);
}

static json_t *fail_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_frame_emit(frame, "trying", 6);
    cadre_fail_class(err, CADRE_EIO, CADRE_CLASS_CONNECTION, true, "no line");
    return NULL;
}

static cadre_status take_steps(cadre_frame *frame, cadre_error *err)
{
    int n = 0;
    int64_t now = 0;
    uint64_t bits = 0;
    json_t *value = NULL;
    for (int i = 1; i <= 3; i++) {
        char name[16]; // gone before the next step looks at the names
        snprintf(name, sizeof name, "step%d", i % 2);
        cadre_status status = cadre_frame_step(
            frame, CADRE_STEP(.name = name, .run = count_up, .ctx = &n), &value, err);
        if (status != CADRE_OK)
            return status;
        CHECK_INT(json_integer_value(value), i);
        json_decref(value);
    }
    CHECK_OK(cadre_frame_now(frame, &now, err), err);
    CHECK_INT(now, 1000000);
    CHECK_OK(cadre_frame_random(frame, &bits, err), err);
    return cadre_frame_step(frame, CADRE_STEP(.name = "fails", .run = fail_step), NULL,
                            err);
}

static void test_step__is_a_frame_with_its_value_or_failure(void)
{
    team_case_open_fake(&t);
    add_lead_and_members(take_steps);
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, "no line");
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_CONNECTION);
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent lead root failed error\n"
                       "  tool step1 step1#1 completed final\n"
                       "  tool step0 step0#1 completed final\n"
                       "  tool step1 step1#2 completed final\n"
                       "  tool now now#1 completed final\n"
                       "  tool random random#1 completed final\n"
                       "  tool fails fails#1 failed error\n");
    free(frames);
    team_case_close(&t);
}

static cadre_status take_wrong_steps(cadre_frame *frame, cadre_error *err)
{
    char name[200];
    cadre_error own = CADRE_ERROR_INIT;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    CHECK_STATUS(
        cadre_frame_step(frame, CADRE_STEP(.name = name, .run = count_up), NULL, &own),
        CADRE_EINVAL, &own);
    CHECK_STATUS(cadre_frame_step(frame, CADRE_STEP(.name = "x"), NULL, NULL),
                 CADRE_EINVAL, NULL);
    return cadre_frame_set_output(frame, "ok", err);
}

static void test_step__without_a_name_that_fits_is_refused(void)
{
    open_lead(take_wrong_steps);
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    team_case_close(&t);
}

// --- What is shown ---

static cadre_status emit_first(cadre_frame *frame, cadre_error *err)
{
    cadre_frame_emit(frame, "hello", 5);
    return cadre_frame_set_output(frame, "said", err);
}

static void test_calls__what_an_agent_emits_comes_after_its_start(void)
{
    open_lead(emit_first);
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TEXT_DELTA), "lead: hello\n");
    team_case_close(&t);
}

static cadre_status emit_in_pieces(cadre_frame *frame, cadre_error *err)
{
    cadre_frame_emit(frame, "one ", 4);
    cadre_frame_emit(frame, "\xE2\x82\xAC, two", 8);
    cadre_status status = cadre_frame_set_output(frame, "one \xE2\x82\xAC, two", err);
    cadre_frame_emit(frame, "never ended", 11);
    return status;
}

// The messages a run told of: "\nN start", the pieces, "\nN end TEXT"; N counts ids.
typedef struct message_log {
    cdr_buf text;
    char ids[8][CADRE_ID_TEXT_SIZE];
    int n_ids;
} message_log;

static int number_of(message_log *log, const char *id)
{
    for (int i = 0; i < log->n_ids; i++)
        if (strcmp(log->ids[i], id) == 0)
            return i;
    snprintf(log->ids[log->n_ids], CADRE_ID_TEXT_SIZE, "%s", id);
    return log->n_ids++;
}

static void log_message_event(message_log *log, const cadre_event *event)
{
    if (event->type == CADRE_EVENT_MESSAGE_START) {
        cdr_buf_printf(&log->text, "\n%d start ",
                       number_of(log, event->u.message_start.message_id));
    } else if (event->type == CADRE_EVENT_TEXT_DELTA) {
        CHECK_INT(number_of(log, event->u.delta.message_id), log->n_ids - 1);
        cdr_buf_append_text(&log->text, event->u.delta.text);
    } else if (event->type == CADRE_EVENT_MESSAGE_END) {
        const cadre_message *m = event->u.message_end.message;
        cdr_buf_printf(&log->text, "\n%d end %s", number_of(log, m->id), m->text);
    }
}

static void test_calls__what_an_agent_emits_is_of_the_message_it_then_says(void)
{
    message_log log = {.text = CDR_BUF_INIT};
    const cadre_event *event = NULL;
    open_lead(emit_in_pieces);
    cadre_run *run = team_case_start(&t, CADRE_RUN(.input = "hi"));
    while (cadre_run_next(run, &event, NULL) == CADRE_OK)
        log_message_event(&log, event);
    CHECK_OK(cadre_run_wait(run, NULL, &t.err), &t.err);
    CHECK_TEXT(cdr_buf_text(&log.text), "\n0 end hi"
                                        "\n1 start one \xE2\x82\xAC, two"
                                        "\n1 end one \xE2\x82\xAC, two"
                                        "\n2 start never ended");
    cdr_buf_fini(&log.text);
    team_case_close(&t);
}

static cadre_status call_quietly(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_call(frame,
                            CADRE_CALL(.agent = member(frame, "alice"), .input = "x",
                                       .flags = CADRE_CALL_QUIET),
                            NULL, err);
}

static void test_calls__nothing_of_a_quiet_call_is_shown(void)
{
    open_lead(call_quietly);
    DRIVEN("alice", "say hidden");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    for (size_t i = 0; i < t.recorder.n_events; i++)
        CHECK_TEXT(t.recorder.events[i].agent, "lead");
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "agent alice alice#1 completed final\n");
    free(frames);
    team_case_close(&t);
}

static void test_calls__a_quiet_root_still_opens_and_closes_the_stream(void)
{
    team_case_open(&t);
    cadre_team_add_llm(
        t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL, .quiet = true));
    DRIVEN("alice", "say hidden");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "hidden");
    CHECK_INT(t.recorder.n_events, 2);
    team_case_close(&t);
}

// --- Turns ---

// Asks twice and never runs what the answers call for.
static cadre_status ask_only(cadre_frame *frame, cadre_error *err)
{
    const cadre_model_call call = {.struct_size = sizeof call,
                                   .model = t.team->models[0]};
    cadre_answer answer;
    cadre_status status = cadre_frame_ask_model(frame, &call, &answer, err);
    if (status == CADRE_OK)
        status = cadre_frame_ask_model(frame, &call, &answer, err);
    return status;
}

static void test_turns__calls_that_nobody_ran_get_their_result(void)
{
    open_lead(ask_only);
    DRIVEN("lead", "call f {}\ncall g {}", "say well\ncall h {}");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "well");
    CHECK_TEXT(driven_system("lead", 0), "");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT),
               "lead: f aborted Not done: the turn was stopped.\n"
               "lead: g aborted Not done: the turn was stopped.\n"
               "lead: h aborted Not done: the turn was stopped.\n");
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_calls__a_delegate_works_in_the_same_conversation),
    CHECK_TEST(test_calls__a_call_has_a_conversation_of_its_own),
    CHECK_TEST(test_calls__a_failed_child_can_be_survived),
    CHECK_TEST(test_calls__a_passed_on_failure_keeps_where_it_happened),
    CHECK_TEST(test_calls__a_named_key_answers_from_its_record),
    CHECK_TEST(test_calls__another_callee_under_a_key_diverges_for_good),
    CHECK_TEST(test_calls__a_wrong_call_is_told_and_harms_nobody),
    CHECK_TEST(test_calls__too_deep_fails_with_the_path),
    CHECK_TEST(test_calls__unlimited_depth_ends_before_the_stack_does),
    CHECK_TEST(test_calls__time_is_up_for_the_call_then_for_the_run),
    CHECK_TEST(test_step__is_a_frame_with_its_value_or_failure),
    CHECK_TEST(test_step__without_a_name_that_fits_is_refused),
    CHECK_TEST(test_calls__what_an_agent_emits_comes_after_its_start),
    CHECK_TEST(test_calls__what_an_agent_emits_is_of_the_message_it_then_says),
    CHECK_TEST(test_calls__nothing_of_a_quiet_call_is_shown),
    CHECK_TEST(test_calls__a_quiet_root_still_opens_and_closes_the_stream),
    CHECK_TEST(test_turns__calls_that_nobody_ran_get_their_result),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/calls", tests);
}
