// The steps of sealing a team, in the order they are taken.
//
// Each goes on after mistakes, so that all are told; what is flawed is passed over.
// Thread: one at a time, with no lock held, since the kinds are called.
#ifndef CDR_SEALING_H
#define CDR_SEALING_H

#include "base/buf.h"
#include "team/team.h"

// What a sealing keeps while it goes on.
typedef struct cdr_sealing {
    cadre_team *team;
    const char **agent_names, **model_names, **tool_names; // made when first needed
    size_t n_model_names;
} cdr_sealing;

// Turns the names that agents wrote into pointers, and makes models of provider/model.
void cdr_seal_names(cdr_sealing *sealing);

// The same for the fallbacks of models.
void cdr_seal_fallbacks(cdr_sealing *sealing);

// Orders the agents; tells of those that contain themselves.
void cdr_seal_order(cdr_sealing *sealing);

// Checks that handoffs lead to members of the topologies that use them, and that each
// is used by one.
void cdr_seal_edges(cdr_sealing *sealing);

// Addresses and key variables of models; which of them are scripted.
void cdr_seal_models(cdr_sealing *sealing);

// Checks that models which are paid from a budget of money have a price.
void cdr_seal_budgets(cdr_sealing *sealing);

// Loads the script when a model needs it, and checks its names.
void cdr_seal_script(cdr_sealing *sealing);

// Checks what stands in double braces in instructions.
void cdr_seal_inputs(cdr_sealing *sealing);

// Makes the models, tools and agents that have no mistakes.
void cdr_seal_instances(cdr_sealing *sealing);

// Finds, in a team without mistakes, members that nothing leads to, and a file's team
// that nests deeper than its limit.
void cdr_seal_shapes(cdr_sealing *sealing);
// The state at the start of a run; who would keep two answers under one key.
void cdr_seal_state(cdr_sealing *sealing);

// Notes, of a team without mistakes, what is never used.
void cdr_seal_notes(cdr_sealing *sealing);

// Digests of a team without mistakes, see digest.h.
void cdr_seal_digests(cdr_sealing *sealing);

// Appends the names of members, as many as a message has room for: "a, b, ...".
void cdr_sealing_list_members(cdr_buf *text, cadre_agents members);

// The model of that name: one of the team, else made of provider/model. NULL: told.
cadre_model *cdr_sealing_find_model(cdr_sealing *sealing, const cdr_name_ref *ref);

// The names of all agents, models and tools written in the team, for messages.
const char *const *cdr_sealing_agent_names(cdr_sealing *sealing);
const char *const *cdr_sealing_tool_names(cdr_sealing *sealing);

#endif
