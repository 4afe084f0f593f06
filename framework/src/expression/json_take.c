// Lua values as JSON.
//
// Every part is put into its parent before it is filled, and the root is kept by the
// sandbox: an error on the way, which jumps, loses nothing. Tables can share tables, so
// what is made may be far larger than what is there; `left` counts it.
#include "expression/json_view.h"

#include "base/json_text.h"
#include "base/utf8.h"
#include "expression/order.h"
#include "expression/sandbox.h"

#include <math.h>

typedef struct taking {
    lua_State *lua;
    size_t left;      // bytes that may still be made
    bool is_measured; // what the values allow on top is in `left`; it costs a walk
} taking;

static void charge(taking *self, size_t bytes)
{
    if (bytes > self->left && !self->is_measured) {
        self->is_measured = true;
        self->left += cdr_sandbox_limit(cdr_sandbox_of(self->lua)) - CDR_SANDBOX_BYTES;
    }
    if (bytes > self->left)
        luaL_error(self->lua, "the value is too large");
    self->left -= bytes;
}

static json_t *made(taking *self, json_t *value)
{
    if (!value)
        cdr_sandbox_raise(self->lua, CADRE_ENOMEM, NULL);
    return value;
}

static const char *checked_text(taking *self, int index, size_t *len)
{
    const char *text = lua_tolstring(self->lua, index, len);
    if (cdr_utf8_prefix(text, *len) != *len)
        luaL_error(self->lua, "a text of the value is not UTF-8, or has a NUL");
    charge(self, *len);
    return text;
}

static json_t *copy_view(taking *self, const json_t *json, int depth)
{
    bool is_too_deep = false;
    charge(self, cdr_json_weight(json, depth, &is_too_deep));
    if (is_too_deep)
        luaL_error(self->lua, "the value has more than %d levels", CDR_JSON_MAX_DEPTH);
    return made(self, json_deep_copy(json));
}

static json_t *make_number(taking *self, int index)
{
    if (lua_isinteger(self->lua, index))
        return made(self, json_integer(lua_tointeger(self->lua, index)));
    double number = lua_tonumber(self->lua, index);
    if (!isfinite(number))
        luaL_error(self->lua, "JSON has no number for %f", number);
    return made(self, json_real(number));
}

// A table with the keys 1 to n, at the top of the stack, is a list.
static json_t *make_container(taking *self, lua_Integer n)
{
    lua_State *lua = self->lua;
    lua_rawgeti(lua, -1, 1);
    lua_rawgeti(lua, -2, n);
    bool has_texts =
        lua_type(lua, -2) == LUA_TSTRING && lua_type(lua, -1) == LUA_TSTRING;
    bool is_list = n == 0 || (lua_isinteger(lua, -2) && lua_tointeger(lua, -2) == 1 &&
                              lua_isinteger(lua, -1) && lua_tointeger(lua, -1) == n);
    lua_pop(lua, 2);
    // Keys are sorted: numbers, texts, booleans.
    if (!has_texts && !is_list)
        luaL_error(lua, "a table of the value is neither a list without gaps nor an "
                        "object with texts as keys");
    return made(self, is_list ? json_array() : json_object());
}

static void put(taking *self, json_t *parent, const char *key, json_t *value)
{
    int code = json_is_array(parent) ? json_array_append_new(parent, value)
                                     : json_object_set_new(parent, key, value);
    if (code != 0)
        cdr_sandbox_raise(self->lua, CADRE_ENOMEM, NULL);
}

static void take_into(taking *self, json_t *parent, const char *key, int depth);

// Fills what was made of the table at -2 with its values; its keys are at -1.
static void fill(taking *self, json_t *container, lua_Integer n, int depth)
{
    lua_State *lua = self->lua;
    for (lua_Integer i = 1; i <= n; i++) {
        const char *key = NULL;
        size_t len = 0;
        lua_rawgeti(lua, -1, i);
        if (json_is_object(container))
            key = checked_text(self, -1, &len);
        lua_pushvalue(lua, -1);
        lua_rawget(lua, -4);
        take_into(self, container, key, depth + 1);
        lua_pop(lua, 2);
    }
}

static void take_table(taking *self, json_t *parent, const char *key, int depth)
{
    if (depth >= CDR_JSON_MAX_DEPTH)
        luaL_error(self->lua, "the value has more than %d levels", CDR_JSON_MAX_DEPTH);
    lua_Integer n = cdr_order_push_keys(self->lua, -1);
    json_t *container = make_container(self, n);
    put(self, parent, key, container);
    fill(self, container, n, depth);
    lua_pop(self->lua, 1);
}

// Makes JSON of the value at the top of the stack, into its parent.
static void take_into(taking *self, json_t *parent, const char *key, int depth)
{
    lua_State *lua = self->lua;
    luaL_checkstack(lua, 8, NULL);
    charge(self, sizeof(json_t));
    const json_t *view = cdr_json_view_at(lua, -1);
    size_t len;
    const char *text;
    switch (lua_type(lua, -1)) {
    case LUA_TNIL:
        put(self, parent, key, json_null());
        break;
    case LUA_TBOOLEAN:
        put(self, parent, key, json_boolean(lua_toboolean(lua, -1)));
        break;
    case LUA_TNUMBER:
        put(self, parent, key, make_number(self, -1));
        break;
    case LUA_TSTRING:
        text = checked_text(self, -1, &len);
        put(self, parent, key, made(self, json_stringn_nocheck(text, len)));
        break;
    case LUA_TTABLE:
        take_table(self, parent, key, depth);
        break;
    default:
        if (!view)
            luaL_error(lua, "a %s is no JSON", luaL_typename(lua, -1));
        put(self, parent, key, copy_view(self, view, depth));
    }
}

const json_t *cdr_json_take(lua_State *lua, int index)
{
    taking self = {.lua = lua, .left = CDR_SANDBOX_BYTES};
    lua_pushvalue(lua, index);
    json_t *holder = json_array();
    cdr_sandbox_keep_take(lua, holder);
    take_into(&self, holder, NULL, 0);
    lua_pop(lua, 1);
    return json_array_get(holder, 0);
}
