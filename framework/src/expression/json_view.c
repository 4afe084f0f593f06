// JSON in Lua: views, and how much JSON weighs.
#include "expression/json_view.h"

#include "base/json_iterable.h"
#include "base/json_text.h"
#include "expression/sandbox.h"

#include <string.h>

#define NODE_BYTES 64 // a value in Lua with its key, roughly

// What a view's userdata holds.
typedef struct view {
    const json_t *json;
} view;

// The registry has the metatable of views under this address.
static const char view_key;

static void push_view(lua_State *lua, const json_t *json)
{
    view *self = lua_newuserdatauv(lua, sizeof(*self), 0);
    self->json = json;
    lua_rawgetp(lua, LUA_REGISTRYINDEX, &view_key);
    lua_setmetatable(lua, -2);
}

void cdr_json_push(lua_State *lua, const json_t *value)
{
    luaL_checkstack(lua, 3, NULL);
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        push_view(lua, value);
        break;
    case JSON_STRING:
        lua_pushlstring(lua, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        lua_pushinteger(lua, (lua_Integer)json_integer_value(value));
        break;
    case JSON_REAL:
        lua_pushnumber(lua, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        lua_pushboolean(lua, json_is_true(value));
        break;
    case JSON_NULL:
        lua_pushnil(lua);
        break;
    }
}

const json_t *cdr_json_view_at(lua_State *lua, int index)
{
    view *self = lua_touserdata(lua, index);
    if (!self || lua_type(lua, index) != LUA_TUSERDATA)
        return NULL;
    luaL_checkstack(lua, 2, NULL);
    if (!lua_getmetatable(lua, index))
        return NULL;
    lua_rawgetp(lua, LUA_REGISTRYINDEX, &view_key);
    bool is_view = lua_rawequal(lua, -1, -2);
    lua_pop(lua, 2);
    return is_view ? self->json : NULL;
}

const char *cdr_json_type_name(lua_State *lua, int index)
{
    int type = lua_type(lua, index);
    return lua_typename(lua, type == LUA_TUSERDATA ? LUA_TTABLE : type);
}

// The member of the view's JSON that the key at `index` names; NULL: none.
static const json_t *member_at(lua_State *lua, const json_t *json, int index)
{
    if (json_is_array(json)) {
        int is_integer = 0;
        lua_Integer i = lua_tointegerx(lua, index, &is_integer);
        bool is_key = is_integer && lua_type(lua, index) == LUA_TNUMBER && i >= 1;
        return is_key ? json_array_get(json, (size_t)i - 1) : NULL;
    }
    if (lua_type(lua, index) != LUA_TSTRING)
        return NULL;
    size_t len;
    const char *key = lua_tolstring(lua, index, &len);
    return json_object_getn(json, key, len);
}

static int view_index(lua_State *lua)
{
    const view *self = lua_touserdata(lua, 1);
    const json_t *member = member_at(lua, self->json, 2);
    if ((!member || json_is_null(member)) && lua_type(lua, 2) == LUA_TSTRING)
        cdr_sandbox_note_nil(cdr_sandbox_of(lua), "field", lua_tostring(lua, 2));
    cdr_json_push(lua, member);
    return 1;
}

static int view_set(lua_State *lua)
{
    return luaL_error(lua, "what a script reads cannot be changed");
}

static int view_len(lua_State *lua)
{
    const view *self = lua_touserdata(lua, 1);
    lua_pushinteger(lua, (lua_Integer)json_array_size(self->json)); // of an object 0
    return 1;
}

// Two views of one value are the same, as a table is the same as itself.
static int view_equal(lua_State *lua)
{
    const json_t *a = cdr_json_view_at(lua, 1);
    const json_t *b = cdr_json_view_at(lua, 2);
    lua_pushboolean(lua, a && a == b);
    return 1;
}

static int next_item(lua_State *lua, const json_t *list)
{
    size_t i = lua_isnil(lua, 2) ? 0 : (size_t)luaL_checkinteger(lua, 2);
    while (json_is_null(json_array_get(list, i))) // as in a table nil is not there
        i++;
    if (i >= json_array_size(list))
        return 0;
    lua_pushinteger(lua, (lua_Integer)i + 1);
    cdr_json_push(lua, json_array_get(list, i));
    return 2;
}

static int next_member(lua_State *lua, const json_t *object)
{
    json_t *members = cdr_json_iterable(object);
    void *at =
        lua_isnil(lua, 2)
            ? json_object_iter(members)
            : json_object_iter_next(
                  members, json_object_iter_at(members, luaL_checkstring(lua, 2)));
    while (at && json_is_null(json_object_iter_value(at)))
        at = json_object_iter_next(members, at);
    if (!at)
        return 0;
    lua_pushlstring(lua, json_object_iter_key(at), json_object_iter_key_len(at));
    cdr_json_push(lua, json_object_iter_value(at));
    return 2;
}

int cdr_json_view_next(lua_State *lua)
{
    lua_settop(lua, 2);
    const json_t *json = cdr_json_view_at(lua, 1);
    luaL_argcheck(lua, json, 1, "a value of JSON expected");
    int n = json_is_array(json) ? next_item(lua, json) : next_member(lua, json);
    if (n == 0)
        lua_pushnil(lua);
    return n > 0 ? n : 1;
}

void cdr_json_view_open(lua_State *lua)
{
    static const luaL_Reg events[] = {
        {"__index", view_index},
        {"__newindex", view_set},
        {"__len", view_len},
        {"__eq", view_equal},
        {NULL, NULL},
    };
    lua_createtable(lua, 0, 8);
    luaL_setfuncs(lua, events, 0);
    lua_pushliteral(lua, "table"); // for Lua's own messages
    lua_setfield(lua, -2, "__name");
    lua_rawsetp(lua, LUA_REGISTRYINDEX, &view_key);
}

size_t cdr_json_weight(const json_t *value, int depth, bool *is_too_deep)
{
    size_t weight = NODE_BYTES;
    if (json_is_string(value))
        return weight + json_string_length(value);
    bool is_container = json_is_object(value) || json_is_array(value);
    if (is_container && depth >= CDR_JSON_MAX_DEPTH) {
        if (is_too_deep)
            *is_too_deep = true;
        return weight;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        weight += cdr_json_weight(json_array_get(value, i), depth + 1, is_too_deep);
    const char *key;
    size_t key_len;
    json_t *member;
    json_object_keylen_foreach(cdr_json_iterable(value), key, key_len, member) weight +=
        key_len + cdr_json_weight(member, depth + 1, is_too_deep);
    return weight;
}
