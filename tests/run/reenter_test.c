// Entering again: pure code is found to be so in every shape of calls, and what is not
// pure is found, with the line that tells where.
#include "support/branches.h"
#include "support/check.h"
#include "support/folder.h"

#include "base/buf.h"
#include "cadre/cadre.h"
#include "team/team.h"

#include <stdatomic.h>
#include <string.h>

// --- A case: a runtime, a team with a script, what was told ---

typedef struct reenter_case {
    test_folder folder;
    cadre_runtime *runtime;
    cadre_team *team;
    cadre_reenter_result result;
    cdr_buf told; // "COMMIT PATH KEY FIELD: FIRST / AGAIN", a line each
    cadre_status status;
    cadre_error err;
} reenter_case;

static bool open_case(reenter_case *t, const char *script)
{
    char path[FOLDER_PATH_SIZE];
    memset(t, 0, sizeof *t);
    if (!CHECK(folder_make(&t->folder)) ||
        !CHECK_OK(
            cadre_runtime_open(CADRE_RUNTIME(.offline = true), &t->runtime, &t->err),
            &t->err))
        return false;
    t->team = cadre_team_new(t->runtime, "team");
    if (script == NULL)
        return true;
    if (!folder_write(&t->folder, "script.yaml", script, path))
        return false;
    cadre_team_set_script(t->team, path);
    return true;
}

static void close_case(reenter_case *t)
{
    cadre_team_free(t->team);
    cadre_runtime_close(t->runtime);
    folder_remove(&t->folder);
    cdr_buf_fini(&t->told);
}

static const char *shown(const char *text)
{
    return text == NULL ? "(none)" : text;
}

static void note(void *ctx, const cadre_difference *d)
{
    cdr_buf_printf(ctx, "%d %s %s %s: %s / %s\n", d->commit, d->path, d->key, d->field,
                   shown(d->first), shown(d->again));
}

static void reenter(reenter_case *t, bool every_commit)
{
    cdr_buf_clear(&t->told);
    t->status = cadre_reenter(t->team,
                              CADRE_REENTER(.run = CADRE_RUN(.input = "Hello"),
                                            .every_commit = every_commit,
                                            .on_difference = note, .ctx = &t->told),
                              &t->result, &t->err);
    CHECK_OK(t->status, &t->err);
}

// Nothing differs, of a run with so many frames and messages.
static void check_equal(reenter_case *t, size_t n_frames, size_t n_messages)
{
    reenter(t, true);
    CHECK_TEXT(cdr_buf_text(&t->told), "");
    CHECK_INT(t->result.n_differences, 0);
    CHECK_INT(t->result.n_frames, n_frames);
    CHECK_INT(t->result.n_messages, n_messages);
    CHECK(t->result.n_commits >= 2);
    CHECK_TEXT(cadre_frame_status_name(t->result.status), "completed");
    CHECK_TEXT(t->result.error.text, "");
}

static void check_told(reenter_case *t, const char *lines)
{
    reenter(t, false);
    CHECK_TEXT(cdr_buf_text(&t->told), lines);
    CHECK(t->result.n_differences > 0);
    CHECK_INT(t->result.n_commits, 0);
}

static void add_agent(reenter_case *t, const char *name,
                      cadre_status (*run)(void *, cadre_frame *, cadre_error *),
                      const char *member)
{
    cadre_function function = *CADRE_FUNCTION(.name = name, .run = run);
    if (member != NULL)
        function.members = (cadre_names){&member, 1};
    cadre_team_add_function(t->team, &function);
}

static void add_llm(reenter_case *t, const char *name)
{
    cadre_team_add_llm(t->team, CADRE_LLM(.name = name, .model = "m"));
}

static void add_model(reenter_case *t)
{
    cadre_team_add_model(t->team, CADRE_MODEL(.name = "m", .model = "openai/m"));
    if (t->team->models != NULL)
        t->team->models[0]->times.backoff_ms = 1;
}

// --- Pure ones ---

static void test_reenter__a_handoff_is_equal(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    cadre_team_free(t.team);
    CHECK_OK(
        cadre_team_load(t.runtime, "samples/customer-desk/team.yaml", &t.team, &t.err),
        &t.err);
    check_equal(&t, 8, 7);
    CHECK_INT(t.result.n_commits, 4);
    close_case(&t);
}

static bool open_branches(reenter_case *t)
{
    return open_case(t, NULL) &&
           branches_fill(t->team, &t->folder, (branches){.n_errors = 3});
}

// The tool may not run twice and a model needs its last attempt: a cut that never was
// takes nothing away.
static void test_reenter__a_batch_and_a_step_are_equal(void)
{
    reenter_case t;
    if (!open_branches(&t))
        return;
    check_equal(&t, 13, 12);
    close_case(&t);
}

// The first attempt is in the record, and ended without a word, while the team around
// it goes on: nobody has handed over to that.
static void test_reenter__a_team_that_hands_back_is_equal(void)
{
    reenter_case t;
    const cadre_retry twice = {.attempts = 2};
    if (!open_case(&t, "agents:\n"
                       "  alice: [{error: {status: 400}}, {text: A}]\n"))
        return;
    add_model(&t);
    cadre_team_add_topology(t.team, "handoff",
                            CADRE_TOPOLOGY(.name = "desk",
                                           .members = CADRE_NAMES("inner", "bob"),
                                           .options = "{\"return_to_source\": true}"));
    cadre_team_add_topology(
        t.team, "chain",
        CADRE_TOPOLOGY(.name = "inner", .members = CADRE_NAMES("alice")));
    cadre_team_add_llm(t.team,
                       CADRE_LLM(.name = "alice", .model = "m", .retry = twice));
    add_llm(&t, "bob");
    check_equal(&t, 6, 2);
    close_case(&t);
}

// Asks a member, then hands over: it is not run again to ask once more.
static cadre_status ask_and_hand_over(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    (void)ctx;
    cadre_status status =
        cadre_frame_call(frame, CADRE_CALL(.agent = members.items[0]), NULL, err);
    return status == CADRE_OK
               ? cadre_frame_transfer(
                     frame, CADRE_CALL(.agent = cadre_frame_find(frame, "bob")), err)
               : status;
}

static void test_reenter__who_asked_and_handed_over_is_equal(void)
{
    reenter_case t;
    if (!open_case(&t, "agents:\n"
                       "  alice: [{text: A}]\n"
                       "  bob: [{text: B}]\n"))
        return;
    add_model(&t);
    cadre_team_add_topology(
        t.team, "swarm",
        CADRE_TOPOLOGY(.name = "desk", .members = CADRE_NAMES("lead", "bob")));
    add_agent(&t, "lead", ask_and_hand_over, "alice");
    add_llm(&t, "alice");
    add_llm(&t, "bob");
    check_equal(&t, 6, 3);
    close_case(&t);
}

// What is recorded is not done again.
static void test_reenter__a_whole_record_runs_nothing(void)
{
    reenter_case t;
    if (!open_branches(&t))
        return;
    atomic_store(&lives_count()->safe, 0);
    atomic_store(&lives_count()->steps, 0);
    reenter(&t, false);
    CHECK_INT(t.result.n_differences, 0);
    CHECK_INT(atomic_load(&lives_count()->safe), 2);
    CHECK_INT(atomic_load(&lives_count()->steps), 1);
    close_case(&t);
}

// Calls its member twice, once by a key of its own, and sums up.
static cadre_status ask_twice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    cadre_agents members = cadre_frame_members(frame);
    cadre_outcome first, second;
    (void)ctx;
    cadre_status status = cadre_frame_call(
        frame, CADRE_CALL(.agent = members.items[0], .input = "one"), &first, err);
    if (status == CADRE_OK)
        status = cadre_frame_call(
            frame,
            CADRE_CALL(.agent = members.items[0], .input = "two", .key = "again"),
            &second, err);
    if (status != CADRE_OK)
        return status;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "%s, %s", first.text, second.text), err);
}

static void test_reenter__nested_calls_are_equal(void)
{
    reenter_case t;
    if (!open_case(&t, "agents: {clerk: [{text: a}, {text: b}, {text: c}, {text: d}]}"))
        return;
    add_model(&t);
    add_agent(&t, "top", ask_twice, "middle");
    add_agent(&t, "middle", ask_twice, "clerk");
    add_llm(&t, "clerk");
    check_equal(&t, 11, 14);
    close_case(&t);
}

// --- Impure ones ---

static atomic_int n_entered;

static cadre_status count_entries(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int n = atomic_fetch_add(&n_entered, 1) + 1;
    (void)ctx;
    return cadre_frame_set_output(
        frame, cadre_frame_printf(frame, "entered %d times", n), err);
}

static void test_reenter__finds_another_answer_of_the_root(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "counter", count_entries, NULL);
    check_told(&t, "0 counter root output: entered 1 times / entered 2 times\n"
                   "0 counter root message 2: (none) / entered 2 times\n");
    close_case(&t);
}

static cadre_status call_first(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_call(
        frame, CADRE_CALL(.agent = cadre_frame_members(frame).items[0], .input = "go"),
        NULL, err);
}

// The root's own code is pure; that of its member is executed again too.
static void test_reenter__finds_another_answer_below(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "top", call_first, "counter");
    add_agent(&t, "counter", count_entries, NULL);
    check_told(&t,
               "0 top -> counter counter#1 output: entered 1 times / entered 2 times\n"
               "0 top -> counter counter#1 message 2: (none) / entered 2 times\n");
    close_case(&t);
}

static cadre_status call_with_count(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int n = atomic_fetch_add(&n_entered, 1) + 1;
    (void)ctx;
    return cadre_frame_call(frame,
                            CADRE_CALL(.agent = cadre_frame_members(frame).items[0],
                                       .input = cadre_frame_printf(frame, "%d", n)),
                            NULL, err);
}

static cadre_status do_nothing(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return CADRE_OK;
}

// The record answers whatever the input is, so no row tells of it.
static void test_reenter__finds_another_input(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "top", call_with_count, "idle");
    add_agent(&t, "idle", do_nothing, NULL);
    check_told(&t, "0 top -> idle idle#1 input: 1 / 2\n");
    close_case(&t);
}

static cadre_status call_once(void *ctx, cadre_frame *frame, cadre_error *err)
{
    if (atomic_fetch_add(&n_entered, 1) > 0)
        return CADRE_OK;
    return call_first(ctx, frame, err);
}

static void test_reenter__finds_a_call_that_is_left_out(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "top", call_once, "idle");
    add_agent(&t, "idle", do_nothing, NULL);
    // Its end was in the last commit, so that it was open and is closed by its parent.
    check_told(&t, "0 top -> idle idle#1 asked for: agent / (none)\n"
                   "0 top -> idle idle#1 status: completed / aborted\n"
                   "0 top -> idle idle#1 stop_reason: final / aborted\n");
    close_case(&t);
}

static cadre_status call_later(void *ctx, cadre_frame *frame, cadre_error *err)
{
    if (atomic_fetch_add(&n_entered, 1) == 0)
        return CADRE_OK;
    return call_first(ctx, frame, err);
}

static void test_reenter__finds_a_call_that_is_new(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "top", call_later, "idle");
    add_agent(&t, "idle", do_nothing, NULL);
    check_told(&t, "0 top -> idle idle#1 frame: (none) / agent\n");
    close_case(&t);
}

static cadre_status call_another(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int n = atomic_fetch_add(&n_entered, 1);
    (void)ctx;
    return cadre_frame_call(
        frame,
        CADRE_CALL(.agent = cadre_frame_members(frame).items[n], .key = "expert"), NULL,
        err);
}

static void test_reenter__finds_another_callee(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    cadre_team_add_function(t.team,
                            CADRE_FUNCTION(.name = "top", .run = call_another,
                                           .members = CADRE_NAMES("idle", "other")));
    add_agent(&t, "idle", do_nothing, NULL);
    add_agent(&t, "other", do_nothing, NULL);
    check_told(&t, "0 top root status: completed / failed\n"
                   "0 top root stop_reason: final / diverged\n"
                   "0 top root error:  / frame key 'expert': recorded for 'idle', now "
                   "asked for 'other'\n"
                   "0 top -> idle expert status: completed / aborted\n"
                   "0 top -> idle expert stop_reason: final / aborted\n");
    close_case(&t);
}

static json_t *count_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    (void)frame;
    (void)err;
    return json_integer(atomic_fetch_add(&n_entered, 1) + 1);
}

static cadre_status count_by_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_step(frame, CADRE_STEP(.name = "count", .run = count_step), NULL,
                            err);
}

// A step whose value was not recorded is done again: it may give another.
static void test_reenter__tells_after_which_commit(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    atomic_store(&n_entered, 0);
    add_agent(&t, "counter", count_by_step, NULL);
    reenter(&t, true);
    CHECK_TEXT(cdr_buf_text(&t.told), "1 counter -> count count#1 output: 1 / 2\n");
    CHECK_INT(t.result.n_commits, 1);
    CHECK_INT(t.result.n_differences, 1);
    close_case(&t);
}

// --- What was said is not said again ---

static cadre_status say_thrice(void *ctx, cadre_frame *frame, cadre_error *err)
{
    static const char *const texts[] = {"same", "same", "other"};
    cadre_status status = CADRE_OK;
    (void)ctx;
    for (size_t i = 0; status == CADRE_OK && i < 3; i++) {
        status = cadre_frame_set_output(frame, texts[i], err);
        if (status == CADRE_OK)
            status = cadre_frame_step(
                frame, CADRE_STEP(.name = "one", .run = branches_step), NULL, err);
    }
    return status;
}

static void test_reenter__an_answer_is_said_once(void)
{
    reenter_case t;
    if (!open_case(&t, NULL))
        return;
    add_agent(&t, "talker", say_thrice, NULL);
    check_equal(&t, 4, 4);
    close_case(&t);
}

// --- Runs that do not complete, and what is refused ---

static void test_reenter__a_failure_is_equal_too(void)
{
    reenter_case t;
    if (!open_case(&t, "agents: {clerk: [{error: {status: 401}}]}"))
        return;
    add_model(&t);
    add_agent(&t, "top", call_first, "clerk");
    add_llm(&t, "clerk");
    reenter(&t, true);
    CHECK_TEXT(cdr_buf_text(&t.told), "");
    CHECK_TEXT(cadre_frame_status_name(t.result.status), "failed");
    CHECK_CONTAINS(t.result.error.text, "clerk");
    close_case(&t);
}

// Why it failed is told from the record too.
static void test_reenter__too_many_bad_calls_are_equal(void)
{
    reenter_case t;
    if (!open_case(&t, "agents: {clerk: [{tool_calls: [{name: nowhere}], times: 9}]}"))
        return;
    add_model(&t);
    add_llm(&t, "clerk");
    reenter(&t, true);
    CHECK_TEXT(cdr_buf_text(&t.told), "");
    CHECK_TEXT(cadre_frame_status_name(t.result.status), "failed");
    CHECK_CONTAINS(t.result.error.text, "There is no tool 'nowhere'");
    close_case(&t);
}

static cadre_status ask_nth(void *ctx, cadre_frame *frame, cadre_error *err)
{
    int n = ctx == NULL ? 0 : atomic_fetch_add(&n_entered, 1);
    json_t *question = json_sprintf("Question %d?", n);
    cadre_status status = cadre_frame_step(
        frame, CADRE_STEP(.name = "one", .run = branches_step), NULL, err);
    if (status == CADRE_OK)
        status = cadre_frame_ask(frame, NULL, question, NULL, err);
    json_decref(question);
    return status;
}

// It waits again, with the same question or with another one.
static void test_reenter__a_run_that_waits_is_looked_at_too(void)
{
    for (int is_pure = 0; is_pure < 2; is_pure++) {
        reenter_case t;
        if (!open_case(&t, NULL))
            return;
        atomic_store(&n_entered, 0);
        cadre_team_add_function(t.team,
                                CADRE_FUNCTION(.name = "asker", .run = ask_nth,
                                               .ctx = is_pure ? NULL : &n_entered));
        reenter(&t, is_pure);
        if (is_pure)
            CHECK_TEXT(cdr_buf_text(&t.told), "");
        else
            CHECK_CONTAINS(cdr_buf_text(&t.told),
                           "0 asker -> ask ask#1 input: {\"question\":\"Question 0?\"} "
                           "/ {\"question\":\"Question 1?\"}\n");
        CHECK_TEXT(cadre_frame_status_name(t.result.status), "waiting");
        CHECK_CONTAINS(t.result.error.text, "waits for an answer");
        close_case(&t);
    }
}

static void test_reenter__refuses_what_no_run_takes(void)
{
    reenter_case t;
    cadre_reenter_config config = *CADRE_REENTER(.run = NULL);
    if (!open_case(&t, NULL))
        return;
    CHECK_STATUS(cadre_reenter(NULL, &config, &t.result, &t.err), CADRE_EINVAL, &t.err);
    cadre_error_clear(&t.err);
    config.struct_size = 0;
    CHECK_STATUS(cadre_reenter(t.team, &config, &t.result, &t.err), CADRE_EINVAL,
                 &t.err);
    cadre_error_clear(&t.err);
    config = *CADRE_REENTER(.run = CADRE_RUN(.timeout_ms = -1));
    add_agent(&t, "idle", do_nothing, NULL);
    CHECK_STATUS(cadre_reenter(t.team, &config, &t.result, &t.err), CADRE_EINVAL,
                 &t.err);
    CHECK_CONTAINS(t.err.text, "timeout_ms");
    close_case(&t);
}

// The team is as it was: its next run is in its own store.
static void test_reenter__leaves_the_team_as_it_was(void)
{
    reenter_case t;
    cadre_run *run = NULL;
    if (!open_case(&t, NULL))
        return;
    add_agent(&t, "idle", do_nothing, NULL);
    reenter(&t, true);
    CHECK_INT(t.result.n_differences, 0);
    CHECK_OK(cadre_run_start(t.team, CADRE_RUN(.input = "Hello"), &run, &t.err),
             &t.err);
    CHECK_OK(cadre_run_wait(run, NULL, &t.err), &t.err);
    cadre_record *record = NULL;
    CHECK_OK(cadre_record_open(t.runtime, cadre_run_trace_id(run), &record, &t.err),
             &t.err);
    cadre_record_close(record);
    cadre_run_free(run);
    close_case(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_reenter__a_handoff_is_equal),
    CHECK_TEST(test_reenter__a_batch_and_a_step_are_equal),
    CHECK_TEST(test_reenter__a_team_that_hands_back_is_equal),
    CHECK_TEST(test_reenter__who_asked_and_handed_over_is_equal),
    CHECK_TEST(test_reenter__a_whole_record_runs_nothing),
    CHECK_TEST(test_reenter__nested_calls_are_equal),
    CHECK_TEST(test_reenter__finds_another_answer_of_the_root),
    CHECK_TEST(test_reenter__finds_another_answer_below),
    CHECK_TEST(test_reenter__finds_another_input),
    CHECK_TEST(test_reenter__finds_a_call_that_is_left_out),
    CHECK_TEST(test_reenter__finds_a_call_that_is_new),
    CHECK_TEST(test_reenter__finds_another_callee),
    CHECK_TEST(test_reenter__tells_after_which_commit),
    CHECK_TEST(test_reenter__an_answer_is_said_once),
    CHECK_TEST(test_reenter__a_failure_is_equal_too),
    CHECK_TEST(test_reenter__too_many_bad_calls_are_equal),
    CHECK_TEST(test_reenter__a_run_that_waits_is_looked_at_too),
    CHECK_TEST(test_reenter__refuses_what_no_run_takes),
    CHECK_TEST(test_reenter__leaves_the_team_as_it_was),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/reenter", tests);
}
