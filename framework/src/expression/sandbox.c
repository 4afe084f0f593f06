// The sandbox: allocation with a cap, the count hook, and protected runs.
//
// The stack of an idle state holds the script at SCRIPT and the metatable of its _ENV
// at ENV_META, nothing else.
#include "expression/sandbox.h"

#include "expression/json_view.h"
#include "expression/library.h"
#include "expression/names.h"

#include <assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCRIPT 1
#define ENV_META 2
#define HANDLER 3 // only while a run is under way
#define HOOK_EVERY 1000
#define GARBAGE_BYTES ((size_t)128 * 1024) // more is collected at the end of a run
#define CHUNK_NAME "=@"                    // messages start with "@:LINE: "

struct cdr_sandbox {
    lua_State *lua;
    const cdr_sandbox_names *names;
    const char *where;
    cdr_script_kind kind;
    const void *values; // of the run under way
    size_t (*measure)(const void *values);
    size_t used, idle_used;
    size_t limit; // SIZE_MAX: no run
    bool is_measured;
    bool hit_limit;
    bool ran_out; // of memory, under cdr_sandbox_try
    int64_t steps_left;
    int64_t deadline_ns; // processor time; 0: nobody has asked yet
    int64_t left_at_ns;
    bool has_raised;
    cadre_status raised_status;
    cadre_error raised;
    json_t *kept; // a list; NULL until needed
    int line;     // where the error was raised; 0: not in Lua
    char nil_kind[16], nil_name[64];
    cdr_pattern_cache patterns;
};

cdr_sandbox *cdr_sandbox_of(lua_State *lua)
{
    cdr_sandbox *sandbox;
    memcpy(&sandbox, lua_getextraspace(lua), sizeof(sandbox));
    return sandbox;
}

const void *cdr_sandbox_values(lua_State *lua)
{
    return cdr_sandbox_of(lua)->values;
}

void cdr_sandbox_widen(cdr_sandbox *sandbox, size_t bytes)
{
    size_t room = SIZE_MAX - sandbox->limit;
    sandbox->limit += bytes < room / 4 ? bytes * 4 : room;
}

size_t cdr_sandbox_limit(cdr_sandbox *sandbox)
{
    if (!sandbox->is_measured) {
        sandbox->is_measured = true;
        size_t size =
            sandbox->measure && sandbox->values ? sandbox->measure(sandbox->values) : 0;
        cdr_sandbox_widen(sandbox, size);
    }
    return sandbox->limit - sandbox->idle_used;
}

// Is there no room for so much more? Measures the values when it would matter.
static bool is_over(cdr_sandbox *sandbox, size_t more)
{
    if (sandbox->used + more <= sandbox->limit)
        return false;
    cdr_sandbox_limit(sandbox);
    return sandbox->used + more > sandbox->limit;
}

static void *allocate(void *ctx, void *block, size_t old_size, size_t new_size)
{
    cdr_sandbox *sandbox = ctx;
    if (!block)
        old_size = 0; // else it is a kind of object
    if (new_size == 0) {
        free(block);
        sandbox->used -= old_size;
        return NULL;
    }
    if (new_size > old_size && is_over(sandbox, new_size - old_size)) {
        sandbox->hit_limit = true;
        return NULL;
    }
    void *moved = realloc(block, new_size);
    if (moved)
        sandbox->used += new_size - old_size;
    return moved;
}

static void count_steps(lua_State *lua, lua_Debug *debug)
{
    (void)debug;
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    sandbox->steps_left -= HOOK_EVERY;
    if (sandbox->steps_left < 0)
        luaL_error(lua, "it takes more than %d million steps",
                   CDR_SANDBOX_STEPS / 1000000);
    if (cdr_cpu_now_ns() > cdr_sandbox_deadline_ns(sandbox))
        luaL_error(lua, "it takes more than %d seconds of processor time",
                   CDR_SANDBOX_CPU_MS / 1000);
}

void cdr_sandbox_raise(lua_State *lua, cadre_status status, const cadre_error *err)
{
    assert(status != CADRE_OK);
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    sandbox->has_raised = true;
    sandbox->raised_status = status;
    cadre_error_clear(&sandbox->raised);
    if (err && err->status != CADRE_OK)
        sandbox->raised = *err;
    else
        cadre_fail(&sandbox->raised, status, "%s: %s", sandbox->where,
                   cadre_status_name(status));
    for (;;) { // lua_error does not return, but is not declared so
        lua_pushnil(lua);
        lua_error(lua);
    }
}

void cdr_sandbox_leave(cdr_sandbox *sandbox)
{
    sandbox->left_at_ns = cdr_cpu_now_ns();
}

void cdr_sandbox_enter(cdr_sandbox *sandbox)
{
    if (sandbox->deadline_ns != 0)
        sandbox->deadline_ns += cdr_cpu_now_ns() - sandbox->left_at_ns;
}

// Reading the clock costs as much as half a small script: it starts when it is needed.
int64_t cdr_sandbox_deadline_ns(cdr_sandbox *sandbox)
{
    if (sandbox->deadline_ns == 0)
        sandbox->deadline_ns = cdr_cpu_now_ns() + (int64_t)CDR_SANDBOX_CPU_MS * 1000000;
    return sandbox->deadline_ns;
}

const json_t *cdr_sandbox_keep_take(lua_State *lua, json_t *value)
{
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    if (value && !sandbox->kept)
        sandbox->kept = json_array();
    if (!value || !sandbox->kept || json_array_append_new(sandbox->kept, value) != 0) {
        if (!sandbox->kept)
            json_decref(value);
        cdr_sandbox_raise(lua, CADRE_ENOMEM, NULL);
    }
    return value;
}

void cdr_sandbox_note_nil(cdr_sandbox *sandbox, const char *kind, const char *name)
{
    snprintf(sandbox->nil_kind, sizeof(sandbox->nil_kind), "%s", kind);
    snprintf(sandbox->nil_name, sizeof(sandbox->nil_name), "%s", name);
}

cdr_pattern_cache *cdr_sandbox_patterns(cdr_sandbox *sandbox)
{
    return &sandbox->patterns;
}

// What an unknown or given name of _ENV stands for: __index of _ENV, with the global
// names as upvalue 1, in which the index of a given name stands.
static int read_global(lua_State *lua)
{
    lua_settop(lua, 2);
    lua_pushvalue(lua, 2);
    lua_rawget(lua, lua_upvalueindex(1));
    if (lua_type(lua, 3) == LUA_TLIGHTUSERDATA) {
        cdr_sandbox *sandbox = cdr_sandbox_of(lua);
        size_t i = (size_t)(uintptr_t)lua_touserdata(lua, 3);
        sandbox->names->push(lua, i, sandbox->values);
        if (lua_isnil(lua, -1)) {
            cdr_sandbox_note_nil(sandbox, "global", sandbox->names->names[i]);
        } else {
            lua_pushvalue(lua, 2);
            lua_pushvalue(lua, -2);
            lua_rawset(lua, 1);
        }
        return 1;
    }
    if (!lua_isnil(lua, 3))
        return 1;
    if (lua_type(lua, 2) != LUA_TSTRING)
        return luaL_error(lua, "_ENV has names only");
    char problem[CDR_NAMES_PROBLEM_SIZE];
    cdr_names_problem(problem, lua_tostring(lua, 2), cdr_sandbox_of(lua)->names);
    return luaL_error(lua, "%s", problem);
}

// Fills a new state. Leaves nil for the script, and the metatable of _ENV.
static int open_state(lua_State *lua)
{
    cdr_sandbox *sandbox = lua_touserdata(lua, 1);
    cdr_json_view_open(lua);
    lua_settop(lua, 0);
    lua_pushnil(lua);
    lua_createtable(lua, 0, 2);
    cdr_library_push(lua);
    for (size_t i = 0; i < sandbox->names->count; i++) {
        lua_pushlightuserdata(lua, (void *)(uintptr_t)i);
        lua_setfield(lua, -2, sandbox->names->names[i]);
    }
    lua_pushcclosure(lua, read_global, 1);
    lua_setfield(lua, ENV_META, "__index");
    return 2;
}

cadre_status cdr_sandbox_new(const cdr_sandbox_names *names, cdr_sandbox **out,
                             cadre_error *err)
{
    cdr_sandbox *sandbox = calloc(1, sizeof(*sandbox));
    if (!sandbox)
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a script");
    *sandbox = (cdr_sandbox){.names = names, .where = "script", .limit = SIZE_MAX};
    sandbox->lua = lua_newstate(allocate, sandbox);
    if (sandbox->lua) {
        memcpy(lua_getextraspace(sandbox->lua), &sandbox, sizeof(sandbox));
        lua_pushcfunction(sandbox->lua, open_state);
        lua_pushlightuserdata(sandbox->lua, sandbox);
    }
    if (!sandbox->lua || lua_pcall(sandbox->lua, 1, 2, 0) != LUA_OK) {
        cdr_sandbox_free(sandbox);
        return cadre_fail(err, CADRE_ENOMEM, "no memory for a script");
    }
    *out = sandbox;
    return CADRE_OK;
}

void cdr_sandbox_free(cdr_sandbox *sandbox)
{
    if (!sandbox)
        return;
    if (sandbox->lua)
        lua_close(sandbox->lua);
    cdr_pattern_cache_fini(&sandbox->patterns);
    json_decref(sandbox->kept);
    free(sandbox);
}

const char *cdr_script_at(cdr_script_kind kind, int line, char at[CDR_SCRIPT_AT_SIZE])
{
    if (line <= 0)
        snprintf(at, CDR_SCRIPT_AT_SIZE, ": ");
    else if (kind == CDR_SCRIPT_FILE)
        snprintf(at, CDR_SCRIPT_AT_SIZE, ":%d: ", line);
    else
        snprintf(at, CDR_SCRIPT_AT_SIZE, ": line %d: ", line);
    return at;
}

// The message handler: finds the line, which C called from Lua does not always say. An
// error that is passed on keeps the one where it was raised.
static int note_line(lua_State *lua)
{
    lua_Debug at;
    if (cdr_sandbox_of(lua)->line > 0)
        return 1;
    for (int level = 0; lua_getstack(lua, level, &at); level++) {
        if (lua_getinfo(lua, "l", &at) && at.currentline > 0) {
            cdr_sandbox_of(lua)->line = at.currentline;
            break;
        }
    }
    return 1;
}

// Writes what Lua's error at the top of the stack says, without the name of its chunk.
// Returns the line that it names, 0 when it names none.
static int read_message(lua_State *lua, char *out, size_t size)
{
    if (lua_type(lua, -1) == LUA_TNUMBER) { // as a text it would have to be allocated
        snprintf(out, size, "%.14g", lua_tonumber(lua, -1));
        return 0;
    }
    if (lua_type(lua, -1) != LUA_TSTRING) {
        snprintf(out, size, "error() was given a %s", cdr_json_type_name(lua, -1));
        return 0;
    }
    const char *message = lua_tostring(lua, -1);
    long line = 0;
    if (strncmp(message, "@:", 2) == 0) {
        char *end = NULL;
        line = strtol(message + 2, &end, 10);
        message = strncmp(end, ": ", 2) == 0 ? end + 2 : end;
    }
    snprintf(out, size, "%s", message);
    return line > 0 && line < INT_MAX ? (int)line : 0;
}

// Lua names the variable in most messages, but not when it compares.
static bool wants_nil(const cdr_sandbox *sandbox, const char *message)
{
    return sandbox->nil_name[0] && strncmp(message, "attempt to compare", 18) == 0 &&
           strstr(message, "nil");
}

static cadre_status fail_message(const cdr_sandbox *sandbox, cadre_status status,
                                 cadre_error *err)
{
    char message[400];
    int line = read_message(sandbox->lua, message, sizeof(message));
    if (line == 0)
        line = sandbox->line;
    char at[CDR_SCRIPT_AT_SIZE];
    char hint[128] = "";
    if (wants_nil(sandbox, message))
        snprintf(hint, sizeof(hint), " (%s '%s' is nil)", sandbox->nil_kind,
                 sandbox->nil_name);
    cadre_error_class error_class =
        status == CADRE_EFAILED ? CADRE_CLASS_HOOK : CADRE_CLASS_ERROR;
    return cadre_fail_class(err, status, error_class, false, "%s%s%s%s", sandbox->where,
                            cdr_script_at(sandbox->kind, line, at), message, hint);
}

// `code` is Lua's; the error stands at the top of the stack.
static cadre_status fail_lua(const cdr_sandbox *sandbox, int code, cadre_status status,
                             cadre_error *err)
{
    if (code != LUA_ERRMEM && !sandbox->ran_out)
        return fail_message(sandbox, status, err);
    if (!sandbox->hit_limit)
        return cadre_fail(err, CADRE_ENOMEM, "%s: no memory", sandbox->where);
    return cadre_fail_class(
        err, status, status == CADRE_EFAILED ? CADRE_CLASS_HOOK : CADRE_CLASS_ERROR,
        false,
        "%s: it needs more than %zu KiB of memory, and 4 times what "
        "the values take",
        sandbox->where, CDR_SANDBOX_BYTES / 1024);
}

static void begin(cdr_sandbox *sandbox, const void *values)
{
    sandbox->values = values;
    sandbox->limit = sandbox->idle_used + CDR_SANDBOX_BYTES;
    sandbox->is_measured = false;
    sandbox->hit_limit = false;
    sandbox->ran_out = false;
    sandbox->has_raised = false;
    sandbox->line = 0;
    sandbox->nil_name[0] = '\0';
    sandbox->steps_left = CDR_SANDBOX_STEPS;
    sandbox->deadline_ns = 0;
    lua_sethook(sandbox->lua, count_steps, LUA_MASKCOUNT, HOOK_EVERY);
}

// Drops all that the run held; the stack is as `lua_gettop` was before.
static void end(cdr_sandbox *sandbox)
{
    lua_State *lua = sandbox->lua;
    lua_settop(lua, ENV_META);
    lua_sethook(lua, NULL, 0, 0);
    sandbox->limit = SIZE_MAX;
    sandbox->values = NULL;
    if (lua_isfunction(lua, SCRIPT)) {
        lua_pushnil(lua);
        lua_setupvalue(lua, SCRIPT, 1); // _ENV
    }
    if (sandbox->used > sandbox->idle_used + GARBAGE_BYTES)
        lua_gc(lua, LUA_GCCOLLECT);
    json_decref(sandbox->kept);
    sandbox->kept = NULL;
}

// What lua_load reads: up to two pieces.
typedef struct pieces {
    const char *text[2];
    size_t len[2];
    size_t next;
} pieces;

static const char *read_piece(lua_State *lua, void *ctx, size_t *len)
{
    (void)lua;
    pieces *self = ctx;
    while (self->next < 2 && self->len[self->next] == 0)
        self->next++;
    if (self->next == 2)
        return NULL;
    *len = self->len[self->next];
    return self->text[self->next++];
}

cadre_status cdr_sandbox_load(cdr_sandbox *sandbox, const cdr_script *script,
                              cadre_error *err)
{
    static const char give[] = "return ";
    lua_State *lua = sandbox->lua;
    sandbox->where = script->where;
    sandbox->kind = script->kind;
    sandbox->idle_used = sandbox->used + script->len * 16; // room to compile
    begin(sandbox, NULL);
    pieces self = {.text = {give, script->text}, .len = {0, script->len}};
    if (script->kind == CDR_SCRIPT_EXPRESSION)
        self.len[0] = sizeof(give) - 1;
    int code = lua_load(lua, read_piece, &self, CHUNK_NAME, "t");
    cadre_status status = CADRE_OK;
    if (code == LUA_OK)
        lua_replace(lua, SCRIPT);
    else
        status = fail_lua(sandbox, code, CADRE_EINVAL, err);
    end(sandbox);
    lua_gc(lua, LUA_GCCOLLECT);
    sandbox->idle_used = sandbox->used;
    return status;
}

bool cdr_sandbox_try(lua_State *lua, int n)
{
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    int function = lua_gettop(lua) - n;
    cdr_sandbox_enter(sandbox);
    lua_pushcfunction(lua, note_line);
    lua_insert(lua, function);
    int code = lua_pcall(lua, n, 1, function);
    lua_remove(lua, function);
    sandbox->ran_out |= code == LUA_ERRMEM;
    cdr_sandbox_leave(sandbox);
    return code == LUA_OK;
}

// (_ENV, ...): the function that the script has defined.
static void call_function(lua_State *lua, const cdr_sandbox_run *run)
{
    lua_settop(lua, 1);
    lua_pushstring(lua, run->function);
    lua_rawget(lua, 1);
    if (!lua_isfunction(lua, 2))
        luaL_error(lua, "it defines no function '%s'", run->function);
    run->push_argument(lua, run->ctx);
    lua_call(lua, 1, 1);
}

// (script, metatable of _ENV, run): under lua_pcall.
static int run_protected(lua_State *lua)
{
    const cdr_sandbox_run *run = lua_touserdata(lua, 3);
    lua_createtable(lua, 0, 4);
    lua_pushvalue(lua, ENV_META);
    lua_setmetatable(lua, -2);
    lua_replace(lua, ENV_META); // _ENV stands there now
    lua_pushvalue(lua, ENV_META);
    lua_setupvalue(lua, SCRIPT, 1);
    lua_settop(lua, ENV_META);
    lua_insert(lua, SCRIPT);
    lua_call(lua, 0, 1);
    if (run->function)
        call_function(lua, run);
    lua_replace(lua, 1);
    run->take(lua, run->ctx);
    return 0;
}

cadre_status cdr_sandbox_run_script(cdr_sandbox *sandbox, const cdr_sandbox_run *run,
                                    cadre_error *err)
{
    lua_State *lua = sandbox->lua;
    begin(sandbox, run->values);
    sandbox->measure = run->measure ? run->measure : sandbox->names->measure;
    lua_pushcfunction(lua, note_line);
    lua_pushcfunction(lua, run_protected);
    lua_pushvalue(lua, SCRIPT);
    lua_pushvalue(lua, ENV_META);
    lua_pushlightuserdata(lua, (void *)(uintptr_t)run);
    int code = lua_pcall(lua, 3, 0, HANDLER);
    cadre_status status = CADRE_OK;
    if (code != LUA_OK && sandbox->has_raised) {
        status = sandbox->raised_status;
        cadre_fail_class(err, status, sandbox->raised.error_class,
                         sandbox->raised.retryable, "%s", sandbox->raised.text);
    } else if (code != LUA_OK) {
        status = fail_lua(sandbox, code, CADRE_EFAILED, err);
    }
    end(sandbox);
    return status;
}
