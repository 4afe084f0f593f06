// The kill matrix of a run whose model calls a request too long: cut at each commit
// before that, around it and after it, once and twice, on each registered store. See
// also history_limit_test.c.
#include "support/kill_matrix.h"

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "looked", err);
}

static const char script[] =
    "strict: true\n"
    "agents:\n"
    "  clerk:\n"
    "    - {tool_calls: [{name: look, arguments: {n: 1}}]}\n"
    "    - {tool_calls: [{name: look, arguments: {n: 2}}]}\n"
    "    - {error: {status: 400, message: This is above the maximum context length}}\n"
    "    - {tool_calls: [{name: look, arguments: {n: 3}}]}\n"
    "    - {text: Done.}\n";

static cadre_team *make_clerk(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "clerk");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("look")));
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true,
                                   .parameters = "{\"type\":\"object\"}"));
    return team;
}

static void check_store(const char *type)
{
    kill_matrix_check(make_clerk, type);
}

static void test_kill__of_a_history_that_was_too_long(void)
{
    lives_each_store(check_store);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_kill__of_a_history_that_was_too_long),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/kill_history", tests);
}
