// Batches from C: all at once, results in call order, each with its own failure.
#include "support/check.h"
#include "support/team_case.h"

#include <stdlib.h>
#include <string.h>

static team_case t;

// The lead's work in a test; what it needs beyond its frame it finds here.
typedef cadre_status (*lead_work)(cadre_frame *frame, cadre_error *err);

static cadre_status run_lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    return (*(lead_work *)ctx)(frame, err);
}

static lead_work current;

static const cadre_agent *member(cadre_frame *frame, const char *name)
{
    const cadre_agent *found = cadre_frame_find(frame, name);
    CHECK(found != NULL);
    return found;
}

static void add_lead_and_members(lead_work work)
{
    current = work;
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = run_lead, .ctx = &current,
                               .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
}

static void open_lead(lead_work work)
{
    team_case_open(&t);
    add_lead_and_members(work);
}

static cadre_status batch_of_four(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out[4] = {{.text = "old"}};
    cadre_error own = CADRE_ERROR_INIT;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = member(frame, "alice"), .input = "one"),
        CADRE_CALL(.input = "nobody"),
        CADRE_CALL(.agent = member(frame, "bob"), .input = "two"),
        CADRE_CALL(.agent = member(frame, "alice"), .input = "three", .key = "third")};
    CHECK_STATUS(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 4), out, &own),
        CADRE_EFAILED, &own);
    CHECK_TEXT(out[0].text, "A");
    CHECK_TEXT(out[1].text, "");
    CHECK_TEXT(out[1].error, "'lead': a call names no agent");
    CHECK_INT(out[1].status, CADRE_FRAME_FAILED);
    CHECK_TEXT(out[2].error, "agent 'bob': model 'driven/test': key refused");
    CHECK_INT(out[2].error_class, CADRE_CLASS_AUTH);
    CHECK_TEXT(out[3].text, "A");
    return cadre_frame_set_output(frame, "all back", err);
}

static void test_batch__keeps_order_and_each_ones_own_failure(void)
{
    open_lead(batch_of_four);
    DRIVEN("alice", "always\nsay A");
    DRIVEN("bob", "fail auth key refused");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "all back");
    CHECK_INT(t.result->usage.model_calls, 3);
    CHECK_LACKS(driven_request("alice", 0), "hi");
    team_case_close(&t);
}

static cadre_status empty_batch(cadre_frame *frame, cadre_error *err)
{
    CHECK_OK(cadre_frame_batch(frame, CADRE_BATCH(.n_calls = 0), NULL, err), err);
    CHECK_STATUS(cadre_frame_batch(frame, NULL, NULL, NULL), CADRE_EINVAL, NULL);
    return CADRE_OK;
}

static void test_batch__of_nothing_is_nothing(void)
{
    open_lead(empty_batch);
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    team_case_close(&t);
}

enum {
    MANY = 100
};

// Quiet, since nobody reads while all of them are held.
static cadre_status batch_of_many(cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[MANY];
    cadre_outcome *out = cadre_frame_alloc(frame, MANY * sizeof *out);
    for (int i = 0; i < MANY; i++) {
        cadre_call *call = cadre_frame_alloc(frame, sizeof *call);
        *call = *CADRE_CALL(.agent = member(frame, "alice"), .flags = CADRE_CALL_QUIET,
                            .input = cadre_frame_printf(frame, "%d", i));
        calls[i] = call;
    }
    cadre_status status = cadre_frame_batch(
        frame, CADRE_BATCH(.calls = calls, .n_calls = MANY), out, err);
    for (int i = 0; i < MANY; i++)
        CHECK_TEXT(out[i].text, "A");
    return status;
}

static void test_batch__of_a_hundred_runs_at_once(void)
{
    open_lead(batch_of_many);
    DRIVEN("alice", "always\ngate\nsay A");
    if (team_case_start(&t, CADRE_RUN(.input = "hi")) == NULL)
        return;
    CHECK(driven_await_held(MANY)); // all are under way before any goes on
    driven_release();
    team_case_finish(&t);
    CHECK_OK(t.status, &t.err);
    CHECK_INT(t.result->usage.model_calls, MANY);
    team_case_close(&t);
}

static cadre_status nest(cadre_frame *frame, cadre_error *err)
{
    const char *input = cadre_frame_input(frame);
    const cadre_agent *self = cadre_frame_agent(frame);
    if (strcmp(input, "leaf") == 0)
        return cadre_frame_delegate(frame, CADRE_CALL(.agent = member(frame, "alice")),
                                    NULL, err);
    const char *next = strcmp(input, "branch") == 0 ? "leaf" : "branch";
    const cadre_call *calls[] = {CADRE_CALL(.agent = self, .input = next),
                                 CADRE_CALL(.agent = self, .input = next),
                                 CADRE_CALL(.agent = self, .input = next)};
    cadre_outcome out[3];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 3), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame,
        cadre_frame_printf(frame, "(%s%s%s)", out[0].text, out[1].text, out[2].text),
        err);
}

static void test_batch__nests(void)
{
    open_lead(nest);
    DRIVEN("alice", "always\nsay x");
    team_case_run(&t, "trunk");
    CHECK_OK(t.status, &t.err);
    CHECK_TEXT(t.result->text, "((xxx)(xxx)(xxx))");
    char *frames = team_case_frames(&t);
    CHECK_CONTAINS(frames, "    agent lead b1/3 completed final\n");
    free(frames);
    team_case_close(&t);
}

static cadre_status batch_then_more(cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = member(frame, "alice"), .input = "1", .key = "same"),
        CADRE_CALL(.agent = member(frame, "alice"), .input = "2", .key = "same")};
    cadre_outcome out[2];
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, &own),
        CADRE_EFAILED, &own);
    CHECK_CONTAINS(out[1].error, "frame key 'same' of 'alice' is in use");
    CHECK_TEXT(out[0].text, "A");
    cadre_error_clear(&own);
    // Ended by now: both answer from the record.
    CHECK_OK(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err),
        err);
    CHECK_TEXT(out[1].text, "A");
    return CADRE_OK;
}

static void test_batch__refuses_a_key_that_is_in_use(void)
{
    open_lead(batch_then_more);
    DRIVEN("alice", "say A");
    team_case_run(&t, "hi");
    CHECK_OK(t.status, &t.err);
    CHECK_INT(driven_count("alice"), 1);
    team_case_close(&t);
}

static void test_batch__a_branch_without_a_thread_fails_as_busy(void)
{
    cadre_error err = CADRE_ERROR_INIT;
    memset(&t, 0, sizeof t);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.max_threads = 1), &t.runtime, &err),
             &err);
    driven_open(t.runtime);
    t.team = cadre_team_new(t.runtime, "team");
    add_lead_and_members(batch_of_four);
    DRIVEN("alice", "always\nsay A");
    DRIVEN("bob", "fail auth key refused");
    current = nest;
    team_case_run(&t, "branch");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(recorder_count(&t.recorder, CADRE_EVENT_FRAME_END), 5);
    CHECK_INT(t.result->usage.model_calls, 1);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_batch__keeps_order_and_each_ones_own_failure),
    CHECK_TEST(test_batch__of_nothing_is_nothing),
    CHECK_TEST(test_batch__of_a_hundred_runs_at_once),
    CHECK_TEST(test_batch__nests),
    CHECK_TEST(test_batch__refuses_a_key_that_is_in_use),
    CHECK_TEST(test_batch__a_branch_without_a_thread_fails_as_busy),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/batch", tests);
}
