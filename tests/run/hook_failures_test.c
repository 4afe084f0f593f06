// Hooks that fail, that try what is not theirs to do, and that are stopped.
#include "support/check.h"
#include "support/hook_probe.h"

#include "cadre/ext/turn.h"
#include "team/team.h"

#include <semaphore.h>
#include <stdio.h>
#include <string.h>

static team_case t;
static adder adds;

static void open_alice(const hook_probe *own)
{
    hook_probe_open_alice(&t, &adds, own);
}

static void open_desk(const hook_probe *team)
{
    hook_probe_open_desk(&t, &adds, team);
}

static void close_team(void)
{
    hook_probe_close(&t);
}

static void run(void)
{
    team_case_run(&t, "hi");
}

static void check_failure(cadre_error_class error_class, const char *text)
{
    hook_probe_check_failure(&t, error_class, text);
}

static const char *tool_results(void)
{
    return recorder_text(&t.recorder, CADRE_EVENT_TOOL_RESULT);
}

static cadre_status refuse_to_work(cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    return cadre_fail(err, CADRE_EFAILED, "not today");
}

// --- Failing ---

static cadre_status fail_model(cadre_frame *frame, cadre_model_hook *call,
                               cadre_error *err)
{
    (void)call;
    return refuse_to_work(frame, err);
}

static cadre_status fail_tool(cadre_frame *frame, cadre_tool_hook *call,
                              cadre_error *err)
{
    (void)call;
    return refuse_to_work(frame, err);
}

static cadre_status fail_next(cadre_frame *frame, const cadre_outcome *answer,
                              cadre_error *err)
{
    (void)answer;
    return refuse_to_work(frame, err);
}

static void test_hooks__that_fail_fail_their_frame_and_are_named(void)
{
    static const hook_probe probes[] = {
        {.name = "create", .create = refuse_to_work},
        {.name = "before_model", .before_model = fail_model},
        {.name = "after_model", .after_model = fail_model},
        {.name = "before_tool", .before_tool = fail_tool},
        {.name = "after_tool", .after_tool = fail_tool},
        {.name = "next", .next = fail_next},
    };
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        char text[100];
        snprintf(text, sizeof text, "agent 'alice': hook %s: not today",
                 probes[i].name);
        open_alice(&probes[i]);
        DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say three");
        run();
        check_failure(CADRE_CLASS_HOOK, text);
        CHECK_TEXT(t.result->error.agent, "alice");
        CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_ERROR), 1);
        close_team();
    }
}

static cadre_status fail_with_class(cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    return cadre_fail_class(err, CADRE_EFAILED, CADRE_CLASS_QUOTA, true, "used up");
}

static void test_hooks__may_give_their_failure_a_class(void)
{
    static const hook_probe p = {.name = "own", .create = fail_with_class};
    open_alice(&p);
    run();
    check_failure(CADRE_CLASS_QUOTA, "agent 'alice': hook create: used up");
    CHECK(t.result->error.retryable);
    close_team();
}

static cadre_status fail_silently(cadre_frame *frame, cadre_model_hook *call,
                                  cadre_error *err)
{
    (void)frame;
    (void)call;
    (void)err;
    return CADRE_EBUSY;
}

static void test_hooks__that_do_not_say_why_are_told_of_by_status(void)
{
    static const hook_probe p = {.name = "own", .before_model = fail_silently};
    open_alice(&p);
    run();
    check_failure(CADRE_CLASS_HOOK, "agent 'alice': hook before_model: it returned "
                                    "'busy' without saying why");
    close_team();
}

// An agent that goes on after whatever its model call came to.
static cadre_status survive(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_answer answer;
    cadre_error ignored = CADRE_ERROR_INIT;
    const cadre_model_call call = {.struct_size = sizeof call,
                                   .model = t.team->models[0]};
    (void)ctx;
    CHECK_STATUS(cadre_frame_ask_model(frame, &call, &answer, &ignored), CADRE_EFAILED,
                 &ignored);
    return cadre_frame_set_output(frame, "all is well", err);
}

static void test_hooks__that_fail_are_not_survived_by_the_agent(void)
{
    static const hook_probe probes[] = {{.name = "own", .before_model = fail_model},
                                        {.name = "own", .after_model = fail_model}};
    for (int i = 0; i < 2; i++) {
        hook_probe_open(&t);
        cadre_team_add_function(t.team,
                                CADRE_FUNCTION(.name = "alice", .run = survive,
                                               .hooks = hook_probe_hooks(&probes[i])));
        cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
        cadre_team_set_root(t.team, "alice");
        DRIVEN("alice", "say hello");
        run();
        check_failure(CADRE_CLASS_HOOK,
                      i == 0 ? "agent 'alice': hook before_model: not today"
                             : "agent 'alice': hook after_model: not today");
        close_team();
    }
}

// Nor by another agent: a hook may have failed so that nobody answers.
static void test_hooks__that_fail_let_no_other_agent_answer(void)
{
    static const hook_probe probes[] = {{.name = "own", .before_model = fail_model},
                                        {.name = "own", .after_model = fail_model}};
    for (int i = 0; i < 2; i++) {
        hook_probe_open(&t);
        cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                             .loop_fallback = "bob",
                                             .hooks = hook_probe_hooks(&probes[i])));
        cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
        cadre_team_set_root(t.team, "alice");
        DRIVEN("alice", "say hello");
        run();
        CHECK_STATUS(t.status, CADRE_EFAILED, NULL);
        CHECK_CONTAINS(t.result->error.message, "model: not today");
        CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TRANSFER), "");
        CHECK_INT(driven_count("bob"), 0);
        close_team();
    }
}

static void test_after_tool__that_fails_tells_that_the_tool_ran(void)
{
    static const hook_probe p = {.name = "own", .after_tool = fail_tool};
    open_alice(&p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}");
    run();
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    CHECK_TEXT(tool_results(),
               "alice: add aborted This call was made, but the hook that "
               "looks at results failed.\n");
    close_team();
}

// One call's hook fails: the other call has its result all the same.
static cadre_status fail_second(cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err)
{
    if (json_integer_value(json_object_get(call->arguments, "a")) == 1)
        return CADRE_OK;
    return refuse_to_work(frame, err);
}

static void test_before_tool__that_fails_lets_the_turns_other_calls_end(void)
{
    static const hook_probe p = {.name = "own", .before_tool = fail_second};
    open_alice(&p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}\ncall add {\"a\":5,\"b\":5}");
    run();
    check_failure(CADRE_CLASS_HOOK, "agent 'alice': hook before_tool: not today");
    CHECK_CONTAINS(tool_results(), "alice: add ok 3\n");
    CHECK_CONTAINS(tool_results(),
                   "alice: add aborted Not done: the hook before it failed.\n");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    close_team();
}

// --- What hooks may not do ---

static cadre_status try_all(cadre_frame *frame, cadre_error *err)
{
    static const char *const keys[] = {"create/1",         "next/x",
                                       "before_model/1/1", "after_model/2",
                                       "before_tool/1",    "after_tool"};
    const char *trace = NULL;
    const cadre_agent *other = cadre_frame_members(frame).items[0];
    cadre_status status =
        cadre_frame_spawn(frame, CADRE_CALL(.agent = other), &trace, err);
    CHECK_STATUS(status, CADRE_EINVAL, err);
    CHECK_TEXT(err->text, "'lead': cadre_frame_spawn is not for hooks");
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        cadre_error_clear(err);
        status = cadre_frame_call(frame, CADRE_CALL(.agent = other, .key = keys[i]),
                                  NULL, err);
        CHECK_STATUS(status, CADRE_EINVAL, err);
        CHECK_CONTAINS(err->text, "is the framework's own; take another");
    }
    cadre_error_clear(err);
    return cadre_frame_call(frame, CADRE_CALL(.agent = other, .key = "create"), NULL,
                            err);
}

static void test_hooks__start_no_background_run_and_take_no_key_of_others(void)
{
    static const hook_probe p = {.name = "own", .create = try_all};
    hook_probe_open_lead(&t, hook_call_alice, &p);
    DRIVEN("alice", "always\nsay yes");
    run();
    CHECK_OK(t.status, &t.err);
    close_team();
}

static void check_refused(cadre_status status, cadre_error *err, const char *text)
{
    CHECK_STATUS(status, CADRE_EINVAL, err);
    CHECK_CONTAINS(err->text, text);
    cadre_error_clear(err);
}

static cadre_status try_in_model(cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    cadre_answer answer;
    const cadre_model_call asked = {.struct_size = sizeof asked,
                                    .model = t.team->models[0]};
    check_refused(cadre_frame_ask_model(frame, &asked, &answer, err), err,
                  "cadre_frame_ask_model is not for hooks");
    check_refused(cadre_frame_set_output(frame, "x", err), err,
                  "cadre_frame_set_output is not for hooks of a model's or a tool's");
    check_refused(
        cadre_frame_transfer(
            frame, CADRE_CALL(.agent = cadre_frame_find(frame, "carol")), err),
        err, "cadre_frame_transfer is not for hooks of a model's or a tool's");
    check_refused(cadre_model_hook_add_turn(call, "\xff", err), err, "is not UTF-8");
    return CADRE_OK;
}

static cadre_status try_after_model(cadre_frame *frame, cadre_model_hook *call,
                                    cadre_error *err)
{
    (void)frame;
    check_refused(cadre_model_hook_set_system(call, "x", err), err,
                  "cadre_model_hook_set_system is for before_model");
    check_refused(cadre_model_hook_add_turn(call, "x", err), err,
                  "cadre_model_hook_add_turn is for before_model");
    return CADRE_OK;
}

static cadre_status try_after_tool(cadre_frame *frame, cadre_tool_hook *call,
                                   cadre_error *err)
{
    check_refused(cadre_frame_set_output(frame, "x", err), err,
                  "cadre_frame_set_output is not for hooks of a model's or a tool's");
    check_refused(cadre_frame_request_transfer(frame, "bob", "", err), err,
                  "cadre_frame_request_transfer is not for hooks");
    check_refused(cadre_tool_hook_block(call, "x", err), err, "is for before_tool");
    check_refused(cadre_tool_hook_set_arguments(call, call->arguments, err), err,
                  "is for before_tool");
    return CADRE_OK;
}

static void test_hooks__of_calls_say_nothing_and_hand_nothing_over(void)
{
    static const hook_probe p = {.name = "team",
                                 .before_model = try_in_model,
                                 .after_model = try_after_model,
                                 .after_tool = try_after_tool};
    open_desk(&p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say three");
    run();
    team_case_check_answer(&t, "alice", "three");
    close_team();
}

// --- Stopping ---

static sem_t is_waiting; // a hook is

static cadre_status wait_for_ever(cadre_frame *frame, cadre_error *err)
{
    sem_post(&is_waiting);
    return cadre_frame_sleep(frame, INT64_MAX, err);
}

static cadre_status wait_in_model(cadre_frame *frame, cadre_model_hook *call,
                                  cadre_error *err)
{
    (void)call;
    return wait_for_ever(frame, err);
}

static cadre_status wait_in_tool(cadre_frame *frame, cadre_tool_hook *call,
                                 cadre_error *err)
{
    (void)call;
    return wait_for_ever(frame, err);
}

static cadre_status wait_in_next(cadre_frame *frame, const cadre_outcome *answer,
                                 cadre_error *err)
{
    (void)answer;
    return wait_for_ever(frame, err);
}

static void check_stop(const hook_probe *p, int n_runs)
{
    open_alice(p);
    sem_init(&is_waiting, 0, 0);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say three");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) != NULL) {
        CHECK(sem_wait(&is_waiting) == 0);
        cadre_run_cancel(t.run, NULL);
        team_case_finish(&t);
        CHECK_STATUS(t.status, CADRE_EABORTED, NULL);
        CHECK_TEXT(cadre_frame_status_name(t.result->status), "aborted");
        CHECK_LACKS(t.result->error.message, "hook");
        CHECK_INT(atomic_load(&adds.n_runs), n_runs);
    }
    sem_destroy(&is_waiting);
    close_team();
}

static void test_hooks__pass_a_stop_on(void)
{
    check_stop(&(const hook_probe){.name = "own", .create = wait_for_ever}, 0);
    check_stop(&(const hook_probe){.name = "own", .before_model = wait_in_model}, 0);
    check_stop(&(const hook_probe){.name = "own", .after_model = wait_in_model}, 0);
    check_stop(&(const hook_probe){.name = "own", .before_tool = wait_in_tool}, 0);
    check_stop(&(const hook_probe){.name = "own", .after_tool = wait_in_tool}, 1);
    check_stop(&(const hook_probe){.name = "own", .next = wait_in_next}, 1);
}

// What a child of a hook failed of is said, and by whom.
static cadre_status call_member(cadre_frame *frame, cadre_error *err)
{
    return cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_members(frame).items[0]), NULL, err);
}

static void test_hooks__that_pass_a_members_failure_on_keep_its_class(void)
{
    static const hook_probe p = {.name = "own", .create = call_member};
    hook_probe_open_lead(&t, hook_call_alice, &p);
    DRIVEN("alice", "fail auth no key");
    run();
    check_failure(CADRE_CLASS_AUTH, "agent 'lead': hook create: agent 'alice': model "
                                    "'driven/test': no key");
    close_team();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hooks__that_fail_fail_their_frame_and_are_named),
    CHECK_TEST(test_hooks__may_give_their_failure_a_class),
    CHECK_TEST(test_hooks__that_do_not_say_why_are_told_of_by_status),
    CHECK_TEST(test_hooks__that_fail_are_not_survived_by_the_agent),
    CHECK_TEST(test_hooks__that_fail_let_no_other_agent_answer),
    CHECK_TEST(test_after_tool__that_fails_tells_that_the_tool_ran),
    CHECK_TEST(test_before_tool__that_fails_lets_the_turns_other_calls_end),
    CHECK_TEST(test_hooks__start_no_background_run_and_take_no_key_of_others),
    CHECK_TEST(test_hooks__of_calls_say_nothing_and_hand_nothing_over),
    CHECK_TEST(test_hooks__pass_a_stop_on),
    CHECK_TEST(test_hooks__that_pass_a_members_failure_on_keep_its_class),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/hook_failures", tests);
}
