// Teams: agents, models and tools that belong together, from a team file or built in C.
//
// No builder call needs to be checked: the team remembers every mistake and sealing it
// (cadre_team_seal, or the first cadre_run_start) reports them all. Names are resolved
// then, so order does not matter. A sealed team never changes: what is added to one is
// ignored, and the result is NULL. All texts are copied.
//
// Thread: building is one thread's; a sealed team may be used by any.
#ifndef CADRE_TEAM_H
#define CADRE_TEAM_H

#include "cadre/runtime.h"
#include "cadre/team_settings.h"

#ifdef __cplusplus
extern "C" {
#endif

// Reads a team file and seals it. `err` gets the first mistake; the team is given out
// also then, for cadre_team_problems, unless the file cannot be read (NULL).
CADRE_API cadre_status cadre_team_load(cadre_runtime *runtime, const char *path,
                                       cadre_team **out, cadre_error *err);

// NULL: out of memory; every other function takes a NULL team.
CADRE_API cadre_team *cadre_team_new(cadre_runtime *runtime, const char *name);
// After its runs; background ones are stopped and waited for. NULL ok.
CADRE_API void cadre_team_free(cadre_team *team);

// The added agent, borrowed; NULL when it was refused.
CADRE_API cadre_agent *cadre_team_add_llm(cadre_team *team, const cadre_llm *llm);
CADRE_API cadre_agent *cadre_team_add_topology(cadre_team *team, const char *type,
                                               const cadre_topology *topology);
CADRE_API cadre_agent *cadre_team_add_function(cadre_team *team,
                                               const cadre_function *function);
CADRE_API void cadre_team_add_model(cadre_team *team,
                                    const cadre_model_settings *model);
CADRE_API void cadre_team_add_tool(cadre_team *team, const cadre_tool_settings *tool);

// Who gets the input; NULL, never called: the topology nobody is in, else the first.
CADRE_API void cadre_team_set_root(cadre_team *team, const char *name);
CADRE_API void cadre_team_set_script(cadre_team *team, const char *path);

// Resolves names, checks, makes the agents. Twice is once.
CADRE_API cadre_status cadre_team_seal(cadre_team *team, cadre_error *err);

// The mistakes that sealing found, one text each, in file order; n may be 0.
CADRE_API const char *const *cadre_team_problems(const cadre_team *team, size_t *n);
// The file that the nth of them is in; NULL: none.
CADRE_API const char *cadre_team_problem_file(const cadre_team *team, size_t nth);
// What is no mistake, but may not be meant: what nobody uses, programs not to be found.
CADRE_API const char *const *cadre_team_notes(const cadre_team *team, size_t *n);

CADRE_API const char *cadre_team_name(const cadre_team *team);
CADRE_API const cadre_agent *cadre_team_root(const cadre_team *team); // NULL: unsealed
CADRE_API const cadre_agent *cadre_team_find(const cadre_team *team, const char *name);
CADRE_API cadre_agents cadre_team_agents(const cadre_team *team); // in file order

#ifdef __cplusplus
}
#endif

#endif
