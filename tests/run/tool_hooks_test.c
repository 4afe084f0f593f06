// Hooks in C around the calls of tools.
#include "support/check.h"
#include "support/hook_probe.h"

#include <string.h>

static team_case t;
static adder adds;

static const char *tool_results(void)
{
    return recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT);
}

// --- Tools ---

static cadre_status add_ten(cadre_frame *frame, cadre_tool_hook *call, cadre_error *err)
{
    json_int_t a = json_integer_value(json_object_get(call->arguments, "a"));
    (void)frame;
    json_t *changed = json_pack("{s:I, s:i}", "a", a + 10, "b", 0);
    cadre_status status = cadre_tool_hook_set_arguments(call, changed, err);
    json_decref(changed);
    return status;
}

static void test_before_tool__gives_other_arguments(void)
{
    static const hook_probe p = {.name = "own", .before_tool = add_ten};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    CHECK_TEXT(tool_results(), "alice: add ok 11\n");
    hook_probe_close(&t);
}

static cadre_status give_wrong_arguments(cadre_frame *frame, cadre_tool_hook *call,
                                         cadre_error *err)
{
    (void)frame;
    json_t *changed = json_pack("{s:i}", "a", 1);
    cadre_status status = cadre_tool_hook_set_arguments(call, changed, err);
    json_decref(changed);
    CHECK_STATUS(status, CADRE_EINVAL, NULL);
    return status;
}

static void test_before_tool__gives_no_arguments_that_the_tool_refuses(void)
{
    static const hook_probe p = {.name = "own", .before_tool = give_wrong_arguments};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}");
    team_case_run(&t, "hi");
    hook_probe_check_failure(
        &t, CADRE_CLASS_HOOK,
        "agent 'alice': hook before_tool: 'add': cadre_tool_hook_set_arguments: "
        "missing property 'b'");
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    hook_probe_close(&t);
}

static cadre_status know_the_result(cadre_frame *frame, cadre_tool_hook *call,
                                    cadre_error *err)
{
    (void)frame;
    return cadre_tool_hook_set_result(call, "three, I know", err);
}

static void test_before_tool__gives_the_result_in_the_tools_place(void)
{
    static const hook_probe first = {.name = "team", .before_tool = know_the_result};
    static const hook_probe second = {
        .name = "own", .before_tool = hook_pass_tool, .after_tool = hook_pass_tool};
    hook_probe_open_alice(&t, &adds, &second);
    cadre_team_set_hooks(t.team, hook_probe_hooks(&first));
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    CHECK_TEXT(tool_results(), "alice: add ok three, I know\n");
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    hook_probe_check_log("team before_tool alice add\nown after_tool alice ok\n");
    hook_probe_close(&t);
}

static cadre_status block(cadre_frame *frame, cadre_tool_hook *call, cadre_error *err)
{
    (void)frame;
    return cadre_tool_hook_block(call, "not on Mondays", err);
}

static void test_before_tool__blocks_a_call(void)
{
    static const hook_probe p = {.name = "own", .before_tool = block};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    CHECK_TEXT(tool_results(), "alice: add blocked not on Mondays\n");
    CHECK_CONTAINS(driven_request("alice", 1), ": not on Mondays\n");
    CHECK_INT(atomic_load(&adds.n_runs), 0);
    hook_probe_close(&t);
}

static cadre_status block_control(cadre_frame *frame, cadre_tool_hook *call,
                                  cadre_error *err)
{
    cadre_error ignored = CADRE_ERROR_INIT;
    if (!call->is_control)
        return CADRE_OK;
    CHECK_STATUS(cadre_tool_hook_set_result(call, "done", &ignored), CADRE_EINVAL,
                 &ignored);
    cadre_error_clear(&ignored);
    CHECK_STATUS(cadre_tool_hook_set_arguments(call, call->arguments, &ignored),
                 CADRE_EINVAL, &ignored);
    return block(frame, call, err);
}

static void test_before_tool__blocks_a_transfer(void)
{
    static const hook_probe p = {
        .name = "team", .before_tool = block_control, .after_tool = hook_pass_tool};
    hook_probe_open_desk(&t, &adds, &p);
    DRIVEN("alice", "to bob take it", "call bob {}", "say mine");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "mine");
    CHECK_TEXT(tool_results(), "alice: transfer_to_agent blocked not on Mondays\n"
                               "alice: bob blocked not on Mondays\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), "");
    hook_probe_check_log(
        "team before_tool alice transfer_to_agent\nteam before_tool alice bob\n");
    hook_probe_close(&t);
}

static void test_before_tool__is_not_asked_of_wrong_calls(void)
{
    static const hook_probe p = {
        .name = "own", .before_tool = hook_pass_tool, .after_tool = hook_pass_tool};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call nowhere {}\ncall add {\"a\":1}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    hook_probe_check_log("");
    hook_probe_close(&t);
}

static cadre_status number_result(cadre_frame *frame, cadre_tool_hook *call,
                                  cadre_error *err)
{
    CHECK_TEXT(call->name, "add");
    CHECK_INT(json_integer_value(json_object_get(call->arguments, "a")), 1);
    return cadre_tool_hook_set_result(
        call, cadre_frame_printf(frame, "about %s", call->result), err);
}

static void test_after_tool__replaces_the_results_text(void)
{
    static const hook_probe p = {.name = "own", .after_tool = number_result};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}\ncall add {\"a\":1,\"b\":5}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    CHECK_CONTAINS(tool_results(), "alice: add ok about 3\n");
    CHECK_CONTAINS(tool_results(), "alice: add ok about 6\n");
    const char *second = driven_request("alice", 1);
    CHECK(strstr(second, ": about 3\n") < strstr(second, ": about 6\n"));
    hook_probe_close(&t);
}

static cadre_status fail_to_add(void *ctx, cadre_frame *frame, const json_t *arguments,
                                cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)arguments;
    return cadre_fail(err, CADRE_EFAILED, "cannot add");
}

static void test_after_tool__leaves_the_code_as_it_is(void)
{
    static const hook_probe p = {.name = "own", .after_tool = know_the_result};
    hook_probe_open(&t);
    cadre_team_add_tool(t.team, CADRE_TOOL(.name = "add", .run = fail_to_add));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add"),
                                         .hooks = hook_probe_hooks(&p)));
    DRIVEN("alice", "call add {}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    CHECK_TEXT(tool_results(), "alice: add tool_error three, I know\n");
    hook_probe_check_log("own after_tool alice tool_error\n");
    hook_probe_close(&t);
}

static cadre_status step_in_tool(cadre_frame *frame, cadre_tool_hook *call,
                                 cadre_error *err)
{
    (void)call;
    return hook_take_step(frame, err);
}

static void test_tool_hooks__call_below_the_tools_frame(void)
{
    static const hook_probe p = {
        .name = "own", .before_tool = step_in_tool, .after_tool = step_in_tool};
    hook_probe_open_alice(&t, &adds, &p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say ok");
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "alice", "ok");
    hook_probe_check_frames(&t, "agent alice root completed final\n"
                                "  model driven/test 1 completed final\n"
                                "  tool add 1/0 completed final\n"
                                "    tool look before_tool/1 completed final\n"
                                "    tool result after_tool completed final\n"
                                "    tool look after_tool/1 completed final\n"
                                "  model driven/test 2 completed final\n");
    CHECK_INT(t.result->usage.tool_calls, 1);
    hook_probe_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_before_tool__gives_other_arguments),
    CHECK_TEST(test_before_tool__gives_no_arguments_that_the_tool_refuses),
    CHECK_TEST(test_before_tool__gives_the_result_in_the_tools_place),
    CHECK_TEST(test_before_tool__blocks_a_call),
    CHECK_TEST(test_before_tool__blocks_a_transfer),
    CHECK_TEST(test_before_tool__is_not_asked_of_wrong_calls),
    CHECK_TEST(test_after_tool__replaces_the_results_text),
    CHECK_TEST(test_after_tool__leaves_the_code_as_it_is),
    CHECK_TEST(test_tool_hooks__call_below_the_tools_frame),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/tool_hooks", tests);
}
