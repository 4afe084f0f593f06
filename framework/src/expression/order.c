// Order without chance: sorted keys, and a merge sort.
//
// A merge sort between two lists asks n log n times and ends whatever the comparison
// says. Neither list is named by the script, so a comparison cannot reach them.
#include "expression/order.h"

#include <lauxlib.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

// Is the value at index `a` of the stack before the one at `b`?
typedef bool (*is_before)(lua_State *lua, int a, int b);

static bool key_is_before(lua_State *lua, int a, int b)
{
    int type_a = lua_type(lua, a);
    int type_b = lua_type(lua, b);
    if (type_a == LUA_TNUMBER && type_b == LUA_TNUMBER)
        return lua_compare(lua, a, b, LUA_OPLT);
    if (type_a == LUA_TBOOLEAN && type_b == LUA_TBOOLEAN)
        return lua_toboolean(lua, a) < lua_toboolean(lua, b);
    if (type_a != LUA_TSTRING || type_b != LUA_TSTRING)
        return type_a == LUA_TNUMBER ||
               (type_a == LUA_TSTRING && type_b == LUA_TBOOLEAN);
    size_t len_a;
    size_t len_b;
    const char *text_a = lua_tolstring(lua, a, &len_a);
    const char *text_b = lua_tolstring(lua, b, &len_b);
    int order = memcmp(text_a, text_b, len_a < len_b ? len_a : len_b);
    return order < 0 || (order == 0 && len_a < len_b);
}

static bool value_is_before(lua_State *lua, int a, int b)
{
    return lua_compare(lua, a, b, LUA_OPLT);
}

// Asks the script's function, at index 2 of the stack.
static bool function_says_before(lua_State *lua, int a, int b)
{
    lua_pushvalue(lua, 2);
    lua_pushvalue(lua, a);
    lua_pushvalue(lua, b);
    lua_call(lua, 2, 1);
    bool result = lua_toboolean(lua, -1);
    lua_pop(lua, 1);
    return result;
}

// Merges [low, middle) and [middle, high) of the list `from` to the list `to`.
static void merge(lua_State *lua, int from, int to, const lua_Integer bounds[3],
                  is_before before)
{
    lua_Integer left = bounds[0];
    lua_Integer right = bounds[1];
    for (lua_Integer i = bounds[0]; i < bounds[2]; i++) {
        bool takes_left = right >= bounds[2];
        if (left < bounds[1] && right < bounds[2]) {
            lua_rawgeti(lua, from, left);
            lua_rawgeti(lua, from, right);
            int top = lua_gettop(lua);
            takes_left = !before(lua, top, top - 1);
            lua_pop(lua, 2);
        }
        lua_rawgeti(lua, from, takes_left ? left++ : right++);
        lua_rawseti(lua, to, i);
    }
}

static lua_Integer smaller(lua_Integer a, lua_Integer b)
{
    return a < b ? a : b;
}

// Sorts the list at the top of the stack, 1 to n, and leaves the sorted one instead.
static void sort_top(lua_State *lua, lua_Integer n, is_before before)
{
    luaL_checkstack(lua, 8, NULL);
    int from = lua_gettop(lua);
    lua_createtable(lua, n < INT_MAX ? (int)n : 0, 0);
    int to = from + 1;
    for (lua_Integer width = 1; width < n; width *= 2) {
        for (lua_Integer low = 1; low <= n; low += 2 * width) {
            lua_Integer bounds[3] = {low, smaller(low + width, n + 1),
                                     smaller(low + 2 * width, n + 1)};
            merge(lua, from, to, bounds, before);
        }
        int sorted = to;
        to = from;
        from = sorted;
    }
    int low = from < to ? from : to;
    lua_pushvalue(lua, from);
    lua_replace(lua, low);
    lua_settop(lua, low);
}

lua_Integer cdr_order_push_keys(lua_State *lua, int index)
{
    luaL_checkstack(lua, 8, NULL);
    index = lua_absindex(lua, index);
    lua_newtable(lua);
    lua_Integer n = 0;
    for (lua_pushnil(lua); lua_next(lua, index);) {
        lua_pop(lua, 1);
        int type = lua_type(lua, -1);
        if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
            luaL_error(lua,
                       "keys of a table are texts, numbers or booleans here, "
                       "one is a %s",
                       lua_typename(lua, type));
        lua_pushvalue(lua, -1);
        lua_rawseti(lua, -3, ++n);
    }
    sort_top(lua, n, key_is_before);
    return n;
}

int cdr_order_sort(lua_State *lua)
{
    lua_settop(lua, 2);
    if (!lua_isnil(lua, 2))
        luaL_checktype(lua, 2, LUA_TFUNCTION);
    lua_Integer n = luaL_len(lua, 1);
    lua_newtable(lua);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_geti(lua, 1, i);
        lua_rawseti(lua, 3, i);
    }
    sort_top(lua, n, lua_isnil(lua, 2) ? value_is_before : function_says_before);
    for (lua_Integer i = 1; i <= n; i++) {
        lua_rawgeti(lua, 3, i);
        lua_seti(lua, 1, i);
    }
    return 0;
}
