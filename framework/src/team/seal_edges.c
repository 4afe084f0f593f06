// Handoffs checked: each leads to a member of the topology that uses it, and is used.
//
// Where members are not all known, nothing is said: what is lost may be what is missed.
#include "team/sealing.h"

#define MAX_LISTED 16

typedef struct edges {
    cadre_team *team;
    int *member_of;   // by index of the agent: 1 + the index of the topology looked at
    bool *is_offered; // by index of the agent: something uses its handoffs
    bool *is_member;  // by index of the agent: of anything
} edges;

void cdr_sealing_list_members(cdr_buf *text, cadre_agents members)
{
    for (size_t i = 0; i < members.count && i < MAX_LISTED; i++)
        cdr_buf_printf(text, "%s%s", i > 0 ? ", " : "", members.items[i]->info.name);
    if (members.count > MAX_LISTED)
        cdr_buf_append_text(text, ", ...");
}

static bool has_all_members(const cadre_agent *agent)
{
    return agent->ops && agent->has_all_members;
}

static void tell_outside(const cadre_agent *topology, const cdr_name_ref *ref,
                         bool is_topology)
{
    cdr_buf members = CDR_BUF_INIT;
    cdr_sealing_list_members(&members, topology->members);
    if (is_topology)
        cdr_team_problem(topology->team, &ref->at,
                         "'%s' is the topology itself; hand over to one of its members "
                         "(members: %s)",
                         ref->name, cdr_buf_text(&members));
    else
        cdr_team_problem(topology->team, &ref->at,
                         "'%s' is not a member of '%s' (members: %s)", ref->name,
                         topology->info.name, cdr_buf_text(&members));
    topology->team->problems.no_memory |= members.failed;
    cdr_buf_fini(&members);
}

static void check_member(const edges *e, const cadre_agent *topology,
                         cadre_agent *member)
{
    for (size_t i = 0; i < member->handoff_refs.count; i++) {
        const cdr_name_ref *ref = &member->handoff_refs.items[i];
        const cadre_agent *to = cdr_team_find_agent(e->team, ref->name);
        // Unknown ones, and itself, were told.
        if (!to || to == member || e->member_of[to->index] == topology->index + 1)
            continue;
        tell_outside(topology, ref, to == topology);
        member->is_flawed = true;
    }
}

static void check_topology(edges *e, const cadre_agent *topology)
{
    // A C function does with the handoffs of its members what it likes.
    bool uses_handoffs = topology->ops->uses_handoffs;
    cadre_agents members = topology->members;
    for (size_t i = 0; i < members.count; i++)
        e->is_member[members.items[i]->index] = true;
    if (!uses_handoffs && !topology->function)
        return;
    for (size_t i = 0; i < members.count; i++) {
        e->member_of[members.items[i]->index] = topology->index + 1;
        e->is_offered[members.items[i]->index] = true;
    }
    for (size_t i = 0; uses_handoffs && i < members.count; i++)
        check_member(e, topology, e->team->agents[members.items[i]->index]);
}

// How to write what is missing, as the team was written.
static void append_fix(cdr_buf *text, const cadre_agent *agent)
{
    const char *name = agent->info.name;
    bool is_file = agent->at.file != NULL;
    cdr_buf_printf(text,
                   is_file
                       ? "`desk: {type: handoff, entry: %s, members: [%s"
                       : "cadre_team_add_topology(team, \"handoff\", ...) with entry "
                         "%s and members %s",
                   name, name);
    for (size_t i = 0; i < agent->handoffs.count && i < MAX_LISTED; i++)
        cdr_buf_printf(text, ", %s", agent->handoffs.items[i].to->info.name);
    cdr_buf_append_text(text, is_file ? "]}`" : "");
}

static void tell_unused(cadre_agent *agent)
{
    cdr_buf fix = CDR_BUF_INIT;
    append_fix(&fix, agent);
    cdr_team_problem(
        agent->team, &agent->handoff_refs.items[0].at,
        "agent '%s' declares handoffs, but no topology that hands over has "
        "it as a member; add one, such as %s",
        agent->info.name, cdr_buf_text(&fix));
    agent->team->problems.no_memory |= fix.failed;
    cdr_buf_fini(&fix);
    agent->is_flawed = true;
}

void cdr_seal_edges(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    edges e = {.team = team};
    bool is_whole = !team->partial.agents;
    e.member_of = cdr_team_alloc(team, team->n_agents * sizeof(*e.member_of) + 1);
    e.is_offered = cdr_team_alloc(team, team->n_agents + 1);
    e.is_member = cdr_team_alloc(team, team->n_agents + 1);
    if (!e.member_of || !e.is_offered || !e.is_member)
        return;
    for (size_t i = 0; i < team->n_agents; i++) {
        if (has_all_members(team->agents[i]))
            check_topology(&e, team->agents[i]);
        else
            is_whole = false;
    }
    for (size_t i = 0; is_whole && i < team->n_agents; i++) {
        cadre_agent *agent = team->agents[i];
        if (agent->handoffs.count == 0 || agent->is_flawed || e.is_offered[i])
            continue;
        // They wait for the day the type of the topology around it is changed.
        if (e.is_member[i])
            cdr_team_note(team, &agent->at,
                          "agent '%s': no topology over it uses its handoffs",
                          agent->info.name);
        else
            tell_unused(agent);
    }
}
