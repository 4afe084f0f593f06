// To add an agent type or a topology: one const table of this kind, in a file of its
// own in agents/ or topologies/, or registered with cadre_runtime_register.
//
// `run` is executed again from its top on resume; see cadre/frame.h. Instances are
// immutable after init: one serves thousands of runs at once.
#ifndef CADRE_EXT_AGENT_H
#define CADRE_EXT_AGENT_H

#include "cadre/ext/scope.h"
#include "cadre/ext/shape.h"
#include "cadre/state.h"

#ifdef __cplusplus
extern "C" {
#endif

// What an instance is made from. Borrowed for init, all but the texts of `info`, the
// members, tools and model, which live as long as the team.
typedef struct cadre_agent_config {
    size_t struct_size;
    cadre_agent_info info;
    const json_t *options;    // checked against options_schema, defaults filled in
    cadre_agents members;     // in file order
    const cadre_agent *entry; // NULL: none was named
    const cadre_model *model; // NULL: none was named
    cadre_tools tools;
    // Gives the team's instance of a built-in tool type ("transfer"); NULL: no such.
    const cadre_tool *(*builtin_tool)(const struct cadre_agent_config *config,
                                      const char *type);
    // Makes the tool by which a model calls that member: of type "member", under the
    // member's name. `history`: what the member sees of its caller's conversation, NONE
    // or ALL. NULL with `err`.
    const cadre_tool *(*member_tool)(const struct cadre_agent_config *config,
                                     const cadre_agent *member, cadre_history history,
                                     cadre_error *err);
    // What `entry` says, of types with `names_entry`; NULL: nothing.
    const char *entry_name;
    // Keeps a mistake in the options at `path` ("edges[2].to"; a key that the block has
    // not is looked for beside it), with its place in the file. Go on, so that all
    // mistakes are told in one go, then return EINVAL: that says nothing more.
    void (*problem)(const struct cadre_agent_config *config, const char *path,
                    const char *format, ...) CADRE_PRINTF(3, 4);
    // The same of a name that is none of those it can be: "unknown node 'x'; did you
    // mean ...". `what` is the noun.
    void (*unknown)(const struct cadre_agent_config *config, const char *path,
                    const char *what, const char *name, cadre_names known);
    // Keeps what is no mistake, but may not be meant, for cadre_team_notes.
    void (*note)(const struct cadre_agent_config *config, const char *path,
                 const char *text);
    // Makes an agent of one C function for work of this instance's own that is to be a
    // frame: "desk.approve", which nobody else can name. NULL: no memory, which sealing
    // tells. `ctx` lives as long as this instance.
    const cadre_agent *(*add_function)(
        const struct cadre_agent_config *config, const char *name,
        cadre_status (*run)(void *ctx, cadre_frame *frame, cadre_error *err),
        void *ctx);
    // Finds a condition that the program added to the team (cadre/predicate.h); NULL:
    // there is none of that name. Lives as long as the team.
    const struct cadre_predicate *(*find_predicate)(
        const struct cadre_agent_config *config, const char *name);
    // Declares a key of the state, as the team file does: {"reducer": "append",
    // "default": []}. The same twice is fine. Errors: EINVAL naming agent and key.
    cadre_status (*declare_state)(const struct cadre_agent_config *config,
                                  const char *key, const json_t *declaration,
                                  cadre_error *err);
    // How a key takes values, as far as was declared yet: those under it come first.
    cadre_reducer (*reducer_of)(const struct cadre_agent_config *config,
                                const char *key);
    // Says that these may run at the same time. Two of them, with what is below each,
    // that have one output_key without a reducer are a mistake then, told when all
    // agents are made.
    void (*run_together)(const struct cadre_agent_config *config, cadre_agents members);
    void *team;  // for all of these
    void *agent; // the same
    // Of agents that are one C function.
    cadre_status (*function)(void *ctx, cadre_frame *frame, cadre_error *err);
    void *function_ctx;
    // What the team file says of members where it lists them, by their names:
    // {description, input_schema}; NULL: nothing.
    const json_t *member_options;
    const cadre_agent
        *fallback; // its loop_fallback, for cadre_frame_fall_back; or NULL
} cadre_agent_config;

// `options_schema` is the same for agents, tools and models: the "properties" of an
// object, in the words of JSON Schema that cadre checks (type, enum, minimum,
// items, default, ...), with these meanings of `format`, so that init reads plain
// numbers:
//   {"type": "string", "format": "duration"}    "10s"; init gets milliseconds
//   {"type": "string", "format": "size"}        "64KiB"; init gets bytes
//   {"type": ["integer", "string"], "format": "limit", "minimum": 1, "maximum": 1000}
//                                               or `unlimited`: CADRE_UNLIMITED
//   {"type": "string", "format": "agent"}       names an agent, which becomes a member,
//                                               after the listed ones, once
//   {"type": "string", "format": "tool"}        names a tool, which is in `tools` then
//   {"type": "string", "format": "path"}        relative to the team file, inside its
//                                               folder; init gets it as reached from
//                                               here
// In an object of free keys, "additionalProperties" is the schema of each of them, and
// "patternProperties": {"^x-": true} leaves keys that start so for notes.
// `minimum` and `maximum` of a duration count milliseconds, of a size bytes; a C
// program may give the number itself. In a text with `"x-env": true`, and in a path, a
// team file's ${VAR} and ${VAR:-default} are replaced. An option with `"x-secret":
// true` may hold a secret: a run goes on with another one.
typedef struct cadre_agent_ops {
    size_t struct_size;
    const char *type;           // what team files write
    const char *summary;        // one line for `cadre list`
    const char *block;          // its block in a team file; NULL: `type`; "": the
                                // options stand beside the common keys
    const char *options_schema; // the "properties" of its block as JSON; NULL: none
    size_t state_size;          // zeroed by the framework, immutable after init
    bool uses_handoffs;         // its members hand over along their `handoffs`, each of
                                // which leads to another member: checked before init
    bool names_entry;           // `entry` names something of its options, no member

    // Optional. Fills `state`; a mistake in the options is EINVAL with a text that
    // names the agent. After failure fini is called. May not block.
    cadre_status (*init)(void *state, const cadre_agent_config *config,
                         cadre_error *err);

    // Required. Does the agent's work: straight-line and blocking. Locks: none.
    cadre_status (*run)(void *state, cadre_frame *frame, cadre_error *err);

    // Optional; NULL: what the configuration says. What cadre_agent_get_info gives,
    // with the configured name; lives as long as the team. Any thread, no locks.
    const cadre_agent_info *(*info)(const void *state);

    // Optional; NULL: the configured ones. What cadre_agent_tools gives: what its model
    // may call; lives as long as the team. Any thread, no locks.
    cadre_tools (*tools)(const void *state);

    // Optional; NULL: the members. What cadre_frame_members gives; lives as long as the
    // team. Any thread, no locks.
    cadre_agents (*subagents)(const void *state);

    // Optional. Frees what init made; half-built ok.
    void (*fini)(void *state);

    // Optional; NULL: not known. Tells what the instance does without running it, see
    // cadre/ext/shape.h: of a topology entry, ends, edges and how often members run; of
    // what asks models itself how often. Pure; any thread, no locks.
    void (*shape)(const void *state, cadre_shape *shape);
} cadre_agent_ops;

#ifdef __cplusplus
}
#endif

#endif
