// Hooks in C but for those of tools (tool_hooks_test.c): in what order they are asked,
// and what they do.
#include "support/check.h"
#include "support/hook_probe.h"

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

static void check_frames(const char *expected)
{
    hook_probe_check_frames(&t, expected);
}

static void check_failure(cadre_error_class error_class, const char *text)
{
    hook_probe_check_failure(&t, error_class, text);
}

// --- Order ---

static const hook_probe team_all = {"team",          hook_pass,      hook_pass_model,
                                    hook_pass_model, hook_pass_tool, hook_pass_tool,
                                    hook_pass_next};
static const hook_probe own_all = {"own",           hook_pass,      hook_pass_model,
                                   hook_pass_model, hook_pass_tool, hook_pass_tool,
                                   hook_pass_next};

static void test_hooks__of_the_team_stand_around_the_agents(void)
{
    open_alice(&own_all);
    cadre_team_set_hooks(t.team, hook_probe_hooks(&team_all));
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say three");
    run();
    team_case_check_answer(&t, "alice", "three");
    hook_probe_check_log("team create alice\n"
                         "own create alice\n"
                         "team before_model alice\n"
                         "own before_model alice\n"
                         "own after_model alice\n"
                         "team after_model alice\n"
                         "team before_tool alice add\n"
                         "own before_tool alice add\n"
                         "own after_tool alice ok\n"
                         "team after_tool alice ok\n"
                         "team before_model alice\n"
                         "own before_model alice\n"
                         "own after_model alice three\n"
                         "team after_model alice three\n"
                         "own next alice three\n"
                         "team next alice three\n");
    close_team();
}

static const hook_probe around = {
    .name = "team", .create = hook_pass, .next = hook_pass_next};

static void test_hooks__of_the_team_are_asked_for_every_agents_frame(void)
{
    hook_probe_open(&t);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = hook_call_alice,
                                           .members = CADRE_NAMES("alice")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_set_root(t.team, "lead");
    cadre_team_set_hooks(t.team, hook_probe_hooks(&around));
    DRIVEN("alice", "say done");
    run();
    CHECK_OK(t.status, &t.err);
    hook_probe_check_log("team create lead\n"
                         "team create alice\n"
                         "team next alice done\n"
                         "team next lead\n");
    close_team();
}

static const hook_probe of_desk = {
    .name = "desk", .create = hook_pass, .next = hook_pass_next};

static void test_hooks__of_a_topology_and_a_function_are_theirs(void)
{
    hook_probe_open(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("lead"),
                                           .hooks = hook_probe_hooks(&of_desk)));
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = hook_call_alice,
                                           .members = CADRE_NAMES("alice"),
                                           .hooks = hook_probe_hooks(&own_all)));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    DRIVEN("alice", "say done");
    run();
    CHECK_OK(t.status, &t.err);
    hook_probe_check_log("desk create desk\n"
                         "own create lead\n"
                         "own next lead\n"
                         "desk next desk\n");
    close_team();
}

static void test_hooks__without_their_macro_are_a_mistake(void)
{
    static const cadre_hooks bare = {.create = NULL};
    cadre_error err = CADRE_ERROR_INIT;
    open_alice(NULL);
    cadre_team_set_hooks(t.team, &bare);
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_ECONFIG, NULL);
    CHECK_CONTAINS(err.text, "CADRE_HOOKS: the struct is NULL or has no struct_size");
    close_team();
}

static void test_hooks__come_too_late_for_a_sealed_team(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    open_alice(NULL);
    CHECK_OK(cadre_team_seal(t.team, &err), &err);
    cadre_team_set_hooks(t.team, hook_probe_hooks(&team_all));
    CHECK_STATUS(cadre_team_seal(t.team, &err), CADRE_EINVAL, NULL);
    CHECK_CONTAINS(err.text, "cadre_team_set_hooks came too late");
    close_team();
}

// --- create ---

static cadre_status answer_at_once(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = cadre_frame_set_output(frame, "no need", err);
    return status == CADRE_OK ? CADRE_DONE : status;
}

static void test_create__answers_in_the_agents_place(void)
{
    static const hook_probe p = {
        .name = "own", .create = answer_at_once, .next = hook_pass_next};
    open_alice(&p);
    run();
    team_case_check_answer(&t, "alice", "no need");
    CHECK_INT(driven_count("alice"), 0);
    hook_probe_check_log("own create alice\nown next alice no need\n");
    close_team();
}

static cadre_status say_done(cadre_frame *frame, cadre_error *err)
{
    (void)frame;
    (void)err;
    return CADRE_DONE;
}

static void test_create__that_says_done_must_have_answered(void)
{
    static const hook_probe p = {.name = "own", .create = say_done};
    open_alice(&p);
    run();
    check_failure(CADRE_CLASS_HOOK,
                  "agent 'alice': hook create: it returned CADRE_DONE "
                  "and has neither answered nor handed over");
    close_team();
}

static cadre_status route_to_carol(cadre_frame *frame, cadre_error *err)
{
    if (strcmp(hook_probe_agent(frame), "alice") != 0)
        return CADRE_OK;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "carol"), .input = "yours"),
        err);
}

static void test_create__hands_over_before_any_model_is_asked(void)
{
    static const hook_probe p = {
        .name = "team", .create = route_to_carol, .next = hook_pass_next};
    open_desk(&p);
    DRIVEN("carol", "say done");
    run();
    team_case_check_answer(&t, "carol", "done");
    CHECK_INT(driven_count("alice"), 0);
    CHECK_TEXT(driven_request("carol", 0), "user: hi\nuser: yours\n");
    check_frames("agent desk root completed final\n"
                 "  agent alice alice#1 completed final\n"
                 "    agent carol transfer completed final\n"
                 "      model driven/test 1 completed final\n");
    hook_probe_check_log("team create desk\n"
                         "team create alice\n"
                         "team create carol\n"
                         "team next carol done\n"
                         "team next desk done\n");
    close_team();
}

static cadre_status call_and_step(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome outcome;
    cadre_status status = hook_take_step(frame, err);
    if (status == CADRE_OK)
        status = cadre_frame_call(
            frame, CADRE_CALL(.agent = cadre_frame_members(frame).items[0]), &outcome,
            err);
    return status;
}

// The agent's own counts begin at 1 whatever its hooks have called.
static void test_create__gives_what_it_calls_keys_of_its_own(void)
{
    static const hook_probe p = {.name = "own", .create = call_and_step};
    hook_probe_open_lead(&t, hook_call_alice, &p);
    DRIVEN("alice", "always\nsay yes");
    run();
    CHECK_OK(t.status, &t.err);
    check_frames("agent lead root completed final\n"
                 "  tool look create/1 completed final\n"
                 "  agent alice create/2 completed final\n"
                 "    model driven/test 1 completed final\n"
                 "  agent alice alice#1 completed final\n"
                 "    model driven/test 1 completed final\n");
    close_team();
}

// --- before_model ---

static cadre_status change_request(cadre_frame *frame, cadre_model_hook *call,
                                   cadre_error *err)
{
    CHECK_INT(call->turn, driven_count("alice") + 1);
    CHECK_TEXT(call->model, DRIVEN_MODEL);
    CHECK_TEXT(call->system, "Be brief.");
    cadre_status status = cadre_model_hook_set_system(
        call, cadre_frame_printf(frame, "%s {{inputs.x}}", call->system), err);
    if (status == CADRE_OK)
        status = cadre_model_hook_add_turn(call, "It is Monday.", err);
    if (status == CADRE_OK)
        status = cadre_model_hook_add_turn(call, "It rains.", err);
    return status;
}

static void test_before_model__changes_this_request_alone(void)
{
    static const hook_probe p = {.name = "own", .before_model = change_request};
    open_alice(&p);
    DRIVEN("alice", "call add {\"a\":1,\"b\":2}", "say three");
    run();
    team_case_check_answer(&t, "alice", "three");
    CHECK_TEXT(driven_system("alice", 0), "Be brief. {{inputs.x}}");
    CHECK_TEXT(driven_request("alice", 0),
               "user: hi\nuser: It is Monday.\nuser: It rains.\n");
    const char *second = driven_request("alice", 1);
    CHECK_CONTAINS(second, "user: hi\nassistant: \ncall ");
    CHECK_CONTAINS(second, ": 3\nuser: It is Monday.\nuser: It rains.\n");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
               "alice: user hi\nalice: assistant \nalice: assistant three\n");
    close_team();
}

static cadre_status answer_first_turn(cadre_frame *frame, cadre_model_hook *call,
                                      cadre_error *err)
{
    (void)frame;
    return call->turn == 1 ? cadre_model_hook_answer(call, "from the cache", err)
                           : CADRE_OK;
}

static void test_before_model__answers_in_the_models_place(void)
{
    static const hook_probe first = {.name = "team", .before_model = answer_first_turn};
    static const hook_probe second = {.name = "own", .before_model = hook_pass_model};
    open_alice(&second);
    cadre_team_set_hooks(t.team, hook_probe_hooks(&first));
    run();
    team_case_check_answer(&t, "alice", "from the cache");
    CHECK_INT(driven_count("alice"), 0);
    CHECK_INT(t.result->usage.model_calls, 0);
    hook_probe_check_log("team before_model alice\n");
    check_frames("agent alice root completed final\n"
                 "  model driven/test 1 completed final\n");
    close_team();
}

static cadre_status call_alice_thrice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_status status = CADRE_OK;
    for (int i = 0; i < 3 && status == CADRE_OK; i++)
        status = hook_call_alice(ctx, frame, err);
    return status;
}

static void test_before_model__that_answers_uses_up_no_limit(void)
{
    static const hook_probe p = {.name = "own", .before_model = answer_first_turn};
    hook_probe_open(&t);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = call_alice_thrice,
                                           .members = CADRE_NAMES("alice")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .hooks = hook_probe_hooks(&p)));
    cadre_team_set_root(t.team, "lead");
    team_case_run_with(&t, CADRE_RUN(.input = "hi", .limits = {.max_model_calls = 1}));
    CHECK_OK(t.status, &t.err);
    close_team();
}

// --- after_model ---

static cadre_status shout(cadre_frame *frame, cadre_model_hook *call, cadre_error *err)
{
    CHECK(call->finish == CADRE_FINISH_STOP || call->n_tool_calls == 1);
    if (call->n_tool_calls > 0)
        CHECK_TEXT(call->tool_calls[0].name, "add");
    return cadre_model_hook_answer(call, cadre_frame_printf(frame, "%s!", call->text),
                                   err);
}

static void test_after_model__replaces_the_text_and_keeps_the_calls(void)
{
    static const hook_probe p = {.name = "own", .after_model = shout};
    open_alice(&p);
    DRIVEN("alice", "say wait\ncall add {\"a\":1,\"b\":2}\nusage 7 2", "say three");
    run();
    team_case_check_answer(&t, "alice", "three!");
    CHECK_INT(atomic_load(&adds.n_runs), 1);
    CHECK_INT(t.result->usage.input_tokens, 7);
    CHECK_INT(t.result->usage.model_calls, 2);
    CHECK_CONTAINS(driven_request("alice", 1), "assistant: wait!\ncall ");
    check_frames("agent alice root completed final\n"
                 "  model driven/test 1 completed final\n"
                 "  tool answer after_model/1 completed final\n"
                 "  tool add 1/0 completed final\n"
                 "  model driven/test 2 completed final\n"
                 "  tool answer after_model/2 completed final\n");
    close_team();
}

static void test_after_model__lets_no_text_out_before_it(void)
{
    static const hook_probe p = {.name = "own", .after_model = shout};
    open_alice(&p);
    DRIVEN("alice", "think hm\nsay th\nsay ree");
    run();
    team_case_check_answer(&t, "alice", "three!");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_TEXT_DELTA), "");
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_REASONING_DELTA), "alice: hm\n");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_MESSAGE_END),
                   "alice: assistant three!\n");
    close_team();
}

static void test_after_model__sees_what_a_hook_answered(void)
{
    static const hook_probe p = {
        .name = "own", .before_model = answer_first_turn, .after_model = shout};
    open_alice(&p);
    run();
    team_case_check_answer(&t, "alice", "from the cache!");
    close_team();
}

// --- next ---

static cadre_status better_answer(cadre_frame *frame, const cadre_outcome *answer,
                                  cadre_error *err)
{
    CHECK_TEXT(answer->agent, "alice");
    CHECK_INT(answer->status, CADRE_FRAME_COMPLETED);
    CHECK_INT(answer->usage.model_calls, 1);
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "better than %s", answer->text), err);
}

static void test_next__sets_another_output(void)
{
    static const hook_probe own = {.name = "own", .next = better_answer};
    static const hook_probe team = {.name = "team", .next = hook_pass_next};
    open_alice(&own);
    cadre_team_set_hooks(t.team, hook_probe_hooks(&team));
    DRIVEN("alice", "say this");
    run();
    team_case_check_answer(&t, "alice", "better than this");
    hook_probe_check_log("own next alice this\nteam next alice better than this\n");
    close_team();
}

static cadre_status next_to_carol(cadre_frame *frame, const cadre_outcome *answer,
                                  cadre_error *err)
{
    (void)answer;
    return route_to_carol(frame, err);
}

static void test_next__hands_over_after_an_answer(void)
{
    static const hook_probe p = {.name = "team", .next = next_to_carol};
    open_desk(&p);
    DRIVEN("alice", "say not me");
    DRIVEN("carol", "say done");
    run();
    team_case_check_answer(&t, "carol", "done");
    CHECK_TEXT(driven_request("carol", 0), "user: hi\nuser: [alice]: not me\n"
                                           "user: yours\n");
    hook_probe_check_log(
        "team next alice not me\nteam next carol done\nteam next desk done\n");
    close_team();
}

static void test_next__is_not_asked_after_a_transfer(void)
{
    static const hook_probe p = {.name = "team", .next = hook_pass_next};
    open_desk(&p);
    DRIVEN("alice", "to bob");
    DRIVEN("bob", "say done");
    run();
    team_case_check_answer(&t, "bob", "done");
    hook_probe_check_log("team next bob done\nteam next desk done\n");
    close_team();
}

static void test_next__is_not_asked_of_what_a_limit_ended(void)
{
    static const hook_probe p = {.name = "own", .next = better_answer};
    open_alice(&p);
    DRIVEN("alice", "always\nsay so far\ncall add {\"a\":1,\"b\":2}");
    run();
    CHECK_TEXT(t.result->text, "so far");
    CHECK_INT(t.result->stop_reason, CADRE_STOP_MAX_TURNS);
    hook_probe_check_log("");
    close_team();
}

// What a limit ended below a topology is no answer of that either.
static void test_next__is_not_asked_above_what_a_limit_ended(void)
{
    static const hook_probe p = {.name = "team", .next = hook_pass_next};
    open_desk(&p);
    DRIVEN("alice", "always\nsay so far\ncall nosuch {}");
    run();
    CHECK_TEXT(t.result->text, "so far");
    CHECK_INT(t.result->stop_reason, CADRE_STOP_LIMIT);
    hook_probe_check_log("");
    close_team();
}

static void test_next__is_not_asked_of_what_failed(void)
{
    static const hook_probe p = {.name = "own", .next = better_answer};
    open_alice(&p);
    DRIVEN("alice", "fail auth no key");
    run();
    CHECK_STATUS(t.status, CADRE_EFAILED, NULL);
    hook_probe_check_log("");
    close_team();
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hooks__of_the_team_stand_around_the_agents),
    CHECK_TEST(test_hooks__of_the_team_are_asked_for_every_agents_frame),
    CHECK_TEST(test_hooks__of_a_topology_and_a_function_are_theirs),
    CHECK_TEST(test_hooks__without_their_macro_are_a_mistake),
    CHECK_TEST(test_hooks__come_too_late_for_a_sealed_team),
    CHECK_TEST(test_create__answers_in_the_agents_place),
    CHECK_TEST(test_create__that_says_done_must_have_answered),
    CHECK_TEST(test_create__hands_over_before_any_model_is_asked),
    CHECK_TEST(test_create__gives_what_it_calls_keys_of_its_own),
    CHECK_TEST(test_before_model__changes_this_request_alone),
    CHECK_TEST(test_before_model__answers_in_the_models_place),
    CHECK_TEST(test_before_model__that_answers_uses_up_no_limit),
    CHECK_TEST(test_after_model__replaces_the_text_and_keeps_the_calls),
    CHECK_TEST(test_after_model__lets_no_text_out_before_it),
    CHECK_TEST(test_after_model__sees_what_a_hook_answered),
    CHECK_TEST(test_next__sets_another_output),
    CHECK_TEST(test_next__hands_over_after_an_answer),
    CHECK_TEST(test_next__is_not_asked_after_a_transfer),
    CHECK_TEST(test_next__is_not_asked_of_what_a_limit_ended),
    CHECK_TEST(test_next__is_not_asked_above_what_a_limit_ended),
    CHECK_TEST(test_next__is_not_asked_of_what_failed),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/hooks", tests);
}
