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

#include "cadre/frame.h"
#include "cadre/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_team cadre_team;

// An agent that asks a model. CADRE_LLM(.name = "triage", .model = "openai/gpt-5", ...)
typedef struct cadre_llm {
    size_t struct_size;
    const char *name; // [a-z][a-z0-9_]*, up to 64
    const char *description;
    const char *model;        // a model of the team, or provider/model
    const char *instructions; // {{inputs.x}} and {{state.x}} are replaced
    cadre_names tools;
    cadre_names handoffs; // edges to other members
    cadre_history history;
    int max_turns;     // 0: 20
    int max_bad_calls; // in a row; 0: 5
    int64_t timeout_ms;
    bool quiet;
    const char *output_key; // its answer is kept in the run's state (cadre/state.h)
} cadre_llm;

#define CADRE_LLM(...)                                                                 \
    (&(const cadre_llm){.struct_size = sizeof(cadre_llm), __VA_ARGS__})

// An agent of any type over other agents.
typedef struct cadre_topology {
    size_t struct_size;
    const char *name, *description;
    const char *entry;
    cadre_names members;
    const char *options; // its block, as JSON text; NULL: all defaults
    int64_t timeout_ms;
    bool quiet;
    const char *output_key;
} cadre_topology;

#define CADRE_TOPOLOGY(...)                                                            \
    (&(const cadre_topology){.struct_size = sizeof(cadre_topology), __VA_ARGS__})

// An agent written as one C function.
typedef struct cadre_function {
    size_t struct_size;
    const char *name, *description;
    // As cadre_agent_ops.run: executed again from its top on resume.
    cadre_status (*run)(void *ctx, cadre_frame *frame, cadre_error *err);
    void *ctx;
    cadre_names members;
    cadre_names handoffs;
    const char *output_key;
} cadre_function;

#define CADRE_FUNCTION(...)                                                            \
    (&(const cadre_function){.struct_size = sizeof(cadre_function), __VA_ARGS__})

// A model under a name of its own.
typedef struct cadre_model_settings {
    size_t struct_size;
    const char *name;
    const char *model;       // provider/model
    const char *base_url;    // NULL: the provider's
    const char *api_key_env; // NULL: the provider's; "": none is sent
    const char *options;     // temperature and the like, as JSON text
} cadre_model_settings;

#define CADRE_MODEL(...)                                                               \
    (&(const cadre_model_settings){.struct_size = sizeof(cadre_model_settings),        \
                                   __VA_ARGS__})

// A tool: of a built-in type, or a C function.
typedef struct cadre_tool_settings {
    size_t struct_size;
    const char *name;
    const char *description;
    const char *parameters; // JSON Schema of the arguments; NULL: takes none
    const char *type;       // "command"; with `run` NULL
    const char *options;    // of the type, as JSON text
    // Does the work; the result is what cadre_frame_set_output was given. A failure
    // (cadre_fail) is a result the model sees. Locks: none. May block.
    cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);
    void *ctx;
    int64_t timeout_ms;  // 0: 60 s
    bool replay_safe;    // may run again after a crash
    bool needs_approval; // a person is asked before each call
} cadre_tool_settings;

#define CADRE_TOOL(...)                                                                \
    (&(const cadre_tool_settings){.struct_size = sizeof(cadre_tool_settings),          \
                                  __VA_ARGS__})

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
