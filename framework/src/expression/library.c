// The global names of scripts.
//
// Left out of Lua, and why:
//   pcall, xpcall, coroutine     hide an error, and so the limits
//   load, loadstring, dofile, require, debug, io, os     look outside, or make code
//   setmetatable, getmetatable, raw..., collectgarbage, warn, print
//   next, string.dump, string.pack, %p, math.random      differ from run to run
//   string.find, match, gmatch, gsub, rep                loop in C where no hook counts
// A library is a read-only face (an empty table with a metatable) of a table nobody
// else can name; that of texts (`("x"):upper()`) is the same.
#include "expression/library.h"

#include "expression/order.h"

#include <lualib.h>

typedef struct library {
    const char *name;
    lua_CFunction open;
    const char *const *members; // what is taken of it
} library;

// clang-format off
static const char *const base[] = {"assert", "error", "ipairs", "select", "tonumber", NULL};
static const char *const texts[] = {
    "byte", "char", "format", "len", "lower", "reverse", "sub", "upper", NULL};
static const char *const tables[] = {
    "concat", "insert", "move", "pack", "remove", "sort", "unpack", NULL};
static const char *const numbers[] = {
    "abs", "acos", "asin", "atan", "ceil", "cos", "deg", "exp", "floor", "fmod", "huge",
    "log", "max", "maxinteger", "min", "mininteger", "modf", "pi", "rad", "sin", "sqrt",
    "tan", "tointeger", "type", "ult", NULL};
static const char *const characters[] = {"char", "codepoint", "codes", "len", "offset", NULL};

const char *const cdr_library_names[] = {
    "contains", "starts", "ends", "matches", "size",
    "assert", "error", "ipairs", "pairs", "select", "tonumber", "tostring", "type",
    "math", "string", "table", "utf8", NULL};
// clang-format on

static const library libraries[] = {
    {"string", luaopen_string, texts},
    {"table", luaopen_table, tables},
    {"math", luaopen_math, numbers},
    {"utf8", luaopen_utf8, characters},
};

// Copies members of the table at the top to the one below.
static void copy_members(lua_State *lua, const char *const *members)
{
    for (; *members; members++) {
        lua_getfield(lua, -1, *members);
        lua_setfield(lua, -3, *members);
    }
}

// Opens a library and leaves a table with the chosen members.
static void push_members(lua_State *lua, const library *from)
{
    lua_createtable(lua, 0, 24);
    lua_pushcfunction(lua, from->open);
    lua_call(lua, 0, 1);
    copy_members(lua, from->members);
    lua_pop(lua, 1);
}

// Replaces a member of the table at the top by a function that has it as upvalue.
static void wrap(lua_State *lua, const char *name, lua_CFunction function)
{
    lua_getfield(lua, -1, name);
    lua_pushcclosure(lua, function, 1);
    lua_setfield(lua, -2, name);
}

static int refuse_set(lua_State *lua)
{
    return luaL_error(lua, "libraries are read-only");
}

// Replaces the table at the top by its read-only face.
static void make_face(lua_State *lua)
{
    lua_createtable(lua, 0, 0);
    lua_createtable(lua, 0, 2);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pushcfunction(lua, refuse_set);
    lua_setfield(lua, -2, "__newindex");
    lua_setmetatable(lua, -2);
    lua_remove(lua, -2);
}

// Methods of texts are those of the table at the top.
static void set_text_methods(lua_State *lua)
{
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_pushvalue(lua, -3);
    lua_setfield(lua, -2, "__index");
    lua_pop(lua, 2);
}

static void complete(lua_State *lua, const library *from)
{
    if (from->members == texts) {
        wrap(lua, "format", cdr_function_format);
        set_text_methods(lua);
    } else if (from->members == tables) {
        wrap(lua, "move", cdr_function_move);
        lua_pushcfunction(lua, cdr_order_sort);
        lua_setfield(lua, -2, "sort");
    }
}

void cdr_library_push(lua_State *lua)
{
    luaL_checkstack(lua, 10, NULL);
    push_members(lua, &(const library){NULL, luaopen_base, base});
    luaL_setfuncs(lua, cdr_functions, 0);
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        push_members(lua, &libraries[i]);
        complete(lua, &libraries[i]);
        make_face(lua);
        lua_setfield(lua, -2, libraries[i].name);
    }
    // What luaopen_base has filled; a script gets an _ENV of its own for each run.
    lua_createtable(lua, 0, 0);
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}
