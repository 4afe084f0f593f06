// Every topology is executed again from its top when a run is gone on with: after each
// commit of a run, alone and as a member of each other; and, alone, in processes that
// end at each commit, on each store.
#include "support/check.h"
#include "support/kill_matrix.h"
#include "support/topology_case.h"

#include <stdio.h>
#include <string.h>

// --- Entered again ---

static void show(void *ctx, const cadre_difference *d)
{
    const topology_case *it = ctx;
    fprintf(stderr, "  %s over %s: after commit %d: %s, key %s: %s: '%s', then '%s'\n",
            it->outer, it->inner == NULL ? "agents" : it->inner, d->commit, d->path,
            d->key, d->field, d->first == NULL ? "(none)" : d->first,
            d->again == NULL ? "(none)" : d->again);
}

static void check_reenter(const topology_case *it)
{
    topology_case shown = *it;
    test_folder folder;
    cadre_runtime *runtime = NULL;
    cadre_reenter_result result = {.n_differences = 1};
    cadre_error err = CADRE_ERROR_INIT;
    if (!CHECK(folder_make(&folder)) ||
        !CHECK_OK(cadre_runtime_open(CADRE_RUNTIME(.offline = true), &runtime, &err),
                  &err))
        return;
    cadre_team *team = topology_case_make(it, runtime, &folder);
    CHECK_OK(cadre_reenter(team,
                           CADRE_REENTER(.run = CADRE_RUN(.input = "Go."),
                                         .every_commit = true, .on_difference = show,
                                         .ctx = &shown),
                           &result, &err),
             &err);
    CHECK_INT(result.n_differences, 0);
    CHECK_INT(result.status, CADRE_FRAME_COMPLETED);
    CHECK(result.n_commits >= 2);
    CHECK(result.n_frames > 4);
    cadre_team_free(team);
    cadre_runtime_close(runtime);
    folder_remove(&folder);
}

static void test_topology__does_the_same_when_it_is_entered_again(void)
{
    topology_case_each(check_reenter);
}

static void test_topology__does_the_same_as_a_member_of_each(void)
{
    topology_case_each_pair(check_reenter);
}

// --- Killed ---

static topology_case current;

static cadre_team *make_current(cadre_runtime *runtime, const test_folder *folder)
{
    return topology_case_make(&current, runtime, folder);
}

static void check_kills(const char *store)
{
    unsigned n_before = CU_get_number_of_failures();
    kill_matrix_check(make_current, store);
    if (CU_get_number_of_failures() > n_before)
        fprintf(stderr, "  of: %s, on %s\n", current.outer, store);
}

static void kill_each(const topology_case *it)
{
    current = *it;
    lives_each_store(check_kills);
}

static void test_topology__goes_on_from_every_commit_that_a_process_ends_at(void)
{
    topology_case_each(kill_each);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_topology__does_the_same_when_it_is_entered_again),
    CHECK_TEST(test_topology__does_the_same_as_a_member_of_each),
    CHECK_TEST(test_topology__goes_on_from_every_commit_that_a_process_ends_at),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("conformance/topology_cut", tests);
}
