// The runtime: threads, network and store, shared by all teams and runs of a process.
//
// Thread: a runtime may be used by any thread; open and close are the owner's.
#ifndef CADRE_RUNTIME_H
#define CADRE_RUNTIME_H

#include "cadre/agent.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cadre_runtime cadre_runtime;
struct cadre_agent_ops;
struct cadre_tool_ops;
struct cadre_model_ops;

typedef struct cadre_runtime_config {
    size_t struct_size;
    const char *store;  // "memory", "sqlite:FILE"; NULL: memory
    bool offline;       // every model answers from a script
    const char *script; // the script file; implies offline; NULL: the team's own
    int max_threads;    // 0: 30,000; a branch beyond it fails with `busy`
} cadre_runtime_config;

#define CADRE_RUNTIME(...)                                                             \
    (&(const cadre_runtime_config){.struct_size = sizeof(cadre_runtime_config),        \
                                   __VA_ARGS__})

// Opens a runtime; `config` NULL: all defaults. SIGPIPE is the program's business:
// the library never raises it. Errors: EINVAL, ECONFIG (the store's url), EIO, ESTORE,
// ENOMEM.
CADRE_API cadre_status cadre_runtime_open(const cadre_runtime_config *config,
                                          cadre_runtime **out, cadre_error *err);

// Waits until no background run of this process (cadre_frame_spawn) is under way; those
// that wait for a person are not. `timeout_ms` 0: for ever. Errors: EINVAL, ETIMEOUT.
CADRE_API cadre_status cadre_runtime_wait(cadre_runtime *runtime, int64_t timeout_ms,
                                          cadre_error *err);

// Frees it; all its teams and runs must be freed before. NULL ok.
CADRE_API void cadre_runtime_close(cadre_runtime *runtime);

// Adds a type from outside the tree, before teams use it. The table must live as long
// as the runtime. Errors: EINVAL when the type is taken or the table is incomplete.
CADRE_API cadre_status cadre_runtime_register(cadre_runtime *runtime,
                                              const struct cadre_agent_ops *ops,
                                              cadre_error *err);
CADRE_API cadre_status cadre_runtime_register_tool(cadre_runtime *runtime,
                                                   const struct cadre_tool_ops *ops,
                                                   cadre_error *err);
CADRE_API cadre_status cadre_runtime_register_model(cadre_runtime *runtime,
                                                    const struct cadre_model_ops *ops,
                                                    cadre_error *err);

typedef enum cadre_kind {
    CADRE_KIND_TOPOLOGY,
    CADRE_KIND_AGENT,
    CADRE_KIND_TOOL,
    CADRE_KIND_MODEL,
    CADRE_KIND_STORE
} cadre_kind;

typedef struct cadre_kind_info {
    const char *type, *summary;
    const char *options_schema; // the "properties" of its options; NULL: none
    const char *block;          // of agents: see cadre/ext/agent.h
    const char *origin;         // who gives it, where team files cannot; else NULL
} cadre_kind_info;

// Gives the nth built-in type of a kind; false: there are no more.
CADRE_API bool cadre_kind_at(cadre_kind kind, size_t nth, cadre_kind_info *out);

// The JSON Schema (draft 2020-12, no words of our own) of the team file, made from the
// built-in kinds. New reference.
CADRE_API json_t *cadre_team_file_schema(void);

#define CADRE_VERSION "0.1.0" // of the header

// The version of the library that runs: "0.1.0".
CADRE_API const char *cadre_version(void);

// One line for each library it is linked to ("libcurl 7.88.1 (OpenSSL/3.0.15)").
// Static storage, made once; "\n" between the lines.
CADRE_API const char *cadre_linked_versions(void);

#ifdef __cplusplus
}
#endif

#endif
