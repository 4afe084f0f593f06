// Any topology at work, built without knowing which it is: one over two agents that
// answer from a script, alone or as a member of another. The types are all that are
// built in, and "debate", which comes from outside the tree.
//
//     top                        outer
//       a   calls b by its name    c   calls inner by its name
//       b   says B                 inner
//                                    a, b as on the left
//
// Who is called by its name is handed over to, asked, or told to be no tool; in any
// case each member gets its turn, and each run completes.
//
// Running out of memory ends the program. Thread: one at a time.
#ifndef SUPPORT_TOPOLOGY_CASE_H
#define SUPPORT_TOPOLOGY_CASE_H

#include "support/folder.h"

#include "cadre/cadre.h"

typedef struct topology_case {
    const char *outer; // the type of the root
    const char *inner; // of its second member; NULL: the root is over a and b
    const char *b;     // the steps of b in the script; NULL: it says B
} topology_case;

// Gives the nth type; NULL: there are no more.
const char *topology_case_type(size_t nth);

// Calls `check` for each type alone, and with each type as a member of each.
void topology_case_each(void (*check)(const topology_case *it));
void topology_case_each_pair(void (*check)(const topology_case *it));

// The team, not sealed; it has written its script into the folder.
cadre_team *topology_case_make(const topology_case *it, cadre_runtime *runtime,
                               const test_folder *folder);

// The name of the root, and of the agents that must have had a turn, with NULL at the
// end.
const char *topology_case_root(const topology_case *it);
const char *const *topology_case_agents(const topology_case *it);

#endif
