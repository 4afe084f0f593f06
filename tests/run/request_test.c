// Requests with a name: however often one is made, it is run once.
#include "support/check.h"
#include "support/folder.h"
#include "support/mortal_store.h"

#include "cadre/cadre.h"
#include "team/kinds.h"
#include "team/runtime.h"
#include "team/team.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- A desk: `front` hands over to `back`, who counts and answers ---

typedef struct fixture {
    cadre_runtime *runtime;
    cadre_team *team;
    test_folder folder;
    cadre_error err;
    atomic_int n_calls;
    bool fails, kills;
    atomic_bool is_inside, waits;
} fixture;

static cadre_status count(void *ctx, cadre_frame *frame, cadre_error *err)
{
    fixture *f = ctx;
    int n = atomic_fetch_add(&f->n_calls, 1);
    atomic_store(&f->is_inside, true);
    while (atomic_load(&f->waits))
        cadre_frame_sleep(frame, 1, NULL);
    if (f->kills && n == 0)
        mortal_store_die();
    if (f->fails)
        return cadre_fail(err, CADRE_EFAILED, "no such order");
    return cadre_frame_set_output(frame, cadre_frame_printf(frame, "answer %d", n + 1),
                                  err);
}

static cadre_status hand_over(void *ctx, cadre_frame *frame, cadre_error *err)
{
    const cadre_agents members = cadre_frame_members(frame);
    (void)ctx;
    return cadre_frame_delegate(frame,
                                &(const cadre_call){.struct_size = sizeof(cadre_call),
                                                    .agent = members.items[0]},
                                NULL, err);
}

static void open_on(fixture *f, const char *url)
{
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url), &f->runtime, &f->err),
             &f->err);
    f->team = cadre_team_new(f->runtime, "desk");
    cadre_team_add_function(f->team, CADRE_FUNCTION(.name = "front", .run = hand_over,
                                                    .members = CADRE_NAMES("back")));
    cadre_team_add_function(f->team,
                            CADRE_FUNCTION(.name = "back", .run = count, .ctx = f));
    cadre_team_set_root(f->team, "front");
}

static bool set_up(fixture *f, const char *type)
{
    char url[FOLDER_PATH_SIZE] = "memory";
    memset(f, 0, sizeof *f);
    if (!CHECK(folder_make(&f->folder)))
        return false;
    if (strcmp(type, "memory") != 0)
        snprintf(url, sizeof url, "%s:%s/runs.db", type, f->folder.path);
    open_on(f, url);
    mortal_store_wrap(f->runtime);
    return true;
}

static void tear_down(fixture *f)
{
    cadre_team_free(f->team);
    cadre_runtime_close(f->runtime);
    folder_remove(&f->folder);
}

static void each_store(void (*check)(const char *type))
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check(cdr_kinds_stores[i]->type);
}

typedef struct answered {
    cadre_status status, started;
    char trace[64], text[64], agent[64], error[200];
    cadre_frame_status ended;
    cadre_error_class error_class;
    char events[200];
} answered;

static void note_events(cadre_run *run, answered *a)
{
    const cadre_event *event = NULL;
    size_t len = 0;
    while (cadre_run_next(run, &event, NULL) == CADRE_OK && len < sizeof a->events)
        len += (size_t)snprintf(a->events + len, sizeof a->events - len, "%s ",
                                cadre_event_type_name(event->type));
}

static answered ask(fixture *f, const cadre_run_config *config)
{
    answered a = {.status = CADRE_OK};
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    cadre_error_clear(&f->err);
    a.started = cadre_run_start(f->team, config, &run, &f->err);
    if (a.started != CADRE_OK)
        return a;
    note_events(run, &a);
    a.status = cadre_run_wait(run, &result, &f->err);
    snprintf(a.trace, sizeof a.trace, "%s", result->trace_id);
    snprintf(a.text, sizeof a.text, "%s", result->text);
    snprintf(a.agent, sizeof a.agent, "%s", result->agent);
    snprintf(a.error, sizeof a.error, "%s", result->error.message);
    a.error_class = result->error.error_class;
    a.ended = result->status;
    cadre_run_free(run);
    return a;
}

static int count_runs(fixture *f);

// --- It has ended ---

static void check_again(const char *type)
{
    fixture f;
    if (!set_up(&f, type))
        return;
    answered first = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_OK(first.status, &f.err);
    CHECK_TEXT(first.text, "answer 1");
    for (int i = 0; i < 2; i++) {
        answered again = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
        CHECK_OK(again.started, &f.err);
        CHECK_OK(again.status, &f.err);
        CHECK_TEXT(again.trace, first.trace);
        CHECK_TEXT(again.text, "answer 1");
        CHECK_TEXT(again.agent, "back");
        CHECK_TEXT(again.agent, first.agent);
        CHECK_INT(again.ended, CADRE_FRAME_COMPLETED);
        CHECK_TEXT(again.events, "stream_start stream_end ");
    }
    CHECK_INT(atomic_load(&f.n_calls), 1);
    CHECK_INT(count_runs(&f), 1);
    tear_down(&f);
}

static void test_request__of_a_run_that_ended_gets_its_answer(void)
{
    each_store(check_again);
}

static void check_failed(const char *type)
{
    fixture f;
    if (!set_up(&f, type))
        return;
    f.fails = true;
    answered first = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_INT(first.status, CADRE_EFAILED);
    answered again = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_OK(again.started, NULL);
    CHECK_INT(again.status, CADRE_EFAILED);
    CHECK_INT(again.ended, CADRE_FRAME_FAILED);
    CHECK_TEXT(again.error, first.error);
    CHECK_INT(again.error_class, first.error_class);
    CHECK_TEXT(again.trace, first.trace);
    CHECK_INT(atomic_load(&f.n_calls), 1);
    tear_down(&f);
}

static void test_request__of_a_run_that_failed_fails_again(void)
{
    each_store(check_failed);
}

// The stack tree is that of the first run, and a cancel comes too late.
static void test_request__has_the_frames_of_the_first_run(void)
{
    fixture f;
    cadre_run *run = NULL;
    const cadre_frame_info *frames = NULL;
    const cadre_result *result = NULL;
    size_t n = 0;
    if (!set_up(&f, "memory"))
        return;
    ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_OK(cadre_run_start(f.team,
                             CADRE_RUN(.input = "Where?", .request_id = "order-1",
                                       .no_events = true),
                             &run, &f.err),
             &f.err);
    cadre_run_cancel(run, NULL);
    CHECK_OK(cadre_run_wait(run, &result, &f.err), &f.err);
    CHECK_OK(cadre_run_frames(run, &frames, &n, &f.err), &f.err);
    CHECK_INT(n, 2);
    CHECK_TEXT(result->text, "answer 1");
    cadre_run_free(run);
    tear_down(&f);
}

// --- Other content ---

static void check_other(const char *type)
{
    fixture f;
    if (!set_up(&f, type))
        return;
    answered first = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    answered other = ask(&f, CADRE_RUN(.input = "When?", .request_id = "order-1"));
    CHECK_STATUS(other.started, CADRE_EINVAL, &f.err);
    CHECK_CONTAINS(f.err.text, "order-1");
    CHECK_CONTAINS(f.err.text, first.trace);
    CHECK_INT(atomic_load(&f.n_calls), 1);
    other = ask(&f, CADRE_RUN(.input = "When?", .request_id = "order-2"));
    CHECK_OK(other.status, &f.err);
    CHECK_TEXT(other.text, "answer 2");
    tear_down(&f);
}

static void test_request__with_other_content_is_refused(void)
{
    each_store(check_other);
}

static void test_request__inputs_are_content(void)
{
    fixture f;
    cdr_at at = {0};
    json_t *schema = json_pack("{s:s, s:i}", "type", "integer", "default", 1);
    json_t *as_text = json_pack("{s:s}", "size", "2");
    json_t *as_number = json_pack("{s:i}", "size", 2);
    if (set_up(&f, "memory")) {
        cdr_team_add_input(f.team, "size", schema, &at);
        ask(&f, CADRE_RUN(.input = "x", .request_id = "r", .inputs = as_text));
        answered again =
            ask(&f, CADRE_RUN(.input = "x", .request_id = "r", .inputs = as_number));
        CHECK_TEXT(again.text, "answer 1");
        again = ask(&f, CADRE_RUN(.input = "x", .request_id = "r"));
        CHECK_STATUS(again.started, CADRE_EINVAL, &f.err);
        tear_down(&f);
    }
    json_decref(schema);
    json_decref(as_text);
    json_decref(as_number);
}

static void test_request__is_unique_in_its_session(void)
{
    fixture f;
    if (!set_up(&f, "memory"))
        return;
    const cadre_run_config *in_a =
        CADRE_RUN(.input = "x", .request_id = "r", .session = "a");
    const cadre_run_config *in_b =
        CADRE_RUN(.input = "x", .request_id = "r", .session = "b");
    const cadre_run_config *more =
        CADRE_RUN(.input = "y", .request_id = "s", .session = "a");
    CHECK_TEXT(ask(&f, in_a).text, "answer 1");
    CHECK_TEXT(ask(&f, in_b).text, "answer 2");
    CHECK_TEXT(ask(&f, more).text, "answer 3");
    CHECK_TEXT(ask(&f, in_a).text, "answer 1");
    CHECK_TEXT(ask(&f, in_b).text, "answer 2");
    CHECK_TEXT(ask(&f, more).text, "answer 3");
    CHECK_INT(count_runs(&f), 3);
    answered empty = ask(&f, CADRE_RUN(.input = "x", .request_id = ""));
    CHECK_STATUS(empty.started, CADRE_EINVAL, &f.err);
    CHECK_CONTAINS(f.err.text, "request_id is empty");
    tear_down(&f);
}

static void test_request__names_a_session(void)
{
    fixture f;
    if (!set_up(&f, "memory"))
        return;
    ask(&f, CADRE_RUN(.input = "x", .request_id = "r"));
    answered again =
        ask(&f, CADRE_RUN(.input = "x", .request_id = "r", .session = "r"));
    CHECK_TEXT(again.text, "answer 1");
    tear_down(&f);
}

// --- It has not ended ---

static void check_cut(const char *type)
{
    fixture f;
    if (!set_up(&f, type))
        return;
    f.kills = true;
    answered first = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_INT(first.status, CADRE_ESTORE);
    mortal_store_cut((store_cut){0});
    answered again = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_OK(again.started, &f.err);
    CHECK_OK(again.status, &f.err);
    CHECK_TEXT(again.trace, first.trace);
    CHECK_TEXT(again.text, "answer 2"); // the agent's code ran again
    again = ask(&f, CADRE_RUN(.input = "Where?", .request_id = "order-1"));
    CHECK_TEXT(again.text, "answer 2");
    CHECK_INT(atomic_load(&f.n_calls), 2);
    CHECK_INT(count_runs(&f), 1);
    tear_down(&f);
}

static void test_request__of_a_run_that_was_cut_goes_on(void)
{
    each_store(check_cut);
}

static void check_alive(const char *type)
{
    fixture f;
    cadre_run *run = NULL;
    if (!set_up(&f, type))
        return;
    atomic_store(&f.waits, true);
    CHECK_OK(cadre_run_start(f.team, CADRE_RUN(.input = "x", .request_id = "r"), &run,
                             &f.err),
             &f.err);
    while (!atomic_load(&f.is_inside))
        sched_yield();
    answered busy = ask(&f, CADRE_RUN(.input = "x", .request_id = "r"));
    CHECK_STATUS(busy.started, CADRE_EBUSY, &f.err);
    CHECK_CONTAINS(f.err.text, cadre_run_trace_id(run));
    CHECK(f.err.retryable);
    cadre_error_clear(&f.err);
    atomic_store(&f.waits, false);
    CHECK_OK(cadre_run_wait(run, NULL, &f.err), &f.err);
    cadre_run_free(run);
    CHECK_TEXT(ask(&f, CADRE_RUN(.input = "x", .request_id = "r")).text, "answer 1");
    tear_down(&f);
}

static void test_request__of_a_live_run_is_busy(void)
{
    each_store(check_alive);
}

// --- Two at once ---

enum {
    N_RACES = 25,
    N_RACERS = 3
};

typedef struct racer {
    fixture f;
    int n_answers, n_busy, n_other;
    char traces[N_RACES][64];
} racer;

static void *race(void *arg)
{
    racer *r = arg;
    for (int i = 0; i < N_RACES; i++) {
        char id[32];
        snprintf(id, sizeof id, "r%d", i);
        answered a = {.started = CADRE_EBUSY};
        while (a.started == CADRE_EBUSY) {
            a = ask(&r->f, CADRE_RUN(.input = "x", .request_id = id));
            r->n_busy += a.started == CADRE_EBUSY;
            r->n_other += a.started == CADRE_EBUSY && !r->f.err.retryable;
        }
        r->n_answers += a.started == CADRE_OK && a.status == CADRE_OK;
        r->n_other += a.started != CADRE_OK;
        memcpy(r->traces[i], a.trace, sizeof a.trace);
    }
    return NULL;
}

// Each runtime is to the store what a process of its own is.
static void test_request__two_that_race_are_one_run(void)
{
    racer *racers = calloc(N_RACERS, sizeof *racers);
    pthread_t threads[N_RACERS];
    test_folder folder;
    char url[FOLDER_PATH_SIZE];
    int n_calls = 0;
    if (!CHECK(racers != NULL) || !CHECK(folder_make(&folder))) {
        free(racers);
        return;
    }
    snprintf(url, sizeof url, "sqlite:%s/runs.db", folder.path);
    for (int i = 0; i < N_RACERS; i++)
        open_on(&racers[i].f, url);
    for (int i = 0; i < N_RACERS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    for (int i = 0; i < N_RACERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(racers[i].n_answers, N_RACES);
        CHECK_INT(racers[i].n_other, 0);
        n_calls += atomic_load(&racers[i].f.n_calls);
    }
    CHECK_INT(n_calls, N_RACES);
    CHECK_INT(count_runs(&racers[0].f), N_RACES);
    for (int i = 0; i < N_RACES; i++)
        for (int k = 1; k < N_RACERS; k++)
            CHECK_TEXT(racers[k].traces[i], racers[0].traces[i]);
    for (int i = 0; i < N_RACERS; i++) {
        cadre_team_free(racers[i].f.team);
        cadre_runtime_close(racers[i].f.runtime);
    }
    free(racers);
    folder_remove(&folder);
}

// Another process makes the same request, from its start to its end, after this one has
// looked for it and before it reads the session.
static struct {
    const cadre_store_ops *sound;
    fixture *other;
    int n_looks;
    answered answer;
} between;

static cadre_status read_between(void *store, const cadre_query *query,
                                 const cadre_store_reader *reader, cadre_error *err)
{
    if (query->kind == CADRE_QUERY_SESSION && ++between.n_looks == 2)
        between.answer = ask(between.other, CADRE_RUN(.input = "x", .request_id = "r"));
    return between.sound->read(store, query, reader, err);
}

static void test_request__that_another_made_and_ended_meanwhile_is_not_run(void)
{
    fixture f, other;
    char url[FOLDER_PATH_SIZE];
    memset(&f, 0, sizeof f);
    memset(&other, 0, sizeof other);
    if (!CHECK(folder_make(&f.folder)))
        return;
    snprintf(url, sizeof url, "sqlite:%s/runs.db", f.folder.path);
    open_on(&f, url);
    open_on(&other, url);
    cadre_store_ops ops = *f.runtime->store_ops;
    memset(&between, 0, sizeof between);
    between.sound = f.runtime->store_ops;
    between.other = &other;
    ops.read = read_between;
    f.runtime->store_ops = &ops;
    answered a = ask(&f, CADRE_RUN(.input = "x", .request_id = "r"));
    f.runtime->store_ops = between.sound;
    CHECK_OK(a.started, &f.err);
    CHECK_OK(a.status, &f.err);
    CHECK_TEXT(between.answer.text, "answer 1");
    CHECK_TEXT(a.text, "answer 1");
    CHECK_TEXT(a.trace, between.answer.trace);
    CHECK_INT(atomic_load(&f.n_calls), 0);
    cadre_team_free(other.team);
    cadre_runtime_close(other.runtime);
    tear_down(&f);
}

static cadre_status count_run(void *ctx, const cadre_record_info *info,
                              cadre_error *err)
{
    (void)info;
    (void)err;
    ++*(int *)ctx;
    return CADRE_OK;
}

static int count_runs(fixture *f)
{
    int n = 0;
    CHECK_OK(cadre_record_list(f->runtime, 0, count_run, &n, NULL), NULL);
    return n;
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_request__of_a_run_that_ended_gets_its_answer),
    CHECK_TEST(test_request__of_a_run_that_failed_fails_again),
    CHECK_TEST(test_request__has_the_frames_of_the_first_run),
    CHECK_TEST(test_request__with_other_content_is_refused),
    CHECK_TEST(test_request__inputs_are_content),
    CHECK_TEST(test_request__is_unique_in_its_session),
    CHECK_TEST(test_request__names_a_session),
    CHECK_TEST(test_request__of_a_run_that_was_cut_goes_on),
    CHECK_TEST(test_request__of_a_live_run_is_busy),
    CHECK_TEST(test_request__two_that_race_are_one_run),
    CHECK_TEST(test_request__that_another_made_and_ended_meanwhile_is_not_run),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/request", tests);
}
