// Hooks in Lua that call agents, listen to them, ask people, and are stopped.
#include "support/check.h"
#include "support/lua_case.h"
#include "support/written_team.h"

#include "cadre/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static team_case *const t = &lua_team;

static void open_create(const char *body)
{
    char hooks[1500];
    snprintf(hooks, sizeof hooks, "function create(ctx)\n%s\nend", body);
    lua_case_open_alice("create", hooks);
}

static void run_and_check(const char *answer)
{
    lua_case_run("hello");
    lua_case_check(answer);
    lua_case_close();
}

// --- One ---

static void test_lua_calls__give_text_status_and_who_answered(void)
{
    open_create(
        "  local r = ctx.call{agent = 'bob', input = 'ping'}\n"
        "  return {output = r.text .. ' ' .. r.status .. ' ' .. r.agent .. ' ' ..\n"
        "          tostring(r.error)}");
    DRIVEN("bob", "say pong");
    lua_case_run("hello");
    lua_case_check("pong completed bob nil");
    CHECK_TEXT(driven_request("bob", 0), "user: ping\n");
    char *frames = team_case_frames(t);
    CHECK_TEXT(frames, "agent alice root completed final\n"
                       "  agent bob create/1 completed final\n"
                       "    model driven/test 1 completed final\n");
    free(frames);
    lua_case_close();
}

static void test_lua_calls__that_fail_are_outcomes(void)
{
    open_create("  local r = ctx.call{agent = 'bob', input = 'ping'}\n"
                "  return {output = r.status .. ': ' .. r.error}");
    DRIVEN("bob", "fail auth no");
    run_and_check("failed: agent 'bob': model 'driven/test': no");
}

static void test_lua_calls__take_tables_histories_and_times(void)
{
    open_create(
        "  ctx.call{agent = 'bob', input = {n = 1, list = {2, 3}}, quiet = true}\n"
        "  ctx.call{agent = 'bob', history = 'all', input = 'b', timeout = '5m'}\n"
        "  return {output = 'ok'}");
    DRIVEN("bob", "say one", "say two");
    lua_case_run("hello");
    lua_case_check("ok");
    CHECK_TEXT(driven_request("bob", 0), "user: {\"list\":[2,3],\"n\":1}\n");
    CHECK_TEXT(driven_request("bob", 1), "user: hello\nuser: b\n");
    CHECK_LACKS(recorder_text(&t->recorder, CADRE_EVENT_MESSAGE_END), "one");
    CHECK_CONTAINS(recorder_text(&t->recorder, CADRE_EVENT_MESSAGE_END), "two");
    lua_case_close();
}

static void test_lua_calls__written_wrongly_are_told_with_their_line(void)
{
    lua_case_check_mistake("ctx.call{agnet = 'bob'}",
                           "./hooks.lua:2: a call: unknown key 'agnet'; did you mean "
                           "'agent'? (known: agent, input, history, timeout, budget, "
                           "quiet)");
    lua_case_check_mistake("ctx.call{input = 'x'}",
                           "./hooks.lua:2: a call: 'agent' is missing: whom to call");
    lua_case_check_mistake("ctx.call{agent = 'rob'}",
                           "./hooks.lua:2: a call: unknown agent 'rob'; did you mean "
                           "'bob'? (known: alice, bob, carol)");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', history = 'own'}",
        "./hooks.lua:2: a call: unknown history 'own' (known: all, none)");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', timeout = '10'}",
        "./hooks.lua:2: a call: 'timeout': expected a duration such as "
        "250ms, 10s, 5m or 2h, got '10'; add a unit, such as '10s'");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', timeout = '0'}",
        "./hooks.lua:2: a call: 'timeout': write a duration above 0, or leave it out; "
        "got '0'");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', budget = 5}",
        "./hooks.lua:2: a call: 'budget' must be a table: {max_cost = 0.50, "
        "max_tokens = 20000, max_time = '1m'}");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', budget = {max_token = 5}}",
        "./hooks.lua:2: a call: 'budget': unknown key 'max_token'; did you mean "
        "'max_tokens'? (known: max_cost, max_tokens, max_time)");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', budget = {max_tokens = 0.5}}",
        "./hooks.lua:2: a call: 'budget': 'max_tokens' must be a whole number from 1 "
        "to 1000000000000, got 0.5");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', budget = {max_cost = 0}}",
        "./hooks.lua:2: a call: 'budget': 'max_cost': write dollars above 0, or leave "
        "it out; got 0");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', budget = {max_cost = -1}}",
        "./hooks.lua:2: a call: 'budget': 'max_cost': expected dollars from 0 to "
        "1000000000, got -1");
    lua_case_check_mistake(
        "ctx.all{{agent = 'bob', budget = {max_time = 5}}}",
        "./hooks.lua:2: call 1: a call: 'budget': 'max_time' must be a text, got 5");
    lua_case_check_mistake(
        "ctx.call{agent = 'bob', on_event = 1}",
        "./hooks.lua:2: bad argument #1 to 'call' (on_event must be a "
        "function)");
    lua_case_check_mistake("ctx:call{agent = 'bob'}",
                           "./hooks.lua:2: write ctx.call{...}, with a dot");
    lua_case_check_mistake(
        "ctx.all{agent = 'bob'}",
        "./hooks.lua:2: it takes a list of calls: {{agent = \"...\"}, "
        "...}");
    lua_case_check_mistake(
        "ctx.all{{agent = 'bob'}, {agent = 'rob'}}",
        "./hooks.lua:2: call 2: a call: unknown agent 'rob'; did you "
        "mean 'bob'? (known: alice, bob, carol)");
}

static void test_lua_calls__delegate_answers_in_the_same_conversation(void)
{
    open_create("  local r = ctx.delegate{agent = 'bob'}\n"
                "  if r.text == 'mine' then return {done = true} end");
    DRIVEN("bob", "say mine");
    lua_case_run("hello");
    lua_case_check("mine");
    CHECK_TEXT(t->result->agent, "bob");
    CHECK_TEXT(driven_request("bob", 0), "user: hello\n");
    lua_case_close();
}

// --- Several ---

static void test_lua_calls__all_gives_outcomes_in_order(void)
{
    open_create("  local r = ctx.all{{agent = 'bob', input = '1'},\n"
                "                    {agent = 'carol', input = '2'}}\n"
                "  return {output = #r .. r[1].text .. r[2].status .. r[2].error ..\n"
                "          tostring(r.winner)}");
    DRIVEN("bob", "say b");
    DRIVEN("carol", "fail auth no");
    run_and_check("2bfailedagent 'carol': model 'driven/test': nonil");
}

static void test_lua_calls__of_none_give_none(void)
{
    open_create("  return {output = #ctx.all{} .. #ctx.any{} .. #ctx.race{}}");
    run_and_check("000");
}

static void test_lua_calls__any_gives_the_first_success(void)
{
    open_create("  local r = ctx.any{{agent = 'bob'}, {agent = 'carol'}}\n"
                "  return {output = r.winner .. r[r.winner].text .. r[1].status}");
    DRIVEN("bob", "fail auth no");
    DRIVEN("carol", "gate\nsay c");
    if (team_case_start(t, CADRE_RUN(.input = "hello")) != NULL) {
        CHECK(written_team_read_until(t, CADRE_EVENT_FRAME_END, "bob", 1));
        driven_release();
        team_case_finish(t);
        lua_case_check("2cfailed");
    }
    lua_case_close();
}

static void test_lua_calls__race_gives_the_first_ending_and_stops_the_others(void)
{
    open_create("  local r = ctx.race{{agent = 'bob'}, {agent = 'carol'}}\n"
                "  return {output = r.winner .. r[2].text .. r[1].status}");
    DRIVEN("bob", "hold");
    DRIVEN("carol", "say c");
    run_and_check("2caborted");
}

static void test_lua_calls__any_without_a_success_has_no_winner(void)
{
    open_create("  local r = ctx.any{{agent = 'bob'}, {agent = 'carol'}}\n"
                "  return {output = tostring(r.winner) .. r[1].error .. r[2].error}");
    DRIVEN("bob", "fail auth b");
    DRIVEN("carol", "fail auth c");
    run_and_check(
        "nilagent 'bob': model 'driven/test': bagent 'carol': model 'driven/test': c");
}

// Each of them waits inside Lua for another one.
static void test_lua_calls__one_file_serves_many_at_once(void)
{
    lua_case_open("agents:\n"
                  "  alice: {model: driven/test, hooks: {create: ./hooks.lua}}\n"
                  "  bob: {model: driven/test, hooks: {create: ./hooks.lua}}\n"
                  "  carol: {model: driven/test}\n",
                  "function create(ctx)\n"
                  "  if ctx.agent == 'bob' then\n"
                  "    local r = ctx.call{agent = 'carol', input = ctx.input}\n"
                  "    return {output = ctx.input .. r.text}\n"
                  "  end\n"
                  "  local calls, texts = {}, {}\n"
                  "  for i = 1, 20 do calls[i] = {agent = 'bob', input = '' .. i} end\n"
                  "  for i, r in ipairs(ctx.all(calls)) do texts[i] = r.text end\n"
                  "  return {output = table.concat(texts, ' ')}\n"
                  "end");
    DRIVEN("carol", "always\nsay c");
    run_and_check(
        "1c 2c 3c 4c 5c 6c 7c 8c 9c 10c 11c 12c 13c 14c 15c 16c 17c 18c 19c 20c");
}

// The limit on depth ends it, not the stack.
static void test_lua_calls__of_itself_end_at_the_limit_on_depth(void)
{
    open_create("  local r = ctx.call{agent = 'alice'}\n"
                "  return {output = r.error or r.text}");
    lua_case_run("hello");
    CHECK_OK(t->status, &t->err);
    CHECK_CONTAINS(t->result->text, "calls are nested deeper than max_depth 32");
    lua_case_close();
}

// --- Listening ---

static void test_lua_calls__a_listener_hears_events_of_the_callee(void)
{
    open_create("  local heard = {}\n"
                "  ctx.call{agent = 'bob', on_event = function(event)\n"
                "    heard[#heard + 1] = event.type .. event.index .. event.callee\n"
                "    if event.type == 'message_end' then\n"
                "      heard[#heard + 1] = event.role .. '=' .. event.text\n"
                "    end\n"
                "  end}\n"
                "  return {output = table.concat(heard, ' ')}");
    DRIVEN("bob", "say a\nsay b");
    lua_case_run("hello");
    CHECK_OK(t->status, &t->err);
    CHECK_CONTAINS(t->result->text, "frame_start1bob ");
    CHECK_CONTAINS(t->result->text, "message_end1bob assistant=ab ");
    CHECK_CONTAINS(t->result->text, " frame_end1bob");
    lua_case_close();
}

static void test_lua_calls__a_listener_may_stop_one_or_many(void)
{
    open_create("  local function stop(event) return event.type ~= 'text_delta' end\n"
                "  local one = ctx.call{agent = 'bob', on_event = stop}\n"
                "  local two = ctx.all{{agent = 'carol'}, {agent = 'bob'},\n"
                "                      on_event = function(event)\n"
                "    return not (event.type == 'text_delta' and event.index == 1)\n"
                "  end}\n"
                "  return {output = one.status .. two[1].status .. two[2].status}");
    DRIVEN("bob", "say a\nhold", "hold");
    DRIVEN("carol", "say a\nhold");
    run_and_check("abortedabortedaborted");
}

static void test_lua_calls__a_listener_may_call_others(void)
{
    open_create("  local extra\n"
                "  local r = ctx.call{agent = 'bob', on_event = function(event)\n"
                "    if event.type == 'message_end' and not extra then\n"
                "      extra = ctx.call{agent = 'carol', input = event.text}.text\n"
                "    end\n"
                "  end}\n"
                "  return {output = r.text .. extra}");
    DRIVEN("bob", "say b");
    DRIVEN("carol", "say c");
    lua_case_run("hello");
    lua_case_check("bc");
    CHECK_TEXT(driven_request("carol", 0), "user: b\n");
    lua_case_close();
}

static void test_lua_calls__a_listener_that_fails_ends_the_hook(void)
{
    static const char *const statements[] = {
        "error('heard ' .. event.type)",
        "ctx.call{agent = 'rob'}",
        "while true do end",
        "local x = {} for i = 1, 1e6 do x[i] = event.type .. i end",
    };
    static const char *const texts[] = {
        "./hooks.lua:3: heard frame_start",
        "./hooks.lua:3: a call: unknown agent 'rob'; did you mean 'bob'? (known: "
        "alice, "
        "bob, carol)",
        "./hooks.lua:3: it takes more than 10 million steps",
        "./hooks.lua: it needs more than 1024 KiB of memory, and 4 times what the "
        "values "
        "take",
    };
    for (size_t i = 0; i < 4; i++) {
        char body[200];
        snprintf(body, sizeof body,
                 "  ctx.call{agent = 'bob', on_event = function(event)\n%s end}\n"
                 "  ctx.call{agent = 'carol'}",
                 statements[i]);
        open_create(body);
        DRIVEN("bob", "say b\nhold");
        DRIVEN("carol", "say c");
        lua_case_run("hello");
        lua_case_check_failure("create", texts[i]);
        CHECK_INT(driven_count("carol"), 0);
        lua_case_close();
    }
}

// --- From other hooks ---

static void test_lua_calls__work_in_hooks_of_models_and_tools(void)
{
    lua_case_open_alice(
        "before_model after_tool next",
        "function before_model(ctx)\n"
        "  return {add = ctx.call{agent = 'bob', input = 'm' .. ctx.turn}.text}\n"
        "end\n"
        "function after_tool(ctx)\n"
        "  return {result = ctx.call{agent = 'carol', input = ctx.result}.text}\n"
        "end\n"
        "function next(ctx)\n"
        "  local r = ctx.all{{agent = 'bob', input = ctx.output}, {agent = 'carol'}}\n"
        "  return {output = r[1].text .. r[2].text}\n"
        "end");
    DRIVEN("alice", "call echo {\"x\":1}", "say done");
    DRIVEN("bob", "say b1", "say b2", "say b3");
    DRIVEN("carol", "say c1", "say c2");
    lua_case_run("hi");
    lua_case_check("b3c2");
    CHECK_TEXT(driven_request("alice", 0), "user: hi\nuser: b1\n");
    CHECK_TEXT(driven_request("carol", 0), "user: {\"x\":1}\n");
    CHECK_TEXT(driven_request("bob", 2), "user: done\n");
    lua_case_close();
}

static void test_lua_calls__delegate_is_for_create_and_next(void)
{
    lua_case_open_alice("before_model", "function before_model(ctx)\n"
                                        "  ctx.delegate{agent = 'bob'}\n"
                                        "end");
    lua_case_run("hi");
    lua_case_check_failure("before_model",
                           "./hooks.lua:2: ctx.delegate is for create and next");
    lua_case_close();
}

// --- People ---

static void answer(const char *text)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run *run = NULL;
    char trace[64];
    json_t *value = json_string(text);
    snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t->run));
    CHECK_OK(cadre_trace_answer(t->runtime, trace, NULL, value, &err), &err);
    json_decref(value);
    if (!CHECK_OK(cadre_run_resume(t->team, trace, NULL, &run, &err), &err))
        return;
    cadre_run_free(t->run);
    recorder_fini(&t->recorder);
    t->run = run;
    cadre_error_clear(&t->err);
    team_case_finish(t);
}

static void test_lua_calls__a_question_parks_and_goes_on_with_its_answer(void)
{
    open_create("  local before = ctx.call{agent = 'bob'}.text\n"
                "  local yes = ctx.ask('Go on?', {'yes', 'no'})\n"
                "  local name = ctx.ask('Name?')\n"
                "  return {output = before .. yes .. name}");
    DRIVEN("bob", "say b");
    lua_case_run("hello");
    CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
    CHECK_TEXT(recorder_text(&t->recorder, CADRE_EVENT_INTERRUPT),
               "alice: Go on? [\"yes\",\"no\"]\n");
    answer("yes");
    CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
    answer("Ada");
    lua_case_check("byesAda");
    CHECK_INT(driven_count("bob"), 1);
    lua_case_close();
}

static void test_lua_calls__a_question_of_a_callee_parks_through_lua(void)
{
    lua_case_open("agents:\n"
                  "  alice: {model: driven/test, hooks: {create: ./hooks.lua}}\n"
                  "  bob: {model: driven/test, hooks: {before_model: ./hooks.lua}}\n"
                  "  carol: {model: driven/test}\n",
                  "function create(ctx)\n"
                  "  local r = ctx.all{{agent = 'carol'}, {agent = 'bob'},\n"
                  "                    on_event = function() end}\n"
                  "  return {output = r[1].text .. r[2].text}\n"
                  "end\n"
                  "function before_model(ctx)\n"
                  "  return {answer = ctx.ask('Which?')}\n"
                  "end");
    DRIVEN("carol", "say c");
    lua_case_run("hello");
    CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
    answer("this");
    lua_case_check("cthis");
    CHECK_INT(driven_count("carol"), 1);
    lua_case_close();
}

// Bob waits inside alice's first call when the hook of her second one fails: his own
// call has its result all the same, which team_case_finish looks for.
static void test_lua_calls__a_call_that_waits_below_who_fails_has_a_result(void)
{
    lua_case_open("tools: {ask: {type: ask}}\n"
                  "agents:\n"
                  "  desk: {type: coordinator, members: [alice, bob, carol]}\n"
                  "  alice: {model: driven/test, hooks: {after_tool: ./hooks.lua}}\n"
                  "  bob: {model: driven/test, tools: [ask]}\n"
                  "  carol: {model: driven/test}\n",
                  "function after_tool(ctx)\n"
                  "  if ctx.tool == 'carol' then error('no') end\n"
                  "end");
    DRIVEN("alice", "call bob {\"request\":\"a\"}\ncall carol {\"request\":\"b\"}");
    DRIVEN("bob", "call ask {\"question\":\"Which?\"}");
    DRIVEN("carol", "say c");
    lua_case_run("hello");
    CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
    CHECK_CONTAINS(recorder_text(&t->recorder, CADRE_EVENT_TOOL_RESULT),
                   "bob: ask aborted aborted\n");
    lua_case_close();
}

// --- Stopped ---

static void test_lua_calls__a_stop_goes_through_lua_as_it_is(void)
{
    open_create("  ctx.call{agent = 'bob'}\n"
                "  return {output = 'never'}");
    DRIVEN("bob", "hold");
    cadre_run *run = team_case_start(t, CADRE_RUN(.input = "hello"));
    if (run != NULL && CHECK(driven_await_held(1))) {
        cadre_run_cancel(run, "enough");
        team_case_finish(t);
        CHECK_STATUS(t->status, CADRE_EABORTED, &t->err);
        CHECK_INT(t->result->status, CADRE_FRAME_ABORTED);
    }
    lua_case_close();
}

static void test_lua_calls__a_timeout_of_a_call_is_an_outcome(void)
{
    open_create("  local r = ctx.call{agent = 'bob', timeout = '30ms'}\n"
                "  return {output = r.status}");
    DRIVEN("bob", "hold");
    run_and_check("timeout");
}

// Each call has its own; what is over ends that call alone.
static void test_lua_calls__a_budget_of_a_call_ends_it(void)
{
    open_create("  local r = ctx.all{\n"
                "    {agent = 'bob', input = 'b', budget = {max_tokens = 2e4}},\n"
                "    {agent = 'carol', input = 'c', budget = {max_tokens = 1}}}\n"
                "  local late = ctx.delegate{agent = 'bob', budget = {max_time = "
                "'30ms'}}\n"
                "  return {output = r[1].status .. ' ' .. r[2].stop_reason .. ': ' ..\n"
                "          r[2].error .. ' ' .. late.stop_reason}");
    DRIVEN("bob", "say b", "hold");
    lua_case_run("hello");
    lua_case_check("completed budget: agent 'carol': the call's budget.max_tokens of 1 "
                   "is used up: 0 are used, and the next call takes 3 or more budget");
    CHECK_INT(driven_count("carol"), 0);
    lua_case_close();
}

static void test_lua_calls__an_escalation_in_create_is_passed_on(void)
{
    lua_case_open(
        "tools: {up: {type: escalate}}\n"
        "agents:\n"
        "  loop: {type: cycle, members: [alice], cycle: {max_iterations: 3}}\n"
        "  alice: {model: driven/test, hooks: {create: ./hooks.lua}}\n"
        "  bob: {model: driven/test, tools: [up]}\n",
        "function create(ctx) ctx.delegate{agent = 'bob'} end");
    DRIVEN("bob", "say enough\ncall escalate {}");
    lua_case_run("hello");
    lua_case_check("enough");
    CHECK_INT(driven_count("alice"), 0);
    lua_case_close();
}

// --- Memory ---

static void test_lua_calls__a_long_answer_may_be_held_and_changed(void)
{
    static char reply[(1 << 20) + 10] = "say ";
    open_create("  local r = ctx.call{agent = 'bob'}\n"
                "  return {output = tostring(#(r.text .. r.text:upper()))}");
    memset(reply + 4, 'x', 1 << 20);
    driven_add("bob", (const char *const[]){reply}, 1);
    run_and_check("2097152");
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_lua_calls__give_text_status_and_who_answered),
    CHECK_TEST(test_lua_calls__that_fail_are_outcomes),
    CHECK_TEST(test_lua_calls__take_tables_histories_and_times),
    CHECK_TEST(test_lua_calls__written_wrongly_are_told_with_their_line),
    CHECK_TEST(test_lua_calls__delegate_answers_in_the_same_conversation),
    CHECK_TEST(test_lua_calls__all_gives_outcomes_in_order),
    CHECK_TEST(test_lua_calls__of_none_give_none),
    CHECK_TEST(test_lua_calls__any_gives_the_first_success),
    CHECK_TEST(test_lua_calls__race_gives_the_first_ending_and_stops_the_others),
    CHECK_TEST(test_lua_calls__any_without_a_success_has_no_winner),
    CHECK_TEST(test_lua_calls__one_file_serves_many_at_once),
    CHECK_TEST(test_lua_calls__of_itself_end_at_the_limit_on_depth),
    CHECK_TEST(test_lua_calls__a_listener_hears_events_of_the_callee),
    CHECK_TEST(test_lua_calls__a_listener_may_stop_one_or_many),
    CHECK_TEST(test_lua_calls__a_listener_may_call_others),
    CHECK_TEST(test_lua_calls__a_listener_that_fails_ends_the_hook),
    CHECK_TEST(test_lua_calls__work_in_hooks_of_models_and_tools),
    CHECK_TEST(test_lua_calls__delegate_is_for_create_and_next),
    CHECK_TEST(test_lua_calls__a_question_parks_and_goes_on_with_its_answer),
    CHECK_TEST(test_lua_calls__a_question_of_a_callee_parks_through_lua),
    CHECK_TEST(test_lua_calls__a_call_that_waits_below_who_fails_has_a_result),
    CHECK_TEST(test_lua_calls__a_stop_goes_through_lua_as_it_is),
    CHECK_TEST(test_lua_calls__a_timeout_of_a_call_is_an_outcome),
    CHECK_TEST(test_lua_calls__a_budget_of_a_call_ends_it),
    CHECK_TEST(test_lua_calls__an_escalation_in_create_is_passed_on),
    CHECK_TEST(test_lua_calls__a_long_answer_may_be_held_and_changed),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/lua_calls", tests);
}
