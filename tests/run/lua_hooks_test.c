// Hooks in Lua: what they are given, what they return, and how they fail.
#include "support/check.h"
#include "support/lua_case.h"

#include <stdlib.h>
#include <string.h>

static team_case *const t = &lua_team;

// --- create ---

static void test_lua__create_answers_without_a_model(void)
{
    lua_case_check_value("'you said ' .. ctx.input", "you said hello");
    CHECK_INT(driven_count("alice"), 0);
}

static void test_lua__create_that_returns_nothing_lets_the_agent_run(void)
{
    static const char *const nothings[] = {"", "return nil", "return {}"};
    for (size_t i = 0; i < 3; i++) {
        char hooks[100];
        snprintf(hooks, sizeof hooks, "function create(ctx) %s end", nothings[i]);
        lua_case_open_alice("create", hooks);
        DRIVEN("alice", "say hi");
        lua_case_run("hello");
        lua_case_check("hi");
        lua_case_close();
    }
}

static void test_lua__ctx_has_what_the_frame_has(void)
{
    lua_case_check_value("ctx.agent", "alice");
    lua_case_check_value(
        "#ctx.messages .. ctx.messages[1].role .. ctx.messages[1].content",
        "1userhello");
    lua_case_check_value("ctx.state.notes[1]", "first");
    lua_case_check_value("ctx.tool == nil and ctx.output == nil and ctx.text == nil",
                         "true");
    lua_case_check_value("type(ctx)", "table");
}

static void test_lua__a_transfer_hands_over_before_a_model_is_asked(void)
{
    lua_case_open_desk("create",
                       "function create(ctx)\n"
                       "  if contains(ctx.input, 'refund') then\n"
                       "    return {transfer = {agent = 'bob', input = 'pay'}}\n"
                       "  end\n"
                       "end");
    DRIVEN("bob", "say paid");
    lua_case_run("a refund, please");
    lua_case_check("paid");
    CHECK_TEXT(t->result->agent, "bob");
    CHECK_INT(driven_count("alice"), 0);
    CHECK_TEXT(driven_request("bob", 0), "user: a refund, please\nuser: pay\n");
    lua_case_close();
}

static void test_lua__messages_of_a_transfer_are_one_turn(void)
{
    lua_case_open_desk(
        "create",
        "function create(ctx)\n"
        "  return {transfer = {agent = 'bob', history = 'none', messages = {\n"
        "    {role = 'user', content = 'one'},\n"
        "    {role = 'assistant', agent = 'alice', content = 'two'}}}}\n"
        "end");
    DRIVEN("bob", "say three");
    lua_case_run("hi");
    lua_case_check("three");
    CHECK_TEXT(driven_request("bob", 0), "user: [user]: one\n\n[alice]: two\n");
    lua_case_close();
}

static void test_lua__a_transfer_without_an_edge_is_refused(void)
{
    lua_case_open_desk("create",
                       "function create() return {transfer = {agent = 'carol'}} end");
    lua_case_run("hi");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(t->err.text, "hook create: ");
    CHECK_CONTAINS(t->err.text, "carol");
    CHECK_INT(driven_count("carol"), 0);
    lua_case_close();
}

// --- Models ---

static void test_lua__before_model_changes_the_request(void)
{
    lua_case_open_alice("before_model",
                        "function before_model(ctx)\n"
                        "  return {system = ctx.system .. ' Turn ' .. ctx.turn,\n"
                        "          add = {'one', 'of ' .. ctx.model}}\n"
                        "end");
    DRIVEN("alice", "say ok");
    lua_case_run("hi");
    lua_case_check("ok");
    CHECK_TEXT(driven_system("alice", 0), "Be alice. Turn 1");
    CHECK_TEXT(driven_request("alice", 0),
               "user: hi\nuser: one\nuser: of driven/test\n");
    lua_case_close();
}

static void test_lua__before_model_answers_in_place_of_the_model(void)
{
    lua_case_open_alice("before_model",
                        "function before_model(ctx) return {answer = 'cached'} end");
    lua_case_run("hi");
    lua_case_check("cached");
    CHECK_INT(driven_count("alice"), 0);
    lua_case_close();
}

static void test_lua__after_model_reads_and_replaces_the_text(void)
{
    lua_case_open_alice(
        "after_model",
        "function after_model(ctx)\n"
        "  local call = ctx.tool_calls[1]\n"
        "  if call then return {text = call.name .. call.arguments.x} end\n"
        "  return {text = ctx.text .. '!'}\n"
        "end");
    DRIVEN("alice", "call echo {\"x\":7}", "say done");
    lua_case_run("hi");
    lua_case_check("done!");
    CHECK_CONTAINS(driven_request("alice", 1), "assistant: echo7\n");
    lua_case_close();
}

// --- Tools ---

static void check_tool(const char *names, const char *hooks, const char *results)
{
    lua_case_open_alice(names, hooks);
    DRIVEN("alice", "call echo {\"x\":7}", "say done");
    lua_case_run("hi");
    lua_case_check("done");
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT), results);
    lua_case_close();
}

static void test_lua__before_tool_changes_answers_or_blocks_a_call(void)
{
    check_tool("before_tool",
               "function before_tool(ctx)\n"
               "  return {arguments = {y = ctx.arguments.x + 1, of = ctx.tool}}\n"
               "end",
               "alice: echo ok {\"of\":\"echo\",\"y\":8}\n");
    check_tool("before_tool", "function before_tool() return {arguments = {}} end",
               "alice: echo ok {}\n");
    check_tool("before_tool", "function before_tool(ctx) return {result = 'known'} end",
               "alice: echo ok known\n");
    check_tool("before_tool", "function before_tool(ctx) return {blocked = 'no'} end",
               "alice: echo blocked no\n");
}

static void test_lua__after_tool_reads_and_replaces_the_result(void)
{
    check_tool(
        "after_tool",
        "function after_tool(ctx)\n"
        "  return {result = ctx.code .. ' ' .. ctx.result .. ' of ' .. ctx.input}\n"
        "end",
        "alice: echo ok ok {\"x\":7} of hi\n");
}

// Which of two results is there first is chance, so a hook sees neither.
static void test_lua__tools_of_one_turn_do_not_see_each_other(void)
{
    lua_case_open_alice("after_tool", "function after_tool(ctx)\n"
                                      "  return {result = tostring(#ctx.messages)}\n"
                                      "end");
    DRIVEN("alice", "call echo {\"x\":1}\ncall echo {\"x\":2}", "say done");
    lua_case_run("hi");
    lua_case_check("done");
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT),
               "alice: echo ok 2\nalice: echo ok 2\n");
    lua_case_close();
}

// --- next ---

static void test_lua__next_changes_the_answer(void)
{
    lua_case_open_alice("next",
                        "function next(ctx) return {output = ctx.output .. '.'} end");
    DRIVEN("alice", "say done");
    lua_case_run("hi");
    lua_case_check("done.");
    lua_case_close();
}

static void test_lua__next_hands_over_after_an_answer(void)
{
    lua_case_open_desk(
        "next",
        "function next(ctx)\n"
        "  return {transfer = {agent = 'bob', input = 'check ' .. ctx.output}}\n"
        "end");
    DRIVEN("alice", "say four");
    DRIVEN("bob", "say right");
    lua_case_run("two and two");
    lua_case_check("right");
    CHECK_CONTAINS(driven_request("bob", 0), "user: check four\n");
    lua_case_close();
}

// --- The team's ---

static void test_lua__hooks_of_the_team_are_around_those_of_agents(void)
{
    lua_case_open("hooks: {create: ./hooks.lua, next: ./hooks.lua}\n"
                  "agents:\n"
                  "  alice: {model: driven/test, hooks: {next: ./hooks.lua}}\n",
                  "function create(ctx) ctx.set_state('seen', ctx.agent) end\n"
                  "function next(ctx)\n"
                  "  return {output = ctx.output .. '+' .. ctx.state.seen}\n"
                  "end");
    DRIVEN("alice", "say a");
    lua_case_run("hi");
    lua_case_check("a+alice+alice");
    lua_case_close();
}

static void test_lua__nothing_is_kept_from_one_call_to_the_next(void)
{
    lua_case_open_alice("before_model", "n = 0\n"
                                        "function before_model(ctx)\n"
                                        "  n = n + 1\n"
                                        "  return {add = 'n=' .. n}\n"
                                        "end");
    DRIVEN("alice", "call echo {}", "say done");
    lua_case_run("hi");
    lua_case_check("done");
    CHECK_CONTAINS(driven_request("alice", 0), "user: n=1\n");
    CHECK_CONTAINS(driven_request("alice", 1), "user: n=1\n");
    lua_case_close();
}

// --- Operations without agents ---

static void test_lua__state_is_set_and_read_again(void)
{
    lua_case_open_alice("create",
                        "function create(ctx)\n"
                        "  ctx.set_state('notes', 'second')\n"
                        "  ctx.set_state('map', {a = {1, 2}})\n"
                        "  return {output = table.concat(ctx.state.notes, ' ') ..\n"
                        "          #ctx.state.map.a}\n"
                        "end");
    lua_case_run("hi");
    lua_case_check("first second2");
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_STATE_DELTA),
               "alice: notes \"second\"\nalice: map {\"a\":[1,2]}\n");
    lua_case_close();
}

static void test_lua__time_and_chance_are_numbers_of_the_record(void)
{
    lua_case_check_value(
        "math.type(ctx.now()) == 'integer' and ctx.now() > 1700000000000", "true");
    lua_case_check_value("(function() local x = ctx.random()\n"
                         " return x >= 0 and x < 1 end)()",
                         "true");
    lua_case_check_value(
        "(function() for i = 1, 50 do local x = ctx.random(3)\n"
        " if math.type(x) ~= 'integer' or x < 1 or x > 3 then return i end\n"
        " end return 'all' end)()",
        "all");
    lua_case_check_mistake(
        "ctx.random(0)",
        "./hooks.lua:2: bad argument #1 to 'random' (must be at least 1)");
}

// --- Failing ---

static void test_lua__an_error_fails_the_frame_with_file_and_line(void)
{
    lua_case_check_mistake("error('not today')", "./hooks.lua:2: not today");
    lua_case_check_mistake("\n\n return ctx.text .. 'x'",
                           "./hooks.lua:4: attempt to concatenate a nil value (field "
                           "'text')");
    lua_case_check_mistake("error({})", "./hooks.lua:2: error() was given a table");
}

static void test_lua__mistakes_in_ctx_are_told(void)
{
    lua_case_check_mistake(
        "return ctx.outputs",
        "./hooks.lua:2: ctx has no 'outputs'; did you mean 'output'?");
    lua_case_check_mistake("ctx.input = 'x'", "./hooks.lua:2: ctx cannot be changed; "
                                              "return what is to be changed");
    lua_case_check_mistake("ctx.state.notes[1] = 'x'",
                           "./hooks.lua:2: what a script reads cannot be changed");
    lua_case_check_mistake("ctx.set_state('Bad Key', 1)",
                           "./hooks.lua:2: 'alice': state key 'Bad Key': a name is "
                           "[a-z][a-z0-9_]*, at most 64 long");
    lua_case_check_mistake(
        "ctx.set_state('notes')",
        "./hooks.lua:2: bad argument #2 to 'set_state' (value expected)");
}

static void test_lua__what_it_returns_is_checked(void)
{
    lua_case_check_mistake("return 'x'",
                           "./hooks.lua: create must return nothing, or a "
                           "table with names, not a string");
    lua_case_check_mistake("return {'x'}",
                           "./hooks.lua: create must return nothing, or a "
                           "table with names, not a list");
    lua_case_check_mistake(
        "return {outptu = 'x'}",
        "./hooks.lua: what it returned: unknown key 'outptu'; did you "
        "mean 'output'? (known: output, transfer, done)");
    lua_case_check_mistake(
        "return {output = 7}",
        "./hooks.lua: what it returned: 'output' must be a text, got 7");
    lua_case_check_mistake("return {output = 'x', done = true}",
                           "./hooks.lua: what it returned: only one of 'output', "
                           "'transfer' and 'done'");
    lua_case_check_mistake("return {transfer = {agent = 'bobb'}}",
                           "./hooks.lua: what it returned: a transfer: unknown agent "
                           "'bobb'; did you mean 'bob'? (known: alice, bob, carol)");
    lua_case_check_mistake(
        "return {transfer = {agent = 'bob'}}",
        "./hooks.lua: what it returned: agent 'alice': a transfer needs "
        "the scope of a topology");
    lua_case_check_mistake("return {output = ctx.call}",
                           "./hooks.lua: a function is no JSON");
    lua_case_check_mistake(
        "return {done = true}",
        "it returned CADRE_DONE and has neither answered nor handed over");
}

static void check_hook_mistake(const char *name, const char *returned, const char *text)
{
    char hooks[200];
    snprintf(hooks, sizeof hooks, "function %s(ctx) return %s end", name, returned);
    lua_case_open_alice(name, hooks);
    DRIVEN("alice", "call echo {}", "say done");
    lua_case_run("hi");
    lua_case_check_failure(name, text);
    lua_case_close();
}

static void test_lua__each_hook_has_keys_of_its_own(void)
{
    check_hook_mistake(
        "before_model", "{text = 'x'}",
        "./hooks.lua: what it returned: unknown key 'text' (known: system, "
        "add, answer)");
    check_hook_mistake(
        "before_model", "{add = {1}}",
        "./hooks.lua: what it returned: 'add' must be a text, or a list of "
        "texts");
    check_hook_mistake(
        "after_model", "{answer = 'x'}",
        "./hooks.lua: what it returned: unknown key 'answer' (known: text)");
    check_hook_mistake("before_tool", "{arguments = 'x'}",
                       "./hooks.lua: what it returned: 'echo': "
                       "cadre_tool_hook_set_arguments needs an object");
    check_hook_mistake(
        "before_tool", "{result = 'x', blocked = 'y'}",
        "./hooks.lua: what it returned: only one of 'result' and 'blocked'");
    check_hook_mistake(
        "after_tool", "{code = 'x'}",
        "./hooks.lua: what it returned: unknown key 'code' (known: result)");
    check_hook_mistake(
        "next", "{done = true}",
        "./hooks.lua: what it returned: unknown key 'done' (known: output, "
        "transfer)");
}

static void test_lua__a_function_that_is_gone_is_told(void)
{
    lua_case_open_alice("create", "function create() end\ncreate = nil");
    lua_case_run("hi");
    lua_case_check_failure("create", "./hooks.lua: it defines no function 'create'");
    lua_case_close();
}

static void test_lua__a_hook_that_runs_for_ever_is_cut(void)
{
    lua_case_check_mistake("while true do end",
                           "./hooks.lua:2: it takes more than 10 million steps");
    lua_case_check_mistake(
        "local x = {} for i = 1, 1e6 do x[i] = ctx.input .. i end",
        "./hooks.lua: it needs more than 1024 KiB of memory, and 4 times "
        "what the values take");
}

// A mebibyte is held, of 256 KiB of state; by itself a script has one in all.
static void test_lua__what_is_read_counts_for_its_memory(void)
{
    lua_case_open_alice("create next",
                        "function create(ctx)\n"
                        "  local text = 'x'\n"
                        "  for i = 1, 18 do text = text .. text end\n"
                        "  ctx.set_state('a', text)\n"
                        "end\n"
                        "function next(ctx)\n"
                        "  local copies, n = {}, 0\n"
                        "  for i = 1, 4 do copies[i] = ctx.state.a .. i end\n"
                        "  for i = 1, 4 do n = n + #copies[i] end\n"
                        "  return {output = tostring(n)}\n"
                        "end");
    DRIVEN("alice", "say ok");
    lua_case_run("hi");
    lua_case_check("1048580");
    lua_case_close();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_lua__create_answers_without_a_model),
    CHECK_TEST(test_lua__create_that_returns_nothing_lets_the_agent_run),
    CHECK_TEST(test_lua__ctx_has_what_the_frame_has),
    CHECK_TEST(test_lua__a_transfer_hands_over_before_a_model_is_asked),
    CHECK_TEST(test_lua__messages_of_a_transfer_are_one_turn),
    CHECK_TEST(test_lua__a_transfer_without_an_edge_is_refused),
    CHECK_TEST(test_lua__before_model_changes_the_request),
    CHECK_TEST(test_lua__before_model_answers_in_place_of_the_model),
    CHECK_TEST(test_lua__after_model_reads_and_replaces_the_text),
    CHECK_TEST(test_lua__before_tool_changes_answers_or_blocks_a_call),
    CHECK_TEST(test_lua__after_tool_reads_and_replaces_the_result),
    CHECK_TEST(test_lua__tools_of_one_turn_do_not_see_each_other),
    CHECK_TEST(test_lua__next_changes_the_answer),
    CHECK_TEST(test_lua__next_hands_over_after_an_answer),
    CHECK_TEST(test_lua__hooks_of_the_team_are_around_those_of_agents),
    CHECK_TEST(test_lua__nothing_is_kept_from_one_call_to_the_next),
    CHECK_TEST(test_lua__state_is_set_and_read_again),
    CHECK_TEST(test_lua__time_and_chance_are_numbers_of_the_record),
    CHECK_TEST(test_lua__an_error_fails_the_frame_with_file_and_line),
    CHECK_TEST(test_lua__mistakes_in_ctx_are_told),
    CHECK_TEST(test_lua__what_it_returns_is_checked),
    CHECK_TEST(test_lua__each_hook_has_keys_of_its_own),
    CHECK_TEST(test_lua__a_function_that_is_gone_is_told),
    CHECK_TEST(test_lua__a_hook_that_runs_for_ever_is_cut),
    CHECK_TEST(test_lua__what_is_read_counts_for_its_memory),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/lua_hooks", tests);
}
