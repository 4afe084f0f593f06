// See member_map.h.
#include "team/member_map.h"

#include <string.h>

bool cdr_member_map_init(cdr_member_map *map, const cadre_team *team, cdr_arena *arena)
{
    if (map->team)
        return true;
    size_t n = team->n_agents + 1;
    map->above = cdr_arena_alloc(arena, n * sizeof(*map->above));
    map->open = cdr_arena_alloc(arena, n * sizeof(*map->open));
    if (!map->above || !map->open)
        return false;
    map->team = team;
    map->members = (cadre_agents){NULL, 0};
    return true;
}

static void meet(cdr_member_map *map, const cadre_agent *agent,
                 const cadre_agent *member, size_t *n_open)
{
    // A program may hand in agents of another team; they lead nowhere here.
    if (agent->team != map->team || map->above[agent->index])
        return;
    map->above[agent->index] = member;
    map->open[(*n_open)++] = agent;
}

static void fill(cdr_member_map *map, cadre_agents members)
{
    memset(map->above, 0, map->team->n_agents * sizeof(*map->above));
    map->members = members;
    size_t n_open = 0;
    for (size_t i = 0; i < members.count; i++) {
        meet(map, members.items[i], members.items[i], &n_open);
        while (n_open > 0) {
            cadre_agents below = map->open[--n_open]->members;
            for (size_t k = 0; k < below.count; k++)
                meet(map, below.items[k], members.items[i], &n_open);
        }
    }
}

const cadre_agent *cdr_member_map_find(cdr_member_map *map, cadre_agents members,
                                       const char *name)
{
    const cadre_agent *agent = cdr_team_find_agent(map->team, name);
    if (map->members.items != members.items || map->members.count != members.count)
        fill(map, members);
    return agent ? map->above[agent->index] : NULL;
}
