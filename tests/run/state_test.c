// The state of a run: who sees what, how deltas go up, and what nobody hears of.
#include "support/check.h"
#include "support/state_case.h"

#include "tree/delta.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static team_case t;

typedef cadre_status (*work)(cadre_frame *frame, cadre_error *err);

static cadre_status run_work(void *ctx, cadre_frame *frame, cadre_error *err)
{
    return (*(work *)ctx)(frame, err);
}

// Sets what its input says, key by key, and answers with what it sees then; with a key
// "fail" it fails.
static cadre_status set_input(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const char *key;
    json_t *value;
    json_t *input = json_loads(cadre_frame_input(frame), 0, NULL);
    cadre_status status = CADRE_OK;
    (void)ctx;
    bool fails = json_object_get(input, "fail") != NULL;
    json_object_del(input, "fail");
    json_object_foreach(input, key, value)
    {
        if (status == CADRE_OK)
            status = cadre_frame_set_state(frame, key, value, err);
    }
    json_decref(input);
    if (status == CADRE_OK && fails)
        return cadre_fail(err, CADRE_EFAILED, "as asked");
    return status == CADRE_OK ? cadre_frame_set_output(frame, state_seen(frame), err)
                              : status;
}

static json_t *longest(void *ctx, const json_t *before, const json_t *update)
{
    (void)ctx;
    if (!json_is_string(update))
        return NULL;
    bool stays = json_string_length(before) >= json_string_length(update);
    return json_string(json_string_value(stays ? before : update));
}

static work lead_work, alice_work, bob_work;

static void open_team(work lead)
{
    team_case_open(&t);
    lead_work = lead;
    cadre_team_add_state(
        t.team, CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_state(
        t.team, CADRE_STATE_KEY(.key = "facts", .reducer = CADRE_REDUCE_MERGE));
    cadre_team_add_state(t.team,
                         CADRE_STATE_KEY(.key = "total", .reducer = CADRE_REDUCE_SUM,
                                         .default_value = "10"));
    cadre_team_add_state(t.team,
                         CADRE_STATE_KEY(.key = "word", .reducer = CADRE_REDUCE_CUSTOM,
                                         .reduce = longest));
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = run_work, .ctx = &lead_work,
                               .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "alice", .run = set_input));
    cadre_team_add_function(t.team, CADRE_FUNCTION(.name = "bob", .run = set_input));
}

#define START "{\"facts\":{},\"notes\":[],\"total\":10}"

static void check_runs(void)
{
    team_case_run(&t, "Go.");
    CHECK_OK(t.status, &t.err);
}

static const cadre_agent *member(cadre_frame *frame, const char *name)
{
    const cadre_agent *found = cadre_frame_find(frame, name);
    CHECK(found != NULL);
    return found;
}

// --- One frame ---

static cadre_status look_only(cadre_frame *frame, cadre_error *err)
{
    (void)err;
    CHECK_TEXT(state_seen(frame), START);
    CHECK(frame->delta == NULL);
    CHECK(cadre_frame_state(frame) == t.team->state_defaults); // nothing was copied
    return CADRE_OK;
}

static void test_state__has_its_defaults_from_the_start(void)
{
    open_team(look_only);
    check_runs();
    state_check_delta(&t, "root", "");
    team_case_close(&t);
}

static cadre_status set_each_kind(cadre_frame *frame, cadre_error *err)
{
    (void)err;
    CHECK_OK(state_put(frame, "free", "1", err), err);
    CHECK_OK(state_put(frame, "free", "{\"a\":null}", err), err);
    CHECK_OK(state_put(frame, "notes", "\"one\"", err), err);
    CHECK_OK(state_put(frame, "notes", "[\"two\", [\"three\"]]", err), err);
    CHECK_OK(state_put(frame, "notes", "null", err), err);
    CHECK_OK(state_put(frame, "facts", "{\"a\": 1, \"b\": 2}", err), err);
    CHECK_OK(state_put(frame, "facts", "{\"b\": 3}", err), err);
    CHECK_OK(state_put(frame, "total", "2", err), err);
    CHECK_OK(state_put(frame, "total", "0.5", err), err);
    CHECK_OK(state_put(frame, "word", "\"long\"", err), err);
    CHECK_OK(state_put(frame, "word", "\"no\"", err), err);
    CHECK_TEXT(state_seen(frame),
               "{\"facts\":{\"a\":1,\"b\":3},\"free\":{\"a\":null},"
               "\"notes\":[\"one\",\"two\",[\"three\"],null],\"total\":12.5,"
               "\"word\":\"long\"}");
    return CADRE_OK;
}

static void test_state__takes_values_by_the_reducer_of_each_key(void)
{
    open_team(set_each_kind);
    check_runs();
    state_check_delta(&t, "root",
                      "{\"free\":{\"a\":null},\"notes\":[\"one\",\"two\",[\"three\"],"
                      "null],\"facts\":{\"a\":1,\"b\":3},\"total\":2.5,"
                      "\"word\":[\"long\",\"no\"]}");
    char *defaults = json_dumps(t.team->state_defaults, JSON_COMPACT | JSON_SORT_KEYS);
    CHECK_TEXT(defaults, START);
    free(defaults);
    team_case_close(&t);
}

static void check_refused(cadre_frame *frame, const char *key, const char *text,
                          cadre_status status, const char *says)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_STATUS(state_put(frame, key, text, &err), status, &err);
    CHECK_TEXT(err.text, says);
}

static cadre_status set_wrong(cadre_frame *frame, cadre_error *err)
{
    json_t *deep = json_integer(1);
    for (int i = 0; i < 200; i++)
        deep = json_pack("[o]", deep);
    check_refused(frame, "total", "\"many\"", CADRE_EINVAL,
                  "agent 'lead': state key 'total' (sum): expected a number, got "
                  "\"many\"");
    check_refused(frame, "facts", "[1]", CADRE_EINVAL,
                  "agent 'lead': state key 'facts' (merge): expected an object, got an "
                  "array");
    check_refused(frame, "word", "7", CADRE_EFAILED,
                  "agent 'lead': state key 'word' (custom): its reducer refused 7");
    check_refused(frame, "Bad name", "7", CADRE_EINVAL,
                  "'lead': state key 'Bad name': a name is [a-z][a-z0-9_]*, at most 64 "
                  "long");
    CHECK_OK(state_put(frame, "total", "9223372036854775000", err), err);
    check_refused(frame, "total", "9223372036854775000", CADRE_EINVAL,
                  "agent 'lead': state key 'total' (sum): the sum is too large");
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(cadre_frame_set_state(frame, "free", deep, &own), CADRE_EINVAL, &own);
    CHECK_CONTAINS(own.text, "nested deeper than");
    CHECK_STATUS(cadre_frame_set_state(frame, NULL, deep, NULL), CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_frame_set_state(frame, "free", NULL, NULL), CADRE_EINVAL, NULL);
    CHECK_STATUS(cadre_frame_set_state(NULL, "free", deep, NULL), CADRE_EINVAL, NULL);
    CHECK(cadre_frame_state(NULL) == NULL);
    json_decref(deep);
    CHECK_TEXT(state_seen(frame),
               "{\"facts\":{},\"notes\":[],\"total\":9223372036854775010}");
    return CADRE_OK;
}

static void test_state__refuses_what_a_reducer_does_not_take(void)
{
    open_team(set_wrong);
    check_runs();
    team_case_close(&t);
}

// --- Values that are shared do not change ---

static cadre_status hold_and_set(cadre_frame *frame, cadre_error *err)
{
    CHECK_OK(state_put(frame, "notes", "\"a\"", err), err);
    json_t *held = json_incref((json_t *)(uintptr_t)cadre_frame_state(frame));
    json_t *given = json_pack("[s]", "b");
    CHECK_OK(cadre_frame_set_state(frame, "notes", given, err), err);
    json_array_append_new(given, json_string("mine")); // it was copied
    json_decref(given);
    CHECK_INT(json_array_size(json_object_get(held, "notes")), 1);
    json_decref(held);
    CHECK_INT(json_array_size(json_object_get(cadre_frame_state(frame), "notes")), 2);
    return CADRE_OK;
}

static void test_state__values_that_somebody_holds_never_change(void)
{
    open_team(hold_and_set);
    check_runs();
    state_check_delta(&t, "root", "{\"notes\":[\"a\",\"b\"]}");
    team_case_close(&t);
}

enum {
    MANY = 20000
};

// Quadratic work would take minutes.
static cadre_status append_many(cadre_frame *frame, cadre_error *err)
{
    for (int i = 0; i < MANY; i++)
        CHECK_OK(state_put(frame, "notes", "1", err), err);
    CHECK_INT(json_array_size(json_object_get(cadre_frame_state(frame), "notes")),
              MANY);
    return CADRE_OK;
}

static void test_state__appending_costs_what_is_added(void)
{
    open_team(append_many);
    cadre_run *run = team_case_start(&t, CADRE_RUN(.input = "Go.", .no_events = true));
    CHECK_OK(cadre_run_wait(run, NULL, &t.err), &t.err);
    team_case_close(&t);
}

// --- Calls ---

static cadre_status delegate(cadre_frame *frame, const char *name, const char *input,
                             cadre_outcome *out, cadre_error *err)
{
    return cadre_frame_delegate(
        frame, CADRE_CALL(.agent = member(frame, name), .input = input), out, err);
}

static cadre_status delegate_and_call(cadre_frame *frame, cadre_error *err)
{
    cadre_outcome out;
    CHECK_OK(state_put(frame, "notes", "\"lead\"", err), err);
    CHECK_OK(delegate(frame, "alice", "{\"notes\": \"alice\", \"a\": 1}", &out, err),
             err);
    CHECK_TEXT(out.text, "{\"a\":1,\"facts\":{},\"notes\":[\"lead\",\"alice\"],"
                         "\"total\":10}");
    CHECK_OK(cadre_frame_call(frame,
                              CADRE_CALL(.agent = member(frame, "bob"),
                                         .input = "{\"notes\": \"bob\", \"a\": 2}"),
                              &out, err),
             err);
    CHECK_TEXT(out.text, "{\"a\":2,\"facts\":{},\"notes\":[\"lead\",\"alice\",\"bob\"],"
                         "\"total\":10}");
    CHECK_TEXT(state_seen(frame), out.text);
    return CADRE_OK;
}

static void test_state__callees_see_and_extend_that_of_their_caller(void)
{
    open_team(delegate_and_call);
    check_runs();
    state_check_delta(&t, "alice#1", "{\"notes\":[\"alice\"],\"a\":1}");
    state_check_delta(&t, "bob#1", "{\"notes\":[\"bob\"],\"a\":2}");
    state_check_delta(&t, "root", "{\"notes\":[\"lead\",\"alice\",\"bob\"],\"a\":2}");
    team_case_close(&t);
}

static cadre_status survive_failures(cadre_frame *frame, cadre_error *err)
{
    cadre_error own = CADRE_ERROR_INIT;
    CHECK_STATUS(delegate(frame, "alice", "{\"notes\": 1, \"fail\": 1}", NULL, &own),
                 CADRE_EFAILED, &own);
    CHECK_TEXT(state_seen(frame), START);
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = member(frame, "alice"), .input = "{\"notes\": 2}"),
        CADRE_CALL(.agent = member(frame, "bob"), .input = "{\"notes\":3,\"fail\":1}")};
    cadre_error_clear(&own);
    CHECK_STATUS(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL, &own),
        CADRE_EFAILED, &own);
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[2],\"total\":10}");
    (void)err;
    return CADRE_OK;
}

static void test_state__nothing_is_heard_of_what_failed(void)
{
    open_team(survive_failures);
    check_runs();
    state_check_delta(&t, "alice#1", "");
    team_case_close(&t);
}

static cadre_status named_twice(cadre_frame *frame, cadre_error *err)
{
    for (int i = 0; i < 2; i++)
        CHECK_OK(
            cadre_frame_delegate(frame,
                                 CADRE_CALL(.agent = member(frame, "alice"),
                                            .input = "{\"total\": 1}", .key = "once"),
                                 NULL, err),
            err);
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[],\"total\":12}");
    return CADRE_OK;
}

// It answers from its record, as often as it is asked.
static void test_state__a_named_call_gives_its_delta_each_time(void)
{
    open_team(named_twice);
    check_runs();
    team_case_close(&t);
}

// --- Batches ---

static struct {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    int n_done;
} order = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static cadre_status work_last(cadre_frame *frame, cadre_error *err)
{
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[\"lead\"],\"total\":10}");
    pthread_mutex_lock(&order.mu);
    while (order.n_done == 0)
        pthread_cond_wait(&order.changed, &order.mu);
    pthread_mutex_unlock(&order.mu);
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[\"lead\"],\"total\":10}");
    return state_put(frame, "notes", "\"first in call order\"", err);
}

static cadre_status work_first(cadre_frame *frame, cadre_error *err)
{
    cadre_status status = state_put(frame, "notes", "\"second\"", err);
    pthread_mutex_lock(&order.mu);
    order.n_done++;
    pthread_cond_broadcast(&order.changed);
    pthread_mutex_unlock(&order.mu);
    return status;
}

static cadre_status batch_both(cadre_frame *frame, cadre_error *err)
{
    const cadre_call *calls[] = {CADRE_CALL(.agent = member(frame, "alice")),
                                 CADRE_CALL(.agent = member(frame, "bob"))};
    CHECK_OK(state_put(frame, "notes", "\"lead\"", err), err);
    CHECK_OK(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 2), NULL, err),
        err);
    CHECK_TEXT(state_seen(frame),
               "{\"facts\":{},\"notes\":[\"lead\",\"first in call order\",\"second\"],"
               "\"total\":10}");
    return CADRE_OK;
}

static void test_state__branches_are_taken_in_call_order(void)
{
    team_case_open(&t);
    lead_work = batch_both;
    alice_work = work_last;
    bob_work = work_first;
    order.n_done = 0;
    cadre_team_add_state(
        t.team, CADRE_STATE_KEY(.key = "notes", .reducer = CADRE_REDUCE_APPEND));
    cadre_team_add_state(
        t.team, CADRE_STATE_KEY(.key = "facts", .reducer = CADRE_REDUCE_MERGE));
    cadre_team_add_state(t.team,
                         CADRE_STATE_KEY(.key = "total", .reducer = CADRE_REDUCE_SUM,
                                         .default_value = "10"));
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "lead", .run = run_work, .ctx = &lead_work,
                               .members = CADRE_NAMES("alice", "bob")));
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "alice", .run = run_work, .ctx = &alice_work));
    cadre_team_add_function(
        t.team, CADRE_FUNCTION(.name = "bob", .run = run_work, .ctx = &bob_work));
    check_runs();
    team_case_close(&t);
}

#define CONFLICT                                                                       \
    "state key 'a' was set by 'alice' and by 'bob' at the same time; give it a "       \
    "reducer (append, merge, sum), or each of them another key"

static cadre_status batch_conflict(cadre_frame *frame, cadre_error *err)
{
    cadre_error own = CADRE_ERROR_INIT;
    cadre_outcome out[3];
    const cadre_call *calls[] = {
        CADRE_CALL(.agent = member(frame, "alice"), .input = "{\"a\":1,\"total\":1}"),
        CADRE_CALL(.agent = member(frame, "bob"), .input = "{\"a\":2,\"total\":2}"),
        CADRE_CALL(.agent = member(frame, "bob"), .input = "{\"b\":3,\"total\":4}")};
    CHECK_STATUS(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 3), out, &own),
        CADRE_EFAILED, &own);
    CHECK_TEXT(own.text, CONFLICT);
    CHECK_INT(out[0].status, CADRE_FRAME_COMPLETED);
    CHECK_INT(out[1].status, CADRE_FRAME_FAILED);
    CHECK_TEXT(out[1].error, CONFLICT);
    CHECK_TEXT(out[1].text, "");
    CHECK_INT(out[2].status, CADRE_FRAME_COMPLETED);
    CHECK_TEXT(state_seen(frame),
               "{\"a\":1,\"b\":3,\"facts\":{},\"notes\":[],\"total\":15}");
    // One after the other there is no conflict.
    CHECK_OK(delegate(frame, "alice", "{\"a\": 4}", NULL, err), err);
    CHECK_OK(
        cadre_frame_batch(frame, CADRE_BATCH(.calls = calls, .n_calls = 1), NULL, err),
        err);
    return cadre_fail_class(err, CADRE_EFAILED, own.error_class, false, "%s", own.text);
}

static void test_state__two_branches_cannot_both_replace_a_key(void)
{
    open_team(batch_conflict);
    team_case_run(&t, "Go.");
    CHECK_STATUS(t.status, CADRE_EFAILED, &t.err);
    CHECK_TEXT(t.err.text, CONFLICT);
    team_case_close(&t);
}

// --- Steps ---

static json_t *set_in_step(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[1],\"total\":10}");
    return state_put(frame, "notes", "2", err) == CADRE_OK ? json_true() : NULL;
}

static cadre_status take_a_step(cadre_frame *frame, cadre_error *err)
{
    CHECK_OK(state_put(frame, "notes", "1", err), err);
    CHECK_OK(cadre_frame_step(frame, CADRE_STEP(.name = "it", .run = set_in_step), NULL,
                              err),
             err);
    CHECK_TEXT(state_seen(frame), "{\"facts\":{},\"notes\":[1,2],\"total\":10}");
    return CADRE_OK;
}

static void test_state__a_step_adds_to_that_of_its_frame(void)
{
    open_team(take_a_step);
    check_runs();
    state_check_delta(&t, "it#1", "{\"notes\":[2]}");
    team_case_close(&t);
}

// --- Other runs, other watchers ---

static cadre_status spawn_alice(cadre_frame *frame, cadre_error *err)
{
    CHECK_OK(state_put(frame, "notes", "\"mine\"", err), err);
    CHECK_OK(cadre_frame_spawn(
                 frame,
                 CADRE_CALL(.agent = member(frame, "alice"), .input = "{\"total\": 1}"),
                 NULL, err),
             err);
    return CADRE_OK;
}

static cadre_status note_spawned(void *ctx, const cadre_record_info *info,
                                 cadre_error *err)
{
    cadre_record *record = NULL;
    size_t n = 0;
    cadre_status status = cadre_record_open(t.runtime, info->trace_id, &record, err);
    const cadre_frame_info *frames = cadre_record_frames(record, &n);
    if (CHECK_INT(n, 1)) {
        CHECK_TEXT(frames[0].output, "{\"facts\":{},\"notes\":[],\"total\":11}");
        CHECK_TEXT(frames[0].delta, "{\"total\":1}");
    }
    cadre_record_close(record);
    ++*(int *)ctx;
    return status;
}

static void test_state__of_a_spawned_run_is_its_own(void)
{
    int n_runs = 0;
    open_team(spawn_alice);
    check_runs();
    CHECK_OK(cadre_runtime_wait(t.runtime, 20000, NULL), NULL);
    CHECK_OK(cadre_record_list_spawned(t.runtime, cadre_run_trace_id(t.run),
                                       note_spawned, &n_runs, NULL),
             NULL);
    CHECK_INT(n_runs, 1);
    state_check_delta(&t, "root", "{\"notes\":[\"mine\"]}");
    team_case_close(&t);
}

static cadre_status set_loud_and_quiet(cadre_frame *frame, cadre_error *err)
{
    CHECK_OK(state_put(frame, "notes", "\"x\"", err), err);
    CHECK_OK(cadre_frame_delegate(frame,
                                  CADRE_CALL(.agent = member(frame, "alice"),
                                             .input = "{\"total\": 1}",
                                             .flags = CADRE_CALL_QUIET),
                                  NULL, err),
             err);
    return delegate(frame, "bob", "{\"free\": {\"a\": [1]}}", NULL, err);
}

static void test_state__what_is_set_is_told(void)
{
    open_team(set_loud_and_quiet);
    check_runs();
    CHECK_TEXT(recorder_text(&t.recorder, CADRE_EVENT_STATE_DELTA),
               "lead: notes \"x\"\nbob: free {\"a\":[1]}\n");
    const recorded_event *event =
        recorder_find(&t.recorder, CADRE_EVENT_STATE_DELTA, 1);
    if (CHECK(event != NULL))
        CHECK_INT(event->seq, 0);
    team_case_close(&t);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_state__has_its_defaults_from_the_start),
    CHECK_TEST(test_state__takes_values_by_the_reducer_of_each_key),
    CHECK_TEST(test_state__refuses_what_a_reducer_does_not_take),
    CHECK_TEST(test_state__values_that_somebody_holds_never_change),
    CHECK_TEST(test_state__appending_costs_what_is_added),
    CHECK_TEST(test_state__callees_see_and_extend_that_of_their_caller),
    CHECK_TEST(test_state__nothing_is_heard_of_what_failed),
    CHECK_TEST(test_state__a_named_call_gives_its_delta_each_time),
    CHECK_TEST(test_state__branches_are_taken_in_call_order),
    CHECK_TEST(test_state__two_branches_cannot_both_replace_a_key),
    CHECK_TEST(test_state__a_step_adds_to_that_of_its_frame),
    CHECK_TEST(test_state__of_a_spawned_run_is_its_own),
    CHECK_TEST(test_state__what_is_set_is_told),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/state", tests);
}
