// The file of a recording: that it is written, what is not in it, and the files of an
// input.
#include "support/http_server.h"
#include "support/lab.h"
#include "support/online.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char solo_team[] = "script: ./script.yaml\n"
                                "agents:\n"
                                "  solo: {model: openai/test, tools: [slow]}\n"
                                "tools:\n"
                                "  slow: {type: command, argv: [sleep, '60']}\n";

static void test_recording_file__replaces_no_file_unasked(void)
{
    lab it;
    char path[FOLDER_PATH_SIZE];
    struct stat found = {0};

    if (!lab_make(&it, solo_team, "agents:\n  solo: [{text: One.}]\n"))
        return;
    lab_write(&it, "note.yaml", "mine");
    LAB_CHECK(&it, 2, "", "'note.yaml' is there already; --force replaces it", "run",
              "team.yaml", "hi", "--offline", "--record", "note.yaml");
    lab_check_file(&it, "note.yaml", "mine");
    LAB_CHECK(&it, 0, "One.\n", "", "run", "team.yaml", "hi", "--offline", "--record",
              "note.yaml", "--force");
    LAB_CHECK(&it, 0, "One.\n", "", "run", "team.yaml", "hi", "--script", "note.yaml");
    snprintf(path, sizeof(path), "%s/note.yaml", it.folder.path);
    CHECK_INT(stat(path, &found), 0);
    CHECK_INT(found.st_mode & 07777, 0600);
    lab_remove(&it);
}

static void test_recording_file__refuses_a_file_that_cannot_be_written(void)
{
    lab it;

    if (!lab_make(&it, solo_team, "agents:\n  solo: [{text: One.}]\n"))
        return;
    LAB_CHECK(&it, 1, "", "'none/run.yaml' cannot be written: No such file", "run",
              "team.yaml", "hi", "--offline", "--record", "none/run.yaml");
    LAB_CHECK(&it, 2, "", "ends in .yaml, .yml or .json, not 'run.txt'", "run",
              "team.yaml", "hi", "--offline", "--record", "run.txt");
    LAB_CHECK(&it, 2, "", "'--force' goes with '--record'", "run", "team.yaml", "hi",
              "--offline", "--force");
    LAB_CHECK(&it, 2, "", "'--record' is for one run", "resume", "--all", "--record",
              "run.yaml");
    lab_remove(&it);
}

static void test_recording_file__compares_the_files_of_an_input(void)
{
    lab it;

    if (!lab_make(&it, solo_team, "agents:\n  solo: [{text: Seen.}]\n"))
        return;
    lab_write(&it, "one.txt", "one");
    lab_write(&it, "two.txt", "two");
    LAB_CHECK(&it, 0, "Seen.\n", "", "run", "team.yaml", "hi", "--file", "one.txt",
              "--offline", "--record", "run.yaml");
    LAB_CHECK(&it, 0, "Seen.\n", "", "run", "team.yaml", "hi", "--file", "one.txt",
              "--script", "run.yaml");
    LAB_CHECK(&it, 1, "", "the files of its input are others", "run", "team.yaml", "hi",
              "--file", "two.txt", "--script", "run.yaml", "--quiet");
    LAB_CHECK(&it, 1, "", "its input had files, now it has none", "run", "team.yaml",
              "hi", "--script", "run.yaml", "--quiet");
    lab_remove(&it);
}

// A cut stream, then an answer; the key is in nothing, and the answer comes again
// without a server.
static void test_recording_file__of_a_real_model_is_made_again_offline(void)
{
    static const char whole[] = ONLINE_ANSWER("It is on its way.");
    lab it;
    char file[FOLDER_PATH_SIZE];
    online_result ran;

    if (!lab_make(&it, solo_team, "agents: {}\n"))
        return;
    snprintf(file, sizeof(file), "%s/run.yaml", it.folder.path);
    http_server *server = http_server_start(NULL);
    const http_step cut[] = {HTTP_SEND(ONLINE_HEAD ONLINE_TEXT("Half")), HTTP_CLOSE,
                             HTTP_END};
    http_server_add(server, cut);
    http_server_add_stream(server, whole, sizeof(whole) - 1, NULL);
    if (ONLINE_RUN(&ran, server, "--record", file))
        CHECK_TEXT(ran.program.out, "It is on its way.\n");
    online_result_fini(&ran);
    http_server_stop(server);
    char *text = lab_read(&it, "run.yaml");
    CHECK_CONTAINS(text, "attempts: 2\n");
    CHECK_LACKS(text, ONLINE_KEY);
    CHECK_LACKS(text, "127.0.0.1");
    free(text);
    program_source_path("tests/cli/teams", it.directory, sizeof(it.directory));
    const char *const words[] = {"run",      "online.yaml", "Where is order 1042?",
                                 "--script", file,          "--quiet",
                                 NULL};
    const char *const changes[] = {"OPENAI_BASE_URL=http://127.0.0.1:9", NULL};
    program_result again;
    if (PROGRAM_RUN(&again, .arguments = words, .directory = it.directory,
                    .changes = changes)) {
        CHECK_INT(again.exit_status, 0);
        CHECK_TEXT(again.out, "It is on its way.\n");
        program_result_fini(&again);
    }
    lab_remove(&it);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_recording_file__replaces_no_file_unasked),
    CHECK_TEST(test_recording_file__refuses_a_file_that_cannot_be_written),
    CHECK_TEST(test_recording_file__compares_the_files_of_an_input),
    CHECK_TEST(test_recording_file__of_a_real_model_is_made_again_offline),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("cli/recording_file", tests);
}
