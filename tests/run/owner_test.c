// Who owns a child is stopped, or it is, while both work. With the final rows, on each
// store. What runs in the background is in owner_background_test.c.
#include "support/check.h"
#include "support/owner_case.h"

#include "cadre/ext/spawn.h"
#include "cadre/ext/store.h"
#include "team/runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lives *const l = &owner_lives;

// --- Tools ---

static int n_steps;

static json_t *step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    n_steps++;
    return json_true();
}

// What a tool tries after its run was marked by somebody else.
typedef enum attempt {
    TRY_CALL,
    TRY_BATCH,
    TRY_SPAWN,
    TRY_STEP,
    TRY_SEND,
    N_ATTEMPTS
} attempt;

static attempt tried;
static cadre_status tried_status;

static cadre_status try_it(cadre_frame *frame, const char *spawned, cadre_error *err)
{
    const cadre_call *call = CADRE_CALL(.agent = owner_aide, .input = "Think.");
    switch (tried) {
    case TRY_CALL:
        return cadre_frame_call(frame, call, NULL, err);
    case TRY_BATCH:
        return cadre_frame_batch(frame, CADRE_BATCH(.calls = &call, .n_calls = 1), NULL,
                                 err);
    case TRY_SPAWN:
        return cadre_frame_spawn(frame, call, NULL, err);
    case TRY_STEP:
        return cadre_frame_step(frame, CADRE_STEP(.name = "late", .run = step), NULL,
                                err);
    case TRY_SEND:
        return cadre_frame_send_spawned(frame, spawned, "more", err);
    case N_ATTEMPTS:
        break;
    }
    return CADRE_EINVAL;
}

// The run of the frame, by another runtime.
static void abort_by_another(cadre_frame *frame)
{
    char trace[64];
    cadre_runtime *other = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    const char *key = cadre_frame_idempotency_key(frame); // the run's id, a slash, more
    snprintf(trace, sizeof trace, "%.*s", (int)strcspn(key, "/"), key);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = l->url), &other, &err), &err);
    CHECK_OK(cadre_trace_abort(other, trace, NULL, &err), &err);
    cadre_runtime_close(other);
}

static cadre_status mark_and_try(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    const char *spawned = "";
    (void)ctx;
    (void)arguments;
    if (tried == TRY_SEND) {
        cadre_status status = cadre_frame_spawn(
            frame, CADRE_CALL(.agent = owner_aide, .input = "Think."), &spawned, err);
        if (!CHECK_OK(status, err))
            return status;
    }
    abort_by_another(frame);
    // Nothing is reserved for a message: it is refused once the frame has heard.
    if (tried == TRY_SEND)
        CHECK_STATUS(cadre_frame_sleep(frame, 20000, NULL), CADRE_EABORTED, NULL);
    tried_status = try_it(frame, spawned, err);
    return tried_status;
}

// --- The team ---

// The nth frame of that name.
static const cadre_frame_info *frame_of(const char *name, int nth)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(owner_run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].name, name) == 0 && nth-- == 0)
            return &frames[i];
    CHECK(false);
    return &frames[0];
}

static void check_rows(const char *expected)
{
    char *got = lives_recorded(l);
    CHECK_TEXT(got, expected);
    free(got);
}

// --- A child that streams ---

static bool begin_stream(const char *type)
{
    if (!owner_case_open(type, NULL))
        return false;
    DRIVEN("main", "call work {\"task\":\"Think.\"}", "say thin\nhold", "say Done.");
    return owner_case_begin("Go.") && CHECK(driven_await_held(1));
}

static void check_abort_of_main(const char *type)
{
    char conversation[64];
    if (!begin_stream(type))
        return;
    snprintf(conversation, sizeof conversation, "%s",
             frame_of("main", 0)->conversation_id);
    CHECK_OK(cadre_trace_abort(
                 l->runtime, l->trace,
                 CADRE_ABORT(.conversation = conversation, .reason = "enough"), NULL),
             NULL);
    owner_case_finish(CADRE_EABORTED);
    check_rows(
        "conversation root of session \"s\"\n"
        "conversation root/1/0/main#1 owned by root/1/0 of root\n"
        "frame root agent main aborted aborted: aborted: enough marked request: "
        "enough\n"
        "frame root/1 model driven/test completed final: \n"
        "frame root/1/0 tool work aborted aborted: abortedaborted: aborted marked "
        "request: enough\n"
        "frame root/1/0/main#1 agent main aborted aborted: aborted: enough marked "
        "request: enough\n"
        "frame root/1/0/main#1/1 model driven/test aborted aborted: aborted: enough "
        "marked request: enough\n"
        "message root 0 user >:  ok Go. by root\n"
        "message root 1 assistant main>:  ok  work({\"task\":\"Think.\"}) by root\n"
        "message root 2 tool main>: work aborted aborted by root\n"
        "message root/1/0/main#1 0 user main>main:  ok Think. by "
        "root/1/0/main#1\n");
    owner_case_close();
}

static void test_owner__that_is_stopped_stops_the_child_that_streams(void)
{
    lives_each_store(check_abort_of_main);
}

// By its frame, and by its conversation.
static void check_abort_of_child(const char *type)
{
    for (int by_frame = 0; by_frame < 2; by_frame++) {
        char id[64];
        if (!begin_stream(type))
            return;
        const cadre_frame_info *child = frame_of("main", 1);
        snprintf(id, sizeof id, "%s", by_frame ? child->id : child->conversation_id);
        CHECK_OK(cadre_trace_abort(l->runtime, l->trace,
                                   CADRE_ABORT(.frame = by_frame ? id : NULL,
                                               .conversation = by_frame ? NULL : id,
                                               .reason = "not this"),
                                   NULL),
                 NULL);
        owner_case_finish(CADRE_OK);
        check_rows(
            "conversation root of session \"s\"\n"
            "conversation root/1/0/main#1 owned by root/1/0 of root\n"
            "frame root agent main completed final: Done.\n"
            "frame root/1 model driven/test completed final: \n"
            "frame root/1/0 tool work failed error: aborted: not thistool_error: "
            "aborted: not this\n"
            "frame root/1/0/main#1 agent main aborted aborted: aborted: not this "
            "marked request: not this\n"
            "frame root/1/0/main#1/1 model driven/test aborted aborted: aborted: not "
            "this marked request: not this\n"
            "frame root/2 model driven/test completed final: \n"
            "message root 0 user >:  ok Go. by root\n"
            "message root 1 assistant main>:  ok  work({\"task\":\"Think.\"}) by "
            "root\n"
            "message root 2 tool main>: work tool_error aborted: not this by root\n"
            "message root 3 assistant main>:  ok Done. by root\n"
            "message root/1/0/main#1 0 user main>main:  ok Think. by "
            "root/1/0/main#1\n");
        owner_case_close();
    }
}

static void test_owner__goes_on_when_its_child_alone_is_stopped(void)
{
    lives_each_store(check_abort_of_child);
}

// --- After a mark ---

static void test_owner__that_is_marked_gets_nothing_new(void)
{
    for (tried = TRY_CALL; tried < N_ATTEMPTS; tried++) {
        if (!owner_case_open("sqlite", mark_and_try))
            return;
        DRIVEN("main", "call late", "say Done.");
        DRIVEN("aide", "hold");
        tried_status = CADRE_OK;
        n_steps = 0;
        cadre_error err = CADRE_ERROR_INIT;
        if (owner_case_begin("Go.")) {
            owner_case_finish(CADRE_EABORTED);
            CHECK_INT(tried_status, CADRE_EABORTED);
            CHECK_INT(n_steps, 0);
            CHECK_INT(driven_count("main"), 1);
            if (tried != TRY_SEND)
                CHECK_INT(driven_count("aide"), 0);
            CHECK_INT(owner_case_child().count, tried == TRY_SEND);
            char *got = lives_recorded(l);
            owner_case_check_row(got, "frame ", 3);
            owner_case_check_row(got, "frame root/1/0 tool late aborted", 1);
            owner_case_check_row(got, "frame root agent main aborted", 1);
            owner_case_check_row(got, "conversation ", 1);
            free(got);
            if (tried == TRY_SEND) {
                owner_child child = owner_case_child();
                CHECK_OK(cadre_trace_abort(l->runtime, child.id, NULL, &err), &err);
                CHECK_OK(cadre_runtime_wait(l->runtime, 20000, NULL), NULL);
                got = recorded_text(l->runtime, child.id);
                owner_case_check_row(got, " ok more by", 0);
                free(got);
            }
        }
        owner_case_close();
    }
}

// --- A store that fails ---

static cadre_store_ops failing;

static cadre_status fail_post(void *state, cadre_fact *facts, size_t n_facts,
                              cadre_error *err)
{
    (void)state;
    (void)facts;
    (void)n_facts;
    return cadre_fail(err, CADRE_ESTORE, "no post today");
}

// Who is told so has stopped nothing.
static void check_failed_abort(const char *type)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (!owner_case_open(type, NULL))
        return;
    DRIVEN("main", "call work {\"task\":\"Think.\"}", "gate\nsay thought", "say Done.");
    const cadre_store_ops *sound =
        l->runtime->store_ops; // changed while no run looks at it
    failing = *sound;
    failing.post = fail_post;
    l->runtime->store_ops = &failing;
    if (!owner_case_begin("Go.") || !CHECK(driven_await_held(1)))
        return;
    CHECK_STATUS(cadre_trace_abort(l->runtime, l->trace, NULL, &err), CADRE_ESTORE,
                 &err);
    CHECK_CONTAINS(err.text, "no post today");
    char *got = lives_recorded(l);
    owner_case_check_row(got, " marked ", 0);
    free(got);
    driven_release();
    owner_case_finish(CADRE_OK);
    got = lives_recorded(l);
    owner_case_check_row(got, " marked ", 0);
    owner_case_check_row(got, "frame root agent main completed final: Done.", 1);
    free(got);
    l->runtime->store_ops = sound;
    owner_case_close();
}

static void test_owner__is_not_stopped_by_a_mark_that_failed(void)
{
    lives_each_store(check_failed_abort);
}

// The holder's own mark is lost with its store: the run is cut, and goes on.
static void check_failed_cancel(const char *type)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (!begin_stream(type))
        return;
    DRIVEN("main", "say Done.");
    mortal_store_cut((store_cut){.at = 1});
    cadre_run_cancel(owner_run, "enough");
    CHECK_STATUS(cadre_run_wait(owner_run, NULL, &err), CADRE_ESTORE, &err);
    mortal_store_cut((store_cut){.at = 0});
    cadre_run_free(owner_run);
    owner_run = NULL;
    char *got = lives_recorded(l);
    owner_case_check_row(got, " marked ", 0);
    owner_case_check_row(got, " running none", 3);
    owner_case_check_row(got, "frame root/1/0 tool work pending none", 1); // it is safe
    free(got);
    err = (cadre_error)CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_resume(l->team, l->trace, NULL, &owner_run, &err), &err);
    owner_case_finish(CADRE_OK);
    got = lives_recorded(l);
    owner_case_check_row(got, "frame root/1/0/main#1 agent main completed final: Done.",
                         1);
    owner_case_check_row(got, "frame root agent main completed final: Done.", 1);
    owner_case_check_row(got, "conversation ", 2);
    free(got);
    owner_case_close();
}

static void test_owner__goes_on_when_its_own_mark_was_lost(void)
{
    lives_each_store(check_failed_cancel);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner__that_is_stopped_stops_the_child_that_streams),
    CHECK_TEST(test_owner__goes_on_when_its_child_alone_is_stopped),
    CHECK_TEST(test_owner__that_is_marked_gets_nothing_new),
    CHECK_TEST(test_owner__is_not_stopped_by_a_mark_that_failed),
    CHECK_TEST(test_owner__goes_on_when_its_own_mark_was_lost),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner", tests);
}
