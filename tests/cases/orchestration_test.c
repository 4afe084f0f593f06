// The case files of orchestration, played as handoff teams from their team files.
#include "support/check.h"
#include "support/case_files.h"
#include "support/recorder.h"

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
static bool play_in(const char *name, const char *script, const cadre_run_config *what)
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
    recorder_read(&p.recorder, p.run);
    p.status = cadre_run_wait(p.run, &p.result, &p.err);
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

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_o01__tool_and_handoff_of_a_turn_both_happen),
    CHECK_TEST(test_o01__who_took_over_answers_the_next_turn),
    CHECK_TEST(test_o02__first_handoff_wins_and_the_other_is_told),
    CHECK_TEST(test_o03__unknown_agent_is_answered_with_the_valid_ones),
    CHECK_TEST(test_o06__ping_pong_is_stopped_with_its_path),
    CHECK_TEST(test_o07__unknown_tool_is_answered_and_the_other_runs),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cases/orchestration", tests);
}
