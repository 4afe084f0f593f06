// Loop fallback in a run that was cut: who has answered does not answer again.
#include "support/check.h"
#include "support/folder.h"
#include "support/kill_matrix.h"

#include "team/team.h"

static cadre_status safe_look(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "same", err);
}

static cadre_team *new_team(cadre_runtime *runtime, const test_folder *folder,
                            const char *script)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "fallback");
    cadre_team_set_script(team, path);
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = safe_look, .replay_safe = true));
    return team;
}

// Turns run out, and the one that answers instead has turns of its own.
static cadre_team *make_solo(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team =
        new_team(runtime, folder,
                 "strict: true\n"
                 "agents:\n"
                 "  solo: [{tool_calls: [{name: look}], times: 2}]\n"
                 "  expert: [{tool_calls: [{name: look}]}, {text: Done.}]\n");
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "openai/m",
                                       .tools = CADRE_NAMES("look"), .max_turns = 2,
                                       .loop_fallback = "expert"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "expert", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    return team;
}

// In a desk, when the model fails: with a handover before and one after, and one that
// is refused because it is the third.
static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team =
        new_team(runtime, folder,
                 "strict: true\n"
                 "agents:\n"
                 "  alice: [{handoff: {to: bob, message: please}}]\n"
                 "  bob:\n"
                 "    - {tool_calls: [{name: look}], handoff: {to: carol}}\n"
                 "    - {error: {status: 401}}\n"
                 "    - {handoff: {to: alice}}\n"
                 "    - {text: Fine.}\n"
                 "  carol: [{handoff: {to: alice}}, {handoff: {to: bob}}]\n");
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk", .options = "{\"max_handoffs\": 2}",
                       .members = CADRE_NAMES("alice", "bob", "carol")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "alice", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("bob")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "bob", .model = "openai/m",
                                       .tools = CADRE_NAMES("look"),
                                       .handoffs = CADRE_NAMES("alice"),
                                       .loop_fallback = "carol"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "carol", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("bob")));
    return team;
}

static const char line_script[] = "strict: true\n"
                                  "agents:\n"
                                  "  one: [{tool_calls: [{name: nothing}]}]\n"
                                  "  two: [{error: {status: 401}}]\n"
                                  "  guru: [{text: om}, {text: Om om.}]\n";

static void add_line(cadre_team *team)
{
    cadre_team_add_llm(team, CADRE_LLM(.name = "one", .model = "openai/m",
                                       .max_bad_calls = 1, .loop_fallback = "guru"));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "two", .model = "openai/m", .loop_fallback = "guru"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "guru", .model = "openai/m"));
    cadre_team_set_root(team, "line");
}

// As members without a scope, one after its first model call ...
static cadre_team *make_chain(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = new_team(runtime, folder, line_script);
    cadre_team_add_topology(
        team, "chain",
        CADRE_TOPOLOGY(.name = "line", .members = CADRE_NAMES("one", "two")));
    add_line(team);
    return team;
}

// ... and each in a conversation of its own.
static cadre_team *make_graph(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = new_team(runtime, folder, line_script);
    cadre_team_add_topology(
        team, "graph",
        CADRE_TOPOLOGY(.name = "line", .members = CADRE_NAMES("one", "two"),
                       .options = "{\"nodes\": {\"a\": \"one\", \"b\": \"two\"},"
                                  " \"edges\": [{\"from\": \"a\", \"to\": \"b\"}]}"));
    add_line(team);
    return team;
}

static void check_cuts(const char *type)
{
    kill_matrix_check(make_solo, type);
    kill_matrix_check(make_desk, type);
    kill_matrix_check(make_chain, type);
    kill_matrix_check(make_graph, type);
}

static void test_fallback_resume__is_not_done_again_after_a_cut(void)
{
    lives_each_store(check_cuts);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_fallback_resume__is_not_done_again_after_a_cut),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/fallback_resume", tests);
}
