// The case files of orchestration, played from their team files.
#include "support/check.h"
#include "support/case_files.h"
#include "support/program.h"
#include "support/recorder.h"

#include "cadre/trace.h"

#include <stdio.h>
#include <string.h>

// A case at work: its team, run to its end.
typedef struct played {
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_run *run;
    recorder recorder;
    const cadre_result *result;
    cadre_status status;
    cadre_error err;
} played;

static played p;

// `script` NULL: the one the team names.
static bool start_in(const char *name, const char *script, const cadre_run_config *what)
{
    char folder[CASE_PATH_BYTES];
    char team[CASE_PATH_BYTES + 16];
    char other[CASE_PATH_BYTES + 32];
    memset(&p, 0, sizeof p);
    case_folder(name, folder);
    snprintf(team, sizeof team, "%s/team.yaml", folder);
    snprintf(other, sizeof other, "%s/%s", folder, script == NULL ? "" : script);
    if (!CHECK_OK(
            cadre_runtime_open(
                CADRE_RUNTIME(.offline = true, .script = script == NULL ? NULL : other),
                &p.runtime, &p.err),
            &p.err) ||
        !CHECK_OK(cadre_team_load(p.runtime, team, &p.team, &p.err), &p.err) ||
        !CHECK_OK(cadre_run_start(p.team, what, &p.run, &p.err), &p.err))
        return false;
    return true;
}

static void read_to_the_end(void)
{
    recorder_read(&p.recorder, p.run);
    p.status = cadre_run_wait(p.run, &p.result, &p.err);
}

static bool play_in(const char *name, const char *script, const cadre_run_config *what)
{
    if (!start_in(name, script, what))
        return false;
    read_to_the_end();
    return true;
}

static bool play(const char *name, const char *script, const char *input)
{
    return play_in(name, script, CADRE_RUN(.input = input));
}

static void finish(void)
{
    recorder_fini(&p.recorder);
    cadre_run_free(p.run);
    cadre_team_free(p.team);
    cadre_runtime_close(p.runtime);
}

static void check_answer(const char *agent, const char *text)
{
    CHECK_OK(p.status, &p.err);
    CHECK_TEXT(p.result->agent, agent);
    CHECK_TEXT(p.result->text, text);
}

// How often an agent's model was asked: the model frames of its agent frames.
static int model_calls_of(const char *agent)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    int calls = 0;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_frames(p.run, &frames, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        calls += strcmp(frames[i].kind, "model") == 0 && frames[i].parent >= 0 &&
                 strcmp(frames[frames[i].parent].name, agent) == 0;
    return calls;
}

static void check_o01(const char *script)
{
    if (play("o01-handoff-plus-tool", script, "What is 3+4? And may I talk to Bob?")) {
        check_answer("bob", "Arr, 7 it be.");
        const char *results = recorder_text(&p.recorder, CADRE_EVENT_TOOL_RESULT);
        CHECK_CONTAINS(results, "alice: add ok 7\n");
        CHECK_CONTAINS(results, "alice: transfer_to_agent ok Handed over to bob");
        CHECK_INT(recorder_count(&p.recorder, CADRE_EVENT_TOOL_RESULT), 2);
        CHECK_INT(model_calls_of("alice"), 1);
        CHECK_INT(model_calls_of("bob"), 1);
    }
    finish();
}

static void test_o01__tool_and_handoff_of_a_turn_both_happen(void)
{
    check_o01(NULL);
    check_o01("handoff_first.yaml");
}

// Who answered last answers the next turn of the session too.
static void test_o01__who_took_over_answers_the_next_turn(void)
{
    cadre_run *next = NULL;
    if (play_in("o01-handoff-plus-tool", "next_turn.yaml",
                CADRE_RUN(.input = "What is 3+4? And may I talk to Bob?",
                          .session = "chat"))) {
        check_answer("bob", "Arr, 7 it be.");
        CHECK_OK(cadre_run_start(p.team,
                                 CADRE_RUN(.input = "Who are you?", .session = "chat"),
                                 &next, &p.err),
                 &p.err);
        cadre_run_free(p.run);
        p.run = next;
        p.status = cadre_run_wait(p.run, &p.result, &p.err);
        check_answer("bob", "Aye, still me.");
        CHECK_INT(model_calls_of("alice"), 0);
        CHECK_INT(model_calls_of("bob"), 1);
    }
    finish();
}

static void test_o02__first_handoff_wins_and_the_other_is_told(void)
{
    if (play("o02-two-handoffs-one-turn", NULL, "flight and hotel")) {
        check_answer("hotel", "hotel done");
        CHECK_TEXT(recorder_text(&p.recorder, CADRE_EVENT_TRANSFER),
                   "desk: desk flight done\ndesk: desk hotel superseded\n"
                   "flight: flight hotel done\n");
        CHECK_INT(recorder_count(&p.recorder, CADRE_EVENT_TOOL_CALL), 3);
        CHECK_INT(recorder_count(&p.recorder, CADRE_EVENT_TOOL_RESULT), 3);
        CHECK_INT(model_calls_of("flight"), 1);
        CHECK_INT(model_calls_of("hotel"), 1);
    }
    finish();
}

static void test_o03__unknown_agent_is_answered_with_the_valid_ones(void)
{
    if (play("o03-handoff-unknown-agent", NULL, "bill")) {
        check_answer("billing", "Your bill is fine.");
        CHECK_CONTAINS(recorder_text(&p.recorder, CADRE_EVENT_TOOL_RESULT),
                       "There is no agent 'accounting' to hand over to from here. "
                       "Agents: billing, refunds.");
        CHECK_INT(model_calls_of("triage"), 2);
    }
    finish();
}

static void test_o06__ping_pong_is_stopped_with_its_path(void)
{
    if (play("o06-ping-pong", NULL, "hi")) {
        CHECK_STATUS(p.status, CADRE_EFAILED, &p.err);
        CHECK_INT(p.result->stop_reason, CADRE_STOP_LOOP);
        CHECK_INT(p.result->error.error_class, CADRE_CLASS_LOOP);
        CHECK_CONTAINS(p.err.text, "pair -> alice -> bob -> alice -> bob -> alice");
        size_t n_done = 0;
        for (size_t i = 0; i < p.recorder.n_events; i++)
            n_done += p.recorder.events[i].type == CADRE_EVENT_TRANSFER &&
                      strstr(p.recorder.events[i].says, " done") != NULL;
        CHECK_INT(n_done, 4); // the fifth is the third of its kind
        // What there was can be looked at.
        CHECK_INT(model_calls_of("alice"), 4);
        CHECK_INT(model_calls_of("bob"), 2);
    }
    finish();
}

static void test_o07__unknown_tool_is_answered_and_the_other_runs(void)
{
    if (play("o07-unknown-tool", NULL, "x")) {
        check_answer("a", "done");
        CHECK_TEXT(
            recorder_text(&p.recorder, CADRE_EVENT_TOOL_RESULT),
            "a: readLine unknown_tool There is no tool 'readLine'. Tools: read.\n"
            "a: read ok X\n");
    }
    finish();
}

// --- Coordinators ---

static const char *results(void)
{
    return recorder_text(&p.recorder, CADRE_EVENT_TOOL_RESULT);
}

static int starts_of(const char *agent)
{
    int n = 0;
    for (size_t i = 0; i < p.recorder.n_events; i++)
        n += p.recorder.events[i].type == CADRE_EVENT_FRAME_START &&
             strcmp(p.recorder.events[i].agent, agent) == 0;
    return n;
}

static void test_o09__bad_arguments_are_answered_and_start_nobody(void)
{
    if (play("o09-member-call-bad-args", NULL, "x")) {
        check_answer("boss", "ok");
        CHECK_INT(starts_of("m"), 2);
        CHECK_INT(recorder_count(&p.recorder, CADRE_EVENT_TOOL_RESULT), 4);
        const char *broken = strstr(results(), "boss: m invalid_arguments ");
        if (CHECK(broken != NULL)) {
            const char *missing = strstr(broken + 1, "boss: m invalid_arguments ");
            if (CHECK(missing != NULL))
                CHECK_CONTAINS(missing, "request");
        }
        CHECK_CONTAINS(results(), "boss: m ok r-object\nboss: m ok r-good\n");
        CHECK_CONTAINS(recorder_text(&p.recorder, CADRE_EVENT_MESSAGE_END),
                       "m: user {\"title\":\"T\",\"n\":1}\n");
    }
    finish();
}

// What the coordinator was told: the results of its first answer, as they are sent.
static void test_o10__a_failed_member_leaves_the_others_alone(void)
{
    if (play("o10-one-member-fails", NULL, "x")) {
        check_answer("boss", "end");
        CHECK_INT(model_calls_of("a"), 1);
        CHECK_INT(model_calls_of("b"), 1);
        CHECK_INT(model_calls_of("c"), 1);
        CHECK_CONTAINS(results(), "boss: a ok r-a\n");
        CHECK_CONTAINS(results(), "boss: b tool_error ");
        CHECK_CONTAINS(results(), "bad");
        CHECK_CONTAINS(results(), "boss: c ok r-c\n");
        CHECK_LACKS(recorder_text(&p.recorder, CADRE_EVENT_FRAME_END), "aborted");
    }
    finish();
}

// Reads until a and c have begun and b has failed.
static void read_until_b_has_failed(void)
{
    const cadre_event *event = NULL;
    int n_left = 3;
    while (n_left > 0 && CHECK_OK(cadre_run_next(p.run, &event, &p.err), &p.err)) {
        recorder_add(&p.recorder, event);
        bool is_b = strcmp(event->agent, "b") == 0;
        bool is_other =
            strcmp(event->agent, "a") == 0 || strcmp(event->agent, "c") == 0;
        n_left -= (event->type == CADRE_EVENT_FRAME_START && is_other) ||
                  (event->type == CADRE_EVENT_FRAME_END && is_b);
    }
}

static void test_o10__an_abort_of_the_run_still_stops_all_of_them(void)
{
    if (start_in("o10-one-member-fails", "long.yaml", CADRE_RUN(.input = "x"))) {
        read_until_b_has_failed();
        cadre_run_cancel(p.run, "enough");
        read_to_the_end();
        CHECK_STATUS(p.status, CADRE_EABORTED, &p.err);
        const char *ends = recorder_text(&p.recorder, CADRE_EVENT_FRAME_END);
        CHECK_CONTAINS(ends, "b: failed error ");
        CHECK_CONTAINS(ends, "a: aborted aborted ");
        CHECK_CONTAINS(ends, "c: aborted aborted ");
        CHECK_CONTAINS(ends, "boss: aborted aborted ");
    }
    finish();
}

// --- Cycles ---

static void test_o11__escalation_ends_the_nearest_cycle_only(void)
{
    if (play("o11-nested-loop-escalate", NULL, "x")) {
        check_answer("summary", "sum");
        CHECK_INT(p.result->stop_reason, CADRE_STOP_FINAL);
        CHECK_INT(model_calls_of("worker"), 6);
        CHECK_INT(model_calls_of("judge"), 6);
        CHECK_INT(model_calls_of("counter"), 3);
        CHECK_INT(model_calls_of("summary"), 1);
        CHECK_INT(recorder_count(&p.recorder, CADRE_EVENT_ESCALATE), 3);
        const char *ends = recorder_text(&p.recorder, CADRE_EVENT_FRAME_END);
        CHECK_CONTAINS(ends, "outer: completed max_iterations c\n"
                             "summary: completed final sum\n");
    }
    finish();
}

static void test_o13__ten_rounds_where_nobody_says_how_many(void)
{
    if (play("o13-cycle-never-escalates", NULL, "x")) {
        CHECK_OK(p.status, &p.err);
        CHECK_INT(p.result->status, CADRE_FRAME_COMPLETED);
        CHECK_INT(p.result->stop_reason, CADRE_STOP_MAX_ITERATIONS);
        CHECK_TEXT(p.result->text, "no");
        CHECK_INT(model_calls_of("w"), 10);
        CHECK_INT(model_calls_of("j"), 10);
    }
    finish();
}

static void test_o13__the_programs_exit_status_tells_it_from_success(void)
{
    char folder[CASE_PATH_BYTES];
    program_result ran;
    case_folder("o13-cycle-never-escalates", folder);
    if (!PROGRAM_RUN(&ran, .directory = folder,
                     .arguments = (const char *[]){"run", "team.yaml", "x", "--offline",
                                                   "--store", "memory", NULL}))
        return;
    CHECK_INT(ran.exit_status, 6);
    CHECK_TEXT(ran.out, "no\n");
    CHECK_CONTAINS(ran.err, "max_iterations");
    program_result_fini(&ran);
}

// --- Two that wait ---

// The ids of the open questions of that agent's frame, in the record.
static void question_of(const char *agent, char id[64])
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    id[0] = '\0';
    CHECK_OK(cadre_run_frames(p.run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++) {
        int above = frames[i].parent;
        while (above >= 0 && strcmp(frames[above].kind, "agent") != 0)
            above = frames[above].parent;
        if (strcmp(frames[i].kind, "ask") == 0 && above >= 0 &&
            strcmp(frames[above].name, agent) == 0)
            snprintf(id, 64, "%s", frames[i].id);
    }
    CHECK(id[0] != '\0');
}

static cadre_status answer(const char *question, const char *text)
{
    json_t *said = json_string(text);
    cadre_error_clear(&p.err);
    cadre_status status = cadre_trace_answer(p.runtime, cadre_run_trace_id(p.run),
                                             question, said, &p.err);
    json_decref(said);
    return status;
}

static void go_on(void)
{
    cadre_run *next = NULL;
    cadre_error_clear(&p.err);
    CHECK_OK(cadre_run_resume(p.team, cadre_run_trace_id(p.run), NULL, &next, &p.err),
             &p.err);
    cadre_run_free(p.run);
    p.run = next;
    p.status = cadre_run_wait(p.run, &p.result, &p.err);
}

static void test_o18__an_answer_that_says_not_which_is_refused(void)
{
    char left[64];
    char right[64];
    if (play("o18-scalar-answer-two-pending", NULL, "x")) {
        CHECK_STATUS(p.status, CADRE_EPARKED, &p.err);
        question_of("left", left);
        question_of("right", right);
        CHECK_STATUS(answer(NULL, "1"), CADRE_EINVAL, &p.err);
        CHECK_CONTAINS(p.err.text, left);
        CHECK_CONTAINS(p.err.text, right);
        // Both stay as they are, and nothing has run.
        go_on();
        CHECK_STATUS(p.status, CADRE_EPARKED, &p.err);
        CHECK_INT(model_calls_of("left") + model_calls_of("right"), 2);
        // Each gets its own.
        CHECK_OK(answer(left, "1"), &p.err);
        CHECK_OK(answer(right, "2"), &p.err);
        go_on();
        check_answer("both", "## left\nleft got it\n\n## right\nright got it");
        CHECK_INT(model_calls_of("left") + model_calls_of("right"), 4);
    }
    finish();
}

static void test_o18__one_that_is_left_needs_no_id(void)
{
    char left[64];
    if (play("o18-scalar-answer-two-pending", NULL, "x")) {
        question_of("left", left);
        CHECK_OK(answer(left, "1"), &p.err);
        go_on();
        CHECK_STATUS(p.status, CADRE_EPARKED, &p.err);
        CHECK_OK(answer(NULL, "2"), &p.err);
        go_on();
        check_answer("both", "## left\nleft got it\n\n## right\nright got it");
    }
    finish();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_o01__tool_and_handoff_of_a_turn_both_happen),
    CHECK_TEST(test_o01__who_took_over_answers_the_next_turn),
    CHECK_TEST(test_o02__first_handoff_wins_and_the_other_is_told),
    CHECK_TEST(test_o03__unknown_agent_is_answered_with_the_valid_ones),
    CHECK_TEST(test_o06__ping_pong_is_stopped_with_its_path),
    CHECK_TEST(test_o07__unknown_tool_is_answered_and_the_other_runs),
    CHECK_TEST(test_o09__bad_arguments_are_answered_and_start_nobody),
    CHECK_TEST(test_o10__a_failed_member_leaves_the_others_alone),
    CHECK_TEST(test_o10__an_abort_of_the_run_still_stops_all_of_them),
    CHECK_TEST(test_o11__escalation_ends_the_nearest_cycle_only),
    CHECK_TEST(test_o13__ten_rounds_where_nobody_says_how_many),
    CHECK_TEST(test_o13__the_programs_exit_status_tells_it_from_success),
    CHECK_TEST(test_o18__an_answer_that_says_not_which_is_refused),
    CHECK_TEST(test_o18__one_that_is_left_needs_no_id),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/orchestration", tests);
}
