// Resume: who may go on with a run, and what a call that kills its process leads to.
#include "support/cut_case.h"

#include "cadre/ext/model.h"
#include "run/lease.h"
#include "run/run.h"
#include "team/kinds.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// --- A team with one tool ---

typedef struct gate {
    pthread_mutex_t mu;
    pthread_cond_t changed;
    bool is_inside, is_open;
    int n_calls;
} gate;

#define GATE_INIT                                                                      \
    {                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false, 0           \
    }

static cadre_status wait_at_gate(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    gate *g = ctx;
    (void)arguments;
    pthread_mutex_lock(&g->mu);
    g->is_inside = true;
    g->n_calls++;
    pthread_cond_broadcast(&g->changed);
    while (!g->is_open)
        pthread_cond_wait(&g->changed, &g->mu);
    pthread_mutex_unlock(&g->mu);
    return cadre_frame_set_output(frame, "through", err);
}

static cadre_status kill_process(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err)
{
    int *n_calls = ctx;
    (void)arguments;
    (*n_calls)++;
    mortal_store_die();
    return cadre_frame_set_output(frame, "unheard", err);
}

typedef cadre_status (*tool_run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                                 cadre_error *err);

static cadre_team *make_team(cut_case *f, tool_run act, void *ctx, bool is_safe)
{
    cadre_team *team = cadre_team_new(f->runtime, "office");
    cadre_team_add_llm(team, CADRE_LLM(.name = "clerk", .model = "openai/m",
                                       .tools = CADRE_NAMES("act")));
    cadre_team_add_tool(team, CADRE_TOOL(.name = "act", .run = act, .ctx = ctx,
                                         .replay_safe = is_safe));
    cadre_team_set_root(team, "clerk");
    return team;
}

static bool set_up(cut_case *f, const char *type, tool_run act, void *ctx)
{
    if (!cut_case_open(f, type))
        return false;
    f->team = make_team(f, act, ctx, true);
    return true;
}

// --- Who may go on ---

static bool is_held(cut_case *f, const char *trace)
{
    cadre_record *record = NULL;
    CHECK_OK(cadre_record_open(f->runtime, trace, &record, &f->err), &f->err);
    bool held = cadre_record_get_info(record)->is_held;
    cadre_record_close(record);
    return held;
}

static void check_live_run(const char *type)
{
    cut_case f;
    gate g = GATE_INIT;
    cadre_run *run = NULL;
    cadre_run *second = NULL;
    if (!set_up(&f, type, wait_at_gate, &g))
        return;
    CHECK_OK(cadre_run_start(f.team, CADRE_RUN(.input = "Go."), &run, &f.err), &f.err);
    pthread_mutex_lock(&g.mu);
    while (!g.is_inside)
        pthread_cond_wait(&g.changed, &g.mu);
    pthread_mutex_unlock(&g.mu);
    const char *trace = cadre_run_trace_id(run);
    CHECK(is_held(&f, trace));
    cadre_status status = cadre_run_resume(f.team, trace, NULL, &second, &f.err);
    CHECK_STATUS(status, CADRE_EBUSY, &f.err);
    CHECK_INT(f.err.error_class, CADRE_CLASS_LEASE);
    CHECK_CONTAINS(f.err.text, "is under way");
    cadre_error_clear(&f.err);
    pthread_mutex_lock(&g.mu);
    g.is_open = true;
    pthread_cond_broadcast(&g.changed);
    pthread_mutex_unlock(&g.mu);
    CHECK_OK(cadre_run_wait(run, NULL, &f.err), &f.err);
    CHECK(!is_held(&f, trace));
    CHECK_INT(g.n_calls, 1);
    cadre_run_free(run);
    cut_case_close(&f);
}

static void test_resume__a_live_run_of_this_process_is_busy(void)
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check_live_run(cdr_kinds_stores[i]->type);
}

// The name of a holder of this place: another process, in the form of lease.h.
static void name_holder(const char *own, pid_t pid, char *name, size_t size)
{
    char path[64];
    char stat[1024] = "";
    const char *at = own;
    for (int i = 0; i < 3; i++)
        at = strchr(at, '/') + 1;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL && fgets(stat, sizeof stat, file) != NULL);
    if (file != NULL)
        fclose(file);
    char *field = strrchr(stat, ')');
    for (int i = 2; field != NULL && i < 22; i++)
        field = strchr(field + 1, ' ');
    unsigned long long start = field == NULL ? 0 : strtoull(field, NULL, 10);
    snprintf(name, size, "%.*s%ld/%llu/host/run", (int)(at - own), own, (long)pid,
             start);
}

// Dead as soon as it has ended, though its parent has not asked for it.
static void test_resume__a_zombie_holds_nothing(void)
{
    cut_case f;
    int n_calls = 0;
    int ends[2];
    char holder[300];
    siginfo_t info;
    cadre_run *run = NULL;
    const cadre_trace_row row = {.status = CADRE_FRAME_RUNNING, .lease_owner = holder};
    if (!CHECK_INT(pipe(ends), 0))
        return;
    pid_t child = fork(); // before there are threads
    if (child == 0) {
        char byte;
        close(ends[1]);
        _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(ends[0]);
    if (set_up(&f, "memory", kill_process, &n_calls)) {
        CHECK_OK(cadre_run_start(f.team, CADRE_RUN(.input = "Go."), &run, &f.err),
                 &f.err);
        name_holder(run->tree->lease_owner, child, holder, sizeof holder);
        CHECK(cdr_lease_is_held(&row));
    }
    close(ends[1]);
    CHECK_INT(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
    CHECK(!cdr_lease_is_held(&row));
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK(!cdr_lease_is_held(&row));
    cadre_run_free(run);
    cut_case_close(&f);
}

// --- A call that kills its process ---

static void check_deadly_tool(const char *type)
{
    cut_case f;
    int n_calls = 0;
    int n_resumed = 0;
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    if (!set_up(&f, type, kill_process, &n_calls))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    cadre_status status = CADRE_ESTORE;
    while (status == CADRE_ESTORE && n_resumed++ < 10) {
        cadre_run_free(run);
        run = NULL;
        mortal_store_cut((store_cut){0});
        cadre_error_clear(&f.err);
        if (!CHECK_OK(cadre_run_resume(f.team, f.trace, NULL, &run, &f.err), &f.err))
            break;
        status = cadre_run_wait(run, &result, NULL);
    }
    CHECK_INT(status, CADRE_OK);
    if (status == CADRE_OK)
        CHECK_TEXT(result->text, "Done.");
    CHECK_INT(n_calls, 5); // first, seen as cut from the second on, then 3 restarts
    CHECK_INT(n_resumed, 5);
    cadre_run_free(run);
    cut_case_close(&f);
}

static void test_resume__a_call_is_not_cut_for_ever(void)
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check_deadly_tool(cdr_kinds_stores[i]->type);
}

static int n_deadly_answers;

static cadre_status answer_and_die(const void *state, cadre_frame *frame,
                                   const cadre_request *request, cadre_sink *sink,
                                   cadre_error *err)
{
    (void)state;
    (void)frame;
    (void)request;
    (void)sink;
    n_deadly_answers++;
    mortal_store_die();
    return cadre_fail(err, CADRE_EFAILED, "unheard");
}

static const cadre_model_ops deadly_model = {
    .struct_size = sizeof(cadre_model_ops),
    .provider = "deadly",
    .summary = "ends the process",
    .answer = answer_and_die,
};

static void test_resume__a_model_call_is_not_cut_for_ever(void)
{
    cadre_runtime *runtime = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cut_case f = {.err = CADRE_ERROR_INIT};
    cadre_run *run = NULL;
    const cadre_result *result = NULL;
    n_deadly_answers = 0;
    CHECK_OK(cadre_runtime_open(NULL, &runtime, &err), &err);
    mortal_store_wrap(runtime);
    CHECK_OK(cadre_runtime_register_model(runtime, &deadly_model, &err), &err);
    f.team = cadre_team_new(runtime, "office");
    cadre_team_add_llm(f.team, CADRE_LLM(.name = "clerk", .model = "deadly/m"));
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    cadre_status status = CADRE_ESTORE;
    for (int i = 0; i < 10 && status == CADRE_ESTORE; i++) {
        cadre_run_free(run);
        run = NULL;
        mortal_store_cut((store_cut){0});
        CHECK_OK(cadre_run_resume(f.team, f.trace, NULL, &run, &err), &err);
        status = cadre_run_wait(run, &result, NULL);
    }
    CHECK_INT(status, CADRE_EFAILED);
    CHECK_INT(n_deadly_answers, 4); // the first, and 3 restarts
    CHECK_INT(result->stop_reason, CADRE_STOP_INTERRUPTED);
    CHECK_CONTAINS(result->error.message, "cut 4 times during this call");
    cadre_run_free(run);
    cadre_team_free(f.team);
    cadre_runtime_close(runtime);
}

// A tool that was not safe when it was cut does not become safe by an edit.
static void test_resume__what_was_unsafe_stays_so(void)
{
    cut_case f;
    int n_calls = 0;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory", kill_process, &n_calls))
        return;
    cadre_team *edited = f.team;
    f.team = make_team(&f, kill_process, &n_calls, false);
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_OK(cadre_run_resume(edited, f.trace, CADRE_RUN(.accept_changes = true), &run,
                              &f.err),
             &f.err);
    CHECK_OK(cadre_run_wait(run, NULL, &f.err), &f.err);
    CHECK_INT(n_calls, 1);
    cadre_run_free(run);
    cadre_team_free(edited);
    cut_case_close(&f);
}

// --- Two processes in one session ---

enum {
    N_RUNS = 20
};

typedef struct talker {
    cut_case f;
    int n_said, n_busy, n_other;
} talker;

static void *talk(void *arg)
{
    talker *t = arg;
    for (int i = 0; i < N_RUNS; i++) {
        cadre_run *run = NULL;
        cadre_error_clear(&t->f.err);
        cadre_status status = cadre_run_start(
            t->f.team, CADRE_RUN(.input = "Go.", .session = "s"), &run, &t->f.err);
        if (status == CADRE_OK)
            status = cadre_run_wait(run, NULL, &t->f.err);
        t->n_said += status == CADRE_OK;
        t->n_busy += status == CADRE_EBUSY;
        t->n_other += status != CADRE_OK && status != CADRE_EBUSY;
        cadre_run_free(run);
    }
    return NULL;
}

static cadre_status answer(void *ctx, cadre_frame *frame, cadre_error *err)
{
    (void)ctx;
    return cadre_frame_set_output(frame, "Said.", err);
}

static void open_talker(talker *t, const char *url)
{
    memset(t, 0, sizeof *t);
    CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = url), &t->f.runtime, &t->f.err),
             &t->f.err);
    t->f.team = cadre_team_new(t->f.runtime, "talk");
    cadre_team_add_function(t->f.team, CADRE_FUNCTION(.name = "talker", .run = answer));
    cadre_team_set_root(t->f.team, "talker");
}

// Each runtime is to the store what a process of its own is.
static void test_resume__two_that_start_in_one_session_are_told_apart(void)
{
    talker t[2];
    pthread_t threads[2];
    test_folder folder;
    char url[FOLDER_PATH_SIZE];
    if (!CHECK(folder_make(&folder)))
        return;
    snprintf(url, sizeof url, "sqlite:%s/runs.db", folder.path);
    for (int i = 0; i < 2; i++)
        open_talker(&t[i], url);
    for (int i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, talk, &t[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(t[i].n_other, 0);
        CHECK_INT(t[i].n_said + t[i].n_busy, N_RUNS);
        cadre_team_free(t[i].f.team);
        cadre_runtime_close(t[i].f.runtime);
    }
    CHECK(t[0].n_said + t[1].n_said > 0);
    folder_remove(&folder);
}

// --- Time ---

static cadre_status kill_then_sleep(void *ctx, cadre_frame *frame,
                                    const json_t *arguments, cadre_error *err)
{
    if (*(int *)ctx == 0)
        return kill_process(ctx, frame, arguments, err);
    return cadre_frame_sleep(frame, 600000, err);
}

static void test_resume__has_a_time_of_its_own(void)
{
    cut_case f;
    int n_calls = 0;
    cadre_run *run = NULL;
    if (!set_up(&f, "memory", kill_then_sleep, &n_calls))
        return;
    cut_case_run(&f, CADRE_RUN(.input = "Go."));
    CHECK_OK(
        cadre_run_resume(f.team, f.trace, CADRE_RUN(.timeout_ms = 20), &run, &f.err),
        &f.err);
    CHECK_INT(cadre_run_wait(run, NULL, NULL), CADRE_ETIMEOUT);
    cadre_run_free(run);
    cut_case_close(&f);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_resume__a_live_run_of_this_process_is_busy),
    CHECK_TEST(test_resume__a_zombie_holds_nothing),
    CHECK_TEST(test_resume__a_call_is_not_cut_for_ever),
    CHECK_TEST(test_resume__a_model_call_is_not_cut_for_ever),
    CHECK_TEST(test_resume__what_was_unsafe_stays_so),
    CHECK_TEST(test_resume__two_that_start_in_one_session_are_told_apart),
    CHECK_TEST(test_resume__has_a_time_of_its_own),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/resume", tests);
}
