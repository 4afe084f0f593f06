// Batches that are stopped by who listens to them, and what becomes of branches that
// never ran.
#include "support/check.h"
#include "support/team_case.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

static team_case t;

static void open_case(const cadre_runtime_config *config,
                      cadre_status (*lead)(void *ctx, cadre_frame *frame,
                                           cadre_error *err),
                      cadre_retry retry)
{
    cadre_error err = CADRE_ERROR_INIT;
    memset(&t, 0, sizeof t);
    CHECK_OK(cadre_runtime_open(config, &t.runtime, &err), &err);
    driven_open(t.runtime);
    t.team = cadre_team_new(t.runtime, "team");
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "lead", .run = lead,
                                           .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_llm(
        t.team, CADRE_LLM(.name = "alice", .model = DRIVEN_MODEL, .retry = retry));
    cadre_team_add_llm(t.team, CADRE_LLM(.name = "bob", .model = DRIVEN_MODEL));
}

// --- Without a thread ---

static bool count_ends(void *ctx, const cadre_agent *agent, size_t index,
                       const cadre_event *event)
{
    int *n = ctx;
    (void)agent;
    (void)index;
    *n += event->type == CADRE_EVENT_FRAME_END;
    return true;
}

static cadre_status lead_without_threads(void *ctx, cadre_frame *frame,
                                         cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_outcome out[2];
    cadre_error own = CADRE_ERROR_INIT;
    int n_ended = 0;
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = members.items[0]),
                                 CADRE_CALL(.agent = members.items[1])};
    CHECK_STATUS(
        cadre_frame_batch(frame,
                          CADRE_BATCH(.calls = calls, .n_calls = 2,
                                      .listener = count_ends, .listener_ctx = &n_ended),
                          out, &own),
        CADRE_EFAILED, &own);
    CHECK_CONTAINS(out[0].error, "thread");
    CHECK_CONTAINS(out[1].error, "thread");
    CHECK_INT(n_ended, 2);
    // What was told by then is not told later, when nobody is there any more.
    return cadre_frame_set_output(frame, "alone", err);
}

static void test_batch__tells_who_listens_of_branches_that_got_no_thread(void)
{
    open_case(CADRE_RUNTIME(.max_threads = 1), lead_without_threads, (cadre_retry){0});
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "lead", "alone");
    team_case_close(&t);
}

// --- Between attempts ---

enum {
    LONG_MS = 60000
};

static bool stop_at_end(void *ctx, const cadre_agent *agent, size_t index,
                        const cadre_event *event)
{
    (void)ctx;
    (void)agent;
    (void)index;
    return event->type != CADRE_EVENT_FRAME_END;
}

static cadre_status lead_that_stops(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_error own = CADRE_ERROR_INIT;
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = members.items[0], .input = "once")};
    CHECK_STATUS(cadre_frame_batch(
                     frame,
                     CADRE_BATCH(.calls = calls, .n_calls = 1, .listener = stop_at_end),
                     NULL, &own),
                 CADRE_EFAILED, &own);
    CHECK_CONTAINS(own.text, "stopped by who listened");
    return cadre_frame_set_output(frame, "enough", err);
}

// The first attempt has failed, and the next one has begun its pause, or is about to.
static void test_batch__that_is_stopped_does_not_try_again(void)
{
    open_case(NULL, lead_that_stops,
              (cadre_retry){.attempts = 2, .backoff_ms = LONG_MS});
    DRIVEN("alice", "fail invalid_request no", "say late");
    int64_t started_ms = cdr_clock_now_ms(cdr_clock_real());
    team_case_run(&t, "hi");
    team_case_check_answer(&t, "lead", "enough");
    CHECK(cdr_clock_now_ms(cdr_clock_real()) - started_ms < LONG_MS / 2);
    CHECK_INT(driven_count("alice"), 1);
    char *frames = team_case_frames(&t);
    CHECK_LACKS(frames, "b1/1~2 completed");
    free(frames);
    team_case_close(&t);
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_batch__tells_who_listens_of_branches_that_got_no_thread),
        CHECK_TEST(test_batch__that_is_stopped_does_not_try_again),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/batch_stop", tests);
}
