// Sealing: a team that was written becomes one that runs.
#include "team/sealing.h"

// A copy of the texts in one array, as the public header gives them out.
static const char **list_texts(cadre_team *team, cdr_problems *problems)
{
    cdr_problems_sort(problems);
    const char **texts = cdr_team_alloc(team, (problems->count + 1) * sizeof(*texts));
    for (size_t i = 0; texts && i < problems->count; i++)
        texts[i] = problems->items[i].text;
    return texts;
}

static void seal(cadre_team *team)
{
    static void (*const steps[])(cdr_sealing *) = {
        cdr_seal_names,     cdr_seal_fallbacks, cdr_seal_order,  cdr_seal_edges,
        cdr_seal_models,    cdr_seal_budgets,   cdr_seal_script, cdr_seal_inputs,
        cdr_seal_instances, cdr_seal_state,     cdr_seal_shapes, cdr_seal_notes,
        cdr_seal_digests,
    };
    cdr_sealing sealing = {.team = team};
    for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
        // Without memory some names are lost, and nothing can be said of the rest.
        if (!team->problems.no_memory)
            steps[i](&sealing);
    }
    team->note_texts = list_texts(team, &team->notes);
    team->problem_texts = list_texts(team, &team->problems);
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
    cadre_status status = cdr_problems_status(&team->problems, err);
    cdr_mutex_lock(&team->mu);
    const char *late_call = team->late_call;
    cdr_mutex_unlock(&team->mu);
    if (status == CADRE_OK && late_call)
        return cadre_fail(err, CADRE_EINVAL,
                          "the team is sealed; %s came too late: build the whole team "
                          "before it is sealed or run",
                          late_call);
    return status;
}
