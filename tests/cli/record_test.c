// The commands that look at what is recorded, and those that go on with it.
#include "support/folder.h"
#include "support/program.h"

#include <cadre/cadre.h>

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A folder with a store, and the id of the run that was recorded last.
typedef struct lab {
    test_folder folder;
    char store[FOLDER_PATH_SIZE];
    char trace[32];
} lab;

static bool lab_make(lab *it)
{
    *it = (lab){.trace = ""};
    if (!CHECK(folder_make(&it->folder)))
        return false;
    snprintf(it->store, sizeof(it->store), "%s/runs.db", it->folder.path);
    return true;
}

#define MAX_ARGUMENTS 12

// In the folder of the tests' teams.
static bool run_command(lab *it, const char *const *words, const program_action *action,
                        program_result *ran)
{
    const char *arguments[MAX_ARGUMENTS + 3] = {words[0], "--store", it->store};
    char directory[4096];
    program_config config = {.arguments = arguments,
                             .directory = program_source_path(
                                 "tests/cli/teams", directory, sizeof(directory)),
                             .action = action ? *action : (program_action){0}};

    for (size_t i = 1; i < MAX_ARGUMENTS && words[i]; i++)
        arguments[2 + i] = words[i];
    if (!program_run(&config, ran))
        return false;
    if (strncmp(ran->err, "trace ", 6) == 0)
        snprintf(it->trace, sizeof(it->trace), "%.*s",
                 (int)strcspn(ran->err + 6, " \n"), ran->err + 6);
    return true;
}

#define COMMAND(it, ran, ...)                                                          \
    run_command((it), (const char *const[]){__VA_ARGS__, NULL}, NULL, (ran))

// A command that must end so, with that on stdout and that in stderr.
typedef struct expectation {
    int exit_status;
    const char *out; // NULL: not looked at
    const char *err; // a part of it
} expectation;

static void check_command(lab *it, const char *const *words, expectation expected)
{
    program_result ran;

    if (!run_command(it, words, NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, expected.exit_status);
    if (expected.out)
        CHECK_TEXT(ran.out, expected.out);
    CHECK_CONTAINS(ran.err, expected.err);
    program_result_fini(&ran);
}

#define CHECK_COMMAND(it, exit_status, out, err, ...)                                  \
    check_command((it), (const char *const[]){__VA_ARGS__, NULL},                      \
                  (expectation){exit_status, out, err})

static bool record_desk(lab *it)
{
    program_result ran;

    if (!lab_make(it) ||
        !COMMAND(it, &ran, "run", "desk.yaml", "Return order 1042", "--offline"))
        return false;
    CHECK_INT(ran.exit_status, 0);
    program_result_fini(&ran);
    return true;
}

static const char slow_script[] =
    "agents:\n"
    "  triage:\n"
    "    - {handoff: {to: after_sales, message: \"wants it\"}}\n"
    "  after_sales:\n"
    "    - {text: \"Your label.\", delay: 10s}\n";

// Kills a run while its second agent speaks.
static bool record_cut_of(lab *it, const char *session)
{
    char script[FOLDER_PATH_SIZE];
    program_result ran;

    if (!lab_make(it) || !folder_write(&it->folder, "script.yaml", slow_script, script))
        return false;
    const program_action action = {
        .when = "\"agent\":\"after_sales\"", .is_on_stdout = true, .signal = SIGKILL};
    const char *const words[] = {"run",
                                 "desk.yaml",
                                 "Return",
                                 "--script",
                                 script,
                                 "--events",
                                 session ? "--session" : NULL,
                                 session,
                                 NULL};
    if (!run_command(it, words, &action, &ran))
        return false;
    CHECK_INT(ran.signal, SIGKILL);
    program_result_fini(&ran);
    return true;
}

static bool record_cut(lab *it)
{
    return record_cut_of(it, NULL);
}

// --- Looking ---

static void test_record__runs_lists_the_newest_first(void)
{
    lab it;
    char first[32];
    program_result ran;

    if (!record_desk(&it))
        return;
    memcpy(first, it.trace, sizeof(first));
    if (COMMAND(&it, &ran, "run", "solo.yaml", "hi", "--offline"))
        program_result_fini(&ran);
    if (COMMAND(&it, &ran, "runs")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK(strncmp(ran.out, it.trace, strlen(it.trace)) == 0);
        CHECK_CONTAINS(ran.out, first);
        CHECK_CONTAINS(ran.out, "  completed  customer_desk  ");
        CHECK_CONTAINS(ran.out, " ago\n");
        program_result_fini(&ran);
    }
    if (COMMAND(&it, &ran, "runs", "--json", "--limit", "1")) {
        json_t *runs = json_loads(ran.out, 0, NULL);
        const json_t *run = json_array_get(runs, 0);
        CHECK_INT(json_array_size(runs), 1);
        CHECK_TEXT(json_string_value(json_object_get(run, "trace_id")), it.trace);
        CHECK(json_is_null(json_object_get(run, "held_by")));
        CHECK_INT(strlen(json_string_value(json_object_get(run, "created_at"))), 24);
        json_decref(runs);
        program_result_fini(&ran);
    }
    CHECK_COMMAND(&it, 2, "", "'--limit': expected a number", "runs", "--limit", "0");
    folder_remove(&it.folder);
}

static void test_record__tree_is_the_one_that_the_run_ended_with(void)
{
    lab it;
    program_result ran, tree;

    if (!lab_make(&it))
        return;
    if (COMMAND(&it, &ran, "run", "desk.yaml", "Return", "--offline")) {
        const char *drawn = strchr(ran.err, '\n') + 1; // below the trace id
        if (COMMAND(&it, &tree, "tree")) {
            const char *summary = strstr(tree.out, "\ncompleted, 3 agents, 2 model");
            CHECK_INT(tree.exit_status, 0);
            size_t len = summary ? (size_t)(summary - tree.out) : 0;
            CHECK(len > 0);
            CHECK_BYTES(tree.out, len, drawn, len);
            program_result_fini(&tree);
        }
        program_result_fini(&ran);
    }
    if (COMMAND(&it, &tree, "tree", it.trace, "--all")) {
        CHECK_CONTAINS(tree.out, "├─ openai/gpt-5-mini ");
        CHECK_CONTAINS(tree.out, "├─ transfer_to_agent ");
        program_result_fini(&tree);
    }
    folder_remove(&it.folder);
}

static void test_record__tree_as_json_has_the_frames_of_the_run(void)
{
    lab it;
    program_result ran;

    if (!record_desk(&it))
        return;
    if (COMMAND(&it, &ran, "tree", it.trace, "--json")) {
        json_t *object = json_loads(ran.out, 0, NULL);
        const json_t *frames = json_object_get(object, "frames");
        CHECK_TEXT(json_string_value(json_object_get(object, "trace_id")), it.trace);
        CHECK_TEXT(json_string_value(json_object_get(object, "status")), "completed");
        CHECK_INT(json_array_size(frames), 3);
        CHECK_TEXT(
            json_string_value(json_object_get(json_array_get(frames, 2), "parent_id")),
            json_string_value(json_object_get(json_array_get(frames, 1), "id")));
        json_decref(object);
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

static void test_record__show_is_the_transcript(void)
{
    static const char transcript[] =
        "user\n  Return order 1042\n\n"
        "triage\n  calls transfer_to_agent "
        "{\"agent\":\"after_sales\",\"message\":\"wants to return order 1042\"}\n\n"
        "tool transfer_to_agent\n"
        "  Handed over to after_sales, who answers from here.\n\n"
        "triage to after_sales\n  wants to return order 1042\n\n"
        "after_sales\n  Your return label is on its way.\n";
    lab it;

    if (!record_desk(&it))
        return;
    CHECK_COMMAND(&it, 0, transcript, "", "show", it.trace);
    CHECK_COMMAND(&it, 2, "", "conversation 'none'", "show", it.trace, "--conversation",
                  "none");
    folder_remove(&it.folder);
}

static void test_record__show_obeys_no_escape_sequence(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it))
        return;
    if (COMMAND(&it, &ran, "run", "solo.yaml", "clear \033[2J\nand go", "--script",
                "escape_script.yaml"))
        program_result_fini(&ran);
    if (COMMAND(&it, &ran, "show")) {
        CHECK_LACKS(ran.out, "\033");
        CHECK_CONTAINS(ran.out, "user\n  clear \\x1b[2J\n  and go\n");
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

static void test_record__what_is_not_there_is_exit_5(void)
{
    lab it;

    if (!lab_make(&it))
        return;
    CHECK_COMMAND(&it, 5, "", "no run is recorded there", "runs");
    CHECK_COMMAND(&it, 5, "", "no run is recorded there", "tree");
    folder_remove(&it.folder);
    if (!record_desk(&it))
        return;
    CHECK_COMMAND(&it, 5, "", "no run 2ng3k83rwk2d-1 in this store", "show",
                  "2ng3k83rwk2d-1");
    CHECK_COMMAND(&it, 5, "", "no run 2ng3k83rwk2d-1 in this store", "resume",
                  "2ng3k83rwk2d-1", "desk.yaml");
    CHECK_COMMAND(&it, 2, "", "'first' is not the id of a run", "tree", "first");
    CHECK_COMMAND(&it, 2, "", "'first' is not the id of a run", "resume", "first",
                  "desk.yaml");
    folder_remove(&it.folder);
}

// --- Going on ---

static void test_record__resume_goes_on_with_a_run_that_was_cut(void)
{
    lab it;
    program_result ran;

    if (!record_cut(&it))
        return;
    if (COMMAND(&it, &ran, "runs")) {
        CHECK_CONTAINS(ran.out, "  cut        customer_desk  ");
        program_result_fini(&ran);
    }
    if (COMMAND(&it, &ran, "tree")) {
        CHECK_CONTAINS(ran.out, "\ncut, 3 agents, ");
        program_result_fini(&ran);
    }
    CHECK_COMMAND(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
                  "resume", it.trace, "desk.yaml", "--offline");
    CHECK_COMMAND(&it, 1, "", "has ended (completed)", "resume", it.trace, "desk.yaml",
                  "--offline");
    folder_remove(&it.folder);
}

static void test_record__resume_prints_json_and_events_as_run_does(void)
{
    lab it;
    program_result ran;

    if (!record_cut(&it))
        return;
    if (COMMAND(&it, &ran, "resume", it.trace, "desk.yaml", "--offline", "--json")) {
        json_t *object = json_loads(ran.out, 0, NULL);
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(json_string_value(json_object_get(object, "trace_id")), it.trace);
        CHECK_TEXT(json_string_value(json_object_get(object, "agent")), "after_sales");
        CHECK_INT(json_array_size(json_object_get(object, "frames")), 3);
        json_decref(object);
        program_result_fini(&ran);
    }
    // No run, in the form that was asked for.
    if (COMMAND(&it, &ran, "resume", it.trace, "desk.yaml", "--offline", "--events")) {
        CHECK_INT(ran.exit_status, 1);
        CHECK_CONTAINS(ran.out, "\"type\":\"error\"");
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
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
    CHECK_COMMAND(it, 0, NULL, "", "runs");
    CHECK_COMMAND(it, 5, "", holder, "resume", cadre_run_trace_id(run), "desk.yaml",
                  "--offline");
    cadre_run_cancel(run, NULL);
    cadre_run_free(run);
}

static void test_record__resume_leaves_a_run_to_the_program_that_holds_it(void)
{
    char url[FOLDER_PATH_SIZE + 8], script[FOLDER_PATH_SIZE], path[4096];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    lab it;

    if (!lab_make(&it) || !folder_write(&it.folder, "script.yaml", slow_script, script))
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
    folder_remove(&it.folder);
}

// Two handovers of a session by two programs: the second begins where the first ended.
static void test_record__a_session_goes_on_with_its_last_speaker(void)
{
    char team[4096], script[FOLDER_PATH_SIZE];
    lab it;

    program_source_path("tests/cases/o01-handoff-plus-tool/team.yaml", team,
                        sizeof(team));
    if (!lab_make(&it) || !folder_write(&it.folder, "script.yaml",
                                        "agents:\n"
                                        "  alice:\n"
                                        "    - {handoff: {to: bob}}\n"
                                        "  bob:\n"
                                        "    - {text: \"Arr, 7 it be.\"}\n"
                                        "    - {text: \"Still bob.\"}\n",
                                        script))
        return;
    CHECK_COMMAND(&it, 0, "Arr, 7 it be.\n", "\n   └─ bob ", "run", team, "3 and 4?",
                  "--session", "ada", "--script", script);
    CHECK_COMMAND(&it, 0, "Still bob.\n", "\n└─ bob ", "run", team, "Who are you?",
                  "--session", "ada", "--script", script);
    // Another session starts at the entry.
    CHECK_COMMAND(&it, 0, "Arr, 7 it be.\n", "\n└─ alice ", "run", team, "3 and 4?",
                  "--session", "eve", "--script", script);
    CHECK_COMMAND(&it, 2, "", "'--session': the name is empty", "run", team, "x",
                  "--session", "");
    folder_remove(&it.folder);
}

static void test_record__a_session_waits_for_its_run_that_was_cut(void)
{
    char script[FOLDER_PATH_SIZE];
    lab it;

    if (!record_cut_of(&it, "ada"))
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
    CHECK_COMMAND(&it, 5, "", trace, "run", "desk.yaml", "And?", "--session", "ada",
                  "--script", script);
    CHECK_COMMAND(&it, 0, "First.\n", "", "resume", trace, "desk.yaml", "--script",
                  script);
    CHECK_COMMAND(&it, 0, "Second.\n", "", "run", "desk.yaml", "And?", "--session",
                  "ada", "--script", script);
    folder_remove(&it.folder);
}

// --- What the record says ---

static const char quick_script[] =
    "agents:\n"
    "  triage:\n"
    "    - {handoff: {to: after_sales, message: \"wants it\"}}\n"
    "  after_sales:\n"
    "    - {text: \"Your label.\"}\n";

static void test_record__resume_finds_team_and_script_by_itself(void)
{
    char script[FOLDER_PATH_SIZE];
    lab it;

    if (!record_cut(&it))
        return;
    folder_write(&it.folder, "script.yaml", quick_script, script);
    CHECK_COMMAND(&it, 0, "Your label.\n", "\ncompleted, 3 agents", "resume", it.trace);
    CHECK_COMMAND(&it, 1, "", "--session goes on", "resume", it.trace);
    CHECK_COMMAND(&it, 2, "", "TRACE [TEAM], or --all", "resume");
    folder_remove(&it.folder);
}

static void test_record__what_to_do_after_a_cut_is_short(void)
{
    lab it;
    program_result ran;
    char hint[FOLDER_PATH_SIZE + 128];

    if (!lab_make(&it))
        return;
    if (COMMAND(&it, &ran, "run", "desk.yaml", "Return", "--offline")) {
        snprintf(hint, sizeof(hint), "trace %s (cadre resume %s --store %s)\n",
                 it.trace, it.trace, it.store);
        CHECK(strncmp(ran.err, hint, strlen(hint)) == 0);
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
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

    if (!folder_write(&it->folder, "script.yaml", slow_script, script))
        return false;
    const char *const words[] = {"run",      team,        "Return", "--script", script,
                                 "--events", "--session", session,  NULL};
    if (!run_command(it, words, &action, &ran))
        return false;
    CHECK_INT(ran.signal, SIGKILL);
    program_result_fini(&ran);
    return folder_write(&it->folder, "script.yaml", quick_script, script);
}

static void test_record__resume_names_what_changed_in_the_team(void)
{
    char team[FOLDER_PATH_SIZE];
    lab it;

    if (!lab_make(&it) || !write_desk(&it, "", team) || !cut_once_more(&it, team, "a"))
        return;
    write_desk(&it, "refunds", team);
    CHECK_COMMAND(&it, 2, "",
                  "was started with another shape of team 'customer_desk': agent "
                  "'refunds' is new, 'desk' has other members",
                  "resume", it.trace);
    CHECK_COMMAND(&it, 0, "Your label.\n", "\ncompleted", "resume", it.trace,
                  "--accept-changes");
    folder_remove(&it.folder);
}

static void test_record__resume_all_goes_on_with_every_cut_run(void)
{
    char team[FOLDER_PATH_SIZE], first[80], second[80];
    lab it;
    program_result ran;

    if (!lab_make(&it) || !write_desk(&it, "", team) || !cut_once_more(&it, team, "a"))
        return;
    snprintf(first, sizeof(first), "run %s: completed\n", it.trace);
    if (!cut_once_more(&it, team, "b"))
        return;
    snprintf(second, sizeof(second), "run %s: completed\n", it.trace);
    if (COMMAND(&it, &ran, "resume", "--all")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, "Your label.\nYour label.\n");
        CHECK(strncmp(ran.err, first, strlen(first)) == 0); // the oldest
        CHECK_TEXT(ran.err + strlen(first), second);
        program_result_fini(&ran);
    }
    CHECK_COMMAND(&it, 0, "", "no run of this store was cut", "resume", "--all");
    folder_remove(&it.folder);
}

static void test_record__resume_all_exits_with_the_worst(void)
{
    char team[FOLDER_PATH_SIZE];
    char failed[32];
    lab it;
    program_result ran;

    if (!lab_make(&it) || !write_desk(&it, "", team) || !cut_once_more(&it, team, "a"))
        return;
    memcpy(failed, it.trace, sizeof(failed));
    if (!cut_once_more(&it, "desk.yaml", "b"))
        return;
    write_desk(&it, "refunds", team);
    if (COMMAND(&it, &ran, "resume", "--all")) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_TEXT(ran.out, "Your label.\n");
        CHECK_CONTAINS(ran.err, failed);
        CHECK_CONTAINS(ran.err, "'refunds' is new");
        program_result_fini(&ran);
    }
    folder_remove(&it.folder);
}

static void test_record__runs_can_be_sifted_and_show_their_session(void)
{
    lab it;
    program_result ran;

    if (!record_cut_of(&it, "ada"))
        return;
    if (COMMAND(&it, &ran, "run", "solo.yaml", "hi", "--offline"))
        program_result_fini(&ran);
    if (COMMAND(&it, &ran, "runs", "--status", "cut")) {
        CHECK_CONTAINS(ran.out, "  cut        customer_desk  session 'ada'  ");
        CHECK_LACKS(ran.out, "completed");
        program_result_fini(&ran);
    }
    if (COMMAND(&it, &ran, "runs", "--status", "cut", "--limit", "1", "--json")) {
        json_t *runs = json_loads(ran.out, 0, NULL);
        const json_t *run = json_array_get(runs, 0);
        const json_t *metadata = json_object_get(run, "metadata");
        CHECK_INT(json_array_size(runs), 1);
        CHECK_TEXT(json_string_value(json_object_get(run, "session")), "ada");
        CHECK_CONTAINS(json_string_value(json_object_get(metadata, "team_file")),
                       "/tests/cli/teams/desk.yaml");
        CHECK_CONTAINS(json_string_value(json_object_get(metadata, "script")),
                       "/script.yaml");
        CHECK(json_is_true(json_object_get(run, "offline")));
        json_decref(runs);
        program_result_fini(&ran);
    }
    CHECK_COMMAND(&it, 2, "", "'--status': expected cut, ", "runs", "--status", "done");
    folder_remove(&it.folder);
}

static void test_record__show_as_json_has_every_message(void)
{
    lab it;
    program_result ran;

    if (!record_desk(&it))
        return;
    if (COMMAND(&it, &ran, "show", it.trace, "--json")) {
        json_t *said = json_loads(ran.out, 0, NULL);
        const json_t *last = json_array_get(said, json_array_size(said) - 1);
        const json_t *call =
            json_array_get(json_object_get(json_array_get(said, 1), "tool_calls"), 0);
        CHECK_INT(json_array_size(said), 5);
        CHECK_TEXT(json_string_value(json_object_get(last, "role")), "assistant");
        CHECK_TEXT(json_string_value(json_object_get(last, "agent")), "after_sales");
        CHECK_TEXT(json_string_value(json_object_get(last, "content")),
                   "Your return label is on its way.");
        CHECK_INT(json_integer_value(json_object_get(last, "position")), 4);
        CHECK(json_integer_value(json_object_get(last, "seq")) > 0);
        CHECK(json_is_string(json_object_get(last, "conversation_id")));
        CHECK_TEXT(json_string_value(json_object_get(call, "name")),
                   "transfer_to_agent");
        json_decref(said);
        program_result_fini(&ran);
    }
    CHECK_COMMAND(&it, 2, "[]\n", "conversation 'none'", "show", it.trace, "--json",
                  "--conversation", "none");
    folder_remove(&it.folder);
}

// --- Requests ---

static void test_record__a_request_made_again_is_answered_from_the_record(void)
{
    char first[32];
    lab it;

    if (!lab_make(&it))
        return;
    CHECK_COMMAND(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
                  "run", "desk.yaml", "Return", "--offline", "--request-id", "r-1");
    memcpy(first, it.trace, sizeof(first));
    CHECK_COMMAND(&it, 0, "Your return label is on its way.\n", "\ncompleted, 3 agents",
                  "run", "desk.yaml", "Return", "--offline", "--request-id", "r-1");
    CHECK_TEXT(it.trace, first);
    CHECK_COMMAND(&it, 2, "",
                  "request 'r-1' was made with another team or input by run", "run",
                  "desk.yaml", "Change", "--offline", "--request-id", "r-1");
    CHECK_COMMAND(&it, 2, "", "'--request-id': the name is empty", "run", "desk.yaml",
                  "x", "--request-id", "");
    folder_remove(&it.folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_record__runs_lists_the_newest_first),
    CHECK_TEST(test_record__tree_is_the_one_that_the_run_ended_with),
    CHECK_TEST(test_record__tree_as_json_has_the_frames_of_the_run),
    CHECK_TEST(test_record__show_is_the_transcript),
    CHECK_TEST(test_record__show_obeys_no_escape_sequence),
    CHECK_TEST(test_record__what_is_not_there_is_exit_5),
    CHECK_TEST(test_record__resume_goes_on_with_a_run_that_was_cut),
    CHECK_TEST(test_record__resume_prints_json_and_events_as_run_does),
    CHECK_TEST(test_record__resume_leaves_a_run_to_the_program_that_holds_it),
    CHECK_TEST(test_record__a_session_goes_on_with_its_last_speaker),
    CHECK_TEST(test_record__a_session_waits_for_its_run_that_was_cut),
    CHECK_TEST(test_record__resume_finds_team_and_script_by_itself),
    CHECK_TEST(test_record__what_to_do_after_a_cut_is_short),
    CHECK_TEST(test_record__resume_names_what_changed_in_the_team),
    CHECK_TEST(test_record__resume_all_goes_on_with_every_cut_run),
    CHECK_TEST(test_record__resume_all_exits_with_the_worst),
    CHECK_TEST(test_record__runs_can_be_sifted_and_show_their_session),
    CHECK_TEST(test_record__show_as_json_has_every_message),
    CHECK_TEST(test_record__a_request_made_again_is_answered_from_the_record),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/record", tests);
}
