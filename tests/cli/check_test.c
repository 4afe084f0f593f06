// cadre check.
#include "support/program.h"

static bool check_team(const char *name, const char *option, program_result *ran)
{
    char path[4096];

    program_source_path("tests/cli/teams", path, sizeof(path));
    return PROGRAM_RUN(ran,
                       .arguments = (const char *const[]){"check", name, option, NULL},
                       .directory = path);
}

static void test_check__says_what_a_sound_team_holds(void)
{
    program_result ran;

    if (!check_team("desk.yaml", NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "ok: 3 agents, 1 of them over others, root desk (handoff)\n");
    CHECK_TEXT(ran.err, "");
    program_result_fini(&ran);
}

static void test_check__tells_all_mistakes_with_their_places(void)
{
    program_result ran;

    if (!check_team("mistakes.yaml", NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.out, "");
    CHECK_CONTAINS(ran.err, "mistakes.yaml:4:");
    CHECK_CONTAINS(ran.err, "'triag'");
    CHECK_CONTAINS(ran.err, "mistakes.yaml:5:");
    CHECK_CONTAINS(ran.err, "modle");
    CHECK_CONTAINS(ran.err, "\ncadre: mistakes.yaml: 2 problems\n");
    program_result_fini(&ran);
}

static void test_check__counts_the_mistakes_of_each_file(void)
{
    program_result ran;

    if (!check_team("noted.yaml", "--script=mistakes.yaml", &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "mistakes.yaml:1:1: unknown key 'version'");
    CHECK_CONTAINS(ran.err, "\ncadre: mistakes.yaml: 4 problems\n");
    CHECK_LACKS(ran.err, "note:");
    program_result_fini(&ran);
}

static void test_check__notes_what_is_no_mistake(void)
{
    program_result ran;

    if (!check_team("noted.yaml", NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.out, "ok: 2 agents, 0 of them over others, root solo (llm)\n");
    CHECK_TEXT(ran.err,
               "noted.yaml:4:3: note: agent 'lost' is never used\n"
               "noted.yaml:6:3: note: tool 'look': cannot be run: ./nowhere: No such "
               "file or directory\n");
    program_result_fini(&ran);
}

static void test_check__names_a_file_that_is_not_there(void)
{
    program_result ran;

    if (!check_team("nowhere.yaml", NULL, &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "cadre: ");
    CHECK_CONTAINS(ran.err, "nowhere.yaml");
    CHECK_CONTAINS(ran.err, "No such file");
    program_result_fini(&ran);
}

static void test_check__offline_reads_the_script_too(void)
{
    program_result ran;

    if (!check_team("desk.yaml", "--offline", &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    program_result_fini(&ran);
    if (!check_team("desk.yaml", "--script=mistakes.yaml", &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_CONTAINS(ran.err, "mistakes.yaml");
    program_result_fini(&ran);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_check__says_what_a_sound_team_holds),
        CHECK_TEST(test_check__tells_all_mistakes_with_their_places),
        CHECK_TEST(test_check__counts_the_mistakes_of_each_file),
        CHECK_TEST(test_check__notes_what_is_no_mistake),
        CHECK_TEST(test_check__names_a_file_that_is_not_there),
        CHECK_TEST(test_check__offline_reads_the_script_too),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/check", tests);
}
