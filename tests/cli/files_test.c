// Files that come with an input: `cadre run --file`, /file in a conversation, and what
// the record tells of them.
#include "support/lab.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char team[] = "version: 1\n"
                           "name: eye\n"
                           "script: ./script.yaml\n"
                           "agents: {eye: {model: openai/any}}\n";

static const char script[] = "agents: {eye: [{when: {contains: \"\"}, text: Seen.}]}\n";

static bool make(lab *it)
{
    char path[FOLDER_PATH_SIZE];

    return lab_make(it, team, script) &&
           folder_write(&it->folder, "a b.png", "\x89PNG\r\n\x1a\nrest", path) &&
           folder_write(&it->folder, "note.txt", "six", path) &&
           folder_write(&it->folder, "empty", "", path) &&
           folder_write(&it->folder, "odd", "\x01\x02\xff", path);
}

static void test_files__come_with_the_input_and_stay_in_the_record(void)
{
    lab it;

    if (!make(&it))
        return;
    LAB_CHECK(&it, 0, "Seen.\n", "", "run", "team.yaml", "Look", "--offline", "--quiet",
              "--file", "a b.png", "--file=note.txt");
    LAB_CHECK(&it, 0,
              "user\n  Look\n  with a b.png (image/png)\n  with note.txt "
              "(text/plain)\n\neye\n  Seen.\n",
              "", "show");
    lab_remove(&it);
}

static void test_files__are_told_without_their_bytes(void)
{
    lab it;
    program_result ran;

    if (!make(&it))
        return;
    if (LAB_RUN(&it, &ran, "run", "team.yaml", "Look", "--offline", "--events",
                "--file", "a b.png")) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, "\"files\":[{\"type\":\"image\",\"media_type\":"
                                "\"image/png\",\"name\":\"a b.png\"}]");
        CHECK_LACKS(ran.out, "iVBORw0KGgpyZXN0");
        program_result_fini(&ran);
    }
    lab_remove(&it);
}

static void test_files__that_cannot_be_shown_are_named(void)
{
    static const char *const rows[][2] = {
        {"none.png", "option '--file': 'none.png': No such file"},
        {"empty", "option '--file': 'empty': is empty"},
        {"odd", "option '--file': 'odd': is of no kind that models take"},
        {".", "option '--file': '.': is no ordinary file"},
        {"", "option '--file': '': No such file"},
        {"pipe", "option '--file': 'pipe': is no ordinary file"},
    };
    lab it;
    char pipe[FOLDER_PATH_SIZE];

    if (!make(&it))
        return;
    snprintf(pipe, sizeof(pipe), "%s/pipe", it.folder.path);
    CHECK_INT(mkfifo(pipe, 0600), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        LAB_CHECK(&it, 2, "", rows[i][1], "run", "team.yaml", "Look", "--offline",
                  "--file", rows[i][0]);
    LAB_CHECK(&it, 5, "", it.store, "runs"); // nothing was begun: there is no store
    lab_remove(&it);
}

static void test_files__of_a_conversation_come_with_the_next_line_alone(void)
{
    lab it;
    program_result ran;

    if (!make(&it))
        return;
    if (PROGRAM_RUN(&ran,
                    .arguments = LAB_WORDS("chat", "team.yaml", "--offline",
                                           "--session", "s", "--store", it.store),
                    .input = "/file none\n/file \n/file\t a b.png \nLook\nAnd now?\n",
                    .directory = it.directory)) {
        CHECK_INT(ran.exit_status, 0);
        CHECK_TEXT(ran.out, "Seen.\nSeen.\n");
        CHECK_CONTAINS(ran.err, "/file PATH: 'none': No such file");
        CHECK_CONTAINS(ran.err, "/file PATH: '': No such file");
        CHECK_CONTAINS(ran.err, "'a b.png' comes with the next line");
        program_result_fini(&ran);
    }
    LAB_CHECK(&it, 0, "user\n  And now?\n\neye\n  Seen.\n", "", "show");
    lab_remove(&it);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_files__come_with_the_input_and_stay_in_the_record),
        CHECK_TEST(test_files__are_told_without_their_bytes),
        CHECK_TEST(test_files__that_cannot_be_shown_are_named),
        CHECK_TEST(test_files__of_a_conversation_come_with_the_next_line_alone),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/files", tests);
}
