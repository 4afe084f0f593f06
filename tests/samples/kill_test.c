// The samples of the topologies are cut at each commit on each registered store, most
// of them at each pair of commits too (support/kill_matrix.h), and go on from the
// record: what is there in the end is what the undisturbed run left. Programs that are
// killed: tests/cli/kill_test.c.
#include "support/kill_matrix.h"
#include "support/recorded.h"

#include <stdlib.h>

static const char *sample; // its team file

static cadre_team *make_sample(cadre_runtime *runtime, const test_folder *folder)
{
    cadre_team *team = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    (void)folder;
    CHECK_OK(cadre_team_load(runtime, sample, &team, &err), &err);
    return team;
}

static void check_sample(const char *type)
{
    kill_matrix_check(make_sample, type);
}

static void check(const char *path)
{
    sample = path;
    lives_each_store(check_sample);
}

static void test_kill__a_swarm_goes_on_from_every_commit(void)
{
    check("samples/helpdesk-swarm/team.yaml");
}

static void test_kill__a_chain_goes_on_from_every_commit(void)
{
    check("samples/article-chain/team.yaml");
}

static void test_kill__a_cycle_goes_on_from_every_commit(void)
{
    check("samples/write-and-review/team.yaml");
}

static void test_kill__a_graph_goes_on_from_every_commit(void)
{
    check("samples/question-router/team.yaml");
}

// --- Larger ones are cut once ---

typedef void (*lives_look)(lives *l, const char *undisturbed);

// One cut, and what is there when it has gone on. False: it was cut beyond the end.
static bool check_cut(const char *type, store_cut cut, const char *undisturbed,
                      lives_look look)
{
    lives l;
    if (!lives_open(&l, type, make_sample))
        return false;
    lives_start(&l, kill_matrix_request(), cut);
    bool was_cut = l.was_cut;
    if (was_cut && lives_resume(&l, (store_cut){0})) {
        CHECK_OK(l.status, &l.err);
        look(&l, undisturbed);
    } else if (was_cut && cut.is_after) {
        CHECK_CONTAINS(l.err.text, "has ended"); // that was the last commit
    } else if (was_cut) {
        CHECK_INT(cut.at, 1); // nothing was recorded
    }
    lives_close(&l);
    return was_cut;
}

static void check_each(const char *type, lives_look look)
{
    lives l;
    if (!lives_open(&l, type, make_sample))
        return;
    lives_start(&l, kill_matrix_request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    char *undisturbed = lives_recorded(&l);
    lives_close(&l);
    int n_cuts = 0;
    for (int after = 0; after < 2; after++)
        for (int n = 1; check_cut(type, (store_cut){.at = n, .is_after = after != 0},
                                  undisturbed, look);
             n += LIVES_STEP)
            n_cuts++;
    CHECK(n_cuts * LIVES_STEP > 6);
    free(undisturbed);
}

static void look_for_same(lives *l, const char *undisturbed)
{
    char *got = lives_recorded(l);
    CHECK_TEXT(got, undisturbed);
    free(got);
}

static void check_review(const char *type)
{
    check_each(type, look_for_same);
}

static void test_kill__a_coordinator_goes_on_from_every_commit(void)
{
    sample = "samples/design-review/team.yaml";
    lives_each_store(check_review);
}

// The results of both departments come in any order.
static void look_at_company(lives *l, const char *undisturbed)
{
    char *got = lives_recorded(l);
    char *unplaced = recorded_unplaced(got);
    char *expected = recorded_unplaced(undisturbed);
    CHECK_TEXT(unplaced, expected);
    free(expected);
    free(unplaced);
    free(got);
}

static void check_company(const char *type)
{
    check_each(type, look_at_company);
}

static void test_kill__teams_in_a_team_go_on_from_every_commit(void)
{
    sample = "samples/company/team.yaml";
    lives_each_store(check_company);
}

// How far the losers come is chance; who wins, and what is said, is not.
static void look_at_sources(lives *l, const char *undisturbed)
{
    char *got = lives_recorded(l);
    char *said = recorded_lines(got, "message root ", NULL);
    char *expected = recorded_lines(undisturbed, "message root ", NULL);
    CHECK_TEXT(l->answer, "Der Zug hat heute Versp\u00e4tung.");
    CHECK_TEXT(said, expected);
    CHECK_INT(recorded_count(got, "frame root/b1/2 agent small completed", NULL), 1);
    CHECK_INT(recorded_count(got, "frame root/b1/3 agent large aborted ",
                             "aborted: its work is not needed any more"),
              1);
    CHECK_INT(recorded_count(got, "frame root/b1/1 agent local ", NULL), 1);
    CHECK_INT(recorded_count(got, " running ", NULL), 0);
    free(expected);
    free(said);
    free(got);
}

static void check_sources(const char *type)
{
    check_each(type, look_at_sources);
}

static void test_kill__a_race_has_its_winner_after_every_commit(void)
{
    sample = "samples/three-sources/team.yaml";
    lives_each_store(check_sources);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_kill__a_swarm_goes_on_from_every_commit),
    CHECK_TEST(test_kill__a_chain_goes_on_from_every_commit),
    CHECK_TEST(test_kill__a_cycle_goes_on_from_every_commit),
    CHECK_TEST(test_kill__a_graph_goes_on_from_every_commit),
    CHECK_TEST(test_kill__a_coordinator_goes_on_from_every_commit),
    CHECK_TEST(test_kill__teams_in_a_team_go_on_from_every_commit),
    CHECK_TEST(test_kill__a_race_has_its_winner_after_every_commit),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("samples/kill", tests);
}
