// Questions to people while others work: at the same time, in batches that nest, and
// against the clock.
#include "support/ask_case.h"

#include "cadre/trace.h"

#include <pthread.h>
#include <stdio.h>

static team_case *const t = &ask_team;

// A team with the one who asks.
static void open_all(const char *root)
{
    team_case_open(t);
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_case_colour));
    cadre_team_set_root(t->team, root);
}

// --- While others work ---

typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool is_open;
} gate;

static gate open_gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};

static json_t *pass_gate(void *ctx, cadre_frame *frame, cadre_error *err)
{
    gate *g = ctx;
    (void)frame;
    (void)err;
    pthread_mutex_lock(&g->mu);
    while (!g->is_open)
        pthread_cond_wait(&g->changed, &g->mu);
    pthread_mutex_unlock(&g->mu);
    return json_true();
}

static void set_gate(bool is_open)
{
    pthread_mutex_lock(&open_gate.mu);
    open_gate.is_open = is_open;
    pthread_cond_broadcast(&open_gate.changed);
    pthread_mutex_unlock(&open_gate.mu);
}

static cadre_status pass(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "gate", .run = pass_gate, .ctx = &open_gate), NULL,
        err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, "passed", err) : status;
}

static cadre_status wait_for_size(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "colour")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%s, %s", out[0].text, out[1].text), err);
}

static void open_slow(void)
{
    open_all("slow");
    set_gate(false);
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "slow", .run = wait_for_size,
                                           .members = CADRE_NAMES("colour", "pass")));
}

// Starts it and reads until the question is there.
static bool start_asking(void)
{
    const cadre_event *event = NULL;
    if (team_case_start(t, CADRE_RUN(.input = "go")) == NULL)
        return false;
    snprintf(ask_trace, sizeof ask_trace, "%s", cadre_run_trace_id(t->run));
    while (cadre_run_next(t->run, &event, NULL) == CADRE_OK) {
        recorder_add(&t->recorder, event);
        if (event->type == CADRE_EVENT_INTERRUPT)
            return true;
    }
    return CHECK(false);
}

static void test_ask_beside__goes_on_beside_one_who_works(void)
{
    open_slow();
    if (start_asking()) {
        ask_case_answer(NULL, "red");
        set_gate(true);
        team_case_finish(t);
        team_case_check_answer(t, "slow", "colour? red, passed");
        CHECK_INT(t->recorder.n_events > 0, 1);
    }
    team_case_close(t);
}

static void test_ask_beside__keeps_what_others_finished_when_it_parks(void)
{
    open_slow();
    if (start_asking()) {
        set_gate(true);
        team_case_finish(t);
        CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
        ask_case_check_frames("agent slow root waiting none\n"
                              "  agent colour b1/1 waiting none\n"
                              "    ask ask ask#1 waiting none\n"
                              "  agent pass b1/2 completed final\n"
                              "    tool gate gate#1 completed final\n");
        set_gate(false); // it is not passed again
        ask_case_answer(NULL, "red");
        ask_case_resume();
        team_case_check_answer(t, "slow", "colour? red, passed");
    }
    team_case_close(t);
}

static void test_ask_beside__stops_with_a_part_of_its_run(void)
{
    open_slow();
    if (start_asking()) {
        const cadre_frame_info *frames = NULL;
        size_t n = 0;
        CHECK_OK(cadre_run_frames(t->run, &frames, &n, NULL), NULL);
        char colour[64];
        snprintf(colour, sizeof colour, "%s", frames[1].id);
        CHECK_OK(cadre_trace_abort(t->runtime, ask_trace, CADRE_ABORT(.frame = colour),
                                   NULL),
                 NULL);
        set_gate(true);
        team_case_finish(t);
        CHECK_STATUS(t->status, CADRE_EFAILED, &t->err);
        ask_case_check_frames("agent slow root failed error\n"
                              "  agent colour b1/1 aborted aborted\n"
                              "    ask ask ask#1 aborted aborted\n"
                              "  agent pass b1/2 completed final\n"
                              "    tool gate gate#1 completed final\n");
    }
    team_case_close(t);
}

static void test_ask_beside__stops_with_the_whole_run(void)
{
    open_slow();
    if (start_asking()) {
        CHECK_OK(cadre_trace_abort(t->runtime, ask_trace,
                                   CADRE_ABORT(.reason = "enough"), NULL),
                 NULL);
        set_gate(true);
        team_case_finish(t);
        CHECK_STATUS(t->status, CADRE_EABORTED, &t->err);
        CHECK_TEXT(t->err.text, "aborted: enough");
    }
    team_case_close(t);
}

// --- Deeper ---

static cadre_status wait_for_outer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {CADRE_CALL(.agent = cadre_frame_find(frame, "inner")),
                                 CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL,
                             err);
}

static cadre_status quick(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_set_output(frame, "quick", err);
}

static cadre_status inner(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = cadre_frame_find(frame, "quick")),
        CADRE_CALL(.agent = cadre_frame_find(frame, "colour"))};
    return cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL,
                             err);
}

// The last branch of the outer batch ends while the other waits in a batch of its own,
// on the strand of the outer one.
static void test_ask_beside__parks_when_batches_nest(void)
{
    open_all("outer");
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "quick", .run = quick));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "inner", .run = inner,
                                           .members = CADRE_NAMES("quick", "colour")));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "outer", .run = wait_for_outer,
                                           .members = CADRE_NAMES("inner", "pass")));
    for (int i = 0; i < 50; i++) {
        set_gate(false);
        if (!start_asking())
            break;
        set_gate(true);
        team_case_finish(t);
        CHECK_STATUS(t->status, CADRE_EPARKED, &t->err);
        CHECK_OK(cadre_trace_abort(t->runtime, ask_trace, NULL, NULL), NULL);
    }
    team_case_close(t);
}

// --- Time, transfers, sessions ---

// By the call's timeout, or by its budget.
static bool is_by_budget;

static cadre_status hurry(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    const cadre_agent *colour = cadre_frame_find(frame, "colour");
    const cadre_call *calls[] = {
        is_by_budget ? CADRE_CALL(.agent = colour, .budget = {.max_time_ms = 100})
                     : CADRE_CALL(.agent = colour, .timeout_ms = 100),
        CADRE_CALL(.agent = cadre_frame_find(frame, "pass"))};
    cadre_outcome out[2];
    cadre_status status =
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), out, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, out[0].text, err)
                              : status;
}

static void check_hurried(bool by_budget)
{
    is_by_budget = by_budget;
    team_case_open_fake(t);
    set_gate(false);
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "colour", .run = ask_case_colour));
    cadre_team_add_function(t->team, CADRE_FUNCTION(.name = "pass", .run = pass));
    cadre_team_add_function(t->team,
                            CADRE_FUNCTION(.name = "hurried", .run = hurry,
                                           .members = CADRE_NAMES("colour", "pass")));
    cadre_team_set_root(t->team, "hurried");
    if (start_asking()) {
        cdr_clock_advance(t->clock, 5000);
        ask_case_answer(NULL, "red");
        set_gate(true);
        team_case_finish(t);
        team_case_check_answer(t, "hurried", "colour? red");
    }
    team_case_close(t);
}

static void test_ask_beside__takes_nobodys_time(void)
{
    check_hurried(false);
    check_hurried(true);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_ask_beside__goes_on_beside_one_who_works),
    CHECK_TEST(test_ask_beside__keeps_what_others_finished_when_it_parks),
    CHECK_TEST(test_ask_beside__stops_with_a_part_of_its_run),
    CHECK_TEST(test_ask_beside__stops_with_the_whole_run),
    CHECK_TEST(test_ask_beside__parks_when_batches_nest),
    CHECK_TEST(test_ask_beside__takes_nobodys_time),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/ask_beside", tests);
}
