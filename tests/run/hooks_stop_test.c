// Hooks that fail, and hooks that wait for a person, when a run is cut and goes on.
#include "support/check.h"
#include "support/hook_lives.h"

#include "cadre/trace.h"

#include <stdlib.h>

// --- Failures that are recorded ---

static cadre_status step_and_fail(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = hook_lives_step(frame, err);
    return status == CADRE_OK ? cadre_fail(err, CADRE_EFAILED, "not today") : status;
}

static cadre_status fail_create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return step_and_fail(frame, err);
}

static cadre_status fail_model(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                               cadre_error *err)
{
    (void)ctx;
    return call->turn == 2 ? step_and_fail(frame, err) : CADRE_OK;
}

static cadre_status fail_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                              cadre_error *err)
{
    (void)ctx;
    (void)call;
    return step_and_fail(frame, err);
}

static cadre_status fail_next(void *ctx, cadre_frame *frame,
                              const cadre_outcome *answer, cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return step_and_fail(frame, err);
}

static cadre_team *make_failing_create(cadre_runtime *runtime,
                                       const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder, CADRE_HOOKS(.create = fail_create));
}

static cadre_team *make_failing_before_model(cadre_runtime *runtime,
                                             const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder, CADRE_HOOKS(.before_model = fail_model));
}

static cadre_team *make_failing_after_model(cadre_runtime *runtime,
                                            const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder, CADRE_HOOKS(.after_model = fail_model));
}

static cadre_team *make_failing_before_tool(cadre_runtime *runtime,
                                            const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder, CADRE_HOOKS(.before_tool = fail_tool));
}

static cadre_team *make_failing_next(cadre_runtime *runtime, const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder, CADRE_HOOKS(.next = fail_next));
}

static void check_failing(const char *type)
{
    hook_lives_matrix(make_failing_create, type, 1);
    hook_lives_matrix(make_failing_before_tool, type, 1);
}

static void test_hooks__that_fail_do_so_from_every_commit(void)
{
    lives_each_store(check_failing);
}

// What a charge was cut in is `interrupted`, so only how the run ends is the same.
static void check_ending(const char *type, lives_team make, const char *text)
{
    bool was_cut = true;
    for (int n = 1; was_cut && n < HOOK_LIVES_MAX_COMMITS; n++)
        for (int after = 0; after < 2; after++) {
            lives l;
            if (!lives_open(&l, type, make))
                return;
            lives_start(&l, hook_lives_request(),
                        (store_cut){.at = n, .is_after = after != 0});
            was_cut = l.was_cut;
            if (lives_resume(&l, (store_cut){0}) || !was_cut) {
                CHECK_TEXT(hook_lives_said(&l), was_cut ? text : l.err.text);
                char *got = lives_recorded(&l);
                CHECK_INT(recorded_count(got, "frame root agent clerk failed", text),
                          1);
                free(got);
            }
            CHECK(atomic_load(&lives_count()->unsafe_ones) <= 1);
            lives_close(&l);
        }
}

static cadre_status fail_after_tool(void *ctx, cadre_frame *frame,
                                    cadre_tool_hook *call, cadre_error *err)
{
    return fail_tool(ctx, frame, call, err);
}

static cadre_team *make_failing_after_tool(cadre_runtime *runtime,
                                           const test_folder *folder)
{
    return hook_lives_clerk(runtime, folder,
                            CADRE_HOOKS(.after_tool = fail_after_tool));
}

static const char two_script[] =
    "agents:\n"
    "  clerk:\n"
    "    - {tool_calls: [{name: charge, arguments: {bad: true}}, {name: charge}]}\n"
    "    - {text: Done.}\n";

static cadre_status fail_bad(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                             cadre_error *err)
{
    (void)ctx;
    if (json_object_get(call->arguments, "bad") == NULL)
        return hook_lives_step(frame, err);
    return cadre_fail(err, CADRE_EFAILED, "not today");
}

// The failure is recorded while the other call is under way.
static cadre_team *make_half_failing(cadre_runtime *runtime, const test_folder *folder)
{
    char path[FOLDER_PATH_SIZE];
    cadre_team *team = hook_lives_clerk(
        runtime, folder,
        CADRE_HOOKS(.before_tool = fail_bad, .after_tool = hook_lives_after_tool));
    if (folder_write(folder, "two.yaml", two_script, path))
        cadre_team_set_script(team, path);
    return team;
}

static void check_endings(const char *type)
{
    check_ending(type, make_half_failing, "agent 'clerk': hook before_tool: not today");
    check_ending(type, make_failing_before_model,
                 "agent 'clerk': hook before_model: not today");
    check_ending(type, make_failing_after_model,
                 "agent 'clerk': hook after_model: not today");
    check_ending(type, make_failing_after_tool,
                 "agent 'clerk': hook after_tool: not today");
    check_ending(type, make_failing_next, "agent 'clerk': hook next: not today");
}

static void test_hooks__that_fail_end_the_run_so_after_any_cut(void)
{
    lives_each_store(check_endings);
}

// --- Waiting for a person ---

static cadre_status ask(cadre_frame *frame, json_t **answer, cadre_error *err)
{
    json_t *question = json_string("Go on?");
    cadre_status status = cadre_frame_ask(frame, NULL, question, answer, err);
    json_decref(question);
    return status;
}

static cadre_status ask_only(cadre_frame *frame, cadre_error *err)
{
    json_t *answer = NULL;
    cadre_status status = ask(frame, &answer, err);
    json_decref(answer);
    return status;
}

static cadre_status ask_create(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return ask_only(frame, err);
}

static cadre_status ask_before_model(void *ctx, cadre_frame *frame,
                                     cadre_model_hook *call, cadre_error *err)
{
    (void)ctx;
    (void)call;
    return ask_only(frame, err);
}

static cadre_status ask_after_model(void *ctx, cadre_frame *frame,
                                    cadre_model_hook *call, cadre_error *err)
{
    json_t *answer = NULL;
    (void)ctx;
    cadre_status status = ask(frame, &answer, err);
    if (status == CADRE_OK)
        status = cadre_model_hook_answer(
            call,
            cadre_frame_printf(frame, "%s (%s)", call->text, json_string_value(answer)),
            err);
    json_decref(answer);
    return status;
}

static cadre_status ask_tool(void *ctx, cadre_frame *frame, cadre_tool_hook *call,
                             cadre_error *err)
{
    (void)ctx;
    (void)call;
    return ask_only(frame, err);
}

static cadre_status ask_next(void *ctx, cadre_frame *frame, const cadre_outcome *answer,
                             cadre_error *err)
{
    (void)ctx;
    (void)answer;
    return ask_only(frame, err);
}

static cadre_team *make_asking(cadre_runtime *runtime, const test_folder *folder)
{
    return hook_lives_clerk(
        runtime, folder,
        CADRE_HOOKS(.create = ask_create, .before_model = ask_before_model,
                    .after_model = ask_after_model, .before_tool = ask_tool,
                    .after_tool = ask_tool, .next = ask_next));
}

static bool answer_it(lives *l, int nth)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *value = json_sprintf("yes %d", nth);
    cadre_status status =
        cadre_trace_answer(lives_runtime(l), l->trace, NULL, value, &err);
    json_decref(value);
    return CHECK_OK(status, &err);
}

static void check_asking(const char *type)
{
    static const char *const keys[] = {
        "root/create/1",         "root/before_model/1/1",
        "root/after_model/1/1",  "root/1/0/before_tool/1",
        "root/1/0/after_tool/1", "root/before_model/2/1",
        "root/after_model/2/1",  "root/next/1"};
    enum {
        N = sizeof keys / sizeof keys[0]
    };
    lives l;
    int n = 0;
    if (!lives_open(&l, type, make_asking))
        return;
    lives_start(&l, hook_lives_request(), (store_cut){0});
    while (l.status == CADRE_EPARKED && n < N && answer_it(&l, ++n) &&
           lives_resume(&l, (store_cut){0}))
        continue;
    CHECK_OK(l.status, &l.err);
    CHECK_INT(n, N);
    CHECK_TEXT(l.answer, "Done. (yes 7)");
    CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
    CHECK_INT(atomic_load(&lives_count()->requests), 2);
    char *got = lives_recorded(&l);
    for (int i = 0; i < N; i++)
        CHECK_INT(recorded_count(got, "frame", keys[i]), 1);
    CHECK_INT(recorded_count(got, "message", "charge ok charged"), 1);
    free(got);
    lives_close(&l);
}

static void test_hooks__that_wait_for_a_person_go_on_where_they_were(void)
{
    lives_each_store(check_asking);
}

static cadre_status give_answer(void *ctx, cadre_frame *frame, cadre_model_hook *call,
                                cadre_error *err)
{
    (void)ctx;
    (void)frame;
    return cadre_model_hook_answer(call, "from the cache", err);
}

static cadre_team *make_given(cadre_runtime *runtime, const test_folder *folder)
{
    return hook_lives_clerk(
        runtime, folder,
        CADRE_HOOKS(.before_model = give_answer, .after_model = ask_after_model));
}

static void check_given(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_given))
        return;
    lives_start(&l, hook_lives_request(), (store_cut){0});
    CHECK_STATUS(l.status, CADRE_EPARKED, &l.err);
    CHECK(answer_it(&l, 1) && lives_resume(&l, (store_cut){0}));
    CHECK_OK(l.status, &l.err);
    CHECK_TEXT(l.answer, "from the cache (yes 1)");
    CHECK_INT(atomic_load(&lives_count()->requests), 0);
    lives_close(&l);
}

static void test_hooks__that_wait_with_a_hooks_answer_go_on_with_it(void)
{
    lives_each_store(check_given);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_hooks__that_fail_do_so_from_every_commit),
    CHECK_TEST(test_hooks__that_fail_end_the_run_so_after_any_cut),
    CHECK_TEST(test_hooks__that_wait_for_a_person_go_on_where_they_were),
    CHECK_TEST(test_hooks__that_wait_with_a_hooks_answer_go_on_with_it),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/hooks_stop", tests);
}
