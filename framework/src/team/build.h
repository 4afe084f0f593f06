// What the builder in C and the loader of files share.
//
// Thread: one at a time, as building is.
#ifndef CDR_BUILD_H
#define CDR_BUILD_H

#include "team/settings.h"
#include "team/team.h"
#include "team/yaml.h"

// Finds the type, or tells what there is; gives NULL then, and the thing is flawed.
const cadre_agent_ops *cdr_agent_set_ops(cadre_agent *agent, const cdr_at *at);
const cadre_tool_ops *cdr_tool_set_ops(cadre_tool *tool, const cdr_at *at);
const cadre_model_ops *cdr_model_set_ops(cadre_model *model, const cdr_at *at);

// Where a schema that the team brings stands. In a file each part of it has a place of
// its own, by the schema as it was `written` there.
typedef struct cdr_schema_origin {
    const cdr_at *at;
    const cdr_document *document; // NULL: in C
    const json_t *written;
} cdr_schema_origin;

// Tells all that is wrong with a schema. False: something is.
bool cdr_team_check_schema(cadre_team *team, const json_t *schema,
                           const cdr_schema_origin *from);

// Takes over the parameters of a tool (stolen) after checking that they are the schema
// of an object.
void cdr_tool_set_parameters_take(cadre_tool *tool, json_t *parameters,
                                  const cdr_schema_origin *from);

// Take over what an agent's input is, and what its answer must fit (stolen), after
// checking that they are schemas.
void cdr_agent_set_input_schema_take(cadre_agent *agent, json_t *schema,
                                     const cdr_schema_origin *from);
void cdr_agent_set_output_schema_take(cadre_agent *agent, json_t *schema,
                                      const cdr_schema_origin *from);

// Where a part of something is: the place of `at` and a longer path. The path lives in
// the team.
cdr_at cdr_at_part(cadre_team *team, const cdr_at *at, const char *format, ...)
    CADRE_PRINTF(3, 4);

#endif
