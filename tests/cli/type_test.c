// --type: a team under another topology than its file says, and going on with its runs.
#include "support/lab.h"

#include "cadre/cadre.h"

#include <string.h>

static const char team[] =
    "version: 1\n"
    "name: desk\n"
    "root: desk\n"
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {type: handoff, entry: first, members: [first, last]}\n"
    "  first: {model: openai/any}\n"
    "  last: {model: openai/any, tools: [person]}\n"
    "  alone: {model: openai/any}\n"
    "tools: {person: {type: ask}}\n";

static const char script[] = "strict: false\n"
                             "agents:\n"
                             "  first: [{text: From the first.}]\n"
                             "  last: [{text: From the last.}]\n";

// The last one asks a person, so that the run parks.
static const char asking[] =
    "strict: false\n"
    "agents:\n"
    "  first: [{text: From the first.}]\n"
    "  last:\n"
    "    - {tool_calls: [{name: person, arguments: {question: Which?}}]}\n"
    "    - {text: From the last.}\n";

static bool run_in(const lab *it, const char *const *words, program_result *ran)
{
    return PROGRAM_RUN(ran, .arguments = words, .directory = it->folder.path);
}

static void test_type__the_root_runs_under_another_topology(void)
{
    lab it;

    if (!lab_make(&it, team, script))
        return;
    LAB_CHECK(&it, 0, "From the first.\n", "desk", "run", "team.yaml", "hi",
              "--offline");
    LAB_CHECK(&it, 0, "From the last.\n", "last", "run", "team.yaml", "hi", "--offline",
              "--type", "chain");
    lab_remove(&it);
}

static void test_type__an_unknown_one_is_a_mistake_of_the_command_line(void)
{
    static const char *const commands[] = {"run", "check", "draw", "chat"};
    lab it;
    program_result ran;

    if (!lab_make(&it, team, script))
        return;
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (!run_in(&it, LAB_WORDS(commands[i], "team.yaml", "--type=hndoff"), &ran))
            continue;
        CHECK_INT(ran.exit_status, 2);
        CHECK_TEXT(ran.out, "");
        CHECK_CONTAINS(ran.err,
                       "unknown type 'hndoff'; did you mean 'handoff'? (types: ");
        CHECK_CONTAINS(ran.err, "handoff");
        program_result_fini(&ran);
    }
    // What works alone is no topology.
    LAB_CHECK(&it, 2, "", "unknown type 'llm'", "run", "team.yaml", "hi", "--type",
              "llm");
    lab_remove(&it);
}

static void test_type__wants_a_root_over_others(void)
{
    lab it;

    if (!lab_make(&it, "agents: {alone: {model: openai/any}}\n", script))
        return;
    LAB_CHECK(&it, 2, "", "team.yaml:1:10: agents.alone: the root is of type llm",
              "run", "team.yaml", "hi", "--offline", "--type", "chain");
    lab_remove(&it);
}

static void test_type__says_what_the_team_cannot_be(void)
{
    static const char nested[] =
        "agents:\n"
        "  desk: {type: handoff, entry: inner, members: [inner, last]}\n"
        "  inner: {type: handoff, members: [first]}\n"
        "  first: {model: openai/any}\n"
        "  last: {model: openai/any}\n";
    lab it;
    program_result ran;

    if (!lab_make(&it, nested, script))
        return;
    if (run_in(&it, LAB_WORDS("check", "team.yaml", "--type", "coordinator"), &ran)) {
        CHECK_INT(ran.exit_status, 2);
        CHECK_CONTAINS(ran.err, "team.yaml:2:3: agent 'desk'");
        CHECK_CONTAINS(ran.err, "'inner'");
        CHECK_CONTAINS(ran.err, "(by --type coordinator)");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_type__a_run_is_gone_on_with_as_it_was_started(void)
{
    lab it;
    char trace[32];

    if (!lab_make(&it, team, asking))
        return;
    LAB_CHECK(&it, 3, "", "Which?", "run", "team.yaml", "hi", "--offline", "--type",
              "chain");
    snprintf(trace, sizeof(trace), "%s", it.trace);
    LAB_CHECK(&it, 0, NULL, "", "answer", trace, "This", "--no-resume");
    // The record says where the team is, and as what.
    LAB_CHECK(&it, 0, "From the last.\n", "completed", "resume", trace);
    lab_remove(&it);
}

// A program that loads the file as it stands has another team.
static void check_refused_as_written(const lab *it, const char *trace)
{
    char store[FOLDER_PATH_SIZE + 16], path[FOLDER_PATH_SIZE + 16];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *loaded = NULL;
    cadre_run *run = NULL;

    snprintf(store, sizeof(store), "sqlite:%s", it->store);
    snprintf(path, sizeof(path), "%s/team.yaml", it->folder.path);
    if (CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = store, .offline = true),
                                    &runtime, &err),
                 &err) &&
        CHECK_OK(cadre_team_load(runtime, path, &loaded, &err), &err)) {
        CHECK_STATUS(cadre_run_resume(loaded, trace, NULL, &run, &err), CADRE_ECONFIG,
                     &err);
        CHECK_CONTAINS(err.text, "was started with --type chain, and team 'desk' is "
                                 "loaded without --type");
    }
    cadre_team_free(loaded);
    cadre_runtime_close(runtime);
}

static void test_type__a_run_is_not_gone_on_with_as_the_file_says(void)
{
    lab it;

    if (!lab_make(&it, team, asking))
        return;
    LAB_CHECK(&it, 3, "", "Which?", "run", "team.yaml", "hi", "--offline", "--type",
              "chain");
    check_refused_as_written(&it, it.trace);
    lab_remove(&it);
}

static void test_type__chat_and_test_take_it_too(void)
{
    lab it;
    program_result ran;

    if (!lab_make(&it, team, script))
        return;
    if (PROGRAM_RUN(&ran,
                    .arguments = LAB_WORDS("chat", "team.yaml", "--offline", "--quiet",
                                           "--type", "chain", "--store", "memory"),
                    .input = "hi\n", .directory = it.folder.path)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, "From the last.\n");
        program_result_fini(&ran);
    }
    if (run_in(&it, LAB_WORDS("test", "team.yaml", "hi", "--reenter", "--type=chain"),
               &ran)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "desk: 5 frames");
        CHECK_CONTAINS(ran.out, "no difference");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_type__the_root_runs_under_another_topology),
        CHECK_TEST(test_type__an_unknown_one_is_a_mistake_of_the_command_line),
        CHECK_TEST(test_type__wants_a_root_over_others),
        CHECK_TEST(test_type__says_what_the_team_cannot_be),
        CHECK_TEST(test_type__a_run_is_gone_on_with_as_it_was_started),
        CHECK_TEST(test_type__a_run_is_not_gone_on_with_as_the_file_says),
        CHECK_TEST(test_type__chat_and_test_take_it_too),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/type", tests);
}
