// The kill matrix over teams of all kinds, on each registered store; tools that are not
// safe to replay; and runs that cannot be gone on with.
#include "support/branches.h"
#include "support/check.h"
#include "support/kill_matrix.h"
#include "support/recorded.h"

#include <stdlib.h>

// --- Teams ---

static cadre_status charge(void *ctx, cadre_frame *frame, const json_t *arguments,
                           cadre_error *err)
{
    (void)ctx;
    (void)arguments;
    atomic_fetch_add(&lives_count()->unsafe_ones, 1);
    return cadre_frame_set_output(frame, "charged", err);
}

static cadre_team *make_branches(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = cadre_team_new(runtime, "branches");
    branches_fill(team, folder, (branches){.n_errors = 1, .is_safe = true});
    return team;
}

static const char charge_script[] =
    "agents:\n"
    "  clerk:\n"
    "    - {tool_calls: [{name: charge, arguments: {}}]}\n"
    "    - {text: Done.}\n";

static cadre_team *make_charge(cadre_runtime *runtime, const test_folder *folder)
{
    char script[FOLDER_PATH_SIZE];
    if (!folder_write(folder, "script.yaml", charge_script, script))
        return NULL;
    cadre_team *team = cadre_team_new(runtime, "charge");
    cadre_team_set_script(team, script);
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("charge")));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "charge", .run = charge));
    return team;
}

static cadre_team *load(cadre_runtime *runtime, const char *path)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_team_load(runtime, path, &team, &err), &err);
    return team;
}

static cadre_team *make_desk(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    return load(runtime, "samples/customer-desk/team.yaml");
}

static cadre_team *make_hello(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    return load(runtime, "samples/hello/team.yaml");
}

static cadre_team *make_subagent(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    return load(runtime, "samples/subagent-foreground/team.yaml");
}

// --- The matrix ---

static void check_hello(const char *type)
{
    kill_matrix_check(make_hello, type);
}

static void test_kill__one_answer_goes_on_from_every_commit(void)
{
    lives_each_store(check_hello);
}

static void check_desk(const char *type)
{
    kill_matrix_check(make_desk, type);
}

static void test_kill__a_handoff_goes_on_from_every_commit(void)
{
    lives_each_store(check_desk);
}

static void check_branches(const char *type)
{
    kill_matrix_check(make_branches, type);
}

static void test_kill__branches_and_steps_go_on_from_every_commit(void)
{
    lives_each_store(check_branches);
}

static void check_subagent(const char *type)
{
    kill_matrix_check(make_subagent, type);
}

static void test_kill__a_subagent_goes_on_from_every_commit(void)
{
    lives_each_store(check_subagent);
}

// --- Tools that are not safe to replay ---

// Such a tool runs at most once; where nobody can know whether it did, its result says
// so, and the run goes on. False: the cut was beyond the end of its life.
static bool check_charge_cut(const char *type, int n, int again, bool is_after)
{
    lives l;
    if (!lives_open(&l, type, make_charge))
        return false;
    lives_start(&l, kill_matrix_request(), (store_cut){.at = n, .is_after = is_after});
    bool is_cut = l.was_cut;
    bool goes_on = lives_resume(&l, (store_cut){.at = again, .is_after = is_after});
    if (again > 0)
        is_cut = goes_on && l.was_cut;
    if (is_cut && again > 0)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on) {
        char *got = lives_recorded(&l);
        CHECK_OK(l.status, &l.err);
        CHECK_TEXT(l.answer, "Done.");
        size_t n_charged = recorded_count(got, "message", "charge ok charged");
        CHECK_INT(n_charged + recorded_count(got, "message", "charge interrupted"), 1);
        if (n_charged == 1)
            CHECK_INT(atomic_load(&lives_count()->unsafe_ones), 1);
        CHECK_INT(recorded_count(got, "frame", " model "), 2);
        CHECK_INT(recorded_count(got, "frame", " tool "), 1);
        CHECK_INT(recorded_count(got, "message", ""), 4);
        free(got);
    }
    CHECK(atomic_load(&lives_count()->unsafe_ones) <= 1);
    lives_close(&l);
    return is_cut;
}

static void check_charge(const char *type)
{
    for (int after = 0; after < 2; after++)
        for (int n = 1; n < 10 && check_charge_cut(type, n, 0, after != 0); n++)
            for (int i = 1;
                 i <= LIVES_MAX_AGAIN && check_charge_cut(type, n, i, after != 0);)
                i++;
}

static void test_kill__an_unsafe_tool_never_runs_twice(void)
{
    lives_each_store(check_charge);
}

// --- What cannot be resumed ---

static void check_ended(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_desk))
        return;
    lives_start(&l, kill_matrix_request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    CHECK(!lives_resume(&l, (store_cut){0}));
    CHECK_STATUS(l.status, CADRE_EINVAL, &l.err);
    CHECK_CONTAINS(l.err.text, "has ended (completed)");
    lives_close(&l);
}

static void test_kill__a_run_that_ended_is_not_resumed(void)
{
    lives_each_store(check_ended);
}

static void check_unknown(const char *type)
{
    lives l;
    if (!lives_open(&l, type, make_desk))
        return;
    cadre_run *run = NULL;
    lives_runtime(&l);
    l.status = cadre_run_resume(l.team, "0123456789ab-1", NULL, &run, &l.err);
    CHECK_STATUS(l.status, CADRE_ENOTFOUND, &l.err);
    CHECK_CONTAINS(l.err.text, "0123456789ab-1");
    lives_close(&l);
}

static void test_kill__an_unknown_run_is_named(void)
{
    lives_each_store(check_unknown);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__one_answer_goes_on_from_every_commit),
    CHECK_TEST(test_kill__a_handoff_goes_on_from_every_commit),
    CHECK_TEST(test_kill__branches_and_steps_go_on_from_every_commit),
    CHECK_TEST(test_kill__a_subagent_goes_on_from_every_commit),
    CHECK_TEST(test_kill__an_unsafe_tool_never_runs_twice),
    CHECK_TEST(test_kill__a_run_that_ended_is_not_resumed),
    CHECK_TEST(test_kill__an_unknown_run_is_named),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/kill", tests);
}
