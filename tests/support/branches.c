#include "support/branches.h"

#include "team/team.h"

#include <stdio.h>

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "seen", err);
}

json_t *branches_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    atomic_fetch_add(&lives_count()->steps, 1);
    return json_string("stepped");
}

// Two members at once, a step, then a third that hears what they said.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_outcome said[2];
    json_t *stepped = NULL;
    (void)ctx;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "first"),
        CADRE_CALL(.agent = members.items[1], .input = "second")};
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.wait = CADRE_ALL, .calls = calls, .n_calls = 2), said, err);
    if (status == CADRE_OK)
        status = cadre_frame_step(
            frame, CADRE_STEP(.name = "note", .run = branches_step), &stepped, err);
    if (status != CADRE_OK)
        return status;
    const char *brief = cadre_frame_printf(frame, "%s and %s, %s", said[0].text,
                                           said[1].text, json_string_value(stepped));
    json_decref(stepped);
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = members.items[2], .input = brief), NULL, err);
}

static const char script_text[] =
    "strict: true\n"
    "agents:\n"
    "  left:\n"
    "    - {tool_calls: [{name: look, arguments: {}}, {name: look, arguments: {}}]}\n"
    "    - {text: L}\n"
    "  right:\n"
    "    - {error: {status: 500}, times: %d}\n"
    "    - {text: R}\n"
    "  judge:\n"
    "    - {tool_calls: [{name: nowhere, arguments: {}}]}\n"
    "    - {text: \"So it is.\"}\n";

bool branches_fill(cadre_team *team, const test_folder *folder, branches plan)
{
    char text[sizeof script_text + 16];
    char path[FOLDER_PATH_SIZE];
    snprintf(text, sizeof text, script_text, plan.n_errors);
    if (!folder_write(folder, "script.yaml", text, path))
        return false;
    cadre_team_set_script(team, path);
    cadre_team_add_model(team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    if (team->models != NULL)
        team->models[0]->times.backoff_ms = 1;
    cadre_team_add_function(
        team, CADRE_FUNCTION(.name = "lead", .run = lead,
                             .members = CADRE_NAMES("left", "right", "judge")));
    cadre_team_add_llm(
        team, CADRE_LLM(.name = "left", .model = "m", .tools = CADRE_NAMES("look")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "right", .model = "m"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "judge", .model = "m"));
    cadre_team_add_tool(
        team, CADRE_TOOL(.name = "look", .run = look, .replay_safe = plan.is_safe));
    cadre_team_set_root(team, "lead");
    return true;
}
