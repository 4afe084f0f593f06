// Agents: what answers. An llm, a C function, or a topology over other agents; all
// behind one interface, all members of a team.
//
// Thread: an agent never changes once its team is sealed; any thread may read it.
#ifndef CADRE_AGENT_H
#define CADRE_AGENT_H

#include "cadre/error.h"

#include <jansson.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_agent cadre_agent;
typedef struct cadre_model cadre_model;
typedef struct cadre_tool cadre_tool;
typedef struct cadre_frame cadre_frame;

// Borrowed pointers to agents; order has a meaning.
typedef struct cadre_agents {
    const cadre_agent *const *items;
    size_t count;
} cadre_agents;

typedef struct cadre_tools {
    const cadre_tool *const *items;
    size_t count;
} cadre_tools;

// Borrowed names; CADRE_NAMES("a", "b") makes one in place.
typedef struct cadre_names {
    const char *const *items;
    size_t count;
} cadre_names;

#define CADRE_NAMES(...)                                                               \
    {                                                                                  \
        (const char *const[]){__VA_ARGS__},                                            \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)          \
    }

// What an agent sees of the conversation it works in.
typedef enum cadre_history {
    CADRE_HISTORY_DEFAULT = 0, // what the agent's own configuration says, else all
    CADRE_HISTORY_ALL,         // everything said so far
    CADRE_HISTORY_OWN,         // the user's turns and its own
    CADRE_HISTORY_LAST,        // the last user turn and what follows
    CADRE_HISTORY_NONE         // only what this frame was given and does
} cadre_history;

// How often an agent is tried when a call of it fails, or its own time is up. What a
// run starts with, what is handed over to and what was stopped is not tried again.
typedef struct cadre_retry {
    int attempts;       // 1 to 100; 0: 1
    int64_t backoff_ms; // the pause before each further attempt
} cadre_retry;

// What a run, an agent with all that works for it, or a call may use up. 0: no limit
// of that kind. See docs/team-file.md#budget.
typedef struct cadre_budget {
    int64_t max_cost_usd_micros; // of models with a price
    int64_t max_tokens;          // input and output
    int64_t max_time_ms;         // at work, over all lives of the run
} cadre_budget;

// What others know of an agent. All texts live as long as the team.
typedef struct cadre_agent_info {
    const char *name;
    const char *type;            // "llm", "function", "handoff", ...
    const char *description;     // "" when there is none
    const json_t *input_schema;  // NULL: takes a text
    const json_t *output_schema; // what its answer must fit, as JSON; NULL: any text
} cadre_agent_info;

// One edge an agent may hand over along.
typedef struct cadre_handoff {
    const cadre_agent *to;
    cadre_history history; // what the target sees when it is reached by this edge
} cadre_handoff;

typedef struct cadre_handoffs {
    const cadre_handoff *items;
    size_t count;
} cadre_handoffs;

// Never NULL; lives as long as the team.
CADRE_API const cadre_agent_info *cadre_agent_get_info(const cadre_agent *agent);

// The members a topology was given; empty for others.
CADRE_API cadre_agents cadre_agent_members(const cadre_agent *agent);

// The tools this agent's model may call, but for those its topology gives it.
CADRE_API cadre_tools cadre_agent_tools(const cadre_agent *agent);

// The key of the run's state that it keeps its answer under; "" when there is none.
CADRE_API const char *cadre_agent_output_key(const cadre_agent *agent);

// What models call a tool by. Never NULL; lives as long as the team.
CADRE_API const char *cadre_tool_get_name(const cadre_tool *tool);

// The edges this agent declared; empty when it declared none.
CADRE_API cadre_handoffs cadre_agent_handoffs(const cadre_agent *agent);

#ifdef __cplusplus
}
#endif

#endif
