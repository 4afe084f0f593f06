// Provider "script": what a step says, as one answer with its calls.
#include "cadre/cadre.h"

#include "support/check.h"
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a tool was called with, "NAME ARGUMENTS", a line each.
typedef struct calls {
    char text[400];
} calls;

typedef struct noted_tool {
    const char *name;
    calls *calls;
} noted_tool;

static cadre_status note(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    const noted_tool *tool = ctx;
    char *text = json_dumps(arguments, JSON_COMPACT);
    size_t len = strlen(tool->calls->text);
    snprintf(tool->calls->text + len, sizeof(tool->calls->text) - len, "%s %s\n",
             tool->name, text);
    free(text);
    return cadre_frame_set_output(frame, "noted", err);
}

static void add_tool(cadre_team *team, noted_tool *tool, const char *parameters)
{
    cadre_team_add_tool(team, CADRE_TOOL(.name = tool->name, .run = note, .ctx = tool,
                                         .parameters = parameters));
}

static void test_script__plays_all_words_of_a_step_as_one_answer(void)
{
    test_folder folder;
    char path[FOLDER_PATH_SIZE];
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    calls noted = {""};
    noted_tool ask = {"ask", &noted}, escalate = {"escalate", &noted};
    const cadre_result *result = NULL;
    cadre_run *run = NULL;
    if (!folder_make(&folder))
        return;
    folder_write(&folder, "script.yaml",
                 "strict: true\n"
                 "agents:\n"
                 "  solo:\n"
                 "    - {text: Hm., ask: \"Which?\"}\n"
                 "    - {escalate: \"it is done\"}\n"
                 "    - {escalate: true}\n"
                 "    - {text: Bye.}\n",
                 path);
    const cadre_runtime_config config = {.struct_size = sizeof config, .offline = true};
    CHECK_OK(cadre_runtime_open(&config, &runtime, &err), &err);
    cadre_team *team = cadre_team_new(runtime, "team");
    cadre_team_set_script(team, path);
    cadre_team_add_llm(team, CADRE_LLM(.name = "solo", .model = "openai/m",
                                       .tools = CADRE_NAMES("ask", "escalate")));
    add_tool(team, &ask,
             "{\"type\": \"object\", \"required\": [\"question\"], \"properties\": "
             "{\"question\": {\"type\": \"string\"}}}");
    add_tool(team, &escalate,
             "{\"type\": \"object\", \"properties\": {\"reason\": {\"type\": "
             "\"string\"}}}");
    if (CHECK_OK(cadre_run_start(team, CADRE_RUN(.input = "hi"), &run, &err), &err)) {
        CHECK_OK(cadre_run_wait(run, &result, &err), &err);
        CHECK_TEXT(result->text, "Bye.");
        CHECK_INT(result->usage.model_calls, 4);
        CHECK_TEXT(noted.text, "ask {\"question\":\"Which?\"}\n"
                               "escalate {\"reason\":\"it is done\"}\n"
                               "escalate {}\n");
    }
    cadre_run_free(run);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_script__plays_all_words_of_a_step_as_one_answer),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("models/script", tests);
}
