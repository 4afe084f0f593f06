// What the shapes of a team without mistakes prove: whom nobody reaches, and that it
// nests deeper than a run may.
#include "team/sealing.h"

#include "team/worst_case.h"

#include <stdlib.h>

#define MAX_SHOWN 10

// --- Members that are not reached ---

// Where the topology names it.
static const cdr_at *member_place(const cadre_agent *topology,
                                  const cadre_agent *member)
{
    for (size_t i = 0; i < topology->member_refs.count; i++) {
        const cdr_name_ref *ref = &topology->member_refs.items[i];
        if (cdr_team_find_agent(topology->team, ref->name) == member)
            return &ref->at;
    }
    return &topology->at;
}

// Names what leads to a node: "'a', 'b'"; not reached either, all of it.
static size_t list_sources(cdr_buf *text, const cadre_shape_info *shape, size_t node)
{
    size_t n = 0;
    for (size_t i = 0; i < shape->n_edges; i++) {
        const cadre_shape_edge *edge = &shape->edges[i];
        if (edge->to != node || edge->from == node || n++ >= MAX_SHOWN)
            continue;
        cdr_buf_printf(text, "%s'%s'", n > 1 ? ", " : "",
                       shape->nodes[edge->from].name);
    }
    if (n > MAX_SHOWN)
        cdr_buf_append_text(text, ", ...");
    return n;
}

static void note_node(cadre_team *team, const cadre_shape_info *shape, size_t node)
{
    const cadre_shape_node *it = &shape->nodes[node];
    const cadre_agent_info *topology = &shape->agent->info;
    const cdr_at *at = member_place(shape->agent, it->agent);
    cdr_buf sources = CDR_BUF_INIT;
    size_t n = list_sources(&sources, shape, node);
    if (n == 0)
        cdr_team_note(team, at, "'%s' is never reached in %s '%s': nothing leads there",
                      it->name, topology->type, topology->name);
    else
        cdr_team_note(team, at,
                      "'%s' is never reached in %s '%s': what leads there is never "
                      "reached itself (%s)",
                      it->name, topology->type, topology->name, cdr_buf_text(&sources));
    team->problems.no_memory |= sources.failed;
    cdr_buf_fini(&sources);
}

// --- All agents ---

static void tell(cadre_team *team, const cadre_agent *agent, const cadre_error *err)
{
    cdr_at at = agent->at;
    at.path = NULL;
    if (err->status == CADRE_ENOMEM)
        team->problems.no_memory = true;
    else
        cdr_team_problem(team, &at, "%s", err->text);
}

static bool look_at(cadre_team *team, cdr_cost *costs, const cadre_agent *agent)
{
    cadre_error err = CADRE_ERROR_INIT;
    cadre_shape *shape = NULL;
    cadre_status status = cadre_shape_new(agent, &shape, &err);
    const cadre_shape_info *info = cadre_shape_get_info(shape);
    for (size_t i = 0; i < info->n_nodes; i++) {
        if (info->nodes[i].agent && !info->nodes[i].is_reached)
            note_node(team, info, i);
    }
    if (status == CADRE_OK)
        status = cdr_cost_add(costs, info, &err);
    cadre_shape_free(shape);
    if (status != CADRE_OK)
        tell(team, agent, &err);
    return status == CADRE_OK;
}

// --- Depth ---

static void append_path(cdr_buf *path, const cdr_cost *costs, const cadre_agent *agent)
{
    for (int n = 0; agent; agent = costs[agent->index].deepest, n++) {
        if (n == MAX_SHOWN) {
            cdr_buf_append_text(path, " -> ...");
            return;
        }
        cdr_buf_printf(path, "%s%s", n > 0 ? " -> " : "", agent->info.name);
    }
}

// A C program gives limits with each run.
static void check_depth(cadre_team *team, const cdr_cost *costs)
{
    int most = cdr_team_limits(team).max_depth;
    cadre_agent *root = team->agents[team->root->index];
    int depth = costs[root->index].depth;
    cdr_buf path = CDR_BUF_INIT;
    if (!root->at.file || most == CADRE_UNLIMITED || depth <= most)
        return;
    append_path(&path, costs, root);
    cdr_agent_problem(root,
                      "its calls nest %d deep (%s), and limits.max_depth is %d; raise "
                      "it, or nest less",
                      depth, cdr_buf_text(&path), most);
    team->problems.no_memory |= path.failed;
    cdr_buf_fini(&path);
}

void cdr_seal_shapes(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    if (team->problems.count > 0 || !team->root)
        return;
    cdr_cost *costs = cdr_costs_new(team, NULL);
    bool is_sound = costs != NULL;
    team->problems.no_memory |= !costs;
    for (size_t i = 0; i < team->n_order && is_sound; i++)
        is_sound = look_at(team, costs, team->order[i]);
    if (is_sound)
        check_depth(team, costs);
    free(costs);
}
