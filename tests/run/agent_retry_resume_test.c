// Agents that are tried again, in a run that was cut: attempts in the record are not
// made again.
#include "support/check.h"
#include "support/folder.h"
#include "support/kill_matrix.h"

#include "team/team.h"

static const cadre_agent *member(const cadre_frame *frame, size_t n)
{
    return cadre_frame_members(frame).items[n];
}

static cadre_status safe_look(void *ctx, cadre_frame *frame, const json_t *arguments,
                              cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "same", err);
}

// A delegate in the shared conversation that fails twice, then a call by name, asked
// twice; and a failure that it survives.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_outcome named, lost;
    (void)ctx;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = member(frame, 0), .input = "go"), NULL, err);
    const cadre_call *call =
        CADRE_CALL(.agent = member(frame, 1), .input = "you", .key = "k");
    if (status == CADRE_OK)
        status = cadre_frame_call(frame, call, &named, err);
    if (status == CADRE_OK)
        status = cadre_frame_call(frame, call, &named, err);
    if (status != CADRE_OK)
        return status;
    status =
        cadre_frame_call(frame, CADRE_CALL(.agent = member(frame, 2)), &lost, NULL);
    if (status != CADRE_EFAILED)
        return status;
    return cadre_frame_delegate(
        frame,
        CADRE_CALL(.agent = member(frame, 3),
                   .input =
                       cadre_frame_printf(frame, "%s, %s", named.text, lost.error)),
        NULL, err);
}

static const char script[] =
    "strict: true\n"
    "agents:\n"
    "  alice:\n"
    "    - {text: Let me see., tool_calls: [{name: look}]}\n"
    "    - {error: {status: 401}}\n"
    "    - {error: {status: 401}}\n"
    "    - {tool_calls: [{name: look}]}\n"
    "    - {text: Seen.}\n"
    "  bob: [{error: {status: 401}}, {text: B}]\n"
    "  carol: [{error: {status: 401}}, {error: {status: 403}}]\n"
    "  judge: [{text: So it is.}]\n";

static void add_scripted(cadre_team *team, cadre_llm llm)
{
    llm.struct_size = sizeof llm;
    llm.model = "openai/m";
    cadre_team_add_llm(team, &llm);
}

static cadre_team *make_line(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    const cadre_names look = CADRE_NAMES("look");
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "line");
    cadre_team_set_script(team, path);
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead,
                             .members = CADRE_NAMES("alice", "bob", "carol", "judge")));
    add_scripted(team, (cadre_llm){.name = "alice", .tools = look, .retry = {3, 0}});
    add_scripted(team, (cadre_llm){.name = "bob", .retry = {2, 1}});
    add_scripted(team, (cadre_llm){.name = "carol", .retry = {2, 0}});
    add_scripted(team, (cadre_llm){.name = "judge"});
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = safe_look, .replay_safe = true));
    cadre_team_set_root(team, "lead");
    return team;
}

static const char branch_script[] = "strict: true\n"
                                    "agents:\n"
                                    "  alice: [{error: {status: 401}}, {text: A}]\n"
                                    "  bob: [{error: {status: 401}}, {text: B}]\n";

static cadre_team *make_branches(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", branch_script, path))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "branches");
    cadre_team_set_script(team, path);
    cadre_team_add_topology(
        team, "parallel",
        CADRE_TOPOLOGY(.name = "both", .members = CADRE_NAMES("alice", "bob")));
    add_scripted(team, (cadre_llm){.name = "alice", .retry = {2, 1}});
    add_scripted(team, (cadre_llm){.name = "bob", .retry = {3, 0}});
    cadre_team_set_root(team, "both");
    return team;
}

static void check_cuts(const char *type)
{
    kill_matrix_check(make_line, type);
    kill_matrix_check(make_branches, type);
}

static void test_retry_resume__attempts_in_the_record_are_not_made_again(void)
{
    lives_each_store(check_cuts);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_retry_resume__attempts_in_the_record_are_not_made_again),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/agent_retry_resume", tests);
}
