// See worst_case.h.
#include "team/worst_case.h"

#include <stdlib.h>

// --- Numbers that end, or do not ---

static bool is_more(int64_t a, int64_t b)
{
    return b != CADRE_UNLIMITED && (a == CADRE_UNLIMITED || a > b);
}

static int64_t plus(int64_t a, int64_t b)
{
    if (a == CADRE_UNLIMITED || b == CADRE_UNLIMITED)
        return CADRE_UNLIMITED;
    return a > CADRE_WORST_CASE_MAX - b ? CADRE_WORST_CASE_MAX : a + b;
}

static int64_t times(int64_t runs, int64_t each)
{
    if (runs == 0 || each == 0)
        return 0;
    if (runs == CADRE_UNLIMITED || each == CADRE_UNLIMITED)
        return CADRE_UNLIMITED;
    return runs > CADRE_WORST_CASE_MAX / each ? CADRE_WORST_CASE_MAX : runs * each;
}

// --- One agent ---

// A node that runs, as often as it may.
typedef struct runner {
    int64_t runs, each;
} runner;

static int by_cost(const void *left, const void *right)
{
    const runner *a = left;
    const runner *b = right;
    return is_more(b->each, a->each) - is_more(a->each, b->each);
}

// The dearest first, until all the runs there are have been given away.
static int64_t cost_of_runs(runner *runners, size_t n, int64_t left)
{
    int64_t sum = 0;
    if (n > 1)
        qsort(runners, n, sizeof(*runners), by_cost);
    for (size_t i = 0; i < n && left != 0; i++) {
        int64_t runs = is_more(runners[i].runs, left) ? left : runners[i].runs;
        sum = plus(sum, times(runs, runners[i].each));
        if (left != CADRE_UNLIMITED)
            left -= runs;
    }
    return sum;
}

// Hooks, and some tools, may call any agent, or none.
static bool may_call_more(const cadre_agent *agent)
{
    if (agent->hooks || agent->team->hooks)
        return true;
    for (size_t i = 0; i < agent->tools.count; i++) {
        if (agent->tools.items[i]->ops->calls_agents)
            return true;
    }
    return false;
}

static void take_depth(cdr_cost *cost, const cadre_agent *member, const cdr_cost *below)
{
    cost->is_deeper |= below->is_deeper;
    if (cost->deepest && below->depth < cost->depth)
        return;
    cost->deepest = member;
    cost->depth = below->depth + 1;
}

// What stands before an agent in the order has its cost already.
static cadre_status add_up(cdr_cost *costs, const cadre_agent *agent,
                           const cadre_shape_info *shape, cadre_error *err)
{
    cdr_cost *cost = &costs[agent->index];
    runner *runners = calloc(shape->n_nodes + 1, sizeof(*runners));
    size_t n = 0;
    if (!runners)
        return cadre_fail(err, CADRE_ENOMEM, "no memory to add up agent '%s'",
                          agent->info.name);
    for (size_t i = 0; i < shape->n_nodes; i++) {
        const cadre_shape_node *node = &shape->nodes[i];
        if (!node->agent || !node->is_reached)
            continue;
        const cdr_cost *below = &costs[node->agent->index];
        runners[n++] = (runner){node->max_runs, below->model_calls};
        take_depth(cost, node->agent, below);
    }
    cost->model_calls =
        plus(shape->max_model_calls, cost_of_runs(runners, n, shape->max_runs));
    free(runners);
    return CADRE_OK;
}

// What is not known may call any agent, or none.
cadre_status cdr_cost_add(cdr_cost *costs, const cadre_shape_info *shape,
                          cadre_error *err)
{
    const cadre_agent *agent = shape->agent;
    cdr_cost *cost = &costs[agent->index];
    cadre_status status = shape->is_known ? add_up(costs, agent, shape, err) : CADRE_OK;
    if (!shape->is_known || may_call_more(agent)) {
        cost->model_calls = CADRE_UNLIMITED;
        cost->is_deeper = true;
    }
    return status;
}

// --- The team ---

static cadre_status cost_of(cdr_cost *costs, const cadre_agent *agent, cadre_error *err)
{
    cadre_shape *shape = NULL;
    cadre_status status = cadre_shape_new(agent, &shape, err);
    if (status == CADRE_OK)
        status = cdr_cost_add(costs, cadre_shape_get_info(shape), err);
    cadre_shape_free(shape);
    return status;
}

cdr_cost *cdr_costs_new(const cadre_team *team, cadre_error *err)
{
    cdr_cost *costs = calloc(team->n_agents + 1, sizeof(*costs));
    if (!costs)
        cadre_fail(err, CADRE_ENOMEM, "no memory to add up team '%s'", team->name);
    return costs;
}

cadre_status cadre_team_worst_case(const cadre_team *team, cadre_worst_case *out,
                                   cadre_error *err)
{
    const cadre_agent *root = cadre_team_root(team);
    if (!out)
        return cadre_fail(err, CADRE_EINVAL, "cadre_team_worst_case: NULL argument");
    if (!root)
        return cadre_fail(err, CADRE_EINVAL,
                          "cadre_team_worst_case: the team is not sealed, or has "
                          "mistakes");
    cdr_cost *costs = cdr_costs_new(team, err);
    cadre_status status = costs ? CADRE_OK : CADRE_ENOMEM;
    for (size_t i = 0; i < team->n_order && status == CADRE_OK; i++)
        status = cost_of(costs, team->order[i], err);
    if (status == CADRE_OK)
        *out = (cadre_worst_case){
            costs[root->index].model_calls, costs[root->index].depth,
            costs[root->index].is_deeper, cdr_team_limits(team), team->budget};
    free(costs);
    return status;
}
