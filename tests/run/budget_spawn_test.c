// Budgets of runs in the background: split off from who starts them.
#include "cadre/ext/store.h"

#include "support/check.h"
#include "support/mortal_store.h"
#include "support/team_case.h"

#include "team/runtime.h"

#include <stdio.h>
#include <string.h>

static team_case t;

typedef struct splits {
    int64_t tokens[4];
    size_t n;
} splits;

static cadre_status take_split(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    splits *found = ctx;
    (void)err;
    if (cadre_id_is_none(row->spawned_by) || found->n == 4)
        return CADRE_OK;
    json_t *options = json_loads(row->options, 0, NULL);
    found->tokens[found->n++] = json_integer_value(
        json_object_get(json_object_get(options, "budget"), "max_tokens"));
    json_decref(options);
    return CADRE_OK;
}

// Of the runs that were started, the newest first.
static splits splits_of_store(void)
{
    splits found = {.n = 0};
    const cadre_query query = {.kind = CADRE_QUERY_TRACES};
    const cadre_store_reader reader = {.trace = take_split, .ctx = &found};
    CHECK_OK(t.runtime->store_ops->read(t.runtime->store, &query, &reader, NULL), NULL);
    return found;
}

static cadre_status spawn(cadre_frame *frame, int64_t max_tokens, cadre_error *err)
{
    return cadre_frame_spawn(frame,
                             CADRE_CALL(.agent = cadre_frame_find(frame, "worker"),
                                        .input = "work",
                                        .budget = {.max_tokens = max_tokens}),
                             NULL, err);
}

static bool dies;

// 2,000 are used first; of 10,000 the first gets half of the rest, 4,000.
static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_error refusal = CADRE_ERROR_INIT;
    (void)ctx;
    cadre_status status = cadre_frame_delegate(
        frame, CADRE_CALL(.agent = cadre_frame_find(frame, "first")), NULL, err);
    if (status == CADRE_OK)
        status = spawn(frame, 0, err);
    if (status == CADRE_OK)
        status = spawn(frame, 1500, err);
    if (status != CADRE_OK)
        return status;
    if (dies)
        mortal_store_die();
    CHECK_STATUS(spawn(frame, 2501, &refusal), CADRE_ELIMIT, &refusal);
    CHECK_INT(refusal.error_class, CADRE_CLASS_BUDGET);
    CHECK_TEXT(refusal.text,
               "agent 'lead': the run's budget has not so much left for a "
               "run in the background");
    return spawn(frame, 2500, err);
}

static void open_lead(void)
{
    team_case_open(&t);
    mortal_store_wrap(t.runtime);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = lead,
                                           .members = CADRE_NAMES("first", "worker")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "first", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "worker", .model = DRIVEN_MODEL));
    cadre_team_set_root(t.team, "lead");
    DRIVEN("first", "say First.\nusage 2000 0");
    DRIVEN("worker", "always\nsay Done.\nusage 10 0");
}

static void check_splits(void)
{
    splits found = splits_of_store();
    CHECK_INT(found.n, 3);
    CHECK_INT(found.tokens[0], 2500);
    CHECK_INT(found.tokens[1], 1500);
    CHECK_INT(found.tokens[2], 4000);
}

static void test_budget_spawn__takes_what_is_asked_or_half_of_the_rest(void)
{
    open_lead();
    dies = false;
    team_case_run_with(&t, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 10000}));
    CHECK_OK(t.status, &t.err);
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    check_splits();
    team_case_close(&t);
}

static void test_budget_spawn__is_used_up_over_all_lives(void)
{
    char trace[64];
    open_lead();
    dies = true;
    t.run =
        team_case_start(&t, CADRE_RUN(.input = "Go.", .budget = {.max_tokens = 10000}));
    CHECK_INT(cadre_run_wait(t.run, NULL, NULL), CADRE_ESTORE);
    (void)snprintf(trace, sizeof trace, "%s", cadre_run_trace_id(t.run));
    cadre_run_free(t.run);
    (void)cadre_runtime_wait(t.runtime, 20000, NULL); // cut as well
    mortal_store_cut((store_cut){0});
    dies = false;
    CHECK_OK(cadre_run_resume(t.team, trace, NULL, &t.run, &t.err), &t.err);
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    check_splits();
    team_case_close(&t);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_budget_spawn__takes_what_is_asked_or_half_of_the_rest),
        CHECK_TEST(test_budget_spawn__is_used_up_over_all_lives),
        CU_TEST_INFO_NULL,
    };
    return check_main("run/budget_spawn", tests);
}
