// The functions scripts have beside Lua's, and those that replace Lua's.
#include "expression/library.h"

#include "expression/json_view.h"
#include "expression/order.h"
#include "base/pattern.h"
#include "expression/sandbox.h"

#include <string.h>

#define MAX_MOVE 1000000

typedef struct text {
    const char *data;
    size_t len;
} text;

// A text argument; numbers are read as texts, as everywhere in Lua.
static text text_at(lua_State *lua, int index)
{
    text self = {.len = 0};
    self.data = luaL_checklstring(lua, index, &self.len);
    return self;
}

// Goes over the items of the list at index 1: is one of them the value at index 2?
static bool has_member(lua_State *lua)
{
    lua_Integer n = luaL_len(lua, 1);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(lua, 1, i);
        bool is_same = lua_compare(lua, -1, 2, LUA_OPEQ);
        lua_pop(lua, 1);
        if (is_same)
            return true;
    }
    return false;
}

static int contains(lua_State *lua)
{
    luaL_checkany(lua, 2);
    bool found = false;
    if (lua_istable(lua, 1) || cdr_json_view_at(lua, 1)) {
        found = has_member(lua);
    } else {
        text part = text_at(lua, 2);
        if (!lua_isnil(lua, 1)) {
            text whole = text_at(lua, 1);
            found = memmem(whole.data, whole.len, part.data, part.len) != NULL;
        }
    }
    lua_pushboolean(lua, found);
    return 1;
}

static int starts(lua_State *lua)
{
    luaL_checkany(lua, 1);
    text part = text_at(lua, 2);
    text whole = lua_isnil(lua, 1) ? (text){.len = 0} : text_at(lua, 1);
    bool fits = whole.data && whole.len >= part.len &&
                memcmp(whole.data, part.data, part.len) == 0;
    lua_pushboolean(lua, fits);
    return 1;
}

static int ends(lua_State *lua)
{
    luaL_checkany(lua, 1);
    text part = text_at(lua, 2);
    text whole = lua_isnil(lua, 1) ? (text){.len = 0} : text_at(lua, 1);
    bool fits = whole.data && whole.len >= part.len &&
                memcmp(whole.data + whole.len - part.len, part.data, part.len) == 0;
    lua_pushboolean(lua, fits);
    return 1;
}

// Raises what went wrong with a regular expression.
static void check_pattern(lua_State *lua, cadre_status status, const cadre_error *err)
{
    if (status == CADRE_ENOMEM)
        cdr_sandbox_raise(lua, status, err);
    if (status != CADRE_OK)
        luaL_error(lua, "%s", err->text);
}

static bool text_matches(lua_State *lua, text whole, text written)
{
    cdr_sandbox *sandbox = cdr_sandbox_of(lua);
    const cdr_pattern *pattern = NULL;
    cadre_error err = CADRE_ERROR_INIT;
    cadre_status status = cdr_pattern_cache_get(
        cdr_sandbox_patterns(sandbox), written.data, written.len, &pattern, &err);
    check_pattern(lua, status, &err);
    cdr_subject subject = {.text = whole.data,
                           .len = whole.len,
                           .deadline_ns = cdr_sandbox_deadline_ns(sandbox)};
    bool fits = false;
    check_pattern(lua, cdr_pattern_match(pattern, &subject, &fits, &err), &err);
    return fits;
}

static int matches(lua_State *lua)
{
    luaL_checkany(lua, 1);
    text written = text_at(lua, 2);
    lua_pushboolean(lua,
                    !lua_isnil(lua, 1) && text_matches(lua, text_at(lua, 1), written));
    return 1;
}

static lua_Integer count_characters(text whole)
{
    lua_Integer n = 0;
    for (size_t i = 0; i < whole.len; i++)
        n += ((unsigned char)whole.data[i] & 0xC0) != 0x80;
    return n;
}

static lua_Integer count_members(lua_State *lua, int index)
{
    lua_Integer n = 0;
    for (lua_pushnil(lua); lua_next(lua, index); lua_pop(lua, 1))
        n++;
    return n;
}

static int size(lua_State *lua)
{
    luaL_checkany(lua, 1);
    const json_t *view = cdr_json_view_at(lua, 1);
    if (view)
        lua_pushinteger(lua,
                        (lua_Integer)(json_is_array(view) ? json_array_size(view)
                                                          : json_object_size(view)));
    else if (lua_istable(lua, 1))
        lua_pushinteger(lua, count_members(lua, 1));
    else if (lua_isnil(lua, 1))
        lua_pushinteger(lua, 0);
    else if (lua_type(lua, 1) == LUA_TSTRING)
        lua_pushinteger(lua, count_characters(text_at(lua, 1)));
    else
        return luaL_typeerror(lua, 1, "text, list or object");
    return 1;
}

static int type(lua_State *lua)
{
    luaL_checkany(lua, 1);
    lua_pushstring(lua, cdr_json_type_name(lua, 1));
    return 1;
}

// As Lua's, but never an address, which would differ from run to run.
static int to_string(lua_State *lua)
{
    luaL_checkany(lua, 1);
    int is = lua_type(lua, 1);
    if (is == LUA_TNUMBER || is == LUA_TSTRING || is == LUA_TBOOLEAN || is == LUA_TNIL)
        luaL_tolstring(lua, 1, NULL);
    else
        lua_pushstring(lua, cdr_json_type_name(lua, 1));
    return 1;
}

// (table, _) with the keys as upvalue 1 and the place in them as upvalue 2.
static int next_sorted(lua_State *lua)
{
    lua_settop(lua, 1);
    for (;;) {
        lua_Integer i = lua_tointeger(lua, lua_upvalueindex(2)) + 1;
        lua_pushinteger(lua, i);
        lua_replace(lua, lua_upvalueindex(2));
        if (lua_rawgeti(lua, lua_upvalueindex(1), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(lua, -1);
        if (lua_rawget(lua, 1) != LUA_TNIL)
            return 2;
        lua_settop(lua, 1); // removed meanwhile
    }
}

static int pairs(lua_State *lua)
{
    luaL_checkany(lua, 1);
    lua_settop(lua, 1);
    if (cdr_json_view_at(lua, 1)) {
        lua_pushcfunction(lua, cdr_json_view_next);
    } else {
        luaL_checktype(lua, 1, LUA_TTABLE);
        cdr_order_push_keys(lua, 1);
        lua_pushinteger(lua, 0);
        lua_pushcclosure(lua, next_sorted, 2);
    }
    lua_pushvalue(lua, 1);
    return 2;
}

// Refuses `%p`; `format` has been checked to be a text.
static void check_format(lua_State *lua, text format)
{
    const char *end = format.data + format.len;
    for (const char *at = format.data; at < end; at++) {
        if (*at != '%')
            continue;
        for (at++; at < end && *at && strchr("-+ #.0123456789", *at);)
            at++;
        if (at < end && *at == 'p')
            luaL_error(lua, "string.format has no %%p here");
    }
}

int cdr_function_format(lua_State *lua)
{
    check_format(lua, text_at(lua, 1));
    int n = lua_gettop(lua);
    for (int i = 2; i <= n; i++) {
        int is = lua_type(lua, i);
        if (is == LUA_TTABLE || is == LUA_TUSERDATA || is == LUA_TFUNCTION) {
            lua_pushstring(lua, cdr_json_type_name(lua, i));
            lua_replace(lua, i);
        }
    }
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, n, 1);
    return 1;
}

int cdr_function_move(lua_State *lua)
{
    lua_Integer from = luaL_checkinteger(lua, 2);
    lua_Integer to = luaL_checkinteger(lua, 3);
    if (to >= from && (lua_Unsigned)to - (lua_Unsigned)from >= MAX_MOVE)
        return luaL_error(lua, "table.move moves at most %d values", MAX_MOVE);
    int n = lua_gettop(lua);
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, n, 1);
    return 1;
}

const luaL_Reg cdr_functions[] = {
    {"contains", contains},  {"starts", starts}, {"ends", ends},
    {"matches", matches},    {"size", size},     {"type", type},
    {"tostring", to_string}, {"pairs", pairs},   {NULL, NULL},
};
