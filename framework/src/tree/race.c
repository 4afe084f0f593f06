// See race.h.
#include "tree/race.h"

enum {
    LOSER_MS = 2000 // what ignores its mark is waited for so long
};

static bool wins(const cdr_race *race, const cadre_frame *ended)
{
    if (ended->mark == CDR_MARK_OWNER)
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

void cdr_race_look_locked(cadre_frame *ended)
{
    if (ended->status == CADRE_FRAME_COMPLETED || ended->agent->retry.attempts <= 1)
        cdr_race_settle_locked(ended);
}

void cdr_race_replace_locked(cadre_frame *ended, cadre_frame *next)
{
    cdr_race *race = ended->race;
    next->race = race;
    for (size_t i = 0; race != NULL && i < race->n_branches; i++)
        if (race->branches[i] == ended)
            race->branches[i] = next;
}

void cdr_race_settle_locked(cadre_frame *ended)
{
    cdr_race *race = ended->race;
    if (race == NULL || race->is_decided || !wins(race, ended))
        return;
    for (size_t i = 0; i < race->n_branches; i++)
        if (race->branches[i] == ended)
            decide_locked(race, i);
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
