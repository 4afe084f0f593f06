// One call of a hook in Lua, as the parts that make it up share it.
//
// Thread: that of the hook.
#ifndef CDR_LUA_RUN_H
#define CDR_LUA_RUN_H

#include "run/hook.h"
#include "team/hook_file.h"

typedef struct cdr_lua_run {
    const cdr_hook_file *file;
    cdr_hook_place place;
    cadre_frame *frame;      // whose operations it uses
    cadre_model_hook *model; // NULL: it is about something else; so all below
    cadre_tool_hook *tool;
    const cadre_outcome *answer;
    // What was read so far; the sandbox keeps it. NULL: not yet.
    const json_t *state, *messages, *tool_calls;
    unsigned counted; // fields whose size the sandbox knows; a bit each
    json_t *result;   // an object that the function returned; owned; NULL: nothing
} cdr_lua_run;

cdr_lua_run *cdr_lua_run_of(lua_State *lua);

// Pushes `ctx`.
void cdr_lua_context_push(lua_State *lua);

// The bytes of what `ctx` gives where it lies, for the sandbox: the state, and what a
// tool was called with.
size_t cdr_lua_context_measure(const void *values);

// A function of ctx; NULL: there is none of that name.
lua_CFunction cdr_lua_host_find(const char *name);
extern const char *const cdr_lua_host_names[]; // ended by NULL

// An event that a listener in Lua is told.
typedef struct cdr_lua_event {
    const cadre_agent *agent;
    size_t index;
    const cadre_event *event;
} cdr_lua_event;

// Pushes it as a table.
void cdr_lua_event_push(lua_State *lua, const cdr_lua_event *told);

// What a script says of a call: {agent, input, history, timeout, quiet}.
typedef enum cdr_lua_call_kind {
    CDR_LUA_CALL,     // in a fork
    CDR_LUA_DELEGATE, // in the same conversation
    CDR_LUA_TRANSFER  // the same; `messages` may stand in place of the input
} cdr_lua_call_kind;

// Reads it; texts live as long as `spec` and the frame's arena. Errors: EINVAL, ENOMEM.
cadre_status cdr_lua_call_read(const cdr_lua_run *run, cdr_lua_call_kind kind,
                               const json_t *spec, cadre_call *out, cadre_error *err);

// Are all keys of the object (NULL: it has none) known? Errors: EINVAL, "unknown key
// 'x'; ...".
cadre_status cdr_lua_check_keys(const json_t *object, const char *const *known,
                                cadre_error *err);

// A text of an object in `*out`, NULL when it is not there. Errors: EINVAL.
cadre_status cdr_lua_text(const json_t *object, const char *key, const char **out,
                          cadre_error *err);

#endif
