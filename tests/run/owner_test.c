// Who owns a child is stopped, or it is, while both work; and what others say to them
// meanwhile. With the final rows, on each store.
#include "support/check.h"
#include "support/driven_model.h"
#include "support/lives.h"
#include "support/recorded.h"

#include "cadre/ext/spawn.h"
#include "cadre/ext/store.h"
#include "cadre/trace.h"
#include "team/runtime.h"

#include <stdlib.h>
#include <string.h>

#define MODEL "driven/test"

static lives l;
static cadre_run *run;
static const cadre_agent *aide;

// --- Tools ---

// Starts the aide by itself.
static cadre_status start(void *ctx, cadre_frame *frame, const json_t *arguments,
                          cadre_error *err)
{
    const char *trace = NULL;
    (void)ctx;
    (void)arguments;
    cadre_status status = cadre_frame_spawn(
        frame, CADRE_CALL(.agent = aide, .input = "Think."), &trace, err);
    return status == CADRE_OK ? cadre_frame_set_output(frame, trace, err) : status;
}

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
    const cadre_call *call = CADRE_CALL(.agent = aide, .input = "Think.");
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
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = l.url), &other, &err), &err);
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
            frame, CADRE_CALL(.agent = aide, .input = "Think."), &spawned, err);
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

static cadre_team *make_team(cadre_runtime *runtime, const test_folder *folder)
{
    (void)folder;
    driven_open(runtime);
    cadre_team *team = cadre_team_new(runtime, "owners");
    cadre_team_add_llm(team, CADRE_LLM(.name = "main", .model = MODEL,
                                       .tools = CADRE_NAMES("work", "start", "late")));
    aide = cadre_team_add_llm(team, CADRE_LLM(.name = "aide", .model = MODEL));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "work", .type = "subagent"));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "start", .run = start));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "late", .run = mark_and_try));
    cadre_team_set_root(team, "main");
    return team;
}

static bool open_team(const char *type)
{
    if (!lives_open(&l, type, make_team))
        return false;
    l.is_online = true;
    lives_runtime(&l);
    n_steps = 0;
    return true;
}

static void close_team(void)
{
    cadre_run_free(run);
    run = NULL;
    lives_close(&l);
    driven_close();
}

static bool begin(const char *input)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_run_free(run);
    run = NULL;
    if (!CHECK_OK(cadre_run_start(
                      l.team,
                      CADRE_RUN(.input = input, .session = "s", .no_events = true),
                      &run, &err),
                  &err))
        return false;
    snprintf(l.trace, sizeof l.trace, "%s", cadre_run_trace_id(run));
    return true;
}

static void finish(cadre_status expected)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cadre_run_wait(run, NULL, &err);
    CHECK_STATUS(status, expected, &err);
    err = (cadre_error)CADRE_ERROR_INIT;
    CHECK_OK(cadre_trace_wait(l.runtime, l.trace, false, 20000, &err), &err);
}

// The nth frame of that name.
static const cadre_frame_info *frame_of(const char *name, int nth)
{
    const cadre_frame_info *frames = NULL;
    size_t n = 0;
    CHECK_OK(cadre_run_frames(run, &frames, &n, NULL), NULL);
    for (size_t i = 0; i < n; i++)
        if (strcmp(frames[i].name, name) == 0 && nth-- == 0)
            return &frames[i];
    CHECK(false);
    return &frames[0];
}

static void check_rows(const char *expected)
{
    char *got = lives_recorded(&l);
    CHECK_TEXT(got, expected);
    free(got);
}

static void check_row(const char *text, const char *part, int n)
{
    if (!CHECK_INT(recorded_count(text, part, NULL), n))
        printf("looked for: %s\n", part);
}

// --- A child that streams ---

static bool begin_stream(const char *type)
{
    if (!open_team(type))
        return false;
    DRIVEN("main", "call work {\"task\":\"Think.\"}", "say thin\nhold", "say Done.");
    return begin("Go.") && CHECK(driven_await_held(1));
}

static void check_abort_of_main(const char *type)
{
    char conversation[64];
    if (!begin_stream(type))
        return;
    snprintf(conversation, sizeof conversation, "%s",
             frame_of("main", 0)->conversation_id);
    CHECK_OK(cadre_trace_abort(
                 l.runtime, l.trace,
                 CADRE_ABORT(.conversation = conversation, .reason = "enough"), NULL),
             NULL);
    finish(CADRE_EABORTED);
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
    close_team();
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
        CHECK_OK(cadre_trace_abort(l.runtime, l.trace,
                                   CADRE_ABORT(.frame = by_frame ? id : NULL,
                                               .conversation = by_frame ? NULL : id,
                                               .reason = "not this"),
                                   NULL),
                 NULL);
        finish(CADRE_OK);
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
        close_team();
    }
}

static void test_owner__goes_on_when_its_child_alone_is_stopped(void)
{
    lives_each_store(check_abort_of_child);
}

// --- A child in the background ---

typedef struct child_row {
    char id[64];
    cadre_frame_status status;
    int count;
} child_row;

static cadre_status take_child(void *ctx, const cadre_trace_row *row, cadre_error *err)
{
    child_row *child = ctx;
    (void)err;
    cadre_id_text(row->id, child->id);
    child->status = row->status;
    child->count++;
    return CADRE_OK;
}

static child_row find_child(void)
{
    child_row child = {.count = 0};
    cadre_query query = {.kind = CADRE_QUERY_SPAWNED};
    const cadre_store_reader reader = {.trace = take_child, .ctx = &child};
    CHECK(cadre_id_parse(l.trace, &query.trace));
    CHECK_OK(l.runtime->store_ops->read(l.runtime->store, &query, &reader, NULL), NULL);
    return child;
}

static bool begin_background(const char *type)
{
    if (!open_team(type))
        return false;
    DRIVEN("main", "call start", "hold", "say I see.", "say I know.");
    DRIVEN("aide", "gate\nsay thought");
    return begin("Go.") && CHECK(driven_await_held(2));
}

static const char *report_in(const char *request)
{
    return strstr(request, "user: Report of background run ");
}

// The next turn reads the report, and the one after it no second time.
static void check_next_turns(const char *first)
{
    for (size_t i = 0; i < 2; i++) {
        if (!begin("And?"))
            return;
        finish(CADRE_OK);
        const char *report = report_in(driven_request("main", 2 + i));
        CHECK(report != NULL && report_in(report + 1) == NULL);
    }
    snprintf(l.trace, sizeof l.trace, "%s", first);
    char *got = lives_recorded(&l);
    check_row(got, "Report of background run", 1);
    check_row(got, "message root -1 ", 0);
    free(got);
}

static void check_plain_abort(const char *type)
{
    char first[64];
    cadre_error err = CADRE_ERROR_INIT;
    if (!begin_background(type))
        return;
    snprintf(first, sizeof first, "%s", l.trace);
    CHECK_OK(cadre_trace_abort(l.runtime, l.trace, NULL, NULL), NULL);
    finish(CADRE_EABORTED);
    child_row child = find_child();
    CHECK_INT(child.count, 1);
    CHECK_STATUS(cadre_trace_wait(l.runtime, child.id, false, 30, &err), CADRE_ETIMEOUT,
                 &err);
    driven_release();
    CHECK_OK(cadre_trace_wait(l.runtime, l.trace, true, 20000, NULL), NULL);
    CHECK_INT(find_child().status, CADRE_FRAME_COMPLETED);
    CHECK_OK(cadre_runtime_wait(l.runtime, 20000, NULL), NULL);
    char *got = lives_recorded(&l);
    check_row(got, "message root -1 user aide>:  ok Report of background run ID", 1);
    check_row(got, "frame root agent main aborted", 1);
    check_row(got, "frame root/2 model driven/test aborted", 1);
    check_row(got, "frame root/1/0 tool start completed final: ID", 1);
    free(got);
    check_next_turns(first);
    close_team();
}

static void test_owner__that_is_stopped_leaves_what_it_spawned(void)
{
    lives_each_store(check_plain_abort);
}

static void check_background_abort(const char *type)
{
    if (!begin_background(type))
        return;
    CHECK_OK(cadre_trace_abort(l.runtime, l.trace,
                               CADRE_ABORT(.background = true, .reason = "all"), NULL),
             NULL);
    finish(CADRE_EABORTED);
    CHECK_OK(cadre_trace_wait(l.runtime, l.trace, true, 20000, NULL), NULL);
    CHECK_OK(cadre_runtime_wait(l.runtime, 20000, NULL), NULL);
    child_row child = find_child();
    CHECK_INT(child.count, 1);
    CHECK_INT(child.status, CADRE_FRAME_ABORTED);
    char *got = lives_recorded(&l);
    check_row(
        got, "message root -1 user aide>:  ok Background run ID (aide) aborted: all by",
        1);
    free(got);
    char *of_child = recorded_text(l.runtime, child.id);
    check_row(of_child, "frame root agent aide aborted aborted: aborted: all marked",
              1);
    check_row(of_child, "frame root/1 model driven/test aborted", 1);
    free(of_child);
    close_team();
}

static void test_owner__that_is_stopped_with_all_stops_what_it_spawned(void)
{
    lives_each_store(check_background_abort);
}

// A tool that has returned does not end what it spawned, nor wait for it.
static void check_returned(const char *type)
{
    if (!open_team(type))
        return;
    DRIVEN("main", "call start", "say Started.");
    DRIVEN("aide", "gate\nsay thought");
    if (begin("Go.") && CHECK(driven_await_held(1))) {
        finish(CADRE_OK);
        CHECK_INT(find_child().status, CADRE_FRAME_RUNNING);
        driven_release();
        CHECK_OK(cadre_runtime_wait(l.runtime, 20000, NULL), NULL);
        CHECK_INT(find_child().status, CADRE_FRAME_COMPLETED);
        char *got = lives_recorded(&l);
        check_row(got, "message root -1 user aide>:  ok Report of background run", 1);
        free(got);
    }
    close_team();
}

static void test_owner__that_has_ended_gets_the_report_too(void)
{
    lives_each_store(check_returned);
}

// --- What is said meanwhile ---

static size_t count_in(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

static void check_steering(const char *type)
{
    char first[64];
    if (!open_team(type))
        return;
    DRIVEN("main", "hold", "say A", "say B");
    if (!begin("Go.") || !CHECK(driven_await_held(1)))
        return;
    snprintf(first, sizeof first, "%s", l.trace);
    for (int i = 0; i < 2; i++) // the same once more is one
        CHECK_OK(cadre_trace_send(l.runtime, l.trace, "Be brief.", "steer-1", NULL),
                 NULL);
    CHECK_OK(cadre_trace_abort(l.runtime, l.trace, NULL, NULL), NULL);
    finish(CADRE_EABORTED);
    char *got = lives_recorded(&l);
    check_row(got, "message root -1 user >:  ok Be brief. by", 1);
    check_row(got, "Be brief.", 1);
    free(got);
    for (size_t i = 1; i < 3; i++) {
        if (!begin("And?"))
            break;
        finish(CADRE_OK);
        CHECK_INT(count_in(driven_request("main", i), "user: Be brief.\n"), 1);
    }
    snprintf(l.trace, sizeof l.trace, "%s", first);
    got = lives_recorded(&l);
    check_row(got, "message root -1 ", 0);
    check_row(got, "Be brief.", 1);
    free(got);
    close_team();
}

static void test_owner__that_is_stopped_leaves_what_was_said_to_the_next_turn(void)
{
    lives_each_store(check_steering);
}

// --- After a mark ---

static void test_owner__that_is_marked_gets_nothing_new(void)
{
    for (tried = TRY_CALL; tried < N_ATTEMPTS; tried++) {
        if (!open_team("sqlite"))
            return;
        DRIVEN("main", "call late", "say Done.");
        DRIVEN("aide", "hold");
        tried_status = CADRE_OK;
        cadre_error err = CADRE_ERROR_INIT;
        if (begin("Go.")) {
            finish(CADRE_EABORTED);
            CHECK_INT(tried_status, CADRE_EABORTED);
            CHECK_INT(n_steps, 0);
            CHECK_INT(driven_count("main"), 1);
            if (tried != TRY_SEND)
                CHECK_INT(driven_count("aide"), 0);
            CHECK_INT(find_child().count, tried == TRY_SEND);
            char *got = lives_recorded(&l);
            check_row(got, "frame ", 3);
            check_row(got, "frame root/1/0 tool late aborted", 1);
            check_row(got, "frame root agent main aborted", 1);
            check_row(got, "conversation ", 1);
            free(got);
            if (tried == TRY_SEND) {
                child_row child = find_child();
                CHECK_OK(cadre_trace_abort(l.runtime, child.id, NULL, &err), &err);
                CHECK_OK(cadre_runtime_wait(l.runtime, 20000, NULL), NULL);
                got = recorded_text(l.runtime, child.id);
                check_row(got, " ok more by", 0);
                free(got);
            }
        }
        close_team();
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
    if (!open_team(type))
        return;
    DRIVEN("main", "call work {\"task\":\"Think.\"}", "gate\nsay thought", "say Done.");
    const cadre_store_ops *sound =
        l.runtime->store_ops; // changed while no run looks at it
    failing = *sound;
    failing.post = fail_post;
    l.runtime->store_ops = &failing;
    if (!begin("Go.") || !CHECK(driven_await_held(1)))
        return;
    CHECK_STATUS(cadre_trace_abort(l.runtime, l.trace, NULL, &err), CADRE_ESTORE, &err);
    CHECK_CONTAINS(err.text, "no post today");
    char *got = lives_recorded(&l);
    check_row(got, " marked ", 0);
    free(got);
    driven_release();
    finish(CADRE_OK);
    got = lives_recorded(&l);
    check_row(got, " marked ", 0);
    check_row(got, "frame root agent main completed final: Done.", 1);
    free(got);
    l.runtime->store_ops = sound;
    close_team();
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
    cadre_run_cancel(run, "enough");
    CHECK_STATUS(cadre_run_wait(run, NULL, &err), CADRE_ESTORE, &err);
    mortal_store_cut((store_cut){.at = 0});
    cadre_run_free(run);
    run = NULL;
    char *got = lives_recorded(&l);
    check_row(got, " marked ", 0);
    check_row(got, " running none", 3);
    check_row(got, "frame root/1/0 tool work pending none", 1); // it is safe
    free(got);
    err = (cadre_error)CADRE_ERROR_INIT;
    CHECK_OK(cadre_run_resume(l.team, l.trace, NULL, &run, &err), &err);
    finish(CADRE_OK);
    got = lives_recorded(&l);
    check_row(got, "frame root/1/0/main#1 agent main completed final: Done.", 1);
    check_row(got, "frame root agent main completed final: Done.", 1);
    check_row(got, "conversation ", 2);
    free(got);
    close_team();
}

static void test_owner__goes_on_when_its_own_mark_was_lost(void)
{
    lives_each_store(check_failed_cancel);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner__that_is_stopped_stops_the_child_that_streams),
    CHECK_TEST(test_owner__goes_on_when_its_child_alone_is_stopped),
    CHECK_TEST(test_owner__that_is_stopped_leaves_what_it_spawned),
    CHECK_TEST(test_owner__that_is_stopped_with_all_stops_what_it_spawned),
    CHECK_TEST(test_owner__that_has_ended_gets_the_report_too),
    CHECK_TEST(test_owner__that_is_stopped_leaves_what_was_said_to_the_next_turn),
    CHECK_TEST(test_owner__that_is_marked_gets_nothing_new),
    CHECK_TEST(test_owner__is_not_stopped_by_a_mark_that_failed),
    CHECK_TEST(test_owner__goes_on_when_its_own_mark_was_lost),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner", tests);
}
