// See random_team.h.
#include "support/random_team.h"

#include "support/random_graph.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct maker {
    random_team *plan;
    dice dice;
    int max_agents;
} maker;

static int throw(maker * m, int sides)
{
    return dice_throw(&m->dice, sides);
}

static bool percent(maker *m, int n)
{
    return dice_percent(&m->dice, n);
}

// --- Names ---

// Taken before its members are made, so that the root is the first.
static int add_agent(maker *m, const char *type)
{
    int at = m->plan->n_agents++;
    random_agent *agent = &m->plan->agents[at];
    *agent = (random_agent){.type = type, .fallback = -1};
    snprintf(agent->name, sizeof agent->name, "%s%d", type, at);
    return at;
}

// Who works at the same time as another one must not replace what that sets.
static void give_key(maker *m, random_agent *agent)
{
    static const char *const shared[] = {"log", "log", "log", "total", "facts"};
    if (!percent(m, 40))
        return;
    if (percent(m, 60)) {
        agent->output_key = shared[throw(m, 5)];
        return;
    }
    snprintf(agent->own_key, sizeof agent->own_key, "k_%s", agent->name);
    agent->output_key = agent->own_key;
}

// What runs at the same time as itself, and all below it, has keys with a reducer.
static void share_keys(maker *m, int at)
{
    random_agent *agent = &m->plan->agents[at];
    agent->is_shared = true;
    if (agent->output_key != NULL)
        agent->output_key = "log";
    for (int i = 0; i < agent->n_members; i++)
        share_keys(m, agent->members[i]);
}

static void give_common(maker *m, random_agent *agent)
{
    give_key(m, agent);
    agent->is_quiet = m->plan->has_quiet && percent(m, 30);
    if (percent(m, 20))
        agent->attempts = 2 + throw(m, 2);
    if (!m->plan->is_calm && percent(m, 20))
        agent->timeout_ms = 4 + throw(m, 60);
}

// --- Leaves ---

static void give_tools(maker *m, random_agent *agent)
{
    static const char *const calm[] = {"look", "note",   "broken",
                                       "slow", "helper", "look"};
    static const char *const wild[] = {"look", "note",   "broken", "slow",
                                       "late", "helper", "charge", "charge"};
    int n = throw(m, 4);
    for (int i = 0; i < n; i++) {
        const char *name = m->plan->is_calm ? calm[throw(m, 6)] : wild[throw(m, 8)];
        bool has = false;
        if (percent(m, 8))
            name = m->plan->is_calm || percent(m, 50) ? "ask" : "pay";
        for (int k = 0; k < agent->n_tools; k++)
            has = has || strcmp(agent->tools[k], name) == 0;
        if (!has)
            agent->tools[agent->n_tools++] = name;
    }
}

static int make_llm(maker *m)
{
    int at = add_agent(m, "llm");
    random_agent *agent = &m->plan->agents[at];
    give_common(m, agent);
    give_tools(m, agent);
    if (percent(m, 30))
        agent->max_turns = 1 + throw(m, 3);
    return at;
}

static bool has_room(const maker *m, int n)
{
    return m->plan->n_agents + n <= m->max_agents;
}

// Its code calls one to three agents.
static int make_function(maker *m)
{
    int at = add_agent(m, "function");
    int n = 1 + throw(m, 3);
    give_common(m, &m->plan->agents[at]);
    m->plan->agents[at].timeout_ms = 0; // the settings have none
    for (int i = 0; i < n && has_room(m, 1); i++) {
        random_agent *agent = &m->plan->agents[at];
        agent->members[agent->n_members++] = make_llm(m);
    }
    return at;
}

// One that is there already and hands over to nobody; -1: none.
static int find_shared(maker *m, const random_agent *into)
{
    int at = throw(m, m->plan->n_agents);
    random_agent *agent = &m->plan->agents[at];
    if (strcmp(agent->type, "llm") != 0 || agent->n_handoffs > 0)
        return -1;
    for (int i = 0; i < into->n_members; i++)
        if (into->members[i] == at)
            return -1;
    share_keys(m, at);
    return at;
}

static int make_leaf(maker *m, const random_agent *into)
{
    int shared = percent(m, 12) ? find_shared(m, into) : -1;
    if (shared >= 0)
        return shared;
    return percent(m, 15) && has_room(m, 3) ? make_function(m) : make_llm(m);
}

// --- Topologies ---

static bool is_type(const random_agent *agent, const char *type)
{
    return strcmp(agent->type, type) == 0;
}

// An agent knows those of one topology only: its edges must be right in each.
static void give_edges(maker *m, const random_agent *topology, bool declares)
{
    for (int i = 0; i < topology->n_members; i++) {
        random_agent *member = &m->plan->agents[topology->members[i]];
        bool is_leaf = is_type(member, "llm") || is_type(member, "function");
        for (int k = 0; is_leaf && k < topology->n_members; k++) {
            if (k == i)
                continue;
            member->peers[member->n_peers++] = topology->members[k];
            if (declares && !member->is_shared && percent(m, 60))
                member->handoffs[member->n_handoffs++] = topology->members[k];
        }
    }
}

static void write_transfer(maker *m, cdr_buf *to)
{
    cdr_buf_printf(to, "{\"max_handoffs\": %d", 2 + throw(m, 5));
    if (percent(m, 20))
        cdr_buf_append_text(to, ", \"return_to_source\": true");
    if (percent(m, 30))
        cdr_buf_append_text(to, ", \"sticky\": false");
    if (!m->plan->is_calm && percent(m, 15))
        cdr_buf_printf(to, ", \"node_timeout\": \"%dms\"", 4 + throw(m, 60));
    cdr_buf_append_text(to, "}");
}

static void write_parallel(maker *m, cdr_buf *to)
{
    static const char *const waits[] = {"all", "any", "race"};
    cdr_buf_printf(to, "{\"wait\": \"%s\", \"on_failure\": \"%s\"}",
                   m->plan->is_calm ? "all" : waits[throw(m, 3)],
                   percent(m, 60) ? "report" : "fail");
}

static void write_cycle(maker *m, cdr_buf *to)
{
    cdr_buf_printf(to, "{\"max_iterations\": %d%s}", 1 + throw(m, 3),
                   percent(m, 40) ? ", \"until\": {\"contains\": \"done\"}" : "");
}

static void write_options(maker *m, random_agent *agent)
{
    cdr_buf text = CDR_BUF_INIT;
    if (is_type(agent, "handoff") || is_type(agent, "swarm"))
        write_transfer(m, &text);
    else if (is_type(agent, "parallel"))
        write_parallel(m, &text);
    else if (is_type(agent, "cycle"))
        write_cycle(m, &text);
    else if (is_type(agent, "graph"))
        random_graph_write(m->plan, agent, &m->dice, &text);
    else
        cdr_buf_printf(&text, "{\"history\": \"%s\"}", percent(m, 50) ? "all" : "none");
    agent->options = cdr_buf_take(&text);
    if (agent->options == NULL)
        abort();
}

static int make_agent(maker *m, int depth, const random_agent *into);

static int make_topology(maker *m, int depth)
{
    static const char *const types[] = {"handoff", "swarm", "coordinator", "chain",
                                        "cycle",   "graph", "parallel"};
    int at = add_agent(m, types[throw(m, 7)]);
    int n = 1 + throw(m, 4);
    give_common(m, &m->plan->agents[at]);
    for (int i = 0; i < n && (i == 0 || has_room(m, 1)); i++) {
        random_agent *agent = &m->plan->agents[at];
        bool leads = i == 0 && is_type(agent, "coordinator");
        int member = leads ? make_llm(m) : make_agent(m, depth - 1, agent);
        agent->members[agent->n_members++] = member;
    }
    random_agent *agent = &m->plan->agents[at];
    if (is_type(agent, "handoff"))
        give_edges(m, agent, percent(m, 70));
    if (is_type(agent, "swarm"))
        give_edges(m, agent, false);
    for (int i = 0; is_type(agent, "graph") && i < agent->n_members; i++)
        share_keys(m, agent->members[i]); // a node may run for each of a list
    if (is_type(agent, "cycle") && percent(m, 50)) {
        random_agent *member = &m->plan->agents[agent->members[0]];
        bool can_stop = false; // it may be in two cycles
        for (int i = 0; i < member->n_tools; i++)
            can_stop |= strcmp(member->tools[i], "stop") == 0;
        if (is_type(member, "llm") && member->n_tools < 4 && !can_stop)
            member->tools[member->n_tools++] = "stop";
    }
    write_options(m, agent);
    return at;
}

static int make_agent(maker *m, int depth, const random_agent *into)
{
    if (depth > 0 && has_room(m, 2) && percent(m, 55))
        return make_topology(m, depth);
    return make_leaf(m, into);
}

// Only to one that was made later, and has none of its own: nobody leads back to there.
static void give_fallbacks(maker *m)
{
    random_team *plan = m->plan;
    for (int i = 0; i + 1 < plan->n_agents; i++) {
        random_agent *agent = &plan->agents[i];
        int to = i + 1 + throw(m, plan->n_agents - i - 1);
        if (is_type(agent, "llm") && is_type(&plan->agents[to], "llm") &&
            percent(m, 35))
            agent->fallback = to;
    }
}

void random_team_init(random_team *plan, uint64_t seed, bool is_calm)
{
    maker m = {.plan = plan, .dice = dice_of(seed, "team")};
    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    plan->is_calm = is_calm;
    plan->has_quiet = percent(&m, 25);
    plan->has_hooks = percent(&m, 25);
    m.max_agents = 2 + throw(&m, 11);
    make_topology(&m, throw(&m, 4));
    give_fallbacks(&m);
}

void random_team_fini(random_team *plan)
{
    for (int i = 0; i < plan->n_agents; i++)
        free(plan->agents[i].options);
}

int random_team_find(const random_team *plan, const char *name)
{
    for (int i = 0; i < plan->n_agents; i++)
        if (strcmp(plan->agents[i].name, name) == 0)
            return i;
    return -1;
}

// --- As text ---

static void write_names(cdr_buf *to, const random_team *plan, const char *what,
                        const int *items, int n)
{
    for (int i = 0; i < n; i++)
        cdr_buf_printf(to, "%s%s", i == 0 ? what : ", ", plan->agents[items[i]].name);
    if (n > 0)
        cdr_buf_append_text(to, "]");
}

static void write_agent(cdr_buf *to, const random_team *plan, const random_agent *agent)
{
    cdr_buf_printf(to, "  %s", agent->name);
    write_names(to, plan, " members [", agent->members, agent->n_members);
    write_names(to, plan, " handoffs [", agent->handoffs, agent->n_handoffs);
    for (int i = 0; i < agent->n_tools; i++)
        cdr_buf_printf(to, " +%s", agent->tools[i]);
    if (agent->output_key != NULL)
        cdr_buf_printf(to, " key %s", agent->output_key);
    if (agent->fallback >= 0)
        cdr_buf_printf(to, " fallback %s", plan->agents[agent->fallback].name);
    if (agent->max_turns > 0)
        cdr_buf_printf(to, " max_turns %d", agent->max_turns);
    if (agent->attempts > 0)
        cdr_buf_printf(to, " attempts %d", agent->attempts);
    if (agent->timeout_ms > 0)
        cdr_buf_printf(to, " timeout %d", (int)agent->timeout_ms);
    cdr_buf_printf(to, "%s %s\n", agent->is_quiet ? " quiet" : "",
                   agent->options == NULL ? "" : agent->options);
}

char *random_team_text(const random_team *plan)
{
    cdr_buf text = CDR_BUF_INIT;
    cdr_buf_printf(&text, "%s team of seed %llu%s\n", plan->is_calm ? "calm" : "wild",
                   (unsigned long long)plan->seed,
                   plan->has_hooks ? ", with hooks" : "");
    for (int i = 0; i < plan->n_agents; i++)
        write_agent(&text, plan, &plan->agents[i]);
    return cdr_buf_take(&text);
}
