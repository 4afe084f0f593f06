// See race.h.
#include "tree/race.h"

enum {
    LOSER_MS = 2000 // what ignores its mark is waited for so long
};

static bool wins(const cdr_race *race, const cadre_frame *ended)
{
    if (ended->mark == CDR_MARK_OWNER || race->takes_none)
        return false;
    return !race->takes_any || ended->status == CADRE_FRAME_COMPLETED;
}

// The caller's own mark reaches the branches by itself.
void cdr_race_stop_locked(cdr_race *race)
{
    for (size_t i = 0; i < race->n_branches; i++) {
        cadre_frame *branch = race->branches[i];
        if (branch == NULL || cdr_frame_is_ended(branch))
            continue;
        if (!race->is_decided)
            race->until_ms = cdr_tree_now_ms(branch->tree) + LOSER_MS;
        race->is_decided = true;
        cdr_frame_mark_locked(branch, CDR_MARK_OWNER);
    }
    race->is_decided = true;
}

static void decide_locked(cdr_race *race, size_t winner)
{
    race->winner = winner;
    race->until_ms = cdr_tree_now_ms(race->branches[winner]->tree) + LOSER_MS;
    race->is_decided = true;
    cdr_race_stop_locked(race);
}

static size_t place_of(const cdr_race *race, const cadre_frame *branch)
{
    size_t i = 0;
    while (i < race->n_branches && race->branches[i] != branch)
        i++;
    return i;
}

void cdr_race_settle_locked(cadre_frame *ended)
{
    cdr_race *race = ended->race;
    if (race == NULL || race->is_decided || !wins(race, ended))
        return;
    size_t i = place_of(race, ended);
    if (i < race->n_branches)
        decide_locked(race, i);
}

void cdr_race_look_locked(cadre_frame *ended)
{
    cdr_race *race = ended->race;
    if (race == NULL || race->is_decided)
        return;
    size_t i = place_of(race, ended);
    bool is_last = ended->status == CADRE_FRAME_COMPLETED || i == race->n_branches ||
                   !race->is_tried_again(race->ctx, i);
    if (is_last)
        cdr_race_settle_locked(ended);
}

// The race may have been decided since the one before had failed.
void cdr_race_replace_locked(cadre_frame *ended, cadre_frame *next)
{
    cdr_race *race = ended->race;
    if (race == NULL)
        return;
    next->race = race;
    ended->race = NULL; // it may stay for its name, when the race has gone
    size_t i = place_of(race, ended);
    if (i < race->n_branches)
        race->branches[i] = next;
    if (race->is_decided)
        cdr_frame_mark_locked(next, CDR_MARK_OWNER);
}

bool cdr_race_is_over_locked(const cadre_frame *ended)
{
    return ended->is_given_up || (ended->race != NULL && ended->race->is_decided);
}

void cdr_race_leave_locked(cdr_race *race)
{
    for (size_t i = 0; i < race->n_branches; i++)
        if (race->branches[i] != NULL)
            race->branches[i]->race = NULL;
}

// Those of the record are looked at before anything runs.
void cdr_race_set_locked(cdr_race *race)
{
    race->winner = race->n_branches;
    for (size_t i = 0; i < race->n_branches; i++) {
        cadre_frame *branch = race->branches[i];
        if (branch == NULL)
            continue;
        branch->race = race;
        if (cdr_frame_is_ended(branch))
            cdr_race_settle_locked(branch);
    }
}
