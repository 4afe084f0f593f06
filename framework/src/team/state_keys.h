// The keys of the state that a team declares, and who keeps answers under which.
//
// Thread: building and sealing are one thread's; afterwards any reads.
#ifndef CDR_STATE_KEYS_H
#define CDR_STATE_KEYS_H

#include "cadre/state.h"

#include "team/team.h"

typedef struct cdr_state_key {
    const char *name;
    cadre_reducer reducer;
    json_t *default_value; // owned; NULL: the key is not there at first
    json_t *(*reduce)(void *ctx, const json_t *before, const json_t *update);
    void *ctx;
    cdr_at at;
} cdr_state_key;

// Members of a topology that it may run at the same time.
typedef struct cdr_run_together {
    cadre_agent *agent;
    cadre_agents members;
} cdr_run_together;

// Declares a key as a team file does: an object with `reducer` and `default`. Mistakes
// are kept.
void cdr_team_add_state_key(cadre_team *team, const char *name,
                            const json_t *declaration, const cdr_at *at);

// The same for a C program's, whose `key` is there.
void cdr_team_add_state_settings(cadre_team *team, const cadre_state_key *settings);

// The key of that name; NULL: nobody declared it, so it is replaced.
const cdr_state_key *cdr_team_state_key(const cadre_team *team, const char *name);

// How the key takes values.
cadre_reducer cdr_team_reducer(const cadre_team *team, const char *name);

// Sets the key an agent keeps its answer under, `at` the place of its name; NULL: none.
void cdr_agent_set_output_key(cadre_agent *agent, const char *key, const cdr_at *at);

// What agents' init gets, see cadre/ext/agent.h.
cadre_status cdr_config_declare_state(const struct cadre_agent_config *config,
                                      const char *key, const json_t *declaration,
                                      cadre_error *err);
cadre_reducer cdr_config_reducer_of(const struct cadre_agent_config *config,
                                    const char *key);
void cdr_config_run_together(const struct cadre_agent_config *config,
                             cadre_agents members);

void cdr_state_keys_fini(cadre_team *team);

#endif
