// Recordings of random teams: each is made again by the script of its own recording,
// says the same, and its recording is the same, to the letter, but for what came after
// what: where nobody outside had a part in one of two, that is chance.
//
// CADRE_TEST_SEED is the first team's seed, the others follow; CADRE_TEST_TEAMS how
// many there are (200).
#include "support/check.h"
#include "support/folder.h"
#include "support/random_trial.h"
#include "support/watchdog.h"

#include "cadre/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_TEAMS = 200
};

static random_trial trial; // the one that is under way

static uint64_t number_of_test(const char *variable, uint64_t otherwise)
{
    const char *given = getenv(variable); // NOLINT(concurrency-mt-unsafe)
    return given ? strtoull(given, NULL, 10) : otherwise;
}

// What a run came to.
typedef struct outcome {
    char *said;   // the record, see random_trial_text; NULL: a limit ended it
    char *script; // the recording
    char *unordered;
} outcome;

static void outcome_fini(outcome *it)
{
    free(it->said);
    free(it->script);
    free(it->unordered);
}

// Takes `after` out of all items.
static void drop_order(json_t *value)
{
    const char *key;
    size_t i;
    json_t *part;
    json_object_del(value, "after");
    json_object_foreach(value, key, part)
    {
        drop_order(part);
    }
    json_array_foreach(value, i, part)
    {
        drop_order(part);
    }
}

static void take_outcome(outcome *it)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *script = json_object();
    random_trial_run(&trial, NULL);
    if (!trial.is_limited)
        it->said = random_trial_text(&trial);
    if (CHECK_OK(cadre_record_script(trial.runtime, trial.trace, script, &err), &err))
        it->script = json_dumps(script, JSON_INDENT(1));
    drop_order(script);
    it->unordered = json_dumps(script, JSON_INDENT(1));
    json_decref(script);
}

static void tell(uint64_t seed, unsigned n_before, const char *script)
{
    if (CU_get_number_of_failures() == n_before)
        return;
    printf("\n  CADRE_TEST_SEED=%" PRIu64 " has failed: %s\n", seed, trial.err.text);
    if (getenv("CADRE_TEST_VERBOSE")) { // NOLINT(concurrency-mt-unsafe)
        printf("%s\n", script);
        random_trial_print(&trial);
    }
}

static void try_team(uint64_t seed, bool is_calm, const test_folder *folder)
{
    random_team plan;
    outcome first = {NULL, NULL, NULL}, again = {NULL, NULL, NULL};
    char path[FOLDER_PATH_SIZE];
    unsigned n_before = CU_get_number_of_failures();
    random_team_init(&plan, seed, is_calm);
    if (random_trial_open(&trial, &plan, RANDOM_UNDISTURBED))
        take_outcome(&first);
    random_trial_close(&trial);
    if (first.said && first.script) {
        folder_write(folder, "recording.json", first.script, path);
        if (random_trial_open_replay(&trial, &plan, path))
            take_outcome(&again);
        CHECK_TEXT(again.said, first.said);
        CHECK_TEXT(again.unordered, first.unordered);
        tell(seed, n_before, first.script);
        random_trial_close(&trial);
    }
    outcome_fini(&first);
    outcome_fini(&again);
    random_team_fini(&plan);
}

static void try_teams(bool is_calm)
{
    test_folder folder;
    uint64_t seed = number_of_test("CADRE_TEST_SEED", 20261201);
    uint64_t n_teams = number_of_test("CADRE_TEST_TEAMS", N_TEAMS);
    if (!CHECK(folder_make(&folder)))
        return;
    for (uint64_t i = 0; i < n_teams; i++)
        try_team(seed + i, is_calm, &folder);
    folder_remove(&folder);
}

static void test_recording__makes_calm_teams_again(void)
{
    try_teams(true);
}

static const CU_TestInfo tests[] = {
    CHECK_TEST(test_recording__makes_calm_teams_again),
    CU_TEST_INFO_NULL,
};

int main(void)
{
    return check_main("run/recording_random", tests);
}
