// What a team is built from: the settings of agents, models and tools, as C programs
// give them to cadre/team.h. All texts are copied; zero means the default.
//
// Thread: plain data.
#ifndef CADRE_TEAM_SETTINGS_H
#define CADRE_TEAM_SETTINGS_H

#include "cadre/frame.h"
#include "cadre/hook.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    const char *output_key;    // its answer is kept in the run's state (cadre/state.h)
    const char *loop_fallback; // answers when its loop comes to no end; NULL: nobody
    cadre_retry retry;
    const cadre_hooks *hooks;  // copied; NULL: none
    int max_history_tokens;    // of what was said, about; 0: no limit
    const char *output_schema; // JSON Schema that its answer must fit; NULL: any text
    cadre_budget budget;       // of each frame of it, with all that works for it
    const char *input_schema;  // JSON Schema of what it is called with; NULL: a text
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
    cadre_retry retry;
    const cadre_hooks *hooks;
    const char *output_schema;
    cadre_budget budget;
    const char *input_schema;
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
    cadre_retry retry;
    const cadre_hooks *hooks;
    const char *output_schema;
    cadre_budget budget;
    const char *input_schema;
    int64_t timeout_ms;
    bool quiet;
} cadre_function;

#define CADRE_FUNCTION(...)                                                            \
    (&(const cadre_function){.struct_size = sizeof(cadre_function), __VA_ARGS__})

// What a model costs, in millionths of a dollar for a million tokens: at $0.25 it is
// 250000. CADRE_PRICE(.input_usd_micros = 250000, .output_usd_micros = 2000000)
typedef struct cadre_price {
    size_t struct_size;
    int64_t input_usd_micros;
    int64_t output_usd_micros;       // reasoning included
    int64_t cached_input_usd_micros; // 0: as input
    int64_t cache_write_usd_micros; // of input put into a provider's cache; 0: as input
} cadre_price;

#define CADRE_PRICE(...)                                                               \
    (&(const cadre_price){.struct_size = sizeof(cadre_price), __VA_ARGS__})

// A model under a name of its own.
typedef struct cadre_model_settings {
    size_t struct_size;
    const char *name;
    const char *model;       // provider/model
    const char *base_url;    // NULL: the provider's
    const char *api_key_env; // NULL: the provider's; "": none is sent
    const char *options;     // temperature and the like, as JSON text
    cadre_names fallback;    // models, or provider/model, asked when it fails for good
    int rpm;                 // requests a minute; 0: no limit
    int max_concurrency;     // requests at a time; 0: no limit
    // Copied. NULL: nobody knows, and its calls are counted as unpriced; one of zeros
    // is that of a model which costs nothing.
    const cadre_price *price;
    int64_t timeout_ms;      // of one attempt; 0: 10 minutes
    int64_t idle_timeout_ms; // no byte for so long, once it answers; 0: 60 s
    cadre_retry retry;       // 0: 4 attempts, and 500 ms, doubled each time ...
    int64_t max_backoff_ms;  // ... up to this; 0: 30 s
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
    bool may_repeat;     // polls: never stopped for the same call and result
} cadre_tool_settings;

#define CADRE_TOOL(...)                                                                \
    (&(const cadre_tool_settings){.struct_size = sizeof(cadre_tool_settings),          \
                                  __VA_ARGS__})

#ifdef __cplusplus
}
#endif

#endif
