// What the builder in C and the loader of files share.
//
// Thread: one at a time, as building is.
#ifndef CDR_BUILD_H
#define CDR_BUILD_H

#include "team/settings.h"
#include "team/team.h"

// Finds the type, or tells what there is; gives NULL then, and the thing is flawed.
const cadre_agent_ops *cdr_agent_set_ops(cadre_agent *agent, const cdr_at *at);
const cadre_tool_ops *cdr_tool_set_ops(cadre_tool *tool, const cdr_at *at);
const cadre_model_ops *cdr_model_set_ops(cadre_model *model, const cdr_at *at);

// Takes over the parameters of a tool (stolen, NULL: takes none) after checking that
// they are the schema of an object.
void cdr_tool_set_parameters_take(cadre_tool *tool, json_t *parameters,
                                  const cdr_at *at);

// Where a part of something is: the place of `at` and a longer path. The path lives in
// the team.
cdr_at cdr_at_part(cadre_team *team, const cdr_at *at, const char *format, ...)
    CADRE_PRINTF(3, 4);

#endif
