// A budget as it is kept with the options of a run.
//
// Thread: any.
#ifndef CDR_BUDGET_H
#define CDR_BUDGET_H

#include "cadre/agent.h"

// Its limits as an object, empty when there is none. New reference; NULL: no memory.
json_t *cdr_budget_json(const cadre_budget *budget);

// The budget in a run's options, where `given` says nothing.
cadre_budget cdr_budget_of_options(const json_t *options, const cadre_budget *given);

#endif
