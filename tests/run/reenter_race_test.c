// Entering again a run in which members raced: how far the losers came is chance and no
// difference, but what is not pure is found as ever.
#include "support/check.h"
#include "support/folder.h"

#include "base/buf.h"
#include "cadre/cadre.h"

#include <stdio.h>
#include <string.h>

static const char script[] = "agents:\n"
                             "  gone: [{error: {status: 400}}]\n"
                             "  quick: [{text: Quick., delay: 50ms}]\n"
                             "  slow: [{text: Slow., delay: 1m}]\n";

typedef struct race_case {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_reenter_result result;
    cdr_buf told; // "PATH KEY FIELD: FIRST / AGAIN", a line each
} race_case;

static bool open_case(race_case *t)
{
    static const char *const names[] = {"gone", "quick", "slow"};
    char path[FOLDER_PATH_SIZE];
    cadre_error err = CADRE_ERROR_INIT;
    memset(t, 0, sizeof *t);
    if (!CHECK(folder_make(&t->folder)) ||
        !CHECK(folder_write(&t->folder, "script.yaml", script, path)) ||
        !CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &t->runtime, &err),
                  &err))
        return false;
    t->team = cadre_team_new(t->runtime, "team");
    cadre_team_set_script(t->team, path);
    for (int i = 0; i < 3; i++)
        cadre_team_add_llm(t->team, CADRE_LLM(.name = names[i], .model = "openai/any"));
    cadre_team_set_root(t->team, "top");
    return true;
}

static void close_case(race_case *t)
{
    cadre_team_free(t->team);
    cadre_runtime_close(t->runtime);
    folder_remove(&t->folder);
    cdr_buf_fini(&t->told);
}

static void note(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%s %s %s: %s / %s\n", d->path, d->key, d->field,
                   d->first == NULL ? "(none)" : d->first,
                   d->again == NULL ? "(none)" : d->again);
}

static void reenter(race_case *t, bool every_commit)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_reenter(t->team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "Go."),
                                         .every_commit = every_commit,
                                         .on_difference = note, .ctx = &t->told),
                           &t->result, &err),
             &err);
    CHECK_TEXT(cadre_frame_status_name(t->result.status), "completed");
}

static void test_reenter__losers_may_come_any_far(void)
{
    race_case t;
    if (!open_case(&t))
        return;
    cadre_team_add_topology(
        t.team, "parallel",
        CADRE_TOPOLOGY(.name = "top", .members = CADRE_NAMES("gone", "quick", "slow"),
                       .options = "{\"wait\": \"any\"}"));
    reenter(&t, true);
    CHECK_TEXT(cdr_buf_text(&t.told), "");
    CHECK_INT(t.result.n_differences, 0);
    CHECK_INT(t.result.n_frames, 7);
    CHECK(t.result.n_commits >= 3);
    close_case(&t);
}

// --- What is not pure ---

typedef struct race_plan {
    int n_runs; // of `top`
    bool is_left_out, is_said_otherwise;
} race_plan;

// Races `quick` with `slow`. When it is run again it leaves that out, or asks `slow`
// something else, as its plan says.
static cadre_status run_top(void *ctx, cadre_frame *frame, cadre_error *err)
{
    race_plan *plan = ctx;
    cadre_agents members = cadre_frame_members(frame);
    bool is_again = plan->n_runs++ > 0;
    const cadre_call *const calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "Go."),
        CADRE_CALL(.agent = members.items[1],
                   .input = is_again && plan->is_said_otherwise ? "Stay." : "Go.")};
    cadre_outcome out[2];
    if (!is_again || !plan->is_left_out) {
        cadre_status status = cadre_frame_batch(
            frame, CADRE_BATCH(.wait = CADRE_ANY, .calls = calls, .n_calls = 2), out,
            err);
        if (status != CADRE_OK)
            return status;
    }
    return cadre_frame_set_output(frame, "Done.", err);
}

static void add_top(race_case *t, race_plan *plan)
{
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "top", .run = run_top, .ctx = plan,
                                           .members = CADRE_NAMES("quick", "slow")));
}

static void test_reenter__finds_a_race_that_is_left_out(void)
{
    race_case t;
    race_plan plan = {.is_left_out = true};
    if (!open_case(&t))
        return;
    add_top(&t, &plan);
    reenter(&t, false);
    CHECK_CONTAINS(cdr_buf_text(&t.told),
                   "top -> quick b1/1 asked for: agent / (none)\n");
    CHECK(t.result.n_differences > 0);
    close_case(&t);
}

static void test_reenter__finds_what_a_loser_is_asked_otherwise(void)
{
    race_case t;
    race_plan plan = {.is_said_otherwise = true};
    if (!open_case(&t))
        return;
    add_top(&t, &plan);
    reenter(&t, false);
    CHECK_CONTAINS(cdr_buf_text(&t.told), "top -> slow b1/2 input: Go. / Stay.\n");
    CHECK(t.result.n_differences > 0);
    close_case(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_reenter__losers_may_come_any_far),
    CHECK_TEST(test_reenter__finds_a_race_that_is_left_out),
    CHECK_TEST(test_reenter__finds_what_a_loser_is_asked_otherwise),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/reenter_race", tests);
}
