// The functions of `ctx`: the operations of the frame.
//
// Those that wait do so outside the script's time. A failure that a script cannot do
// anything about ends it with exactly that status; what it wrote wrongly is an error in
// the script, with its line.
#include "run/lua_run.h"

#include "expression/json_view.h"

#include <string.h>

// --- Statuses ---

static void pass_on(lua_State *lua, cadre_status status, const cadre_error *err)
{
    if (status == CADRE_EINVAL)
        luaL_error(lua, "%s", err->text);
    if (status != CADRE_OK)
        cdr_sandbox_raise(lua, status, err);
}

// --- Calls of agents ---

// A function of the script that is told of events.
typedef struct listener {
    lua_State *lua;
    int function; // where it stands; 0: there is none
    bool has_failed;
} listener;

// (function, event): true when it said stop.
static int deliver(lua_State *lua)
{
    const cdr_lua_event *told = lua_touserdata(lua, 2);
    lua_pushvalue(lua, 1);
    cdr_lua_event_push(lua, told);
    lua_call(lua, 1, 1);
    lua_pushboolean(lua, lua_isboolean(lua, -1) && !lua_toboolean(lua, -1));
    return 1;
}

static bool hear(void *ctx, const cadre_agent *agent, size_t index,
                 const cadre_event *event)
{
    listener *self = ctx;
    lua_State *lua = self->lua;
    cdr_lua_event told = {agent, index, event};
    if (self->has_failed)
        return false;
    lua_pushcfunction(lua, deliver);
    lua_pushvalue(lua, self->function);
    lua_pushlightuserdata(lua, &told);
    self->has_failed = !cdr_sandbox_try(lua, 2);
    if (self->has_failed) // its error stays there
        return false;
    bool stops = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return !stops;
}

// Takes on_event out of the table at 1, to 2, and makes JSON of the rest.
static const json_t *take_argument(lua_State *lua, listener *self)
{
    lua_settop(lua, 1);
    luaL_checktype(lua, 1, LUA_TTABLE);
    if (lua_getmetatable(lua, 1))
        luaL_error(lua, "write ctx.call{...}, with a dot");
    lua_pushliteral(lua, "on_event");
    lua_rawget(lua, 1);
    *self = (listener){.lua = lua, .function = 0};
    if (lua_isnil(lua, 2))
        return cdr_json_take(lua, 1);
    luaL_argcheck(lua, lua_isfunction(lua, 2), 1, "on_event must be a function");
    self->function = 2;
    lua_pushnil(lua);
    lua_setfield(lua, 1, "on_event");
    const json_t *spec = cdr_json_take(lua, 1);
    lua_pushvalue(lua, 2);
    lua_setfield(lua, 1, "on_event");
    return spec;
}

static void set_text(lua_State *lua, const char *key, const char *text)
{
    cdr_sandbox_widen(cdr_sandbox_of(lua), strlen(text));
    lua_pushstring(lua, text);
    lua_setfield(lua, -2, key);
}

static void push_outcome(lua_State *lua, const cadre_outcome *out)
{
    lua_createtable(lua, 0, 5);
    set_text(lua, "text", out->text);
    set_text(lua, "status", cadre_frame_status_name(out->status));
    set_text(lua, "stop_reason", cadre_stop_reason_name(out->stop_reason));
    set_text(lua, "agent", out->agent);
    if (out->status != CADRE_FRAME_COMPLETED)
        set_text(lua, "error", out->error);
}

// After what was called has returned: what is not an outcome ends the script.
static void settle(lua_State *lua, const listener *self, cadre_status status,
                   bool is_outcome, const cadre_error *err)
{
    cdr_lua_run_of(lua)->messages = NULL; // there may be more
    if (self->has_failed)
        lua_error(lua);
    if (status != CADRE_EFAILED || !is_outcome)
        pass_on(lua, status, err);
}

static bool has_ended(const cadre_outcome *out)
{
    return out->status == CADRE_FRAME_FAILED || out->status == CADRE_FRAME_TIMEOUT ||
           out->status == CADRE_FRAME_ABORTED;
}

static int call_one(lua_State *lua, bool is_delegate)
{
    cdr_lua_run *run = cdr_lua_run_of(lua);
    cadre_error err = CADRE_ERROR_INIT;
    cadre_call call;
    cadre_outcome out = {.text = "", .agent = "", .error = ""};
    listener self;
    const json_t *spec = take_argument(lua, &self);
    pass_on(lua,
            cdr_lua_call_read(run, is_delegate ? CDR_LUA_DELEGATE : CDR_LUA_CALL, spec,
                              &call, &err),
            &err);
    if (self.function) {
        call.listener = hear;
        call.listener_ctx = &self;
    }
    cdr_sandbox_leave(cdr_sandbox_of(lua));
    cadre_status status = is_delegate
                              ? cadre_frame_delegate(run->frame, &call, &out, &err)
                              : cadre_frame_call(run->frame, &call, &out, &err);
    cdr_sandbox_enter(cdr_sandbox_of(lua));
    settle(lua, &self, status, has_ended(&out), &err);
    push_outcome(lua, &out);
    return 1;
}

static int host_call(lua_State *lua)
{
    return call_one(lua, false);
}

static int host_delegate(lua_State *lua)
{
    cdr_hook_place place = cdr_lua_run_of(lua)->place;
    if (place != CDR_HOOK_CREATE && place != CDR_HOOK_NEXT)
        luaL_error(lua, "ctx.delegate is for create and next");
    return call_one(lua, true);
}

// --- Batches ---

typedef struct batch {
    cadre_call *calls;
    const cadre_call **pointers;
    cadre_outcome *outcomes;
    size_t n, winner;
} batch;

static void *alloc(lua_State *lua, size_t count, size_t size)
{
    void *memory = cadre_frame_alloc(cdr_lua_run_of(lua)->frame, (count + 1) * size);
    if (!memory)
        cdr_sandbox_raise(lua, CADRE_ENOMEM, NULL);
    return memory;
}

static void read_batch(lua_State *lua, const json_t *specs, batch *self)
{
    if (!json_is_array(specs))
        luaL_error(lua, "it takes a list of calls: {{agent = \"...\"}, ...}");
    self->n = json_array_size(specs);
    self->calls = alloc(lua, self->n, sizeof *self->calls);
    self->pointers = alloc(lua, self->n, sizeof *self->pointers);
    self->outcomes = alloc(lua, self->n, sizeof *self->outcomes);
    for (size_t i = 0; i < self->n; i++) {
        cadre_error err = CADRE_ERROR_INIT;
        const json_t *spec = json_array_get(specs, i);
        cadre_status status = cdr_lua_call_read(cdr_lua_run_of(lua), CDR_LUA_CALL, spec,
                                                &self->calls[i], &err);
        if (status == CADRE_EINVAL)
            luaL_error(lua, "call %d: %s", (int)i + 1, err.text);
        pass_on(lua, status, &err);
        self->pointers[i] = &self->calls[i];
    }
}

static void push_batch(lua_State *lua, const batch *self)
{
    lua_createtable(lua, (int)self->n, 1);
    for (size_t i = 0; i < self->n; i++) {
        push_outcome(lua, &self->outcomes[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    if (self->winner < self->n) {
        lua_pushinteger(lua, (lua_Integer)self->winner + 1);
        lua_setfield(lua, -2, "winner");
    }
}

static int call_many(lua_State *lua, cadre_wait wait)
{
    cdr_lua_run *run = cdr_lua_run_of(lua);
    cadre_error err = CADRE_ERROR_INIT;
    batch self = {.n = 0};
    listener heard;
    read_batch(lua, take_argument(lua, &heard), &self);
    self.winner = self.n;
    cadre_batch asked = {.struct_size = sizeof asked,
                         .wait = wait,
                         .calls = self.pointers,
                         .n_calls = self.n,
                         .winner = wait == CADRE_ALL ? NULL : &self.winner,
                         .listener = heard.function ? hear : NULL,
                         .listener_ctx = &heard};
    cdr_sandbox_leave(cdr_sandbox_of(lua));
    cadre_status status = cadre_frame_batch(run->frame, &asked, self.outcomes, &err);
    cdr_sandbox_enter(cdr_sandbox_of(lua));
    bool any_ended = false;
    for (size_t i = 0; i < self.n; i++)
        any_ended |= has_ended(&self.outcomes[i]);
    settle(lua, &heard, status, any_ended, &err);
    push_batch(lua, &self);
    return 1;
}

static int host_all(lua_State *lua)
{
    return call_many(lua, CADRE_ALL);
}

static int host_any(lua_State *lua)
{
    return call_many(lua, CADRE_ANY);
}

static int host_race(lua_State *lua)
{
    return call_many(lua, CADRE_RACE);
}

// --- The rest ---

static const json_t *question_of(lua_State *lua)
{
    lua_settop(lua, 2);
    luaL_checktype(lua, 1, LUA_TSTRING);
    const json_t *text = cdr_json_take(lua, 1);
    if (lua_isnil(lua, 2))
        return text;
    const json_t *choices = cdr_json_take(lua, 2);
    return cdr_sandbox_keep_take(
        lua, json_pack("{s:O, s:O}", "question", text, "choices", choices));
}

static int host_ask(lua_State *lua)
{
    cadre_error err = CADRE_ERROR_INIT;
    json_t *answer = NULL;
    const json_t *question = question_of(lua);
    cdr_sandbox_leave(cdr_sandbox_of(lua));
    cadre_status status =
        cadre_frame_ask(cdr_lua_run_of(lua)->frame, NULL, question, &answer, &err);
    cdr_sandbox_enter(cdr_sandbox_of(lua));
    cdr_lua_run_of(lua)->messages = NULL;
    pass_on(lua, status, &err);
    const json_t *kept = cdr_sandbox_keep_take(lua, answer);
    cdr_sandbox_widen(cdr_sandbox_of(lua), cdr_json_weight(kept, 0, NULL));
    cdr_json_push(lua, kept);
    return 1;
}

static int host_set_state(lua_State *lua)
{
    cadre_error err = CADRE_ERROR_INIT;
    luaL_checktype(lua, 1, LUA_TSTRING);
    luaL_checkany(lua, 2);
    const char *key = lua_tostring(lua, 1);
    const json_t *value = cdr_json_take(lua, 2);
    pass_on(lua, cadre_frame_set_state(cdr_lua_run_of(lua)->frame, key, value, &err),
            &err);
    return 0;
}

static int host_now(lua_State *lua)
{
    cadre_error err = CADRE_ERROR_INIT;
    int64_t wall_ms = 0;
    pass_on(lua, cadre_frame_now(cdr_lua_run_of(lua)->frame, &wall_ms, &err), &err);
    lua_pushinteger(lua, (lua_Integer)wall_ms);
    return 1;
}

// From 0 to below 1; with n a whole number from 1 to n.
static int host_random(lua_State *lua)
{
    cadre_error err = CADRE_ERROR_INIT;
    uint64_t bits = 0;
    bool is_whole = !lua_isnoneornil(lua, 1);
    lua_Integer n = is_whole ? luaL_checkinteger(lua, 1) : 1;
    luaL_argcheck(lua, n >= 1, 1, "must be at least 1");
    pass_on(lua, cadre_frame_random(cdr_lua_run_of(lua)->frame, &bits, &err), &err);
    if (is_whole)
        lua_pushinteger(lua, (lua_Integer)(bits % (uint64_t)n) + 1);
    else
        lua_pushnumber(lua, (double)(bits >> 11) * 0x1p-53);
    return 1;
}

const char *const cdr_lua_host_names[] = {
    "call", "delegate", "all", "any", "race", "ask", "set_state", "now", "random", NULL,
};

lua_CFunction cdr_lua_host_find(const char *name)
{
    static const lua_CFunction functions[] = {
        host_call, host_delegate,  host_all, host_any,    host_race,
        host_ask,  host_set_state, host_now, host_random,
    };
    for (size_t i = 0; cdr_lua_host_names[i]; i++) {
        if (strcmp(cdr_lua_host_names[i], name) == 0)
            return functions[i];
    }
    return NULL;
}
