// cadre test.
#include "support/folder.h"
#include "support/program.h"

#include <stdlib.h>
#include <string.h>

static const char script[] = "strict: true\n"
                             "agents:\n"
                             "  clerk:\n"
                             "    - {tool_calls: [{name: count, arguments: {}}]}\n"
                             "    - {text: Counted.}\n";

// A team whose tool, a real program, gives another number each time it is run.
static bool make_counter(test_folder *folder)
{
    char path[FOLDER_PATH_SIZE], text[1024];
    snprintf(text, sizeof(text),
             "version: 1\n"
             "name: counter\n"
             "script: ./script.yaml\n"
             "inputs: {who: {type: string}}\n"
             "agents:\n"
             "  clerk: {model: openai/any, tools: [count], instructions: "
             "\"{{inputs.who}}\"}\n"
             "tools:\n"
             "  count:\n"
             "    type: command\n"
             "    argv: [sh, -c, \"echo x >>%s/log; grep -c x %s/log\"]\n",
             folder->path, folder->path);
    return folder_write(folder, "team.yaml", text, path) &&
           folder_write(folder, "script.yaml", script, path);
}

static bool test_counter(const test_folder *folder, const char *option,
                         program_result *ran)
{
    return PROGRAM_RUN(ran,
                       .arguments = (const char *const[]){"test", "team.yaml", "Count",
                                                          "--set=who=me", "--reenter",
                                                          option, NULL},
                       .directory = folder->path);
}

static void test_test__a_whole_record_needs_no_tool(void)
{
    test_folder folder;
    program_result ran;

    if (!CHECK(folder_make(&folder)) || !CHECK(make_counter(&folder)))
        return;
    if (test_counter(&folder, NULL, &ran)) {
        CHECK_TEXT(ran.out, "counter: 4 frames, 4 messages, entered again at its end: "
                            "no difference\n");
        CHECK_TEXT(ran.err, "");
        CHECK_INT(ran.exit_status, 0);
        program_result_fini(&ran);
    }
    folder_remove(&folder);
}

// After the first two commits the tool runs again: it is neither scripted nor recorded.
static void test_test__tells_each_difference_in_a_line(void)
{
    test_folder folder;
    program_result ran;

    if (!CHECK(folder_make(&folder)) || !CHECK(make_counter(&folder)))
        return;
    if (test_counter(&folder, "--every-commit", &ran)) {
        CHECK_TEXT(
            ran.out,
            "after commit 1: clerk -> count, key 1/0: output: \"1\", then \"2\"\n"
            "after commit 1: clerk, key root: message 2 text: \"1\", then \"2\"\n"
            "after commit 2: clerk -> count, key 1/0: output: \"1\", then \"3\"\n"
            "after commit 2: clerk, key root: message 2 text: \"1\", then \"3\"\n"
            "counter: 4 frames, 4 messages, entered again at its end and at 3 commits: "
            "4 differences\n");
        CHECK_TEXT(ran.err, "");
        CHECK_INT(ran.exit_status, 1);
        program_result_fini(&ran);
    }
    folder_remove(&folder);
}

static void test_test__notes_a_run_that_failed(void)
{
    char path[FOLDER_PATH_SIZE];
    test_folder folder;
    program_result ran;

    if (!CHECK(folder_make(&folder)) || !CHECK(make_counter(&folder)))
        return;
    if (folder_write(&folder, "short.yaml", "agents: {clerk: []}", path) &&
        test_counter(&folder, "--script=short.yaml", &ran)) {
        CHECK_TEXT(ran.out, "counter: failed, 1 frame, 1 message, entered again at its "
                            "end: no difference\n");
        CHECK_CONTAINS(ran.err, "note: the run did not complete: ");
        CHECK_CONTAINS(ran.err, "no steps for agent 'clerk'");
        CHECK_INT(ran.exit_status, 0);
        program_result_fini(&ran);
    }
    folder_remove(&folder);
}

// --- What is refused ---

static void check_refused(const char *const *arguments, const char *text)
{
    char directory[4096];
    program_result ran;

    program_source_path("tests/cli/teams", directory, sizeof(directory));
    if (!PROGRAM_RUN(&ran, .arguments = arguments, .directory = directory))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, text);
    program_result_fini(&ran);
}

#define CHECK_REFUSED(text, ...)                                                       \
    check_refused((const char *const[]){"test", __VA_ARGS__, NULL}, text)

static void test_test__refuses_what_cannot_be_tested(void)
{
    CHECK_REFUSED("say what to test for: '--reenter'", "desk.yaml");
    CHECK_REFUSED("nowhere.yaml", "nowhere.yaml", "--reenter");
    CHECK_REFUSED("mistakes.yaml: 3 problems", "mistakes.yaml", "--reenter");
    CHECK_REFUSED("expected NAME=VALUE", "desk.yaml", "--reenter", "--set=x");
    CHECK_REFUSED("'x'", "desk.yaml", "--reenter", "--set=x=1");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_test__a_whole_record_needs_no_tool),
    CHECK_TEST(test_test__tells_each_difference_in_a_line),
    CHECK_TEST(test_test__notes_a_run_that_failed),
    CHECK_TEST(test_test__refuses_what_cannot_be_tested),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/test", tests);
}
