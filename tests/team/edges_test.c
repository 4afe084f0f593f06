// Handoffs that lead nowhere, and what a team has and never uses.
#include "team/team.h"

#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cadre_runtime *runtime;
static test_folder folder;

static void append_lines(char *told, size_t size, const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *place = strstr(lines[i], "team.yaml");
        size_t len = strlen(told);
        (void)snprintf(told + len, size - len, "%s\n", place ? place : lines[i]);
    }
}

static void check(const char *text, const char *problems, const char *notes)
{
    char path[FOLDER_PATH_SIZE];
    char told[4000] = "";
    char noted[4000] = "";
    size_t n = 0;
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", text, path);
    cadre_team_load(runtime, path, &team, NULL);
    const char *const *lines = cadre_team_problems(team, &n);
    append_lines(told, sizeof(told), lines, n);
    for (size_t i = 0; i < n; i++)
        CHECK_TEXT(cadre_team_problem_file(team, i), path);
    CHECK(cadre_team_problem_file(team, n) == NULL);
    lines = cadre_team_notes(team, &n);
    append_lines(noted, sizeof(noted), lines, n);
    CHECK_TEXT(told, problems);
    CHECK_TEXT(noted, notes);
    cadre_team_free(team);
}

static void test_edges__a_handoff_needs_a_topology_that_hands_over(void)
{
    check("agents:\n"
          "  a: {model: openai/m, handoffs: [b, {to: c}]}\n"
          "  b: {model: openai/m}\n"
          "  c: {model: openai/m}\n",
          "team.yaml:2:35: agents.a.handoffs[0]: agent 'a' declares handoffs, but no "
          "topology that hands over has it as a member; add one, such as `desk: {type: "
          "handoff, entry: a, members: [a, b, c]}`\n",
          "");
    // Wherever that topology is.
    check("root: outer\n"
          "agents:\n"
          "  outer: {type: handoff, members: [inner]}\n"
          "  inner: {type: handoff, members: [a, b]}\n"
          "  a: {model: openai/m, handoffs: [b]}\n"
          "  b: {model: openai/m}\n",
          "", "");
}

static void test_edges__says_nothing_while_members_are_not_known(void)
{
    check("agents:\n"
          "  desk: {type: handoff, members: [aa, b]}\n"
          "  a: {model: openai/m, handoffs: [b]}\n"
          "  b: {model: openai/m}\n",
          "team.yaml:2:35: agents.desk.members[0]: unknown agent 'aa'; did you mean "
          "'a'? (agents: desk, a, b)\n",
          "");
}

static void test_edges__all_targets_outside_are_told_where_they_stand(void)
{
    check("agents:\n"
          "  desk: {type: handoff, members: [a, b]}\n"
          "  a: {model: openai/m, handoffs: [c, b, desk]}\n"
          "  b: {model: openai/m, handoffs: [{to: c}]}\n"
          "  c: {model: openai/m}\n",
          "team.yaml:3:35: agents.a.handoffs[0]: 'c' is not a member of 'desk' "
          "(members: a, b)\n"
          "team.yaml:3:41: agents.a.handoffs[2]: 'desk' is the topology itself; hand "
          "over to one of its members (members: a, b)\n"
          "team.yaml:4:35: agents.b.handoffs[0]: 'c' is not a member of 'desk' "
          "(members: a, b)\n",
          "");
}

static void test_edges__a_topology_hands_nothing_over(void)
{
    check(
        "agents:\n"
        "  desk: {type: handoff, members: [a, inner], handoffs: [a]}\n"
        "  inner: {type: handoff, members: [a]}\n"
        "  a: {model: openai/m}\n",
        "team.yaml:2:57: agents.desk.handoffs[0]: a handoff hands nothing over itself, "
        "its members do; leave them out\n",
        "");
}

static void test_edges__a_program_is_told_in_its_own_words(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("b")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "b", .model = "openai/m"));
    CHECK_STATUS(cadre_team_seal(team, &err), CADRE_ECONFIG, &err);
    CHECK_TEXT(err.text,
               "agent 'a': handoffs[0]: agent 'a' declares handoffs, but no "
               "topology that hands over has it as a member; add one, such as "
               "cadre_team_add_topology(team, \"handoff\", ...) with entry a "
               "and members a, b");
    CHECK(cadre_team_problem_file(team, 0) == NULL);
    cadre_team_free(team);
}

static cadre_status run_nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

// What a function does with the handoffs of its members is its own affair.
static void test_edges__a_function_may_use_any_handoff(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_team *team = cadre_team_new(runtime, "shop");
    cadre_team_add_function(team, CADRE_FUNCTION(.name = "f", .run = run_nothing,
                                                 .members = CADRE_NAMES("a")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "a", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("b")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "b", .model = "openai/m"));
    CHECK_OK(cadre_team_seal(team, &err), &err);
    cadre_team_free(team);
}

static void test_edges__notes_what_is_never_used(void)
{
    check("root: desk\n"
          "models: {m: {model: openai/m}, spare: {model: openai/n}}\n"
          "tools:\n"
          "  old: {type: command, argv: [sh]}\n"
          "  new: {type: command, argv: [sh]}\n"
          "agents:\n"
          "  desk: {type: handoff, members: [a]}\n"
          "  a: {model: m, tools: [new]}\n"
          "  lost: {model: m}\n"
          "  above: {type: handoff, members: [desk]}\n",
          "",
          "team.yaml:2:32: note: model 'spare' is never used\n"
          "team.yaml:4:3: note: tool 'old' is never used\n"
          "team.yaml:9:3: note: agent 'lost' is never used\n"
          "team.yaml:10:3: note: agent 'above' is never used\n");
}

static void test_edges__notes_programs_that_are_not_there(void)
{
    char path[FOLDER_PATH_SIZE];
    folder_write(&folder, "plain", "no program\n", path);
    check("tools:\n"
          "  a: {type: command, argv: [./nope]}\n"
          "  b: {type: command, argv: [./plain]}\n"
          "  c: {type: command, argv: [no_such_program]}\n"
          "  d: {type: command, argv: [/bin/sh]}\n"
          "  e: {type: command, argv: [sh]}\n"
          "agents: {s: {model: openai/m, tools: [a, b, c, d, e]}}\n",
          "",
          "team.yaml:2:3: note: tool 'a': cannot be run: ./nope: No such file or "
          "directory\n"
          "team.yaml:3:3: note: tool 'b': cannot be run: ./plain: Permission denied\n"
          "team.yaml:4:3: note: tool 'c': cannot be run: no_such_program: No such file "
          "or directory (not in PATH)\n");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_edges__a_handoff_needs_a_topology_that_hands_over),
    CHECK_TEST(test_edges__says_nothing_while_members_are_not_known),
    CHECK_TEST(test_edges__all_targets_outside_are_told_where_they_stand),
    CHECK_TEST(test_edges__a_topology_hands_nothing_over),
    CHECK_TEST(test_edges__a_program_is_told_in_its_own_words),
    CHECK_TEST(test_edges__a_function_may_use_any_handoff),
    CHECK_TEST(test_edges__notes_what_is_never_used),
    CHECK_TEST(test_edges__notes_programs_that_are_not_there),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    // The tests must not depend on the caller's address.
    unsetenv("OPENAI_BASE_URL"); // NOLINT(concurrency-mt-unsafe)
    if (cadre_runtime_open(NULL, &runtime, NULL) != CADRE_OK || !folder_make(&folder))
        return 1;
    int status = check_main("team/edges", tests);
    folder_remove(&folder);
    cadre_runtime_close(runtime);
    return status;
}
