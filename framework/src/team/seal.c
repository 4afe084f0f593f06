// Sealing: a team that was written becomes one that runs.
#include "team/sealing.h"

#include <stdlib.h>

// A copy of the texts in one array, as the public header gives them out.
static void list_problems(cadre_team *team)
{
    cdr_problems_sort(&team->problems);
    const char **texts =
        cdr_arena_alloc(&team->arena, (team->problems.count + 1) * sizeof(*texts));
    team->problems.no_memory |= !texts;
    for (size_t i = 0; texts && i < team->problems.count; i++)
        texts[i] = team->problems.items[i].text;
    team->problem_texts = texts;
}

static void seal(cadre_team *team)
{
    static void (*const steps[])(cdr_sealing *) = {
        cdr_seal_names,  cdr_seal_order,  cdr_seal_models,
        cdr_seal_script, cdr_seal_inputs, cdr_seal_instances,
    };
    cdr_sealing sealing = {.team = team};
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        // Without memory some names are lost, and nothing can be said of the rest.
        if (!team->problems.no_memory)
            steps[i](&sealing);
    }
    list_problems(team);
    if (team->problems.count > 0 || team->problems.no_memory)
        team->root = NULL;
}

// The first to ask seals, with no lock held, since it calls the kinds; others wait.
static void seal_once(cadre_team *team)
{
    cdr_mutex_lock(&team->mu);
    while (team->is_sealing)
        cdr_cond_wait(&team->sealed, &team->mu);
    bool is_mine = !team->is_sealed;
    team->is_sealing = is_mine;
    cdr_mutex_unlock(&team->mu);
    if (!is_mine)
        return;
    seal(team);
    cdr_mutex_lock(&team->mu);
    team->is_sealing = false;
    team->is_sealed = true;
    cdr_cond_broadcast(&team->sealed);
    cdr_mutex_unlock(&team->mu);
}

cadre_status cadre_team_seal(cadre_team *team, cadre_error *err)
{
    if (!team)
        return cadre_fail(err, CADRE_EINVAL,
                          "there is no team: no memory for it, or "
                          "no runtime");
    seal_once(team);
    return cdr_problems_status(&team->problems, err);
}
