// The order in which agents are made: members before what has them, and who an agent
// falls back to before it. Neither may lead back to where it began.
//
// A walk in depth with a stack of its own: nesting may be deep.
#include "team/sealing.h"

#include "base/buf.h"

typedef enum color {
    NOT_SEEN = 0,
    ON_THE_PATH,
    DONE
} color;

typedef struct step {
    cadre_agent *agent;
    size_t next_member; // behind the members comes who it falls back to
} step;

typedef struct walk {
    cdr_sealing *sealing;
    unsigned char *colors; // by index of the agent
    step *path;
    size_t n_path;
} walk;

#define MAX_SHOWN 10

// Tells of a member that is on the path already: "a -> b -> a".
static void tell_cycle(walk *w, const cadre_agent *again)
{
    size_t start = w->n_path - 1;
    while (w->path[start].agent != again)
        start--;
    cadre_agent *agent = w->path[start].agent;
    size_t n_shown = w->n_path - start;
    cdr_buf text = CDR_BUF_INIT;
    bool falls_back = false;
    for (size_t i = 0; i < n_shown && i < MAX_SHOWN; i++)
        cdr_buf_printf(&text, "%s -> ", w->path[start + i].agent->info.name);
    for (size_t i = start; i < w->n_path; i++)
        falls_back |= w->path[i].next_member > w->path[i].agent->members.count;
    if (n_shown > MAX_SHOWN)
        cdr_buf_append_text(&text, "... -> ");
    for (size_t i = start; i < w->n_path; i++)
        w->path[i].agent->is_flawed = true;
    cdr_agent_problem(agent, "%s itself: %s%s",
                      falls_back ? "by members and loop_fallback it leads back to"
                                 : "contains",
                      cdr_buf_text(&text), again->info.name);
    cdr_buf_fini(&text);
}

static void push(walk *w, cadre_agent *agent)
{
    w->colors[agent->index] = ON_THE_PATH;
    w->path[w->n_path++] = (step){agent, 0};
}

// The next agent that one leads to; NULL: there are no more.
static const cadre_agent *take_next(step *top)
{
    cadre_agents members = top->agent->members;
    size_t next = top->next_member++;
    if (next < members.count)
        return members.items[next];
    return next == members.count ? top->agent->fallback : NULL;
}

// Takes one step: to an agent not seen yet, or back.
static void advance(walk *w)
{
    step *top = &w->path[w->n_path - 1];
    cadre_team *team = w->sealing->team;
    const cadre_agent *next = take_next(top);
    if (!next) {
        w->colors[top->agent->index] = DONE;
        team->order[team->n_order++] = top->agent;
        w->n_path--;
        return;
    }
    if (w->colors[next->index] == NOT_SEEN)
        push(w, team->agents[next->index]);
    else if (w->colors[next->index] == ON_THE_PATH)
        tell_cycle(w, next);
}

void cdr_seal_order(cdr_sealing *sealing)
{
    cadre_team *team = sealing->team;
    walk w = {.sealing = sealing};
    w.colors = cdr_team_alloc(team, team->n_agents + 1);
    w.path = cdr_team_alloc(team, team->n_agents * sizeof(*w.path) + 1);
    team->order = cdr_team_alloc(team, team->n_agents * sizeof(void *) + 1);
    if (!w.colors || !w.path || !team->order)
        return;
    for (size_t i = 0; i < team->n_agents; i++) {
        if (w.colors[i] == NOT_SEEN)
            push(&w, team->agents[i]);
        while (w.n_path > 0)
            advance(&w);
    }
}
