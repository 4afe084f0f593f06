// See kill_matrix.h.
#include "support/kill_matrix.h"

#include "support/recorded.h"

#include <stdlib.h>
#include <string.h>

const cadre_run_config *kill_matrix_request(void)
{
    static const cadre_run_config it = {.struct_size = sizeof it,
                                        .input = "I want to return order 1042"};
    return &it;
}

enum {
    MAX_COMMITS = 40
};

// What an undisturbed run leaves.
typedef struct undisturbed {
    lives_team make;
    const char *type;
    char *recorded;
    char answer[200];
    int n_commits, n_requests, n_safe, n_steps;
} undisturbed;

static bool run_undisturbed(undisturbed *u)
{
    lives l;
    if (!lives_open(&l, u->type, u->make))
        return false;
    lives_start(&l, kill_matrix_request(), (store_cut){0});
    CHECK_OK(l.status, &l.err);
    u->recorded = lives_recorded(&l);
    memcpy(u->answer, l.answer, sizeof u->answer);
    u->n_commits = l.n_commits;
    u->n_requests = atomic_load(&lives_count()->requests);
    u->n_safe = atomic_load(&lives_count()->safe);
    u->n_steps = atomic_load(&lives_count()->steps);
    lives_close(&l);
    return CHECK(u->n_commits > 1);
}

// What is in flight at a cut is done again: by each branch one thing, of which there
// are two at most. Nothing is left out.
static void check_between(int n, int least, int n_cuts)
{
    CHECK(n >= least);
    CHECK(n <= least + 2 * n_cuts);
}

static void check_end(lives *l, const undisturbed *u, int n_cuts)
{
    char *got = lives_recorded(l);
    CHECK_TEXT(got, u->recorded);
    free(got);
    check_between(atomic_load(&lives_count()->requests), u->n_requests, n_cuts);
    check_between(atomic_load(&lives_count()->safe), u->n_safe, n_cuts);
    check_between(atomic_load(&lives_count()->steps), u->n_steps, n_cuts);
}

// Cuts at one commit, and when `again` is not 0, a second time at that commit of the
// life that goes on. False: that was beyond its end.
static bool check_cut(const undisturbed *u, int n, int again, bool is_after)
{
    lives l;
    if (!lives_open(&l, u->type, u->make))
        return false;
    lives_start(&l, kill_matrix_request(), (store_cut){.at = n, .is_after = is_after});
    bool goes_on = lives_resume(&l, (store_cut){.at = again, .is_after = is_after});
    bool is_cut_again = goes_on && l.was_cut;
    if (is_cut_again)
        goes_on = lives_resume(&l, (store_cut){0});
    if (goes_on) {
        CHECK_OK(l.status, &l.err);
        CHECK_TEXT(l.answer, u->answer);
    }
    if (n > 1 || is_after) // else nothing was recorded
        check_end(&l, u, 1 + is_cut_again);
    lives_close(&l);
    return is_cut_again;
}

void kill_matrix_check(lives_team make, const char *type)
{
    undisturbed u = {.make = make, .type = type};
    if (!run_undisturbed(&u))
        return;
    for (int n = 1; n <= u.n_commits; n++)
        for (int after = 0; after < 2; after++) {
            check_cut(&u, n, 0, after != 0);
            if (n % LIVES_STEP != 0)
                continue;
            int again = 1;
            while (again <= LIVES_MAX_AGAIN && check_cut(&u, n, again, after != 0))
                again++;
            CHECK(again < MAX_COMMITS);
        }
    free(u.recorded);
}
