// Hooks over cuts: a run whose hooks all do something is cut at each commit and goes on
// as if nothing had been; what they did happens at least once, what they were given is
// asked for once, and one that waits for a person goes on where it was.
#include "support/check.h"
#include "support/hook_lives.h"

#include "base/buf.h"
#include "cadre/cadre.h"

#include <stdlib.h>
#include <string.h>

// --- Hooks that do something ---

static const char *agent_name(const cadre_frame *frame)
{
    return cadre_agent_get_info(cadre_frame_agent(frame))->name;
}

static cadre_status hand_over(cadre_frame *frame, const char *to, cadre_error *err)
{
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, to), .input = "yours"), err);
}

// first -> second by create, before a model is asked.
static cadre_status create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status == CADRE_OK && strcmp(agent_name(frame), "first") == 0)
        status = hand_over(frame, "second", err);
    return status;
}

static cadre_status before_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                 cadre_error *err)
{
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (strcmp(agent_name(frame), "third") == 0 && call->turn == 1)
        return cadre_model_hook_answer(call, "third knows", err);
    return cadre_model_hook_add_turn(call, "Be quick.", err);
}

// Asks the judge, who is in the desk, what it says of the answer.
static cadre_status after_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    cadre_outcome said;
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK || strcmp(agent_name(frame), "second") != 0 ||
        call->n_tool_calls > 0)
        return status;
    status = cadre_frame_call(
        frame,
        CADRE_CALL(.agent = cadre_frame_find(frame, "judge"), .input = call->text),
        &said, err);
    if (status != CADRE_OK)
        return status;
    return cadre_model_hook_answer(
        call, cadre_frame_printf(frame, "%s (%s)", call->text, said.text), err);
}

static cadre_status before_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (call->is_control || json_object_get(call->arguments, "blocked") != NULL)
        return cadre_tool_hook_block(call, "not now", err);
    json_t *other = json_pack("{s:s}", "what", "the hook's");
    status = cadre_tool_hook_set_arguments(call, other, err);
    json_decref(other);
    return status;
}

// second -> third by next, after an answer; that says one word more.
static cadre_status next(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                         cadre_error *err)
{
    (void)ctx;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK)
        return status;
    if (strcmp(agent_name(frame), "second") == 0)
        return hand_over(frame, "third", err);
    return cadre_frame_set_output(frame, cadre_frame_printf(frame, "%s!", answer->text),
                                  err);
}

static cadre_status step_at_end(void *ctx, cadre_frame *frame,
                                const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return strcmp(agent_name(frame), "judge") == 0 ? CADRE_OK
                                                   : hook_lives_step(frame, err);
}

// --- Teams ---

static cadre_status look(void *ctx, cadre_frame *frame, const json_t *arguments,
                         cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->safe, 1);
    return cadre_frame_set_output(frame, "a look", err);
}

static const char desk_script[] =
    "strict: true\n"
    "agents:\n"
    "  second:\n"
    "    - {tool_calls: [{name: look}, {name: look, arguments: {blocked: true}}]}\n"
    "    - {tool_calls: [{name: transfer_to_agent, arguments: {agent: first}}]}\n"
    "    - {text: mine}\n"
    "  judge:\n"
    "    - {text: fine}\n";

static void add_hooked(cadre_team *team, const char *name, cadre_names handoffs)
{
    cadre_team_add_llm(
        team,
        CADRE_LLM(.name = name, .model = "openai/m", .tools = CADRE_NAMES("look"),
                  .handoffs = handoffs,
                  .hooks =
                      CADRE_HOOKS(.create = create, .before_model = before_model,
                                  .after_model = after_model,
                                  .before_tool = before_tool,
                                  .after_tool = hook_lives_after_tool, .next = next)));
}

// first -> second -> third: handed over by hooks, a transfer of the model blocked.
static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = hook_lives_team(runtime, folder, desk_script);
    cadre_team_add_topology(
        team, "handoff",
        CADRE_TOPOLOGY(.name = "desk",
                       .members = CADRE_NAMES("first", "second", "third", "judge")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "judge", .model = "openai/m"));
    add_hooked(team, "first", (cadre_names)CADRE_NAMES("second"));
    add_hooked(team, "second", (cadre_names)CADRE_NAMES("third", "first"));
    add_hooked(team, "third", (cadre_names){NULL, 0});
    cadre_team_add_tool(team,
                        CADRE_TOOL(.name = "look", .run = look, .replay_safe = true));
    cadre_team_set_hooks(team, CADRE_HOOKS(.next = step_at_end));
    return team;
}

static cadre_team *make_charge(cadre_runtime *runtime, const test_folder *folder)
{
    return hook_lives_clerk(
        runtime, folder,
        CADRE_HOOKS(.before_tool = before_tool, .after_tool = hook_lives_after_tool));
}

// --- The matrix ---

static void check_desk(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_desk))
        return;
    lives_start(&l, hook_lives_request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "third knows!");
    char *recorded = lives_recorded(&l);
    CHECK_INT(
        recorded_count(recorded, "message", "second>: look ok a look of the hook's"),
        1);
    CHECK_INT(recorded_count(recorded, "message", "look blocked not now of ?"), 1);
    CHECK_INT(recorded_count(recorded, "message", "mine (fine)"), 1);
    CHECK_INT(atomic_load(&lives_count()->requests), 4);
    free(recorded);
    lives_close(&l);
    hook_lives_matrix(make_desk, type, 3);
}

static void test_hooks__go_on_from_every_commit(void)
{
    lives_each_store(check_desk);
}

// --- A tool that may not run twice ---

// False: the cut was beyond the end of the first life.
static bool check_charge_cut(const char *type, int n, bool is_after)
{
    lives l;
    if (!lives_open(&l, type, make_charge))
        return false;
    lives_start(&l, hook_lives_request(), (store_cut){.at = n, .is_after = is_after});
    bool was_cut = l.was_cut;
    if (lives_resume(&l, (store_cut){0})) {
        char *got = lives_recorded(&l);
        CHECK_OK(l.status, &l.err);
        size_t n_charged =
            recorded_count(got, "message", "charge ok charged of the hook's");
        size_t n_cut = recorded_count(got, "message",
                                      "charge interrupted Interrupted: "
                                      "this call may or may not have run."
                                      " of ?");
        CHECK_INT(n_charged + n_cut, 1);
        if (n_charged == 1)
            CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
        CHECK_INT(recorded_count(got, "frame root/1/0/after_tool tool result", ""), 1);
        CHECK_INT(recorded_count(got, "frame root/1/0/after_tool/1 tool note", ""), 1);
        free(got);
    }
    CHECK(atomic_load(&lives_count()->unsafe_ones) <= 1);
    lives_close(&l);
    return was_cut;
}

static void check_charge(const char *type)
{
    for (int after = 0; after < 2; after++) {
        int n = 1;
        while (n < HOOK_LIVES_MAX_COMMITS && check_charge_cut(type, n, after != 0))
            n++;
        CHECK(n > 5 && n < HOOK_LIVES_MAX_COMMITS);
    }
}

static void test_tool_hooks__run_no_unsafe_tool_twice(void)
{
    lives_each_store(check_charge);
}

// --- Handing back ---

static cadre_status hand_back(void *ctx, cadre_frame *frame,
                              const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    cadre_status status = hook_lives_step(frame, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_transfer(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "first")), err);
}

static const char returning_script[] =
    "strict: true\n"
    "agents:\n"
    "  first:\n"
    "    - {tool_calls: [{name: transfer_to_agent, arguments: {agent: second}}]}\n"
    "    - {text: all done}\n"
    "  second:\n"
    "    - {text: mine}\n";

// The hook does what the desk would do by itself: second hands back to first.
static cadre_team *make_returning(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = hook_lives_team(runtime, folder, returning_script);
    cadre_team_add_topology(team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("first", "second"),
                                           .options = "{\"return_to_source\": true}"));
    cadre_team_add_llm(team, CADRE_LLM(.name = "first", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("second")));
    cadre_team_add_llm(team, CADRE_LLM(.name = "second", .model = "openai/m",
                                       .handoffs = CADRE_NAMES("first"),
                                       .hooks = CADRE_HOOKS(.next = hand_back)));
    return team;
}

static void check_returning(const char *type)
{
    hook_lives_matrix(make_returning, type, 1);
}

static void test_next__that_hands_back_to_the_source_does_so_from_every_commit(void)
{
    lives_each_store(check_returning);
}

// --- Entering again ---

static void tell(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   d->first == NULL ? "" : d->first, d->again == NULL ? "" : d->again);
}

static void check_entered_again(lives_team make)
{
    lives l;
    cdr_buf told = CDR_BUF_INIT;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_reenter_result result;
    if (!lives_open(&l, "memory", make))
        return;
    lives_runtime(&l);
    cadre_status status =
        cadre_reenter(l.team,
                      CADRE_REENTER(.run = hook_lives_request(), .every_commit = true,
                                    .on_difference = tell, .ctx = &told),
                      &result, &err);
    CHECK_OK(status, &err);
    CHECK_TEXT(cdr_buf_text(&told), "");
    CHECK(result.n_commits > 3);
    cdr_buf_fini(&told);
    lives_close(&l);
}

static void test_hooks__are_pure_for_who_enters_again(void)
{
    check_entered_again(make_desk);
    check_entered_again(make_charge);
    check_entered_again(make_returning);
}

// --- Limits ---

static cadre_team *make_stepping(cadre_runtime *runtime, const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder,
                            CADRE_HOOKS(.create = create, .before_model = before_model,
                                        .after_model = after_model,
                                        .before_tool = before_tool,
                                        .after_tool = hook_lives_after_tool));
}

// What hooks did before a cut are no calls of tools.
static void check_limit(const char *type)
{
    bool was_cut = true;
    for (int n = 1; was_cut && n < HOOK_LIVES_MAX_COMMITS; n++) {
        lives l;
        if (!lives_open(&l, type, make_stepping))
            return;
        lives_start(&l, CADRE_RUN(.input = "hi", .limits = {.max_tool_calls = 1}),
                    (store_cut){.at = n, .is_after = true});
        was_cut = l.was_cut;
        if (lives_resume(&l, (store_cut){0}))
            CHECK_OK(l.status, &l.err);
        lives_close(&l);
        CHECK(n > 8 || was_cut);
    }
}

static void test_tool_hooks__use_up_no_limit_of_the_run(void)
{
    lives_each_store(check_limit);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hooks__go_on_from_every_commit),
    CHECK_TEST(test_tool_hooks__run_no_unsafe_tool_twice),
    CHECK_TEST(test_next__that_hands_back_to_the_source_does_so_from_every_commit),
    CHECK_TEST(test_hooks__are_pure_for_who_enters_again),
    CHECK_TEST(test_tool_hooks__use_up_no_limit_of_the_run),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/hooks_resume", tests);
}
