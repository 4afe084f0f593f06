// cadre check.
#include "support/folder.h"
#include "support/program.h"

#include <jansson.h>
#include <stdio.h>

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
    CHECK_TEXT(ran.out,
               "ok: 3 agents, 1 of them over others, root desk (handoff)\n"
               "at most 200 model calls (limits.max_model_calls; the team could "
               "make 420), depth 1 of 32\n");
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
    CHECK_TEXT(ran.out, "ok: 2 agents, 0 of them over others, root solo (llm)\n"
                        "at most 20 model calls, depth 0 of 32\n");
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

// --- The worst case ---

typedef struct worst {
    const char *limits; // the rest of the file
    const char *options;
    const char *told;
} worst;

static void test_check__tells_what_a_run_takes_at_most(void)
{
    static const worst cases[] = {
        {"", "max_handoffs: 1", "at most 40 model calls, depth 1 of 32\n"},
        {"limits: {max_model_calls: 10}", "max_handoffs: 1",
         "at most 10 model calls (limits.max_model_calls; the team could make 40), "
         "depth "
         "1 of 32\n"},
        {"limits: {max_model_calls: 10, max_depth: 3}", "max_handoffs: unlimited",
         "at most 10 model calls (limits.max_model_calls; the team has no bound of its "
         "own), depth 1 of 3\n"},
        {"limits: {max_model_calls: unlimited, max_depth: unlimited}",
         "max_handoffs: 999", "at most 20,000 model calls, depth 1\n"},
        {"limits: {max_model_calls: unlimited}", "max_handoffs: unlimited",
         "as many model calls as its agents like (limits.max_model_calls is "
         "unlimited), "
         "depth 1 of 32\n"},
    };
    char text[1000], path[FOLDER_PATH_SIZE];
    test_folder folder;
    program_result ran;

    if (!CHECK(folder_make(&folder)))
        return;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        snprintf(text, sizeof(text),
                 "agents:\n"
                 "  desk: {type: handoff, members: [a, b], transfer: {%s}}\n"
                 "  a: {model: openai/any}\n"
                 "  b: {model: openai/any, max_turns: 3}\n"
                 "%s\n",
                 cases[i].options, cases[i].limits);
        folder_write(&folder, "team.yaml", text, path);
        if (!PROGRAM_RUN(&ran, .arguments = (const char *const[]){"check", path, NULL}))
            continue;
        CHECK_INT(ran.exit_status, 0);
        CHECK_CONTAINS(ran.out, cases[i].told);
        program_result_fini(&ran);
    }
    folder_remove(&folder);
}

// --- For programs ---

static json_t *read_object(const program_result *ran)
{
    json_t *object = json_loads(ran->out, 0, NULL);

    CHECK(json_is_object(object));
    return object;
}

static int64_t integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static void test_check__json_tells_it_all_to_programs(void)
{
    program_result ran;

    if (!check_team("desk.yaml", "--json", &ran))
        return;
    CHECK_INT(ran.exit_status, 0);
    CHECK_TEXT(ran.err, "");
    json_t *object = read_object(&ran);
    const json_t *worst_case = json_object_get(object, "worst_case");
    CHECK(json_is_true(json_object_get(object, "ok")));
    CHECK_INT(json_array_size(json_object_get(object, "problems")), 0);
    CHECK_INT(integer_of(worst_case, "model_calls"), 200);
    CHECK_INT(integer_of(worst_case, "model_calls_of_team"), 420);
    CHECK_INT(integer_of(worst_case, "depth"), 1);
    CHECK_INT(integer_of(worst_case, "max_depth"), 32);
    CHECK(json_is_false(json_object_get(worst_case, "is_deeper")));
    json_decref(object);
    program_result_fini(&ran);
    if (!check_team("noted.yaml", "--json", &ran))
        return;
    object = read_object(&ran);
    CHECK_TEXT(ran.err, "");
    CHECK_INT(json_array_size(json_object_get(object, "notes")), 2);
    json_decref(object);
    program_result_fini(&ran);
}

static void check_json_problems(const char *name, size_t n, const char *first)
{
    program_result ran;

    if (!check_team(name, "--json", &ran))
        return;
    CHECK_INT(ran.exit_status, 2);
    CHECK_TEXT(ran.err, "");
    json_t *object = read_object(&ran);
    const json_t *problems = json_object_get(object, "problems");
    CHECK(json_is_false(json_object_get(object, "ok")));
    CHECK_INT(json_array_size(problems), n);
    CHECK_CONTAINS(json_string_value(json_array_get(problems, 0)), first);
    CHECK(json_is_null(json_object_get(object, "worst_case")));
    json_decref(object);
    program_result_fini(&ran);
}

static void test_check__json_has_the_problems(void)
{
    check_json_problems("mistakes.yaml", 2, "mistakes.yaml:4:");
    check_json_problems("nowhere.yaml", 1, "nowhere.yaml");
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
        CHECK_TEST(test_check__tells_what_a_run_takes_at_most),
        CHECK_TEST(test_check__json_tells_it_all_to_programs),
        CHECK_TEST(test_check__json_has_the_problems),
        CU_TEST_INFO_NULL,
    };

    return check_main("cli/check", tests);
}
