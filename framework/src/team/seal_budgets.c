// Budgets of money need prices: of every model that is paid from them.
#include "team/sealing.h"

static bool has_price(const cadre_model *model)
{
    return !model || model->price.is_known || model->is_flawed;
}

static void check_team(cadre_team *team)
{
    for (size_t i = 0; i < team->n_models; i++) {
        const cadre_model *model = team->models[i];
        if (cdr_model_is_asked(model) && !has_price(model))
            cdr_team_problem(team, &team->budget_at,
                             "model '%s' has no price; give it one (price), or leave "
                             "max_cost out",
                             model->name);
    }
}

// The first model without a price that works for an agent, of those whose members were
// looked at. NULL: all have one.
static const cadre_model *find_unpriced(const cadre_agent *agent,
                                        const cadre_model *const *unpriced)
{
    const cadre_model *model = agent->model;
    if (!has_price(model))
        return model;
    for (size_t i = 0; model && i < model->n_fallbacks; i++) {
        if (!has_price(model->fallbacks[i]))
            return model->fallbacks[i];
    }
    for (size_t i = 0; i < agent->members.count; i++) {
        const cadre_model *found = unpriced[agent->members.items[i]->index];
        if (found)
            return found;
    }
    return NULL;
}

// Members come before what has them.
static void check_agents(cadre_team *team)
{
    const cadre_model **unpriced =
        cdr_team_alloc(team, (team->n_agents + 1) * sizeof(*unpriced));
    for (size_t i = 0; unpriced && i < team->n_order; i++) {
        const cadre_agent *agent = team->order[i];
        const cadre_model *found = find_unpriced(agent, unpriced);
        unpriced[agent->index] = found;
        if (found && agent->budget.max_cost_usd_micros > 0)
            cdr_team_problem(team, &agent->budget_at,
                             "model '%s', which works for %s, has no price; give it "
                             "one (price), or leave max_cost out",
                             found->name, agent->info.name);
    }
}

static bool is_there(const cadre_budget *budget)
{
    return budget->max_tokens > 0 || budget->max_cost_usd_micros > 0;
}

void cdr_seal_budgets(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    team->has_budgets = is_there(&team->budget);
    for (size_t i = 0; i < team->n_agents; i++)
        team->has_budgets |= is_there(&team->agents[i]->budget);
    if (sealing->team->budget.max_cost_usd_micros > 0)
        check_team(sealing->team);
    else
        check_agents(sealing->team);
}

cadre_status cdr_team_check_prices(const cadre_team *team, cadre_error *err)
{
    for (size_t i = 0; i < team->n_models; i++) {
        const cadre_model *model = team->models[i];
        if (cdr_model_is_asked(model) && !model->price.is_known)
            return cadre_fail_class(err, CADRE_ECONFIG, CADRE_CLASS_CONFIG, false,
                                    "model '%s' has no price, and the run's budget has "
                                    "a max_cost: give it one (price)",
                                    model->name);
    }
    return CADRE_OK;
}
