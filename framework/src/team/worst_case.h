// What each agent of a team takes at most in one run of it, from the shapes.
//
// Thread: any, of a team whose agents are made.
#ifndef CDR_WORST_CASE_H
#define CDR_WORST_CASE_H

#include "cadre/shape.h"

#include "team/team.h"

typedef struct cdr_cost {
    int64_t model_calls; // of it and all below; CADRE_UNLIMITED: no bound is known
    int depth;           // so many blocking calls deep does what is below it nest
    bool is_deeper;      // or more
    const cadre_agent *deepest; // the node that is so deep; NULL: there is none
} cdr_cost;

// All zero, one for each agent, by its index; free it. NULL: no memory, in `err`.
cdr_cost *cdr_costs_new(const cadre_team *team, cadre_error *err);

// Adds up one agent, after all its members. Errors: ENOMEM.
cadre_status cdr_cost_add(cdr_cost *costs, const cadre_shape_info *shape,
                          cadre_error *err);

#endif
