// What the parts of the loader of team files share.
//
// `written` is the file as it stands there, which knows its places; `read` is the same
// with durations, sizes and the like converted, which has none. Names come from the
// first, settings from the second; both are walked side by side.
//
// Thread: one at a time; a loader lives for one file.
#ifndef CDR_LOAD_H
#define CDR_LOAD_H

#include "team/build.h"
#include "team/yaml.h"

typedef struct cdr_loader {
    cadre_team *team;
    cdr_document *document;
    const char *file;    // its name; lives as long as the team
    json_t *read;        // owned
    json_t *flawed;      // "agents.triage" and the like: told already; owned
    json_t *all_keys;    // the schema of all types; made for a misplaced key; owned
    const char *retyped; // the agent that got team->asked_type; NULL: none
} cdr_loader;

// One agent, model, tool or input of the file.
typedef struct cdr_entry {
    const char *name;
    json_t *written;
    const json_t *read;
    cdr_at at; // of its name
    bool is_flawed;
    bool holds_doubts; // a problem of the document says that something in it was lost
} cdr_entry;

// Gives the root of the file the type `team->asked_type`, before anything is checked; a
// root that cannot have one is told. Nothing happens to a file whose root is not sound.
void cdr_load_type(cdr_loader *loader, json_t *root);

// Is there a type of agents over others of this name? Errors: EINVAL, with the nearest.
cadre_status cdr_load_check_type(cadre_runtime *runtime, const char *type,
                                 cadre_error *err);

// Adds each agent, model and tool.
void cdr_load_agent(cdr_loader *loader, const cdr_entry *entry);
void cdr_load_model(cdr_loader *loader, const cdr_entry *entry);
void cdr_load_tool(cdr_loader *loader, const cdr_entry *entry);

// Opens the files of an agent's hooks, and of the team's.
void cdr_load_agent_hooks(cdr_loader *loader, cadre_agent *agent,
                          const cdr_entry *entry);
void cdr_load_team_hooks(cdr_loader *loader, const json_t *root);

// The place of a member of what is written, under a path that is one longer.
cdr_at cdr_load_member_at(cdr_loader *loader, const cdr_entry *entry, const char *key);
cdr_at cdr_load_element_at(cdr_loader *loader, const cdr_entry *entry, const char *key,
                           size_t index);

// A text of an object; NULL when it is not there, or no text.
const char *cdr_load_text(const json_t *object, const char *key);

// An integer of an object; `otherwise` when it is not there, or none.
int64_t cdr_load_integer(const json_t *object, const char *key, int64_t otherwise);

// The budget of an object, all zero when it is not there; `at`: the object's place,
// then that of the budget's max_cost.
cadre_budget cdr_load_budget(cdr_loader *loader, const json_t *object,
                             const json_t *written, cdr_at *at);

// The members of an object that a type has as options. New reference; NULL: no memory.
json_t *cdr_load_options(const char *options_schema, const json_t *object);

#endif
