// Random teams: trees of all topologies, with models that call, hand over, escalate,
// ask, fail and stall, tools of all kinds, times, retries and state; cut, stopped,
// answered and gone on with at random. Whatever happens, a run comes to an end, and its
// record keeps the rules (support/run_rules.h); what was cut of a calm team ends as it
// would have undisturbed.
//
// CADRE_TEST_SEED is the first team's seed, the others follow. Without it they are
// always the same, so that what fails has to do with what was changed; "random" takes
// others, to look for what nobody has met. CADRE_TEST_TEAMS is how many there are
// (300). A team that fails is made again by its own seed, with CADRE_TEST_TEAMS=1; what
// is done to it is drawn too, but threads are as quick as they are.
#include "support/check.h"
#include "support/kept_views.h"
#include "support/random_trial.h"
#include "support/random_work.h"
#include "support/watchdog.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_SEED = 1,
    N_TEAMS = 300,
    STUCK_SECONDS = 10,
    LONG_RECORD = 6000 // a longer one is not entered again: that takes its square
};

static random_trial trial; // the one that is under way

static uint64_t number_of_test(const char *variable, uint64_t otherwise)
{
    const char *given = getenv(variable); // NOLINT(concurrency-mt-unsafe)
    char *end = NULL;
    if (given == NULL)
        return otherwise;
    uint64_t number = strtoull(given, &end, 10);
    if (!CHECK(given[0] >= '0' && given[0] <= '9' && *end == '\0'))
        printf("\n  %s=%s: write a number\n", variable, given);
    return number;
}

static uint64_t first_seed(void)
{
    const char *given = getenv("CADRE_TEST_SEED"); // NOLINT(concurrency-mt-unsafe)
    if (given != NULL && strcmp(given, "random") == 0)
        return (uint64_t)time(NULL);
    return number_of_test("CADRE_TEST_SEED", FIRST_SEED);
}

// --- What is told of a failure ---

static char crash_note[64]; // for who may only write

static void on_crash(int signal_number)
{
    ssize_t n = write(STDERR_FILENO, crash_note, strlen(crash_note));
    (void)n;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void tell_seed_of_crash(uint64_t seed)
{
    snprintf(crash_note, sizeof crash_note,
             "\n  crashed: CADRE_TEST_SEED=%" PRIu64 "\n", seed);
    signal(SIGABRT, on_crash);
#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ // they tell more
    signal(SIGSEGV, on_crash);
#endif
}

static void tell_stuck(void)
{
    printf("  CADRE_TEST_SEED=%" PRIu64 "\n", trial.plan->seed);
    random_trial_print(&trial);
}

static void tell_failed(unsigned n_before)
{
    if (CU_get_number_of_failures() == n_before)
        return;
    printf("\n  CADRE_TEST_SEED=%" PRIu64 " has failed, in life %d of a run\n",
           trial.plan->seed, trial.n_lives);
    random_trial_print(&trial);
}

// --- All kinds of trouble ---

static void try_wild(random_team *plan)
{
    unsigned n_before = CU_get_number_of_failures();
    bool has_session = plan->seed % 4 == 0;
    if (!random_trial_open(&trial, plan, RANDOM_ALL))
        return;
    random_trial_run(&trial, has_session ? "talk" : NULL);
    tell_failed(n_before);
    bool has_begun = trial.trace[0] != '\0'; // else its first commit was cut
    if (has_session && has_begun && CU_get_number_of_failures() == n_before) {
        random_work_turn(1);
        random_trial_run(&trial, "talk");
        tell_failed(n_before);
    }
    random_trial_close(&trial);
}

// --- Cut, and as if nothing had been ---

// NULL: nothing to compare it with.
static char *run_calm(random_team *plan, random_trouble trouble)
{
    char *text = NULL;
    unsigned n_before = CU_get_number_of_failures();
    if (!random_trial_open(&trial, plan, trouble))
        return NULL;
    random_trial_run(&trial, NULL);
    tell_failed(n_before);
    bool is_there = trial.n_lives > trial.n_cuts; // else its first commit was cut
    if (is_there && !trial.is_limited && CU_get_number_of_failures() == n_before)
        text = random_trial_text(&trial);
    return text;
}

static void note_difference(void *ctx, const cadre_difference *d)
{
    uint64_t seed = *(const uint64_t *)ctx;
    printf("\n  CADRE_TEST_SEED=%" PRIu64 " entered again after commit %d: %s %s %s:\n"
           "    %.300s\n    %.300s\n",
           seed, d->commit, d->path, d->key, d->field,
           d->first == NULL ? "(none)" : d->first,
           d->again == NULL ? "(none)" : d->again);
}

// From every commit of a run of its own.
static void reenter_calm(random_team *plan)
{
    cadre_reenter_result result;
    cadre_error err = CADRE_ERROR_INIT;
    if (random_trial_open(&trial, plan, RANDOM_UNDISTURBED)) {
        const cadre_run_config run = {.struct_size = sizeof run, .input = "Go."};
        CHECK_OK(cadre_reenter(trial.team,
                               CADRE_REENTER(.run = &run, .every_commit = true,
                                             .on_difference = note_difference,
                                             .ctx = &plan->seed),
                               &result, &err),
                 &err);
        if (!CHECK_INT(result.n_differences, 0)) {
            random_trial_run(&trial, NULL);
            random_trial_print(&trial);
        }
    }
    random_trial_close(&trial);
}

static void try_calm(random_team *plan)
{
    char *undisturbed = run_calm(plan, RANDOM_UNDISTURBED);
    bool asks_nobody = undisturbed != NULL && trial.n_lives == 1;
    random_trial_close(&trial);
    if (asks_nobody && strlen(undisturbed) < LONG_RECORD)
        reenter_calm(plan);
    char *cut = undisturbed == NULL ? NULL : run_calm(plan, RANDOM_CUTS);
    if (cut != NULL && !CHECK_TEXT(cut, undisturbed)) {
        printf("\n  CADRE_TEST_SEED=%" PRIu64 " ended otherwise, undisturbed:\n%s\n",
               plan->seed, undisturbed);
        printf("  cut %d times:\n%s\n", trial.n_cuts, cut);
        random_trial_print(&trial);
    }
    if (undisturbed != NULL)
        random_trial_close(&trial);
    free(undisturbed);
    free(cut);
}

static void test_random__runs_end_and_their_records_keep_the_rules(void)
{
    static const watchdog dog = {random_work_progress, tell_stuck, STUCK_SECONDS};
    uint64_t first = first_seed();
    uint64_t n = number_of_test("CADRE_TEST_TEAMS", N_TEAMS);
    printf("CADRE_TEST_SEED=%" PRIu64 " ", first);
    fflush(stdout);
    for (uint64_t i = 0; i < n && CU_get_number_of_failures() < 20; i++) {
        random_team plan;
        bool is_calm = (first + i) % 3 == 0;
        random_team_init(&plan, first + i, is_calm);
        trial.plan = &plan;
        tell_seed_of_crash(plan.seed);
        if (i == 0)
            watchdog_start(&dog);
        if (is_calm)
            try_calm(&plan);
        else
            try_wild(&plan);
        random_team_fini(&plan);
    }
    watchdog_stop();
    if (n >= N_TEAMS)
        CHECK(kept_views_count() > n); // else there was nothing to compare
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        CHECK_TEST(test_random__runs_end_and_their_records_keep_the_rules),
        CU_TEST_INFO_NULL,
    };

    return check_main("run/random_teams", tests);
}
