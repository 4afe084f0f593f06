// Agents that are tried again: which failures count, what the next attempt is shown
// and how long is waited.
#include "support/check.h"
#include "support/folder.h"
#include "support/team_case.h"

#include "team/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

static const cadre_retry thrice = {.attempts = 3};

static void add_agent(cadre_llm llm)
{
    llm.struct_size = sizeof llm;
    llm.model = DRIVEN_MODEL;
    cadre_team_add_llm(t.team, &llm);
}

// A root "lead" that does `run` with these members.
static void add_lead(cadre_status (*run)(void *, cadre_frame *, cadre_error *),
                     cadre_names members)
{
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = run, .members = members));
    cadre_team_set_root(t.team, "lead");
}

static const cadre_agent *member(const cadre_frame *frame, size_t n)
{
    return cadre_frame_members(frame).items[n];
}

// What the last call of a test's lead gave.
static cadre_status got_status;
static cadre_outcome got;
static char got_text[400];

static cadre_status keep(cadre_status status, const cadre_outcome *outcome)
{
    got_status = status;
    got = *outcome;
    (void)snprintf(got_text, sizeof got_text, "%s: %s%s", outcome->agent, outcome->text,
                   outcome->error);
    return CADRE_OK;
}

static cadre_status call_first(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out;
    (void)ctx;
    (void)err;
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = member(frame, 0), .input = "go"), &out, NULL);
    return keep(status, &out);
}

static void run_first(cadre_llm alice)
{
    const cadre_names members = CADRE_NAMES("alice");
    add_lead(call_first, members);
    alice.name = "alice";
    add_agent(alice);
    team_case_run(&t, "hi");
}

static void check_retries(const char *expected)
{
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_RETRY), expected);
}

// --- What is tried again ---

static void test_retry__calls_again_until_it_does_not_fail(void)
{
    team_case_open(&t);
    DRIVEN("alice", "fail auth one", "fail auth two", "say fine");
    run_first((cadre_llm){.retry = thrice});
    CHECK_OK(t.status, &t.err);
    CHECK_OK(got_status, NULL);
    CHECK_TEXT(got_text, "alice: fine");
    CHECK_INT(got.status, CADRE_FRAME_COMPLETED);
    CHECK_INT(got.usage.model_calls, 1);
    CHECK_INT(t.result->usage.model_calls, 3);
    check_retries("alice: 1 auth\nalice: 2 auth\n");
    char *frames = team_case_frames(&t);
    CHECK_TEXT(frames, "agent lead root completed final\n"
                       "  agent alice alice#1 failed error\n"
                       "    model driven/test 1 failed error\n"
                       "  agent alice alice#1~2 failed error\n"
                       "    model driven/test 1 failed error\n"
                       "  agent alice alice#1~3 completed final\n"
                       "    model driven/test 1 completed final\n");
    free(frames);
    CHECK_TEXT(driven_request("alice", 2), "user: go\n");
    team_case_close(&t);
}

static void test_retry__the_last_failure_is_the_calls(void)
{
    team_case_open(&t);
    DRIVEN("alice", "fail auth one", "fail auth two", "fail auth three", "say never");
    run_first((cadre_llm){.retry = thrice});
    CHECK_OK(t.status, &t.err);
    CHECK_INT(got_status, CADRE_EFAILED);
    CHECK_TEXT(got_text, "alice: agent 'alice': model 'driven/test': three");
    CHECK_INT(got.error_class, CADRE_CLASS_AUTH);
    CHECK_INT(driven_count("alice"), 3);
    team_case_close(&t);
}

static void test_retry__is_once_unless_it_is_asked_for(void)
{
    team_case_open(&t);
    DRIVEN("alice", "fail auth one", "say never");
    run_first((cadre_llm){.retry = {.backoff_ms = 5}});
    CHECK_INT(got_status, CADRE_EFAILED);
    CHECK_INT(driven_count("alice"), 1);
    check_retries("");
    team_case_close(&t);
}

static void test_retry__of_an_agent_that_came_to_no_end(void)
{
    team_case_open(&t);
    DRIVEN("alice", "call nothing", "say fine");
    run_first((cadre_llm){.retry = thrice, .max_bad_calls = 1});
    CHECK_TEXT(got_text, "alice: fine");
    check_retries("alice: 1 limit\n");
    team_case_close(&t);
}

static void test_retry__is_not_for_the_limits_of_the_run(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open(&t);
    add_lead(call_first, members);
    add_agent((cadre_llm){.name = "alice", .retry = thrice});
    DRIVEN("alice", "always\ncall nothing");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_model_calls = 2}));
    CHECK_INT(got_status, CADRE_EFAILED);
    CHECK_CONTAINS(got_text, "max_model_calls of 2");
    check_retries("");
    team_case_close(&t);
}

static void test_retry__is_not_for_a_script_that_does_not_fit(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    team_case_open(&t);
    if (!folder_make(&folder))
        return;
    folder_write(&folder, "script.yaml", "agents: {alice: []}\n", path);
    cadre_team_set_script(t.team, path);
    cadre_team_add_model(t.team, CADRE_MODEL(.name = "s", .model = "script/any"));
    const cadre_names members = CADRE_NAMES("alice");
    add_lead(call_first, members);
    cadre_team_add_llm(t.team,
                       CADRE_LLM(.name = "alice", .model = "s", .retry = thrice));
    CHECK_OK(cadre_team_seal(t.team, &err), &err);
    team_case_run(&t, "hi");
    CHECK_CONTAINS(got_text, "the script has no steps for agent 'alice'");
    check_retries("");
    folder_remove(&folder);
    team_case_close(&t);
}

static void test_retry__is_not_for_the_root_nor_for_who_is_handed_over_to(void)
{
    team_case_open(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("alice", "bob"),
                                           .retry = thrice));
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob", .retry = thrice});
    DRIVEN("alice", "to bob please");
    DRIVEN("bob", "fail auth one", "say never");
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    check_retries("");
    team_case_close(&t);
}

// A whole team is tried again from its beginning, with a scope of its own.
static void test_retry__of_a_team_begins_at_its_entry(void)
{
    const cadre_names members = CADRE_NAMES("desk");
    team_case_open(&t);
    add_lead(call_first, members);
    cadre_team_add_topology(
        t.team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("alice", "bob"),
                       .options = "{\"max_handoffs\": 1}", .retry = thrice));
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob"});
    DRIVEN("alice", "always\nsay over to bob\nto bob please");
    DRIVEN("bob", "fail auth one", "say fine");
    team_case_run(&t, "hi");
    CHECK_TEXT(got_text, "bob: fine");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER),
               "alice: alice bob done\nalice: alice bob done\n");
    check_retries("desk: 1 auth\n");
    team_case_close(&t);
}

// --- Time ---

static void test_retry__waits_and_then_has_its_whole_time(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open_fake(&t);
    add_lead(call_first, members);
    add_agent((cadre_llm){.name = "alice",
                          .timeout_ms = 5000,
                          .retry = {.attempts = 3, .backoff_ms = 20000}});
    DRIVEN("alice", "hold", "hold", "say fine");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    int64_t begun = cdr_clock_now_ms(t.clock);
    for (int i = 0; i < 2; i++) {
        cdr_clock_await_waiters(t.clock, 1); // holds
        cdr_clock_advance(t.clock, 5000);
        cdr_clock_await_waiters(t.clock, 1); // pauses
        CHECK_INT(driven_count("alice"), i + 1);
        cdr_clock_advance(t.clock, 20000);
    }
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(got_text, "alice: fine");
    CHECK_INT(cdr_clock_now_ms(t.clock) - begun, 50000);
    check_retries("alice: 1 timeout\nalice: 2 timeout\n");
    team_case_close(&t);
}

static cadre_status call_in_time(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out;
    (void)ctx;
    (void)err;
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = member(frame, 0), .timeout_ms = 3000), &out, NULL);
    return keep(status, &out);
}

static void test_retry__is_not_for_the_calls_own_time(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open_fake(&t);
    add_lead(call_in_time, members);
    add_agent((cadre_llm){.name = "alice", .timeout_ms = 5000, .retry = thrice});
    DRIVEN("alice", "hold", "say never");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cdr_clock_advance(t.clock, 3000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(got.status, CADRE_FRAME_TIMEOUT);
    check_retries("");
    team_case_close(&t);
}

static void test_retry__a_stop_ends_the_pause(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open_fake(&t);
    add_lead(call_first, members);
    add_agent(
        (cadre_llm){.name = "alice", .retry = {.attempts = 2, .backoff_ms = 60000}});
    DRIVEN("alice", "fail auth one", "say never");
    cadre_run *run = team_case_start(&t, CADRE_RUN(.input = "hi"));
    if (run == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cadre_run_cancel(run, NULL);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(driven_count("alice"), 1);
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "  agent alice alice#1~2 aborted aborted\n");
    free(frames);
    team_case_close(&t);
}

// --- In a batch ---

// All members at once, with all their texts as the answer.
static cadre_status call_all(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[3];
    cadre_call calls[3];
    const cadre_call *listed[3];
    size_t n = cadre_frame_members(frame).count;
    const char *text = "";
    (void)ctx;
    for (size_t i = 0; i < n; i++) {
        calls[i] = *CADRE_CALL(.agent = member(frame, i), .input = "go");
        listed[i] = &calls[i];
    }
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ALL, .calls = listed, .n_calls = n), out, err);
    for (size_t i = 0; status == CADRE_OK && i < n; i++)
        text = cadre_frame_printf(frame, "%s%s", text, out[i].text);
    return status == CADRE_OK ? cadre_frame_set_output(frame, text, err) : status;
}

static void test_retry__each_branch_for_itself(void)
{
    const cadre_names members = CADRE_NAMES("alice", "bob", "carol");
    team_case_open_fake(&t);
    add_lead(call_all, members);
    add_agent((cadre_llm){.name = "alice", .retry = thrice});
    add_agent((cadre_llm){.name = "bob", .retry = {.attempts = 2, .backoff_ms = 1000}});
    add_agent((cadre_llm){.name = "carol"});
    DRIVEN("alice", "fail auth one", "say A");
    DRIVEN("bob", "fail auth one", "say B");
    DRIVEN("carol", "gate\nsay C");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1); // bob pauses, on a thread of its own
    driven_release();
    cdr_clock_advance(t.clock, 1000);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "ABC");
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_RETRY), 2);
    team_case_close(&t);
}

static void test_retry__a_stop_ends_the_pause_of_a_branch(void)
{
    const cadre_names members = CADRE_NAMES("alice", "bob", "carol");
    team_case_open_fake(&t);
    add_lead(call_all, members);
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob", .retry = {.attempts = 2, .backoff_ms = 1000}});
    add_agent((cadre_llm){.name = "carol"});
    DRIVEN("alice", "say A");
    DRIVEN("bob", "fail auth one", "say B");
    DRIVEN("carol", "say C");
    cadre_run *run = team_case_start(&t, CADRE_RUN(.input = "hi"));
    if (run == NULL)
        return;
    cdr_clock_await_waiters(t.clock, 1);
    cadre_run_cancel(run, NULL);
    team_case_finish(&t);
    CHECK_STATUS(t.status, CADRE_EABORTED, &t.err);
    CHECK_INT(driven_count("bob"), 1);
    team_case_close(&t);
}

// --- What is shown ---

static cadre_status delegate_two(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = member(frame, 0), .input = "go"), NULL, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = member(frame, 1)), NULL,
                                err);
}

static void test_retry__is_not_shown_what_attempts_before_said(void)
{
    const cadre_names members = CADRE_NAMES("alice", "bob");
    team_case_open(&t);
    add_lead(delegate_two, members);
    add_agent((cadre_llm){.name = "alice", .retry = thrice});
    add_agent((cadre_llm){.name = "bob"});
    DRIVEN("alice", "say first\ncall nothing", "fail auth one",
           "say second\ncall nothing", "fail auth two", "say third\ncall nothing",
           "say fine");
    DRIVEN("bob", "say me too");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "bob", "me too");
    CHECK_TEXT(driven_request("alice", 2), "user: hi\nuser: go\n");
    CHECK_TEXT(driven_request("alice", 5),
               "user: hi\nuser: go\nassistant: third\ncall call00001 nothing {}\n"
               "tool call00001: There is no tool 'nothing'. Tools: none.\n");
    CHECK_TEXT(driven_request("bob", 0), "user: hi\nuser: [alice]: fine\n");
    team_case_close(&t);
}

// A desk in the lead's conversation: none of its members is shown it either, and it
// does not start where the attempt before stopped.
static void test_retry__hides_it_from_all_below(void)
{
    const cadre_names members = CADRE_NAMES("desk", "carol");
    team_case_open(&t);
    add_lead(delegate_two, members);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("alice", "bob"),
                                           .retry = thrice));
    add_agent((cadre_llm){.name = "alice"});
    add_agent((cadre_llm){.name = "bob"});
    add_agent((cadre_llm){.name = "carol"});
    DRIVEN("alice", "say bob knows\nto bob please", "say now he does\nto bob please");
    DRIVEN("bob", "say hm\ncall nothing", "fail auth one", "say fine");
    DRIVEN("carol", "say me too");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(driven_request("alice", 1), "user: hi\nuser: go\n");
    CHECK_TEXT(driven_request("bob", 2),
               "user: hi\nuser: go\nuser: [alice]: now he does\nuser: please\n");
    team_case_close(&t);
}

static cadre_status delegate_first(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = member(frame, 0), .input = "inner"), NULL, err);
}

static void test_retry__within_a_retry_hides_both(void)
{
    const cadre_names members = CADRE_NAMES("mid");
    team_case_open(&t);
    add_lead(delegate_first, members);
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "mid", .run = delegate_first,
                                                   .members = CADRE_NAMES("alice"),
                                                   .retry = {.attempts = 2}));
    add_agent((cadre_llm){.name = "alice", .retry = {.attempts = 2}});
    DRIVEN("alice", "say 1\ncall nothing", "fail auth one", "say 2\ncall nothing",
           "fail auth two", "say 3\ncall nothing", "fail auth three", "say 4");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "4");
    // What was said to mid is shown to who is in it.
    CHECK_TEXT(driven_request("alice", 6), "user: hi\nuser: inner\nuser: inner\n");
    team_case_close(&t);
}

// --- Keys ---

static cadre_status call_named(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out, again;
    (void)ctx;
    const cadre_call *call =
        CADRE_CALL(.agent = member(frame, 0), .input = "go", .key = "k");
    cadre_frame_call(frame, call, &out, NULL);
    cadre_status status = cadre_frame_call(frame, call, &again, err);
    CHECK_TEXT(again.text, out.text);
    return keep(status, &again);
}

static void test_retry__a_named_key_answers_with_its_last_attempt(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open(&t);
    add_lead(call_named, members);
    add_agent((cadre_llm){.name = "alice", .retry = thrice});
    DRIVEN("alice", "fail auth one", "fail auth two", "say fine");
    team_case_run(&t, "hi");
    CHECK_TEXT(got_text, "alice: fine");
    CHECK_INT(driven_count("alice"), 3);
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "  agent alice k~3 completed final\n");
    free(frames);
    team_case_close(&t);
}

static cadre_status call_as_attempt(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_call(frame, CADRE_CALL(.agent = member(frame, 0), .key = "k~2"),
                            NULL, err);
}

static void test_retry__keys_of_attempts_are_nobody_elses(void)
{
    const cadre_names members = CADRE_NAMES("alice");
    team_case_open(&t);
    add_lead(call_as_attempt, members);
    add_agent((cadre_llm){.name = "alice"});
    team_case_run(&t, "hi");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_CONTAINS(t.err.text, "the key 'k~2' ends as those of further attempts do");
    team_case_close(&t);
}

// --- Team files and C ---

static void test_retry__is_read_from_a_team_file(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    size_t n = 0;
    team_case_open(&t);
    if (!folder_make(&folder))
        return;
    folder_write(&folder, "team.yaml",
                 "agents:\n"
                 "  desk: {type: handoff, members: [a, b], retry: {attempts: 5}}\n"
                 "  a: {model: openai/m, retry: {attempts: 2, backoff: 3s}}\n"
                 "  b: {model: openai/m, retry: {backoff: 0s}}\n",
                 path);
    CHECK_OK(cadre_team_load(t.runtime, path, &team, &err), &err);
    CHECK_INT(cadre_team_find(team, "desk")->retry.attempts, 5);
    CHECK_INT(cadre_team_find(team, "a")->retry.attempts, 2);
    CHECK_INT(cadre_team_find(team, "a")->retry.backoff_ms, 3000);
    CHECK_INT(cadre_team_find(team, "b")->retry.attempts, 1);
    CHECK_INT(cadre_team_find(team, "b")->retry.backoff_ms, 0);
    cadre_team_free(team);
    folder_write(&folder, "team.yaml",
                 "agents:\n"
                 "  a: {model: openai/m, retry: {attempts: 0}}\n"
                 "  b: {model: openai/m, retry: {tries: 2, backoff: 3}}\n",
                 path);
    CHECK_STATUS(cadre_team_load(t.runtime, path, &team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 3)) {
        CHECK_CONTAINS(problems[0],
                       "agents.a.retry.attempts: expected an integer from 1 "
                       "to 100, got 0");
        CHECK_CONTAINS(problems[1], "agents.b.retry: unknown key 'tries'");
        CHECK_CONTAINS(problems[2], "agents.b.retry.backoff: expected a duration");
    }
    cadre_team_free(team);
    folder_remove(&folder);
    team_case_close(&t);
}

static void test_retry__out_of_range_in_c_is_a_mistake(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    team_case_open(&t);
    add_agent((cadre_llm){.name = "a", .retry = {.attempts = 101}});
    add_agent((cadre_llm){.name = "b", .retry = {.attempts = 1, .backoff_ms = -1}});
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_ECONFIG, &err);
    const char *const *problems = cadre_team_problems(t.team, &n);
    if (CHECK_INT(n, 2)) {
        CHECK_TEXT(problems[0],
                   "agent 'a': retry.attempts: expected 1 to 100, or 0 for "
                   "the default, got 101");
        CHECK_TEXT(problems[1],
                   "agent 'b': retry.backoff_ms: expected at least 0, got -1");
    }
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_retry__calls_again_until_it_does_not_fail),
    CHECK_TEST(test_retry__the_last_failure_is_the_calls),
    CHECK_TEST(test_retry__is_once_unless_it_is_asked_for),
    CHECK_TEST(test_retry__of_an_agent_that_came_to_no_end),
    CHECK_TEST(test_retry__is_not_for_the_limits_of_the_run),
    CHECK_TEST(test_retry__is_not_for_a_script_that_does_not_fit),
    CHECK_TEST(test_retry__is_not_for_the_root_nor_for_who_is_handed_over_to),
    CHECK_TEST(test_retry__of_a_team_begins_at_its_entry),
    CHECK_TEST(test_retry__waits_and_then_has_its_whole_time),
    CHECK_TEST(test_retry__is_not_for_the_calls_own_time),
    CHECK_TEST(test_retry__a_stop_ends_the_pause),
    CHECK_TEST(test_retry__each_branch_for_itself),
    CHECK_TEST(test_retry__a_stop_ends_the_pause_of_a_branch),
    CHECK_TEST(test_retry__is_not_shown_what_attempts_before_said),
    CHECK_TEST(test_retry__hides_it_from_all_below),
    CHECK_TEST(test_retry__within_a_retry_hides_both),
    CHECK_TEST(test_retry__a_named_key_answers_with_its_last_attempt),
    CHECK_TEST(test_retry__keys_of_attempts_are_nobody_elses),
    CHECK_TEST(test_retry__is_read_from_a_team_file),
    CHECK_TEST(test_retry__out_of_range_in_c_is_a_mistake),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/agent_retry", tests);
}
