// A Lua state for scripts of team files: what they may name, how much they may use, and
// how C under them fails.
//
// 1. A script sees the functions of library.c, the names it was given, and nothing of
//    Lua's that looks outside, loads code, or hides an error (pcall). So an error
//    always ends the run.
// 2. Each run has a fresh _ENV; libraries are read-only. Nothing stays for the
//    next run.
// 3. A run is cut after CDR_SANDBOX_STEPS instructions, or CDR_SANDBOX_CPU_MS of
//    processor time of the script itself. Memory: CDR_SANDBOX_BYTES above what the
//    state takes when it is idle, and 4 times what `measure` says of the values.
// 4. All of Lua runs under lua_pcall. A function that a script can call may raise
//    errors (luaL_error, which jumps), so it holds nothing then that is not in `kept`.
// 5. A host function that fails with a status of its own calls cdr_sandbox_raise; the
//    caller of cdr_sandbox_run gets exactly that error.
//
// Thread: one at a time; a sandbox may move between threads. A thread of 256 KiB
// will do.
#ifndef CDR_SANDBOX_H
#define CDR_SANDBOX_H

#include "cadre/error.h"

#include "base/pattern.h"

#include <jansson.h>
#include <lauxlib.h>
#include <lua.h>

#define CDR_SANDBOX_STEPS 10000000
#define CDR_SANDBOX_CPU_MS 5000
#define CDR_SANDBOX_BYTES ((size_t)1024 * 1024)

typedef struct cdr_sandbox cdr_sandbox;

// What a script reads beside the functions. Static storage; outlives the sandbox.
typedef struct cdr_sandbox_names {
    const char *const *names;
    size_t count;
    // Pushes the value of names[i], or nil; asked once a run, when it is first read.
    void (*push)(lua_State *lua, size_t i, const void *values);
    // The bytes of all values; asked when memory is short. NULL: 0. Must not use Lua.
    size_t (*measure)(const void *values);
} cdr_sandbox_names;

typedef enum cdr_script_kind {
    CDR_SCRIPT_EXPRESSION, // what stands after `return`
    CDR_SCRIPT_CHUNK,
    CDR_SCRIPT_FILE // a chunk whose places are "WHERE:N: " in errors
} cdr_script_kind;

#define CDR_SCRIPT_AT_SIZE 32

// What stands in errors between WHERE and the message: ": line 3: ", ":3: " of a file;
// line 0: ": ". Returns `at`.
const char *cdr_script_at(cdr_script_kind kind, int line, char at[CDR_SCRIPT_AT_SIZE]);

typedef struct cdr_script {
    const char *text; // never bytecode
    size_t len;
    const char *where; // for errors; outlives the sandbox
    cdr_script_kind kind;
} cdr_script;

cadre_status cdr_sandbox_new(const cdr_sandbox_names *names, cdr_sandbox **out,
                             cadre_error *err);
void cdr_sandbox_free(cdr_sandbox *sandbox);

// Compiles the one script of a sandbox. Errors: CADRE_EINVAL "WHERE: line N:
// MESSAGE"; CADRE_ENOMEM.
cadre_status cdr_sandbox_load(cdr_sandbox *sandbox, const cdr_script *script,
                              cadre_error *err);

typedef struct cdr_sandbox_run {
    const void *values; // for `push`, `measure` and host functions
    // Takes the value the script returned, at index 1; runs like a host function.
    void (*take)(lua_State *lua, void *ctx);
    void *ctx;
    // With a name the script only defines functions: this one is called then, with the
    // one argument that `push_argument` pushes, and its value is taken.
    const char *function;
    void (*push_argument)(lua_State *lua, void *ctx);
    size_t (*measure)(const void *values); // in place of that of the names; or NULL
} cdr_sandbox_run;

// Runs the script. Errors: CADRE_EFAILED of class hook, "WHERE: line N: MESSAGE"; what
// a host function raised, as it is; CADRE_ENOMEM. After a failure the sandbox may be
// run again.
cadre_status cdr_sandbox_run_script(cdr_sandbox *sandbox, const cdr_sandbox_run *run,
                                    cadre_error *err);

// For host functions, `push` and `take`.

cdr_sandbox *cdr_sandbox_of(lua_State *lua);
const void *cdr_sandbox_values(lua_State *lua); // those of the run

// Ends the run with this failure. `err` NULL or empty: the status alone.
_Noreturn void cdr_sandbox_raise(lua_State *lua, cadre_status status,
                                 const cadre_error *err);

// Stand around what a host function does for a long time: it is not the script's.
void cdr_sandbox_leave(cdr_sandbox *sandbox);
void cdr_sandbox_enter(cdr_sandbox *sandbox);

// Calls the function that stands below its `n` arguments at the top, for one value; for
// code that a host function has called and that must return, such as a listener. False:
// the error stands there; the host function passes it on with lua_error when that code
// has returned, and nothing of the script runs before. Stands within _leave and _enter.
bool cdr_sandbox_try(lua_State *lua, int n);

// The run is given so many bytes more than was measured.
void cdr_sandbox_widen(cdr_sandbox *sandbox, size_t bytes);

// Keeps a reference until the run ends, so that a view of it may be pushed. Takes it
// over, NULL too, which raises "not enough memory".
const json_t *cdr_sandbox_keep_take(lua_State *lua, json_t *value);

// The processor time at which the run is cut (pattern.h).
int64_t cdr_sandbox_deadline_ns(cdr_sandbox *sandbox);

// Remembers a name that was read and is nil, for the error that may follow.
void cdr_sandbox_note_nil(cdr_sandbox *sandbox, const char *kind, const char *name);

// Bytes that the run may use in all (rule 3), measured.
size_t cdr_sandbox_limit(cdr_sandbox *sandbox);

// The regular expressions that its script has used last.
cdr_pattern_cache *cdr_sandbox_patterns(cdr_sandbox *sandbox);

#endif
