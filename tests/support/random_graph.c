// See random_graph.h.
#include "support/random_graph.h"

enum {
    MAX_NODES = RANDOM_MAX_MEMBERS + 3
};

// What an agent's or a tool's node may have beside.
static void write_extras(const random_team *plan, dice *d, bool may_wait, cdr_buf *to)
{
    if (dice_percent(d, 25))
        cdr_buf_append_text(to, ", \"input_from_last\": true");
    if (dice_percent(d, 20))
        cdr_buf_append_text(to, ", \"retry\": {\"attempts\": 2, \"backoff\": \"1ms\"}");
    if (may_wait && dice_percent(d, 3))
        cdr_buf_append_text(to, ", \"interrupt\": true");
    else if (dice_percent(d, 15))
        cdr_buf_append_text(to, ", \"for_each\": \"items\"");
    if (!plan->is_calm && dice_percent(d, 15))
        cdr_buf_printf(to, ", \"timeout\": \"%dms\"", 4 + dice_throw(d, 60));
}

static void write_other(const random_team *plan, dice *d, cdr_buf *to)
{
    static const char *const tools[] = {"look", "broken", "slow", "charge"};
    int kind = dice_throw(d, 20);
    if (kind == 0) {
        cdr_buf_append_text(to, "{\"human\": \"What of {{last_response}}?\"}");
    } else if (kind < 10) {
        cdr_buf_append_text(to, "{\"lua\": \"last_response .. ' seen'\"}");
    } else {
        cdr_buf_printf(to, "{\"tool\": \"%s\", \"arguments\": {\"n\": 1}",
                       tools[dice_throw(d, plan->is_calm ? 3 : 4)]);
        write_extras(plan, d, true, to);
        cdr_buf_append_text(to, "}");
    }
}

static void write_node(const random_team *plan, const random_agent *graph, int i,
                       dice *d, cdr_buf *to)
{
    cdr_buf_printf(to, "%s\"n%d\": ", i == 0 ? "" : ", ", i);
    if (i >= graph->n_members) {
        write_other(plan, d, to);
        return;
    }
    const char *name = plan->agents[graph->members[i]].name;
    if (dice_percent(d, 50)) {
        cdr_buf_printf(to, "\"%s\"", name);
        return;
    }
    cdr_buf_printf(to, "{\"agent\": \"%s\"", name);
    write_extras(plan, d, true, to);
    cdr_buf_append_text(to, "}");
}

static void write_when(dice *d, cdr_buf *to)
{
    static const char *const words[] = {"again", "left", "7", "seen"};
    if (dice_percent(d, 70))
        cdr_buf_printf(to, ", \"when\": {\"contains\": \"%s\"}",
                       words[dice_throw(d, 4)]);
    else
        cdr_buf_printf(to, ", \"when\": \"iteration > %d\"", 1 + dice_throw(d, 3));
}

// One that leads on from `from`, before any other of it.
static void write_back(int from, dice *d, cdr_buf *to)
{
    cdr_buf_printf(to, ", {\"from\": \"n%d\", \"to\": \"n%d\"", from,
                   dice_throw(d, from + 1));
    cdr_buf_append_text(to, ", \"when\": {\"contains\": \"again\"}}");
    cdr_buf_printf(to, ", {\"from\": \"n%d\", \"to\": \"end\"}", from);
}

// Each node but the first is reached from one before it; some from more.
static void write_edges(int n, dice *d, cdr_buf *to)
{
    for (int i = 1; i < n; i++) {
        int from = dice_throw(d, i);
        int other = dice_throw(d, i);
        cdr_buf_printf(to, "%s{\"from\": \"n%d\", \"to\": \"n%d\"", i == 1 ? "" : ", ",
                       from, i);
        if (dice_percent(d, 25))
            write_when(d, to);
        cdr_buf_append_text(to, "}");
        if (other != from && dice_percent(d, 40))
            cdr_buf_printf(to, ", {\"from\": \"n%d\", \"to\": \"n%d\"}", other, i);
    }
    if (n > 1 && dice_percent(d, 40))
        write_back(n - 1, d, to);
}

void random_graph_write(const random_team *plan, const random_agent *graph, dice *d,
                        cdr_buf *to)
{
    int n = graph->n_members + dice_throw(d, 3);
    cdr_buf_printf(to, "{\"max_steps\": %d, \"nodes\": {", 4 + dice_throw(d, 8));
    for (int i = 0; i < n && i < MAX_NODES; i++)
        write_node(plan, graph, i, d, to);
    cdr_buf_append_text(to, "}, \"edges\": [");
    write_edges(n, d, to);
    cdr_buf_append_text(to, "]}");
}
