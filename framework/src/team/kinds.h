// The built-in kinds: what the files in topologies, agents, tools, models and stores
// define, found by the build (cmake/kinds.cmake) and never listed by hand.
//
// Each array ends with NULL and is sorted by file name. The core reaches an
// implementation through these and includes none.
//
// Thread: immutable.
#ifndef CDR_KINDS_H
#define CDR_KINDS_H

#include "cadre/ext/agent.h"
#include "cadre/ext/model.h"
#include "cadre/ext/store.h"
#include "cadre/ext/tool.h"

// A topology is an agent that has members, so both tables hold the same type.
extern const cadre_agent_ops *const cdr_kinds_topologies[];
extern const cadre_agent_ops *const cdr_kinds_agents[];
extern const cadre_tool_ops *const cdr_kinds_tools[];
extern const cadre_model_ops *const cdr_kinds_models[];
extern const cadre_store_ops *const cdr_kinds_stores[];

#endif
