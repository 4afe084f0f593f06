// A team inside: agents, models and tools, first as they were written, then resolved.
//
// Rules:
// 1. Adding never fails towards the caller: each mistake is kept as one text, with the
//    place in the file where there is one.
// 2. Sealing resolves names, checks options, makes instances; after it nothing changes,
//    so runs read the team without a lock.
// 3. Instances are made after everything they point to: models and tools, then agents,
//    members before the topology over them.
//
// Thread: building is one thread's; of those that seal one does and the others wait
// (cadre_team_seal); afterwards any.
#ifndef CDR_TEAM_H
#define CDR_TEAM_H

#include "cadre/ext/agent.h"
#include "cadre/ext/model.h"
#include "cadre/ext/script.h"
#include "cadre/predicate.h"
#include "cadre/run.h"
#include "cadre/team.h"

#include "base/arena.h"
#include "base/mutex.h"
#include "team/digest.h"
#include "team/hook_file.h"
#include "team/price.h"
#include "team/problems.h"

// A name that stands for something until sealing.
typedef struct cdr_name_ref {
    const char *name; // NULL: none was written
    cdr_at at;
    cadre_history history; // of a handoff
} cdr_name_ref;

typedef struct cdr_name_refs {
    cdr_name_ref *items;
    size_t count;
    bool is_partial; // the file says more than was read
} cdr_name_refs;

// The sections of a file of which the document's problems say that something is lost: a
// name that is not there may be what is lost, so nobody is told off for using it.
typedef struct cdr_partial {
    bool agents, models, tools, inputs;
} cdr_partial;

#define CDR_MAX_ATTEMPTS 100 // of a call of an agent or a model

struct cadre_agent {
    cadre_agent_info info;
    const cadre_agent_ops *ops;
    void *state; // ops->state_size bytes
    cadre_team *team;
    int index;           // in file order
    const char *by_type; // see cdr_agent_by_type; NULL: ""
    // As written:
    cdr_at at;
    cdr_at instructions_at; // in a file; else without a path
    bool
        has_exact_lines; // they start there, and each of their lines is one of the file
    json_t *input_schema;   // owned; what info.input_schema points to
    json_t *output_schema;  // the same
    json_t *options;        // of its block; owned; defaults filled in by sealing
    json_t *member_options; // what is said of members where they are listed; or NULL
    cdr_name_refs member_refs, handoff_refs, tool_refs;
    cdr_name_refs option_agent_refs, option_tool_refs; // that its options name
    const json_t *written; // in a file: all of it, while the team is sealed
    cdr_name_ref entry_ref, model_ref, fallback_ref;
    cadre_status (*function)(void *ctx, cadre_frame *frame, cadre_error *err);
    void *function_ctx;
    // Resolved:
    const cadre_hooks *hooks;     // its own; NULL: none
    const cdr_hook_set *hook_set; // those of a file; NULL: none
    cadre_agents members;
    cadre_handoffs handoffs;
    cadre_tools tools;
    const cadre_agent *entry;
    const cadre_model *model;
    const cadre_agent *fallback; // answers when its loop comes to no end; NULL: nobody
    cadre_retry retry;           // attempts: at least 1
    int64_t timeout_ms;          // 0: none
    cadre_budget budget;
    cdr_at budget_at; // of its max_cost
    bool quiet;
    const char *output_key; // of the state, for its answer; NULL: none
    bool has_all_members;   // all that were named are there
    bool is_inner;          // made by another agent for work of its own
    bool is_flawed;         // a mistake in it was told already, so it cannot be made
    char shape_digest[CDR_AGENT_DIGEST_SIZE];
};

// Retries and times of a model.
typedef struct cdr_model_times {
    int max_attempts;        // 4
    int64_t backoff_ms;      // 500
    int64_t max_backoff_ms;  // 30 s
    int64_t timeout_ms;      // 10 min, one attempt
    int64_t idle_timeout_ms; // 60 s
} cdr_model_times;

struct cadre_model {
    const char *name;        // as the team calls it
    const char *provider;    // before the first slash
    const char *model;       // after it
    const char *full_name;   // both: who answers, in the record; "script" where it does
    const char *base_url;    // without a slash at its end; "" for `answer` models;
                             // before sealing as written, NULL: not
    const char *api_key_env; // "" when none is sent; before sealing as written
    const cadre_model_ops *ops;
    void *state;
    cadre_team *team;
    cdr_at at;
    json_t *options;         // owned
    uint64_t options_digest; // of those written; the script has none
    cdr_model_times times;
    cdr_price price;               // kept where the script stands in for it
    int64_t max_output_tokens;     // of one answer; 0: not said; kept as well
    int rpm, max_concurrency;      // 0: no limit
    cdr_name_refs fallback_refs;   // as written
    const cadre_model **fallbacks; // asked in that order when it fails for good
    size_t n_fallbacks;
    struct cdr_governor *governor; // net/governor.h; NULL: not used, or scripted
    bool is_used;                  // by an agent of the team
    bool is_fallback;              // of one that is used
    bool is_scripted;              // answers come from the team's script
    bool is_flawed;                // as of agents
};

// By an agent, at first or as a fallback.
static inline bool cdr_model_is_asked(const cadre_model *model)
{
    return model->is_used || model->is_fallback;
}

#define CDR_MAX_RATE 100000  // of rpm and max_concurrency
#define CDR_MAX_FALLBACKS 16 // of a model

#define CDR_TOOL_TIMEOUT_MS INT64_C(60000) // where none is written

struct cadre_tool {
    cadre_tool_info info;
    const cadre_tool_ops *ops;
    void *state;
    cadre_team *team;
    cdr_at at;
    json_t *parameters;           // owned; what info.parameters points to
    struct cdr_schema_plan *plan; // of these; NULL: there are none
    json_t *options;              // owned
    const char *type;
    cadre_status (*function)(void *ctx, cadre_frame *frame, const json_t *arguments,
                             cadre_error *err);
    void *function_ctx;
    int64_t timeout_ms; // 60 s
    bool replay_safe;
    bool needs_approval; // a person is asked before it runs
    bool may_repeat;     // the same call with the same result is no loop
    bool is_builtin;     // made for a topology (transfer), not written in the team
    const cadre_agent *member; // a topology's, which it calls; or NULL
    bool is_flawed;            // as of agents
};

// A typed parameter of the team ("inputs:").
typedef struct cdr_input {
    const char *name;
    json_t *schema; // owned; `default` in it, or the input is required
} cdr_input;

struct cadre_team {
    cadre_runtime *runtime;
    const char *name, *description;
    const char *directory; // of the file; "." without one
    cdr_arena arena;       // all texts and arrays
    cadre_agent **agents;  // the inner ones last
    size_t n_agents, n_inner_agents;
    cadre_model **models;
    size_t n_models;
    cadre_tool **tools;
    size_t n_tools;
    cdr_input *inputs;
    size_t n_inputs;
    cadre_predicate *predicates;
    size_t n_predicates;
    struct cdr_state_key *state_keys; // team/state_keys.h
    size_t n_state_keys;
    struct cdr_run_together *together; // the same
    size_t n_together;
    json_t *state_defaults; // an object; made by sealing
    cdr_name_ref root_ref;
    const cadre_agent *root;
    const char *asked_type; // of the root, instead of the one in its file; NULL: none
    cadre_agent **order;    // members before what has them; made by sealing
    size_t n_order;
    const char *script_path; // NULL: none; absolute or relative to the working folder
    cadre_script *script;    // loaded at sealing when the runtime is offline, or when a
                             // model of provider `script` is used
    cadre_limits limits;
    cadre_budget budget;
    cdr_at budget_at;         // of its max_cost
    bool has_budgets;         // it, or an agent, has one of tokens or money; by sealing
    const cadre_hooks *hooks; // of every agent's frame; NULL: none
    const cdr_hook_set *hook_set; // those of a file; NULL: none
    cdr_hook_file **hook_files;   // all that are named
    size_t n_hook_files;
    cdr_partial partial;
    cdr_at agents_at, script_at;   // in a file: of the keys, or of the whole file
    struct cdr_document *document; // the file, while the team is sealed; borrowed
    cdr_problems problems;
    cdr_problems notes;                             // no mistakes, but worth a look
    const char **problem_texts, **note_texts;       // made by sealing
    json_t *agent_index, *model_index, *tool_index; // name -> position
    bool is_sealed;
    char shape_digest[CDR_DIGEST_SIZE], text_digest[CDR_DIGEST_SIZE];
    cdr_mutex mu;
    cdr_cond sealed;
    bool is_sealing;       // guarded by mu; one thread seals, without holding it
    const char *late_call; // guarded by mu; the first that came after sealing; or NULL
};

// Keeps a mistake; `at` NULL: it has no place.
void cdr_team_problem(cadre_team *team, const cdr_at *at, const char *format, ...)
    CADRE_PRINTF(3, 4);

// Keeps what is no mistake, but may not be meant; of one place, without a path.
void cdr_team_note(cadre_team *team, const cdr_at *at, const char *format, ...)
    CADRE_PRINTF(3, 4);

// Keeps a mistake that concerns a whole agent, model or tool: "agent 'triage': ...".
// It is flawed from then on.
void cdr_agent_problem(cadre_agent *agent, const char *format, ...) CADRE_PRINTF(2, 3);
void cdr_model_problem(cadre_model *model, const char *format, ...) CADRE_PRINTF(2, 3);
void cdr_tool_problem(cadre_tool *tool, const char *format, ...) CADRE_PRINTF(2, 3);

// The end of a message on an agent whose type is not the one in its file:
// " (by --type chain)"; else "".
const char *cdr_agent_by_type(const cadre_agent *agent);

#define CDR_NAME_RULE "a name is [a-z][a-z0-9_]*, at most 64 long"

// Does it keep to the rule for names of agents, models, tools and inputs?
bool cdr_is_name(const char *name);

// Adds what is to be filled further before sealing; name and type are copied. A name
// that breaks the rules, or an unknown type, is a mistake that is kept, and the result
// is flawed; it is added all the same so that who names it is not told off too. NULL:
// there is one of that name, which is kept as a mistake, or no memory.
cadre_agent *cdr_team_add_agent(cadre_team *team, const char *type, const char *name,
                                const cdr_at *at);
cadre_model *cdr_team_add_model(cadre_team *team, const char *name,
                                const char *provider_and_model, const cdr_at *at);

// Adds an agent that `owner` makes while it is made itself: "owner.name", which no file
// can name. NULL: there is one, or no memory; kept as a mistake.
cadre_agent *cdr_team_add_inner_agent(cadre_agent *owner, const char *type,
                                      const char *name);
cadre_tool *cdr_team_add_tool(cadre_team *team, const char *type, const char *name,
                              const cdr_at *at);

// Adds a typed parameter; the schema is borrowed and copied.
void cdr_team_add_input(cadre_team *team, const char *name, const json_t *schema,
                        const cdr_at *at);

// Copies a text into the team; NULL stays NULL. No memory is kept as a mistake.
const char *cdr_team_text(cadre_team *team, const char *text);

// Memory that lives as long as the team, zeroed. NULL: none; kept as a mistake.
void *cdr_team_alloc(cadre_team *team, size_t size);

// Adds a name to a list of them; the text is copied.
void cdr_name_refs_add(cadre_team *team, cdr_name_refs *refs, const char *name,
                       cadre_history history, const cdr_at *at);

// Finds by name; NULL: not there.
cadre_agent *cdr_team_find_agent(const cadre_team *team, const char *name);

// The limits of the team, with the defaults where it gives none.
cadre_limits cdr_team_limits(const cadre_team *team);

// Before a run: is every key variable of the models in use set? Names the variable and
// --offline. Secrets are read from the environment when a request is made.
cadre_status cdr_team_check_keys(const cadre_team *team, cadre_error *err);

// Before a run whose budget counts money: has every model in use a price? Names the
// first that has none.
cadre_status cdr_team_check_prices(const cadre_team *team, cadre_error *err);

// The run's inputs: given ones checked, defaults filled in. New reference; NULL: `err`.
json_t *cdr_team_inputs(const cadre_team *team, const json_t *given, cadre_error *err);

// Replaces {{inputs.name}} and {{state.key}}, and {{{{ by {{; the result is allocated
// with malloc. All other words in such braces were refused at sealing. A key that the
// state does not have gives nothing.
char *cdr_team_render(const char *text, const json_t *inputs, const json_t *state);

#endif
