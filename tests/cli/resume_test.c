// Going on with what is recorded: runs that were cut, and sessions.
#include "support/lab.h"

#include <cadre/cadre.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool record_cut(lab *it)
{
    return lab_make_cut(it, NULL);
}

// --- Going on ---

static void test_resume__goes_on_with_a_run_that_was_cut(void)
{
    lab it;
    program_result ran;

    if (!record_cut(&it))
        return;
    if (LAB_RUN(&it, &ran, "runs")) {
        CHECK_CONTAINS(ran.out, "  cut        customer_desk  ");
        program_result_fini(&ran);
    }
    if (LAB_RUN(&it, &ran, "tree")) {
        CHECK_CONTAINS(ran.out, "\ncut, 3 agents, ");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
              "resume", it.trace, "desk.yaml", "--offline");
    LAB_CHECK(&it, 1, "", "has ended (completed)", "resume", it.trace, "desk.yaml",
              "--offline");
    lab_remove(&it);
}

static void test_resume__prints_json_and_events_as_run_does(void)
{
    lab it;
    program_result ran;

    if (!record_cut(&it))
        return;
    if (LAB_RUN(&it, &ran, "resume", it.trace, "desk.yaml", "--offline", "--json")) {
        json_t *object = json_loads(ran.out, 0, NULL);
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(json_string_value(json_object_get(object, "trace_id")), it.trace);
        CHECK_TEXT(json_string_value(json_object_get(object, "agent")), "after_sales");
        CHECK_INT(json_array_size(json_object_get(object, "frames")), 3);
        json_decref(object);
        program_result_fini(&ran);
    }
    // No run, in the form that was asked for.
    if (LAB_RUN(&it, &ran, "resume", it.trace, "desk.yaml", "--offline", "--events")) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_CONTAINS(ran.out, "\"type\":\"error\"");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

// This program runs it: it lives.
static void check_resume_of_held(lab *it, cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    char holder[32];

    if (!CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "Return"), &run, &err),
                  &err))
        return;
    snprintf(holder, sizeof(holder), "process %d", (int)getpid());
    LAB_CHECK(it, 0, NULL, "", "runs");
    LAB_CHECK(it, 5, "", holder, "resume", cadre_run_trace_id(run), "desk.yaml",
              "--offline");
    cadre_run_cancel(run, NULL);
    cadre_run_free(run);
}

static void test_resume__leaves_a_run_to_the_program_that_holds_it(void)
{
    char url[FOLDER_PATH_SIZE + 8], script[FOLDER_PATH_SIZE], path[4096];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    lab it;

    if (!lab_make_in(&it, "tests/cli/teams") ||
        !folder_write(&it.folder, "script.yaml", lab_slow_script, script))
        return;
    snprintf(url, sizeof(url), "sqlite:%s", it.store);
    program_source_path("tests/cli/teams/desk.yaml", path, sizeof(path));
    if (CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url, .script = script),
                                    &runtime, &err),
                 &err) &&
        CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err))
        check_resume_of_held(&it, team);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    lab_remove(&it);
}

// Two handovers of a session by two programs: the second begins where the first ended.
static void test_resume__a_session_goes_on_with_its_last_speaker(void)
{
    char team[4096], script[FOLDER_PATH_SIZE];
    lab it;

    program_source_path("tests/cases/o01-handoff-plus-tool/team.yaml", team,
                        sizeof(team));
    if (!lab_make_in(&it, "tests/cli/teams") ||
        !folder_write(&it.folder, "script.yaml",
                      "agents:\n"
                      "  alice:\n"
                      "    - {handoff: {to: bob}}\n"
                      "  bob:\n"
                      "    - {text: \"Arr, 7 it be.\"}\n"
                      "    - {text: \"Still bob.\"}\n",
                      script))
        return;
    LAB_CHECK(&it, 0, "Arr, 7 it be.\n", "\n   └─ bob ", "run", team, "3 and 4?",
              "--session", "ada", "--script", script);
    LAB_CHECK(&it, 0, "Still bob.\n", "\n└─ bob ", "run", team, "Who are you?",
              "--session", "ada", "--script", script);
    // Another session starts at the entry.
    LAB_CHECK(&it, 0, "Arr, 7 it be.\n", "\n└─ alice ", "run", team, "3 and 4?",
              "--session", "eve", "--script", script);
    LAB_CHECK(&it, 2, "", "'--session': the name is empty", "run", team, "x",
              "--session", "");
    lab_remove(&it);
}

static void test_resume__a_session_waits_for_its_run_that_was_cut(void)
{
    char script[FOLDER_PATH_SIZE];
    lab it;

    if (!lab_make_cut(&it, "ada"))
        return;
    char trace[32];
    memcpy(trace, it.trace, sizeof(trace));
    if (!folder_write(&it.folder, "script.yaml",
                      "agents:\n"
                      "  triage:\n"
                      "    - {handoff: {to: after_sales, message: \"wants it\"}}\n"
                      "  after_sales:\n"
                      "    - {text: First.}\n"
                      "    - {text: Second.}\n",
                      script))
        return;
    LAB_CHECK(&it, 5, "", trace, "run", "desk.yaml", "And?", "--session", "ada",
              "--script", script);
    LAB_CHECK(&it, 0, "First.\n", "", "resume", trace, "desk.yaml", "--script", script);
    LAB_CHECK(&it, 0, "Second.\n", "", "run", "desk.yaml", "And?", "--session", "ada",
              "--script", script);
    lab_remove(&it);
}

// --- What the record says ---

static const char quick_script[] =
    "agents:\n"
    "  triage:\n"
    "    - {handoff: {to: after_sales, message: \"wants it\"}}\n"
    "  after_sales:\n"
    "    - {text: \"Your label.\"}\n";

static void test_resume__finds_team_and_script_by_itself(void)
{
    char script[FOLDER_PATH_SIZE];
    lab it;

    if (!record_cut(&it))
        return;
    folder_write(&it.folder, "script.yaml", quick_script, script);
    LAB_CHECK(&it, 0, "Your label.\n", "\ncompleted, 3 agents", "resume", it.trace);
    LAB_CHECK(&it, 1, "", "--session goes on", "resume", it.trace);
    LAB_CHECK(&it, 2, "", "TRACE [TEAM], or --all", "resume");
    lab_remove(&it);
}

static void test_resume__what_to_do_after_a_cut_is_short(void)
{
    lab it;
    program_result ran;
    char hint[FOLDER_PATH_SIZE + 128];

    if (!lab_make_in(&it, "tests/cli/teams"))
        return;
    if (LAB_RUN(&it, &ran, "run", "desk.yaml", "Return", "--offline")) {
        snprintf(hint, sizeof(hint), "trace %s (cadre resume %s --store %s)\n",
                 it.trace, it.trace, it.store);
        CHECK(strncmp(ran.err, hint, strlen(hint)) == 0);
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static bool write_desk(const lab *it, const char *third, char path[FOLDER_PATH_SIZE])
{
    char text[600];

    snprintf(text, sizeof(text),
             "name: customer_desk\n"
             "agents:\n"
             "  desk: {type: handoff, members: [triage, after_sales]}\n"
             "  triage: {model: openai/m, handoffs: [after_sales]}\n"
             "  after_sales: {model: openai/m}\n");
    if (*third)
        snprintf(text, sizeof(text),
                 "name: customer_desk\n"
                 "agents:\n"
                 "  desk: {type: handoff, members: [triage, after_sales, %s]}\n"
                 "  triage: {model: openai/m, handoffs: [after_sales]}\n"
                 "  after_sales: {model: openai/m}\n"
                 "  %s: {model: openai/m}\n",
                 third, third);
    return folder_write(&it->folder, "team.yaml", text, path);
}

// A run of a team in the lab's folder, killed while its second agent speaks.
static bool cut_once_more(lab *it, const char *team, const char *session)
{
    char script[FOLDER_PATH_SIZE];
    program_result ran;
    const program_action action = {
        .when = "\"agent\":\"after_sales\"", .is_on_stdout = true, .signal = SIGKILL};

    if (!folder_write(&it->folder, "script.yaml", lab_slow_script, script))
        return false;
    const char *const words[] = {"run",      team,        "Return", "--script", script,
                                 "--events", "--session", session,  NULL};
    if (!lab_run(it, words, &action, &ran))
        return false;
    CHECK_INT(ran.signal, SIGKILL);
    program_result_fini(&ran);
    return folder_write(&it->folder, "script.yaml", quick_script, script);
}

static void test_resume__names_what_changed_in_the_team(void)
{
    char team[FOLDER_PATH_SIZE];
    lab it;

    if (!lab_make_in(&it, "tests/cli/teams") || !write_desk(&it, "", team) ||
        !cut_once_more(&it, team, "a"))
        return;
    write_desk(&it, "refunds", team);
    LAB_CHECK(&it, 2, "",
              "was started with another shape of team 'customer_desk': agent "
              "'refunds' is new, 'desk' has other members",
              "resume", it.trace);
    LAB_CHECK(&it, 0, "Your label.\n", "\ncompleted", "resume", it.trace,
              "--accept-changes");
    lab_remove(&it);
}

static void test_resume__all_goes_on_with_every_cut_run(void)
{
    char team[FOLDER_PATH_SIZE], first[80], second[80];
    lab it;
    program_result ran;

    if (!lab_make_in(&it, "tests/cli/teams") || !write_desk(&it, "", team) ||
        !cut_once_more(&it, team, "a"))
        return;
    snprintf(first, sizeof(first), "run %s: completed\n", it.trace);
    if (!cut_once_more(&it, team, "b"))
        return;
    snprintf(second, sizeof(second), "run %s: completed\n", it.trace);
    if (LAB_RUN(&it, &ran, "resume", "--all")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, "Your label.\nYour label.\n");
        CHECK(strncmp(ran.err, first, strlen(first)) == 0); // the oldest
        CHECK_TEXT(ran.err + strlen(first), second);
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "", "no run of this store was cut", "resume", "--all");
    lab_remove(&it);
}

static void test_resume__all_exits_with_the_worst(void)
{
    char team[FOLDER_PATH_SIZE];
    char failed[32];
    lab it;
    program_result ran;

    if (!lab_make_in(&it, "tests/cli/teams") || !write_desk(&it, "", team) ||
        !cut_once_more(&it, team, "a"))
        return;
    memcpy(failed, it.trace, sizeof(failed));
    if (!cut_once_more(&it, "desk.yaml", "b"))
        return;
    write_desk(&it, "refunds", team);
    if (LAB_RUN(&it, &ran, "resume", "--all")) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_TEXT(ran.out, "Your label.\n");
        CHECK_CONTAINS(ran.err, failed);
        CHECK_CONTAINS(ran.err, "'refunds' is new");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_resume__goes_on_with_a_run_that_was_cut),
    CHECK_TEST(test_resume__prints_json_and_events_as_run_does),
    CHECK_TEST(test_resume__leaves_a_run_to_the_program_that_holds_it),
    CHECK_TEST(test_resume__a_session_goes_on_with_its_last_speaker),
    CHECK_TEST(test_resume__a_session_waits_for_its_run_that_was_cut),
    CHECK_TEST(test_resume__finds_team_and_script_by_itself),
    CHECK_TEST(test_resume__what_to_do_after_a_cut_is_short),
    CHECK_TEST(test_resume__names_what_changed_in_the_team),
    CHECK_TEST(test_resume__all_goes_on_with_every_cut_run),
    CHECK_TEST(test_resume__all_exits_with_the_worst),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/resume", tests);
}
