// Fallbacks of models resolved: who is asked when a model fails for good.
//
// Only the list of the model that an agent names counts: the lists of those in it are
// not followed, so two models may name each other.
#include "team/sealing.h"

#include "base/brief.h"
#include "team/build.h"

#include <string.h>

// The answers of this provider are those of the script, and nothing else's.
static bool is_of_script(const cadre_model *model)
{
    return strcmp(model->provider, "script") == 0;
}

static bool is_repeated(const cadre_model *model, const cadre_model *to)
{
    for (size_t i = 0; i < model->n_fallbacks; i++) {
        if (model->fallbacks[i] == to)
            return true;
    }
    return false;
}

static void resolve_one(cdr_sealing *sealing, cadre_model *model,
                        const cdr_name_ref *ref)
{
    char brief[CDR_BRIEF_SIZE];
    cadre_model *to = cdr_sealing_find_model(sealing, ref);
    bool is_bad = !to || to == model || is_repeated(model, to) || is_of_script(model) ||
                  is_of_script(to);
    if (!is_bad) {
        model->fallbacks[model->n_fallbacks++] = to;
        to->is_fallback |= model->is_used;
        return;
    }
    if (to == model)
        cdr_team_problem(sealing->team, &ref->at, "a model cannot fall back to itself");
    else if (to && is_repeated(model, to))
        cdr_team_problem(sealing->team, &ref->at, "%s stands here twice",
                         cdr_brief_text(brief, ref->name, '\''));
    else if (to)
        cdr_team_problem(sealing->team, &ref->at,
                         "a model of provider script answers from the script alone; it "
                         "has no fallback and is none");
    model->is_flawed = true;
}

void cdr_seal_fallbacks(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    size_t n_models = team->n_models; // those that are made here have none
    for (size_t i = 0; i < n_models; i++) {
        cadre_model *model = team->models[i];
        const cdr_name_refs *refs = &model->fallback_refs;
        if (refs->count == 0)
            continue;
        model->fallbacks = cdr_team_alloc(team, refs->count * sizeof(void *));
        for (size_t k = 0; model->fallbacks && k < refs->count; k++)
            resolve_one(sealing, model, &refs->items[k]);
    }
}
