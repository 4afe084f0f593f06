// A child that a call owns, in lives that differ: one ends under a mark, another has a
// changed team, two are of two processes on one file.
#include "support/check.h"
#include "support/owned_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

// --- The team: main calls the tool `work`, whose child thinks ---

static const cadre_run_config go = {.struct_size = sizeof go, .input = "Go."};
static const store_cut uncut = {.at = 0};

// --- Marks ---

typedef struct marking {
    const char *url;
    bool dies;
} marking;

// Marks the run after its third commit, which reserves the child's request.
static void mark_third(void *ctx, const cadre_commit *commit, int n)
{
    const marking *it = ctx;
    char trace[CADRE_ID_TEXT_SIZE];
    cadre_runtime *marker = NULL; // another one on the same file
    cadre_error err = CADRE_ERROR_INIT;
    if (n != 3)
        return;
    cadre_id_text(commit->trace, trace);
    if (!CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.store = it->url), &marker, &err),
                  &err))
        return;
    CHECK_OK(cadre_trace_abort(marker, trace, CADRE_ABORT(.reason = "enough"), &err),
             &err);
    cadre_runtime_close(marker);
    if (it->dies)
        mortal_store_die();
}

static void check_aborted(lives *l)
{
    char *got = lives_recorded(l);
    CHECK_INT(recorded_count(got, "conversation ", "owned by root/1/0 of root"), 1);
    CHECK_INT(recorded_count(got, "frame ", NULL), 5);
    CHECK_INT(recorded_count(got, "frame root/1 model openai/m completed", NULL), 1);
    CHECK_INT(recorded_count(got, " aborted aborted: ", " marked request: enough"), 4);
    CHECK_INT(recorded_count(got, "frame root agent main ", "aborted: enough"), 1);
    free(got);
    CHECK(!lives_resume(l, uncut));
    CHECK_CONTAINS(l->err.text, "has ended (aborted)");
}

static void test_owner_life__a_run_cut_right_after_the_mark_only_ends(void)
{
    for (int by_abort = 0; by_abort < 2; by_abort++) {
        lives l;
        if (!owned_case_open(&l, "sqlite", &owned_subagent))
            return;
        marking it = {l.url, true};
        l.dies = true;
        lives_start(&l, &go, (store_cut){.on_commit = mark_third, .ctx = &it});
        CHECK(l.was_cut);
        int n_requests = atomic_load(&lives_count()->requests);
        if (by_abort) {
            CHECK_OK(cadre_trace_abort(lives_runtime(&l), l.trace, NULL, NULL), NULL);
        } else {
            CHECK(lives_resume(&l, uncut));
            CHECK_STATUS(l.status, CADRE_EABORTED, &l.err);
        }
        check_aborted(&l);
        CHECK_INT(atomic_load(&lives_count()->requests), n_requests);
        lives_close(&l);
    }
}

static void test_owner_life__a_run_cut_while_it_ends_only_ends(void)
{
    for (int after = 0; after < 2; after++) {
        lives l;
        if (!owned_case_open(&l, "sqlite", &owned_subagent))
            return;
        marking it = {l.url, false};
        lives_start(
            &l, &go,
            (store_cut){
                .at = 4, .is_after = after != 0, .on_commit = mark_third, .ctx = &it});
        CHECK(l.was_cut);
        if (lives_resume(&l, uncut))
            CHECK_STATUS(l.status, CADRE_EABORTED, &l.err);
        char *got = lives_recorded(&l);
        CHECK_INT(recorded_count(got, "frame root agent main aborted", ""), 1);
        CHECK_INT(recorded_count(got, "frame ", " running "), 0);
        CHECK_INT(recorded_count(got, "conversation ", "owned by root/1/0 of root"), 1);
        free(got);
        CHECK(!lives_resume(&l, uncut));
        CHECK_CONTAINS(l.err.text, "has ended (aborted)");
        lives_close(&l);
    }
}

// --- Another team ---

static void check_other_texts(const char *type)
{
    lives l;
    if (!owned_case_open(&l, type, &owned_subagent))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    owned_case_change(&l, "Work, and be kind.", false);
    CHECK(lives_resume(&l, uncut));
    CHECK_OK(l.status, &l.err);
    owned_case_check(&l, owned_rows);
    lives_close(&l);
}

static void test_owner_life__a_child_goes_on_with_other_texts(void)
{
    lives_each_store(check_other_texts);
}

static void check_other_shape(const char *type)
{
    lives l;
    cadre_run *run = NULL;
    if (!owned_case_open(&l, type, &owned_subagent))
        return;
    l.dies_in_request = 2;
    lives_start(&l, &go, uncut);
    char *before = lives_recorded(&l);
    owned_case_change(&l, "Work.", true);
    CHECK(lives_resume(&l, uncut));
    CHECK_STATUS(l.status, CADRE_ECONFIG, &l.err);
    CHECK_CONTAINS(l.err.text, "agent 'main' has other members, tools, handoffs, "
                               "fallback or output_key");
    owned_case_check(&l, before); // untouched
    cadre_error_clear(&l.err);
    CHECK_OK(cadre_run_resume(l.team, l.trace, CADRE_RUN(.accept_changes = true), &run,
                              &l.err),
             &l.err);
    CHECK_OK(cadre_run_wait(run, NULL, &l.err), &l.err);
    cadre_run_free(run);
    owned_case_check(&l, owned_rows);
    free(before);
    lives_close(&l);
}

static void test_owner_life__a_child_does_not_go_on_in_another_shape(void)
{
    lives_each_store(check_other_shape);
}

// --- Two processes on one file ---

enum {
    N_PROCESSES = 2,
    N_RUNS = 12
};

static void run_many(lives *l)
{
    lives_runtime(l);
    for (int i = 0; i < N_RUNS; i++) {
        cadre_run *run = NULL;
        CHECK_OK(cadre_run_start(l->team, &go, &run, &l->err), &l->err);
        CHECK_OK(cadre_run_wait(run, NULL, &l->err), &l->err);
        cadre_run_free(run);
    }
    cadre_team_free(l->team);
    cadre_runtime_close(l->runtime);
}

static cadre_status check_run(void *ctx, const cadre_record_info *info,
                              cadre_error *err)
{
    (void)err;
    lives *l = ctx;
    snprintf(l->trace, sizeof l->trace, "%s", info->trace_id);
    l->n_commits++;
    owned_case_check(l, owned_rows);
    return CADRE_OK;
}

static void test_owner_life__of_two_processes_on_one_file_have_their_own(void)
{
    lives l;
    pid_t children[N_PROCESSES];
    if (!owned_case_open(&l, "sqlite", &owned_subagent))
        return;
    unsigned n_failures = CU_get_number_of_failures();
    fflush(NULL);
    for (int i = 0; i < N_PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            run_many(&l);
            _exit(CU_get_number_of_failures() > n_failures);
        }
    }
    for (int i = 0; i < N_PROCESSES; i++) {
        int status = 0;
        CHECK_INT(waitpid(children[i], &status, 0), children[i]);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    l.n_commits = 0;
    CHECK_OK(cadre_record_list(lives_runtime(&l), 0, check_run, &l, NULL), NULL);
    CHECK_INT(l.n_commits, N_PROCESSES * N_RUNS);
    CHECK_INT(atomic_load(&lives_count()->requests), N_PROCESSES * N_RUNS * 3);
    lives_close(&l);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_owner_life__a_run_cut_right_after_the_mark_only_ends),
    CHECK_TEST(test_owner_life__a_run_cut_while_it_ends_only_ends),
    CHECK_TEST(test_owner_life__a_child_goes_on_with_other_texts),
    CHECK_TEST(test_owner_life__a_child_does_not_go_on_in_another_shape),
    CHECK_TEST(test_owner_life__of_two_processes_on_one_file_have_their_own),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/owner_life", tests);
}
