// Dialogues: what topologies have in common whose members hand one conversation to one
// another. They differ in who may hand over to whom: one edge function.
//
// Thread: as of agents: a dialogue never changes after init.
#ifndef CADRE_EXT_DIALOGUE_H
#define CADRE_EXT_DIALOGUE_H

#include "cadre/ext/agent.h"
#include "cadre/ext/shape.h"

#ifdef __cplusplus
extern "C" {
#endif

// A limit of the block, but for its default and its last brace.
#define CADRE_DIALOGUE_LIMIT                                                           \
    "{\"type\": [\"integer\", \"string\"], \"format\": \"limit\","                     \
    " \"minimum\": 1, \"maximum\": 1000000"

// The options of such a topology: its block is "transfer".
#define CADRE_DIALOGUE_OPTIONS                                                         \
    "{\"sticky\": {\"type\": \"boolean\", \"default\": true},"                         \
    " \"max_handoffs\": " CADRE_DIALOGUE_LIMIT ", \"default\": 20},"                   \
    " \"window\": " CADRE_DIALOGUE_LIMIT ", \"default\": 8},"                          \
    " \"min_unique\": " CADRE_DIALOGUE_LIMIT "},"                                      \
    " \"repeat\": " CADRE_DIALOGUE_LIMIT ", \"default\": 3},"                          \
    " \"node_timeout\": {\"type\": \"string\", \"format\": \"duration\","              \
    "   \"minimum\": 1},"                                                              \
    " \"return_to_source\": {\"type\": \"boolean\", \"default\": false}}"

typedef struct cadre_dialogue {
    const cadre_agent *entry; // speaks first
    cadre_agents members;
    const cadre_tool *tool;
    cadre_transfer_limits limits;
    bool is_sticky; // the next user turn starts at who spoke last
    bool returns;
} cadre_dialogue;

// May `from` hand over to `to`? As of cadre_scope.
typedef cadre_edge (*cadre_dialogue_edge)(const void *ctx, const cadre_agent *from,
                                          const cadre_agent *to);

// Fills it from a configuration with CADRE_DIALOGUE_OPTIONS. Errors: EINVAL.
CADRE_API cadre_status cadre_dialogue_init(cadre_dialogue *dialogue,
                                           const cadre_agent_config *config,
                                           cadre_error *err);

// Lets the members speak until one of them answers. `edge` NULL: everyone may hand over
// to everyone else. Returns what `run` must return.
CADRE_API cadre_status cadre_dialogue_run(const cadre_dialogue *dialogue,
                                          cadre_frame *frame, cadre_dialogue_edge edge,
                                          const void *edge_ctx, cadre_error *err);

// Tells the shape of it.
CADRE_API void cadre_dialogue_shape(const cadre_dialogue *dialogue, cadre_shape *shape,
                                    cadre_dialogue_edge edge, const void *edge_ctx);

#ifdef __cplusplus
}
#endif

#endif
