// The kill matrix of a team whose agents have hooks in Lua: each kind of hook, calls,
// batches, a listener, state; and one that waits for a person. Cut at
// each commit, once and twice, on each registered store. See also hooks_resume_test.c.
#include "support/kill_matrix.h"
#include "support/recorded.h"

#include "cadre/trace.h"

#include <stdlib.h>
#include <string.h>

static const char team_text[] =
    "script: ./script.yaml\n"
    "state: {log: {reducer: append}}\n"
    "hooks: {next: ./team.lua}\n"
    "tools:\n"
    "  echo: {type: command, argv: [cat], parameters: {type: object}, replay: safe}\n"
    "agents:\n"
    "  desk: {type: handoff, members: [front, worker]}\n"
    "  front: {model: openai/m, handoffs: [worker], hooks: {create: ./front.lua}}\n"
    "  worker:\n"
    "    model: openai/m\n"
    "    tools: [echo]\n"
    "    hooks: {create: ./worker.lua, before_model: ./worker.lua,\n"
    "            after_model: ./worker.lua, before_tool: ./worker.lua,\n"
    "            after_tool: ./worker.lua, next: ./worker.lua}\n"
    "  left: {model: openai/m}\n"
    "  right: {model: openai/m}\n"
    "  judge: {model: openai/m}\n";

static const char team_lua[] =
    "function next(ctx)\n"
    "  if ctx.agent == 'worker' then\n"
    "    local n = #ctx.messages\n"
    "    local r = ctx.call{agent = 'judge', input = ctx.output}\n"
    "    return {output = ctx.output .. ' ' .. r.text .. n}\n"
    "  end\n"
    "end\n";

static const char front_lua[] =
    "function create(ctx)\n"
    "  ctx.set_state('log', 'front')\n"
    "  return {transfer = {agent = 'worker', input = #ctx.messages .. ' message'}}\n"
    "end\n";

static const char worker_lua[] =
    "function create(ctx)\n"
    "  local r = ctx.all{{agent = 'left', input = ctx.input},\n"
    "                    {agent = 'right', input = 'r'}}\n"
    "  ctx.set_state('log', r[1].text .. r[2].text .. #ctx.messages)\n"
    "end\n"
    "function before_model(ctx)\n"
    "  return {add = 'turn ' .. ctx.turn}\n"
    "end\n"
    "function after_model(ctx)\n"
    "  if #ctx.tool_calls > 0 then return end\n"
    "  local r = ctx.call{agent = 'judge', input = ctx.text, on_event = function() "
    "end}\n"
    "  return {text = ctx.text .. ' (' .. r.text .. ')'}\n"
    "end\n"
    "function before_tool(ctx)\n"
    "  return {arguments = {of = ctx.arguments.x}}\n"
    "end\n"
    "function after_tool(ctx)\n"
    "  local r = ctx.call{agent = 'judge', input = ctx.result}\n"
    "  return {result = ctx.result .. r.text}\n"
    "end\n"
    "function next(ctx)\n"
    "  return {output = ctx.output .. table.concat(ctx.state.log, ',') .. "
    "#ctx.messages}\n"
    "end\n";

static const char script_text[] =
    "strict: true\n"
    "agents:\n"
    "  worker:\n"
    "    - {tool_calls: [{name: echo, arguments: {x: 1}}]}\n"
    "    - {text: done}\n"
    "  left: [{text: L}]\n"
    "  right: [{text: R}]\n"
    "  judge: [{text: fine}, {text: good}, {text: end}]\n";

static cadre_team *load(cadre_runtime *runtime, const char *path)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    return team;
}

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", script_text, path) ||
        !folder_write(folder, "team.lua", team_lua, path) ||
        !folder_write(folder, "front.lua", front_lua, path) ||
        !folder_write(folder, "worker.lua", worker_lua, path) ||
        !folder_write(folder, "team.yaml", team_text, path))
        return NULL;
    return load(runtime, path);
}

static void test_lua_kill__the_answer_is_that_of_all_hooks(void)
{
    lives l;
    if (!lives_open(&l, "memory", make_team))
        return;
    lives_start(&l, kill_matrix_request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "done (good)front,LR25 end6");
    lives_close(&l);
}

static void check_matrix(const char *type)
{
    kill_matrix_check(make_team, type);
}

static void test_lua_kill__hooks_go_on_from_every_commit(void)
{
    lives_each_store(check_matrix);
}

// --- With a person ---

static const char asking_team[] =
    "script: ./script.yaml\n"
    "agents:\n"
    "  desk: {model: openai/m, hooks: {create: ./ask.lua}}\n"
    "  left: {model: openai/m}\n"
    "  right: {model: openai/m}\n";

static const char ask_lua[] =
    "function create(ctx)\n"
    "  local before = ctx.call{agent = 'left'}.text\n"
    "  local said = ctx.ask('Which?', {'this', 'that'})\n"
    "  local after = ctx.call{agent = 'right', input = said}.text\n"
    "  return {output = before .. said .. after}\n"
    "end\n";

static const char asking_script[] = "strict: true\n"
                                    "agents:\n"
                                    "  left: [{text: L}]\n"
                                    "  right: [{text: R}]\n";

static cadre_team *make_asking(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", asking_script, path) ||
        !folder_write(folder, "ask.lua", ask_lua, path) ||
        !folder_write(folder, "team.yaml", asking_team, path))
        return NULL;
    return load(runtime, path);
}

static bool answer(lives *l)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_string("that");
    cadre_status status =
        cadre_trace_answer(lives_runtime(l), l->trace, NULL, value, &err);
    json_decref(value);
    return CHECK_OK(status, &err);
}

// Goes on until it waits. False: nothing was recorded.
static bool begin(lives *l, store_cut cut)
{
    lives_start(l, CADRE_RUN(.input = "Go."), cut);
    if (l->trace[0] == '\0')
        return false;
    if (l->was_cut && !lives_resume(l, (store_cut){0}))
        return false;
    return CHECK_STATUS(l->status, CADRE_EPARKED, &l->err);
}

// False: the second cut was beyond the end.
static bool check_asking(const char *type, store_cut first, store_cut second,
                         char **recorded)
{
    lives l;
    bool was_cut = false;
    if (!lives_open(&l, type, make_asking))
        return false;
    if (begin(&l, first) && answer(&l) && lives_resume(&l, second)) {
        was_cut = l.was_cut;
        bool goes_on = was_cut && lives_resume(&l, (store_cut){0});
        if (!was_cut || goes_on) {
            CHECK_OK(l.status, &l.err);
            CHECK_TEXT(l.answer, "LthatR");
        }
        char *placed = lives_recorded(&l);
        char *got = recorded_unplaced(placed);
        if (*recorded)
            CHECK_TEXT(got, *recorded);
        else
            *recorded = strdup(got);
        free(placed);
        free(got);
    }
    lives_close(&l);
    return was_cut;
}

enum {
    MAX_COMMITS = 20
};

static void check_asking_matrix(const char *type)
{
    char *recorded = NULL;
    check_asking(type, (store_cut){0}, (store_cut){0}, &recorded);
    if (!CHECK(recorded != NULL))
        return;
    for (int n = 1; n < MAX_COMMITS; n += LIVES_STEP)
        for (int kept = 0; kept < 2; kept++)
            check_asking(type, (store_cut){.at = n, .is_after = kept != 0},
                         (store_cut){0}, &recorded);
    int after = 1;
    while (after < MAX_COMMITS &&
           check_asking(type, (store_cut){0}, (store_cut){.at = after}, &recorded))
        after++;
    CHECK(after > 1 && after < MAX_COMMITS);
    free(recorded);
}

static void test_lua_kill__a_hook_that_asks_goes_on_from_every_commit(void)
{
    lives_each_store(check_asking_matrix);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_lua_kill__the_answer_is_that_of_all_hooks),
    CHECK_TEST(test_lua_kill__hooks_go_on_from_every_commit),
    CHECK_TEST(test_lua_kill__a_hook_that_asks_goes_on_from_every_commit),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/lua_kill", tests);
}
