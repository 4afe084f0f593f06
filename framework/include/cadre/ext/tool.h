// To add a tool type: one const table of this kind, in a file of its own in tools/, or
// registered with cadre_runtime_register_tool.
//
// A tool runs in a frame of its own, below the agent that called it, and works with the
// same operations as an agent (cadre/frame.h): it sets its result with
// cadre_frame_set_output and may call agents. A failure it returns is a result that
// the model sees, not the end of the run.
#ifndef CADRE_EXT_TOOL_H
#define CADRE_EXT_TOOL_H

#include "cadre/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

// What a model is told of a tool.
typedef struct cadre_tool_info {
    const char *name;
    const char *description;
    const json_t *parameters; // JSON Schema of an object; NULL: takes none
} cadre_tool_info;

// Borrowed for init; the texts of `info` live as long as the team.
typedef struct cadre_tool_config {
    size_t struct_size;
    cadre_tool_info info;
    const json_t *options; // checked against options_schema, defaults filled in
    const char *directory; // of the team file, where relative paths start; or "."
    // Of C function tools.
    cadre_status (*run)(void *ctx, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);
    void *ctx;
    // Keeps what is no mistake, but may not be meant, for cadre_team_notes; NULL:
    // nobody wants to know.
    void (*note)(const struct cadre_tool_config *config, const char *text);
    void *tool;                // for note
    const cadre_agent *member; // whom a tool of type "member" calls; else NULL
} cadre_tool_config;

typedef struct cadre_tool_ops {
    size_t struct_size;
    const char *type, *summary;
    const char *options_schema; // the "properties" of its options as JSON; NULL: none;
                                // its words: cadre/ext/agent.h
    // Of types whose tools all take the same: JSON Schema of the arguments, an object;
    // NULL: each tool gives its own. With it a tool without a description has this.
    const char *parameters, *description;
    int64_t timeout_ms; // of tools that give none; 0: 60 s; CADRE_UNLIMITED: none
    size_t state_size;
    bool replay_safe; // unless the team file says otherwise
    bool is_control;  // only marks what is decided at the end of the turn
    bool is_lent;     // by topologies to their members, not written in team files

    // Optional. As cadre_agent_ops.init.
    cadre_status (*init)(void *state, const cadre_tool_config *config,
                         cadre_error *err);

    // Optional; NULL: the configured info. What this frame's model is told; texts and
    // JSON (borrowed) must live until the frame ends. False: not offered there.
    bool (*describe)(const void *state, cadre_frame *frame, cadre_tool_info *info);

    // Required. On failure the model reads what cadre_frame_set_output was given, else
    // the error's text. `arguments` were checked against the parameters. Must return
    // soon after cadre_frame_is_stopped. Locks: none. May block.
    cadre_status (*run)(void *state, cadre_frame *frame, const json_t *arguments,
                        cadre_error *err);

    // Optional.
    void (*fini)(void *state);

    bool calls_agents; // its `run` may call agents; of an agent that has such a tool it
                       // is not known what it takes at most
} cadre_tool_ops;

// What a tool was configured with, and its type. Live as long as the team.
CADRE_API const cadre_tool_info *cadre_tool_get_info(const cadre_tool *tool);
CADRE_API const char *cadre_tool_get_type(const cadre_tool *tool);

// What models call to hand over. A team gives no tool of its own this name.
#define CADRE_TRANSFER_TOOL "transfer_to_agent"

// Marks that the calling agent wants to hand over. Decided, with its result text, when
// the turn's other tools are done; the tool returns CADRE_OK and sets no output.
CADRE_API cadre_status cadre_frame_request_transfer(cadre_frame *frame,
                                                    const char *target,
                                                    const char *message,
                                                    cadre_error *err);

// What models call to end the cycle they work in.
#define CADRE_ESCALATE_TOOL "escalate"

// Marks that the calling agent wants to end the cycle around it, decided as a transfer
// is. `reason` may be "". The tool returns CADRE_OK and sets no output; the agent's
// cadre_frame_run_tools returns CADRE_ESCALATED.
CADRE_API cadre_status cadre_frame_request_escalation(cadre_frame *frame,
                                                      const char *reason,
                                                      cadre_error *err);

// A tool that an agent's code runs, without a model. CADRE_TOOL_RUN(.tool = ..., ...)
typedef struct cadre_tool_run {
    size_t struct_size;
    const cadre_tool *tool;  // of the team; none that is for models alone
    const json_t *arguments; // an object; NULL: none
    int64_t timeout_ms;      // 0: the tool's own
} cadre_tool_run;

#define CADRE_TOOL_RUN(...)                                                            \
    (&(const cadre_tool_run){.struct_size = sizeof(cadre_tool_run), __VA_ARGS__})

// Runs it as if a model had called for it: arguments are checked, a person is asked
// where it needs that, and on resume the record answers. `result` lives until `run`
// returns. Errors: EFAILED of class tool, with what a model would have read; ELIMIT;
// the sticky ones; EINVAL.
CADRE_API cadre_status cadre_frame_run_tool(cadre_frame *frame,
                                            const cadre_tool_run *asked,
                                            const char **result, cadre_error *err);

// The same on every attempt to run this call: trace and frame. In the frame's arena.
CADRE_API const char *cadre_frame_idempotency_key(cadre_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
