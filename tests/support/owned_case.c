#include "support/owned_case.h"

#include <stdlib.h>

static const char script[] =
    "agents:\n"
    "  main:\n"
    "    - {tool_calls: [{name: work, arguments: {task: Think.}}]}\n"
    "    - {when: {equals: Think.}, text: Thought.}\n"
    "    - {text: Done.}\n";

const char owned_rows[] =
    "conversation root\n" OWNED_CONVERSATION
    "frame root agent main completed final: Done.\n"
    "frame root/1 model openai/m completed final: \n"
    "frame root/1/0 tool work completed final: Thought.\n"
    "frame root/1/0/main#1 agent main completed final: Thought.\n"
    "frame root/1/0/main#1/1 model openai/m completed final: \n"
    "frame root/2 model openai/m completed final: \n" OWNED_ROWS_OF_CALL
    "message root 2 tool main>: work ok Thought. by root\n"
    "message root 3 assistant main>:  ok Done. by root\n" OWNED_ROWS_OF_CHILD;

const owned_tool owned_subagent = {.type = "subagent", .is_safe = true};

static const owned_tool *tool;
static const char *instructions; // of the agent
static bool has_second;          // a second tool

static cadre_status do_nothing(void *ctx, cadre_frame *frame, const json_t *arguments,
                               cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)arguments;
    (void)err;
    return CADRE_OK;
}

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script, path))
        return NULL;
    const cadre_names one = CADRE_NAMES("work");
    const cadre_names two = CADRE_NAMES("work", "more");
    cadre_team *team = cadre_team_new(runtime, "owners");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "main", .model = "openai/m",
                                       .instructions = instructions,
                                       .tools = has_second ? two : one));
    cadre_team_add_tool(
        team,
        CADRE_TOOL(.name = "work", .type = tool->type, .run = tool->run,
                   .replay_safe = tool->run != NULL && tool->is_safe,
                   .parameters = tool->run == NULL ? NULL : "{\"type\":\"object\"}"));
    if (has_second)
        cadre_team_add_tool(team, CADRE_TOOL(.name = "more", .run = do_nothing));
    cadre_team_set_root(team, "main");
    return team;
}

bool owned_case_open(lives *l, const char *type, const owned_tool *wanted)
{
    tool = wanted;
    instructions = "Work.";
    has_second = false;
    return lives_open(l, type, make_team);
}

void owned_case_change(lives *l, const char *text, bool has_more)
{
    instructions = text;
    has_second = has_more;
    lives_runtime(l);
    cadre_team_free(l->team); // that of a store of memory is made anew
    l->team = make_team(l->runtime, &l->folder);
}

void owned_case_check(lives *l, const char *expected)
{
    char *got = lives_recorded(l);
    CHECK_TEXT(got, expected);
    free(got);
}
