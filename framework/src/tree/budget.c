// See budget.h.
#include "tree/budget.h"

#define COST "max_cost_usd_micros"
#define TOKENS "max_tokens"
#define TIME "max_time_ms"

static int add(json_t *object, const char *name, int64_t value)
{
    return value == 0 ? 0 : json_object_set_new(object, name, json_integer(value));
}

json_t *cdr_budget_json(const cadre_budget *budget)
{
    json_t *object = json_object();
    if (add(object, COST, budget->max_cost_usd_micros) == 0 &&
        add(object, TOKENS, budget->max_tokens) == 0 &&
        add(object, TIME, budget->max_time_ms) == 0)
        return object;
    json_decref(object);
    return NULL;
}

static int64_t number(const json_t *budget, const char *name, int64_t given)
{
    return given != 0 ? given : json_integer_value(json_object_get(budget, name));
}

cadre_budget cdr_budget_of_options(const json_t *options, const cadre_budget *given)
{
    const json_t *budget = json_object_get(options, "budget");
    return (cadre_budget){number(budget, COST, given->max_cost_usd_micros),
                          number(budget, TOKENS, given->max_tokens),
                          number(budget, TIME, given->max_time_ms)};
}
