// Aborts after every event of a run that does everything at once: whatever was under
// way, the stream closes, each started frame ends, and the store has no live frame.
#include "support/check.h"
#include "support/team_case.h"

#include <stdlib.h>
#include <string.h>

static team_case t;
static adder adds;

static cadre_status lead(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_agent *desk = cadre_frame_find(frame, "desk");
    const cadre_agent *aside = cadre_frame_find(frame, "aside");
    const cadre_call *calls[] = {CADRE_CALL(.agent = desk, .input = "one"),
                                 CADRE_CALL(.agent = aside, .input = "two"),
                                 CADRE_CALL(.agent = desk, .input = "three")};
    cadre_outcome out[3];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 3), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_delegate(frame, CADRE_CALL(.agent = aside), NULL, err);
}

static json_t *step_value(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_frame_emit(frame, "stepping", 8);
    return cadre_frame_is_stopped(frame) && cadre_frame_sleep(frame, 0, err) != CADRE_OK
               ? NULL
               : json_true();
}

static cadre_status aside(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "look", .run = step_value), NULL, err);
    if (status != CADRE_OK)
        return status;
    cadre_frame_emit(frame, "aside", 5);
    return cadre_frame_set_output(frame, "looked", err);
}

static void open_all(void)
{
    team_case_open(&t);
    memset(&adds, 0, sizeof adds);
    team_case_add_adder(&t, &adds);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = lead,
                                           .members = CADRE_NAMES("desk", "aside")));
    cadre_team_set_root(t.team, "lead");
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "aside", .run = aside));
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .options = "{\"return_to_source\": true}",
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL,
                                         .tools = CADRE_NAMES("add")));
    DRIVEN("alice",
           "always\nsay hm\nto bob please\ncall add {\"a\":1,\"b\":1}\ncall nothing");
    DRIVEN("bob", "always\nsay it is\nsay  two");
}

static void check_stored(void)
{
    const cadre_frame_info *frames = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(t.run, &frames, &n, &err), &err);
    for (size_t i = 0; i < n; i++) {
        CHECK(frames[i].status >= CADRE_FRAME_COMPLETED);
        CHECK(frames[i].parent < (int)i);
    }
    free(team_case_frames(&t));
}

// Reads `n` events, aborts, reads on. False: the run was shorter.
static bool abort_after(size_t n)
{
    const cadre_event *event = NULL;
    cadre_status status = CADRE_OK;
    if (team_case_start(&t, CADRE_RUN(.input = "go")) == NULL)
        return false;
    while (t.recorder.n_events < n && status == CADRE_OK) {
        status = cadre_run_next(t.run, &event, NULL);
        if (status == CADRE_OK)
            recorder_add(&t.recorder, event);
    }
    if (status != CADRE_OK)
        return false;
    cadre_run_cancel(t.run, "enough");
    team_case_finish(&t);
    // The run may have been past its last mark by then.
    CHECK(t.status == CADRE_EABORTED || t.status == CADRE_EFAILED);
    check_stored();
    return true;
}

static void test_abort__after_every_event_leaves_an_ended_tree(void)
{
    open_all();
    size_t n = 0;
    while (abort_after(n) && n < 2000)
        n++;
    CHECK(n > 60);
    team_case_close(&t);
}

static void test_abort__of_nobody_runs_to_a_loop_that_is_told(void)
{
    open_all();
    team_case_run(&t, "go");
    // alice hands over for ever: each desk is stopped, and the batch tells the first.
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_INT(t.result->error.error_class, CADRE_CLASS_LOOP);
    CHECK_TEXT(t.result->error.agent, "alice");
    CHECK_CONTAINS(recorder_text(&t.recorder, CADRE_EVENT_FRAME_END),
                   "aside: completed final looked\n");
    check_stored();
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_abort__after_every_event_leaves_an_ended_tree),
    CHECK_TEST(test_abort__of_nobody_runs_to_a_loop_that_is_told),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/abort", tests);
}
