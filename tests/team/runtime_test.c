// Runtimes: opening, types from outside, and teams that work offline.
#include "team/runtime.h"

#include "support/check.h"
#include "support/folder.h"
#include "team/team.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static test_folder folder;

static cadre_status agent_run(void *state, cadre_frame *frame, cadre_error *err)
{
    (void)state;
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static cadre_status tool_run(void *state, cadre_frame *frame, const json_t *arguments,
                             cadre_error *err)
{
    (void)arguments;
    return agent_run(state, frame, err);
}

static cadre_status model_answer(const void *state, cadre_frame *frame,
                                 const cadre_request *request, cadre_sink *sink,
                                 cadre_error *err)
{
    (void)state;
    (void)frame;
    (void)request;
    (void)sink;
    return cadre_fail(err, CADRE_EFAILED, "not run here");
}

static void check_open_refused(const cadre_runtime_config *config, const char *expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    CHECK_STATUS(cadre_runtime_open(config, &runtime, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, expected);
    CHECK(runtime == NULL);
}

static void test_runtime__refuses_a_config_it_cannot_use(void)
{
    check_open_refused(CADRE_RUNTIME(.store = "nowhere:x"),
                       "unknown store 'nowhere:x' (stores: ");
    check_open_refused(CADRE_RUNTIME(.max_threads = -1), "max_threads is -1");
    check_open_refused(CADRE_RUNTIME(.script = ""), "script is an empty text");
    check_open_refused(&(cadre_runtime_config){.offline = true},
                       "struct_size is not set");
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_runtime_open(NULL, NULL, &err), CADRE_EINVAL, &err);
    cadre_runtime_close(NULL);
}

static void test_runtime__takes_types_from_outside_once(void)
{
    static const cadre_agent_ops agent = {
        .struct_size = sizeof(cadre_agent_ops), .type = "outside", .run = agent_run};
    static const cadre_tool_ops tool = {
        .struct_size = sizeof(cadre_tool_ops), .type = "outside", .run = tool_run};
    static const cadre_model_ops model = {.struct_size = sizeof(cadre_model_ops),
                                          .provider = "outside",
                                          .answer = model_answer};
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    CHECK_OK(cadre_runtime_register(runtime, &agent, &err), &err);
    CHECK_OK(cadre_runtime_register_tool(runtime, &tool, &err), &err);
    CHECK_OK(cadre_runtime_register_model(runtime, &model, &err), &err);
    CHECK(cdr_runtime_agent_ops(runtime, "outside") == &agent);
    CHECK(cdr_runtime_tool_ops(runtime, "outside") == &tool);
    CHECK(cdr_runtime_model_ops(runtime, "outside") == &model);
    CHECK(cdr_runtime_agent_ops(runtime, "nothing") == NULL);
    CHECK(!cdr_is_topology(&agent));
    CHECK_STATUS(cadre_runtime_register(runtime, &agent, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, "agent type 'outside' is there already");
    cadre_runtime_close(runtime);
}

static void test_runtime__refuses_incomplete_tables(void)
{
    cadre_agent_ops agent = {.struct_size = sizeof(agent), .type = "x"};
    cadre_model_ops model = {.struct_size = sizeof(model), .provider = "x"};
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    CHECK_STATUS(cadre_runtime_register(runtime, &agent, &err), CADRE_EINVAL, &err);
    CHECK_TEXT(err.text, "agent type 'x': the table lacks a required function");
    cadre_error_clear(&err);
    agent.run = agent_run;
    agent.options_schema = "{\"a\": {\"type\": \"strin\"}}";
    CHECK_STATUS(cadre_runtime_register(runtime, &agent, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "agent type 'x': options_schema is no schema");
    cadre_error_clear(&err);
    agent.struct_size = 8;
    CHECK_STATUS(cadre_runtime_register(runtime, &agent, &err), CADRE_EINVAL, &err);
    CHECK_CONTAINS(err.text, "agent type 'x': struct_size is 8");
    cadre_error_clear(&err);
    CHECK_STATUS(cadre_runtime_register_model(runtime, &model, &err), CADRE_EINVAL,
                 &err);
    CHECK_TEXT(err.text, "provider 'x': the table lacks a required function");
    cadre_runtime_close(runtime);
}

static void test_runtime__lists_the_built_in_types(void)
{
    static const cadre_kind kinds[] = {CADRE_KIND_TOPOLOGY, CADRE_KIND_AGENT,
                                       CADRE_KIND_TOOL, CADRE_KIND_MODEL,
                                       CADRE_KIND_STORE};
    static const char *const expected[] = {"handoff", "llm", "function", "script",
                                           "memory"};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        bool is_there = false;
        cadre_kind_info info = {0};
        size_t n = 0;
        for (; cadre_kind_at(kinds[i], n, &info); n++)
            is_there |= strcmp(info.type, expected[i]) == 0;
        CHECK(is_there);
        CHECK(!cadre_kind_at(kinds[i], n + 1, &info));
    }
}

static void test_runtime__tells_its_version_and_what_it_is_linked_to(void)
{
    CHECK_TEXT(cadre_version(), CADRE_VERSION);
    CHECK_CONTAINS(cadre_linked_versions(), "libcurl ");
    CHECK_CONTAINS(cadre_linked_versions(), "\njansson ");
    CHECK_CONTAINS(cadre_linked_versions(), "\nlibyaml ");
    CHECK_CONTAINS(cadre_linked_versions(), "\nLua 5.4");
    CHECK_CONTAINS(cadre_linked_versions(), "\nPCRE2 10.");
}

static void test_runtime__tells_which_sqlite_is_linked(void)
{
    char line[64];
    snprintf(line, sizeof(line), "\nSQLite %s", sqlite3_libversion());
    CHECK_CONTAINS(cadre_linked_versions(), line);
}

// Loads a team offline, with a script of its own or of the runtime.
static cadre_team *load_offline(cadre_runtime **runtime, const char *script,
                                const char *team_text, cadre_status expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = NULL;
    folder_write(&folder, "team.yaml", team_text, path);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true, .script = script),
                                runtime, &err),
             &err);
    CHECK_STATUS(cadre_team_load(*runtime, path, &team, &err), expected, &err);
    return team;
}

static const char one_agent[] = "models: {m: {model: openai/m, temperature: 1}}\n"
                                "agents: {a: {model: m}}\n";

static void test_runtime__answers_offline_from_the_teams_script(void)
{
    char path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    folder_write(&folder, "script.yaml", "agents: {a: [{text: hi}]}\n", path);
    cadre_team *team = load_offline(&runtime, NULL,
                                    "script: script.yaml\n"
                                    "models: {m: {model: openai/m, temperature: 1}}\n"
                                    "agents: {a: {model: m}}\n",
                                    CADRE_OK);
    CHECK(team->models[0]->is_scripted);
    CHECK_TEXT(team->models[0]->ops->provider, "script");
    CHECK_TEXT(team->models[0]->provider, "openai");
    CHECK_INT(cadre_script_length(team->script, "a"), 1);
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cdr_team_check_keys(team, &err), &err);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_runtime__prefers_its_own_script(void)
{
    char path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    folder_write(&folder, "other.yaml", "agents: {a: [{text: 1}, {text: 2}]}\n", path);
    cadre_team *team = load_offline(&runtime, path,
                                    "script: nowhere.yaml\n"
                                    "agents: {a: {model: openai/m}}\n",
                                    CADRE_OK);
    CHECK_INT(cadre_script_length(team->script, "a"), 2);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_runtime__says_that_a_script_is_missing(void)
{
    cadre_runtime *runtime = NULL;
    size_t n = 0;
    cadre_team *team = load_offline(&runtime, NULL, one_agent, CADRE_ECONFIG);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 1))
        CHECK_CONTAINS(problems[0],
                       "/team.yaml:1:1: there is no script to answer from; add "
                       "`script:` to the team file, or run with --script FILE");
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_runtime__checks_the_names_of_a_script(void)
{
    char path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    size_t n = 0;
    folder_write(&folder, "script.yaml",
                 "agents:\n  a: [{text: hi}, {handoff: {to: zzz}}]\n"
                 "  b: [{text: ho, handoffs: [{to: a}, {to: y}]}]\n"
                 "tools:\n  look: [{result: x}]\n",
                 path);
    cadre_team *team = load_offline(&runtime, path, one_agent, CADRE_ECONFIG);
    const char *const *problems = cadre_team_problems(team, &n);
    if (CHECK_INT(n, 4)) {
        CHECK_CONTAINS(problems[0], "script.yaml:2:34: agents.a[1].handoff.to: unknown "
                                    "agent 'zzz' (agents: a)");
        CHECK_CONTAINS(problems[1], "script.yaml:3:3: agents.b: unknown agent 'b'");
        CHECK_CONTAINS(problems[2], "script.yaml:3:43: agents.b[0].handoffs[1].to: "
                                    "unknown agent 'y' (agents: a)");
        CHECK_CONTAINS(problems[3], "script.yaml:5:3: tools.look: unknown tool 'look'");
    }
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static void test_runtime__uses_a_script_of_a_script_model_online(void)
{
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    cadre_runtime *runtime = NULL;
    cadre_team *team = NULL;
    folder_write(&folder, "script.yaml", "agents: {a: [{text: hi}]}\n", path);
    folder_write(&folder, "team.yaml",
                 "script: script.yaml\n"
                 "agents: {a: {model: script/any}, b: {model: openai/m}}\n",
                 path);
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    CHECK(team->script != NULL);
    CHECK(cadre_team_find(team, "a")->model->is_scripted);
    CHECK(!cadre_team_find(team, "b")->model->is_scripted);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_runtime__refuses_a_config_it_cannot_use),
    CHECK_TEST(test_runtime__takes_types_from_outside_once),
    CHECK_TEST(test_runtime__refuses_incomplete_tables),
    CHECK_TEST(test_runtime__lists_the_built_in_types),
    CHECK_TEST(test_runtime__tells_its_version_and_what_it_is_linked_to),
    CHECK_TEST(test_runtime__tells_which_sqlite_is_linked),
    CHECK_TEST(test_runtime__answers_offline_from_the_teams_script),
    CHECK_TEST(test_runtime__prefers_its_own_script),
    CHECK_TEST(test_runtime__says_that_a_script_is_missing),
    CHECK_TEST(test_runtime__checks_the_names_of_a_script),
    CHECK_TEST(test_runtime__uses_a_script_of_a_script_model_online),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    if (!folder_make(&folder))
        return 1;
    int status = check_main("team/runtime", tests);
    folder_remove(&folder);
    return status;
}
