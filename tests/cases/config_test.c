// The case files of configuration: mistakes in team files and how they are told.
#include "support/check.h"

#include "cadre/cadre.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>

#define FOLDER "tests/cases/"

static cadre_runtime *runtime;

// Loads a case's file; the team is given out also with mistakes.
static cadre_team *load(const char *file, cadre_status expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = NULL;
    char path[256];
    snprintf(path, sizeof(path), FOLDER "%s", file);
    CHECK_STATUS(cadre_team_load(runtime, path, &team, &err), expected, &err);
    return team;
}

// The mistakes of a file are just these, in this order; each expected text stands after
// the file's name.
static void check_problems(const char *file, const char *const *expected, size_t n)
{
    cadre_team *team = load(file, CADRE_ECONFIG);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    CHECK_INT(n_problems, n);
    for (size_t i = 0; i < n_problems; i++) {
        const char *text = strstr(problems[i], file);
        if (CHECK(text != NULL) && i < n)
            CHECK_TEXT(text + strlen(file), expected[i]);
    }
    cadre_team_free(team);
}

#define CHECK_PROBLEMS(file, ...)                                                      \
    check_problems(file, (const char *const[]){__VA_ARGS__},                           \
                   sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void check_both_places(const char *file, const char *first, const char *second)
{
    cadre_team *team = load(file, CADRE_ECONFIG);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    if (CHECK_INT(n_problems, 1)) {
        CHECK_CONTAINS(problems[0], "writer");
        CHECK_CONTAINS(problems[0], first);
        CHECK_CONTAINS(problems[0], second);
    }
    cadre_team_free(team);
}

static void test_c01__tells_both_places_of_a_duplicate_agent(void)
{
    check_both_places("c01-duplicate-agent/map.yaml", ":6:3:", "line 2");
    check_both_places("c01-duplicate-agent/dup.json", ":4:5:", "line 3");
}

static void test_c01__refuses_names_that_differ_in_case(void)
{
    CHECK_PROBLEMS("c01-duplicate-agent/case.yaml",
                   ":4:3: agent 'Writer': a name is [a-z][a-z0-9_]*, at most 64 long");
}

static void test_c03__tells_an_unknown_key_and_the_nearest(void)
{
    CHECK_PROBLEMS("c03-unknown-key/team.yaml",
                   ":3:5: agents.r: unknown key 'instrutions'; did you mean "
                   "'instructions'?");
}

static void test_c05__takes_text_as_it_is_written(void)
{
    static const char *const expected[] = {
        "no", "on", "null", "1.10", "0755", "12:30", "1e3", "2024-01-01", "~", "true",
    };
    cadre_team *team = load("c05-yaml-plain-scalars/team.yaml", CADRE_OK);
    cadre_agents agents = cadre_team_agents(team);
    CHECK_INT(agents.count, sizeof(expected) / sizeof(*expected));
    for (size_t i = 0; i < agents.count; i++)
        CHECK_TEXT(cadre_agent_get_info(agents.items[i])->description, expected[i]);
    cadre_team_free(team);
}

static void test_c05__refuses_yes_where_a_boolean_is_wanted(void)
{
    CHECK_PROBLEMS("c05-yaml-plain-scalars/boolean.yaml",
                   ":4:12: agents.a.quiet: expected true or false, got \"yes\"");
}

static void test_c08__gives_the_range_of_each_number(void)
{
    cadre_team *team = load("c08-limits-and-numbers/team.yaml", CADRE_ECONFIG);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    static const char *const expected[][2] = {
        {":2:42: models.m.retry.attempts:", "from 1 to 100, got 4294967297"},
        {":6:14: agents.a.timeout:", "a duration above 0"},
        {":7:16: agents.a.max_turns:", "or 'unlimited', got 3.7"},
        {":9:20: limits.max_model_calls:", "from 1 to 1000000000, got -1"},
        {":10:19: limits.max_tool_calls:", "from 1 to 1000000000, got 4294967297"},
        {":11:14: limits.max_depth:", "or 'unlimited', got \"10\""},
    };
    CHECK_INT(n_problems, 6);
    for (size_t i = 0; i < n_problems && i < 6; i++) {
        CHECK_CONTAINS(problems[i], expected[i][0]);
        CHECK_CONTAINS(problems[i], expected[i][1]);
    }
    cadre_team_free(team);
}

// The limits of topologies, each with what it may be.
static void test_c08__gives_the_range_of_each_topologys_limits(void)
{
    cadre_team *team = load("c08-limits-and-numbers/topologies.yaml", CADRE_ECONFIG);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    static const char *const expected[][2] = {
        {":3:46: agents.loop.timeout:", "a duration above 0"},
        {":3:73: agents.loop.cycle.max_iterations:", "from 1 to 1000000, got -1"},
        {":4:60: agents.far.cycle.max_iterations:",
         "from 1 to 1000000, got 1000000000"},
        {":5:32: agents.deep.timeout:", "a duration such as"},
        {":5:76: agents.deep.graph.nodes.x.timeout:", "a duration above 0"},
        {":5:92: agents.deep.graph.max_steps:", "from 1 to 1000000000, got 4294967297"},
        {":6:67: agents.desk.transfer.max_handoffs:", "or 'unlimited', got 3.7"},
        {":6:80: agents.desk.transfer.window:", "or 'unlimited', got \"10\""},
        {":6:94: agents.desk.transfer.repeat:", "got 0; write 'unlimited'"},
        {":7:64: agents.crowd.transfer.min_unique:", "from 1 to 1000000, got -1"},
        {":7:82: agents.crowd.transfer.node_timeout:", "a duration above 0"},
        {":7:99: agents.crowd.transfer.max_handoffs:", "from 1 to 1000000"},
        {":9:45: agents.b.retry.attempts:", "from 1 to 100, got 0"},
        {":9:57: agents.b.retry.backoff:", "a whole number and a unit"},
    };
    size_t n = sizeof expected / sizeof *expected;
    CHECK_INT(n_problems, n);
    for (size_t i = 0; i < n_problems && i < n; i++) {
        CHECK_CONTAINS(problems[i], expected[i][0]);
        CHECK_CONTAINS(problems[i], expected[i][1]);
    }
    cadre_team_free(team);
}

static void test_c08__refuses_zero_and_says_what_to_write(void)
{
    cadre_team *team = load("c08-limits-and-numbers/zero.yaml", CADRE_ECONFIG);
    size_t n_problems = 0;
    const char *const *problems = cadre_team_problems(team, &n_problems);
    if (CHECK_INT(n_problems, 3)) {
        CHECK_CONTAINS(problems[0],
                       ":2:33: agents.a.timeout: write a duration above 0, "
                       "or leave it out; got \"0s\"");
        CHECK_CONTAINS(problems[1], ":2:48: agents.a.max_turns: expected an integer");
        CHECK_CONTAINS(problems[2], ":4:20: limits.max_model_calls: expected an "
                                    "integer from 1 to 1000000000, got 0; write "
                                    "'unlimited' for no limit");
    }
    cadre_team_free(team);
}

static void test_c08__turns_a_limit_off(void)
{
    cadre_team *team = load("c08-limits-and-numbers/unlimited.yaml", CADRE_OK);
    CHECK_INT(team->limits.max_model_calls, CADRE_UNLIMITED);
    CHECK_INT(team->limits.max_tool_calls, 1000000000);
    CHECK_INT(team->limits.max_depth, 0);
    const json_t *options = team->agents[0]->options;
    CHECK_INT(json_integer_value(json_object_get(options, "max_turns")),
              CADRE_UNLIMITED);
    cadre_team_free(team);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_c01__tells_both_places_of_a_duplicate_agent),
    CHECK_TEST(test_c01__refuses_names_that_differ_in_case),
    CHECK_TEST(test_c03__tells_an_unknown_key_and_the_nearest),
    CHECK_TEST(test_c05__takes_text_as_it_is_written),
    CHECK_TEST(test_c05__refuses_yes_where_a_boolean_is_wanted),
    CHECK_TEST(test_c08__gives_the_range_of_each_number),
    CHECK_TEST(test_c08__gives_the_range_of_each_topologys_limits),
    CHECK_TEST(test_c08__refuses_zero_and_says_what_to_write),
    CHECK_TEST(test_c08__turns_a_limit_off),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK)
        return 1;
    int status = check_main("cases/config", tests);
    cadre_runtime_close(runtime);
    return status;
}
