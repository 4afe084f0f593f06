// See lives.h.
#include "lives.h"

#include "support/faulty_disk.h"
#include "support/recorded.h"

#include "run/run.h"
#include "team/kinds.h"
#include "team/team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MAX_RUNS = 64
};

// What a life tells, from its process to the test's.
typedef struct told {
    lives_counts counts;
    char trace[64];
    char cut_trace[64]; // that which was begun in a life that is cut
    cadre_status status;
    cadre_error err;
    char answer[200];
    int n_commits;
} told;

static told *memory;

static void map_memory(void)
{
    memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
}

// Tools of several branches may be the first to count.
static told *shared(void)
{
    static pthread_once_t is_mapped = PTHREAD_ONCE_INIT;
    pthread_once(&is_mapped, map_memory);
    return memory;
}

lives_counts *lives_count(void)
{
    return &shared()->counts;
}

// --- Counting requests ---

static cadre_model_ops counting;
static atomic_int n_until_death; // requests; below 1: none is the last
static const cadre_model_ops *counted;

static cadre_status count_and_answer(const void *state, cadre_frame *frame,
                                     const cadre_request *request, cadre_sink *sink,
                                     cadre_error *err)
{
    atomic_fetch_add(&lives_count()->requests, 1);
    if (atomic_fetch_sub(&n_until_death, 1) == 1)
        mortal_store_die();
    return counted->answer(state, frame, request, sink, err);
}

static void count_models(cadre_team *team)
{
    cadre_error err = CADRE_ERROR_INIT;
    CHECK_OK(cadre_team_seal(team, &err), &err);
    for (size_t i = 0; i < team->n_models; i++) {
        if (team->models[i]->ops->answer == NULL)
            continue;
        counted = team->models[i]->ops;
        counting = *counted;
        counting.answer = count_and_answer;
        team->models[i]->ops = &counting;
    }
}

// --- Opening ---

// What a process has written stays when it ends, so nothing need be.
static void never_flush(void)
{
    static bool is_done;
    if (!is_done)
        CHECK(faulty_disk_start());
    is_done = true;
}

bool lives_open(lives *l, const char *type, lives_team make)
{
    memset(l, 0, sizeof *l);
    memset(shared(), 0, sizeof *shared());
    l->make = make;
    l->is_file = strcmp(type, "memory") != 0;
    if (!CHECK(folder_make(&l->folder)))
        return false;
    snprintf(l->url, sizeof l->url, "memory");
    if (l->is_file)
        never_flush();
    if (l->is_file)
        snprintf(l->url, sizeof l->url, "%s:%s/runs.db", type, l->folder.path);
    return true;
}

static void close_runtime(lives *l)
{
    cadre_team_free(l->team);
    cadre_runtime_close(l->runtime);
    l->team = NULL;
    l->runtime = NULL;
}

void lives_close(lives *l)
{
    close_runtime(l);
    folder_remove(&l->folder);
}

cadre_runtime *lives_runtime(lives *l)
{
    cadre_error err = CADRE_ERROR_INIT;
    if (l->runtime != NULL)
        return l->runtime;
    if (!CHECK_OK(
            cadre_runtime_open(CADRE_RUNTIME(.store = l->url, .offline = !l->is_online),
                               &l->runtime, &err),
            &err))
        abort();
    mortal_store_wrap(l->runtime);
    l->team = l->make(l->runtime, &l->folder);
    count_models(l->team);
    return l->runtime;
}

// --- One life ---

typedef struct life {
    lives *l;
    const cadre_run_config *config; // NULL: goes on
    bool is_all;
} life;

static void finish(cadre_run *run, told *t)
{
    const cadre_result *result = NULL;
    t->status = cadre_run_wait(run, &result, &t->err);
    snprintf(t->answer, sizeof t->answer, "%s", result->text);
    if (t->trace[0] == '\0')
        snprintf(t->trace, sizeof t->trace, "%s", cadre_run_trace_id(run));
    cadre_run_free(run);
}

static void resume_one(const life *it, const char *trace, told *t)
{
    cadre_run *run = NULL;
    cadre_error_clear(&t->err);
    t->status = cadre_run_resume(it->l->team, trace, NULL, &run, &t->err);
    if (t->status == CADRE_OK)
        finish(run, t);
}

typedef struct cut_runs {
    char ids[MAX_RUNS][64];
    int count;
} cut_runs;

static cadre_status take_cut(void *ctx, const cadre_record_info *info, cadre_error *err)
{
    cut_runs *runs = ctx;
    (void)err;
    if (info->status == CADRE_FRAME_RUNNING && !info->is_held && runs->count < MAX_RUNS)
        snprintf(runs->ids[runs->count++], sizeof runs->ids[0], "%s", info->trace_id);
    return CADRE_OK;
}

// The worst of their ends is told. Not held any more when its turn comes: somebody went
// on with it, which is as good.
static void resume_all(const life *it, told *t)
{
    cut_runs runs = {.count = 0};
    cadre_status worst = CADRE_OK;
    cadre_error why = CADRE_ERROR_INIT;
    CHECK_OK(cadre_record_list(it->l->runtime, 0, take_cut, &runs, NULL), NULL);
    for (int i = runs.count; i-- > 0;) {
        resume_one(it, runs.ids[i], t);
        if (t->status == CADRE_OK || t->status == CADRE_EBUSY ||
            t->status == CADRE_EINVAL)
            continue;
        worst = t->status;
        why = t->err;
    }
    t->status = worst;
    t->err = why;
}

static void live(const life *it, store_cut cut, told *t)
{
    cadre_run *run = NULL;
    lives_runtime(it->l);
    mortal_store_cut(cut);
    atomic_store(&n_until_death, it->l->dies_in_request);
    cadre_error_clear(&t->err);
    if (it->is_all) {
        resume_all(it, t);
    } else if (it->config == NULL) {
        resume_one(it, t->trace, t);
    } else {
        t->status = cadre_run_start(it->l->team, it->config, &run, &t->err);
        if (t->status == CADRE_OK) {
            snprintf(t->trace, sizeof t->trace, "%s", cadre_run_trace_id(run));
            finish(run, t);
        }
    }
    CHECK_OK(cadre_runtime_wait(it->l->runtime, 20000, NULL), NULL);
    t->n_commits = mortal_store_count();
}

// Tells the trace, so that a cut can be gone on from.
typedef struct teller {
    told *t;
    store_cut cut; // of the test
} teller;

static void tell_trace(void *ctx, const cadre_commit *commit, int n)
{
    const teller *it = ctx;
    if (n == 1)
        cadre_id_text(commit->trace, it->t->cut_trace);
    if (it->cut.on_commit != NULL)
        it->cut.on_commit(it->cut.ctx, commit, n);
}

// True: it was cut.
static bool live_elsewhere(const life *it, store_cut cut, told *t)
{
    int status = 0;
    close_runtime(it->l);
    teller it_tells = {t, cut};
    cut.exits = true;
    cut.on_commit = tell_trace;
    cut.ctx = &it_tells;
    unsigned n_failures = CU_get_number_of_failures();
    fflush(NULL); // what is buffered is written once
    pid_t child = fork();
    if (child == 0) {
        live(it, cut, t);
        close_runtime(it->l);
        _exit(CU_get_number_of_failures() > n_failures ? 1 : 0);
    }
    if (!CHECK(child > 0) || !CHECK_INT(waitpid(child, &status, 0), child))
        return true;
    CHECK(WIFEXITED(status) &&
          (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == MORTAL_EXIT));
    return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void live_somewhere(const life *it, store_cut cut)
{
    told *t = shared();
    lives *l = it->l;
    bool is_first = t->trace[0] == '\0';
    bool may_die = cut.at > 0 || l->dies || l->dies_in_request > 0;
    if (l->is_file && may_die && cut.of_trace == 0) {
        l->was_cut = live_elsewhere(it, cut, t);
        if (l->was_cut)
            t->status = CADRE_ESTORE;
        if (l->was_cut && is_first)
            memcpy(t->trace, t->cut_trace, sizeof t->trace);
    } else {
        if (l->is_file)
            close_runtime(l); // opens it anew
        live(it, cut, t);
        l->was_cut = t->status == CADRE_ESTORE;
    }
    memcpy(l->trace, t->trace, sizeof l->trace);
    memcpy(l->answer, t->answer, sizeof l->answer);
    l->status = t->status;
    l->err = t->err;
    l->n_commits = t->n_commits;
    l->dies = false;
    l->dies_in_request = 0;
}

void lives_start(lives *l, const cadre_run_config *config, store_cut cut)
{
    const life it = {.l = l, .config = config};
    live_somewhere(&it, cut);
}

bool lives_resume(lives *l, store_cut cut)
{
    const life it = {.l = l};
    if (l->trace[0] == '\0')
        return false;
    live_somewhere(&it, cut);
    return l->status != CADRE_ENOTFOUND && l->status != CADRE_EINVAL;
}

void lives_resume_all(lives *l, store_cut cut)
{
    const life it = {.l = l, .is_all = true};
    live_somewhere(&it, cut);
}

char *lives_recorded(lives *l)
{
    return recorded_text(lives_runtime(l), l->trace);
}

void lives_each_store(void (*check)(const char *type))
{
    for (size_t i = 0; cdr_kinds_stores[i] != NULL; i++)
        check(cdr_kinds_stores[i]->type);
}
