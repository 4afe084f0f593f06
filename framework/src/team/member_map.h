// Which of some members an agent is, or is below: for teams of teams.
//
// The way down is gone once for a list of members, without recursion, and each agent is
// met once: teams nest as deep as a file says, and where they share members there are
// many more ways than agents.
//
// Thread: one at a time; the team is sealed.
#ifndef CDR_MEMBER_MAP_H
#define CDR_MEMBER_MAP_H

#include "team/team.h"

typedef struct cdr_member_map {
    const cadre_team *team;    // NULL: not made yet
    cadre_agents members;      // of which the map is
    const cadre_agent **above; // by agent index: the first member that leads to it
    const cadre_agent **open;  // met, but not looked below yet
} cdr_member_map;

// Makes an empty map in the arena; a second time does nothing. False: no memory.
bool cdr_member_map_init(cdr_member_map *map, const cadre_team *team, cdr_arena *arena);

// The first of `members` that has this name, or is a team with it somewhere below;
// NULL: none.
const cadre_agent *cdr_member_map_find(cdr_member_map *map, cadre_agents members,
                                       const char *name);

#endif
