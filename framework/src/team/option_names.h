// What the options of an agent name: other agents and tools, where their schema says
// {"format": "agent"} or {"format": "tool"}; and where in a file an option stands.
//
// Thread: one at a time, as building and sealing are.
#ifndef CDR_OPTION_NAMES_H
#define CDR_OPTION_NAMES_H

#include "base/schema_walk.h"
#include "team/team.h"

// One name that was found. Borrowed for the time of the call.
typedef struct cdr_option_name {
    const cdr_schema_slot *slot; // its value is a text
    const char *path;            // "nodes.draft.agent"
    bool is_tool;                // else an agent
} cdr_option_name;

typedef void (*cdr_on_option_name)(void *ctx, const cdr_option_name *found);

// Finds all names in `options`, in their order. False: no memory.
bool cdr_option_names(const char *options_schema, const json_t *options,
                      cdr_on_option_name on_name, void *ctx);

// Can options of that schema name agents? Then the agent needs no list of members.
bool cdr_options_name_agents(const char *options_schema);

// The place of an option of an agent, by its path. What is not there has the place of
// the nearest thing above it.
cdr_at cdr_agent_option_at(const cadre_agent *agent, const char *path);

#endif
